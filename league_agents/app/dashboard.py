"""A season's pages, served while it is played and redrawn from the journals.

Rule 1: read only and public: a record is narrowed to the public before it is drawn, so no current secret is in a page,
its source, or an error.
Rule 2: where the server is reachable from other machines, every request for a page needs the token; ``/healthz`` says
nothing but that the server answers. The token is compared in constant time, stored as a digest, and never part of an
address.
Rule 3: regardless of the number of viewers, drawing a page takes at most a small share of one processor.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from league_agents.app.bearer import check_token, shows_token, token_digest
from league_agents.app.publishing import MatchPages, disputes_in
from league_agents.app.records import NotOverYet
from league_agents.arena.server.guard import API_HEADERS, Guard
from league_agents.arena.server.web_server import LOOPBACK, WebServer, server_config
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import ConfigError, LeagueError
from league_agents.kit.printable import printable
from league_agents.report.pages.render import LIVE_SCRIPT, SEASON_FILE, Renderer, page_part
from league_agents.report.pages.season_view import SeasonPages
from league_agents.report.pages.shown import file_name, in_division
from league_agents.report.records import NOT_BEGUN, SeasonRecord
from league_agents.report.secret_texts import SecretTexts
from league_agents.report.sources import SeasonSource

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from uvicorn import Config

LOG = logging.getLogger(__name__)

DEFAULT_PORT = 8766
FRESH_S = 1.0
"""The shortest time for which a drawn page is served."""

SHARE = 10
"""A page that took a second to draw is redrawn after ten."""

MOST_KEPT = 64
"""The number of drawn pages that are kept."""


class DrawnPage(Struct, frozen=True, kw_only=True):
    """A drawn page, ready to be sent."""

    body: bytes
    media_type: str
    etag: str


class LivePages:
    """The pages of a season by their paths. Any thread may ask."""

    def __init__(self, open_source: Callable[[], SeasonSource], clock: Clock) -> None:
        """``open_source`` opens the season; it is called for each reading, and the source is closed afterwards."""
        self._open_source, self._clock = open_source, clock
        self._renderer = Renderer(is_live=True)
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[DrawnPage, float]] = {}
        """Path -> (page, end of its freshness)."""

        self._season: tuple[SeasonRecord, SeasonPages, dict[str, tuple[str, str]], float] | None = None
        self.waiting = _drawn("".join(self._renderer.waiting()), "text/html; charset=utf-8")
        """Served in place of a page that cannot be drawn."""

        self._script = _drawn(page_part(LIVE_SCRIPT), "text/javascript; charset=utf-8")

    @property
    def policy(self) -> str:
        """The content security policy of every page."""
        return f"{self._renderer.policy}; frame-ancestors 'none'"

    def page(self, path: str) -> DrawnPage | None:
        """The page at a path; ``None`` if there is none. Raises ``LeagueError`` when the season cannot be read."""
        if path == LIVE_SCRIPT:
            return self._script
        with self._lock:
            kept = self._kept.get(path)
            begun_s = self._clock.monotonic_s()
            if kept is not None and begun_s < kept[1]:
                return kept[0]
            text = self._text(path or SEASON_FILE)
            if text is None:
                self._kept.pop(path, None)
                return None
            drawn = _drawn(text, "text/html; charset=utf-8")
            while len(self._kept) >= MOST_KEPT:
                self._kept.pop(next(iter(self._kept)))
            self._kept[path] = drawn, self._fresh_until(begun_s)
            return drawn

    def _text(self, path: str) -> str | None:
        try:
            source = self._open_source()
        except NotOverYet as error:
            return "".join(self._renderer.waiting(error.message)) if path == SEASON_FILE else None
        try:
            pages, places = self._pages(source)
            if path == SEASON_FILE:
                return "".join(self._renderer.season(pages.season_page()))
            kind, key = places.get(path, ("", ""))
            if kind == "teams":
                return "".join(self._renderer.team(pages.team_page(key)))
            if kind == "matches":
                matches = MatchPages(source, pages, self._renderer, viewer="public")
                return "".join(matches.drawn(source.match(key)))
            return None
        finally:
            source.close()

    def _pages(self, source: SeasonSource) -> tuple[SeasonPages, dict[str, tuple[str, str]]]:
        begun_s = self._clock.monotonic_s()
        if self._season is None or begun_s >= self._season[3]:
            season = source.season()
            begun = {
                in_division(each.division, each.game_id) for each in season.schedule if each.status not in NOT_BEGUN
            }
            pages = SeasonPages(season, has_page=begun.__contains__, disputes=disputes_in(source, season, "public"))
            places = {file_name("teams", key): ("teams", key) for key in pages.teams}
            places |= {file_name("matches", key): ("matches", key) for key in begun}
            self._season = season, pages, places, self._fresh_until(begun_s)
        return self._season[1], self._season[2]

    def _fresh_until(self, begun_s: float) -> float:
        now_s = self._clock.monotonic_s()
        return now_s + max(FRESH_S, SHARE * (now_s - begun_s))


class DashboardServer(WebServer):
    """``with DashboardServer(open_source) as server: server.url``."""

    command = "dashboard"
    public_means = "everybody who has its token may look"

    def __init__(
        self,
        open_source: Callable[[], SeasonSource],
        *,
        host: str = LOOPBACK,
        port: int = DEFAULT_PORT,
        is_public: bool = False,
        token: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        """``token``: required for every page; ``None`` on loopback only. Raises ``ConfigError``."""
        if token is None and is_public:
            raise ConfigError("--public", "needs a token that whoever looks has to show")
        if token is not None:
            check_token(token)
        super().__init__(host=host, port=port, is_public=is_public)
        self._digest = token_digest(token) if token is not None else None
        self._pages = LivePages(open_source, clock or SystemClock())

    def config(self) -> Config:
        from starlette.applications import Starlette
        from starlette.routing import Route

        from league_agents.arena.server.app import Guarded

        routes = [
            Route("/healthz", lambda _: _plain(200, "ok"), methods=["GET"]),
            Route("/{path:path}", self._answer, methods=["GET"]),
        ]
        app = Starlette(routes=routes)
        app.router.redirect_slashes = False
        return server_config(Guarded(app, Guard(is_public=self._is_public)), lifespan="off", ws="none")

    async def _answer(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import Response

        if self._digest is not None and not shows_token(request.headers.get("authorization", ""), self._digest):
            challenge = {"www-authenticate": 'Basic realm="league-agents dashboard", charset="UTF-8"'}
            return _plain(401, "show the token: as the password, with any user name, or as a bearer token", challenge)
        try:
            page = await run_in_threadpool(self._pages.page, request.path_params["path"])
        except LeagueError as error:
            # The error may name files and quote agents: it is for the operator only.
            LOG.warning("a page cannot be drawn: %s", printable(SecretTexts().hide(str(error)), 600))
            waiting = self._pages.waiting
            headers = {**API_HEADERS, "content-security-policy": self._pages.policy}
            return Response(waiting.body, 503, headers=headers, media_type=waiting.media_type)
        if page is None:
            return _plain(404, "there is no such page")
        headers = {**API_HEADERS, "content-security-policy": self._pages.policy, "etag": page.etag}
        if request.headers.get("if-none-match") == page.etag:
            return Response(status_code=304, headers=headers)
        return Response(page.body, headers=headers, media_type=page.media_type)


def _drawn(text: str, media_type: str) -> DrawnPage:
    body = text.encode("utf-8", "replace")
    return DrawnPage(body=body, media_type=media_type, etag=f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def _plain(status: int, text: str, headers: dict[str, str] | None = None) -> Response:
    from starlette.responses import Response

    return Response(f"{text}\n", status, headers={**API_HEADERS, **(headers or {})}, media_type="text/plain")
