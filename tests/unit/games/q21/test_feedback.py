"""What the text about a score says of the guess and of its justification."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from league_agents.games.q21.feedback import sentence_feedback, word_feedback
from league_agents.games.q21.justification import JustificationReading
from league_agents.games.q21.rules import PRD, WordLimit

GOOD = JustificationReading(
    words=40, limit=WordLimit(least=35, most=150), cited_right=2, cited_bare=1, cited_wrong=0, evidence=1.0,
    bearing=1.0, substance=1.0, originality=1.0, variety=1.0,
)  # fmt: skip


def about_word(reading: JustificationReading, **more: object) -> str:
    scored = {"scores": (100.0, 61.5), "total": 88.25, "points": 3, "rules": PRD, **more}
    return word_feedback("salt", reading=reading, **scored)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reading", "said"),
    [
        (GOOD, "The justification has 40 words."),
        (GOOD, "It cites 2 questions with the true answer, 1 without an answer and 0 wrongly."),
        (replace(GOOD, cited_right=1), "It cites 1 question with the true answer, 1 without an answer and 0 wrongly."),
        (replace(GOOD, cited_right=0, cited_wrong=1), "It cites 0 questions with the true answer, 1 without an answer"),
        (replace(GOOD, cited_right=0, cited_bare=0), "It cites no question by its number"),
        (replace(GOOD, words=34), "below the required 35, which lowers its score by five percent"),
        (replace(GOOD, words=151), "Only the first 150 were read"),
        (replace(GOOD, words=1), "The justification has 1 word."),
        (replace(GOOD, words=0), "No justification was given, so that component is empty."),
        (replace(GOOD, bearing=0.9), "It hardly speaks about the guessed word itself."),
        (replace(GOOD, originality=0.9), "Much of it repeats the guess, the hint or the other justification."),
    ],
)
def test_what_a_justification_has_is_told(reading: JustificationReading, said: str) -> None:
    assert said in about_word(reading)


@pytest.mark.parametrize(
    ("reading", "unsaid"),
    [
        (replace(GOOD, words=35), "below the required"),
        (replace(GOOD, words=150), "were read"),
        (replace(GOOD, limit=WordLimit(least=35, most=None), words=900), "were read"),
        (GOOD, "hardly speaks"),
        (GOOD, "Much of it repeats"),
        (GOOD, "cites no question"),
        (replace(GOOD, words=0), "cites"),
    ],
)
def test_nothing_is_told_that_does_not_hold(reading: JustificationReading, unsaid: str) -> None:
    assert unsaid not in about_word(reading)


def test_scores_weights_points_and_remarks_are_told() -> None:
    told = about_word(GOOD, remarks=["It was late."])
    assert "The word scored 100.00 of 100 with weight 0.2." in told
    assert "Its justification scored 61.50 of 100 with weight 0.1." in told
    assert "With the other part the private score is 88.25: 3 league points." in told
    assert "1 league point." in about_word(GOOD, points=1)
    assert "It was late." in told


def test_what_a_guessed_sentence_shares_with_the_target_is_counted() -> None:
    def told(guess: str, score: float) -> str:
        return sentence_feedback(
            guess, "Call me Ishmael.", scores=(score, 0.0), reading=GOOD, total=10.0, points=0, rules=PRD
        )

    some = told("Call him Ishmael now.", 60.0)
    assert "2 words stand in both in the same order, 1 is missing and 2 are not wanted there." in some
    assert "The sentence scored 60.00 of 100 with weight 0.5." in some
    assert "Its justification scored 0.00 of 100 with weight 0.2." in some
    assert "stand in both" not in told("Call me Ishmael.", 100.0)
    assert "stand in both" not in told("  ", 0.0)
