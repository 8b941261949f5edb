"""The connection of a seat to its server: each request is answered once, and each push is delivered once.

Rule 1: a request is sent under one ``request_id`` until it is answered, over as many connections as needed; a server
of the protocol acts on it once.
Rule 2: every new connection requests the pushes since the last one received, and none is delivered twice.
Rule 3: a server is a stranger: what it may send is bounded in size and time, and what cannot be understood is a
``ServerLost``.
"""

from __future__ import annotations

import json
import secrets
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from league_agents.games.game import ALL, Event, JsonObject
from league_agents.kit.clock import monotonic_s, sleep_s
from league_agents.kit.errors import LeagueError

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

LARGEST_ANSWER = 4 * 1024 * 1024
"""Bytes; views of long matches are larger than the messages that agents may send."""

MOST_WAITING = 4096
"""Messages queued while the agent thinks."""

MOST_UNREAD = 64 * 1024 * 1024
"""Characters of pushes that were received and not taken."""


class ServerRefused(LeagueError):
    """The server refused a request."""

    def __init__(self, code: str, message: str, data: JsonObject | None = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data: JsonObject = data or {}


class ServerLost(LeagueError):
    """The server cannot be reached any more."""


@contextmanager
def understanding(url: str) -> Iterator[None]:
    """Around code that reads what a server sent. Raises ``ServerLost`` if it has another form."""
    try:
        yield
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise ServerLost(
            f"{url} sent what is not of the protocol ({type(error).__name__}); is this the address of an arena?"
        ) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatKey:
    """The address of a seat: server, match, agent and token."""

    url: str
    """The URL of the WebSocket."""

    game: str
    match_id: str
    agent_id: str
    token: str


class SeatLine:
    """Keeps one seat connected."""

    def __init__(self, key: SeatKey, *, patience_s: float, proxy: bool) -> None:
        """``patience_s``: how long to retry a lost server; ``proxy``: whether to use a proxy from the environment."""
        self.key = key
        self.pushes: deque[Event] = deque()
        """Events received but not taken yet."""

        self.seq = 0
        """The number of the last event received."""

        self._unread = 0
        self._url = key.url
        self._patience_s = patience_s
        self._proxy = proxy
        self._socket: ClientConnection | None = None
        self._open = ExitStack()
        """Closes the connection."""

    def ask(self, kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request until it is answered."""
        request_id = secrets.token_hex(8)
        text = json.dumps({**self._headed(kind), "request_id": request_id, **body}, ensure_ascii=False)
        give_up_at = monotonic_s() + self._patience_s
        while True:
            answer = self._try(text, request_id, give_up_at)
            if answer is None:
                if monotonic_s() > give_up_at:
                    raise ServerLost(f"{self._url} breaks every connection")
                continue
            with understanding(self._url):
                if answer["type"] != "error":
                    return answer
                refused = _refusal(answer)
                pause_s = max(0.01, min(1.0, float(refused.data.get("retry_after_s", 0.1))))
            if refused.code != "rate_limited" or monotonic_s() > give_up_at:
                raise refused
            sleep_s(pause_s)

    def take(self) -> list[Event]:
        """The events received since the last call, oldest first; does not wait."""
        self.take_waiting()
        found = list(self.pushes)
        self.pushes.clear()
        self._unread = 0
        return found

    def _headed(self, kind: str) -> dict[str, Any]:
        key = self.key
        return {
            "version": "1.0.0",
            "type": kind,
            "game": key.game,
            "match_id": key.match_id,
            "agent_id": key.agent_id,
        }

    def _try(self, text: str, request_id: str, give_up_at: float) -> dict[str, Any] | None:
        """The answer; ``None`` if the connection broke first."""
        from websockets.exceptions import ConnectionClosed

        socket = self._connected(give_up_at)
        try:
            socket.send(text)
            while True:
                message = self._read(socket.recv(timeout=max(0.1, give_up_at - monotonic_s())))
                if message is not None and message.get("request_id") == request_id:
                    return message
                if message is not None and message.get("type") == "error" and "request_id" not in message:
                    return message  # refused before the server read the request's id: too early, or too often
                if monotonic_s() > give_up_at:
                    raise TimeoutError
        except ConnectionClosed:
            self.close()
        except TimeoutError:
            self.close()
            raise ServerLost(f"{self._url} does not answer") from None
        return None

    def receive(self, timeout_s: float) -> None:
        from websockets.exceptions import ConnectionClosed

        socket = self._connected(monotonic_s() + self._patience_s)
        try:
            self._read(socket.recv(timeout=timeout_s))
        except TimeoutError:
            return
        except ConnectionClosed:
            self.close()

    def take_waiting(self) -> None:
        from websockets.exceptions import ConnectionClosed

        if self._socket is None:
            return
        try:
            for _ in range(MOST_WAITING):
                self._read(self._socket.recv(timeout=0))
        except TimeoutError:
            return
        except ConnectionClosed:
            self.close()

    def _read(self, text: str | bytes) -> dict[str, Any] | None:
        """Parse a message; pushes are queued, each once, and give ``None``."""
        with understanding(self._url):
            message: dict[str, Any] = json.loads(text)
            if message.get("type") not in ("push_message", "push_event"):
                return message
            if message.get("match_id") == self.key.match_id and message.get("agent_id") == self.key.agent_id:
                event = event_of(message)
                if event.seq > self.seq:
                    self.seq = event.seq
                    self.pushes.append(event)
                    self._unread += len(text)
        if self._unread > MOST_UNREAD:
            raise ServerLost(f"{self._url} sent more than {MOST_UNREAD} characters of events at once")
        return None

    def _connected(self, give_up_at: float) -> ClientConnection:
        from websockets.exceptions import ConnectionClosed, InvalidHandshake
        from websockets.sync.client import connect

        pause_s = 0.05
        while self._socket is None:
            try:
                with ExitStack() as stack:
                    # Use the context manager: newer versions of the library warn otherwise.
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
                if monotonic_s() + pause_s > give_up_at:
                    raise ServerLost(f"{self._url} cannot be reached: {error}") from None
                sleep_s(pause_s)
                pause_s = min(2.0, 2 * pause_s)
        return self._socket

    def _authenticate(self, socket: ClientConnection) -> None:
        socket.send(json.dumps({**self._headed("authenticate"), "token": self.key.token, "after": self.seq}))
        text = socket.recv(timeout=10)
        with understanding(self._url):
            answer = json.loads(text)
            refused = None if answer["type"] == "authenticated" else _refusal(answer)
        if refused is not None:
            raise refused

    def close(self) -> None:
        self._socket = None
        self._open.close()


def _refusal(answer: Mapping[str, Any]) -> ServerRefused:
    found = answer["error"]
    return ServerRefused(str(found["data"].get("code", "")), str(found["message"]), found["data"])


def event_of(push: Mapping[str, Any]) -> Event:
    """The event of a push, in either form."""
    if push["type"] == "push_event":
        data = dict(push["event"]["data"])
        text = data.pop("message", "")
    else:
        data = dict(push["message_response"]["data"])
        text = push["message_response"]["message"]
    return Event(kind=data.pop("event"), visible_to=ALL, text=text, seq=data.pop("seq"), data=data)
