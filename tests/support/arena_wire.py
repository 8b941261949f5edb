"""A server of the arena as its tests talk to it: bare requests and bare frames, nothing mended, nothing tried again."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from league_agents.arena.server.limits import ServerLimits
from league_agents.local_league.patience import LIMIT_S, until

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

QUICK = ServerLimits(
    house_pause=timedelta(0),
    house_actions_per_s=100_000,
    requests_per_s=10_000,
    burst=10_000,
    new_matches_burst=10_000,
    token_wait=timedelta(seconds=LIMIT_S),
    request_wait=timedelta(seconds=LIMIT_S),
    ping_every=timedelta(seconds=LIMIT_S),
)
"""For tests: the house plays at once, nobody asks too often, and nobody is too slow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def fields(self) -> dict[str, Any]:
        """The body as JSON."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def code(self) -> str:
        """Of a refusal, in the protocol's form or the lobby's."""
        error = self.fields["error"]
        return str(error["code"] if "code" in error else error["data"]["code"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A seat, or a place to watch from, and its key."""

    game: str
    match_id: str
    agent_id: str
    token: str

    def envelope(self, kind: str, **body: Any) -> dict[str, Any]:
        """A request of this place."""
        return {
            "version": "1.0.0",
            "type": kind,
            "game": self.game,
            "match_id": self.match_id,
            "agent_id": self.agent_id,
            **body,
        }

    def get_state(self, **more: Any) -> dict[str, Any]:
        """A question about the state."""
        return self.envelope("get_state", state={"version": "1.0.0"}, **more)

    def action(self, kind: str, data: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """An action."""
        return self.envelope("perform_action", action={"version": "1.0.0", "type": kind, "data": dict(data)}, **more)


class Wire:
    """One server."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    def send(
        self,
        method: str,
        path: str,
        body: bytes | str | Mapping[str, Any] | None = None,
        *,
        token: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpAnswer:
        """One HTTP request, whatever its answer."""
        content = json.dumps(body, ensure_ascii=False) if isinstance(body, Mapping) else body
        content = content.encode() if isinstance(content, str) else content
        sent = {"content-type": "application/json", **(headers or {})}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        request = urllib.request.Request(self.url + path, data=content, headers=sent, method=method)
        try:
            with self._opener.open(request, timeout=LIMIT_S) as answer:
                return HttpAnswer(status=answer.status, headers=dict(answer.headers), body=answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return HttpAnswer(status=refused.code, headers=dict(refused.headers), body=refused.read())

    def open(self, game: str, **wanted: Any) -> str:
        """A new match; its id."""
        answer = self.send("POST", "/matches", {"game": game, **wanted})
        assert answer.status == 201, answer.body
        return str(answer.fields["match_id"])

    def join(self, match_id: str, **wanted: Any) -> Place:
        """A seat of a match."""
        return self._place(self.send("POST", f"/matches/{match_id}/join", wanted))

    def watch(self, match_id: str) -> Place:
        """A place to watch from."""
        return self._place(self.send("POST", f"/matches/{match_id}/watch", {}))

    def protocol(self, envelope: Mapping[str, Any] | str | bytes, token: str | None = None) -> HttpAnswer:
        """An envelope over HTTP."""
        return self.send("POST", "/protocol", envelope, token=token)

    def state(self, place: Place) -> dict[str, Any]:
        """What ``get_state`` answers a place."""
        return self.protocol(place.get_state(), place.token).fields

    def until(self, match_id: str, *statuses: str) -> dict[str, Any]:
        """The match of the lobby, when it has one of these statuses."""

        def look() -> dict[str, Any] | None:
            found = self.send("GET", f"/matches/{match_id}").fields
            return found if found.get("status") in statuses else None

        found = until(look, f"{match_id} is {' or '.join(statuses)}")
        assert found is not None
        return found

    @contextmanager
    def socket(self, *places: Place, after: int | None = None, **options: Any) -> Iterator[WireSocket]:
        """A WebSocket that serves these places."""
        from websockets.sync.client import connect

        options = {"compression": None, "open_timeout": LIMIT_S, "ping_interval": None, **options}
        with connect(f"ws{self.url.removeprefix('http')}/ws", proxy=None, max_size=None, **options) as connection:
            found = WireSocket(connection)
            for place in places:
                found.authenticate(place.token, after)
            yield found

    @staticmethod
    def _place(answer: HttpAnswer) -> Place:
        assert answer.status == 201, answer.body
        fields = answer.fields
        return Place(
            game=fields["game"], match_id=fields["match_id"], agent_id=fields["agent_id"], token=fields["token"]
        )


class WireSocket:
    """One WebSocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.pushes: list[dict[str, Any]] = []
        """Every push that came, in order."""

        self.texts: list[str] = []
        """Everything that came, as it came."""

    def authenticate(self, token: str, after: int | None = None) -> dict[str, Any]:
        """Show a token; what is answered."""
        self.send({"type": "authenticate", "token": token, **({} if after is None else {"after": after})})
        return self.answer()

    def send(self, frame: Mapping[str, Any] | str | bytes) -> None:
        """One frame."""
        self.connection.send(json.dumps(frame, ensure_ascii=False) if isinstance(frame, Mapping) else frame)

    def ask(self, frame: Mapping[str, Any] | str | bytes) -> dict[str, Any]:
        """Send a frame; the next message that is no push."""
        self.send(frame)
        return self.answer()

    def answer(self, timeout_s: float = LIMIT_S) -> dict[str, Any]:
        """The next message that is no push."""
        while True:
            found = self.next(timeout_s)
            if not found["type"].startswith("push_"):
                return found

    def next(self, timeout_s: float = LIMIT_S) -> dict[str, Any]:
        """The next message of any kind."""
        text = self.connection.recv(timeout=timeout_s)
        assert isinstance(text, str), "a server sends text"
        self.texts.append(text)
        found: dict[str, Any] = json.loads(text)
        if found["type"].startswith("push_"):
            self.pushes.append(found)
        return found

    def push(self, kind: str) -> dict[str, Any]:
        """The next push of an event of this kind."""
        while True:
            found = self.next()
            if found["type"] == "push_message" and found["message_response"]["data"]["event"] == kind:
                return found

    def closed_with(self) -> int | None:
        """Read until the server closes; the code."""
        from websockets.exceptions import ConnectionClosed

        while True:
            try:
                self.next()
            except ConnectionClosed as closed:
                return None if closed.rcvd is None else closed.rcvd.code
