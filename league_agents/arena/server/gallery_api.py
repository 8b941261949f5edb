"""The routes of what is over: the gallery, replays, leaderboards and transcripts.

======================================= ==============================================================================
``GET /finished``                       ``game``, ``before`` (a ``next``): finished matches, newest first
``GET /leaderboards``                   who wins how often, game by game, with intervals
``GET /matches/{id}/replay``            ``viewer``: the moves of a finished match, with the thoughts of each side
``GET /matches/{id}/transcript``        ``view``: ``full``, ``public`` or ``own`` (default)
======================================= ==============================================================================

Rule: a match that only its players may watch is shown to them only, and only while the server has it in memory.
"""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from league_agents.arena.protocol.access import Principal, closed_to_spectators
from league_agents.arena.protocol.envelope import written
from league_agents.arena.protocol.hosting import viewer_of
from league_agents.arena.protocol.refusals import Refused
from league_agents.arena.server.answering import Endpoint, LobbyRefused, as_json, as_text
from league_agents.arena.server.gallery import boards_told
from league_agents.arena.server.guard import API_HEADERS
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.replays import replay_told
from league_agents.arena.transcript import Line, keeps_secrets
from league_agents.games.game import HOST, SPECTATOR
from league_agents.kit.clock import monotonic_s

PAGE = 30
"""Matches of one answer of the gallery."""

BOARDS_KEPT_S = 10.0
"""Seconds for which leaderboards are sent again although a match has ended."""

MOST_REPLAYS = 8
"""Replays that are kept to be sent again."""


class GalleryApi:
    """The routes of what is over in one hall."""

    def __init__(
        self,
        hall: Hall,
        guarded: Callable[[Endpoint], Endpoint],
        reader: Callable[[Request, str], tuple[Principal, str]],
    ) -> None:
        """``reader``: the sender of a request, and the viewer that it reads a match as."""
        self._hall = hall
        self._guarded = guarded
        self._reader = reader
        self._replays: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._one_at_a_time = asyncio.Semaphore(1)
        self._boards: tuple[int, float, str] | None = None

    def routes(self) -> list[Route]:
        """The routes for the application."""
        return [
            Route(path, self._guarded(endpoint), methods=["GET"])
            for path, endpoint in (
                ("/finished", self.finished),
                ("/leaderboards", self.leaderboards),
                ("/matches/{match_id}/replay", self.replay),
                ("/matches/{match_id}/transcript", self.transcript),
            )
        ]

    async def finished(self, request: Request) -> Response:
        asked = request.query_params
        matches, following = self._hall.keep.gallery(asked.get("game", ""), asked.get("before", ""), PAGE)
        return as_json({"matches": matches, "next": following})

    async def leaderboards(self, request: Request) -> Response:
        revision = self._hall.keep.revision
        async with self._one_at_a_time:
            known, now_s = self._boards, monotonic_s()
            if known is None or (known[0] != revision and now_s - known[1] >= BOARDS_KEPT_S):
                boards = await asyncio.to_thread(boards_told, self._hall.keep.results())
                self._boards = known = (revision, now_s, written({"games": boards}))
        return as_text(known[2])

    async def replay(self, request: Request) -> Response:
        match_id, told = self._checked(request)
        viewer = request.query_params.get("viewer", SPECTATOR)
        seats = [seat["agent_id"] for seat in told["seats"]]
        if viewer not in (SPECTATOR, *seats):
            raise LobbyRefused(400, "invalid_request", f"viewer must be {SPECTATOR} or one of {', '.join(seats)}")
        async with self._one_at_a_time:
            text = self._replays.get((match_id, viewer))
            if text is None:
                lines = self._lines(match_id, HOST)
                if keeps_secrets(lines[0]):
                    lines = self._lines(match_id, SPECTATOR)
                else:
                    lines[0].pop("viewer", None)
                text = await asyncio.to_thread(lambda: written({"match": told, **replay_told(lines, viewer)}))
                self._replays[match_id, viewer] = text
                if len(self._replays) > MOST_REPLAYS:
                    self._replays.popitem(last=False)
        return as_text(text)

    async def transcript(self, request: Request) -> Response:
        match_id, _ = self._checked(request)
        view = request.query_params.get("view", "own")
        if view not in ("own", "full", "public"):
            raise LobbyRefused(400, "invalid_request", "view must be own, public or full")
        own = viewer_of(self._reader(request, match_id)[1])
        viewer = {"full": HOST, "public": SPECTATOR}.get(view, own)
        lines = self._lines(match_id, viewer)
        if viewer == HOST and keeps_secrets(lines[0]):
            raise LobbyRefused(
                403, "kept_secret", "who had which role stays secret in this match, so there is no full transcript"
            )
        text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
        name = f"{match_id}.{'full' if viewer == HOST else viewer}.jsonl"
        return Response(
            text.encode("utf-8", "backslashreplace"),
            headers={**API_HEADERS, "content-disposition": f'attachment; filename="{name}"'},
            media_type="application/x-ndjson",
        )

    def _checked(self, request: Request) -> tuple[str, dict[str, Any]]:
        """A finished match that the sender may see, and what the gallery says of it. Raises ``Refused``."""
        match_id = str(request.path_params["match_id"])
        principal, reader = self._reader(request, match_id)
        hall = self._hall
        told = hall.keep.told(match_id)
        if hall.store.get(match_id) is not None:
            hall.service.check_reader(match_id, reader, principal)
            told = told or hall.keeping.finish(match_id)
            if told is None:
                if hall.transcript(match_id, HOST) is not None:
                    raise _never_played()
                raise LobbyRefused(409, "match_not_over", "this can be had when the match is over")
        elif told is None:
            raise Refused("unknown_match", "there is no such match here, or no more")
        elif not told["watchable"]:
            raise closed_to_spectators()
        return match_id, told

    def _lines(self, match_id: str, viewer: str) -> list[Line]:
        lines = self._hall.transcript(match_id, viewer)
        if not lines:
            raise _never_played()
        return lines


def _never_played() -> LobbyRefused:
    return LobbyRefused(409, "match_not_played", "this match was abandoned before it began")
