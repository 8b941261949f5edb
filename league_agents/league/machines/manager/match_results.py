"""The outcome of a match for the league, from the referee's report.

Rule 1: the referee's report is taken as it is: points and winner are not recomputed (protocol 7). Only their assignment
to the two players of the game is checked. What a walkover gives is added beside it.
Rule 2: the first final report wins; a game that was played to its end replaces one that was aborted (protocol 4.5.1).
Rule 3: stored outcomes contain no target and no feedback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

from league_agents.games.q21.model import Termination
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.league.machines.manager.state import GameRecord
from league_agents.league.season.schedule import Pairing, Team
from league_agents.league.season.standings import (
    NO_DUTY,
    MatchOutcome,
    MatchStatus,
    Standings,
    points_that_count,
    with_absent,
)
from league_agents.league.season.tie_breaks import RankedTeam
from league_agents.league.wire.address import same_address
from league_agents.league.wire.messages import (
    AssignmentRole,
    MatchReport,
    MatchResultRow,
    PlayerReportStatus,
    ReportStatus,
    ScoreRow,
)

_STATUS = {
    ReportStatus.COMPLETED: MatchStatus.COMPLETED,
    ReportStatus.ABORTED: MatchStatus.ABORTED,
    ReportStatus.COMPLETED_SINGLE_PLAYER: MatchStatus.SINGLE_PLAYER,
    ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION: MatchStatus.CANCELLED,
}

_ENDED = {
    MatchStatus.COMPLETED: Termination.COMPLETED,
    MatchStatus.SINGLE_PLAYER: Termination.COMPLETED,
    MatchStatus.CANCELLED: Termination.CANCELLED,
    MatchStatus.NO_REPORT: Termination.NO_REPORT,
    MatchStatus.WALKOVER: Termination.WALKOVER,
    MatchStatus.ANNULLED: Termination.ANNULLED,
    MatchStatus.REPLAYED: Termination.ANNULLED,
}

_ABORTS = {
    str(termination): termination
    for termination in (
        Termination.NEW_ROUND_STARTED,
        Termination.END_ROUND_RECEIVED,
        Termination.LEAGUE_COMPLETED,
        Termination.PLAYER_TIMEOUT,
        Termination.FORMAT_VIOLATION,
        Termination.REFEREE_FAILURE,
    )
}
"""Terminations by the prefix of the abort reason (protocol 4.5.1)."""


_FORFEITS = (Termination.PLAYER_TIMEOUT, Termination.FORMAT_VIOLATION)
_ASKED_AT_ONCE = ("warmup_sent", "round_started")
"""Phases in which a player owes the answer to a request that both players got at once (protocol 4.5.1, 5.3.1)."""


_ASKS = (*_ASKED_AT_ONCE, "answers_received")
"""Phases in which a player owes an answer."""


class ReportVerdict(Enum):
    """How a report is used."""

    COUNTS = "counts"
    REPEATS = "repeats"
    CONFLICTS = "conflicts"


def verdict(known: MatchOutcome | None, reported: MatchOutcome) -> ReportVerdict:
    """Whether a report counts, given the known outcome of its game."""
    if known is None or known.status is MatchStatus.NO_REPORT:
        return ReportVerdict.COUNTS
    if _as_reported(known) == _as_reported(reported):
        return ReportVerdict.REPEATS
    played = (MatchStatus.COMPLETED, MatchStatus.SINGLE_PLAYER)
    if known.status is MatchStatus.ABORTED and reported.status in played:
        return ReportVerdict.COUNTS
    return ReportVerdict.CONFLICTS


def _as_reported(outcome: MatchOutcome) -> MatchOutcome:
    # Version 0.1.0 stored outcomes without the two fields that the rules add.
    return evolve(outcome, absent=(), awarded=None)


def outcome_of(report: MatchReport, pairing: Pairing, rules: RuleSet) -> tuple[MatchOutcome, tuple[str, ...]]:
    """The outcome that a report states, with what the rules give for an absent player, and warnings about it."""
    status = _STATUS[report.status]
    if status is MatchStatus.CANCELLED:
        return with_absent(MatchOutcome(status=status), (AssignmentRole.PLAYER1, AssignmentRole.PLAYER2), rules), ()
    odd: list[str] = []
    one = _row_of(report.scores, pairing.player1, odd)
    two = _row_of(report.scores, pairing.player2, odd)
    missing = report.missing.role if report.missing is not None and status is MatchStatus.SINGLE_PLAYER else None
    winner = _winner(report, pairing, odd)
    if winner is not None and winner is missing:
        odd.append("the absent player cannot win")
        winner = None
    outcome = MatchOutcome(
        status=status,
        winner=winner,
        league_points=(one.league_points if one else 0, two.league_points if two else 0),
        private_scores=(one.private_score if one else 0.0, two.private_score if two else 0.0),
        reason=(report.abort_reason or "")[:200] if status is MatchStatus.ABORTED else "",
        missing=missing,
    )
    absent = (missing,) if missing is not None else _silent(report, pairing)
    odd += _cut_off(report, pairing)
    return with_absent(outcome, absent, rules), tuple(odd)


def _silent(report: MatchReport, pairing: Pairing) -> tuple[AssignmentRole, ...]:
    """The players of an aborted match that let a deadline pass, or sent nothing usable until then."""
    reason, _, culprit = (report.abort_reason or "").partition(":")
    if report.status is not ReportStatus.ABORTED or reason not in _FORFEITS:
        return ()
    silent = next((role for role, team in _players(pairing) if same_address(culprit, team.player_email)), None)
    if silent is None:
        return ()
    # The reason names one player (protocol 5.3.4). Both have the same deadline for the warm-up and for the questions,
    # so a player that has not answered the same request either was silent too.
    states = report.player_states
    if states is not None and states.player1.phase_reached == states.player2.phase_reached in _ASKED_AT_ONCE:
        return AssignmentRole.PLAYER1, AssignmentRole.PLAYER2
    return (silent,)


def _cut_off(report: MatchReport, pairing: Pairing) -> list[str]:
    """Who had not answered when the round's end cut the match off. It may have had time left, so no points change."""
    states = report.player_states
    if report.abort_reason != Termination.END_ROUND_RECEIVED or states is None:
        return []
    owing = [
        f"{team.group_id} ({state.phase_reached})"
        for (_, team), state in zip(_players(pairing), (states.player1, states.player2), strict=True)
        if state.phase_reached in _ASKS
    ]
    return [f"the round ended before an answer of {', '.join(owing)}"] if owing else []


def _players(pairing: Pairing) -> tuple[tuple[AssignmentRole, Team], ...]:
    return (AssignmentRole.PLAYER1, pairing.player1), (AssignmentRole.PLAYER2, pairing.player2)


def _row_of(rows: Sequence[ScoreRow], team: Team, odd: list[str]) -> ScoreRow | None:
    # Match by address first: it is the only id that every client fills in (protocol 1.1).
    for row in rows:
        if same_address(row.email, team.player_email):
            return row
    for row in rows:
        if row.participant_id == team.group_id:
            return row
    odd.append(f"there is no score of {team.group_id}: it counts as 0")
    return None


def _winner(report: MatchReport, pairing: Pairing, odd: list[str]) -> AssignmentRole | None:
    winner = report.winner_id
    if winner is None:
        return None
    for role, team in _players(pairing):
        if winner == team.group_id or same_address(winner, team.player_email):
            return role
    odd.append(f"the winner {shown(winner)} is neither of the players: nobody won")
    return None


def termination_of(outcome: MatchOutcome) -> Termination:
    """Why the match ended. An unknown abort reason is attributed to the referee."""
    ended = _ENDED.get(outcome.status)
    return ended or _ABORTS.get(outcome.reason.partition(":")[0], Termination.REFEREE_FAILURE)


def winner_id(pairing: Pairing, outcome: MatchOutcome) -> str | None:
    """The group id of the winner that counts; ``None`` without a winner."""
    return next((team.group_id for role, team in _players(pairing) if role is outcome.victor), None)


def result_row(pairing: Pairing, outcome: MatchOutcome, rules: RuleSet) -> MatchResultRow:
    """The match's row in the results of its round."""
    one, two = points_that_count(outcome, rules)
    return MatchResultRow(
        game_id=pairing.game_id,
        winner_id=winner_id(pairing, outcome),
        player1_score=one,
        player2_score=two,
        status=outcome.status.value,
    )


def match_facts(
    pairing: Pairing, record: GameRecord, outcome: MatchOutcome, rules: RuleSet, *, season_id: str, round_number: int
) -> dict[str, object]:
    """The match as JSON values, for the record."""
    counted = points_that_count(outcome, rules)
    return {
        "game_id": pairing.game_id,
        "season_id": season_id,
        "round_number": round_number,
        "referee_group": pairing.referee.group_id,
        "status": outcome.status.value,
        "abort_reason": outcome.reason or None,
        "winner_id": winner_id(pairing, outcome),
        "is_draw": outcome.victor is None and outcome.status in (MatchStatus.COMPLETED, MatchStatus.ABORTED),
        "missing_player": outcome.missing.value if outcome.missing is not None else None,
        "absent": [role.value for role in outcome.absent],
        "is_walkover": outcome.is_walkover,
        "players": [
            {
                "id": team.group_id,
                "email": team.player_email,
                "role": role.value,
                "league_points": outcome.league_points[index],
                "counted_points": counted[index],
                "private_score": outcome.private_scores[index],
                "own_report": _own_report(record.player_reports[index]),
            }
            for index, (role, team) in enumerate(_players(pairing))
        ],
    }


def _own_report(status: PlayerReportStatus | None) -> str | None:
    return None if status is None else status.value


def standings_facts(standings: Standings, ranked: Sequence[RankedTeam]) -> list[Mapping[str, object]]:
    """The table as JSON values, with the tie-breaks and the duties of each group's referee."""
    found: list[Mapping[str, object]] = []
    for each in ranked:
        tally, row = each.tally, each.row
        duty = standings.referees.get(row.participant_id, NO_DUTY)
        found.append(
            {
                "rank": row.rank,
                "participant_id": row.participant_id,
                "email": row.email,
                "display_name": row.display_name,
                "total_points": tally.points,
                "private_score": tally.private_score,
                "games_played": tally.played,
                "games_won": tally.won,
                "tie_breaks": dict(each.values),
                "matches_judged": duty.judged,
                "matches_aborted": duty.aborted,
                "matches_unreported": duty.unreported,
            }
        )
    return found
