"""Leagues of divisions over several seasons: promotion, relegation, one table over all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.app.next_season import next_season, overall_table
from league_agents.app.records import open_season
from league_agents.app.season import ends, play_season
from league_agents.app.season_plan import WrittenRosterTeam, numbered_roster, plan_of, read_plan, write_plan
from league_agents.cli import command_line
from league_agents.kit.errors import ConfigError
from league_agents.league.season.divisions import Move
from league_agents.league.season.tie_breaks import TieBreak

PLAN = plan_of(numbered_roster(9), seed=5, divisions=3, promoted=1, agents=("scripted",))


def test_the_next_season_s_divisions_follow_from_the_tables(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    play_season(PLAN, first)
    found = list(ends(PLAN, first))
    tables = [[str(row["participant_id"]) for row in end.standings] for end in found]
    following = next_season(first, seed=6)
    assert [[team.group_id for team in division.teams] for division in following.divisions] == [
        [*tables[0][:2], tables[1][0]],
        [tables[0][2], tables[1][1], tables[2][0]],
        [tables[1][2], *tables[2][1:]],
    ]
    assert (following.season, following.seed, following.season_id) == (2, 6, "SEASON_2032-05-02")
    # Two seasons on: nobody was lost, and every division has as many as in the beginning.
    play_season(following, second)
    third = next_season(second, seed=7)
    names = Counter(team.group_id for division in third.divisions for team in division.teams)
    assert names == Counter(team.group_id for division in PLAN.divisions for team in division.teams)
    assert [len(division.teams) for division in third.divisions] == [3, 3, 3]
    source = open_season(second)
    assert source.season().season_id == "SEASON_2032-05-02"
    source.close()

    rows = list(overall_table([each.name for each in PLAN.divisions], 1, found))
    assert [row.group_id for row in rows] == [team for table in tables for team in table]
    assert [row.place for row in rows] == list(range(1, 10))
    assert [row.move for row in rows] == [
        *(Move.STAYS, Move.STAYS, Move.RELEGATED),
        *(Move.PROMOTED, Move.STAYS, Move.RELEGATED),
        *(Move.PROMOTED, Move.STAYS, Move.STAYS),
    ]


def test_a_lot_decides_between_equals_where_teams_are_promoted() -> None:
    assert PLAN.tie_breaks[-1] is TieBreak.LOT
    without = plan_of(numbered_roster(9), seed=5, divisions=3, agents=("scripted",))
    assert TieBreak.LOT not in without.tie_breaks


def test_the_roster_says_which_division_is_the_highest() -> None:
    names = ("premier", "championship")
    roster = [WrittenRosterTeam(group_id=f"t{number}", division=names[number // 4]) for number in range(8)]
    assert [each.name for each in plan_of(roster, seed=1, promoted=1).divisions] == ["premier", "championship"]


def test_a_season_that_is_not_over_has_no_next_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="holds no season; name the folder of one"):
        next_season(tmp_path, seed=1)
    write_plan(PLAN, tmp_path)
    with pytest.raises(ConfigError, match=r"is not over \(0 of 3 divisions are over\); play it to its end first"):
        next_season(tmp_path, seed=1)


def test_a_league_goes_on_from_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    def season(*words: str) -> str:
        return CliRunner().invoke(command_line, ["season", *words]).output

    shown = season("--teams", "6", "--divisions", "2", "--promote", "1", "--agents", "scripted", "--out", "first")
    assert "promoted" in shown
    assert all(shown.count(f"Team 0{number}") == 1 for number in range(1, 7)), "one table over all divisions"
    assert "relegated" in shown
    assert "Season 2, seed 9: 6 teams, 2 divisions" in season("--after", "first", "--seed", "9", "--out", "second")
    # The same command goes on, and another one is refused.
    assert '"season": 2' in season("--after", "first", "--out", "second", "--json")
    assert "holds another season (--seed: 9 there, 8 here" in season(
        "--after", "first", "--seed", "8", "--out", "second"
    )
    assert "leave out --divisions" in season("--after", "first", "--divisions", "2", "--out", "third")
    plan = read_plan(Path("second"))
    assert plan is not None
    assert plan.promoted == 1


def test_more_divisions_than_two_digits_have_game_ids_repeat() -> None:
    plan = plan_of(numbered_roster(300), seed=1, divisions=100, agents=("scripted",))
    assert [(each.number, each.season_number) for each in plan.divisions][97:] == [(98, 98), (99, 99), (100, 1)]


def test_ten_thousand_teams_are_planned_and_stay_as_many() -> None:
    plan = plan_of(numbered_roster(10_000), seed=1, divisions=1_000, promoted=2, agents=("scripted",))
    assert {len(division.teams) for division in plan.divisions} == {10}
    assert len({team.group_id for division in plan.divisions for team in division.teams}) == 10_000
    with pytest.raises(ConfigError, match="division 1, which has 10"):
        plan_of(numbered_roster(30), seed=1, divisions=3, promoted=11)
