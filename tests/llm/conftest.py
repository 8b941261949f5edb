"""Loopback servers that speak what language model services speak, and the means to talk to them."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from league_agents.llm.port import Prompt, Purpose

SECONDS = timedelta(seconds=5)


class Opinion(BaseModel):
    """What the model is asked for."""

    word: str
    points: int


def prompt(user: str = "Which word?", *, match_id: str = "0101001", callback: str = "get_guess") -> Prompt:
    purpose = Purpose(match_id=match_id, callback=callback, step="opinion")
    return Prompt(system="Answer as asked.", user=user, purpose=purpose)


GOOD = json.dumps({"word": "whale", "points": 3})


class RawServer:
    """A server that treats every connection as it is told, byte by byte: for what no framework would send."""

    def __init__(self, serve: Callable[[socket.socket, threading.Event], None]) -> None:
        self._serve = serve
        self._stopped = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(0.05)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads: list[threading.Thread] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self._accepting.start()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(5)
            thread = threading.Thread(target=self._one, args=(connection,), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _one(self, connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(65536)
                self._serve(connection, self._stopped)
            except OSError:
                pass  # the client has gone, which is what it should do

    def stop(self) -> None:
        self._stopped.set()
        for thread in (self._accepting, *self._threads):
            thread.join(5)
        self._listener.close()


@pytest.fixture
def raw_server() -> Iterator[Callable[[Callable[[socket.socket, threading.Event], None]], RawServer]]:
    servers: list[RawServer] = []

    def start(serve: Callable[[socket.socket, threading.Event], None]) -> RawServer:
        servers.append(RawServer(serve))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def drip(head: bytes, body: bytes) -> Callable[[socket.socket, threading.Event], None]:
    """Sends one byte after the other, slowly and for ever."""

    def serve(connection: socket.socket, stopped: threading.Event) -> None:
        connection.sendall(head)
        for byte in body:
            if stopped.wait(0.03):
                return
            connection.sendall(bytes([byte]))

    return serve


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


Document = dict[str, Any]
