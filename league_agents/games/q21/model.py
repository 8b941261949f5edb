"""The value types of a Q21 match.

Rule 1: values only. The limits are in ``rules``; the course of a match is in ``league_agents.league``.
Rule 2: texts are stored unchanged; the code that shows or compares them normalises them.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType
from typing import Literal

from msgspec import Struct

MOST_POINTS = 3
"""Maximal number of league points of one player for one match."""

Letter = Literal["A", "B", "C", "D"]
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D")


class Choice(StrEnum):
    """An answer to one question, with its spelling on the wire (protocol 4.4.5)."""

    A = "A"
    B = "B"
    C = "C"
    D = "D"
    NOT_RELEVANT = "Not Relevant"


CHOICES: Mapping[str, Choice] = MappingProxyType({choice.value: choice for choice in Choice})
"""The five answers by their only spelling."""


class Question(Struct, frozen=True, kw_only=True):
    """One question of a batch."""

    number: int
    """From 1; unique in its batch."""

    text: str

    options: tuple[str, str, str, str]
    """The texts of A, B, C and D."""


class Answer(Struct, frozen=True, kw_only=True):
    """The referee's answer to one question."""

    number: int
    """The number of the answered question."""

    choice: Choice


@lru_cache(maxsize=1_000)
def answer_of(number: int, choice: Choice) -> Answer:
    """Return an answer. Instances are cached: each question has only five, and batches are read often."""
    return Answer(number=number, choice=choice)


QuestionBatch = tuple[Question, ...]
AnswerBatch = tuple[Answer, ...]


class Brief(Struct, frozen=True, kw_only=True):
    """What both players learn when a match starts."""

    book_name: str
    book_hint: str

    association_domain: str
    """The domain of the secret word ("colour"), on the wire ``association_word``. Never the word itself."""


NO_BRIEF = Brief(book_name="", book_hint="", association_domain="")
"""The brief of a player that has received none."""


class Target(Struct, frozen=True, kw_only=True):
    """The sentence and the word that the players must find. Secret until the score is sent."""

    book_name: str
    opening_sentence: str
    associative_word: str


class Guess(Struct, frozen=True, kw_only=True):
    """One player's guess. Missing texts are empty."""

    opening_sentence: str
    sentence_justification: str
    associative_word: str
    word_justification: str

    confidence: float | None
    """0 to 1; ``None`` if the player stated none."""


class Breakdown(Struct, frozen=True, kw_only=True):
    """The four component scores, 0 to 100 each, unweighted."""

    opening_sentence_score: float
    sentence_justification_score: float
    associative_word_score: float
    word_justification_score: float


COMPONENTS = Breakdown.__struct_fields__
"""The keys of a score's ``breakdown`` (protocol 4.4.7)."""


class Feedback(Struct, frozen=True, kw_only=True):
    """The referee's feedback on a guess, 150 to 200 words for each text."""

    opening_sentence: str
    associative_word: str


class Scorecard(Struct, frozen=True, kw_only=True):
    """The judgement of one player's guess."""

    league_points: int
    """0 to 3."""

    private_score: float
    """0 to 100."""

    breakdown: Breakdown | None
    """``None`` if the referee gave none."""

    feedback: Feedback | None
    """``None`` if the referee gave none."""

    is_judged: bool = True
    """``False`` if the referee's scoring failed: the points are then zero without a judgement. Mail does not carry this
    field, so a player always takes its score for a judged one."""


UNSCORED = Scorecard(league_points=0, private_score=0.0, breakdown=None, feedback=None, is_judged=False)
"""The scorecard of a guess that was never judged."""


class Termination(StrEnum):
    """Why a match, or one player's game in it, ended. Abort reasons of protocol 4.5.1 are spelled as on the wire."""

    COMPLETED = "completed"
    PLAYER_TIMEOUT = "player_timeout"
    FORMAT_VIOLATION = "format_violation"
    NEW_ROUND_STARTED = "new_round_started"
    END_ROUND_RECEIVED = "end_round_received"
    LEAGUE_COMPLETED = "league_completed"
    REFEREE_FAILURE = "referee_failure"
    ABSENT = "absent"
    """The player was not in the lookup table when the round started."""
    CANCELLED = "cancelled"
    """Both players were absent."""
    NO_REPORT = "no_report"
    """The referee never reported; recorded by the league manager."""
    CUT_OFF = "cut_off"
    """The match was ended early, before the player was scored, for a reason that another party caused."""
    WALKOVER = "walkover"
    """Not played, because a player's team is withdrawn from the season."""
    ANNULLED = "annulled"
    """The organiser took the match out of the standings."""
    RESET = "reset"
    """The league was reset while the game was open; no report exists."""
