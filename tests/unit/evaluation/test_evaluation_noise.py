"""Answers are made wrong as often, and in the way, that is said."""

from __future__ import annotations

import pytest

from league_agents.evaluation.noise import with_noise
from league_agents.games.q21.model import Answer, AnswerBatch, Choice, Question, QuestionBatch
from league_agents.games.q21.rules import COURSE, PRD, RuleSet
from league_agents.kit.draw import Draw

FOUR = ("on land", "at sea", "in the air", "Not stated")
PLAIN = ("Yes", "No", "Partially", "Unknown")


def batch(options: tuple[str, str, str, str], count: int = 20) -> QuestionBatch:
    return tuple(
        Question(number=n, text=f"Where does chapter {n} take place?", options=options) for n in range(1, count + 1)
    )


def said(choice: Choice, count: int = 20) -> AnswerBatch:
    return tuple(Answer(number=n, choice=choice) for n in range(1, count + 1))


def noisy(choice: Choice, options: tuple[str, str, str, str], rules: RuleSet, wrong: float) -> list[Choice]:
    found = [with_noise(said(choice), batch(options), rules, wrong, Draw(1, f"noise/{match}")) for match in range(50)]
    return [answer.choice for answers in found for answer in answers]


def test_no_noise_changes_nothing() -> None:
    assert with_noise(said(Choice.B), batch(FOUR), COURSE, 0.0, Draw(1, "n")) == said(Choice.B)


@pytest.mark.parametrize("wrong", [0.05, 0.3])
def test_as_many_answers_are_wrong_as_is_said(wrong: float) -> None:
    found = noisy(Choice.A, FOUR, COURSE, wrong)
    share = sum(choice is not Choice.A for choice in found) / len(found)
    assert share == pytest.approx(wrong, abs=4 * (wrong * (1 - wrong) / 1000) ** 0.5)


def test_a_wrong_answer_is_another_that_was_offered_and_never_silence() -> None:
    assert set(noisy(Choice.A, FOUR, COURSE, 1.0)) == {Choice.B, Choice.C}


@pytest.mark.parametrize("silent", [Choice.D, Choice.NOT_RELEVANT])
@pytest.mark.parametrize(("options", "rules"), [(FOUR, COURSE), (PLAIN, COURSE), (PLAIN, PRD)])
def test_silence_is_no_error(silent: Choice, options: tuple[str, str, str, str], rules: RuleSet) -> None:
    assert set(noisy(silent, options, rules, 1.0)) == {silent}


@pytest.mark.parametrize(("options", "rules"), [(PLAIN, COURSE), (FOUR, PRD)])
def test_the_opposite_of_yes_is_mostly_no(options: tuple[str, str, str, str], rules: RuleSet) -> None:
    # Under a fixed key the player's own options mean nothing.
    found = noisy(Choice.A, options, rules, 1.0)
    assert set(found) == {Choice.B, Choice.C}
    assert found.count(Choice.B) / len(found) == pytest.approx(0.8, abs=0.05)
    assert set(noisy(Choice.C, options, rules, 1.0)) == {Choice.A, Choice.B}


def test_the_errors_of_less_noise_are_among_those_of_more_and_at_the_same_places_for_everybody() -> None:
    def places(wrong: float, choice: Choice) -> set[int]:
        answers = with_noise(said(choice), batch(FOUR), COURSE, wrong, Draw(7, "noise/m"))
        return {answer.number for answer in answers if answer.choice is not choice}

    assert places(0.1, Choice.A) <= places(0.3, Choice.A) <= places(0.6, Choice.A)
    assert places(0.3, Choice.A) == places(0.3, Choice.B)


def test_an_answer_to_a_question_that_nobody_asked_stays() -> None:
    answers = (Answer(number=99, choice=Choice.A),)
    assert with_noise(answers, batch(FOUR), COURSE, 1.0, Draw(1, "n")) == answers
