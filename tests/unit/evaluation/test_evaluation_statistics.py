"""Intervals against values from tables, and what they promise where tables end."""

from __future__ import annotations

import math

import numpy as np
import pytest

from league_agents.evaluation.statistics import (
    clustered_share,
    games_for_mean,
    games_for_share,
    mean,
    paired_shares,
    quantile,
    student,
    wilson,
)


@pytest.mark.parametrize(
    ("freedom", "value"),
    [(1, 12.7062), (2, 4.3027), (3, 3.1824), (4, 2.7764), (5, 2.5706), (9, 2.2622), (10, 2.2281), (29, 2.0452),
     (30, 2.0423), (60, 2.0003), (120, 1.9799), (1000, 1.9623), (100_000, 1.9600)],
)  # fmt: skip
def test_students_quantiles_are_those_of_the_tables(freedom: int, value: float) -> None:
    assert student(freedom) == pytest.approx(value, abs=6e-5)


@pytest.mark.parametrize(
    ("successes", "count", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
    ],
)
def test_wilsons_interval_is_that_of_the_literature(successes: int, count: int, low: float, high: float) -> None:
    found = wilson(successes, count)
    assert found is not None
    assert found.low == pytest.approx(low, abs=6e-5)
    assert found.high == pytest.approx(high, abs=6e-5)
    assert found.value == successes / count


def test_a_share_is_never_certain() -> None:
    for found in (wilson(7, 7), wilson(0, 7), paired_shares([(True, True)] * 7), clustered_share([(20, 20)] * 7)):
        assert found is not None
        assert found.margin is not None
        assert found.margin > 0


def test_the_interval_of_a_bounded_mean_does_not_leave_its_bounds() -> None:
    found = mean([100.0, 100.0, 90.0], least=0.0, most=100.0)
    assert found is not None
    assert found.high == 100.0
    assert found.low is not None
    assert found.low < found.value
    odd = mean([120.0, 121.0], most=100.0)
    assert odd is not None
    assert odd.high == odd.value == 120.5


def test_a_mean_has_students_interval() -> None:
    found = mean([4.0, 6.0, 8.0])
    assert found is not None
    assert (found.value, found.deviation) == (6.0, 2.0)
    assert found.margin == pytest.approx(4.302653 * 2 / math.sqrt(3), abs=1e-5)


def test_one_game_bounds_nothing() -> None:
    found = mean([3.0])
    assert found is not None
    assert (found.low, found.high, found.margin) == (None, None, None)


def test_nothing_gives_no_figure() -> None:
    assert [wilson(0, 0), mean([]), paired_shares([]), clustered_share([]), clustered_share([(0, 0)])] == [None] * 5
    assert quantile([], 0.5) is None


def test_pairs_take_what_both_have_in_common_away() -> None:
    # Both right in 80 games, only the first in 15, only the second in 5: unpaired, that is 0.95 against 0.85.
    pairs = [(True, True)] * 80 + [(True, False)] * 15 + [(False, True)] * 5
    found = paired_shares(pairs)
    assert found is not None
    assert found.value == pytest.approx(0.10)
    middle, reach = 10 / 102, 1.959964 * math.sqrt(21 - 100 / 102) / 102
    assert found.low == pytest.approx(middle - reach, abs=1e-6)
    assert found.high == pytest.approx(middle + reach, abs=1e-6)


def test_answers_of_one_game_are_no_twenty_observations() -> None:
    together = clustered_share([(20, 20)] * 9 + [(0, 20)])
    apart = clustered_share([(18, 20)] * 10)
    plain = wilson(180, 200)
    assert together is not None
    assert apart is not None
    assert plain is not None
    assert together.value == apart.value == plain.value == 0.9
    assert apart.worth == 20
    assert apart.margin == pytest.approx(plain.margin, rel=0.2)
    assert together.worth == pytest.approx(1.0, abs=0.15)
    assert (together.margin or 0) > 4 * (plain.margin or 0)


def test_one_game_does_not_bound_a_share_of_its_own_answers() -> None:
    found = clustered_share([(19, 20)])
    assert found is not None
    assert (found.value, found.low, found.high, found.count) == (0.95, None, None, 1)


def test_the_same_games_give_the_same_interval_in_any_order() -> None:
    games = [(20, 20), (3, 20), (17, 20), (20, 20), (9, 11)]
    found = clustered_share(games)
    assert found == clustered_share(games[::-1]) == clustered_share(sorted(games))


# Trials a game, the share, and how alike the trials of one game are (0: independent, 1: all the same). A referee is
# examined with about twenty questions a game; callbacks are four, or eight with a second attempt.
CLUSTERED = [
    (20, 0.5, 0.0), (20, 0.5, 0.3), (20, 0.8, 0.1), (20, 0.9, 0.3), (20, 0.95, 0.8), (8, 0.02, 0.2), (4, 0.5, 0.8),
]  # fmt: skip
SAMPLES = 250


def coverage(games: int, trials: int, share: float, alike: float, seed: int) -> float:
    """In which part of simulated series the interval holds the true share."""
    rng = np.random.RandomState(seed)  # its stream never changes, so neither does the verdict
    held = 0
    for _ in range(SAMPLES):
        odds = 1 / alike - 1 if alike else 0.0
        each = rng.beta(share * odds, (1 - share) * odds, size=games) if alike else np.full(games, share)
        found = clustered_share([(int(right), trials) for right in rng.binomial(trials, each)])
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        held += found.low <= share <= found.high
    return held / SAMPLES


@pytest.mark.parametrize("games", [10, 40])
def test_intervals_of_clustered_shares_hold_the_truth_as_often_as_they_promise(games: int) -> None:
    found = [coverage(games, *case, seed=100 * games + number) for number, case in enumerate(CLUSTERED)]
    # Of 250 intervals that hold the truth with probability 0.95, fewer than 225 do so less than once in 1,000 times.
    assert min(found) >= 0.90
    # All 1,750 of them. Rare failures in few games make intervals wider than they need be.
    assert 0.94 <= sum(found) / len(found) <= 0.985


def test_the_games_needed_are_those_of_the_formula() -> None:
    assert games_for_share(0.5, 0.05) == 385
    assert games_for_share(0.9, 0.05) == 139
    assert games_for_share(1.0, 0.05) == games_for_share(0.95, 0.05) == 73
    assert games_for_mean(20.0, 5.0) == 62
    assert games_for_mean(0.0, 5.0) == 2


def test_quantiles_are_values_that_occurred() -> None:
    assert [quantile([3.0, 1.0, 2.0, 4.0], share) for share in (0.0, 0.5, 0.95, 1.0)] == [1.0, 2.0, 4.0, 4.0]
