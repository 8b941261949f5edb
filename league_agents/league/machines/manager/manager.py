"""The league manager, as a pure state machine.

Rule 1: each transition of the season is one of the rows below: a command, a deadline, or the condition that all awaited
members have answered. A message never moves the season; it changes the data, and then the rows are checked.
Rule 2: mail is exchanged only with members of the roster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.tables import Rule, Transition, TransitionTable
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.league.machines.effects import Effect
from league_agents.league.machines.events import (
    Command,
    DeadlinePassed,
    Event,
    MessageArrived,
    OperatorCommand,
)
from league_agents.league.machines.manager.broadcasts import SeasonTurn
from league_agents.league.machines.manager.config import ManagerConfig, Roster, roster_of
from league_agents.league.machines.manager.dump import dump_part, load_state
from league_agents.league.machines.manager.opening import (
    RosterLetter,
    acknowledge,
    close_registration,
    has_everybody_acknowledged,
    is_everybody_registered,
    is_of_former_season,
    new_season,
    note,
    open_season,
    register,
    send_table_again,
)
from league_agents.league.machines.manager.replay import replay, substitute_referee
from league_agents.league.machines.manager.reports import report
from league_agents.league.machines.manager.round_results import send_results_again
from league_agents.league.machines.manager.rounds import (
    close_and_start,
    close_round,
    end_round,
    finish,
    finish_after_round,
    finish_now,
    go_on,
    is_last_round,
    start_round,
)
from league_agents.league.machines.manager.service import (
    free_text,
    go_on_after_pause,
    heard,
    keep_alive,
    pause,
    peer_error,
    replied,
    reset,
    wants_to_leave,
)
from league_agents.league.machines.manager.settlement import (
    annul,
    correct,
    extend_round,
    readmit,
    reinstate,
    withdraw,
)
from league_agents.league.machines.manager.state import ManagerState, Season, SeasonPhase, initial_state, parts_of
from league_agents.league.wire.kinds import MessageType, Role

Move = Callable[[SeasonTurn, ManagerState], ManagerState]
Hearing = Callable[[SeasonTurn, ManagerState, RosterLetter], ManagerState]

ANY = "any"
ALL_REGISTERED, ALL_ACKNOWLEDGED, ALL_REPORTED = "all registered", "all acknowledged", "all reported"
ROUND_OVER = "round over"

_SETUP, _REGISTRATION, _ASSIGNED = SeasonPhase.SETUP, SeasonPhase.REGISTRATION, SeasonPhase.ASSIGNED
_ROUND, _CLOSING, _BETWEEN, _FINISHED = (
    SeasonPhase.ROUND,
    SeasonPhase.CLOSING,
    SeasonPhase.BETWEEN,
    SeasonPhase.FINISHED,
)

_START = "BROADCAST_START_SEASON to the roster; deadline registration"
_TABLE = "BROADCAST_ASSIGNMENT_TABLE to those who play or registered; deadline start"
_NEW = "BROADCAST_NEW_LEAGUE_ROUND; deadline round:n"
_END = "BROADCAST_END_LEAGUE_ROUND to the referees; deadline grace:n when reports are missing"
_RESULTS = "no_report for missing reports; BROADCAST_ROUND_RESULTS; record of the round; deadline next:n with a gap"
_PAIRED = "the next round is to be paired: BROADCAST_ASSIGNMENT_TABLE with it"
_COMPLETED = "LEAGUE_COMPLETED; record of the season"


def _row(phase: str, event: str, action: Move, after: str | tuple[str, ...], effects: str) -> Rule[Move]:
    return Rule(
        phase=phase, event=event, action=action, next=(after,) if isinstance(after, str) else after, effects=effects
    )


SEASON: TransitionTable[Move] = TransitionTable(
    "league manager: season",
    (
        _row(_SETUP, Command.OPEN_SEASON, open_season, _REGISTRATION, _START),
        *(
            _row(_REGISTRATION, event, close_registration, _ASSIGNED, _TABLE)
            for event in (ALL_REGISTERED, "deadline registration", Command.CLOSE_REGISTRATION)
        ),
        *(
            _row(_ASSIGNED, event, start_round, _ROUND, _NEW)
            for event in (ALL_ACKNOWLEDGED, "deadline start", Command.START_ROUND)
        ),
        *(
            _row(_ROUND, event, end_round, _CLOSING, _END)
            for event in (ALL_REPORTED, "deadline round", Command.END_ROUND)
        ),
        *(
            _row(_CLOSING, event, close_round, _BETWEEN, _RESULTS)
            for event in (ALL_REPORTED, "deadline grace", Command.END_ROUND)
        ),
        _row(
            _CLOSING,
            Command.START_ROUND,
            close_and_start,
            (_ROUND, _ASSIGNED, _BETWEEN),
            f"{_RESULTS}; {_NEW}; {_PAIRED}",
        ),
        *(
            _row(
                _BETWEEN,
                event,
                go_on,
                (_ROUND, _ASSIGNED, _FINISHED),
                f"a round is left: {_NEW}; {_PAIRED}; none is: {_COMPLETED}",
            )
            for event in (ROUND_OVER, "deadline next")
        ),
        _row(
            _BETWEEN,
            Command.START_ROUND,
            start_round,
            (_ROUND, _ASSIGNED, _BETWEEN),
            f"a round is left: {_NEW}; {_PAIRED}",
        ),
        *(
            _row(phase, Command.FINISH_SEASON, finish, _FINISHED, _COMPLETED)
            for phase in (_REGISTRATION, _ASSIGNED, _BETWEEN)
        ),
        _row(_ROUND, Command.FINISH_SEASON, finish_after_round, _CLOSING, f"{_END}; the season ends with it"),
        _row(_CLOSING, Command.FINISH_SEASON, finish_now, _FINISHED, f"{_RESULTS}; {_COMPLETED}"),
    ),
)
"""The transitions of a season. Deadlines and conditions count while it is not paused, conditions only in an automatic
season; a round that the operator ordered begins when everybody has its table."""

NEXT_SEASON: TransitionTable[Move] = TransitionTable(
    "league manager: next season",
    (
        _row(
            _FINISHED,
            Command.NEW_SEASON,
            new_season,
            (_REGISTRATION, _FINISHED),
            f"the configuration names another season: {_START}",
        ),
    ),
)
"""The transition from one season to the next on the same journal."""

SERVICE: TransitionTable[Move] = TransitionTable(
    "league manager: service",
    (
        _row(ANY, Command.KEEP_ALIVE, keep_alive, ANY, "BROADCAST_KEEP_ALIVE"),
        _row(ANY, Command.FREE_TEXT, free_text, ANY, "BROADCAST_FREE_TEXT"),
        *(
            _row(phase, Command.PAUSE, pause, phase, "BROADCAST_CRITICAL_PAUSE; deadlines stop")
            for phase in SeasonPhase
            if phase is not _FINISHED
        ),
        _row(ANY, Command.CONTINUE, go_on_after_pause, ANY, "BROADCAST_CRITICAL_CONTINUE; deadlines go on"),
        *(
            _row(phase, Command.RESET, reset, _SETUP, "BROADCAST_CRITICAL_RESET; records of what was cut off")
            for phase in SeasonPhase
            if phase is not _FINISHED
        ),
    ),
)
"""Commands that the operator may give also during a pause."""


def _mail(kind: MessageType, action: Hearing, effects: str) -> Rule[Hearing]:
    return Rule(phase=ANY, event=kind.value, action=action, next=(ANY,), effects=effects)


_ERRORS = (
    MessageType.ERROR_RESPONSE,
    MessageType.ERROR,
    MessageType.PROTOCOL_ERROR,
    MessageType.LEAGUE_ERROR,
    MessageType.GAME_ERROR,
)
_REPLIES = (
    MessageType.RESPONSE_KEEP_ALIVE,
    MessageType.CRITICAL_PAUSE_RESPONSE,
    MessageType.CRITICAL_CONTINUE_RESPONSE,
    MessageType.CRITICAL_RESET_RESPONSE,
    MessageType.FREE_TEXT_RESPONSE,
)
_SIGNS_OF_LIFE = (
    MessageType.HEARTBEAT,
    MessageType.CONNECTIVITY_TEST_ECHO,
    MessageType.START_SEASON_RESPONSE,
    MessageType.LEAGUE_REGISTER_REQUEST,
    MessageType.EXTENSION_REQUEST,
    MessageType.MALFUNCTION_REPORT,
)

_TOLD = "record of the settlement; BROADCAST_FREE_TEXT to those concerned"

SETTLING: TransitionTable[Move] = TransitionTable(
    "league manager: settling",
    tuple(
        _row(ANY, command, move, ANY, effects)
        for command, move, effects in (
            (Command.ANNUL, annul, f"{_TOLD}; of a closed round BROADCAST_ROUND_RESULTS again"),
            (Command.CORRECT, correct, f"{_TOLD}; of a closed round BROADCAST_ROUND_RESULTS again"),
            (Command.REINSTATE, reinstate, f"{_TOLD}; of a closed round BROADCAST_ROUND_RESULTS again"),
            (
                Command.REPLAY,
                replay,
                f"{_TOLD}; of a closed round BROADCAST_ROUND_RESULTS again; after the season {_PAIRED}",
            ),
            (
                Command.SUBSTITUTE_REFEREE,
                substitute_referee,
                f"{_TOLD}; BROADCAST_ASSIGNMENT_TABLE before the next round, or as for {Command.REPLAY.word}",
            ),
            (Command.WITHDRAW, withdraw, f"walkovers; {_TOLD}"),
            (Command.READMIT, readmit, _TOLD),
            (Command.EXTEND_ROUND, extend_round, f"deadline round:n; {_TOLD}"),
        )
    ),
)
"""Settlements that the organiser may make at any time, also during a pause and after the season."""

MAIL: TransitionTable[Hearing] = TransitionTable(
    "league manager: mail",
    (
        _mail(MessageType.SEASON_REGISTRATION_REQUEST, register, "SEASON_REGISTRATION_RESPONSE to the sender"),
        _mail(MessageType.RESPONSE_GROUP_ASSIGNMENT, acknowledge, "the sender has the table"),
        _mail(MessageType.REQUEST_ASSIGNMENT_TABLE, send_table_again, "the stored table to the sender"),
        _mail(MessageType.QUERY_STANDINGS_REQUEST, send_results_again, "BROADCAST_ROUND_RESULTS to the sender"),
        _mail(
            MessageType.MATCH_RESULT_REPORT,
            report,
            "record of the match, when the report counts; of a closed round BROADCAST_ROUND_RESULTS again",
        ),
        _mail(MessageType.LEAGUE_UNREGISTER_REQUEST, wants_to_leave, "a warning for the operator"),
        *(_mail(kind, replied, "the sender has replied") for kind in _REPLIES),
        *(_mail(kind, peer_error, "a warning; never an answer") for kind in _ERRORS),
        *(_mail(kind, heard, "nothing but a sign of life") for kind in _SIGNS_OF_LIFE),
    ),
)
"""Messages that members of the roster may send, in every phase."""


def transition_table() -> list[Transition]:
    """All rows in words."""
    tables = (SEASON, NEXT_SEASON, SERVICE, SETTLING, MAIL)
    return [row for table in tables for row in table.transitions()]


@dataclass(frozen=True, slots=True)
class Manager:
    """The league manager of one season."""

    config: ManagerConfig
    roster: Roster = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "roster", roster_of(self.config))

    @property
    def role(self) -> str:
        """``manager``."""
        return "manager"

    def initial(self) -> ManagerState:
        """The state before the season opens."""
        return initial_state(self.config, self.roster)

    def step(self, state: ManagerState, event: Event, now: datetime) -> tuple[ManagerState, Sequence[Effect]]:
        """Process one event. Raises ``RemoteProtocolError`` for mail of a sender who is not on the roster."""
        turn = SeasonTurn(
            identity=self.config.identity,
            role=Role.LEAGUEMANAGER,
            manager_email=self.config.identity.email,
            now=now,
            is_paused=state.season.paused_at is not None,
            config=self.config,
            roster=self.roster,
        )
        if isinstance(event, MessageArrived):
            state = _hear(turn, state, event)
        elif isinstance(event, OperatorCommand):
            state = _obey(turn, state, event)
        elif isinstance(event, DeadlinePassed):
            state = _time_out(turn, state, event)
        else:
            return state, turn.effects
        return _advance(turn, state), turn.effects

    def parts(self, state: ManagerState, since: ManagerState | None = None) -> Mapping[str, object | None]:
        """``season``, ``attendance``, ``standings``, ``schedule``, ``inquiry``, ``round/<n>``, ``game/<id>``."""
        return parts_of(state, since)

    def dump_part(self, name: str, part: object) -> str:
        """One part as JSON text."""
        return dump_part(self.roster, part)

    def load(self, parts: Mapping[str, str]) -> ManagerState:
        """The state of these parts. Raises ``JournalError``."""
        return load_state(self.config, self.roster, parts)


def _hear(turn: SeasonTurn, state: ManagerState, event: MessageArrived) -> ManagerState:
    envelope = event.envelope
    member = turn.roster.member(envelope.sender.email)
    if member is None:
        sender = shown(envelope.sender.email)
        raise RemoteProtocolError(f"{envelope.message_type.value} of {sender}, who is not on the roster")
    if is_of_former_season(turn, state):
        if envelope.message_type is MessageType.MATCH_RESULT_REPORT:
            turn.warn("season_over", f"the report of {member.email} comes after season {state.season.season_id[:60]!a}")
        return state
    attendance = state.attendance[member.index]
    if not attendance.is_heard and state.season.phase is not SeasonPhase.SETUP:
        state = note(state, member, evolve(attendance, is_heard=True))
    action = MAIL.action(ANY, envelope.message_type.value)
    if action is None:
        turn.warn("unexpected_type", f"{envelope.message_type.value} of {member.email} is not for a league manager")
        return state
    return action(turn, state, RosterLetter(envelope=envelope, arrived_at=event.arrived_at, member=member))


def _obey(turn: SeasonTurn, state: ManagerState, command: OperatorCommand) -> ManagerState:
    turn.command = command
    if is_of_former_season(turn, state) and command.command is not Command.NEW_SEASON:
        over = f"season {state.season.season_id[:60]!a} is over"
        turn.warn("command_refused", f"{command.command.word}: {over}; '{Command.NEW_SEASON.word}' first")
        return state
    phase = state.season.phase
    move = next((found for table in (SERVICE, SETTLING) if (found := table.action(ANY, command.command))), None)
    move = move or SERVICE.action(phase, command.command)
    if move is None and not turn.is_paused:
        move = SEASON.action(phase, command.command) or NEXT_SEASON.action(phase, command.command)
    if move is None:
        turn.warn("command_refused", _refusal(state.season, command.command))
        return state
    return move(turn, state)


def _refusal(season: Season, command: Command) -> str:
    """Why a command cannot be carried out now, and which commands must come first."""
    if command is Command.NEW_SEASON and season.phase is not _FINISHED:
        first: tuple[Command, ...] | None = (*_ways(season.phase).get(Command.FINISH_SEASON, ()), Command.FINISH_SEASON)
    else:
        first = () if command is Command.NEW_SEASON else _ways(season.phase).get(command)
    if first is None and season.phase is _FINISHED:
        remedy = "it is over; the next one begins with 'next-season'"
    elif first is None:
        remedy = f"that is over, and only '{Command.RESET.word}' goes back"
    else:
        before = [*([Command.CONTINUE] if season.paused_at is not None else []), *first]
        remedy = f"{', '.join(repr(each.word) for each in before)} first"
    return f"{command.word}: the season is in {season.label}; {remedy}"


def _ways(phase: str) -> Mapping[Command, tuple[Command, ...]]:
    """The commands that must be given before each command that is still possible in this season."""
    ways: dict[Command, tuple[Command, ...]] = {}
    seen = {phase}
    reached: list[tuple[str, tuple[Command, ...]]] = [(phase, ())]
    for at, before in reached:
        for rule in SEASON.rules:
            if rule.phase == at and isinstance(rule.event, Command):
                ways.setdefault(rule.event, before)
                reached += [(after, (*before, rule.event)) for after in rule.next if after not in seen]
                seen.update(rule.next)
    return ways


def _time_out(turn: SeasonTurn, state: ManagerState, event: DeadlinePassed) -> ManagerState:
    season = state.season
    timers = tuple(timer for timer in season.timers if timer.name != event.name)
    move = SEASON.action(season.phase, f"deadline {event.name.partition(':')[0]}")
    if turn.is_paused or move is None or len(timers) == len(season.timers):
        return state  # the deadline was cancelled, or a pause suspends it
    return move(turn, evolve(state, season=evolve(season, timers=timers)))


def _advance(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Perform the transitions whose conditions hold."""
    while (condition := _condition(turn, state)) is not None:
        move = SEASON.action(state.season.phase, condition)
        assert move is not None, f"{state.season.phase} has no row for {condition}"
        state = move(turn, state)
    return state


def _condition(turn: SeasonTurn, state: ManagerState) -> str | None:
    season, config = state.season, turn.config
    if season.paused_at is not None:
        return None
    match season.phase:
        case SeasonPhase.ROUND if state.awaited == 0 and config.is_automatic:
            return ALL_REPORTED
        case SeasonPhase.CLOSING if state.awaited == 0:
            return ALL_REPORTED
        case SeasonPhase.BETWEEN if season.is_finishing:
            return ROUND_OVER
        case SeasonPhase.BETWEEN if config.is_automatic and (not config.round_gap or is_last_round(state)):
            return ROUND_OVER
        case SeasonPhase.REGISTRATION if config.is_automatic and is_everybody_registered(turn, state):
            return ALL_REGISTERED
        case SeasonPhase.ASSIGNED if (config.is_automatic or season.is_round_ordered) and has_everybody_acknowledged(
            turn, state
        ):
            return ALL_ACKNOWLEDGED
    return None
