"""Promotion and relegation: every team stays in the league, in exactly one division."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.kit.errors import ConfigError
from league_agents.league.season.divisions import DivisionPlace, Move, check_promotion, moves, next_divisions


@st.composite
def leagues(draw: st.DrawFn) -> tuple[list[list[str]], int]:
    promoted = draw(st.integers(0, 4))
    sizes = draw(st.lists(st.integers(max(3, 2 * promoted), 12), min_size=2, max_size=8))
    teams = iter(draw(st.permutations([f"t{number}" for number in range(sum(sizes))])))
    return [[next(teams) for _ in range(size)] for size in sizes], promoted


@given(leagues())
def test_every_team_is_in_one_division_and_every_division_keeps_its_size(league: tuple[list[list[str]], int]) -> None:
    tables, promoted = league
    following = next_divisions(tables, promoted)
    assert [len(division) for division in following] == [len(table) for table in tables]
    assert Counter(team for division in following for team in division) == Counter(
        team for table in tables for team in table
    )


@given(leagues())
def test_the_first_go_up_and_the_last_go_down_by_one_division(league: tuple[list[list[str]], int]) -> None:
    tables, promoted = league
    now = {team: place for place, table in enumerate(tables) for team in table}
    following = {team: place for place, division in enumerate(next_divisions(tables, promoted)) for team in division}
    for place, table in enumerate(tables):
        up, down = (promoted if place > 0 else 0), (promoted if place < len(tables) - 1 else 0)
        here = DivisionPlace(place=place, divisions=len(tables), promoted=promoted)
        steps = [following[team] - now[team] for team in table]
        assert steps == [-1] * up + [0] * (len(table) - up - down) + [1] * down
        assert [move is Move.STAYS for move in moves(here, len(table))] == [step == 0 for step in steps]


def test_the_order_in_a_division_is_from_above_to_below() -> None:
    tables = [["a1", "a2", "a3", "a4"], ["b1", "b2", "b3", "b4"], ["c1", "c2", "c3", "c4"]]
    assert next_divisions(tables, 1) == [
        ["a1", "a2", "a3", "b1"],
        ["a4", "b2", "b3", "c1"],
        ["b4", "c2", "c3", "c4"],
    ]
    assert next_divisions(tables, 0) == tables


@pytest.mark.parametrize(
    ("sizes", "promoted", "words"),
    [
        ([8], 1, "needs two divisions"),
        ([4, 3, 4], 2, "4 teams would leave division 2, which has 3"),
        ([3, 3], 4, "4 teams would leave division 1, which has 3"),
    ],
)
def test_more_than_a_division_has_cannot_leave_it(sizes: list[int], promoted: int, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        check_promotion(sizes, promoted)
