"""The forms of answers over HTTP, for every route of the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from league_agents.arena.protocol.envelope import written
from league_agents.arena.server.guard import API_HEADERS

Endpoint = Callable[[Request], Awaitable[Response]]


class LobbyRefused(Exception):
    """A refusal by the lobby, not the protocol."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


def as_text(text: str, status: int = 200, extra: Mapping[str, str] | None = None) -> Response:
    return Response(
        text.encode("utf-8", "backslashreplace"),
        status,
        headers={**API_HEADERS, **(extra or {})},
        media_type="application/json",
    )


def as_json(value: Mapping[str, Any], status: int = 200, extra: Mapping[str, str] | None = None) -> Response:
    return as_text(written(value), status, extra)
