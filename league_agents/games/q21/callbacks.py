"""The eight callbacks of user code (protocol 6): their descriptions, the readers of their results, the number of
attempts, and the fallbacks.

Rule 1: a result is read only here, so it is repaired alike in a league, in an evaluation, in a check and at a table.
Rule 2: a call without a usable result is repeated while its contract allows it, then replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from league_agents.games.q21.model import LETTERS, UNSCORED, Brief, QuestionBatch
from league_agents.games.q21.reading_player import read_guess, read_questions, read_warmup_answer
from league_agents.games.q21.reading_referee import (
    answers_for,
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_question,
)
from league_agents.games.q21.remarks import ReadResult, Remark, Remarks, Severity, lines, reader
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.games.q21.untrusted import is_kind
from league_agents.games.q21.words import limit_in_words
from league_agents.kit.violation import shown


class CallbackSpec(Struct, frozen=True, kw_only=True):
    """One callback as described to user code in ``ctx["service"]``."""

    name: str
    """The name of the method: ``get_answers``."""

    service_name: str
    description: str
    required_output_fields: tuple[str, ...]
    timeout: timedelta

    def service(self, *, left: timedelta | None = None) -> dict[str, object]:
        """Return the four keys of ``ctx["service"]``. ``left`` is the time to the message's deadline; ``None`` without
        one."""
        timeout = self.timeout if left is None else min(self.timeout, left)
        return {
            "name": self.service_name,
            "description": self.description,
            "required_output_fields": list(self.required_output_fields),
            "deadline_seconds": max(1, int(timeout.total_seconds())),
        }


def callback_specs(rules: RuleSet) -> Mapping[str, CallbackSpec]:
    """Return the eight callbacks under these rules, by method name, the referee's first."""
    return {
        name: CallbackSpec(
            name=name,
            service_name=contract.service_name,
            description=contract.description(rules),
            required_output_fields=contract.required,
            timeout=getattr(rules.callback_timeouts, name),
        )
        for name, contract in CONTRACTS.items()
    }


class Known(Struct, frozen=True, kw_only=True):
    """The facts that a result is checked against."""

    rules: RuleSet
    questions: QuestionBatch = ()
    """The questions to be answered."""

    brief: Brief | None = None
    """The brief of a guesser; ``None`` before it received one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The contract of one callback."""

    service_name: str
    description: Callable[[RuleSet], str]
    required: tuple[str, ...]
    """The keys that its result must have."""

    read: Callable[[object, Known], ReadResult[Any]]
    attempts: int = 1
    fallback: Callable[[Known], Any] | None = None
    """``None`` if the reader replaces unusable parts itself, and if no replacement is possible."""

    instead: str
    """The consequence of a failure in the last attempt, as a clause."""


@reader
def _read_nothing(said: Remarks, result: object) -> None:
    if result is not None and not is_kind(result, dict):
        said.warn("", "nothing: on_score_received returns None (protocol 6.2)", shown(result))


CONTRACTS: Mapping[str, Contract] = MappingProxyType(
    {
        "get_warmup_question": Contract(
            service_name="warmup_question",
            description=lambda _rules: "Ask one short question of any kind, to see that both players are there.",
            required=("warmup_question",),
            read=lambda result, known: read_warmup_question(result, known.rules),
            instead="a fixed question is asked",
        ),
        "get_round_start_info": Contract(
            service_name="round_start_info",
            description=lambda rules: (
                "Choose the secret target; tell the book's name, a hint of "
                f"{rules.hint_characters[0]} to {rules.hint_characters[1]} characters and at most "
                f"{rules.hint_most_words} words, and the domain of the word."
            ),
            required=("book_name", "book_hint", "association_word"),
            read=lambda result, known: read_round_start_info(result, known.rules),
            attempts=2,
            instead="the match is aborted",
        ),
        "get_answers": Contract(
            service_name="answers",
            description=lambda rules: (
                f"Answer each question of one player with A, B, C, D or Not Relevant. {_key_text(rules)}"
            ),
            required=("answers",),
            read=lambda result, known: read_answers(result, known.questions, known.rules),
            attempts=2,
            fallback=lambda known: answers_for(known.questions),
            instead="every answer is Not Relevant",
        ),
        "get_score_feedback": Contract(
            service_name="score_feedback",
            description=lambda rules: (
                "Score one guess: points 0 to 3, private score 0 to 100, four component scores and two "
                f"feedback texts of {limit_in_words(rules.feedback)}."
            ),
            required=("league_points", "private_score", "breakdown", "feedback"),
            read=lambda result, known: read_scorecard(result, known.rules),
            attempts=2,
            fallback=lambda _known: UNSCORED,
            instead="the guess counts zero points",
        ),
        "get_warmup_answer": Contract(
            service_name="warmup_answer",
            description=lambda _rules: "Answer the referee's warm-up question.",
            required=("answer",),
            read=lambda result, _known: read_warmup_answer(result),
            instead="the answer is 0",
        ),
        "get_questions": Contract(
            service_name="questions",
            description=lambda rules: (
                f"Ask exactly {rules.questions_required} questions with four options each. {_key_text(rules)}"
            ),
            required=("questions",),
            read=lambda result, known: read_questions(result, known.rules),
            instead="placeholder questions are asked",
        ),
        "get_guess": Contract(
            service_name="guess",
            description=lambda rules: (
                "Guess the opening sentence and the associative word; justify them in "
                f"{limit_in_words(rules.sentence_justification)} and in {limit_in_words(rules.word_justification)}."
            ),
            required=(
                "opening_sentence",
                "sentence_justification",
                "associative_word",
                "word_justification",
                "confidence",
            ),
            read=lambda result, known: read_guess(result, known.rules, known.brief),
            instead="a placeholder is guessed",
        ),
        "on_score_received": Contract(
            service_name="score_notification",
            description=lambda _rules: "The score of this game. Nothing is returned.",
            required=(),
            read=lambda result, _known: _read_nothing(result),
            instead="the game is over all the same",
        ),
    }
)
"""By method name, the referee's first (protocol 6)."""


def _key_text(rules: RuleSet) -> str:
    if rules.answer_key is AnswerKey.OWN:
        return "The letters stand for the options that the player wrote."
    return (
        "The letters stand for "
        + ", ".join(f"{a} {b}" for a, b in zip(LETTERS, rules.fixed_options, strict=True))
        + "."
    )


class Noted(Struct, frozen=True, kw_only=True):
    """Notes on one call for the author of an agent."""

    callback: str
    remarks: tuple[Remark, ...] = ()
    """Everything that was refused or changed in the result; empty if there is nothing to report."""

    failure: str = ""
    """Why the result was unusable, in one line; empty if it was used."""

    then: str = ""
    """The consequence of a failure, as a clause."""

    @property
    def repairs(self) -> list[str]:
        """The changes to a result that is used, one line for each kind of change."""
        return [] if self.failure else lines([each for each in self.remarks if each.severity is Severity.REPAIRED])


class CallEnd(Struct, frozen=True, kw_only=True):
    """The end of one call."""

    value: Any
    """The value of the callback's reader, or the fallback; ``None`` if there is neither."""

    is_called_again: bool = False
    """Whether the result was unusable and an attempt is left."""

    noted: Noted


def end_of_call(callback: str, result: object, failure: str | None, known: Known, *, attempt: int = 1) -> CallEnd:
    """Read the result of a callback. ``failure`` says why there is none; ``attempt`` counts from 1."""
    contract = CONTRACTS[callback]
    read = contract.read(None if failure is not None else result, known)
    if failure is None and not read.is_broken:
        return CallEnd(value=read.value, noted=Noted(callback=callback, remarks=tuple(read.remarks)))
    is_called_again = attempt < contract.attempts
    noted = Noted(
        callback=callback,
        remarks=() if failure is not None else tuple(read.remarks),
        failure=(read.refusal if failure is None else failure) or "no reason was given",
        then="it is called once more" if is_called_again else contract.instead,
    )
    if is_called_again:
        return CallEnd(value=None, is_called_again=True, noted=noted)
    return CallEnd(value=read.value if contract.fallback is None else contract.fallback(known), noted=noted)
