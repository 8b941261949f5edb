"""The rules of Q21 as data: every point on which the sources disagree is a key.

Two sets are built in. ``PRD`` follows the product document: one fixed answer key, 35 or more words in both
justifications. ``COURSE`` follows the deployed league: four options of the player's own, its word limits and deadlines.
A set of a user's own is a mapping with the same keys, read by ``rule_set_from``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

import msgspec
from msgspec import Struct

from league_agents.games.q21.keys import Keys
from league_agents.values import evolve


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


class WordLimit(Struct, frozen=True, kw_only=True):
    """How many white-space separated words a text may have."""

    least: int
    most: int | None
    """``None``: no upper limit."""


class Weights(Struct, frozen=True, kw_only=True):
    """How much each component counts in the private score. They add up to 1."""

    opening_sentence: float = 0.5
    sentence_justification: float = 0.2
    associative_word: float = 0.2
    word_justification: float = 0.1


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


class RuleSet(Struct, frozen=True, kw_only=True):
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

    weights: Weights = msgspec.field(default_factory=Weights)
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

    callback_timeouts: CallbackTimeouts = msgspec.field(default_factory=CallbackTimeouts)
    absent_points: int = 1
    """League points of a player that was absent from the start (protocol 5.4)."""

    aborted_points: AbortedPoints = AbortedPoints.AS_REPORTED

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
)

BUILT_IN: Mapping[str, RuleSet] = {rules.name: rules for rules in (PRD, COURSE)}


def rule_set_from(mapping: object, *, path: str = "rules") -> RuleSet:
    """The rule set that a user's mapping (parsed YAML or JSON) describes.

    The keys are those of ``rule_set_to``. With ``extends: prd`` or ``extends: course`` every other key is optional;
    without it ``name``, ``answer_key``, ``target_kind`` and the two justification limits are needed. Raises
    ``ConfigError`` whose path ends in the key that is wrong.
    """
    keys = Keys(mapping, path, ("extends", *rule_set_to(PRD)))
    base = None
    if "extends" in keys:
        base = BUILT_IN[keys.word("extends", tuple(BUILT_IN), None)]
    start = base or evolve(PRD, name="")
    name = keys.text("name", "custom" if base else None, most=60)
    fixed = keys.texts("fixed_options", start.fixed_options, count=4)
    hint = keys.integers("hint_characters", start.hint_characters, least=1, most=1000)
    if hint[0] > hint[1]:
        raise keys.error("hint_characters", f"the least must not exceed the most, found {list(hint)}")
    rules = RuleSet(
        name=name,
        answer_key=keys.member("answer_key", AnswerKey, base.answer_key if base else None),
        fixed_options=(fixed[0], fixed[1], fixed[2], fixed[3]),
        questions_required=keys.integer("questions_required", start.questions_required, 1, 100),
        least_question_characters=keys.integer("least_question_characters", start.least_question_characters, 1, 200),
        target_kind=keys.member("target_kind", TargetKind, base.target_kind if base else None),
        hint_characters=hint,
        hint_most_words=keys.integer("hint_most_words", start.hint_most_words, 1, 200),
        sentence_justification=_word_limit(
            keys, "sentence_justification", base.sentence_justification if base else None
        ),
        word_justification=_word_limit(keys, "word_justification", base.word_justification if base else None),
        least_sentence_characters=keys.integer("least_sentence_characters", start.least_sentence_characters, 1, 200),
        feedback=_word_limit(keys, "feedback", start.feedback),
        feedback_penalty=keys.number("feedback_penalty", start.feedback_penalty, 0, 0.5),
        weights=_weights(keys, start.weights),
        tiers=_tiers(keys, start.tiers),
        warmup_wait=keys.seconds("warmup_wait_seconds", start.warmup_wait),
        questions_wait=keys.seconds("questions_wait_seconds", start.questions_wait),
        guess_wait=keys.seconds("guess_wait_seconds", start.guess_wait),
        grace=keys.seconds("grace_seconds", start.grace, least=0),
        repeats_warmup=keys.boolean("repeats_warmup", start.repeats_warmup),
        unusable_limit=keys.integer("unusable_limit", start.unusable_limit, 1, 100),
        callback_timeouts=_timeouts(keys, start.callback_timeouts),
        absent_points=keys.integer("absent_points", start.absent_points, 0, 3),
        aborted_points=keys.member("aborted_points", AbortedPoints, start.aborted_points),
    )
    if name in BUILT_IN and rules != BUILT_IN[name]:
        raise keys.error("name", f"{name!r} is the name of a built-in set with other rules; choose another name")
    return rules


def rule_set_to(rules: RuleSet) -> dict[str, object]:
    """The mapping of which ``rule_set_from`` makes an equal rule set. Holds nothing that JSON or YAML cannot."""
    found: dict[str, object] = {}
    for item in msgspec.structs.fields(rules):
        value = getattr(rules, item.name)
        if isinstance(value, timedelta):
            found[f"{item.name}_seconds"] = value.total_seconds()
        elif isinstance(value, CallbackTimeouts):
            found[f"{item.name}_seconds"] = {each: getattr(value, each).total_seconds() for each in _names(value)}
        elif isinstance(value, (WordLimit, Weights)):
            found[item.name] = {each: getattr(value, each) for each in _names(value)}
        elif item.name == "tiers":
            found[item.name] = [{"least": least, "points": points} for least, points in value]
        elif isinstance(value, StrEnum):
            found[item.name] = str(value)
        else:
            found[item.name] = list(value) if isinstance(value, tuple) else value
    return found


def digest(rules: RuleSet) -> str:
    """Twelve hex digits that change when any rule changes: what a record names its rules by."""
    return hashlib.sha256(repr(rule_set_to(rules)).encode()).hexdigest()[:12]


def _names(value: WordLimit | Weights | CallbackTimeouts) -> tuple[str, ...]:
    return tuple(item.name for item in msgspec.structs.fields(value))


def _word_limit(keys: Keys, key: str, default: WordLimit | None) -> WordLimit:
    if key not in keys and default is not None:
        return default
    inner = keys.section(key, ("least", "most"))
    least = inner.integer("least", default.least if default else None, 0, 1000)
    most = default.most if default else None
    if "most" in inner and inner.at("most") is None:
        most = None
    elif "most" in inner:
        most = inner.integer("most", None, 1, 1000)
    if most is not None and most < least:
        raise inner.error("most", f"must be {least} (the least) or more, or null for no limit, found {most}")
    return WordLimit(least=least, most=most)


def _weights(keys: Keys, default: Weights) -> Weights:
    if "weights" not in keys:
        return default
    inner = keys.section("weights", _names(default))
    found = Weights(**{name: inner.number(name, getattr(default, name), 0, 1) for name in _names(default)})
    total = math.fsum(getattr(found, name) for name in _names(found))
    if abs(total - 1) > 1e-9:
        raise keys.error("weights", f"the four weights must add up to 1, found {total:g}")
    return found


def _tiers(keys: Keys, default: tuple[tuple[float, int], ...]) -> tuple[tuple[float, int], ...]:
    if "tiers" not in keys:
        return default
    found: list[tuple[float, int]] = []
    for inner in keys.sections("tiers", ("least", "points"), most=10):
        tier = (inner.number("least", None, 0, 100), inner.integer("points", None, 0, 3))
        if found and tier[0] >= found[-1][0]:
            raise inner.error("least", f"best first: must be below {found[-1][0]:g}, found {tier[0]:g}")
        if found and tier[1] >= found[-1][1]:
            raise inner.error("points", f"best first: must be below {found[-1][1]}, found {tier[1]}")
        found.append(tier)
    return tuple(found)


def _timeouts(keys: Keys, default: CallbackTimeouts) -> CallbackTimeouts:
    key = "callback_timeouts_seconds"
    if key not in keys:
        return default
    inner = keys.section(key, _names(default))
    return CallbackTimeouts(**{name: inner.seconds(name, getattr(default, name)) for name in _names(default)})
