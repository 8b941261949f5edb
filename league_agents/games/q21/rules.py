"""The rules of Q21 as data: every point on which the sources disagree is a key.

Two sets are built in. ``PRD`` follows the product document: one fixed answer key, 35 or more words in both
justifications. ``COURSE`` follows the deployed league: four options of the player's own, its word limits and deadlines.
A set of a user's own is a mapping with the same keys, read by ``rule_set_from``.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import Struct

from league_agents.games.q21.keys import RuleKeys


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


Read = Callable[[RuleKeys, str, Any], Any]
"""Reads one key of a rule file: the keys, the key's name, and its default; ``None``: the key is needed."""


def rule(comment: str, read: Read) -> msgspec.Meta:
    """What is said about a key of a rule set beside its value, and how a rule file's value is read."""
    return msgspec.Meta(description=comment, extra={"read": read})


def _whole(least: int, most: int) -> Read:
    return lambda keys, key, default: keys.integer(key, default, least, most)


def _time(least: float = 0.001) -> Read:
    return lambda keys, key, default: keys.seconds(key, default, least=least)


def _one_of(kind: type[StrEnum]) -> Read:
    return lambda keys, key, default: keys.member(key, kind, default)


def _fixed_options(keys: RuleKeys, key: str, default: tuple[str, str, str, str]) -> tuple[str, ...]:
    return tuple(keys.texts(key, default, count=4))


def _hint_characters(keys: RuleKeys, key: str, default: tuple[int, int]) -> tuple[int, int]:
    found = keys.integers(key, default, least=1, most=1000)
    if found[0] > found[1]:
        raise keys.error(key, f"the least must not exceed the most, found {list(found)}")
    return found


def _word_limit(keys: RuleKeys, key: str, default: WordLimit | None) -> WordLimit:
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


def _weights(keys: RuleKeys, key: str, default: Weights) -> Weights:
    if key not in keys:
        return default
    inner = keys.section(key, _names(default))
    found = Weights(**{name: inner.number(name, getattr(default, name), 0, 1) for name in _names(default)})
    total = math.fsum(getattr(found, name) for name in _names(found))
    if abs(total - 1) > 1e-9:
        raise keys.error(key, f"the four weights must add up to 1, found {total:g}")
    return found


def _tiers(keys: RuleKeys, key: str, default: tuple[tuple[float, int], ...]) -> tuple[tuple[float, int], ...]:
    if key not in keys:
        return default
    found: list[tuple[float, int]] = []
    for inner in keys.sections(key, ("least", "points"), most=10):
        tier = (inner.number("least", None, 0, 100), inner.integer("points", None, 0, 3))
        if found and tier[0] >= found[-1][0]:
            raise inner.error("least", f"best first: must be below {found[-1][0]:g}, found {tier[0]:g}")
        if found and tier[1] >= found[-1][1]:
            raise inner.error("points", f"best first: must be below {found[-1][1]}, found {tier[1]}")
        found.append(tier)
    return tuple(found)


def _timeouts(keys: RuleKeys, key: str, default: CallbackTimeouts) -> CallbackTimeouts:
    if key not in keys:
        return default
    inner = keys.section(key, _names(default))
    return CallbackTimeouts(**{name: inner.seconds(name, getattr(default, name)) for name in _names(default)})


_LEAST_AND_MOST = "in words; most: null is no upper limit"


class RuleSet(Struct, frozen=True, kw_only=True):
    """Everything about the game that somebody decided. A rule file has a key for each field."""

    name: Annotated[str, rule("what records call the set", lambda keys, key, default: keys.text(key, default, most=60))]
    answer_key: Annotated[
        AnswerKey,
        rule(
            "fixed: the letters always mean fixed_options; own: the player writes four options for each question",
            _one_of(AnswerKey),
        ),
    ]
    fixed_options: Annotated[
        tuple[str, str, str, str], rule("what A, B, C and D mean when the answer key is fixed", _fixed_options)
    ] = ("Yes", "No", "Partially", "Unknown / Not Relevant")
    questions_required: Annotated[int, rule("questions of a batch", _whole(1, 100))] = 20
    least_question_characters: Annotated[int, rule("a shorter text is no question", _whole(1, 200))] = 10
    target_kind: Annotated[TargetKind, rule("book_opening or passage_opening", _one_of(TargetKind))]
    hint_characters: Annotated[tuple[int, int], rule("least and most", _hint_characters)] = (10, 200)
    hint_most_words: Annotated[int, rule("a longer hint is refused", _whole(1, 200))] = 15
    sentence_justification: Annotated[WordLimit, rule(_LEAST_AND_MOST, _word_limit)]
    word_justification: Annotated[WordLimit, rule(_LEAST_AND_MOST, _word_limit)]
    least_sentence_characters: Annotated[int, rule("a shorter text is no opening sentence", _whole(1, 200))] = 10
    feedback: Annotated[WordLimit, rule("in words", _word_limit)] = WordLimit(least=150, most=200)
    # Protocol 6.1.
    feedback_penalty: Annotated[
        float,
        rule(
            "the part of the private score that each feedback text outside its limit costs",
            lambda keys, key, default: keys.number(key, default, 0, 0.5),
        ),
    ] = 0.05
    weights: Annotated[Weights, rule("add up to 1", _weights)] = msgspec.field(default_factory=Weights)
    # Protocol 7, table A.
    tiers: Annotated[
        tuple[tuple[float, int], ...],
        rule("league points from a private score on, best first; below the last one: 0", _tiers),
    ] = ((85.0, 3), (70.0, 2), (50.0, 1))
    warmup_wait: Annotated[timedelta, rule("for the answer to a warm-up question", _time())] = timedelta(seconds=120)
    questions_wait: Annotated[timedelta, rule("for the questions", _time())] = timedelta(seconds=300)
    guess_wait: Annotated[timedelta, rule("for the guess", _time())] = timedelta(seconds=300)
    # Protocol 5.3.4.
    grace: Annotated[timedelta, rule("added to a written deadline before a player times out", _time(0))] = timedelta(
        seconds=30
    )
    repeats_warmup: Annotated[
        bool,
        rule(
            "whether the warm-up call is sent once more after half of its wait",
            lambda keys, key, default: keys.boolean(key, default),
        ),
    ] = True
    # Protocol 5.3.2.
    unusable_limit: Annotated[int, rule("so many unusable messages of one kind abort the match", _whole(1, 100))] = 3
    callback_timeouts: Annotated[CallbackTimeouts, rule("how long each callback may run", _timeouts)] = msgspec.field(
        default_factory=CallbackTimeouts
    )
    # Protocol 5.4.
    absent_points: Annotated[int, rule("league points of a player that was absent from the start", _whole(0, 3))] = 1
    aborted_points: Annotated[
        AbortedPoints,
        rule("which points of an aborted match count: as_reported or zero", _one_of(AbortedPoints)),
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
)

BUILT_IN: Mapping[str, RuleSet] = {rules.name: rules for rules in (PRD, COURSE)}


def rule_set_from(mapping: object, *, path: str = "rules") -> RuleSet:
    """The rule set that a user's mapping (parsed YAML or JSON) describes.

    The keys are those of ``rule_set_to``. With ``extends: prd`` or ``extends: course`` every other key is optional;
    without it ``name``, ``answer_key``, ``target_kind`` and the two justification limits are needed. Raises
    ``ConfigError`` whose path ends in the key that is wrong.
    """
    keys = RuleKeys(mapping, path, ("extends", *rule_keys()))
    base = None
    if "extends" in keys:
        base = BUILT_IN[keys.word("extends", tuple(BUILT_IN), None)]
    start = base or PRD
    found = {}
    for key, (field, read) in _READERS.items():
        is_needed = base is None and field in _DECISIVE
        found[field] = read(keys, key, None if is_needed else getattr(start, field))
    if base is not None and "name" not in keys:
        found["name"] = "custom"
    rules = RuleSet(**found)
    if rules.name in BUILT_IN and rules != BUILT_IN[rules.name]:
        raise keys.error("name", f"{rules.name!r} is the name of a built-in set with other rules; choose another name")
    return rules


def rule_keys() -> dict[str, str]:
    """Every key of a rule file, and what is said about it."""
    return {key: meta.description or "" for key, (_, meta) in _declared().items()}


def _declared() -> dict[str, tuple[str, msgspec.Meta]]:
    """Key of a rule file to the field and what is declared of it."""
    found = {}
    for field, hint in get_type_hints(RuleSet, include_extras=True).items():
        kind, meta = get_args(hint)
        found[f"{field}_seconds" if kind in (timedelta, CallbackTimeouts) else field] = (field, meta)
    return found


def rule_set_to(rules: RuleSet) -> dict[str, object]:
    """The mapping of which ``rule_set_from`` makes an equal rule set. Holds nothing that JSON or YAML cannot."""
    return {key: _plain(getattr(rules, field)) for key, (field, _) in _READERS.items()}


def _plain(value: object) -> object:
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, (WordLimit, Weights, CallbackTimeouts)):
        return {each: _plain(getattr(value, each)) for each in _names(value)}
    if isinstance(value, StrEnum):
        return str(value)
    if isinstance(value, tuple) and value and isinstance(value[0], tuple):
        return [{"least": least, "points": points} for least, points in value]
    return list(value) if isinstance(value, tuple) else value


def digest(rules: RuleSet) -> str:
    """Twelve hex digits that change when any rule changes: what a record names its rules by."""
    return hashlib.sha256(repr(rule_set_to(rules)).encode()).hexdigest()[:12]


def _names(value: WordLimit | Weights | CallbackTimeouts) -> tuple[str, ...]:
    return tuple(item.name for item in msgspec.structs.fields(value))


_READERS: Mapping[str, tuple[str, Read]] = {
    key: (field, (meta.extra or {})["read"]) for key, (field, meta) in _declared().items()
}
_DECISIVE = frozenset(field.name for field in msgspec.structs.fields(RuleSet) if field.required)
"""What a set that extends none must say."""
