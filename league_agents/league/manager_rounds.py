"""Rounds, reports and the end of the season (protocol 4.2, 4.5 and 5.1).

Rule 1: a round is announced once. Its number only grows, and the id of its broadcast is derived from the number.
Rule 2: only the assigned referee's report counts, whenever it comes; a player's report is kept while there is none.
Rule 3: a round is over for everybody at once: every game then has an outcome, if only that nobody reported.
"""

from __future__ import annotations

from dataclasses import replace

from league_agents.games.q21.model import Termination
from league_agents.league.broadcasts import SeasonTurn, audience, broadcast, judges, new_round, round_id
from league_agents.league.effects import Record
from league_agents.league.manager_opening import Letter, complain, enter
from league_agents.league.manager_state import (
    NOTHING_YET,
    ClosedRound,
    GameRecord,
    ManagerState,
    SeasonPhase,
)
from league_agents.league.match_results import (
    Verdict,
    match_facts,
    outcome_of,
    result_row,
    standings_facts,
    termination_of,
    verdict,
)
from league_agents.league.schedule import Pairing
from league_agents.league.standings import MatchOutcome, MatchStatus, Standings
from league_agents.protocol.league.address import same_address
from league_agents.protocol.league.kinds import MessageType, Role
from league_agents.protocol.league.messages import (
    BrokenPayload,
    EndRound,
    LeagueCompleted,
    MatchReport,
    PlayerReport,
    PlayerReportStatus,
    RoundResults,
    StandingRow,
)

_NO_REPORT = MatchOutcome(status=MatchStatus.NO_REPORT)


def total_rounds(state: ManagerState) -> int:
    """How many rounds the season has; 0 before there is a schedule."""
    return len(state.schedule.rounds) if state.schedule is not None else 0


def is_last_round(state: ManagerState) -> bool:
    """Whether no round follows the present one."""
    return state.season.is_finishing or state.season.round_number >= total_rounds(state)


def start_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Announce the next round."""
    number = state.season.round_number + 1
    if state.schedule is None or number > len(state.schedule.rounds):
        turn.warn("command_refused", f"all {total_rounds(state)} rounds were played; finish the season")
        return state
    broadcast(
        turn,
        state,
        MessageType.BROADCAST_NEW_LEAGUE_ROUND,
        new_round(turn, state, number),
        audience(turn, state),
        about=str(number),
        round_number=number,
    )
    games = (NOTHING_YET,) * len(state.schedule.round(number))
    state = replace(state, games=games, awaited=len(games))
    return enter(
        turn,
        state,
        SeasonPhase.ROUND,
        timer=f"round:{number}",
        wait=turn.config.round_wait if turn.config.is_automatic else None,
        round_number=number,
    )


def end_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Tell the referees to stop: whoever has not reported does so now (protocol 4.5.1, last note)."""
    number = state.season.round_number
    broadcast(
        turn,
        state,
        MessageType.BROADCAST_END_LEAGUE_ROUND,
        EndRound(round_number=number),
        judges(turn, state),
        about=str(number),
        round_number=number,
    )
    grace = turn.config.end_of_round_grace
    return enter(turn, state, SeasonPhase.CLOSING, timer=f"grace:{number}", wait=grace if state.awaited else None)


def close_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Count the round, and tell how it went."""
    config, number, schedule = turn.config, state.season.round_number, state.schedule
    assert schedule is not None
    pairings = schedule.round(number)
    records: list[GameRecord] = []
    matches: list[tuple[Pairing, MatchOutcome]] = []
    for pairing, record in zip(pairings, state.games, strict=True):
        outcome = record.outcome
        if outcome is None:
            outcome = _NO_REPORT
            record = replace(record, outcome=outcome)
            turn.warn("no_report", f"game {pairing.game_id}: {pairing.referee.referee_email} did not report")
            _record_match(turn, pairing, record, outcome, number)
        records.append(record)
        matches.append((pairing, outcome))
    standings = state.standings.with_matches(matches, config.rules)
    closed = ClosedRound(number=number, closed_at=turn.now, games=tuple(records))
    state = replace(state, games=(), awaited=0, closed=(*state.closed, closed), standings=standings)
    rows = standing_rows(turn, state)
    if config.results_broadcast:
        results = tuple(result_row(pairing, outcome, config.rules) for pairing, outcome in matches)
        broadcast(
            turn,
            state,
            MessageType.BROADCAST_ROUND_RESULTS,
            RoundResults(round_number=number, results=results, standings=rows),
            audience(turn, state),
            about=str(number),
            round_number=number,
        )
    turn.effects.append(
        Record(
            kind="round",
            key=str(number),
            termination=Termination.COMPLETED,
            facts={
                "season_id": config.season_id,
                "round_number": number,
                "round_id": round_id(config, state.season.resets, number),
                "results": {pairing.game_id: outcome.status.value for pairing, outcome in matches},
                "standings": standings_facts(standings, rows),
            },
        )
    )
    waits = config.is_automatic and config.round_gap and not is_last_round(state)
    return enter(turn, state, SeasonPhase.BETWEEN, timer=f"next:{number + 1}", wait=config.round_gap if waits else None)


def go_on(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """After a round: the next one, or the end."""
    return finish(turn, state) if is_last_round(state) else start_round(turn, state)


def close_and_start(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """The operator does not wait for missing reports."""
    return start_round(turn, close_round(turn, state))


def finish_after_round(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """End the round that is being played, and the season with it."""
    return end_round(turn, replace(state, season=replace(state.season, is_finishing=True)))


def finish_now(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """The operator does not wait for missing reports, and ends the season."""
    return finish(turn, close_round(turn, state))


def finish(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Announce the final standings."""
    payload = LeagueCompleted(final_standings=standing_rows(turn, state))
    broadcast(turn, state, MessageType.LEAGUE_COMPLETED, payload, audience(turn, state), about="")
    record_season(turn, state, Termination.COMPLETED)
    return enter(turn, state, SeasonPhase.FINISHED)


def standing_rows(turn: SeasonTurn, state: ManagerState, standings: Standings | None = None) -> tuple[StandingRow, ...]:
    """The table of those who play; of the closed rounds unless other standings are given."""
    teams = state.schedule.players if state.schedule is not None else turn.config.teams
    return (standings or state.standings).rows(teams)


def record_season(turn: SeasonTurn, state: ManagerState, termination: Termination) -> None:
    """How the season ended. Recorded again when a late report changes it."""
    config, rows = turn.config, standing_rows(turn, state)
    turn.effects.append(
        Record(
            kind="season",
            key=config.season_id,
            termination=termination,
            facts={
                "season_id": config.season_id,
                "season_name": config.season_name,
                "league_id": config.league_id,
                "rules": config.rules.name,
                "rounds_played": len(state.closed),
                "total_rounds": total_rounds(state),
                "standings": standings_facts(state.standings, rows),
            },
        )
    )


def record_open_games(turn: SeasonTurn, state: ManagerState) -> None:
    """The games that a reset cuts off: no report of them will be heard."""
    number = state.season.round_number
    if state.schedule is None or not state.games:
        return
    for pairing, record in zip(state.schedule.round(number), state.games, strict=True):
        if record.outcome is None:
            _record_match(turn, pairing, record, _NO_REPORT, number, termination=Termination.RESET)


# Reports.


def report(turn: SeasonTurn, state: ManagerState, letter: Letter) -> ManagerState:
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
    outcome, oddities = outcome_of(payload, pairing)
    record = _record_of(state, number, index)
    decided = verdict(record.outcome, outcome)
    if decided is Verdict.REPEATS:
        return state
    if decided is Verdict.CONFLICTS:
        turn.warn("report_conflict", f"game {pairing.game_id}: {_short(record.outcome)} counts, not {_short(outcome)}")
        return state
    for oddity in oddities:
        turn.warn("odd_report", f"game {pairing.game_id}, report of {member.email}: {oddity}"[:400])
    is_late = number <= len(state.closed)
    before = record.outcome
    record = replace(record, outcome=outcome, reported_at=letter.arrived_at)
    _record_match(turn, pairing, record, outcome, number, is_late=is_late, before=before)
    state = _with_record(state, number, index, record)
    if is_late and before is not None:
        standings = state.standings.with_matches([(pairing, outcome)], turn.config.rules, without=[(pairing, before)])
        state = replace(state, standings=standings)
        if state.season.phase is SeasonPhase.FINISHED:
            record_season(turn, state, Termination.COMPLETED)
    return state


def _is_of_before_a_reset(turn: SeasonTurn, state: ManagerState, letter: Letter, number: int) -> bool:
    resets, stated = state.season.resets, letter.envelope.round_id
    return bool(resets) and stated in {round_id(turn.config, earlier, number) for earlier in range(resets)}


def _player_report(
    turn: SeasonTurn, state: ManagerState, letter: Letter, payload: PlayerReport, pairing: Pairing
) -> ManagerState:
    member = letter.member
    players = (pairing.player1.player_email, pairing.player2.player_email)
    side = next((side for side, email in enumerate(players) if same_address(member.email, email)), None)
    if side is None:
        return complain(turn, state, letter, "UNAUTHORIZED", f"Game {pairing.game_id} is played by others.")
    assert state.schedule is not None
    place = state.schedule.place(pairing.game_id)
    assert place is not None
    record = _record_of(state, *place)
    if record.outcome is not None and record.outcome.status is not MatchStatus.NO_REPORT:
        return state  # it is there to find games that their referee never reported
    known = record.player_reports[side]
    if known is payload.status or known is PlayerReportStatus.COMPLETED:
        return state
    one, two = record.player_reports
    reports = (payload.status, two) if side == 0 else (one, payload.status)
    return _with_record(state, *place, replace(record, player_reports=reports))


def _record_of(state: ManagerState, number: int, index: int) -> GameRecord:
    if number <= len(state.closed):
        return state.closed[number - 1].games[index]
    return state.games[index]


def _with_record(state: ManagerState, number: int, index: int, record: GameRecord) -> ManagerState:
    if number <= len(state.closed):
        closed = state.closed[number - 1]
        closed = replace(closed, games=(*closed.games[:index], record, *closed.games[index + 1 :]))
        return replace(state, closed=(*state.closed[: number - 1], closed, *state.closed[number:]))
    games = state.games
    awaited = state.awaited - (games[index].outcome is None and record.outcome is not None)
    return replace(state, games=(*games[:index], record, *games[index + 1 :]), awaited=awaited)


def _record_match(
    turn: SeasonTurn,
    pairing: Pairing,
    record: GameRecord,
    outcome: MatchOutcome,
    number: int,
    *,
    termination: Termination | None = None,
    is_late: bool = False,
    before: MatchOutcome | None = None,
) -> None:
    config = turn.config
    facts = match_facts(pairing, record, outcome, config.rules, season_id=config.season_id, round_number=number)
    facts["is_late"] = is_late
    facts["replaces"] = before.status.value if before is not None else None
    turn.effects.append(
        Record(kind="match", key=pairing.game_id, termination=termination or termination_of(outcome), facts=facts)
    )


def _short(outcome: MatchOutcome | None) -> str:
    if outcome is None:
        return "no report"
    points = f"{outcome.league_points[0]}:{outcome.league_points[1]}"
    return f"{outcome.status.value} {points} ({outcome.private_scores[0]:g}:{outcome.private_scores[1]:g})"
