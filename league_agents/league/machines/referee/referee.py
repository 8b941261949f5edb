"""The referee of a league, which finds its matches, judges several at once, and reports each exactly once.

Rule 1: only messages of the league manager and of players of an open match have an effect (protocol 2.6, 5.3.2).
Rule 2: all data are keyed by game id; matches are independent of each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec import Struct

from league_agents.games.q21.callbacks import CallbackSpec, callback_specs
from league_agents.games.q21.flow import Opened, SeatPhase
from league_agents.games.q21.model import Termination
from league_agents.kit.ids import GameId
from league_agents.kit.tables import Transition
from league_agents.kit.values import evolve
from league_agents.league.machines.config import RefereeConfig
from league_agents.league.machines.effects import Effect, Record
from league_agents.league.machines.events import (
    CallbackFailed,
    CallbackReturned,
    DeadlinePassed,
    Event,
    MessageArrived,
    OperatorCommand,
    SentLate,
    Started,
)
from league_agents.league.machines.participant.desk import GameOrder, Ordered
from league_agents.league.machines.participant.held import Held, hold, load_held, participant_parts
from league_agents.league.machines.participant.league_state import Fixture, League, LeagueState, load_league, state_name
from league_agents.league.machines.participant.participant import LEAGUE, manager_message
from league_agents.league.machines.referee.match_flow import Next, abort_match, call_ended, drop_match, go_on
from league_agents.league.machines.referee.match_play import (
    asked_late,
    deadline_passed,
    match_transitions,
    message_arrived,
)
from league_agents.league.machines.referee.match_state import MatchPlayer, OpenMatch, with_seat
from league_agents.league.machines.referee.messages import RefereeTurn, send_report
from league_agents.league.machines.reports import CANCELLED_REPORT, cancelled_facts
from league_agents.league.machines.stored import add_apart, changed, dump, load, rejoined, with_entry, without_entry
from league_agents.league.wire.address import address_key
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import AssignmentRole

PLAYER_TYPES = frozenset({MessageType.Q21WARMUPRESPONSE, MessageType.Q21QUESTIONSBATCH, MessageType.Q21GUESSSUBMISSION})
"""The types that players may send to a referee (protocol 2.6)."""


class RefereeState(Struct, frozen=True, kw_only=True):
    """The whole state of a referee."""

    league: League
    matches: Mapping[GameId, OpenMatch]
    """The open matches. Never changed in place. A closed match is reported, recorded and dropped."""

    held: tuple[Held, ...] = ()
    """The events that arrived during a pause."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Referee:
    """The referee's machine (``machine.Machine[RefereeState]``)."""

    config: RefereeConfig
    _specs: Mapping[str, CallbackSpec] = field(init=False, repr=False, compare=False)
    _manager_key: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_specs", callback_specs(self.config.rules))
        object.__setattr__(self, "_manager_key", address_key(self.config.manager_email))

    @property
    def role(self) -> str:
        return "referee"

    def initial(self) -> RefereeState:
        return RefereeState(league=League(), matches={})

    def state_name(self, state: RefereeState) -> LeagueState:
        """The name of the state, derived from the data."""
        return state_name(state.league, Role.REFEREE, is_in_game=bool(state.matches))

    def step(self, state: RefereeState, event: Event, now: datetime) -> tuple[RefereeState, Sequence[Effect]]:
        turn = RefereeTurn(
            identity=self.config.identity,
            role=Role.REFEREE,
            manager_email=self.config.manager_email,
            now=now,
            is_paused=state.league.paused_at is not None,
            config=self.config,
            specs=self._specs,
        )
        return self._step(turn, state, event), turn.effects

    def parts(self, state: RefereeState, since: RefereeState | None = None) -> Mapping[str, object | None]:
        parts = participant_parts(state, since)
        for game_id, match, former in changed(state.matches, since.matches if since is not None else {}):
            parts[f"game/{game_id}"] = match
            for role in (AssignmentRole.PLAYER1, AssignmentRole.PLAYER2):
                seat = None if match is None else match.seat(role)
                add_apart(parts, seat, None if former is None else former.seat(role), f"{game_id}/{role.value}")
        return parts

    def dump_part(self, name: str, part: object) -> str:
        return dump(part)

    def load(self, parts: Mapping[str, str]) -> RefereeState:
        matches: dict[GameId, OpenMatch] = {}
        for name in sorted(parts):
            if name.startswith("game/"):
                match: OpenMatch = load(OpenMatch, parts[name], name)
                for seat in match.seats:
                    match = with_seat(match, rejoined(seat, parts, f"{match.game_id}/{seat.role.value}"))
                matches[match.game_id] = match
        return RefereeState(
            league=load_league(parts),
            matches=matches,
            held=load_held(parts),
        )

    # Events.

    def _step(self, turn: RefereeTurn, state: RefereeState, event: Event) -> RefereeState:
        if isinstance(event, MessageArrived):
            return self._message(turn, state, event)
        if isinstance(event, CallbackReturned | CallbackFailed):
            return self._callback(turn, state, event)
        if isinstance(event, DeadlinePassed):
            return self._deadline(turn, state, event)
        if isinstance(event, SentLate):
            match = state.matches.get(GameId(event.game_id))
            return state if match is None else _with_match(state, match, asked_late(turn, match, event))
        if isinstance(event, OperatorCommand):
            turn.warn("not_for_referees", f"{event.command.value} is a command for the league manager")
        elif not isinstance(event, Started):
            turn.warn("unknown_event", f"a referee knows no {type(event).__name__}")
        return state

    def _message(self, turn: RefereeTurn, state: RefereeState, event: MessageArrived) -> RefereeState:
        envelope = event.envelope
        kind = envelope.message_type
        sender = address_key(envelope.sender.email)
        if kind in PLAYER_TYPES:
            return self._player_message(turn, state, event, sender)
        if sender != self._manager_key:
            code = "error_response" if kind is MessageType.ERROR_RESPONSE else "wrong_sender"
            turn.warn(code, f"{kind.value} of {envelope.sender.email[:254]} is ignored")
            return state
        league, ordered = manager_message(turn, self.config, state.league, envelope, sorted(state.matches))
        if league is not state.league:
            state = evolve(state, league=league)
        return state if ordered is None else self._obey(turn, state, ordered)

    def _player_message(
        self, turn: RefereeTurn, state: RefereeState, event: MessageArrived, sender: str
    ) -> RefereeState:
        envelope = event.envelope
        game_id = envelope.game_id
        found = _seats_of(state.matches, sender) if game_id is None else _seat_in(state.matches.get(game_id), sender)
        if len(found) != 1:
            turn.warn(*_why_not(state, event, found))
            return state
        match, seat = found[0]
        if turn.is_paused:
            return evolve(state, held=hold(turn, self.config, state.held, event))
        return _with_match(state, match, message_arrived(turn, match, seat, event))

    def _callback(
        self, turn: RefereeTurn, state: RefereeState, event: CallbackReturned | CallbackFailed
    ) -> RefereeState:
        match = state.matches.get(GameId(event.call_id.partition(":")[0]))
        call = next((call for call in match.calls if call.call_id == event.call_id), None) if match else None
        if match is None or call is None:
            turn.warn("late_result", f"nobody waits for {event.call_id[:100]} any more")
            return state
        if turn.is_paused:
            return evolve(state, held=hold(turn, self.config, state.held, event))
        if isinstance(event, CallbackReturned):
            return _with_match(state, match, call_ended(turn, match, call, event.result, None))
        why = f"{event.failure.value}: {event.detail}"
        return _with_match(state, match, call_ended(turn, match, call, None, why))

    def _deadline(self, turn: RefereeTurn, state: RefereeState, event: DeadlinePassed) -> RefereeState:
        match = state.matches.get(GameId(event.name.partition(":")[2].partition(":")[0]))
        if match is None or turn.is_paused:
            return state
        return _with_match(state, match, deadline_passed(turn, match, event.name))

    # Orders of the league level.

    def _obey(self, turn: RefereeTurn, state: RefereeState, ordered: Ordered) -> RefereeState:
        if ordered.order is GameOrder.START_ROUND:
            return self._start_round(turn, state, ordered)
        if ordered.order is GameOrder.END_ROUND:
            return _abort(turn, state, Termination.END_ROUND_RECEIVED, only_round=ordered.round_number)
        if ordered.order is GameOrder.END_SEASON:
            return _abort(turn, state, Termination.LEAGUE_COMPLETED)
        if ordered.order is GameOrder.PAUSE:
            for match in state.matches.values():
                turn.stop_timers(match.timers)
            return state
        if ordered.order is GameOrder.CONTINUE:
            return self._continue(turn, state, ordered)
        for match in state.matches.values():
            drop_match(turn, match)
        return evolve(state, matches={}, held=())

    def _start_round(self, turn: RefereeTurn, state: RefereeState, ordered: Ordered) -> RefereeState:
        state = _abort(turn, state, Termination.NEW_ROUND_STARTED, except_round=ordered.round_number)
        for fixture in state.league.fixtures_of_round(ordered.round_number):
            if fixture.game_id in state.matches:
                turn.warn("game_open", f"game {fixture.game_id} is open already")
                continue
            match = _new_match(turn, state.league, fixture, ordered)
            if any(match.present()):
                state = _with_match(state, match, go_on(turn, match, Opened()))
            else:
                _report_cancelled(turn, match)
        return state

    def _continue(self, turn: RefereeTurn, state: RefereeState, ordered: Ordered) -> RefereeState:
        """Resume the deadlines with the time they had left, then process the held events in order of arrival."""
        turn.is_paused = False
        matches = {
            game_id: evolve(match, timers=turn.resume_timers(match.timers, ordered.paused_for))
            for game_id, match in state.matches.items()
        }
        held = state.held
        state = evolve(state, matches=matches, held=())
        for event in held:
            state = self._step(turn, state, event)
        return state


def _seats_of(matches: Mapping[GameId, OpenMatch], sender: str) -> list[tuple[OpenMatch, MatchPlayer]]:
    return [place for match in matches.values() for place in _seat_in(match, sender)]


def _seat_in(match: OpenMatch | None, sender: str) -> list[tuple[OpenMatch, MatchPlayer]]:
    if match is None:
        return []
    return [(match, seat) for seat in match.seats if address_key(seat.email) == sender][:1]


def _why_not(state: RefereeState, event: MessageArrived, found: Sequence[object]) -> tuple[str, str]:
    """The warning for a player's message that belongs to no open match, or to more than one."""
    envelope = event.envelope
    what = f"{envelope.message_type.value} of {envelope.sender.email[:254]}"
    if found:
        return "unclear_game", f"{what} names no game, and the sender plays {len(found)}"
    if envelope.game_id is None:
        return "wrong_sender", f"{what}: the sender plays in no open match"
    if envelope.game_id in state.matches:
        return "wrong_sender", f"{what}: the sender does not play game {envelope.game_id}"
    is_ours = state.league.fixture(envelope.game_id) is not None
    return ("closed_game" if is_ours else "unknown_game"), f"{what}: game {envelope.game_id} is not open"


def _with_match(state: RefereeState, before: OpenMatch, after: Next) -> RefereeState:
    if after is before:
        return state
    if after is not None:
        return evolve(state, matches=with_entry(state.matches, after.game_id, after))
    return evolve(state, matches=without_entry(state.matches, before.game_id))


def _abort(
    turn: RefereeTurn,
    state: RefereeState,
    termination: Termination,
    *,
    only_round: int | None = None,
    except_round: int | None = None,
) -> RefereeState:
    season_id = state.league.season_id
    for match in list(state.matches.values()):
        if only_round is not None and match.round_number != only_round:
            continue
        if match.round_number == except_round and match.season_id in (season_id, ""):
            continue
        state = _with_match(state, match, abort_match(turn, match, termination))
    return state


def _new_match(turn: RefereeTurn, league: League, fixture: Fixture, ordered: Ordered) -> OpenMatch:
    present = None if ordered.lookup is None else {address_key(address) for address in ordered.lookup}

    def seat(role: AssignmentRole, email: str, group: str) -> MatchPlayer:
        is_present = present is None or address_key(email) in present
        phase = SeatPhase.IDLE if is_present else SeatPhase.ABSENT
        return MatchPlayer(role=role, email=email, participant_id=group or email, phase=phase)

    return OpenMatch(
        game_id=fixture.game_id,
        token=turn.hex("match", fixture.game_id, league.season_id, *league.obeyed[-1:]),
        round_number=ordered.round_number,
        round_id=league.round_id,
        season_id=league.season_id,
        league_id=league.league_id,
        player1=seat(AssignmentRole.PLAYER1, fixture.player1_email, fixture.player1_group),
        player2=seat(AssignmentRole.PLAYER2, fixture.player2_email, fixture.player2_group),
        opened_at=turn.now,
    )


def _report_cancelled(turn: RefereeTurn, match: OpenMatch) -> None:
    """Report a match without present players: no mail to players, and the round counts as played (protocol 5.4)."""
    send_report(turn, CANCELLED_REPORT, match=match)
    facts = cancelled_facts(match, turn.identity.participant_id)
    turn.effects.append(Record(kind="match", key=match.game_id, termination=Termination.CANCELLED, facts=facts))


def transition_table() -> list[Transition]:
    """All rows of the referee's tables: the league level, then one player of a match."""
    return [*LEAGUE.transitions(), *match_transitions()]
