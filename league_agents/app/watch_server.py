"""A small HTTP server for monitors."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from league_agents.kit.errors import ConfigError

PATIENCE_S = 5
"""Seconds for a client to send each part of its request, and to read its page."""

MOST_CLIENTS = 16
"""Connections at one time. A further one ends the oldest: each would keep a thread and a file of the process."""


class WatchPage(NamedTuple):
    """What is served."""

    status: int
    content_type: str
    body: bytes


class WatchServer:
    """Serves pages from a thread of its own until it is closed."""

    def __init__(self, host: str, port: int, pages: Mapping[str, Callable[[], WatchPage]]) -> None:
        """Port 0 is any free one. Raises ``ConfigError`` if the address cannot be used."""
        lock = threading.Lock()
        clients: dict[socket.socket, None] = {}

        class Handler(BaseHTTPRequestHandler):
            timeout = PATIENCE_S

            def do_GET(self) -> None:
                make = pages.get(self.path.partition("?")[0])
                page = make() if make is not None else WatchPage(404, "text/plain; charset=utf-8", b"no such page\n")
                self.send_response(page.status)
                self.send_header("Content-Type", page.content_type)
                self.send_header("Content-Length", str(len(page.body)))
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(page.body)

            def do_HEAD(self) -> None:
                self.do_GET()

            def version_string(self) -> str:
                return "league-agents"

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Nothing: a monitor asks every few seconds."""

        class Server(ThreadingHTTPServer):
            address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
            daemon_threads = True
            request_queue_size = 8 * MOST_CLIENTS

            def process_request(self, request: Any, client_address: Any) -> None:
                with lock:
                    clients[request] = None
                    oldest = next(iter(clients)) if len(clients) > MOST_CLIENTS else None
                    if oldest is not None:
                        del clients[oldest]
                        with suppress(OSError):
                            oldest.shutdown(socket.SHUT_RDWR)  # its thread closes it
                super().process_request(request, client_address)

            def shutdown_request(self, request: Any) -> None:
                with lock:
                    clients.pop(request, None)
                super().shutdown_request(request)

            def handle_error(self, request: object, client_address: object) -> None:
                """Nothing: a client that goes away is no event."""

        try:
            self._server = Server((host, port), Handler)
        except OSError as error:
            why = error.strerror or str(error)
            raise ConfigError("metrics", f"{host}:{port} cannot be used: {why}; name another port") from None
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="metrics", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
