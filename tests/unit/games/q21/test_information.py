"""Which questions are chosen, and what noisy answers say, against sums written out by hand."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from league_agents.games.q21.information import (
    MOST_COMPARED,
    UNKNOWN,
    bits,
    closeness,
    log_likelihood,
    normalise_logs,
    select,
    shortlist,
    simulate,
    typical,
)


def posterior(
    predictions: np.ndarray, answers: Any, prior: Any, noise: float, *, options: int = 4
) -> npt.NDArray[np.float64]:
    """The probability of each candidate after the answers."""
    return normalise_logs(np.log(prior) + log_likelihood(predictions, answers, noise, options=options))


def table(candidates: int, questions: int, options: int, *, seed: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, options, size=(candidates, questions)).astype(np.int8)


def confusion(predictions: np.ndarray, prior: np.ndarray, chosen: tuple[int, ...], noise: float, options: int) -> float:
    """The sum that is to be small, pair by pair."""
    rho = float(closeness(noise, options))
    pairs = itertools.combinations(range(len(prior)), 2)
    return sum(
        prior[i] * prior[j] * rho ** sum(predictions[i, q] != predictions[j, q] for q in chosen) for i, j in pairs
    )


def test_closeness_is_the_overlap_of_two_answer_distributions() -> None:
    # yes/no with error e: 2 * sqrt(e * (1 - e))
    assert float(closeness(0.1, 2)) == pytest.approx(2 * math.sqrt(0.09))
    # four options: errors of 0.05 each on three of them
    assert float(closeness(0.15, 4)) == pytest.approx(2 * math.sqrt(0.85 * 0.05) + 2 * 0.05)


@pytest.mark.parametrize("size", [0.0, 800.0, -800.0, 1e6, -1e6])
def test_only_the_differences_of_logarithms_count(size: float) -> None:
    logs = np.log([0.5, 0.3, 0.2]) + size
    assert normalise_logs(logs) == pytest.approx([0.5, 0.3, 0.2])


def test_a_useless_answerer_makes_all_candidates_look_alike() -> None:
    assert float(closeness(0.75, 4)) == pytest.approx(1.0)
    assert float(closeness(0.99, 4)) == pytest.approx(1.0)


@pytest.mark.parametrize("options", [2, 3, 4])
def test_the_choice_comes_near_the_best_of_all_choices(options: int) -> None:
    predictions, prior = table(12, 9, options, seed=options), np.arange(1.0, 13.0) / 78
    chosen = select(predictions, prior, 3, 0.1, options=options)
    best = min(confusion(predictions, prior, c, 0.1, options) for c in itertools.combinations(range(9), 3))
    worst = max(confusion(predictions, prior, c, 0.1, options) for c in itertools.combinations(range(9), 3))
    found = confusion(predictions, prior, chosen, 0.1, options)
    assert found - best <= 0.15 * (worst - best)


def test_the_first_choice_is_the_best_single_question() -> None:
    predictions, prior = table(20, 12, 4), np.full(20, 0.05)
    singles = [confusion(predictions, prior, (q,), 0.1, 4) for q in range(12)]
    assert select(predictions, prior, 1, 0.1)[0] == int(np.argmin(singles))


def test_a_noisy_question_is_passed_over_for_a_quiet_one() -> None:
    predictions = np.array([[0, 0], [1, 1]], dtype=np.int8)
    assert select(predictions, [0.5, 0.5], 1, [0.4, 0.02], options=2) == (1,)


def test_no_question_is_chosen_twice_and_no_more_than_there_are() -> None:
    chosen = select(table(30, 5, 4), np.ones(30), 20, 0.1)
    assert sorted(chosen) == [0, 1, 2, 3, 4]


def test_candidates_of_one_group_need_not_be_told_apart() -> None:
    # Question 0 parts only the twins 0 and 1, question 1 parts both of them from 2.
    predictions = np.array([[0, 0], [1, 0], [1, 1]], dtype=np.int8)
    prior = [0.49, 0.49, 0.02]
    assert select(predictions, prior, 1, 0.1, options=2) == (0,)
    assert select(predictions, prior, 1, 0.1, options=2, groups=[7, 7, 8]) == (1,)


def test_an_unknown_prediction_parts_nobody() -> None:
    predictions = np.array([[UNKNOWN, 0], [1, 1]], dtype=np.int8)
    assert select(predictions, [0.5, 0.5], 1, 0.1, options=2) == (1,)


def share_found(predictions: npt.NDArray[np.int8], prior: npt.NDArray[np.float64], noise: float) -> float:
    """How often the likeliest candidate is the true one, in 300 simulated runs."""
    truths = typical(prior, 300)
    answers = simulate(predictions, truths, noise)
    logs = np.log(prior / prior.sum()) + log_likelihood(predictions, answers, noise)
    return float(np.mean(logs.argmax(axis=1) == truths))


def test_sampled_pairs_choose_nearly_as_well_as_all_pairs() -> None:
    rng = np.random.default_rng(5)
    columns = [rng.choice(4, size=900, p=rng.dirichlet(np.ones(4))) for _ in range(60)]
    predictions = np.stack(columns, axis=1).astype(np.int8)
    prior = np.ones(900)
    chosen = list(select(predictions, prior, 20, 0.15))
    right = share_found(predictions[:, chosen], prior, 0.15)
    assert right >= share_found(predictions[:, :20], prior, 0.15)
    assert right >= 0.95


def test_the_choice_is_refined_unless_something_else_is_said() -> None:
    cases = [(table(40, 12, 3, seed=seed), np.ones(40)) for seed in range(8)]
    usual = [select(*case, 4, 0.1) for case in cases]
    assert usual == [select(*case, 4, 0.1, refine=True) for case in cases]
    assert usual != [select(*case, 4, 0.1, refine=False) for case in cases]


def test_equal_inputs_give_equal_choices() -> None:
    predictions = table(600, 60, 4)
    assert select(predictions, np.ones(600), 8, 0.1) == select(predictions, np.ones(600), 8, 0.1)


def test_the_posterior_is_bayes_rule_written_out() -> None:
    predictions = np.array([[0, 1], [0, 2], [3, 1]], dtype=np.int8)
    prior = [0.5, 0.3, 0.2]
    right, wrong = 0.9, 0.1 / 3
    weights = [0.5 * right * right, 0.3 * right * wrong, 0.2 * wrong * right]
    found = posterior(predictions, [0, 1], prior, 0.1)
    assert found == pytest.approx(np.array(weights) / sum(weights))


def test_a_declined_question_says_nothing_where_every_candidate_knows_the_answer() -> None:
    predictions = table(10, 3, 4)
    assert posterior(predictions, [UNKNOWN] * 3, np.ones(10), 0.05) == pytest.approx(np.full(10, 0.1))


def test_a_declined_question_speaks_a_little_for_candidates_that_do_not_settle_it() -> None:
    found = posterior(np.array([[UNKNOWN], [2]], dtype=np.int8), [UNKNOWN], [0.5, 0.5], 0.05)
    assert 0.5 < found[0] < 0.8


def test_an_answer_that_was_not_offered_counts_as_none() -> None:
    predictions = np.array([[0], [1]], dtype=np.int8)
    assert posterior(predictions, [3], [0.5, 0.5], 0.05, options=2) == pytest.approx([0.5, 0.5])


def test_one_slip_of_the_answerer_excludes_nobody() -> None:
    predictions = np.array([[0], [1]], dtype=np.int8)
    assert posterior(predictions, [1], [0.5, 0.5], 0.0, options=2)[0] > 0


def test_many_answers_do_not_underflow() -> None:
    predictions = np.zeros((2, 5000), dtype=np.int8)
    predictions[1] = 1
    found = posterior(predictions, np.ones(5000, dtype=np.int8), [0.5, 0.5], 0.01, options=2)
    assert found == pytest.approx([0.0, 1.0])


def test_likelihoods_of_several_runs_are_those_of_each() -> None:
    predictions, answers = table(8, 4, 4), table(3, 4, 4, seed=9)
    together = log_likelihood(predictions, answers, 0.1)
    assert together.shape == (3, 8)
    assert together[1] == pytest.approx(log_likelihood(predictions, answers[1], 0.1))


def test_simulated_answers_are_wrong_as_often_as_asked_for() -> None:
    predictions = table(1, 4000, 4)
    answers = simulate(predictions, [0], 0.2)
    assert np.mean(answers[0] != predictions[0]) == pytest.approx(0.2, abs=0.03)


def test_a_question_has_four_options_unless_something_else_is_said() -> None:
    predictions, prior = table(20, 6, 4), np.ones(20)
    for usual, stated, other in (
        [simulate(predictions, range(20), 0.4, **named) for named in ({}, {"options": 4}, {"options": 5})],
        [posterior(predictions, [0] * 6, prior, 0.4, **named) for named in ({}, {"options": 4}, {"options": 5})],
        [log_likelihood(predictions, [0] * 6, 0.4, **named) for named in ({}, {"options": 4}, {"options": 5})],
    ):
        assert np.array_equal(usual, stated)
        assert not np.array_equal(usual, other)


def test_bits_of_a_fair_coin_and_of_certainty() -> None:
    assert bits([0.5, 0.5]) == pytest.approx(1.0)
    assert bits([1.0, 0.0]) == 0.0


def test_a_prior_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="3 numbers"):
        select(table(3, 2, 2), [1.0], 1, 0.1)


@pytest.mark.parametrize("size", [30, 3000])  # all pairs, and sampled ones
def test_questions_that_are_asked_anyway_come_first_and_are_not_repeated_in_substance(size: int) -> None:
    predictions, prior = table(size, 12, 4), np.ones(size)
    predictions[:, 7] = predictions[:, 2]
    chosen = select(predictions, prior, 6, 0.01, taken=(2,))
    assert chosen[0] == 2
    assert len(set(chosen)) == 6
    assert 7 not in chosen
    assert select(predictions, prior, 2, 0.1, taken=(5, 4, 3)) == (5, 4)
    assert select(predictions, prior, 3, 0.1, taken=(5, 4, 3)) == (5, 4, 3)


def test_probabilities_of_logarithms_beyond_what_a_float_holds() -> None:
    logs = np.array([[-2000.0, -2000.0 - math.log(3)], [-math.inf, 0.0], [-math.inf, -math.inf]])
    assert normalise_logs(logs) == pytest.approx(np.array([[0.75, 0.25], [0.0, 1.0], [0.0, 0.0]]))
    assert normalise_logs(np.zeros((2, 0))).shape == (2, 0)


def test_a_shortlist_stands_for_all_candidates() -> None:
    prior = np.array([0.5, *[0.5 / 9_999] * 9_999])
    rows, shares = shortlist(prior, 1_000)
    assert len(rows) <= 1_000
    assert shares.sum() == pytest.approx(1.0)
    assert rows[0] == 0
    assert shares[0] == pytest.approx(0.5, abs=0.01)
    assert rows[1:].mean() == pytest.approx(5_000, rel=0.02)


def test_of_very_many_candidates_the_same_questions_are_chosen_as_of_a_share() -> None:
    answers = np.random.default_rng(3).integers(0, 4, size=(MOST_COMPARED * 4, 12)).astype(np.int8)
    answers[:, 5] = 0
    answers[:, 7] = answers[:, 6]
    chosen = select(answers, np.ones(len(answers)), 10, 0.1)
    assert 5 not in chosen
    assert not {6, 7} <= set(chosen)
