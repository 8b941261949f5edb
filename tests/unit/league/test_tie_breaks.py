"""Who is before whom in the table, and by what."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from league_agents.games.q21.rules import PRD
from league_agents.kit.errors import ConfigError
from league_agents.league.season.schedule import Pairing, ScheduleKind, Team, round_robin
from league_agents.league.season.standings import MatchOutcome, MatchStatus, Standings, StandingsTally
from league_agents.league.season.tie_breaks import (
    KNOCKOUT_ORDER,
    LEAGUE_ORDER,
    RankedTeam,
    TieBreak,
    check_tie_breaks,
    ranking,
    usual_tie_breaks,
)
from league_agents.league.wire.messages import AssignmentRole

TEAMS = [
    Team(group_id=name, player_email=f"{name}@example.com", referee_email=f"{name}.ref@example.com")
    for name in ("otters", "ravens", "falcons", "wolves")
]
OTTERS, RAVENS, FALCONS, WOLVES = TEAMS


def tally(points: int, private: float, won: int) -> StandingsTally:
    return StandingsTally(points=points, private_millionths=round(private * 1_000_000), played=2, won=won)


def ranked(
    tallies: Sequence[StandingsTally],
    *tie_breaks: TieBreak,
    games: Sequence[tuple[Pairing, MatchOutcome]] = (),
    teams: Sequence[Team] = TEAMS,
    seed: str = "spring",
) -> tuple[RankedTeam, ...]:
    standings = Standings(players={team.group_id: each for team, each in zip(teams, tallies, strict=True)})
    return ranking(teams, standings, tie_breaks=tie_breaks, rules=PRD, seed=seed, games=lambda: games)


def order(rows: Sequence[RankedTeam]) -> list[tuple[int, str]]:
    return [(row.rank, row.team.group_id) for row in rows]


def test_the_usual_order_is_points_then_private_score_then_wins() -> None:
    rows = ranked([tally(4, 120.5, 1), tally(4, 120.5, 2), tally(4, 121.0, 0), tally(5, 0.0, 0)], *LEAGUE_ORDER)
    assert order(rows) == [(1, "wolves"), (2, "falcons"), (3, "ravens"), (4, "otters")]
    assert rows[1].values == {"points": 4, "private_score": 121.0, "wins": 0}
    assert list(rows[1].values) == ["points", "private_score", "wins"]


def test_equal_after_all_tie_breaks_shares_a_rank_whatever_the_name() -> None:
    same = tally(4, 120.5, 1)
    rows = ranked([same, tally(9, 0, 3), same, tally(0, 0, 0)], *LEAGUE_ORDER)
    assert order(rows) == [(1, "ravens"), (2, "falcons"), (2, "otters"), (4, "wolves")]
    named = [replace(OTTERS, display_name="aardvarks"), *TEAMS[1:]]
    again = ranked([same, tally(9, 0, 3), same, tally(0, 0, 0)], *LEAGUE_ORDER, teams=named)
    assert order(again) == [(1, "ravens"), (2, "otters"), (2, "falcons"), (4, "wolves")]


def test_head_to_head_counts_the_games_between_those_who_are_equal() -> None:
    games = {frozenset((game.player1.group_id, game.player2.group_id)): game for game in round_robin(TEAMS, season=1)}

    def won(winner: Team, loser: Team) -> tuple[Pairing, MatchOutcome]:
        game = games[frozenset((winner.group_id, loser.group_id))]
        is_first = game.player1 == winner
        return game, MatchOutcome(
            status=MatchStatus.COMPLETED,
            winner=AssignmentRole.PLAYER1 if is_first else AssignmentRole.PLAYER2,
            league_points=(3, 0) if is_first else (0, 3),
        )

    played = [won(RAVENS, OTTERS), won(OTTERS, WOLVES), won(WOLVES, RAVENS)]
    tallies = [tally(4, 0, 1), tally(4, 0, 1), tally(1, 0, 0), tally(3, 0, 1)]
    rows = ranked(tallies, TieBreak.POINTS, TieBreak.HEAD_TO_HEAD, games=played)
    assert order(rows) == [(1, "ravens"), (2, "otters"), (3, "wolves"), (4, "falcons")]
    # Of the ravens' games only the one against the otters decides; the wolves are not equal to anybody.
    assert [row.values.get("head_to_head") for row in rows] == [3, 0, None, None]


def test_a_lot_is_drawn_by_the_seed_and_leaves_nobody_equal() -> None:
    same = [tally(4, 0, 1)] * 4
    orders = {seed: order(ranked(same, TieBreak.POINTS, TieBreak.LOT, seed=seed)) for seed in "abcdefgh"}
    assert all([rank for rank, _ in each] == [1, 2, 3, 4] for each in orders.values())
    assert len({tuple(each) for each in orders.values()}) > 1
    assert orders["a"] == order(ranked(same, TieBreak.POINTS, TieBreak.LOT, seed="a"))
    backwards = ranked(same, TieBreak.POINTS, TieBreak.LOT, seed="a", teams=TEAMS[::-1])
    assert order(backwards) == orders["a"]
    assert [row.values["lot"] for row in backwards] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("tie_breaks", "kind", "message"),
    [
        ([], ScheduleKind.SWISS, "must name one"),
        ([TieBreak.WINS, TieBreak.WINS], ScheduleKind.SWISS, "named twice"),
        ([TieBreak.LOT, TieBreak.WINS], ScheduleKind.SWISS, "must be the last"),
        ([TieBreak.ROUNDS_SURVIVED], ScheduleKind.SWISS, "is for a knockout season"),
    ],
)
def test_a_list_that_decides_nothing_is_refused(tie_breaks: list[TieBreak], kind: ScheduleKind, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        check_tie_breaks(tie_breaks, kind)


@pytest.mark.parametrize("kind", ScheduleKind)
def test_the_usual_list_of_each_kind_can_be_used(kind: ScheduleKind) -> None:
    check_tie_breaks(usual_tie_breaks(kind), kind)
    assert (usual_tie_breaks(kind) == KNOCKOUT_ORDER) is (kind is ScheduleKind.KNOCKOUT)


def test_a_row_holds_all_keys_of_the_canonical_form() -> None:
    row = ranked([tally(3, 90.1, 1)], TieBreak.POINTS, teams=[OTTERS])[0].row
    assert (row.rank, row.participant_id, row.group_id, row.email, row.display_name) == (
        1,
        "otters",
        "otters",
        "otters@example.com",
        "otters",
    )
    assert (row.total_points, row.games_played, row.games_won) == (3, 2, 1)
