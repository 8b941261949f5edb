"""A role's status, read beside the daemon: no writes, no locks, no network access."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from league_agents.app.journals import DatabasesAway, journals_of, look_at_journal, state_in
from league_agents.app.live_machine import machine_of
from league_agents.app.live_mailbox import MAIL_FACTS, login_command, missing_client
from league_agents.app.sends import sends_left
from league_agents.app.turnover import move_words
from league_agents.app.waiting import awaited
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import WARNING, Journal, Note, OutboxItem, OutboxState
from league_agents.kit.errors import ConfigError, JournalError, LeagueError
from league_agents.kit.json_values import mapping
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.league.machines.player.game_state import GamePhase, LeagueGame
from league_agents.league.machines.player.player import PlayerMachine, PlayerState
from league_agents.league.machines.referee.match_state import AWAITED, OpenMatch
from league_agents.league.machines.referee.referee import Referee, RefereeState
from league_agents.mail.oauth import token_status
from league_agents.mail.service_clock import clock_trouble
from league_agents.report.results import results_of
from league_agents.report.season_log import words_of_order
from league_agents.report.secret_texts import QUOTING, SecretTexts, without_quotations
from league_agents.report.status import DoubtfulSend, OpenGame, Owed, RegistrationProgress, RoleStatus, TokenState
from league_agents.runner.live import DAEMON

_NEXT_REQUEST = {
    GamePhase.INITIALIZED: "Q21WARMUPCALL",
    GamePhase.WARMUP_COMPLETE: "Q21ROUNDSTART",
    GamePhase.QUESTIONS_SENT: "Q21ANSWERSBATCH",
    GamePhase.GUESS_SUBMITTED: "Q21SCOREFEEDBACK",
}
OUR_AGENT = "our agent"
NEVER_STARTED = "never started"
UNUSABLE_JOURNAL = "its journal cannot be used"


def role_status(
    settings: LeagueSettings,
    role: RoleSettings,
    *,
    now: datetime,
    secrets: SecretTexts,
    away: DatabasesAway | None = None,
) -> RoleStatus:
    """The status of one role. A missing journal means that the role never ran; an unusable one needs a person.

    ``away`` is shared by the roles of one command.
    """
    away = away or DatabasesAway()
    machine = machine_of(settings, role, "status")
    token = token_state(settings, role, now)
    bare = RoleStatus(
        role=role.role,
        name=role.name,
        address=role.address,
        state=NEVER_STARTED,
        is_running=False,
        outbox={},
        sends_left=sends_left(settings, role, now),
        sends_per_day=settings.gmail.limits.sends_per_day,
        token=token,
    )
    try:
        with away.asked(role):
            journal = look_at_journal(role)
        if journal is None:
            return bare
        with closing(journal):
            state = state_in(role, machine, journal.load_parts())
            found = _status_in(journal, role, machine, state, token, secrets)
        # Quota days are those of the mail service.
        left = sends_left(settings, role, now - found.clock_error)
        return replace(found, sends_left=left, sends_per_day=bare.sends_per_day)
    except (ConfigError, JournalError) as error:
        is_running = role.journal not in away and _is_worked_on(role)
        return replace(bare, state=UNUSABLE_JOURNAL, is_running=is_running, stuck=str(error))


def _notes_of_the_end(journal: Journal) -> Iterator[Note]:
    """The records of matches, rounds and seasons. Archived matches are only read if no other is left."""
    kinds = ("match", "game", "round", "season")
    is_recent = next(journal.notes(kinds=("match", "game"), is_recent=True), None) is not None
    return journal.notes(kinds=kinds, is_recent=is_recent)


def _is_worked_on(role: RoleSettings) -> bool:
    """Whether a process works on the journal, as far as can be told."""
    try:
        return journals_of(role).is_worked_on()
    except (ConfigError, JournalError):
        return False


def _status_in(
    journal: Journal,
    role: RoleSettings,
    machine: Machine[Any],
    state: Any,
    token: TokenState,
    secrets: SecretTexts,
) -> RoleStatus:
    """The status in a journal. Raises ``JournalError``."""
    facts = mapping(journal.kept(DAEMON))
    mail = mapping(journal.kept(MAIL_FACTS))
    counts: Counter[str] = Counter()
    oldest: datetime | None = None
    is_running = _is_worked_on(role)
    in_doubt: list[DoubtfulSend] = []
    for item in journal.outbox(is_recent=True):
        counts[item.state.value] += 1
        if item.is_waiting:
            oldest = min(oldest or item.created_at, item.created_at)
        if item.is_in_doubt and not (is_running and item.state is OutboxState.SENDING):
            in_doubt.append(_doubtful_send(item))
    started_at = _instant(facts.get("started_at"))
    warnings, last_warning = _warnings(journal, started_at)
    off = mail.get("clock_error_s")
    clock_error = timedelta(seconds=off) if isinstance(off, int | float) and abs(off) < 1e9 else timedelta(0)
    pid = facts.get("pid")
    named = machine.state_name(state).value if isinstance(machine, Referee | PlayerMachine) else state.season.label
    errors = facts.get("errors")
    results = results_of(_notes_of_the_end(journal))
    return RoleStatus(
        role=role.role,
        name=role.name,
        address=role.address,
        state=named,
        is_running=is_running,
        pid=pid if isinstance(pid, int) else None,
        started_at=started_at,
        polled_at=_instant(facts.get("polled_at")),
        received_at=_instant(facts.get("received_at")),
        sent_at=_instant(facts.get("sent_at")),
        stuck=secrets.hide(str(facts.get("stuck") or ""), role.label),
        trouble=secrets.hide(str(facts.get("trouble") or ""), role.label),
        games=tuple(open_games(state)),
        registration=open_registration(machine, state),
        awaited=awaited(machine, state),
        orders=tuple(words_of_order(order) for order in journal.open_orders()),
        outbox=dict(counts),
        oldest_waiting=oldest,
        in_doubt=tuple(in_doubt),
        thinking=len(journal.pending_calls()),
        errors=errors if isinstance(errors, int) else 0,
        last_error=secrets.hide(str(facts.get("last_error") or ""), role.label),
        last_error_at=_instant(facts.get("last_error_at")),
        warnings=warnings,
        last_warning=secrets.hide(last_warning, role.label),
        clock_error=clock_error,
        # The daemon may have been stopped to set the clock.
        clock_trouble=(clock_trouble(clock_error) or "") if is_running else "",
        token=token,
        results=results,
        # The latest table is that of the last season until a round of this one is closed.
        moves=move_words(role.division, results.order) if isinstance(state, ManagerState) and state.closed else "",
    )


def _doubtful_send(item: OutboxItem) -> DoubtfulSend:
    return DoubtfulSend(message_type=item.message_type, to=item.to, game_id=item.game_id, tried_at=item.began_at)


def open_games(state: object) -> list[OpenGame]:
    """The open games, with the next steps and who owes them."""
    match state:
        case RefereeState(matches=matches):
            return [_of_referee(match) for match in matches.values()]
        case PlayerState(games=games):
            return [_of_player(game) for game in games.values() if game.is_open]
        case ManagerState():
            return _of_manager(state)
        case _:
            return []


def _of_referee(match: OpenMatch) -> OpenGame:
    owed = [Owed(who=OUR_AGENT, what=call.callback, due_at=None) for call in match.calls]
    for seat in match.present():
        kind = AWAITED.get(seat.phase)
        if kind is not None:
            deadline = next((sent.deadline for sent in reversed(seat.sent) if sent.deadline is not None), None)
            owed.append(Owed(who=seat.email, what=kind.value, due_at=deadline))
    phases = ", ".join(f"{seat.participant_id} {seat.phase.value}" for seat in match.seats)
    return OpenGame(game_id=match.game_id, phase=f"({phases})", owed=tuple(owed))


def _of_player(game: LeagueGame) -> OpenGame:
    owed = [Owed(who=OUR_AGENT, what=asked.callback, due_at=asked.deadline) for asked in game.asked]
    if not owed:
        what = _NEXT_REQUEST[game.phase]
        owed = [Owed(who=game.referee_email or "the referee", what=what, due_at=None)]
    return OpenGame(game_id=game.game_id, phase=game.phase.value, owed=tuple(owed))


def _of_manager(state: ManagerState) -> list[OpenGame]:
    season, schedule = state.season, state.schedule
    if schedule is None or season.phase not in (SeasonPhase.ROUND, SeasonPhase.CLOSING) or not season.round_number:
        return []
    due_at = next((timer.at for timer in season.timers), None)
    return [
        OpenGame(
            game_id=pairing.game_id,
            phase=f"({pairing.player1.name} against {pairing.player2.name})",
            owed=(Owed(who=pairing.referee.referee_email, what="MATCH_RESULT_REPORT", due_at=due_at),),
        )
        for pairing, record in zip(schedule.round(season.round_number), state.games, strict=False)
        if record.outcome is None
    ]


def open_registration(machine: object, state: object) -> RegistrationProgress | None:
    """The missing registrations; ``None`` while no registration is open."""
    if not isinstance(machine, Manager) or not isinstance(state, ManagerState):
        return None
    season = state.season
    if season.phase is not SeasonPhase.REGISTRATION:
        return None
    members = zip(machine.roster.members, state.attendance, strict=True)
    return RegistrationProgress(
        expected=len(machine.roster.members),
        missing=tuple(member.email for member, attendance in members if attendance.registered_at is None),
        closes_at=season.registration_deadline if season.paused_at is None else None,
    )


def token_state(settings: LeagueSettings, role: RoleSettings, now: datetime) -> TokenState:
    """How long the authorization of a role's mailbox remains valid."""
    no_client = missing_client(settings, role)
    if no_client is not None:
        return TokenState(trouble=(no_client,))
    try:
        found = token_status(role.token, now=now, login_command=login_command(settings, role))
    except LeagueError as error:
        return TokenState(trouble=(str(error),))
    return TokenState(age=found.age, ends_at=found.expires_at, may_end_at=found.testing_ends_at, trouble=found.warnings)


def _warnings(journal: Journal, since: datetime | None) -> tuple[int, str]:
    count, last = 0, ""
    for note in journal.notes():
        if note.kind == WARNING and (since is None or note.at >= since):
            count += 1
            last = str(note.facts.get("text") or note.key)
            if note.key in QUOTING:
                last = without_quotations(last)
    return count, last


def _instant(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
