"""Play at a server of the Boardgame Protocol from Python.

    from league_agents.arena.client import Client

    def decide(state):
        return "submit_price", {"price": 40 - state.turn}

    with Client("http://127.0.0.1:8765") as client:
        seat = client.join(game="market", name="Ann")
        print(seat.play(decide).winners)

The lobby is this project's; a seat (``RemoteSeat``) speaks the protocol alone.
"""

from __future__ import annotations

import ipaddress
import json
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from http.client import HTTPException
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote, urlsplit

from league_agents.arena.remote_seat import ActionRefused, RemoteSeat, SeatState
from league_agents.arena.seat_line import SeatKey, SeatLine, ServerLost, ServerRefused, understanding
from league_agents.arena.visiting_line import StayHere, VisitingLine
from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import ConfigError

__all__ = ["ActionRefused", "Client", "RemoteSeat", "SeatState", "ServerLost", "ServerRefused"]

LARGEST_ANSWER = 64 * 1024 * 1024


class Client:
    """A connection to a server, and the seats taken there. Closing it closes them."""

    def __init__(self, url: str, *, patience_s: float = 60.0) -> None:
        """``url`` is that of the page, such as ``http://127.0.0.1:8765``. Raises ``ConfigError`` if it is invalid."""
        try:
            found = urlsplit(url)
            is_address = found.scheme in ("http", "https") and bool(found.hostname) and found.port != 0
        except ValueError:
            is_address = False
        if not is_address:
            raise ConfigError("url", f"must be like http://127.0.0.1:8765, found {url!r:.100}")
        self._base = f"{found.scheme}://{found.netloc}{found.path.rstrip('/')}"
        self._patience_s = patience_s
        # A proxy from the environment is not used for loopback.
        self._proxy = not _is_loopback(found.hostname or "")
        proxies = () if self._proxy else (urllib.request.ProxyHandler({}),)
        self._opener = urllib.request.build_opener(StayHere, *proxies)
        self._seats = ExitStack()

    @property
    def url(self) -> str:
        """The server's address, without a slash at its end."""
        return self._base

    def games(self) -> list[dict[str, Any]]:
        """The server's games: codes, rules, configuration."""
        called = self._called("/games")
        with understanding(self._base):
            return [dict(each) for each in called["games"]]

    def matches(self) -> list[dict[str, Any]]:
        """The matches in the lobby, newest first."""
        called = self._called("/matches")
        with understanding(self._base):
            return [dict(each) for each in called["matches"]]

    def match(self, match_id: str) -> dict[str, Any]:
        """One match of the lobby, listed or not."""
        return self._called(f"/matches/{quote(match_id, safe='')}")

    def create(
        self,
        game: str,
        config: Mapping[str, Any] | None = None,
        agents: Sequence[str | Mapping[str, Any]] | None = None,
        **options: Any,
    ) -> str:
        """Open a match; return its id. Each of ``agents`` is ``"open"``, the name of an agent of the server, or
        ``{"id", "name", "agent"}``; ``None`` leaves one seat open.

        ``options``: ``lang``, ``clock``, ``seats``, ``pause_s``, ``listed``, ``watchable``, ``protocol``. Raises
        ``ServerRefused`` and ``ServerLost``, as every method does.
        """
        body = {"game": game, "config": dict(config or {}), **options}
        if agents is not None:
            body["agents"] = list(agents)
        called = self._called("/matches", body)
        with understanding(self._base):
            return str(called["match_id"])

    def join(
        self,
        match_id: str | None = None,
        *,
        game: str | None = None,
        name: str = "",
        agent_id: str | None = None,
    ) -> RemoteSeat:
        """Take a seat in the given match, or in the first match of ``game`` with a free seat, or in a new match."""
        if match_id is None:
            if game is None:
                raise ConfigError("join", "name a match_id or a game")
            match_id = self.waiting(game) or self.create(game)
        body = {"name": name, **({} if agent_id is None else {"agent_id": agent_id})}
        return self._seated(f"/matches/{quote(match_id, safe='')}/join", body)

    def waiting(self, game: str) -> str | None:
        """The id of the oldest match of the lobby that has a free seat; ``None`` if there is none."""
        matches = self.matches()
        with understanding(self._base):
            waiting = [each for each in matches if each["game"] == game and each["status"] == "waiting"]
            return str(waiting[-1]["match_id"]) if waiting else None

    def watch(self, match_id: str) -> RemoteSeat:
        """Watch a match as a spectator: ``events()`` yields its events."""
        return self._seated(f"/matches/{quote(match_id, safe='')}/watch", {})

    def _seated(self, path: str, body: Mapping[str, Any]) -> RemoteSeat:
        called = self._called(path, body)
        with understanding(self._base):
            key = {name: str(called[name]) for name in ("game", "match_id", "agent_id", "token")}
        return self.seat(**key)

    def seat(self, *, game: str, match_id: str, agent_id: str, token: str) -> RemoteSeat:
        """Reopen a seat that was taken before, here or elsewhere."""
        return self._seat(SeatLine, game, match_id, agent_id, token)

    def visit(self, *, game: str, match_id: str, agent_id: str, token: str) -> RemoteSeat:
        """As ``seat``, for single requests: nothing is connected, so ``state`` and ``act`` work, and events do not."""
        return self._seat(VisitingLine, game, match_id, agent_id, token)

    def _seat(self, line: type[SeatLine], game: str, match_id: str, agent_id: str, token: str) -> RemoteSeat:
        url = f"ws{self._base.removeprefix('http')}/ws"
        return self._seats.enter_context(
            RemoteSeat(
                SeatKey(url=url, game=game, match_id=match_id, agent_id=agent_id, token=token),
                patience_s=self._patience_s,
                proxy=self._proxy,
                line=line,
            )
        )

    def leave(self, seat: RemoteSeat) -> None:
        """Leave the match permanently."""
        self._called(f"/matches/{quote(seat.match_id, safe='')}/leave", {}, token=seat.token)

    def transcript(self, match_id: str, *, token: str | None = None) -> list[dict[str, Any]]:
        """The transcript of an ended match, redacted for a spectator or the seat of ``token``."""
        text = self._text(f"/matches/{quote(match_id, safe='')}/transcript", None, token)
        with understanding(self._base):
            return [json.loads(line) for line in text.split("\n") if line]

    def close(self) -> None:
        """Close all connections; seats stay taken."""
        self._seats.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _called(self, path: str, body: Mapping[str, Any] | None = None, *, token: str | None = None) -> dict[str, Any]:
        text = self._text(path, body, token)
        with understanding(self._base):
            return dict(json.loads(text))

    def _text(self, path: str, body: Mapping[str, Any] | None, token: str | None) -> str:
        headers = {"content-type": "application/json", "accept": "application/json"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        request = urllib.request.Request(  # noqa: S310 - http and https only, as checked above
            f"{self._base}{path}",
            data=None if body is None else json.dumps(body, ensure_ascii=False).encode(),
            headers=headers,
        )
        try:
            with self._opener.open(request, timeout=self._patience_s) as answer:
                return self._read(answer)
        except urllib.error.HTTPError as refused:
            with refused:
                text = self._read(refused)
            try:
                found = json.loads(text)["error"]
                raise ServerRefused(str(found["code"]), str(found["message"]), found) from None
            except (ValueError, KeyError, TypeError, RecursionError):
                raise ServerRefused(str(refused.code), text.strip()[:200] or str(refused.reason)) from None
        except (OSError, ValueError, HTTPException) as error:
            reason = getattr(error, "reason", error)
            raise ServerLost(f"{self._base} cannot be reached: {reason}; is the server running?") from None

    def _read(self, answer: Any) -> str:
        """The text of an answer that is neither too long nor too slow."""
        give_up_at, pieces, left = monotonic_s() + self._patience_s, [], LARGEST_ANSWER
        while piece := answer.read1(65_536):
            pieces.append(piece)
            left -= len(piece)
            if left < 0 or monotonic_s() > give_up_at:
                raise ServerLost(f"{self._base} sends an answer that does not end")
        return b"".join(pieces).decode("utf-8", "replace")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
