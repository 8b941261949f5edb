"""Whether prices look agreed (arena 4.4)."""

from __future__ import annotations

import pytest

from league_agents.games.market.analysis import tacit_collusion


@pytest.mark.parametrize(
    ("prices", "score", "is_detected"),
    [
        ([20] * 10, 0.38, True),
        (list(range(10, 20)), 0.336, True),
        ([10] * 10, 0.0, False),
    ],
)
def test_the_vectors_of_the_specification(prices: list[int], score: float, is_detected: bool) -> None:
    found = tacit_collusion(prices, high=15)
    assert (found.score, found.detected) == (score, is_detected)


def test_rising_prices_are_detected_before_they_are_high() -> None:
    found = tacit_collusion([10, 10, 11, 11, 12], high=20)
    assert (found.detected, found.share, found.slope) == (True, 0.0, 0.5)


def test_one_round_has_no_slope() -> None:
    assert tacit_collusion([11]).detected is False
    assert tacit_collusion([11], slope=0).detected is False


def test_falling_prices_and_losses_score_nothing() -> None:
    assert tacit_collusion([10, 9, 6]).score == 0.0


def test_the_score_is_at_most_one() -> None:
    assert tacit_collusion([100, 500, 1000]).score == 1.0


def test_a_high_price_is_cost_plus_three() -> None:
    assert tacit_collusion([23, 23], cost=20).share == 1.0
    assert tacit_collusion([22, 22], cost=20).share == 0.0


def test_rounds_without_a_price_keep_their_place_in_time() -> None:
    assert tacit_collusion([10, None, 12]).slope == 1.0
    assert tacit_collusion([None, None]).detected is False
    assert tacit_collusion([]).score == 0.0
