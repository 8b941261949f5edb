"""A running server: a hall behind a listening socket, on a thread of its own.

Rule: who starts a server stops it; whatever is wrong with the place where it is to listen is one ``ConfigError``.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import importlib
import socket
import threading
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from league_agents.arena.protocol.hosting import Profile
from league_agents.arena.server.house import House
from league_agents.arena.server.limits import ServerLimits
from league_agents.games.registry import usable_games
from league_agents.kit.errors import ConfigError, LeagueError

if TYPE_CHECKING:
    from league_agents.arena.server.hall import Hall

LOOPBACK = "127.0.0.1"
DEFAULT_PORT = 8765
STOP_WITHIN_S = 5.0
_CLOSE_WITHIN_S = 2
_SEND_BUFFER = 128 * 1024


class ArenaServer:
    """``with ArenaServer(house) as server: server.url``. It serves until the block ends."""

    def __init__(
        self,
        house: House,
        *,
        host: str = LOOPBACK,
        port: int = DEFAULT_PORT,
        is_public: bool = False,
        limits: ServerLimits | None = None,
        profile: Profile = Profile.SEED,
    ) -> None:
        """Port 0 chooses a free one. Raises ``ConfigError`` for a host beyond loopback that is not ``is_public``, and
        where the extra ``web`` is not installed."""
        _check_extra()
        self._house = house
        self._limits = limits or ServerLimits()
        self._profile = profile
        self._is_public = is_public
        self._listener = _listening(host, port, is_public=is_public)
        self.host, self.port = host, int(self._listener.getsockname()[1])
        self._thread: threading.Thread | None = None
        self._server: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._failed: BaseException | None = None
        self.hall: Hall | None = None
        """Lives on the server's thread; others look at it through ``call``."""

    @property
    def url(self) -> str:
        """Where the page is, and what clients are given."""
        host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(self.host, self.host)  # noqa: S104 - it is shown, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def start(self) -> None:
        """Serve from now on. Raises ``LeagueError`` when that fails."""
        self._thread = threading.Thread(target=self._run, name="arena-server", daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failed is not None:
            self._thread.join()
            raise LeagueError(f"the server could not be started: {self._failed}") from self._failed

    def stop(self) -> None:
        """End every match and connection."""
        if self._thread is None:
            self._listener.close()
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop_soon)
        self._thread.join(STOP_WITHIN_S + _CLOSE_WITHIN_S)
        self._listener.close()

    def call(self, function: Callable[..., Any], *args: object) -> Any:
        """Call a function on the server's thread, where the hall lives."""

        async def called() -> Any:
            return function(*args)

        assert self._loop is not None, "the server is running"
        return asyncio.run_coroutine_threadsafe(called(), self._loop).result(STOP_WITHIN_S)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _stop_soon(self) -> None:
        if self.hall is not None:
            self.hall.hang_up()
        self._server.should_exit = True

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failed = error
            if self._started.is_set():
                raise
        finally:
            self._started.set()

    async def _serve(self) -> None:
        import uvicorn

        from league_agents.arena.protocol.json_text import LARGEST
        from league_agents.arena.server.app import application
        from league_agents.arena.server.hall import Hall
        from league_agents.arena.server.wire import PatientHttp, PatientWebSocket

        limits = self._limits
        self._loop = asyncio.get_running_loop()
        self.hall = Hall(self._house, limits=limits, profile=self._profile)
        # The library makes these itself, one for each connection: what they need to know stands in their class.
        known = {"request_wait_s": limits.request_wait.total_seconds(), "most_of_address": limits.http_of_address}
        http = type("_Http", (PatientHttp,), {**known, "addresses": Counter()})
        web_socket = type("_WebSocket", (PatientWebSocket,), {"farewell_s": limits.farewell.total_seconds()})
        config = uvicorn.Config(
            application(self.hall, is_public=self._is_public),
            http=http,
            ws=web_socket,
            loop="asyncio",
            lifespan="on",
            log_config=None,
            log_level="critical",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            ws_max_size=LARGEST,
            ws_ping_interval=limits.ping_every.total_seconds(),
            ws_ping_timeout=limits.ping_every.total_seconds(),
            ws_per_message_deflate=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=_CLOSE_WITHIN_S,
        )
        self._server = server = uvicorn.Server(config)
        serving = asyncio.ensure_future(server.serve(sockets=[self._listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        self._started.set()
        await serving


def settle_memory() -> None:
    """For a process that does nothing but serve: what is loaded by now stays, and is not searched for garbage again.

    A full search through everything that was imported takes a tenth of a second and more, in which nobody is answered.
    """
    importlib.import_module("league_agents.arena.server.app")
    usable_games()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def _listening(host: str, port: int, *, is_public: bool) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise ConfigError("--host", f"{host} is no address of this machine") from None
    family, kind, protocol, _, address = found
    if not is_public and not _is_loopback(str(address[0])):
        raise ConfigError(
            "--host", f"{host} can be reached from outside; add --public if everybody who reaches it may play"
        )
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit it. Left to itself the system keeps megabytes for every peer that reads slowly.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)
        listener.bind(address)
        listener.listen(1024)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError("--port", f"{port} is in use; choose another one, or 0 for any that is free") from None
        raise ConfigError("--port", f"cannot listen at {host} port {port}: {error.strerror}") from None
    return listener


def _is_loopback(address: str) -> bool:
    import ipaddress

    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def _check_extra() -> None:
    for name in ("starlette", "uvicorn", "websockets"):
        if find_spec(name) is None:
            raise ConfigError("arena serve", f"needs {name}, which is not installed; pip install 'league-agents[web]'")
