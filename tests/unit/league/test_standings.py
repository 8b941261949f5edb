"""Which points count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from league_agents.games.q21.rules import PRD, AbortedPoints
from league_agents.league.season.schedule import Pairing, Team, round_robin
from league_agents.league.season.standings import (
    NO_TALLY,
    Duty,
    MatchOutcome,
    MatchStatus,
    Standings,
    StandingsTally,
    points_that_count,
)
from league_agents.league.wire.messages import AssignmentRole

TEAMS = [
    Team(group_id=name, player_email=f"{name}@example.com", referee_email=f"{name}.ref@example.com")
    for name in ("otters", "ravens", "falcons", "wolves")
]
GAMES = list(round_robin(TEAMS, season=1, double=True))
GAME = GAMES[0]
WON = MatchOutcome(
    status=MatchStatus.COMPLETED,
    winner=AssignmentRole.PLAYER1,
    league_points=(3, 1),
    private_scores=(90.1, 55.3),
)


@pytest.mark.parametrize(
    ("status", "aborted", "points", "played", "won"),
    [
        (MatchStatus.COMPLETED, AbortedPoints.ZERO, (3, 1), 1, 1),
        (MatchStatus.SINGLE_PLAYER, AbortedPoints.ZERO, (3, 1), 1, 1),  # the absent player's reported point counts
        (MatchStatus.ABORTED, AbortedPoints.AS_REPORTED, (3, 1), 1, 1),
        (MatchStatus.ABORTED, AbortedPoints.ZERO, (0, 0), 1, 0),
        (MatchStatus.CANCELLED, AbortedPoints.AS_REPORTED, (0, 0), 0, 0),
        (MatchStatus.NO_REPORT, AbortedPoints.AS_REPORTED, (0, 0), 0, 0),
    ],
)
def test_the_points_of_each_status(
    status: MatchStatus, aborted: AbortedPoints, points: tuple[int, int], played: int, won: int
) -> None:
    rules = replace(PRD, aborted_points=aborted)
    outcome = replace(WON, status=status)
    assert points_that_count(outcome, rules) == points
    standings = Standings().with_matches([(GAME, outcome)], rules)
    tally = standings.players.get(GAME.player1.group_id, StandingsTally())
    assert (tally.points, tally.played, tally.won) == (points[0], played, won)


def test_referees_are_counted_by_what_they_reported() -> None:
    outcomes = [replace(WON, status=status) for status in MatchStatus]
    standings = Standings().with_matches([(GAME, outcome) for outcome in outcomes], PRD)
    assert standings.referees == {GAME.referee.group_id: Duty(judged=4, aborted=1, unreported=1)}


outcomes = st.builds(
    MatchOutcome,
    status=st.sampled_from(MatchStatus),
    winner=st.sampled_from([None, AssignmentRole.PLAYER1, AssignmentRole.PLAYER2]),
    league_points=st.tuples(st.integers(0, 3), st.integers(0, 3)),
    private_scores=st.tuples(st.floats(0, 100), st.floats(0, 100)),
)


@given(st.lists(st.tuples(st.sampled_from(GAMES), outcomes, outcomes), max_size=12))
def test_correcting_a_match_is_the_same_as_having_known_it(
    played: list[tuple[Pairing, MatchOutcome, MatchOutcome]],
) -> None:
    at_first = Standings().with_matches([(game, first) for game, first, _ in played], PRD)
    corrected = at_first
    for game, first, then in reversed(played):
        corrected = corrected.with_matches([(game, then)], PRD, without=[(game, first)])
    known = Standings().with_matches([(game, then) for game, _, then in played], PRD)
    tallies = [standings.players.get(team.group_id, NO_TALLY) for standings in (corrected, known) for team in TEAMS]
    assert tallies[: len(TEAMS)] == tallies[len(TEAMS) :]
