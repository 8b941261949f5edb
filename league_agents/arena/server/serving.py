"""The arena's server: a hall behind a listening socket."""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from league_agents.arena.protocol.hosting import Profile
from league_agents.arena.server.house import House
from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.web_server import LOOPBACK, STOP_WITHIN_S, WebServer, server_config
from league_agents.games.registry import usable_games

if TYPE_CHECKING:
    from uvicorn import Config

    from league_agents.arena.server.hall import Hall
    from league_agents.arena.server.keep import MatchKeep

DEFAULT_PORT = 8765


class ArenaServer(WebServer):
    """``with ArenaServer(house) as server: server.url``. It serves until the block ends."""

    command = "arena serve"
    public_means = "everybody who reaches it may play"

    def __init__(
        self,
        house: House,
        *,
        host: str = LOOPBACK,
        port: int = DEFAULT_PORT,
        is_public: bool = False,
        limits: ServerLimits | None = None,
        profile: Profile = Profile.SEED,
        keep: MatchKeep | None = None,
    ) -> None:
        """As ``WebServer``. ``keep``: as for ``Hall``; the caller closes it after the server."""
        super().__init__(host=host, port=port, is_public=is_public)
        self._house = house
        self._limits = limits or ServerLimits()
        self._profile = profile
        self._keep = keep
        self.hall: Hall | None = None
        """Belongs to the server's thread; use ``call`` from other threads. ``None`` until the server has started."""

    def call(self, function: Callable[..., Any], *args: object) -> Any:
        """Call a function on the server's thread."""

        async def called() -> Any:
            return function(*args)

        assert self._loop is not None, "the server is running"
        return asyncio.run_coroutine_threadsafe(called(), self._loop).result(STOP_WITHIN_S)

    def hang_up(self) -> None:
        if self.hall is not None:
            self.hall.hang_up()

    def config(self) -> Config:
        from league_agents.arena.protocol.json_text import LARGEST
        from league_agents.arena.server.app import application
        from league_agents.arena.server.hall import Hall
        from league_agents.arena.server.wire import PatientWebSocket

        limits = self._limits
        self.hall = Hall(self._house, limits=limits, profile=self._profile, keep=self._keep)
        return server_config(
            application(self.hall, is_public=self._is_public),
            request_wait_s=limits.request_wait.total_seconds(),
            most_of_address=limits.http_of_address,
            ws=type("_WebSocket", (PatientWebSocket,), {"farewell_s": limits.farewell.total_seconds()}),
            lifespan="on",
            ws_max_size=LARGEST,
            ws_ping_interval=limits.ping_every.total_seconds(),
            ws_ping_timeout=limits.ping_every.total_seconds(),
            ws_per_message_deflate=False,
        )


def settle_memory() -> None:
    """Exempt all loaded objects from garbage collection, in a process that does nothing but serve.

    A full collection over all imported modules takes 0.1 s and more, during which no request is answered.
    """
    importlib.import_module("league_agents.arena.server.app")
    usable_games()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
