"""The server's HTTP side: the protocol by POST and long poll, and the lobby around it (arena 5.3).

What is over has its routes in ``gallery_api``.

======================================= ==============================================================================
``POST /protocol``                      an envelope in, its answer out
``GET /protocol/events``                ``match_id``, ``after``, ``wait`` (seconds, 0 to 30): ``{"messages", "seq"}``
``GET /games``                          the games, with rules and configuration
``GET /matches``                        the list of matches
``POST /matches``                       open one: ``{"game", "config", "agents", …}`` -> ``{"match_id", …}``
``POST /matches/{id}/join``             take a seat: ``{"name", "type", "agent_id"}`` -> ``{"agent_id", "token"}``
``POST /matches/{id}/watch``            ``{"agent_id", "token"}`` of a spectator
``POST /matches/{id}/leave``            leave the token's seat permanently
``GET /matches/{id}``                   one match of the list
``POST /accounts``                      an agent id for ``create_match`` and ``get_matches``: ``{"agent_id", "token"}``
======================================= ==============================================================================

Tokens are sent as ``Authorization: Bearer``. A refusal of the lobby is ``{"error": {"code", "message"}}``.
"""

from __future__ import annotations

import asyncio
import logging
import math
import secrets
from collections import Counter
from collections.abc import Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from league_agents.arena.protocol.access import NOBODY, Principal
from league_agents.arena.protocol.envelope import OutgoingFrame, error, written
from league_agents.arena.protocol.hosting import NoSeat
from league_agents.arena.protocol.json_text import LARGEST, read_object
from league_agents.arena.protocol.refusals import (
    HTTP_STATUS,
    Refused,
    http_status,
    internal,
    invalid_envelope,
    rate_limited,
)
from league_agents.arena.protocol.requests import RequestHeading
from league_agents.arena.server.answering import Endpoint, LobbyRefused, as_json, as_text
from league_agents.arena.server.gallery_api import GalleryApi
from league_agents.arena.server.guard import address_key
from league_agents.arena.server.hall import Hall
from league_agents.arena.server.limits import PUSHES_OF_ONE_REQUEST, Buckets
from league_agents.arena.server.lobby import games_told, join_wanted, match_told, match_wanted
from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import ConfigError, LimitExceeded
from league_agents.kit.printable import line_of

LOG = logging.getLogger(__name__)

LONGEST_WAIT_S = 30.0
MOST_PUSHES = 1000
MOST_LISTED = 200
ANY_SPECTATOR = "spectator-0"


class WebApi:
    """The routes of one hall."""

    def __init__(self, hall: Hall) -> None:
        self._hall = hall
        self._requests = Buckets(hall.limits.requests_per_s, hall.limits.burst)
        self._polls: Counter[str] = Counter()
        self._games: str | None = None

    def routes(self) -> list[Route]:
        """The routes for the application."""
        get, post = ["GET"], ["POST"]
        return [
            Route("/protocol", self._guarded(self.protocol, in_protocol=True), methods=post),
            Route("/protocol/events", self._guarded(self.events, in_protocol=True), methods=get),
            Route("/games", self._guarded(self.games), methods=get),
            Route("/matches", self._guarded(self.matches), methods=get),
            Route("/matches", self._guarded(self.open_match), methods=post),
            Route("/matches/{match_id}", self._guarded(self.match), methods=get),
            Route("/matches/{match_id}/join", self._guarded(self.join), methods=post),
            Route("/matches/{match_id}/watch", self._guarded(self.watch), methods=post),
            Route("/matches/{match_id}/leave", self._guarded(self.leave), methods=post),
            Route("/accounts", self._guarded(self.account), methods=post),
            *GalleryApi(self._hall, self._guarded, self._reader_of).routes(),
        ]

    # The protocol.

    async def protocol(self, request: Request) -> Response:
        principal = self._principal(request)
        body = await self._body(request)
        answers: list[OutgoingFrame] = []
        self._hall.handle(body, principal, answers.append, _address(request))
        return as_text(answers[0].text, http_status(answers[0]))

    async def events(self, request: Request) -> Response:
        principal = self._principal(request)
        match_id = request.query_params.get("match_id", "")
        after = _number(request, "after", 0, 2**53, whole=True)
        wait_s = _number(request, "wait", 0, LONGEST_WAIT_S)
        agent_id = self._reader(principal, match_id)
        hall, address = self._hall, _address(request)
        deadline = monotonic_s() + wait_s
        if self._polls[address] >= hall.limits.polls_of_address:
            raise rate_limited(1)
        self._polls[address] += 1
        try:
            while True:
                hall.service.check_reader(match_id, agent_id, principal)
                hall.seen(match_id, agent_id)
                pushes = hall.service.pushes_after(match_id, agent_id, int(after), oldest=MOST_PUSHES)
                left = deadline - monotonic_s()
                if pushes or left <= 0 or hall.is_closing or await request.is_disconnected():
                    break
                await hall.moved(match_id, left)
        finally:
            self._polls[address] -= 1
            if not self._polls[address]:
                del self._polls[address]
        self._requests.charge(address, len(pushes) / PUSHES_OF_ONE_REQUEST)
        seq = _seq(pushes[-1]) if pushes else int(after)
        return as_text(f'{{"messages":[{",".join(push.text for push in pushes)}],"seq":{seq}}}')

    # The lobby.

    async def games(self, request: Request) -> Response:
        if self._games is None:
            self._games = written({"games": games_told(self._hall.house)})
        return as_text(self._games)

    async def matches(self, request: Request) -> Response:
        listed = [hosted.match_id for hosted in self._hall.store.all() if hosted.is_listed][-MOST_LISTED:]
        return as_json({"matches": [self._told(match_id) for match_id in reversed(listed)]})

    async def match(self, request: Request) -> Response:
        return as_json(self._told(_match_id(request)))

    async def open_match(self, request: Request) -> Response:
        wanted = match_wanted(await self._fields(request), self._hall.house, self._hall.limits)
        hosted = self._hall.open_match(
            wanted.scenario,
            opener=_address(request),
            pause=wanted.pause,
            is_listed=wanted.is_listed,
            is_open=wanted.is_open,
        )
        return as_json(self._told(hosted.match_id), 201)

    async def join(self, request: Request) -> Response:
        wanted = join_wanted(await self._fields(request))
        match_id = _match_id(request)
        agent_id, token = self._hall.join(match_id, name=wanted.name, kind=wanted.kind, agent_id=wanted.agent_id)
        return self._seated(match_id, agent_id, token)

    async def watch(self, request: Request) -> Response:
        match_id = _match_id(request)
        agent_id, token = self._hall.watch(match_id)
        return self._seated(match_id, agent_id, token)

    async def leave(self, request: Request) -> Response:
        match_id = _match_id(request)
        principal = self._principal(request)
        agent_id = self._reader(principal, match_id)
        if not principal:
            raise Refused("unauthorized", "send the token of the seat that you leave")
        self._hall.service.check_reader(match_id, agent_id, principal)
        self._hall.leave(match_id, agent_id)
        return as_json({"match_id": match_id, "agent_id": agent_id})

    async def account(self, request: Request) -> Response:
        agent_id, token = self._hall.tokens.new_account()
        return as_json({"agent_id": agent_id, "token": token}, 201)

    # Shared by both.

    def _guarded(self, endpoint: Endpoint, *, in_protocol: bool = False) -> Endpoint:
        """Wrap an endpoint: turn its exceptions into answers in the protocol's or the lobby's form."""

        async def answer(request: Request) -> Response:
            try:
                wait_s = self._requests.take(_address(request), monotonic_s())
                if wait_s:
                    raise rate_limited(round(wait_s, 3))
                return await endpoint(request)
            except ClientDisconnect:
                return Response(status_code=400)
            except Refused as refused:
                found = refused
            except LobbyRefused as refused:
                return as_json({"error": {"code": refused.code, "message": str(refused)}}, refused.status)
            except NoSeat as none:
                return as_json({"error": {"code": "no_seat", "message": str(none)}}, 409)
            except ConfigError as wrong:
                told = {"code": "invalid_request", "path": wrong.path, "message": str(wrong)}
                return as_json({"error": told}, 400)
            except LimitExceeded as full:
                return as_json({"error": {"code": "rate_limited", "message": f"{full}; come back later"}}, 429)
            except Exception as failed:  # the edge: the answer must not reveal the failure
                incident = secrets.token_hex(4)
                LOG.error("%s failed, incident %s: %s", request.url.path, incident, line_of(failed), exc_info=failed)
                found = internal(incident)
            status = HTTP_STATUS[found.code]
            retry_s = found.data.get("retry_after_s")
            extra = {} if retry_s is None else {"retry-after": str(math.ceil(retry_s))}
            if in_protocol:
                return as_text(error(found, RequestHeading()).text, status, extra)
            return as_json({"error": {"code": found.code, "message": found.message, **found.data}}, status, extra)

        return answer

    def _principal(self, request: Request) -> Principal:
        """The principal of the request's token; ``NOBODY`` without one. Raises ``Refused`` for a wrong token."""
        token = bearer_of(request.headers.get("authorization"))
        if token is None:
            return NOBODY
        claim = self._hall.tokens.claim_of(token)
        if claim is None:
            raise Refused("unauthorized", "the token opens nothing here")
        return claim.principal

    def _reader(self, principal: Principal, match_id: str) -> str:
        """The viewer that the sender reads a match as: its seat with a token, else a spectator."""
        own = [agent_id for match, agent_id in principal.seats if match == match_id]
        hosted = self._hall.store.get(match_id)
        if not own and hosted is not None:
            own = [seat.agent_id for seat in hosted.seats if seat.by_account and seat.agent_id in principal.accounts]
        if own:
            return own[0]
        if principal.seats and hosted is not None:
            raise Refused("forbidden", "the token is for another match")
        return ANY_SPECTATOR

    def _reader_of(self, request: Request, match_id: str) -> tuple[Principal, str]:
        principal = self._principal(request)
        return principal, self._reader(principal, match_id)

    async def _body(self, request: Request) -> bytes:
        found = bytearray()
        try:
            async with asyncio.timeout(self._hall.limits.request_wait.total_seconds()):
                async for part in request.stream():
                    found += part
                    if len(found) > LARGEST:
                        raise Refused("too_large", f"a message has at most {LARGEST} bytes", {"most_bytes": LARGEST})
        except TimeoutError:
            raise Refused("malformed_json", "the request did not arrive in full in time") from None
        return bytes(found)

    async def _fields(self, request: Request) -> Mapping[str, Any]:
        body = await self._body(request)
        return read_object(body) if body.strip() else {}

    def _seated(self, match_id: str, agent_id: str, token: str) -> Response:
        hosted = self._hall.store.get(match_id)
        game = "" if hosted is None else hosted.match.game.code
        return as_json({"match_id": match_id, "game": game, "agent_id": agent_id, "token": token}, 201)

    def _told(self, match_id: str) -> dict[str, Any]:
        found = self._hall.table_told(match_id)
        if found is None:
            raise Refused("unknown_match", "there is no such match here, or no more")
        return match_told(*found)


def bearer_of(header: str | None) -> str | None:
    """The token of an ``Authorization`` header; ``None`` without the header. Another scheme gives an invalid token."""
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _address(request: Request) -> str:
    return address_key(request.client.host if request.client is not None else "")


def _match_id(request: Request) -> str:
    return str(request.path_params["match_id"])


def _number(request: Request, name: str, least: float, most: float, *, whole: bool = False) -> float:
    text = request.query_params.get(name)
    if text is None:
        return least
    try:
        value = int(text[:20]) if whole else float(text[:20])
    except ValueError:
        value = math.nan
    if not least <= value <= most:  # NaN fails this comparison
        kind = "a whole number" if whole else "a number"
        message = f"must be {kind} from {least:g} to {most:g}"
        raise invalid_envelope([{"path": f"/{name}", "code": "out_of_range", "message": message}])
    return value


def _seq(push: OutgoingFrame) -> int:
    body = push.get("message_response") or push["event"]
    return int(body["data"]["seq"])
