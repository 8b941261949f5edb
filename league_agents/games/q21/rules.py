"""The rules of Q21 as data: every point on which the sources disagree is a key.

Two sets are built in. ``PRD`` follows the product document: one fixed answer key, 35 or more words in both
justifications. ``COURSE`` follows the deployed league: four options of the player's own, its word limits and deadlines.
A set of a user's own is a mapping with the same keys, read by ``rule_file.rule_set_from``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec import Struct

from league_agents.games.q21.model import MOST_POINTS


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


class Walkover(StrEnum):
    """What counts when one player was absent from the start, fell silent, or sent nothing usable until its deadline."""

    WIN = "win"
    """The other player wins, with ``walkover_points``, or with its reported points if those are more."""

    AS_REPORTED = "as_reported"


class WordLimit(Struct, frozen=True, kw_only=True):
    """How many white-space separated words a text may have."""

    least: Annotated[int, msgspec.Meta(ge=0, le=1000)]
    most: Annotated[int, msgspec.Meta(ge=1, le=1000)] | None
    """``None``: no upper limit."""


Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


class Weights(Struct, frozen=True, kw_only=True):
    """How much each component counts in the private score. They add up to 1."""

    opening_sentence: Share = 0.5
    sentence_justification: Share = 0.2
    associative_word: Share = 0.2
    word_justification: Share = 0.1


class CallbackTimeouts(Struct, frozen=True, kw_only=True):
    """How long each callback may run. The keys are the callbacks' names."""

    get_warmup_question: timedelta = timedelta(seconds=30)
    get_round_start_info: timedelta = timedelta(seconds=60)
    get_answers: timedelta = timedelta(seconds=120)
    get_score_feedback: timedelta = timedelta(seconds=180)
    get_warmup_answer: timedelta = timedelta(seconds=20)
    get_questions: timedelta = timedelta(seconds=25)
    get_guess: timedelta = timedelta(seconds=25)
    on_score_received: timedelta = timedelta(seconds=10)


def rule(comment: str, **limits: Any) -> msgspec.Meta:
    """What is said about a key of a rule set beside its value, and its limits: those of ``msgspec.Meta``."""
    return msgspec.Meta(description=comment, **limits)


_LEAST_AND_MOST = "in words; most: null is no upper limit"


class RuleSet(Struct, frozen=True, kw_only=True):
    """Everything about the game that somebody decided. A rule file has a key for each field."""

    name: Annotated[str, rule("what records call the set", max_length=60)]
    answer_key: Annotated[
        AnswerKey,
        rule("fixed: the letters always mean fixed_options; own: the player writes four options for each question"),
    ]
    fixed_options: Annotated[
        tuple[str, str, str, str], rule("what A, B, C and D mean when the answer key is fixed")
    ] = ("Yes", "No", "Partially", "Unknown / Not Relevant")
    questions_required: Annotated[int, rule("questions of a batch", ge=1, le=100)] = 20
    least_question_characters: Annotated[int, rule("a shorter text is no question", ge=1, le=200)] = 10
    target_kind: Annotated[TargetKind, rule("book_opening or passage_opening")]
    hint_characters: Annotated[tuple[int, int], rule("least and most")] = (10, 200)
    hint_most_words: Annotated[int, rule("a longer hint is refused", ge=1, le=200)] = 15
    sentence_justification: Annotated[WordLimit, rule(_LEAST_AND_MOST)]
    word_justification: Annotated[WordLimit, rule(_LEAST_AND_MOST)]
    least_sentence_characters: Annotated[int, rule("a shorter text is no opening sentence", ge=1, le=200)] = 10
    feedback: Annotated[WordLimit, rule("in words")] = WordLimit(least=150, most=200)
    # Protocol 6.1.
    feedback_penalty: Annotated[
        float,
        rule(
            "the part of the private score that each feedback text outside its limit costs",
            ge=0,
            le=0.5,
        ),
    ] = 0.05
    weights: Annotated[Weights, rule("add up to 1")] = msgspec.field(default_factory=Weights)
    # Protocol 7, table A.
    tiers: Annotated[
        tuple[tuple[float, int], ...],
        rule("league points from a private score on, best first; below the last one: 0"),
    ] = ((85.0, 3), (70.0, 2), (50.0, 1))
    warmup_wait: Annotated[timedelta, rule("for the answer to a warm-up question")] = timedelta(seconds=120)
    questions_wait: Annotated[timedelta, rule("for the questions")] = timedelta(seconds=300)
    guess_wait: Annotated[timedelta, rule("for the guess")] = timedelta(seconds=300)
    # Protocol 5.3.4.
    grace: Annotated[timedelta, rule("added to a written deadline before a player times out", extra={"least": 0})] = (
        timedelta(seconds=30)
    )
    repeats_warmup: Annotated[
        bool,
        rule(
            "whether the warm-up call is sent once more after half of its wait",
        ),
    ] = True
    # Protocol 5.3.2.
    unusable_limit: Annotated[int, rule("so many unusable messages of one kind abort the match", ge=1, le=100)] = 3
    callback_timeouts: Annotated[CallbackTimeouts, rule("how long each callback may run")] = msgspec.field(
        default_factory=CallbackTimeouts
    )
    # Protocol 5.4.
    absent_points: Annotated[
        int, rule("league points of a player that was absent from the start", ge=0, le=MOST_POINTS)
    ] = 1
    # Protocol 7 counts the reported points, so that a silent player costs its opponent the win.
    walkover: Annotated[
        Walkover,
        rule(
            "win or as_reported: what the other player gets when one was absent from the start, let a deadline pass or"
            " sent nothing usable"
        ),
    ] = Walkover.WIN
    walkover_points: Annotated[
        int, rule("league points of such a win, and of one over a team withdrawn from the season", ge=0, le=MOST_POINTS)
    ] = 3
    # Protocol 5.1 gives 0, which costs two players the match that a third did not judge.
    no_report_points: Annotated[
        int,
        rule("league points of each player when the referee never reported", ge=0, le=MOST_POINTS),
    ] = 3
    aborted_points: Annotated[
        AbortedPoints,
        rule("which points of an aborted match count: as_reported or zero"),
    ] = AbortedPoints.AS_REPORTED

    def __hash__(self) -> int:
        # Rule sets are keys of many tables, and equal ones have equal names: no need to hash thirty fields each time.
        return hash(self.name)

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
    walkover=Walkover.AS_REPORTED,
    no_report_points=0,
)

BUILT_IN: Mapping[str, RuleSet] = {rules.name: rules for rules in (PRD, COURSE)}


class DeclaredRule(NamedTuple):
    """A key of a rule file."""

    field: str
    type: Any
    """Without the ``Meta``."""

    meta: msgspec.Meta


def declared_rules() -> dict[str, DeclaredRule]:
    """Every key of a rule file."""
    found = {}
    for field, hint in get_type_hints(RuleSet, include_extras=True).items():
        kind, meta = get_args(hint)
        key = f"{field}_seconds" if kind in (timedelta, CallbackTimeouts) else field
        found[key] = DeclaredRule(field, kind, meta)
    return found


_DECLARED = declared_rules()


def rule_keys() -> dict[str, str]:
    """Every key of a rule file, and what is said about it."""
    return {key: each.meta.description or "" for key, each in _DECLARED.items()}


def rule_set_to(rules: RuleSet) -> dict[str, object]:
    """The mapping of which ``rule_set_from`` makes an equal rule set. Holds nothing that JSON or YAML cannot."""
    return {key: _plain(getattr(rules, each.field)) for key, each in _DECLARED.items()}


def _plain(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (WordLimit, Weights, CallbackTimeouts)):
        return {each.name: _plain(getattr(value, each.name)) for each in msgspec.structs.fields(value)}
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return [{"least": least, "points": points} for least, points in value]
    return list(value) if isinstance(value, tuple) else value


def digest(rules: RuleSet) -> str:
    """Twelve hex digits that change when any rule changes: what a record names its rules by."""
    return hashlib.sha256(repr(rule_set_to(rules)).encode()).hexdigest()[:12]
