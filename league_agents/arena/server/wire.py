"""The sockets below the application, with an end to every patience.

uvicorn bears whoever connects and says nothing, and waits for ever for a peer that reads nothing to take its farewell.
The two classes here are its own, with a bound to each of these.
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
"""Frames that one message may come in."""


class PatientHttp(H11Protocol):
    """HTTP/1.1 whose peers must say what they want, and take what they are answered, in ``request_wait_s``."""

    request_wait_s = 10.0
    most_of_address = 256
    """Connections that are no WebSockets."""

    addresses: Counter[str]
    """How many each address has; every server has a class, and so a count, of its own."""

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
    """WebSockets that are cut when their peer does not take part in closing them."""

    farewell_s = 3.0
    """How long a peer has to take what was said last before the connection is cut."""

    _cut: asyncio.TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        # The HTTP half handed the transport over; its limits of what may wait to be written are the server's own.
        self.transport.set_write_buffer_limits(high=128 * 1024)

    def data_received(self, data: bytes) -> None:
        if self.conn.parser_exc is not None:
            return  # what follows a broken message is not read, but taken, so that our close frame reaches the peer
        super().data_received(data)

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) >= MOST_FRAGMENTS:
            self.conn.fail(1009, "too many fragments")
            self._say_farewell(1009, "too many fragments")
            return
        super().handle_cont(event)

    def handle_ping(self) -> None:
        if not self.writable.is_set():
            self.transport.abort()  # it asks for answers and does not read them
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
        """Close after a fault of the peer, and go on taking what it still sends: a reset would overtake our frame."""
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
