"""The HTTP/1.1 server on the loopback interface, with every way in which a connection can break.

Rule 1: only this machine can connect: the socket is bound to 127.0.0.1, the ``Host`` header must name it, and requests
from pages of other origins are refused, so no web site can reach the mail through a user's browser.
Rule 2: a body is bounded before it is read, an answer is sent in one piece, and stopping ends every connection.
"""

from __future__ import annotations

import socket
import socketserver
import sys
import threading
from collections.abc import Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import ConfigError
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.refusal import SandboxRefusal
from league_agents.sandbox.request import JSON_TYPE, MOST_BODY_BYTES, SandboxAnswer, SandboxRequest, refusal_answer
from league_agents.sandbox.service import Route, Service

HOST = "127.0.0.1"
IDLE_S = 600.0
MOST_DRAINED = 200_000_000
"""Bytes of a body that is too large which are read and discarded, so that the client receives the refusal."""

_CHUNK = 65_536
_SLOW_PIECES = 20
_GARBLED = b'{"messages": [{"id": "18f'


class SandboxServer(ThreadingHTTPServer):
    """The listening socket and its connections."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    def __init__(self, service: Service, port: int) -> None:
        """Bind the socket. Raises ``ConfigError``."""
        self.service = service
        self.stopping = threading.Event()
        self.failures: list[BaseException] = []
        """Unexpected exceptions of connections; empty unless the sandbox has a bug."""

        self._open: dict[socket.socket, threading.Thread | None] = {}
        self._open_lock = threading.Lock()
        try:
            super().__init__((HOST, port), HttpConnection)
        except (OSError, OverflowError) as error:
            raise ConfigError(f"port {port}", f"cannot listen on it ({error}); choose another, or 0 for any") from error
        self.port = int(self.server_address[1])
        self.names = frozenset({f"{name}:{self.port}" for name in (HOST, "localhost")})
        self.origins = frozenset({f"http://{name}" for name in self.names})

    def server_bind(self) -> None:
        # The base class looks up the host's name, which can take seconds on a machine without a network.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open[request] = None
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open[request] = threading.current_thread()
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._open_lock:
                self._open.pop(request, None)

    def handle_error(self, request: object, client_address: object) -> None:
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, (ConnectionError, TimeoutError)):
            self.failures.append(error)

    def close_connections(self) -> None:
        """End every connection and wait for its thread."""
        self.stopping.set()
        with self._open_lock:
            connections = dict(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # already closed
        ends = monotonic_s() + 5
        for thread in connections.values():
            if thread is not None:
                thread.join(max(0.0, ends - monotonic_s()))


class HttpConnection(BaseHTTPRequestHandler):
    """One connection; its requests are handled one after the other."""

    server: SandboxServer
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Log nothing: requests hold tokens."""

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the base class's names

    def _serve(self) -> None:
        service = self.server.service
        try:
            request = self._request()
            route = service.route(request)
            size = self._body_size()
        except SandboxRefusal as refused:
            self.close_connection = True
            self._write(refusal_answer(refused))
            return
        if size > MOST_BODY_BYTES:
            self._drain(size)
            self.close_connection = True
            too_large = SandboxRefusal(
                413, "uploadTooLarge", f"Request is too large: the limit is {MOST_BODY_BYTES} bytes"
            )
            self._write(refusal_answer(too_large))
            return
        if route.reads_body_first:
            request = self._with_body(request, size)
        account = service.account_of(route, request)
        faults = service.strikes(route, account)
        actions = {fault.action for fault in faults}
        if FaultAction.DROP_UNREAD in actions:
            self._drop(route, request, account)
            return
        if not route.reads_body_first:
            request = self._with_body(request, size)
        if len(request.body) < size:
            self._drop(route, request, account)  # the client disconnected in the middle
            return
        with service.under_way(route, request, account):
            service.hold(_seconds(faults, FaultAction.WAIT))
            service.let_pass(self.server.stopping, _seconds(faults, FaultAction.LAST))
            if self.server.stopping.is_set():
                self.close_connection = True
                return
            if FaultAction.DROP_UNDONE in actions:
                self._drop(route, request, account)
                return
            answer = service.perform(route, request, account, faults)
        if FaultAction.DROP_DONE in actions:
            self.close_connection = True
            return
        if FaultAction.GARBLE in actions:
            answer = SandboxAnswer(code=answer.code, body=_GARBLED, headers={"Content-Type": JSON_TYPE})
        self._write(answer, slow_s=_seconds(faults, FaultAction.SLOW_BODY), is_cut=FaultAction.TRUNCATE in actions)

    def _request(self) -> SandboxRequest:
        """The request without its body. Raises ``SandboxRefusal``."""
        headers = {name.lower(): value for name, value in self.headers.items()}
        if headers.get("host") not in self.server.names:
            raise SandboxRefusal(421, "badRequest", "This sandbox answers to 127.0.0.1 and localhost only.")
        origin = headers.get("origin")
        if origin is not None and origin not in self.server.origins:
            raise SandboxRefusal(403, "forbidden", "This sandbox is not for pages of other origins.")
        try:
            address = urlsplit(self.path)
            query = parse_qs(address.query, max_num_fields=2_000, keep_blank_values=True)
        except ValueError:
            raise SandboxRefusal(400, "badRequest", "The address cannot be read.") from None
        return SandboxRequest(verb=self.command, path=address.path, query=query, headers=headers)

    def _body_size(self) -> int:
        """The number of bytes that follow the headers. Raises ``SandboxRefusal``."""
        if self.headers.get("transfer-encoding") is not None:
            raise SandboxRefusal(411, "badRequest", "Content-Length is needed; this sandbox reads no chunked bodies.")
        sizes = self.headers.get_all("content-length") or ["0"]
        if len(set(sizes)) != 1 or not (sizes[0].isascii() and sizes[0].isdigit() and len(sizes[0]) <= 15):
            raise SandboxRefusal(400, "badRequest", "Content-Length is no number.")
        return int(sizes[0])

    def _with_body(self, request: SandboxRequest, size: int) -> SandboxRequest:
        body = self.rfile.read(size) if size else b""
        return SandboxRequest(
            verb=request.verb, path=request.path, query=request.query, headers=request.headers, body=body
        )

    def _drain(self, size: int) -> None:
        left = min(size, MOST_DRAINED)
        while left and not self.server.stopping.is_set():
            read = self.rfile.read(min(left, _CHUNK))
            if not read:
                return
            left -= len(read)

    def _drop(self, route: Route, request: SandboxRequest, account: str) -> None:
        self.server.service.undone(route, request, account)
        self.close_connection = True

    def _write(self, answer: SandboxAnswer, *, slow_s: float = 0.0, is_cut: bool = False) -> None:
        try:
            phrase = HTTPStatus(answer.code).phrase
        except ValueError:
            phrase = "Fault"
        lines = [
            f"HTTP/1.1 {answer.code} {phrase}",
            f"Date: {self.date_time_string(self.server.service.now_s())}",
            "Server: league-sandbox",
            "X-Content-Type-Options: nosniff",
            *(f"{name}: {value}" for name, value in answer.headers.items()),
        ]
        if answer.code != HTTPStatus.NO_CONTENT:
            lines.append(f"Content-Length: {len(answer.body)}")
        if self.close_connection:
            lines.append("Connection: close")
        head = ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")
        if is_cut:
            self.close_connection = True
            self.wfile.write(head + answer.body[: len(answer.body) // 2])
        elif slow_s:
            self.wfile.write(head)
            step = max(1, -(-len(answer.body) // _SLOW_PIECES))
            for start in range(0, len(answer.body), step):
                self.server.stopping.wait(slow_s / _SLOW_PIECES)
                self.wfile.write(answer.body[start : start + step])
        else:
            self.wfile.write(head + answer.body)


def _seconds(faults: Sequence[Fault], action: FaultAction) -> float:
    return sum(fault.seconds for fault in faults if fault.action is action)
