"""When a comparison may stop."""

import numpy as np
import pytest

from league_agents.league.season.sequential import Verdict, decide


@pytest.mark.parametrize(
    ("scores", "verdict"),
    [
        ([], Verdict.OPEN),
        ([1.0] * 3, Verdict.OPEN),  # three wins happen to anybody
        ([1.0] * 12, Verdict.FIRST),
        ([0.0] * 12, Verdict.SECOND),
        ([1.0, 0.0] * 20, Verdict.OPEN),  # forty results that swing do not show that two are alike
        ([0.5] * 200, Verdict.ALIKE),
        ([0.75, 0.5] * 60, Verdict.FIRST),
        ([0.5, 0.25] * 60, Verdict.SECOND),
    ],
)
def test_what_scores_say(scores: list[float], verdict: Verdict) -> None:
    assert decide(scores).verdict is verdict


def test_the_forecast_comes_true_if_the_scores_go_on_alike() -> None:
    pattern = [1.0, 1.0, 0.5, 0.0]
    test = decide(pattern * 5)
    assert test.verdict is Verdict.OPEN
    assert test.more is not None
    assert decide((pattern * 500)[: 20 + 2 * test.more]).verdict is Verdict.FIRST


def test_nothing_more_is_promised_where_the_scores_point_nowhere() -> None:
    assert decide([1.0, 0.0] * 5).more is None


def test_a_decided_test_needs_no_more() -> None:
    assert decide([1.0] * 40).more is None


def test_the_wrong_one_is_rarely_named_however_often_one_looks() -> None:
    draw = np.random.RandomState(11)
    wrong = 0
    for _ in range(120):
        scores = list(draw.choice([0.0, 0.5, 1.0], p=[0.4, 0.2, 0.4], size=150))
        wrong += any(decide(scores[:seen]).verdict in (Verdict.FIRST, Verdict.SECOND) for seen in range(30, 151, 30))
    assert wrong <= 0.05 * 120
