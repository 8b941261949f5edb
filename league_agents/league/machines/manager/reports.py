"""Reports of matches: which of them count, and how they are stored (protocol 4.5).

Rule 1: only the assigned referee's report counts. After the end of its round it still does, and the results are sent
again; after the end of the season it is evidence, and the organiser decides.
Rule 2: a player's report is kept until the referee reports, to find games without a report. It never scores.
"""

from __future__ import annotations

from league_agents.kit.values import evolve
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.broadcasts import SeasonTurn, round_id
from league_agents.league.machines.manager.match_results import ReportVerdict, outcome_of, verdict
from league_agents.league.machines.manager.opening import RosterLetter, complain
from league_agents.league.machines.manager.records import record_match, warn_of_bracket
from league_agents.league.machines.manager.round_results import tell_again
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase, record_of, with_record
from league_agents.league.season.schedule import Pairing
from league_agents.league.season.standings import MatchOutcome, MatchStatus
from league_agents.league.wire.address import same_address
from league_agents.league.wire.kinds import Role
from league_agents.league.wire.messages import BrokenPayload, MatchReport, PlayerReport, PlayerReportStatus


def report(turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """A referee's result, or a player's account of its game."""
    envelope, member, schedule = letter.envelope, letter.member, state.schedule
    payload = envelope.payload
    place = schedule.place(envelope.game_id) if schedule is not None and envelope.game_id is not None else None
    if schedule is None or place is None:
        known = "a game of this season" if schedule is not None else "a season that has started"
        return complain(turn, state, letter, "INVALID_STATE", f"A report must be of {known}.")
    number, index = place
    pairing = schedule.round(number)[index]
    if number > state.season.round_number:
        return complain(turn, state, letter, "INVALID_STATE", f"Round {number} has not started.")
    if _is_of_before_a_reset(turn, state, letter, number):
        turn.warn("stale_report", f"game {pairing.game_id}: the report of {member.email} is of before a reset")
        return state
    if isinstance(payload, BrokenPayload) and member.role is Role.PLAYER:
        turn.warn("unusable_message", f"game {pairing.game_id}: the report of player {member.email} cannot be read")
        return state
    if isinstance(payload, PlayerReport):
        return _player_report(turn, state, letter, payload, pairing)
    if not same_address(member.email, pairing.referee.referee_email):
        return complain(turn, state, letter, "UNAUTHORIZED", f"Game {pairing.game_id} is judged by somebody else.")
    if isinstance(payload, BrokenPayload):
        return complain(turn, state, letter, "INVALID_MESSAGE", str(payload.violations[0]), is_recoverable=True)
    if not isinstance(payload, MatchReport):
        return state
    outcome, oddities = outcome_of(payload, pairing, turn.config.rules)
    record = record_of(state, number, index)
    decided = verdict(record.outcome, outcome)
    if decided is ReportVerdict.REPEATS:
        return state
    if decided is ReportVerdict.CONFLICTS:
        known = outcome_words(record.outcome)
        said = f"{known} was reported, and now {outcome_words(outcome)}; {outcome_words(record.counted)} counts"
        turn.warn("report_conflict", f"game {pairing.game_id}: {said}")
        return state
    for oddity in oddities:
        turn.warn("odd_report", f"game {pairing.game_id}, report of {member.email}: {oddity}"[:400])
    before = record.outcome
    record = evolve(record, outcome=outcome, reported_at=letter.arrived_at)
    if record.settled is not None:
        said = f"it was settled; {outcome_words(outcome)} is kept as evidence"
        turn.warn("settled_report", f"game {pairing.game_id}: {said}")
        return with_record(state, number, index, record)
    is_late = number <= len(state.closed)
    if is_late and state.season.phase is SeasonPhase.FINISHED:
        # The final standings were announced, and nobody waits for further results.
        said = (
            f"{outcome_words(outcome)} was reported after the season and is kept as evidence; {outcome_words(before)}"
        )
        settling = f"'{Command.REINSTATE.word}' lets the report count, '{Command.CORRECT.word}' gives other points"
        turn.warn("late_report", f"game {pairing.game_id}: {said} counts; {settling}")
        return with_record(state, number, index, evolve(record, settled=before))
    record_match(turn, pairing, record, outcome, number, is_late=is_late, before=before)
    state = with_record(state, number, index, record)
    return _with_late_report(turn, state, pairing, number, before, outcome) if is_late else state


def _with_late_report(
    turn: SeasonTurn,
    state: ManagerState,
    pairing: Pairing,
    number: int,
    before: MatchOutcome | None,
    outcome: MatchOutcome,
) -> ManagerState:
    """The state with a report of a closed round in the standings, of which everybody is informed."""
    assert before is not None, "a match of a closed round has an outcome"
    said = f"{outcome_words(outcome)} was reported after the end of round {number}, and counts in place of"
    turn.warn("late_report", f"game {pairing.game_id}: {said} {outcome_words(before)}")
    standings = state.standings.with_matches([(pairing, outcome)], turn.config.rules, without=[(pairing, before)])
    state = evolve(state, standings=standings)
    warn_of_bracket(turn, state, pairing, number)
    # A match has each status once at most: a report replaces none, or one that was aborted.
    tell_again(turn, state, [(pairing, outcome)], about=f"{pairing.game_id} {outcome.status.value}")
    return state


def _is_of_before_a_reset(turn: SeasonTurn, state: ManagerState, letter: RosterLetter, number: int) -> bool:
    resets, stated = state.season.resets, letter.envelope.round_id
    return bool(resets) and stated in {round_id(turn.config, earlier, number) for earlier in range(resets)}


def _player_report(
    turn: SeasonTurn, state: ManagerState, letter: RosterLetter, payload: PlayerReport, pairing: Pairing
) -> ManagerState:
    member = letter.member
    players = (pairing.player1.player_email, pairing.player2.player_email)
    side = next((side for side, email in enumerate(players) if same_address(member.email, email)), None)
    if side is None:
        return complain(turn, state, letter, "UNAUTHORIZED", f"Game {pairing.game_id} is played by others.")
    assert state.schedule is not None
    place = state.schedule.place(pairing.game_id)
    assert place is not None
    record = record_of(state, *place)
    if record.outcome is not None and record.outcome.status is not MatchStatus.NO_REPORT:
        return state  # player reports only serve to find games that their referee never reported
    known = record.player_reports[side]
    if known is payload.status or known is PlayerReportStatus.COMPLETED:
        return state
    one, two = record.player_reports
    reports = (payload.status, two) if side == 0 else (one, payload.status)
    return with_record(state, *place, evolve(record, player_reports=reports))


def outcome_words(outcome: MatchOutcome | None) -> str:
    """An outcome in words: ``completed 3:0 (90:12.5)``."""
    if outcome is None:
        return told_outcome(None)
    return f"{told_outcome(outcome)} ({outcome.private_scores[0]:g}:{outcome.private_scores[1]:g})"


def told_outcome(outcome: MatchOutcome | None) -> str:
    """An outcome in words for both players: ``completed 3:0``. It omits the private scores."""
    if outcome is None:
        return "no report"
    one, two = outcome.awarded or outcome.league_points
    return f"{outcome.status.value} {one}:{two}"
