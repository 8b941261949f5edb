"""One WebSocket: texts in, answers and pushes out (arena 5.3).

Rule 1: bad input closes at most this connection. Matches and other connections are not affected.
Rule 2: an answer is sent before the pushes that its request caused, and everything is sent in the order in which it
happened: one outbox, one sender.

Besides the protocol's requests one frame is accepted, for clients that cannot set headers (browsers):
``{"version": "1.0.0", "type": "authenticate", "game": …, "match_id": …, "agent_id": …, "token": …}``, any number of
times. Fields that the token implies may be empty or left out. Each is answered by ``authenticated`` with the same core
fields, filled in from the token, and with ``now``, the server's time, for clients that show the time left until a
deadline. With ``"after": <seq>`` the pushes with higher numbers follow at once.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from league_agents.arena.protocol.access import NOBODY, Principal, speaks_for
from league_agents.arena.protocol.envelope import OutgoingFrame, error, headed, instant
from league_agents.arena.protocol.json_text import read_object
from league_agents.arena.protocol.refusals import Refused, rate_limited
from league_agents.arena.protocol.requests import (
    Authenticate,
    RefusedRequest,
    RequestHeading,
    heading_of,
    read_authentication,
)
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.limits import PUSHES_OF_ONE_REQUEST, Bucket
from league_agents.arena.server.outbox import SocketOutbox
from league_agents.arena.server.tokens import Claim
from league_agents.kit.clock import monotonic_s
from league_agents.kit.values import evolve

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

POLICY, TRY_AGAIN, NO_TOKEN = 1008, 1013, 4401
MOST_MISSED = 5000
"""Missed pushes of one match that are sent again; earlier ones must be taken from the state."""

_SHORT = 4096
"""A refused text of at most this many characters is still read, for its ``request_id``."""


class Connection:
    """Serves one WebSocket from its handshake to its end."""

    def __init__(self, hall: Hall, socket: WebSocket, *, address: str, token: str | None = None) -> None:
        """``token``: from the handshake's ``Authorization`` header; ``None`` without one."""
        self._hall = hall
        self._socket = socket
        self._address = address
        self._token = token
        limits = hall.limits
        self._outbox = SocketOutbox(limits.outbox)
        self._bucket = Bucket(limits.requests_per_s, limits.burst, monotonic_s())
        self._claims: dict[tuple[str, str], Claim] = {}
        self._attached: dict[tuple[str, str], None] = {}
        self._principal, self._revision = NOBODY, hall.tokens.revision
        self._tries = 0
        self._refused = 0

    async def serve(self) -> None:
        """Serve until either side closes."""
        await self._socket.accept()
        receiving = asyncio.ensure_future(self._receive())
        watching = [asyncio.ensure_future(each) for each in (self._send(), self._overflow())]
        try:
            done, _ = await asyncio.wait({receiving, *watching}, return_when=asyncio.FIRST_COMPLETED)
            code = next((task.result() for task in done if not task.cancelled() and not task.exception()), None)
            if code is not None:
                if code != TRY_AGAIN:
                    await self._flush()
                with suppress(RuntimeError):  # the peer closed first
                    await self._socket.close(code)
        finally:
            for task in (receiving, *watching):
                task.cancel()
            await asyncio.gather(receiving, *watching, return_exceptions=True)
            for match_id, agent_id in self._attached:
                self._hall.detach(match_id, agent_id, self._outbox)

    async def _receive(self) -> int | None:
        """Handle incoming frames. Return the code to close with; ``None`` when the peer has closed."""
        if self._token is not None:
            self._authenticate(Authenticate(heading=RequestHeading(type="authenticate"), token=self._token))
        give_up_at = monotonic_s() + self._hall.limits.token_wait.total_seconds()
        while True:
            try:
                if self._claims:
                    message = await self._socket.receive()
                else:
                    left = give_up_at - monotonic_s()
                    message = await asyncio.wait_for(self._socket.receive(), max(0.0, left))
            except TimeoutError:
                return NO_TOKEN
            if message["type"] != "websocket.receive":
                return None
            code = self._handle(message.get("text"))
            if code is not None:
                return code
            # A client that sends without pause must not block the other connections.
            await asyncio.sleep(0)

    def _handle(self, text: str | None) -> int | None:
        """Answer one frame. Return the code to close with; ``None`` to go on."""
        wait_s = self._bucket.take(monotonic_s())
        if wait_s:
            self._refused += 1
            self._answer(error(rate_limited(round(wait_s, 3)), _heading_of_short(text)))
            return POLICY if self._refused >= self._hall.limits.patience else None
        self._refused = 0
        if text is None:
            self._answer(
                error(Refused("malformed_json", "a message is a text frame, found a binary one"), RequestHeading())
            )
            return None
        if '"authenticate"' in text:
            fields = _authentication(text)
            if fields is not None:
                try:
                    return self._authenticate(read_authentication(fields))
                except RefusedRequest as refusal:
                    self._answer(error(refusal.refused, refusal.heading))
                    return None
        self._hall.handle(text, self._live_principal(), self._answered, self._address)
        return None

    def _authenticate(self, asked: Authenticate) -> int | None:
        heading = asked.heading
        claim = self._hall.tokens.claim_of(asked.token)
        if claim is None:
            self._tries += 1
            self._answer(error(Refused("unauthorized", "the token opens nothing here"), heading))
            return NO_TOKEN if self._tries >= self._hall.limits.token_tries else None
        known = (claim.match_id, claim.agent_id)
        is_new = known not in self._claims
        try:
            heading = self._filled(heading, claim)
            if is_new and len(self._claims) >= self._hall.limits.seats_of_socket:
                raise Refused("rate_limited", "this connection serves as many seats as it may; open another one")
            self._claims[known] = claim
            missed = self._attach(claim, asked.after)
        except Refused as refused:
            if is_new:
                self._claims.pop(known, None)
            self._answer(error(refused, heading))
            return None
        self._principal |= claim.principal
        self._answer(headed("authenticated", heading, {"now": instant(self._hall.now())}))
        for push in missed:
            self._outbox.put(push.text, is_repeated=True)
        self._bucket.charge(len(missed) / PUSHES_OF_ONE_REQUEST)
        return None

    def _filled(self, heading: RequestHeading, claim: Claim) -> RequestHeading:
        """The heading with empty fields filled in from the token. Raises ``Refused`` if they contradict each other."""
        hosted = self._hall.store.get(claim.match_id) if claim.match_id else None
        game = "" if hosted is None else hosted.match.game.code
        filled = evolve(heading, game=game, match_id=claim.match_id, agent_id=claim.agent_id)
        for name in ("game", "match_id", "agent_id"):
            said, opens = getattr(heading, name), getattr(filled, name)
            if said and opens and said != opens:
                raise Refused("forbidden", f"this token does not open the {name} {said}")
        return filled

    def _attach(self, claim: Claim, after: int | None) -> list[OutgoingFrame]:
        """Subscribe to every match that the claim covers; return the pushes missed since number ``after``."""
        hall = self._hall
        if claim.match_id:
            places = [claim.match_id]
        else:
            own = claim.principal
            places = [
                hosted.match_id
                for hosted in hall.store.all()
                if any(speaks_for(own, hosted, seat) for seat in hosted.seats)
            ]
        missed = []
        for match_id in places:
            hall.attach(match_id, claim.agent_id, self._outbox)
            self._attached[match_id, claim.agent_id] = None
            if after is not None:
                missed += hall.service.pushes_after(match_id, claim.agent_id, after, newest=MOST_MISSED)
        return missed

    def _live_principal(self) -> Principal:
        tokens = self._hall.tokens
        if self._revision != tokens.revision:
            self._revision = tokens.revision
            closed = [key for key, claim in self._claims.items() if not tokens.is_open(claim)]
            for key in closed:
                del self._claims[key]
                self._attached.pop(key, None)
            if closed:
                self._principal = NOBODY
                for claim in self._claims.values():
                    self._principal |= claim.principal
        return self._principal

    def _answered(self, answer: OutgoingFrame) -> None:
        if answer["type"] == "create_match_response":
            # The account that opened a match has a seat in it, and gets its pushes from the first one on.
            match_id, agent_id = answer["match_id"], answer["agent_id"]
            with suppress(Refused):
                self._hall.attach(match_id, agent_id, self._outbox)
                self._attached[match_id, agent_id] = None
        self._answer(answer)

    def _answer(self, answer: OutgoingFrame) -> None:
        self._outbox.put(answer.text)

    async def _send(self) -> int | None:
        while (text := await self._outbox.take()) is not None:
            await self._socket.send_text(text)
        return TRY_AGAIN

    async def _overflow(self) -> int:
        await self._outbox.overflowed.wait()
        return TRY_AGAIN

    async def _flush(self) -> None:
        """Send the remaining messages, if the peer reads them soon."""
        with suppress(TimeoutError):
            async with asyncio.timeout(1):
                while len(self._outbox):
                    await asyncio.sleep(0.01)


def _authentication(text: str) -> dict[str, Any] | None:
    """The fields of a frame that authenticates; ``None`` for any other frame, also for one that cannot be read."""
    try:
        fields = read_object(text)
    except Refused:
        return None
    return fields if fields.get("type") == "authenticate" else None


def _heading_of_short(text: str | None) -> RequestHeading:
    if text is None or len(text) > _SHORT:
        return RequestHeading()
    try:
        return heading_of(read_object(text))
    except Refused:
        return RequestHeading()
