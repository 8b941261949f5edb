"""uvicorn's connection classes, with time limits.

uvicorn keeps connections that send nothing, and waits for ever for a peer that does not read to receive the close
frame. The two subclasses here bound both.
"""

from __future__ import annotations

import asyncio
from asyncio.transports import BaseTransport
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from league_agents.arena.server.guard import address_key

MOST_FRAGMENTS = 1000
"""Frames that one message may consist of."""


class PatientHttp(H11Protocol):
    """HTTP/1.1 whose peers must send their request, and read the answer, within ``request_wait_s``."""

    request_wait_s = 10.0
    most_of_address = 256
    """Connections of one address that are not WebSockets."""

    addresses: Counter[str]
    """Connections per address; every server has its own subclass, and so its own count."""

    _address: str | None = None
    _waiting: asyncio.TimerHandle | None = None
    _unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = address_key(self.client[0] if self.client else "")
        if self.addresses[address] >= self.most_of_address:
            transport.abort()
            return
        self._address = address
        self.addresses[address] += 1
        self._await_request()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._unread = self.loop.call_later(self.request_wait_s, self.transport.abort)

    def resume_writing(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None
        super().resume_writing()

    def handle_events(self) -> None:
        super().handle_events()
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            if self._waiting is None:
                self._await_request()
        else:
            self._stop_waiting()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._stop_waiting()
        self._uncount()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._uncount()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    def _uncount(self) -> None:
        if self._address is not None:
            self.addresses[self._address] -= 1
            if self.addresses[self._address] <= 0:
                del self.addresses[self._address]
            self._address = None

    def _await_request(self) -> None:
        self._waiting = self.loop.call_later(self.request_wait_s, self.transport.abort)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


class PatientWebSocket(WebSocketsSansIOProtocol):
    """WebSockets that are cut if their peer does not complete the closing handshake."""

    farewell_s = 3.0
    """How long a peer has to read the last messages before the connection is cut."""

    _cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        # The transport comes from the HTTP class, with that class's write buffer limits.
        self.transport.set_write_buffer_limits(high=128 * 1024)

    def data_received(self, data: bytes) -> None:
        if self.conn.parser_exc is not None:
            return  # discard what follows a broken message, so that our close frame reaches the peer
        super().data_received(data)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) >= MOST_FRAGMENTS:
            self.conn.fail(1009, "too many fragments")
            self._say_farewell(1009, "too many fragments")
            return
        super().handle_cont(event)

    def handle_ping(self) -> None:
        if not self.writable.is_set():
            self.transport.abort()  # the peer sends requests and does not read the answers
            return
        super().handle_ping()

    def handle_parser_exception(self) -> None:
        sent = self.conn.close_sent
        self._say_farewell(1006 if sent is None else sent.code, "" if sent is None else sent.reason)

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self._cut_soon()

    def shutdown(self) -> None:
        super().shutdown()
        self._cut_soon()

    async def send(self, message: Any) -> None:
        if message["type"] == "websocket.close":
            self._cut_soon()
        await super().send(message)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._cut is not None:
            self._cut.cancel()
            self._cut = None
        super().connection_lost(exc)

    def _say_farewell(self, code: int, reason: str) -> None:
        """Close after a fault of the peer, but keep reading: a TCP reset would overtake our close frame."""
        if self.close_sent:
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        transport = self.transport
        transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            transport.resume_reading()
        if transport.can_write_eof() and not transport.is_closing():
            transport.write_eof()
        self.close_timer = self.loop.call_later(self.farewell_s, transport.close)
        self._cut_soon()

    def _cut_soon(self) -> None:
        if self._cut is None and not self.disconnected:
            self._cut = self.loop.call_later(2 * self.farewell_s, self.transport.abort)
