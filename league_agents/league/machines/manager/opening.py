"""The opening of a season: registration and the assignment table (protocol 4.1).

Rule 1: messages of all roster members are accepted in any form; the mail's sender identifies the member
(protocol 4.1.2).
Rule 2: a repeated request gets the same answer as the first. Waits for acknowledgements are limited.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Send
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.broadcasts import (
    SeasonTurn,
    answer,
    audience,
    broadcast,
    broadcast_envelope,
    not_withdrawn,
    takes_own_rows,
)
from league_agents.league.machines.manager.config import RosterMember
from league_agents.league.machines.manager.own_rows import own_tables
from league_agents.league.machines.manager.state import (
    UNHEARD,
    Attendance,
    ManagerState,
    SeasonPhase,
    initial_state,
)
from league_agents.league.season.schedule import Schedule
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import (
    OWN_ROWS,
    AssignmentTable,
    ErrorResponse,
    RegistrationRequest,
    RegistrationResponse,
    RegistrationStatus,
    StartSeason,
)
from league_agents.league.wire.reading import LONGEST_TEXT


class RosterLetter(Struct, frozen=True, kw_only=True):
    """One message of one member of the roster."""

    envelope: Envelope
    arrived_at: datetime
    member: RosterMember


def enter(
    turn: SeasonTurn,
    state: ManagerState,
    phase: SeasonPhase,
    *,
    timer: str = "",
    wait: timedelta | None = None,
    **changes: Any,
) -> ManagerState:
    """Enter a phase. Its deadline, if it has one, replaces that of the previous phase."""
    season = state.season
    timers = turn.clear_timers(season.timers)
    if timer and wait is not None:
        timers = turn.set_timer(timers, timer, turn.now + wait)
    return evolve(state, season=evolve(season, phase=phase, timers=timers, **changes))


def note(state: ManagerState, member: RosterMember, attendance: Attendance) -> ManagerState:
    """The state with the attendance of a member replaced."""
    index = member.index
    before = state.attendance
    return evolve(state, attendance=(*before[:index], attendance, *before[index + 1 :]))


def complain(
    turn: SeasonTurn, state: ManagerState, letter: RosterLetter, code: str, text: str, *, is_recoverable: bool = False
) -> ManagerState:
    """Warn, and send an error to the member unless it understands core messages only or ``answer_limit`` is reached."""
    member, envelope = letter.member, letter.envelope
    turn.warn(code.lower(), f"{envelope.message_type.value} of {member.email}: {text}"[:400])
    attendance = state.attendance[member.index]
    if member.is_core_only or attendance.extras >= turn.config.answer_limit:
        return state
    payload = ErrorResponse(
        error_code=code,
        error_message=text[:400],
        original_message_type=envelope.message_type.value,
        recoverable=is_recoverable,
    )
    answer(
        turn,
        state,
        MessageType.ERROR_RESPONSE,
        payload,
        member,
        about=envelope.message_id,
        correlation_id=envelope.message_id,
    )
    return note(state, member, evolve(attendance, extras=attendance.extras + 1))


# Registration.


def open_season(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Announce the season to the roster, and wait for registrations."""
    config = turn.config
    deadline = turn.now + config.registration_wait
    schedule = config.whole_schedule()
    payload = StartSeason(
        season_name=config.season_name or config.season_id,
        total_rounds=schedule.total_rounds,
        registration_deadline=deadline,
        registered_players=len(config.teams),
        registered_referees=len(config.teams),
        message_text=turn.command_text or None,
    )
    broadcast(turn, state, MessageType.BROADCAST_START_SEASON, payload, turn.roster.members, about="")
    state = evolve(state, attendance=(UNHEARD,) * len(turn.roster.members))
    return enter(
        turn,
        state,
        SeasonPhase.REGISTRATION,
        timer="registration",
        wait=config.registration_wait if config.is_automatic else None,
        registration_deadline=deadline,
    )


def is_of_former_season(turn: SeasonTurn, state: ManagerState) -> bool:
    """Whether the state belongs to a season that is over, and the configuration names the next one."""
    return state.season.season_id != turn.config.season_id


def new_season(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Begin the season that the configuration names. The records of the last one stay in the journal."""
    config = turn.config
    if not is_of_former_season(turn, state):
        said = f"season {config.season_id[:60]!a} is over, and the league file names no other: change season.id and"
        turn.warn("command_refused", f"{Command.NEW_SEASON.word}: {said} season.number, and start the manager anew")
        return state
    former = next((pairing.game_id[:2] for pairing in state.schedule or ()), None)
    if former == f"{config.season_number:02d}":
        # Game ids begin with the number: a player would take a new game for the old one with the same id.
        said = f"season.number is {config.season_number}, as it was in the last season; write another number"
        turn.warn("command_refused", f"{Command.NEW_SEASON.word}: {said}")
        return state
    turn.clear_timers(state.season.timers)
    return open_season(turn, initial_state(config, turn.roster))


def register(turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """Answer a registration request."""
    member, envelope = letter.member, letter.envelope
    attendance = state.attendance[member.index]
    if attendance.registration_answers >= turn.config.answer_limit:
        turn.warn("answer_limit", f"{member.email} was sent {attendance.registration_answers} registration answers")
        return state
    claimed = envelope.payload.participant_role if isinstance(envelope.payload, RegistrationRequest) else None
    if claimed is not None and claimed is not member.role:
        turn.warn("role_mismatch", f"{member.email} registers as {claimed.value} and is on the roster as {member.role}")
    is_repeat = attendance.registered_at is not None
    reason = _refusal(turn, state, letter)
    if reason is None:
        payload = RegistrationResponse(
            status=RegistrationStatus.ACCEPTED, registration_id=f"reg-{member.index + 1:04d}", message="Welcome."
        )
    else:
        payload = RegistrationResponse(status=RegistrationStatus.REJECTED, reason=reason, message=_REASONS[reason])
    count = attendance.registration_answers
    answer(
        turn,
        state,
        MessageType.SEASON_REGISTRATION_RESPONSE,
        payload,
        member,
        about="accepted" if reason is None else f"rejected/{count}",
        correlation_id=envelope.message_id,
        is_repeat=is_repeat and reason is None,
    )
    understood = envelope.payload.understands if isinstance(envelope.payload, RegistrationRequest) else None
    takes_own_rows = understood is not None and OWN_ROWS in understood
    attendance = evolve(attendance, registration_answers=count + 1, takes_own_rows=takes_own_rows)
    if reason is None and not is_repeat:
        attendance = evolve(attendance, registered_at=letter.arrived_at)
    return note(state, member, attendance)


_REASONS = {
    "season_not_open": "The season is not open yet.",
    "unknown_season": "This is another season.",
    "deadline_passed": "Registration is closed.",
}


def _refusal(turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> str | None:
    """Why a request is rejected; ``None`` when it is accepted."""
    season = state.season
    if season.phase is SeasonPhase.SETUP:
        return "season_not_open"
    if letter.envelope.season_id and letter.envelope.season_id != turn.config.season_id:
        return "unknown_season"
    if state.attendance[letter.member.index].registered_at is not None:
        return None
    if season.registration_closed_at is not None:
        # Mail that arrived in time and is read late still counts if the table has a place for its sender.
        has_games = state.schedule is not None and state.schedule.involves(letter.member.key)
        return None if has_games and letter.arrived_at <= season.registration_closed_at else "deadline_passed"
    if season.paused_at is None and season.registration_deadline is not None:
        return "deadline_passed" if letter.arrived_at > season.registration_deadline else None
    return None


def is_everybody_registered(turn: SeasonTurn, state: ManagerState) -> bool:
    """Whether all awaited members have registered."""
    awaited = not_withdrawn(state, turn.roster.members)
    return all(state.attendance[member.index].registered_at is not None for member in awaited)


# The table.


def close_registration(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Draw up the schedule and send it to all members who have a game or registered."""
    config, season = turn.config, state.season
    schedule = config.schedule or _schedule_of_registered(turn, state)
    closed_at = turn.now
    if season.registration_deadline is not None:
        closed_at = min(closed_at, season.registration_deadline)
    return assign(turn, evolve(state, schedule=schedule), registration_closed_at=closed_at)


def assign(turn: SeasonTurn, state: ManagerState, **changes: Any) -> ManagerState:
    """Send a table to all members who have a game or registered: the whole season's, or one with one more round."""
    # Acknowledgements of an earlier table do not count for this one.
    attendance = tuple(
        evolve(each, has_acknowledged=False) if each.has_acknowledged else each for each in state.attendance
    )
    schedule, season = state.schedule, state.season
    assert schedule is not None, "a table has a schedule"
    if season.is_table_due:
        season = evolve(season, is_table_due=False, amendments=season.amendments + 1)
    state = evolve(state, season=season, attendance=attendance)
    is_ordered = turn.command is not None and turn.command.command is Command.START_ROUND
    everybody = audience(turn, state)
    table = AssignmentTable(assignments=schedule.assignments(), message_text=_replays(schedule))
    _send_table(turn, state, schedule, table, [each for each in everybody if not takes_own_rows(turn, state, each)])
    for members, own in own_tables(table, [each for each in everybody if takes_own_rows(turn, state, each)]):
        _send_table(turn, state, schedule, own, members, part=members[0].team.group_id)
    return enter(
        turn,
        state,
        SeasonPhase.ASSIGNED,
        timer="start",
        wait=turn.config.start_delay if turn.config.is_automatic else None,
        table_sent_at=turn.now,
        is_round_ordered=season.is_round_ordered or is_ordered,
        **changes,
    )


def _schedule_of_registered(turn: SeasonTurn, state: ManagerState) -> Schedule:
    config = turn.config
    present = {
        (member.role, member.team.group_id)
        for member in turn.roster.members
        if state.attendance[member.index].registered_at is not None
    }
    players = [team for team in config.teams if (Role.PLAYER, team.group_id) in present]
    referees = [team for team in config.teams if (Role.REFEREE, team.group_id) in present]
    try:
        return config.schedule_of(players, referees)
    except ConfigError as error:
        # Registrations may be lost in the mail: a season in which some games may fail is better than none.
        turn.warn("too_few_registered", f"the whole roster plays, for of those who registered: {error}")
        return config.whole_schedule()


def _send_table(
    turn: SeasonTurn,
    state: ManagerState,
    schedule: Schedule,
    table: AssignmentTable,
    to: Sequence[RosterMember],
    *,
    part: str = "",
) -> None:
    if to:
        envelope = _table(turn, state, schedule, table, turn.now, part=part)
        turn.effects.append(Send(envelope=envelope, to=tuple(member.email for member in to)))


def _table(
    turn: SeasonTurn, state: ManagerState, schedule: Schedule, table: AssignmentTable, at: datetime, *, part: str = ""
) -> Envelope:
    # A season whose rounds are paired one by one has a table for each of them, with the rounds before (protocol 4.1.4:
    # a later table replaces the earlier one).
    about = str(len(schedule.rounds)) if schedule.planned and len(schedule.rounds) > 1 else ""
    if state.season.amendments:
        about = f"{about}/{state.season.amendments}"
    if state.season.is_table_due:
        # A member asks for the table before everybody is sent the one with other referees. It gets those, under an id
        # of their own: the former id stands for the former referees.
        about = f"{about} judged by {' '.join(game.referee.group_id for game in schedule)}"
    if part:
        about = f"{about} for {part}"
    return broadcast_envelope(turn, state, MessageType.BROADCAST_ASSIGNMENT_TABLE, table, about=about, at=at)


def _replays(schedule: Schedule) -> str | None:
    replays = [f"{game.game_id} replays {game.replay_of}" for game in schedule if game.replay_of]
    return "; ".join(replays)[:LONGEST_TEXT] or None


def acknowledge(_turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """Record that a member has the table."""
    attendance = state.attendance[letter.member.index]
    if state.schedule is None or attendance.has_acknowledged:
        return state
    return note(state, letter.member, evolve(attendance, has_acknowledged=True))


def has_everybody_acknowledged(turn: SeasonTurn, state: ManagerState) -> bool:
    """Whether all members who were sent the table have acknowledged it."""
    awaited = not_withdrawn(state, audience(turn, state))
    return all(state.attendance[member.index].has_acknowledged for member in awaited)


def send_table_again(turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """Send the whole table, as it is now, to a member that lost it or wants all of it (protocol 4.6)."""
    member, schedule, sent_at = letter.member, state.schedule, state.season.table_sent_at
    if schedule is None or sent_at is None:
        return complain(turn, state, letter, "INVALID_STATE", "There is no assignment table yet.", is_recoverable=True)
    attendance = state.attendance[member.index]
    if attendance.registered_at is None and not schedule.involves(member.key):
        return complain(turn, state, letter, "NOT_REGISTERED", "This season is played by those who registered.")
    if attendance.extras >= turn.config.answer_limit:
        turn.warn("answer_limit", f"{member.email} was sent enough assignment tables")
        return state
    table = AssignmentTable(assignments=schedule.assignments(), message_text=_replays(schedule))
    envelope = _table(turn, state, schedule, table, sent_at)
    turn.effects.append(Send(envelope=envelope, to=(member.email,), is_repeat=True))
    return note(state, member, evolve(attendance, extras=attendance.extras + 1))
