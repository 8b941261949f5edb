"""Strengths: what the model says of small leagues, and how often the intervals hold the truth."""

import itertools
import math

import numpy as np
import pytest

from league_agents.kit.errors import LocalProtocolError
from league_agents.league.season import ratings as ratings_module
from league_agents.league.season.ratings import ELO, RatedGame, Rating, Ratings, rate, score_of_elo


def game(first: str, second: str, score: float, cluster: str) -> RatedGame:
    return RatedGame(first=first, second=second, score=score, cluster=cluster)


def series(first: str, second: str, wins: int, losses: int, draws: int = 0) -> list[RatedGame]:
    scores = [1.0] * wins + [0.5] * draws + [0.0] * losses
    return [game(first, second, score, f"{first}-{second}-{number}") for number, score in enumerate(scores)]


def by_name(ratings: Ratings) -> dict[str, Rating]:
    return {row.participant_id: row for row in ratings.rows}


def test_two_are_apart_by_what_explains_their_score_under_the_prior() -> None:
    row = by_name(rate(series("a", "b", 30, 10)))["a"]
    low, high = 0.0, 3.0  # the slope of the posterior at half the difference, by bisection
    for _ in range(80):
        middle = (low + high) / 2
        slope = 30 - 40 / (1 + math.exp(-2 * middle)) - 0.25 * middle
        low, high = (middle, high) if slope > 0 else (low, middle)
    assert row.elo == pytest.approx(ELO * low, abs=1e-6)
    assert row.low < row.elo < row.high


def test_draws_count_as_half_a_win() -> None:
    drawn = by_name(rate(series("a", "b", 10, 10, 20)))["a"]
    fought = by_name(rate(series("a", "b", 20, 20)))["a"]
    assert drawn.elo == pytest.approx(fought.elo, abs=1e-9)
    assert drawn.high - drawn.low < fought.high - fought.low  # draws swing less
    assert drawn.score == 20


def test_who_won_every_game_is_not_infinitely_strong_nor_certainly_so() -> None:
    (difference,) = rate(series("a", "b", 10, 0)).differences
    assert (difference.first, difference.second) == ("a", "b")
    assert 300 < difference.elo < 1500
    assert difference.high - difference.low > 500


def test_results_that_never_vary_are_not_certain() -> None:
    games = [*series("a", "b", 10, 0), *series("a", "c", 10, 0), *series("b", "c", 0, 0, draws=10)]
    ratings = rate(games)
    assert all(row.high - row.low > 200 for row in ratings.rows)
    assert all(each.high - each.low > 200 for each in ratings.differences)


def test_one_game_says_next_to_nothing() -> None:
    (difference,) = rate(series("a", "b", 1, 0)).differences
    assert difference.elo > 0
    assert not difference.is_significant


def test_strength_goes_through_others() -> None:
    ratings = rate([*series("a", "b", 30, 10), *series("b", "c", 30, 10)])
    assert [row.participant_id for row in ratings.rows] == ["a", "b", "c"]
    first_to_last = next(each for each in ratings.differences if {each.first, each.second} == {"a", "c"})
    assert first_to_last.elo > 300
    assert first_to_last.is_significant


def test_those_who_never_met_are_rated_apart() -> None:
    ratings = rate([*series("a", "b", 3, 1), *series("b", "c", 3, 1), *series("x", "y", 1, 3)])
    assert {row.participant_id: row.group for row in ratings.rows} == {"a": 0, "b": 0, "c": 0, "x": 1, "y": 1}
    assert {(each.first, each.second) for each in ratings.differences} == {
        ("a", "b"), ("a", "c"), ("b", "c"), ("y", "x"),
    }  # fmt: skip


def test_games_of_one_cluster_are_one_observation() -> None:
    apart = [*series("a", "b", 24, 16)]
    together = [game(each.first, each.second, each.score, f"target-{number // 4}") for number, each in enumerate(apart)]
    (alone,), (paired,) = rate(apart).differences, rate(together).differences
    assert alone.elo == pytest.approx(paired.elo)
    assert paired.high - paired.low > 1.5 * (alone.high - alone.low)


def test_the_same_games_give_the_same_figures_in_any_order() -> None:
    games = [*series("a", "b", 5, 3), *series("c", "a", 4, 4), *series("b", "c", 2, 6)]
    assert rate(games) == rate(games)
    forwards, backwards = rate(games).rows, rate(games[::-1]).rows
    assert [row.participant_id for row in forwards] == [row.participant_id for row in backwards]
    for one, other in zip(forwards, backwards, strict=True):
        assert one.elo == pytest.approx(other.elo)


@pytest.mark.parametrize("wrong", [game("a", "a", 1, "x"), game("a", "b", 1.5, "x"), game("a", "b", math.nan, "x")])
def test_what_is_no_game_is_refused(wrong: RatedGame) -> None:
    with pytest.raises(ValueError, match="cannot rate"):
        rate([wrong])


@pytest.mark.parametrize(("elo", "score"), [(0, 0.5), (400, 10 / 11), (-400, 1 / 11)])
def test_elo_is_a_scale_of_odds(elo: float, score: float) -> None:
    assert score_of_elo(elo) == pytest.approx(score)


def test_nobody_played() -> None:
    assert rate([]) == Ratings(rows=(), differences=())


def simulated(names: list[str], strengths: dict[str, float], rounds: int, draw: np.random.RandomState) -> Ratings:
    games = []
    for first, second in itertools.combinations(names, 2):
        expected = 1 / (1 + math.exp(strengths[second] - strengths[first]))
        drawn = 0.4 * min(expected, 1 - expected)
        for number in range(rounds):
            chance = draw.random_sample()
            score = 0.5 if chance < drawn else float(chance < expected + drawn / 2)
            games.append(game(first, second, score, f"{first}{second}{number}"))
    return rate(games, resamples=200)


def test_most_intervals_hold_the_truth() -> None:
    draw = np.random.RandomState(7)
    names, held, trials = list("abcdef"), 0, 60
    for _ in range(trials):
        strengths = dict(zip(names, draw.normal(0, 1, len(names)), strict=True))
        mean = sum(strengths.values()) / len(names)
        for row in simulated(names, strengths, 10, draw).rows:
            held += row.low <= ELO * (strengths[row.participant_id] - mean) <= row.high
    assert 0.92 <= held / (trials * len(names)) <= 0.98


def test_strengths_that_were_not_found_are_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ratings_module, "_MOST_STEPS", 2)
    with pytest.raises(LocalProtocolError, match="2 participants"):
        rate(series("a", "b", 30, 10))
