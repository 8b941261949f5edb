"""The rules of Q21 as data: every point on which the sources disagree is a key.

Two sets are built in. ``PRD`` follows the product document: one fixed answer key, 35 or more words in both justifications.
``COURSE`` follows the deployed league: four options of the player's own, its word limits and deadlines. A set of a user's own
is a mapping with the same keys, read by ``rule_set_from``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum


class AnswerKey(StrEnum):
    """What the letters A to D mean."""

    FIXED = "fixed"
    """The same four meanings for every question, ``RuleSet.fixed_options``."""

    OWN = "own"
    """The player writes four options for each question."""


class TargetKind(StrEnum):
    """Which opening sentence is the target."""

    BOOK_OPENING = "book_opening"
    PASSAGE_OPENING = "passage_opening"


class AbortedPoints(StrEnum):
    """Which points of an aborted game enter the standings."""

    AS_REPORTED = "as_reported"
    ZERO = "zero"


@dataclass(frozen=True, slots=True, kw_only=True)
class WordLimit:
    """How many white-space separated words a text may have."""

    least: int
    most: int | None
    """``None``: no upper limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """How much each component counts in the private score. They add up to 1."""

    opening_sentence: float = 0.5
    sentence_justification: float = 0.2
    associative_word: float = 0.2
    word_justification: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CallbackTimeouts:
    """How long each callback may run. The keys are the callbacks' names."""

    get_warmup_question: timedelta = timedelta(seconds=30)
    get_round_start_info: timedelta = timedelta(seconds=60)
    get_answers: timedelta = timedelta(seconds=120)
    get_score_feedback: timedelta = timedelta(seconds=180)
    get_warmup_answer: timedelta = timedelta(seconds=20)
    get_questions: timedelta = timedelta(seconds=25)
    get_guess: timedelta = timedelta(seconds=25)
    on_score_received: timedelta = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """Everything about the game that somebody decided."""

    name: str
    answer_key: AnswerKey
    fixed_options: tuple[str, str, str, str] = ("Yes", "No", "Partially", "Unknown / Not Relevant")
    """The meanings of A to D when the answer key is fixed; ignored otherwise."""

    questions_required: int = 20
    least_question_characters: int = 10
    target_kind: TargetKind
    hint_characters: tuple[int, int] = (10, 200)
    hint_most_words: int = 15
    sentence_justification: WordLimit
    word_justification: WordLimit
    least_sentence_characters: int = 10
    feedback: WordLimit = WordLimit(least=150, most=200)
    feedback_penalty: float = 0.05
    """The part of the private score that each feedback text outside its limit costs (protocol 6.1)."""

    weights: Weights = field(default_factory=Weights)
    tiers: tuple[tuple[float, int], ...] = ((85.0, 3), (70.0, 2), (50.0, 1))
    """(least private score, league points), best first; below the last one: 0 points (protocol 7, table A)."""

    warmup_wait: timedelta = timedelta(seconds=120)
    questions_wait: timedelta = timedelta(seconds=300)
    guess_wait: timedelta = timedelta(seconds=300)
    grace: timedelta = timedelta(seconds=30)
    """Added to a written deadline before a player times out (protocol 5.3.4)."""

    repeats_warmup: bool = True
    """Whether the warm-up call is sent once more after half of its wait."""

    unusable_limit: int = 3
    """How many unusable messages of one kind abort the game (protocol 5.3.2)."""

    callback_timeouts: CallbackTimeouts = field(default_factory=CallbackTimeouts)
    absent_points: int = 1
    """League points of a player that was absent from the start (protocol 5.4)."""

    aborted_points: AbortedPoints = AbortedPoints.AS_REPORTED

    def points_for(self, private_score: float) -> int:
        """The league points that a private score earns."""
        return next((points for least, points in self.tiers if private_score >= least), 0)


PRD = RuleSet(
    name="prd",
    answer_key=AnswerKey.FIXED,
    target_kind=TargetKind.BOOK_OPENING,
    sentence_justification=WordLimit(least=35, most=None),
    word_justification=WordLimit(least=35, most=None),
)

COURSE = RuleSet(
    name="course",
    answer_key=AnswerKey.OWN,
    target_kind=TargetKind.PASSAGE_OPENING,
    sentence_justification=WordLimit(least=30, most=50),
    word_justification=WordLimit(least=20, most=30),
)

BUILT_IN: Mapping[str, RuleSet] = {rules.name: rules for rules in (PRD, COURSE)}
