"""A seat at somebody else's server: asked, answered and kept through broken connections.

Rule 1: an action is sent under one ``request_id`` until its answer has come, over as many connections as that takes; a
server of the protocol acts on it once.
Rule 2: after every connection the state is asked for, and pushes that are in it already are not told again.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from league_agents.core.game import ALL, Action, Event, JsonObject, LegalAction
from league_agents.errors import LeagueError

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

LARGEST_ANSWER = 4 * 1024 * 1024
"""Bytes; views of long matches are larger than what agents may send."""

MOST_WAITING = 4096
"""Pushes that wait while the agent thinks."""

LOOK_EVERY_S = 10.0
"""How often the state is asked for while nothing happens."""


class ServerRefused(LeagueError):
    """The server refused a request."""

    def __init__(self, code: str, message: str, data: JsonObject | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data: JsonObject = data or {}


class ActionRefused(ServerRefused):
    """The game's rules forbid the action."""


class ServerLost(LeagueError):
    """The server cannot be reached any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatState:
    """Where a match stands, as one seat or spectator may know it."""

    status: str
    """``waiting``, ``started``, ``ended`` or ``abandoned``."""

    phase: str
    turn: int
    stage: str
    """The seat's own: what it may do in this phase."""

    seq: int
    """The last event that is in the view."""

    view: JsonObject
    legal: tuple[LegalAction, ...]
    """What the seat may do now; nothing when it is not its turn."""

    deadline: datetime | None
    rules: str
    agents: tuple[JsonObject, ...]
    winners: tuple[str, ...]
    refusal: JsonObject | None = None
    """Why the last action was not accepted: ``{"code", "message", "data", "attempts_left"}``."""

    @property
    def is_over(self) -> bool:
        return self.status in ("ended", "abandoned")


Decide = Callable[[SeatState], "Action | tuple[str, Mapping[str, Any]] | Mapping[str, Any]"]
"""A decision as a function: the action, its type and data, or ``{"type", "data"}``."""


class RemoteSeat:
    """One seat, or one place to watch from. Use it as a context manager, or ``close`` it."""

    def __init__(
        self,
        url: str,
        *,
        game: str,
        match_id: str,
        agent_id: str,
        token: str,
        patience_s: float = 60.0,
        proxy: bool = True,
    ) -> None:
        """``url`` is the WebSocket's. ``patience_s``: how long a lost server is tried again."""
        self.game = game
        self.match_id = match_id
        self.agent_id = agent_id
        self.token = token
        self._url = url
        self._patience_s = patience_s
        self._proxy = proxy
        self._socket: ClientConnection | None = None
        self._open = ExitStack()
        """Closes it."""

        self._pushes: deque[Event] = deque()
        self._seq = 0
        """The last event that was told."""

        self._refusal: JsonObject | None = None
        self._runner: asyncio.Runner | None = None

    # What a seat does.

    def play(self, agent: object) -> SeatState:
        """Let an agent play until the match is over; the last state.

        ``agent`` is anything with ``act(view, legal, deadline)``, or a function of a ``SeatState``. Raises what it
        raises, ``ServerRefused``, and ``ServerLost``.
        """
        observe = getattr(agent, "observe", None)
        while True:
            state = self.state()
            for event in self.told():
                if callable(observe):
                    observe(event)
            if state.is_over:
                return state
            if state.legal:
                self._decide(agent, state)
            elif self._seq <= state.seq:  # else something has happened since, and the state is an old one
                self.wait(LOOK_EVERY_S)

    def state(self) -> SeatState:
        """Ask where the match stands. Raises ``ServerRefused`` or ``ServerLost``."""
        answer = self._asked("get_state", {"state": {"version": "1.0.0"}})
        data = answer["state"]["data"]
        deadline = data.get("deadline")
        return SeatState(
            status=answer["status"],
            phase=answer["phase"],
            turn=answer["turn"],
            stage=answer["stage"],
            seq=data["seq"],
            view=data["view"],
            legal=tuple(
                LegalAction(
                    type=each["type"],
                    schema=each["schema"],
                    choices=tuple(each["choices"]) if "choices" in each else None,
                )
                for each in data["legal"]
            ),
            deadline=None if deadline is None else datetime.fromisoformat(deadline).astimezone(UTC),
            rules=data["rules"],
            agents=tuple(answer["agents"]),
            winners=tuple(answer.get("winners", ())),
            refusal=self._refusal,
        )

    def act(self, kind: str, data: Mapping[str, Any]) -> int:
        """Take an action; the number of the last event that the seat may know.

        Raises ``ActionRefused`` where the rules forbid it, ``ServerRefused`` or ``ServerLost``.
        """
        body = {"action": {"version": "1.0.0", "type": kind, "data": dict(data)}}
        response = self._asked("perform_action", body)["action_response"]
        if response["status"] != "success":
            found = dict(response["data"])
            code = found.pop("code", "")
            self._refusal = {
                "code": code,
                "message": response["message"],
                "attempts_left": found.pop("attempts_left", 0),
                "data": found,
            }
            raise ActionRefused(code, response["message"], response["data"])
        self._refusal = None
        return int(response["data"]["seq"])

    def told(self) -> list[Event]:
        """What has come since the last call, oldest first; it does not wait."""
        self._take_waiting()
        found, self._pushes = list(self._pushes), deque()
        return found

    def events(self) -> Iterator[Event]:
        """What happens, as it happens, until the match is over."""
        while True:
            state = self.state()
            yield from self.told()
            if state.is_over:
                return
            if self._seq <= state.seq:
                self.wait(LOOK_EVERY_S)

    def wait(self, timeout_s: float) -> bool:
        """Wait until something has come; whether it has."""
        if not self._pushes:
            self._receive(timeout_s)
            self._take_waiting()
        return bool(self._pushes)

    def close(self) -> None:
        """Close the connection; the seat stays taken."""
        self._drop()
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # How it does it.

    def _decide(self, agent: object, state: SeatState) -> None:
        action = self._decision(agent, state)
        # Refused: the state that is asked for next says whether there is another attempt, and why.
        with suppress(ActionRefused):
            self.act(action.type, action.data)

    def _decision(self, agent: object, state: SeatState) -> Action:
        act = getattr(agent, "act", None)
        if callable(act):
            view = {
                **state.view,
                "agent_id": self.agent_id,
                "game": self.game,
                "rules_text": state.rules,
                "refusal": state.refusal,
            }
            answer = act(view, state.legal, state.deadline)
        else:
            answer = cast("Decide", agent)(state)
        if inspect.isawaitable(answer):
            self._runner = self._runner or asyncio.Runner()
            answer = self._runner.run(_awaited(answer))
        if isinstance(answer, Action):
            return answer
        if isinstance(answer, Mapping):
            return Action(type=str(answer.get("type", "")), data=answer.get("data") or {})
        if isinstance(answer, Sequence) and len(answer) == 2 and isinstance(answer[0], str):
            return Action(type=answer[0], data=answer[1])
        raise TypeError(f"an agent gives an Action, (type, data) or {{'type', 'data'}}, not {answer!r:.80}")

    def _asked(self, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request until it is answered."""
        request_id = secrets.token_hex(8)
        text = json.dumps(
            {
                "version": "1.0.0",
                "type": kind,
                "game": self.game,
                "match_id": self.match_id,
                "agent_id": self.agent_id,
                "request_id": request_id,
                **body,
            },
            ensure_ascii=False,
        )
        give_up_at = time.monotonic() + self._patience_s
        while True:
            answer = self._try(text, request_id, give_up_at)
            if answer is None:
                if time.monotonic() > give_up_at:
                    raise ServerLost(f"{self._url} breaks every connection")
                continue
            if answer["type"] != "error":
                return answer
            found = answer["error"]
            code = found["data"].get("code", "")
            if code != "rate_limited" or time.monotonic() > give_up_at:
                raise ServerRefused(code, found["message"], found["data"])
            time.sleep(min(1.0, float(found["data"].get("retry_after_s", 0.1))))

    def _try(self, text: str, request_id: str, give_up_at: float) -> dict[str, Any] | None:
        """The answer; ``None`` when the connection broke before it came."""
        from websockets.exceptions import ConnectionClosed

        socket = self._connected(give_up_at)
        try:
            socket.send(text)
            while True:
                message = self._read(socket.recv(timeout=max(0.1, give_up_at - time.monotonic())))
                if message is not None and message.get("request_id") == request_id:
                    return message
                if message is not None and message["type"] == "error" and "request_id" not in message:
                    return message  # too early, or too often, for the server to have read whose request it was
        except ConnectionClosed:
            self._drop()
        except TimeoutError:
            self._drop()
            raise ServerLost(f"{self._url} does not answer") from None
        return None

    def _receive(self, timeout_s: float) -> None:
        from websockets.exceptions import ConnectionClosed

        socket = self._connected(time.monotonic() + self._patience_s)
        try:
            self._read(socket.recv(timeout=timeout_s))
        except TimeoutError:
            return
        except ConnectionClosed:
            self._drop()

    def _take_waiting(self) -> None:
        from websockets.exceptions import ConnectionClosed

        if self._socket is None:
            return
        try:
            while True:
                self._read(self._socket.recv(timeout=0))
        except TimeoutError:
            return
        except ConnectionClosed:
            self._drop()

    def _read(self, text: str | bytes) -> dict[str, Any] | None:
        """A message that is no push; pushes are kept, each once."""
        message: dict[str, Any] = json.loads(text)
        if message.get("type") not in ("push_message", "push_event"):
            return message
        if message.get("match_id") == self.match_id and message.get("agent_id") == self.agent_id:
            event = event_of(message)
            if event.seq > self._seq:
                self._seq = event.seq
                self._pushes.append(event)
        return None

    def _connected(self, give_up_at: float) -> ClientConnection:
        from websockets.exceptions import ConnectionClosed, InvalidHandshake
        from websockets.sync.client import connect

        pause_s = 0.05
        while self._socket is None:
            try:
                with ExitStack() as stack:
                    # Entered, not only called: newer versions of the library warn of anything else.
                    socket = stack.enter_context(
                        connect(
                            self._url,
                            max_size=LARGEST_ANSWER,
                            max_queue=MOST_WAITING,
                            compression=None,
                            proxy=True if self._proxy else None,
                        )
                    )
                    self._authenticate(socket)
                    self._open, self._socket = stack.pop_all(), socket
            except (OSError, ConnectionClosed, InvalidHandshake) as error:
                if time.monotonic() + pause_s > give_up_at:
                    raise ServerLost(f"{self._url} cannot be reached: {error}") from None
                time.sleep(pause_s)
                pause_s = min(2.0, 2 * pause_s)
        return self._socket

    def _authenticate(self, socket: ClientConnection) -> None:
        socket.send(json.dumps({"type": "authenticate", "token": self.token, "after": self._seq}))
        answer = json.loads(socket.recv(timeout=10))
        if answer["type"] != "authenticated":
            found = answer["error"]
            raise ServerRefused(found["data"].get("code", ""), found["message"], found["data"])

    def _drop(self) -> None:
        self._socket = None
        self._open.close()


def event_of(push: Mapping[str, Any]) -> Event:
    """The event that a push tells of, in either form."""
    if push["type"] == "push_event":
        data = dict(push["event"]["data"])
        text = data.pop("message", "")
    else:
        data = dict(push["message_response"]["data"])
        text = push["message_response"]["message"]
    return Event(kind=data.pop("event"), visible_to=ALL, text=text, seq=data.pop("seq"), data=data)


async def _awaited(answer: Any) -> Any:
    return await answer
