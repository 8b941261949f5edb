"""The measuring of a server and of the games measures: a few seconds of what ``scripts/bench`` does at length."""

from __future__ import annotations

import pytest

from benchmarks.arena_engine import WAYS, actions_per_s
from tests.support.arena_load import LoadResult, measure_load, told


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", ["guess_number", "market", "q21", "undercover"])
def test_a_games_speed_is_counted(game: str, way: str) -> None:
    ticks = iter([0.0, 2.0])
    assert actions_per_s(game, 50, way=way, clock=lambda: next(ticks)) == 25


def test_a_server_is_measured_from_another_process() -> None:
    found = measure_load(matches=2, seconds=1, actions_per_s=40)
    assert found.most_sockets == 10
    assert found.actions == len(found.action_s) > 0
    assert found.pushes > found.actions
    assert not found.refused
    assert min(found.rss_mb) > 10
    assert "10 sockets" in told(found, 2)[0]


def test_growth_is_what_the_last_quarter_has_more_than_the_second() -> None:
    assert LoadResult(rss_mb=[10, 50, 60, 60, 60, 60, 61, 61]).growth_mb() == 1
    assert LoadResult().quantile([0.1, 0.2, 0.3], 0.5) == pytest.approx(200)
