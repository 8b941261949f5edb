"""What the games of a comparison say."""

from collections.abc import Sequence

import pytest

from league_agents.evaluation.comparison import (
    ROUND,
    ComparedGame,
    GameScore,
    RunningTests,
    compare,
    games_of,
    pairs_of,
    rounds,
)
from league_agents.kit.model_work import ModelWorkUse
from league_agents.league.season.sequential import Verdict


def scored(
    cluster: int,
    score: float | None,
    *,
    pair: tuple[int, int] = (0, 1),
    swapped: bool = False,
    private: tuple[float, float] | None = None,
    referee: int = 0,
) -> GameScore:
    return GameScore(game=ComparedGame(cluster, *pair, swapped), referee=referee, score=score, private_scores=private)


def mirrored(scores: Sequence[float], pair: tuple[int, int] = (0, 1)) -> list[GameScore]:
    return [
        scored(cluster, score, pair=pair, swapped=swapped)
        for cluster, score in enumerate(scores, start=1)
        for swapped in (False, True)
    ]


def test_each_two_play_each_target_once_on_each_seat() -> None:
    games = games_of(7, pairs_of(3))
    assert {(game.first, game.second) for game in games} == {(0, 1), (0, 2), (1, 2)}
    assert all(game.cluster == 7 for game in games)
    for pair in pairs_of(3):
        assert [game.is_swapped for game in games if (game.first, game.second) == pair] == [False, True]


@pytest.mark.parametrize("clusters", [1, ROUND, ROUND + 1, 4 * ROUND])
def test_rounds_hold_each_cluster_once(clusters: int) -> None:
    found = list(rounds(clusters))
    assert [cluster for each in found for cluster in each] == list(range(1, clusters + 1))
    assert all(len(each) == ROUND for each in found[:-1])


def test_the_two_games_of_a_target_are_one_observation() -> None:
    found = compare(mirrored([1.0] * 6), players=2, referees=1, margin=0.05, error=0.05, seed=1)
    (pair,) = found.pairs
    assert (pair.games, pair.wins, pair.test.clusters) == (12, 12, 6)
    assert pair.more_games == 2 * (pair.test.more or 0)


def test_a_match_without_scores_decides_nothing_and_is_counted() -> None:
    found = compare([scored(1, None), *mirrored([1.0])], players=2, referees=1, margin=0.05, error=0.05, seed=1)
    assert found.not_scored == 1
    assert found.pairs[0].games == 2
    assert found.referees[0].not_scored == 1


def test_a_pair_is_decided_by_its_own_games() -> None:
    scores = [*mirrored([1.0] * 20), *mirrored([1.0, 0.0] * 10, pair=(0, 2))]
    tests = RunningTests([(0, 1), (0, 2)], margin=0.05, error=0.05)
    for score in scores:
        tests.add(score)
    assert tests.is_decided((0, 1))
    assert not tests.is_decided((0, 2))


def test_half_of_a_mirrored_pair_is_no_evidence() -> None:
    """Seat 1 wins, and the other half of each pair was never scored: that says nothing of the players."""
    halves = [
        scored(cluster, None if swapped else 1.0, swapped=swapped)
        for cluster in range(1, 41)
        for swapped in (False, True)
    ]
    whole = [scored(41, 1.0, swapped=swapped) for swapped in (False, True)]
    found = compare([*halves, *whole], players=2, referees=1, margin=0.05, error=0.05, seed=1)
    (pair,) = found.pairs
    assert (pair.test.clusters, pair.test.verdict) == (1, Verdict.OPEN)
    assert (pair.played, pair.games, pair.wins, pair.half_scored) == (82, 2, 2, 40)
    assert [row.games for row in found.ratings.rows] == [2, 2]
    tests = RunningTests([(0, 1)], margin=0.05, error=0.05)
    for score in halves:
        tests.add(score)
    assert not tests.is_decided((0, 1))


def test_a_target_weighs_alike_however_many_pairs_still_play() -> None:
    """Two pairs are decided after four targets, and the later targets are easier: no referee is milder for that."""
    scores = [
        scored(cluster, 0.5, pair=pair, swapped=swapped, private=(points, points), referee=(cluster - 1) % 2)
        for cluster in range(1, 9)
        for pair in ([(0, 1), (0, 2), (1, 2)] if cluster <= 4 else [(0, 1)])
        for swapped in (False, True)
        for points in [50.0 if cluster <= 4 else 80.0]
    ]
    found = compare(scores, players=3, referees=2, margin=0.05, error=0.05, seed=1)
    assert [each.severity.value for each in found.referees if each.severity] == [0, 0]


def test_a_mirrored_pair_of_games_is_one_observation_of_inconsistency() -> None:
    scores = [
        scored(cluster, 0.5, swapped=swapped, private=(50.0 + 10 * swapped, 50.0))
        for cluster in (1, 2, 3)
        for swapped in (False, True)
    ]
    gap = compare(scores, players=2, referees=1, margin=0.05, error=0.05, seed=1).referees[0].inconsistency
    assert gap is not None
    assert (gap.count, gap.value) == (3, 5)


def test_all_are_rated_together() -> None:
    scores = [*mirrored([1, 1, 1, 0] * 5), *mirrored([1, 1, 1, 0] * 5, pair=(1, 2))]
    found = compare(scores, players=3, referees=1, margin=0.05, error=0.05, seed=1)
    assert [row.participant_id for row in found.ratings.rows] == ["0", "1", "2"]
    assert [pair.test.verdict for pair in found.pairs][1] is Verdict.OPEN  # these two never met


def test_a_severe_referee_and_one_that_favours_a_seat_are_seen() -> None:
    fair = [scored(cluster, 0.5, swapped=swapped, private=(60, 60)) for cluster in (1, 3) for swapped in (False, True)]
    severe = [
        scored(cluster, 0.5, swapped=swapped, private=(30, 40) if swapped else (40, 30), referee=1)
        for cluster in (2, 4)
        for swapped in (False, True)
    ]
    found = compare([*fair, *severe], players=2, referees=2, margin=0.05, error=0.05, seed=1)
    first, second = found.referees
    assert first.severity is not None
    assert second.severity is not None
    assert (first.severity.value, second.severity.value) == (-12.5, 12.5)
    assert first.inconsistency is not None
    assert second.inconsistency is not None
    assert (first.inconsistency.value, second.inconsistency.value) == (0, 10)


def test_one_referee_is_neither_severe_nor_mild() -> None:
    found = compare([scored(1, 1, private=(80, 20))], players=2, referees=1, margin=0.05, error=0.05, seed=1)
    assert found.referees[0].severity is None


def test_what_a_fallback_did_is_told_apart() -> None:
    game = scored(1, 1.0)
    score = GameScore(
        game=game.game,
        referee=0,
        score=1.0,
        models=(ModelWorkUse.REPLACED, None),
        complaints=("", "get_guess: raised"),
    )
    first, second = compare([score], players=2, referees=1, margin=0.05, error=0.05, seed=1).conduct
    assert first.models == {ModelWorkUse.REPLACED: 1}
    assert (first.with_complaints, second.with_complaints, second.complaint) == (0, 1, "get_guess: raised")
