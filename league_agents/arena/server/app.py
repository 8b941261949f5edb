"""The server as one ASGI application: the web page, the lobby, and the protocol over HTTP and WebSocket.

Import it only to make a server: starlette comes with the extra ``web``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from league_agents.arena.protocol.envelope import written
from league_agents.arena.server.connection import Connection
from league_agents.arena.server.guard import API_HEADERS, Guard, address_key, page_headers
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.page_files import GALLERY, START, page_files
from league_agents.arena.server.web_api import WebApi, bearer_of

LOG = logging.getLogger(__name__)

SWEEP_EVERY_S = 5.0


def application(hall: Hall, *, is_public: bool = False) -> ASGIApp:
    """The application that serves a hall."""
    pages = page_files()
    sockets = _Sockets(hall)

    async def page(request: Request) -> Response:
        name = request.path_params.get("file") or START
        name = GALLERY if name.partition("/")[0] in ("gallery", "leaderboard", "replay") else name
        file = pages.get(name) or pages.get(name.removeprefix("page/"))
        if file is None:
            return _plain(404, "there is no such page")
        headers = {**page_headers(request.headers.get("host", "")), "etag": file.etag}
        if request.headers.get("if-none-match") == file.etag:
            return Response(status_code=304, headers=headers)
        return Response(file.body, headers=headers, media_type=file.media_type)

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        hall.reopen()
        sweeping = asyncio.ensure_future(_sweep(hall))
        try:
            yield
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)
            await hall.close()

    app = Starlette(
        routes=[
            *WebApi(hall).routes(),
            WebSocketRoute("/ws", sockets.serve),
            Route("/healthz", _healthy, methods=["GET"]),
            Route("/", page, methods=["GET"]),
            Route("/{file:path}", page, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: _wrong_route},  # type: ignore[dict-item]
    )
    # No redirect for a path with an extra slash: it would pass tokens on.
    app.router.redirect_slashes = False
    return Guarded(app, Guard(is_public=is_public))


async def _healthy(_request: Request) -> Response:
    """For what watches the process: it answers, and its event loop is not stuck."""
    return _plain(200, "ok")


class Guarded:
    """Middleware that rejects requests that ``Guard`` objects to."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = _headers_of(scope)
            # Any site may link to a page; only requests that change something must come from the server's own pages.
            acts = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
            objection = self._guard.objection(headers.get("host", ""), headers.get("origin") if acts else None)
            if objection is not None:
                response = _plain(403, objection)
                if scope["type"] == "http":
                    await response(scope, receive, send)
                else:
                    await WebSocket(scope, receive, send).send_denial_response(response)
                return
        await self._app(scope, receive, send)


class _Sockets:
    """The WebSockets of one server, counted."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._open: Counter[str] = Counter()

    async def serve(self, socket: WebSocket) -> None:
        address = address_key(socket.client.host if socket.client is not None else "")
        limits = self._hall.limits
        if self._open.total() >= limits.sockets or self._open[address] >= limits.sockets_of_address:
            await socket.send_denial_response(_plain(503, "too many connections are open; close one"))
            return
        self._open[address] += 1
        try:
            token = bearer_of(socket.headers.get("authorization"))
            await Connection(self._hall, socket, address=address, token=token).serve()
        finally:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]


async def _sweep(hall: Hall) -> None:
    while True:
        await asyncio.sleep(SWEEP_EVERY_S)
        try:
            hall.sweep()
        except Exception:  # the next sweep comes soon; nothing depends on this one
            LOG.exception("sweeping failed")


def _headers_of(scope: Scope) -> Mapping[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}


async def _wrong_route(_request: Request, wrong: HTTPException) -> Response:
    return _json(wrong.status_code, {"error": {"code": "no_such_route", "message": wrong.detail}})


def _plain(status: int, text: str) -> Response:
    return Response(text + "\n", status, headers=dict(API_HEADERS), media_type="text/plain")


def _json(status: int, value: Mapping[str, Any]) -> Response:
    return Response(written(value), status, headers=dict(API_HEADERS), media_type="application/json")
