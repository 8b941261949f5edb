"""A web server behind a listening socket, on a thread of its own.

Rule: the code that starts a server stops it; every fault of its listening address is one ``ConfigError``.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import threading
from collections import Counter
from importlib.util import find_spec
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from league_agents.kit.errors import ConfigError, LeagueError

if TYPE_CHECKING:
    from starlette.types import ASGIApp
    from uvicorn import Config

LOOPBACK = "127.0.0.1"
STOP_WITHIN_S = 5.0
CLOSE_WITHIN_S = 2
_SEND_BUFFER = 128 * 1024


class WebServer:
    """``with WebServer(…) as server: server.url``. It serves until the block ends."""

    command: str
    """The command that serves; errors name it."""

    public_means: str
    """States who has access if the server is public; part of error messages."""

    def __init__(self, *, host: str = LOOPBACK, port: int, is_public: bool = False) -> None:
        """Port 0 chooses a free port. Raises ``ConfigError`` for a host beyond loopback without ``is_public``, and if
        the extra ``web`` is not installed."""
        _check_extra(self.command)
        self._is_public = is_public
        self._listener = _listening(host, port, is_public=is_public, public_means=self.public_means)
        self.host, self.port = host, int(self._listener.getsockname()[1])
        self._thread: threading.Thread | None = None
        self._server: Any = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._failed: BaseException | None = None

    def config(self) -> Config:
        """The uvicorn configuration; called once, on the server's thread."""
        raise NotImplementedError

    def hang_up(self) -> None:
        """End requests that would keep the server from stopping; called on its thread."""

    @property
    def url(self) -> str:
        """The URL of the page, which clients use too."""
        host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(self.host, self.host)  # noqa: S104 - it is shown, not bound
        return f"http://[{host}]:{self.port}" if ":" in host else f"http://{host}:{self.port}"

    def start(self) -> None:
        """Start serving. Raises ``LeagueError`` if that fails."""
        self._thread = threading.Thread(target=self._run, name=self.command, daemon=True)
        self._thread.start()
        self._started.wait()
        if self._failed is not None:
            self._thread.join()
            raise LeagueError(f"the server could not be started: {self._failed}") from self._failed

    def stop(self) -> None:
        """Stop serving and close every connection."""
        if self._thread is None:
            self._listener.close()
            return
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._stop_soon)
        self._thread.join(STOP_WITHIN_S + CLOSE_WITHIN_S)
        self._listener.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _stop_soon(self) -> None:
        self.hang_up()
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

        self._loop = asyncio.get_running_loop()
        self._server = server = uvicorn.Server(self.config())
        serving = asyncio.ensure_future(server.serve(sockets=[self._listener]))
        while not server.started and not serving.done():
            await asyncio.sleep(0.005)
        self._started.set()
        await serving


def server_config(app: ASGIApp, *, request_wait_s: float = 10.0, most_of_address: int = 256, **more: Any) -> Config:
    """Configure uvicorn with this server's limits, and without logs, which could hold the contents of requests."""
    import uvicorn

    from league_agents.arena.server.wire import PatientHttp

    # uvicorn makes the protocol objects itself, one per connection, so their settings are class attributes.
    known = {"request_wait_s": request_wait_s, "most_of_address": most_of_address, "addresses": Counter()}
    return uvicorn.Config(
        app,
        http=type("_Http", (PatientHttp,), known),
        loop="asyncio",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=CLOSE_WITHIN_S,
        **more,
    )


def _listening(host: str, port: int, *, is_public: bool, public_means: str) -> socket.socket:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError):
        raise ConfigError("--host", f"{host} is no address of this machine") from None
    family, kind, protocol, _, address = found
    if not is_public and not _is_loopback(str(address[0])):
        raise ConfigError("--host", f"{host} can be reached from outside; add --public if {public_means}")
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Accepted sockets inherit it. By default the system buffers megabytes for every slow reader.
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


def _check_extra(command: str) -> None:
    for name in ("starlette", "uvicorn", "websockets"):
        if find_spec(name) is None:
            raise ConfigError(command, f"needs {name}, which is not installed; pip install 'league-agents[web]'")
