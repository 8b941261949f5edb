"""The Boardgame Protocol's service: requests in, answers and pushes out (arena 5.3).

Rule 1: the service changes only the store and the matches in it, and a refused request changes neither. The caller
passes the time; transports move text, check tokens and deliver.
Rule 2: the first entry that ``handle`` returns is the answer, for the sender of the request. The others are pushes,
in the order of the events, each for the recipient that it names.
Rule 3: one match is handled one message at a time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Literal

from league_agents.arena.protocol.access import (
    NOBODY,
    Principal,
    check_membership,
    check_token,
    closed_to_spectators,
    speaks_for,
)
from league_agents.arena.protocol.envelope import (
    OutgoingFrame,
    action_refused,
    action_taken,
    error,
    headed,
    instant,
)
from league_agents.arena.protocol.hosting import (
    MOST_ANSWERS_KEPT,
    Driver,
    Hosted,
    MatchStore,
    NoSeat,
    Profile,
    Status,
    UntimedDriver,
    agents_of,
    freed,
    viewer_of,
)
from league_agents.arena.protocol.profile import match_as_in_schemas
from league_agents.arena.protocol.projection import happened, last_seq, push_body, pushes, state_answer
from league_agents.arena.protocol.refusals import Refused, invalid_envelope, same_major
from league_agents.arena.protocol.requests import (
    CreateMatch,
    GetMatches,
    GetState,
    PerformAction,
    RefusedRequest,
    Request,
    RequestHeading,
    read_request,
)
from league_agents.games.game import ALL, Event, Game, IllegalAction
from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError, LeagueError, shortened
from league_agents.kit.values import evolve
from league_agents.turns.match import Match

Outgoing = list[tuple[str, OutgoingFrame]]
"""Pairs of recipient and message, in the order of sending."""

Creator = Callable[[CreateMatch, datetime], Hosted]
"""Makes the match that a request describes, with the sender's seat free. Raises ``ConfigError`` or ``Refused``."""

SENDER: Final = ""
"""The recipient of an answer to a sender that has not proved to be the agent named in the request."""

MOST_MATCHES_TOLD: Final = 100
MOST_CREATORS_KEPT: Final = 1000
ABANDONED: Final = "match_abandoned"
"""The kind of the event that says why a match was abandoned."""


class MatchService:
    """Answers requests for every match of a store."""

    def __init__(
        self,
        store: MatchStore,
        *,
        create: Creator | None = None,
        find_game: Callable[[str], Game[Any]] = game_of,
        profile: Profile = Profile.SEED,
    ) -> None:
        """``create=None`` refuses ``create_match``. ``profile`` is for answers that belong to no match."""
        self.store = store
        self._create = create
        self._find_game = find_game
        self._profile = profile
        self._created: OrderedDict[str, OrderedDict[str, OutgoingFrame]] = OrderedDict()

    # Requests of agents.

    def handle(
        self, envelope: str | bytes | bytearray | Mapping[str, Any], principal: Principal | None, now: datetime
    ) -> Outgoing:
        """The answer to a request, then the pushes that it causes."""
        try:
            request = read_request(envelope)
        except RefusedRequest as refusal:
            return [(SENDER, error(refusal.refused, refusal.heading))]
        try:
            return self._answer(request, principal or NOBODY, now)
        except Refused as refused:
            return [(SENDER, error(refused, request.heading))]

    def _answer(self, request: Request, principal: Principal, now: datetime) -> Outgoing:
        heading = request.heading
        if isinstance(request, GetMatches):
            check_token(heading, principal, in_lobby=True)
            return [(heading.agent_id, self._matches(heading, principal))]
        if isinstance(request, CreateMatch):
            check_token(heading, principal, in_lobby=True)
            return [(heading.agent_id, self._made(request, principal, now))]
        check_token(heading, principal)
        hosted = self._find(heading)
        check_membership(hosted, heading, principal, acts=isinstance(request, PerformAction))
        if isinstance(request, GetState):
            version = hosted.match.game.version
            if not same_major(request.version, version):
                raise _unsupported_game_version(request.version, version)
            return [(heading.agent_id, state_answer(hosted, heading))]
        return self._perform(hosted, request, now)

    def _find(self, heading: RequestHeading) -> Hosted:
        hosted = self.store.get(heading.match_id)
        if hosted is not None and hosted.match.game.code == heading.game:
            return hosted
        self._known_game(heading.game)
        raise _unknown_match(heading.match_id)

    def _known_game(self, code: str) -> Game[Any]:
        try:
            return self._find_game(code)
        except ConfigError as wrong:
            raise Refused("unknown_game", str(wrong)) from None

    def _perform(self, hosted: Hosted, request: PerformAction, now: datetime) -> Outgoing:
        heading = request.heading
        agent_id, request_id = heading.agent_id, heading.request_id
        answers = hosted.answers.get(agent_id)
        if request_id is not None and answers is not None and request_id in answers:
            # The sender has not received its answer. Acting again would be another move.
            return [(agent_id, answers[request_id])]
        if hosted.status is Status.WAITING:
            raise Refused("match_not_started", "the match waits for agents; act when it has started")
        version = hosted.match.game.version
        try:
            if hosted.status is not Status.STARTED:
                raise IllegalAction("match_over", "the match is over")
            hosted.driver.act(agent_id, request.action, now)
        except IllegalAction as illegal:
            answer = action_refused(heading, version, illegal)
        else:
            answer = action_taken(heading, version, last_seq(hosted, agent_id))
        if request_id is not None:
            _keep(hosted.answers.setdefault(agent_id, OrderedDict()), request_id, answer)
        return [(agent_id, answer), *self._deliver(hosted, now)]

    def _matches(self, heading: RequestHeading, principal: Principal) -> OutgoingFrame:
        told = [
            self._match_told(hosted)
            for hosted in self.store.all()
            if hosted.is_listed or any(speaks_for(principal, hosted, seat) for seat in hosted.seats)
        ][-MOST_MATCHES_TOLD:]
        return headed("get_matches_response", heading, {"matches": told}, core=("agent_id",))

    def _match_told(self, hosted: Hosted) -> dict[str, Any]:
        told = {
            "match_id": hosted.match_id,
            "game": hosted.match.game.code,
            "status": hosted.status.value,
            "agents": agents_of(hosted.seats),
            "seats": len(hosted.seats),
            "open_seats": hosted.open_seats,
            "created_at": instant(hosted.created_at),
        }
        return match_as_in_schemas(told, hosted) if self._profile is Profile.SCHEMAS else told

    def _made(self, request: CreateMatch, principal: Principal, now: datetime) -> OutgoingFrame:
        heading = request.heading
        account, request_id = heading.agent_id, heading.request_id
        if account not in principal.accounts:
            # A token for a seat opens that seat, not the lobby.
            raise Refused("forbidden", f"this token cannot open matches as {account}")
        answers = self._created.get(account)
        if request_id is not None and answers is not None and request_id in answers:
            return answers[request_id]
        game = self._known_game(heading.game)
        if self._create is None:
            raise Refused("forbidden", "this server opens no matches over the protocol")
        if not same_major(request.version, game.version):
            raise _unsupported_game_version(request.version, game.version)
        try:
            hosted = self._create(request, now)
            seat = hosted.seat_of(account)
            if seat is None or seat.is_taken:
                raise ConfigError("agents", f"must hold {account}, who opens the match, on an open seat")
        except ConfigError as wrong:
            fault = {"path": "/settings/data", "code": "invalid_config", "message": f"cannot be played: {wrong}"}
            raise invalid_envelope([fault]) from None
        hosted.take(evolve(seat, name=account, is_taken=True, by_account=True))
        self.store.add(hosted)
        answer = headed("create_match_response", evolve(heading, match_id=hosted.match_id), {})
        if request_id is not None:
            _keep(self._created.setdefault(account, OrderedDict()), request_id, answer)
            self._created.move_to_end(account)
            if len(self._created) > MOST_CREATORS_KEPT:
                self._created.popitem(last=False)
        return answer

    # Called by sessions and lobbies. Each of these raises ``Refused`` (``unknown_match``) for an unknown match.

    def join(
        self,
        match_id: str,
        *,
        name: str = "",
        kind: Literal["human", "ai"] = "ai",
        agent_id: str | None = None,
        by_account: bool = False,
    ) -> str:
        """Take the given free seat, or the first free one, and return its agent id. Raises ``NoSeat``.

        ``by_account``: the seat gets no token of its own, but belongs to the account of the same name.
        """
        hosted = self._get(match_id)
        if hosted.status is not Status.WAITING:
            raise NoSeat(f"the match {match_id} has started; watch it, or join another one")
        free = [seat for seat in hosted.seats if not seat.is_taken and agent_id in (None, seat.agent_id)]
        if not free:
            wanted = "a free seat" if agent_id is None else f"a free seat {shortened(agent_id, 64)}"
            raise NoSeat(f"the match {match_id} has no {wanted[2:]}; watch it, or join another one")
        hosted.take(evolve(free[0], name=name, kind=kind, is_taken=True, by_account=by_account))
        return free[0].agent_id

    def vacate(self, match_id: str, agent_id: str) -> None:
        """Free a seat of a match that has not started. Raises ``NoSeat`` if there is none to free."""
        hosted = self._get(match_id)
        seat = hosted.seat_of(agent_id)
        if hosted.status is not Status.WAITING or seat is None or not seat.is_taken:
            raise NoSeat(f"{shortened(agent_id, 64)} cannot leave the match {match_id} like this")
        hosted.take(freed(seat))

    def watch(self, match_id: str) -> str:
        """Add a spectator, who gets pushes from now on, and return its id.

        Raises ``Refused`` (``forbidden``) if the match is closed to spectators.
        """
        hosted = self._get(match_id)
        if not hosted.is_open:
            raise closed_to_spectators()
        hosted.last_spectator += 1
        spectator = f"spectator-{hosted.last_spectator}"
        hosted.spectators[spectator] = None
        return spectator

    def unwatch(self, match_id: str, spectator: str) -> None:
        """Remove a spectator. No-op for an unknown spectator or match."""
        hosted = self.store.get(match_id)
        if hosted is not None:
            hosted.spectators.pop(spectator, None)

    def start(
        self, match_id: str, now: datetime, *, match: Match[Any] | None = None, driver: Driver | None = None
    ) -> Outgoing:
        """Begin a match whose seats are all taken, and return the pushes of its opening. No-op if it has begun.

        ``match`` replaces the match that the seats belong to, with the same agents: the players' names are known only
        now. ``driver`` applies its actions. Raises ``NoSeat`` while a seat is free.
        """
        hosted = self._get(match_id)
        if hosted.status is not Status.WAITING:
            return []
        if hosted.open_seats:
            raise NoSeat(f"the match {match_id} waits for {hosted.open_seats} more; fill the seats first")
        if match is not None:
            if match.agent_ids != hosted.match.agent_ids or match.game.code != hosted.match.game.code:
                raise LeagueError(f"the match {match_id} starts with the game and the agents that it was opened with")
            hosted.match, hosted.rules = match, None
        if driver is not None:
            hosted.driver = driver
        elif match is not None:
            hosted.driver = UntimedDriver(match)
        hosted.status, hosted.started_at = Status.STARTED, now
        return self._deliver(hosted, now)

    def carry_on(self, match_id: str, reason: str | None) -> None:
        """Go on with a match that another process of this server hosted, once it holds its decisions. All of its events
        count as pushed: clients ask for those that they missed. ``reason``: why it was abandoned, if it was."""
        hosted = self._get(match_id)
        hosted.pushed = len(hosted.match.events)
        if reason is not None:
            hosted.closing = _closing(reason, len(hosted.match.events) + 1)

    def answered_before(self, agent_id: str, request_id: str, answer: OutgoingFrame) -> None:
        """Repeat this answer for the same request: it was given by another process of this server."""
        if answer["type"] == "create_match_response":
            _keep(self._created.setdefault(agent_id, OrderedDict()), request_id, answer)
            return
        hosted = self._get(answer["match_id"])
        _keep(hosted.answers.setdefault(agent_id, OrderedDict()), request_id, answer)

    def deliver(self, match_id: str, now: datetime) -> Outgoing:
        """The pushes of all events since the last delivery, whatever caused them."""
        return self._deliver(self._get(match_id), now)

    def abandon(self, match_id: str, now: datetime, reason: str) -> Outgoing:
        """Abandon a match: nobody wins. ``reason`` is one line for people. No-op if the match is over."""
        hosted = self._get(match_id)
        found = self._deliver(hosted, now)
        if hosted.status in (Status.ENDED, Status.ABANDONED):
            return found
        seq = 1 if hosted.status is Status.WAITING else hosted.pushed + 1
        hosted.closing = _closing(reason, seq)
        hosted.status, hosted.ended_at = Status.ABANDONED, now
        return [*found, *pushes(hosted, [hosted.closing])]

    def pushes_after(
        self, match_id: str, agent_id: str, seq: int, *, oldest: int | None = None, newest: int | None = None
    ) -> list[OutgoingFrame]:
        """Pushes for an agent or a spectator with numbers above ``seq``, oldest first, as they were sent; at most the
        first ``oldest`` or the last ``newest`` of them."""
        hosted = self._get(match_id)
        events = happened(hosted, viewer_of(agent_id), seq)[:oldest]
        if newest is not None:
            events = events[-newest:]
        return [push_body(hosted, event).to(agent_id) for event in events]

    def check_reader(self, match_id: str, agent_id: str, principal: Principal | None) -> Hosted:
        """The match, if the sender may read it as ``agent_id``. Raises ``Refused``: ``unauthorized``, ``forbidden``,
        ``unknown_match``, ``not_in_match``."""
        heading = RequestHeading(match_id=match_id, agent_id=agent_id)
        check_token(heading, principal or NOBODY)
        hosted = self._get(match_id)
        check_membership(hosted, heading, principal or NOBODY, acts=False)
        return hosted

    def _get(self, match_id: str) -> Hosted:
        hosted = self.store.get(match_id)
        if hosted is None:
            raise _unknown_match(match_id)
        return hosted

    def _deliver(self, hosted: Hosted, now: datetime) -> Outgoing:
        if hosted.status is not Status.STARTED:
            return []
        events = hosted.match.events_for("host", hosted.pushed)
        hosted.pushed += len(events)
        if hosted.match.is_over:
            hosted.status, hosted.ended_at = Status.ENDED, now
        return list(pushes(hosted, events))


def _closing(reason: str, seq: int) -> Event:
    return Event(kind=ABANDONED, visible_to=ALL, text=reason, data={"reason": reason}, seq=seq)


def _keep(answers: OrderedDict[str, OutgoingFrame], request_id: str, answer: OutgoingFrame) -> None:
    answers[request_id] = answer
    if len(answers) > MOST_ANSWERS_KEPT:
        answers.popitem(last=False)


def _unknown_match(match_id: str) -> Refused:
    return Refused("unknown_match", f"there is no match {shortened(match_id, 64)} of this game here")


def _unsupported_game_version(found: str, supported: str) -> Refused:
    return Refused(
        "unsupported_game_version",
        f"version {found} of the game is not played here; send {supported}",
        {"supported": [supported]},
    )
