"""The parts of a match in the JSON form of the callbacks and the records (protocol 4.4, 6).

Rule: each form is defined once, here. The substitute for an absent part differs between readers, so the reader chooses
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from league_agents.games.q21.model import COMPONENTS, AnswerBatch, Breakdown, Brief, Feedback, Guess, Question


class AnyQuestion(Protocol):
    """A question of any type."""

    @property
    def number(self) -> int: ...

    @property
    def text(self) -> str: ...

    @property
    def options(self) -> tuple[str, str, str, str]: ...


def brief_as_json(brief: Brief) -> dict[str, str]:
    """Return the brief with the documented keys."""
    return {
        "book_name": brief.book_name,
        "book_hint": brief.book_hint,
        "association_word": brief.association_domain,
    }


def question_as_json(question: AnyQuestion) -> dict[str, object]:
    """Return a question with the documented keys."""
    a, b, c, d = question.options
    return {
        "question_number": question.number,
        "question_text": question.text,
        "options": {"A": a, "B": b, "C": c, "D": d},
    }


def question_from_json(told: Mapping[str, Any]) -> Question:
    """Return the question from a mapping that ``question_as_json`` made or that was checked as strictly."""
    options = told["options"]
    return Question(
        number=told["question_number"],
        text=told["question_text"],
        options=(options["A"], options["B"], options["C"], options["D"]),
    )


def answers_as_json(answers: AnswerBatch) -> list[dict[str, object]]:
    """Return answers with the documented keys."""
    return [{"question_number": answer.number, "answer": str(answer.choice)} for answer in answers]


def guess_as_json(guess: Guess | None) -> dict[str, object]:
    """Return a guess with the documented keys; missing texts are empty."""
    if guess is None:
        guess = _NO_GUESS
    return {
        "opening_sentence": guess.opening_sentence,
        "sentence_justification": guess.sentence_justification,
        "associative_word": guess.associative_word,
        "word_justification": guess.word_justification,
        "confidence": guess.confidence,
    }


_NO_GUESS = Guess(
    opening_sentence="", sentence_justification="", associative_word="", word_justification="", confidence=None
)


def breakdown_as_json(breakdown: Breakdown) -> dict[str, object]:
    """Return the four components with the keys of protocol 4.4.7."""
    return {name: getattr(breakdown, name) for name in COMPONENTS}


def feedback_as_json(feedback: Feedback) -> dict[str, object]:
    """Return both feedback texts with the keys of protocol 4.4.7."""
    return {"opening_sentence": feedback.opening_sentence, "associative_word": feedback.associative_word}
