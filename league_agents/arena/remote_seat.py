"""A seat at somebody else's server, for an agent of this process.

Rule: what is decided is decided on the newest state; where something has happened since, it is asked for again.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, cast

from league_agents.arena.seat_line import SeatKey, SeatLine, ServerRefused
from league_agents.games.game import Action, Event, JsonObject, LegalAction

LOOK_EVERY_S = 10.0
"""How often the state is asked for while nothing happens."""


class ActionRefused(ServerRefused):
    """The game's rules forbid the action."""


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

    def __init__(self, key: SeatKey, *, patience_s: float = 60.0, proxy: bool = True) -> None:
        """``patience_s``: how long a lost server is tried again; ``proxy``: whether one of the environment is used."""
        self.key = key
        self._line = SeatLine(key, patience_s=patience_s, proxy=proxy)
        self._refusal: JsonObject | None = None
        self._runner: asyncio.Runner | None = None

    @property
    def game(self) -> str:
        return self.key.game

    @property
    def match_id(self) -> str:
        return self.key.match_id

    @property
    def agent_id(self) -> str:
        return self.key.agent_id

    @property
    def token(self) -> str:
        """What the seat is taken up again with, later or elsewhere."""
        return self.key.token

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
            elif self._line.seq <= state.seq:  # else something has happened since, and the state is an old one
                self.wait(LOOK_EVERY_S)

    def state(self) -> SeatState:
        """Ask where the match stands. Raises ``ServerRefused`` or ``ServerLost``."""
        answer = self._line.ask("get_state", {"state": {"version": "1.0.0"}})
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
        response = self._line.ask("perform_action", body)["action_response"]
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
        self._line.take_waiting()
        found = list(self._line.pushes)
        self._line.pushes.clear()
        return found

    def events(self) -> Iterator[Event]:
        """What happens, as it happens, until the match is over."""
        while True:
            state = self.state()
            yield from self.told()
            if state.is_over:
                return
            if self._line.seq <= state.seq:
                self.wait(LOOK_EVERY_S)

    def wait(self, timeout_s: float) -> bool:
        """Wait until something has come; whether it has."""
        if not self._line.pushes:
            self._line.receive(timeout_s)
            self._line.take_waiting()
        return bool(self._line.pushes)

    def close(self) -> None:
        """Close the connection; the seat stays taken."""
        self._line.close()
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


async def _awaited(answer: Any) -> Any:
    return await answer
