"""Read a rule set from a file: a mapping with the keys of ``RuleSet``, read strictly.

Rule: keys, types and limits are those that ``RuleSet`` declares; only checks that no limit expresses are added, by
type.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self, get_args, get_origin, get_type_hints

import msgspec
from pydantic import AfterValidator, Field, create_model, model_validator

from league_agents.games.q21.model import MOST_POINTS
from league_agents.games.q21.rules import (
    BUILT_IN,
    PRD,
    CallbackTimeouts,
    RuleSet,
    Weights,
    WordLimit,
    declared_rules,
    rule_set_to,
)
from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import wrong_value
from league_agents.kit.violation import shown
from league_agents.kit.written import PRINTABLE, Contradiction, WrittenMapping, one_line, read_written

LONGEST_WAIT_S = 7 * 86_400


class WrittenRule(WrittenMapping):
    """Base class for the mappings of a rule file."""

    missing: ClassVar[str] = "is missing (or start from a built-in set with 'extends: prd' or 'extends: course')"


class WrittenWordLimit(WrittenRule):
    """Limits for the number of words of a text."""

    least: Annotated[int, Field(ge=0, le=1000)]
    most: Annotated[int, Field(ge=1, le=1000)] | None = None

    @model_validator(mode="after")
    def _most_is_not_below_least(self) -> Self:
        if self.most is not None and self.most < self.least:
            raise Contradiction(
                "most", f"must be {self.least} (the least) or more, or null for no limit, found {self.most}"
            )
        return self


class WrittenTier(WrittenRule):
    """The league points for a private score of at least ``least``."""

    least: Annotated[float, Field(ge=0, le=100)]
    points: Annotated[int, Field(ge=0, le=MOST_POINTS)]


class _AddsUpToOne(WrittenRule):
    @model_validator(mode="after")
    def _adds_up_to_one(self) -> Self:
        total = math.fsum(getattr(self, name) for name in type(self).model_fields)
        if abs(total - 1) > 1e-9:
            raise Contradiction("", f"the four weights must add up to 1, found {total:g}")
        return self


def _is_different(options: list[str]) -> list[str]:
    for place, option in enumerate(options):
        if option in options[:place]:
            raise Contradiction(f"[{place}]", f"must be different from the other options, found {shown(option)}")
    return options


def _is_in_order(limits: list[int]) -> list[int]:
    if limits[0] > limits[1]:
        raise Contradiction("", f"the least must not exceed the most, found {limits}")
    return limits


def _is_best_first(tiers: list[WrittenTier]) -> list[WrittenTier]:
    for place, (better, tier) in enumerate(pairwise(tiers), 1):
        for key in WrittenTier.model_fields:
            if getattr(tier, key) >= getattr(better, key):
                more, found = (f"{getattr(each, key):g}" for each in (better, tier))
                raise Contradiction(f"[{place}].{key}", f"best first: must be below {more}, found {found}")
    return tiers


def _seconds(least: float = 0.001) -> Any:
    return Annotated[float, Field(ge=least, le=LONGEST_WAIT_S)]


def _model(kind: type[msgspec.Struct], base: type[WrittenRule]) -> Any:
    hints = get_type_hints(kind, include_extras=True)
    fields: dict[str, Any] = {key: (_type(hints[key]), ...) for key in hints}
    return create_model(f"Written{kind.__name__}", __base__=base, **fields)


def _type(hint: Any, meta: msgspec.Meta | None = None) -> Any:
    """Return the type as it is written in a file."""
    if get_origin(hint) is Annotated:
        hint, meta = get_args(hint)
    if hint in _BY_TYPE:
        return _BY_TYPE[hint]
    if hint is timedelta:
        return _seconds(**(meta.extra or {})) if meta else _seconds()
    if hint is str:
        return Annotated[str, one_line(meta.max_length or 200), PRINTABLE] if meta else str
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Annotated[hint, Field(strict=False)]
    return Annotated[hint, Field(ge=meta.ge, le=meta.le)] if meta and meta.ge is not None else hint


_BY_TYPE: dict[Any, Any] = {
    WordLimit: WrittenWordLimit,
    tuple[str, str, str, str]: Annotated[
        list[Annotated[str, one_line(100), PRINTABLE]], Field(min_length=4, max_length=4), AfterValidator(_is_different)
    ],
    tuple[int, int]: Annotated[
        list[Annotated[int, Field(ge=1, le=1000)]], Field(min_length=2, max_length=2), AfterValidator(_is_in_order)
    ],
    tuple[tuple[float, int], ...]: Annotated[
        list[WrittenTier], Field(min_length=1, max_length=10), AfterValidator(_is_best_first)
    ],
}
_BY_TYPE[Weights] = _model(Weights, _AddsUpToOne)
_BY_TYPE[CallbackTimeouts] = _model(CallbackTimeouts, WrittenRule)

_DECLARED = declared_rules()
_DECISIVE = {field.name for field in msgspec.structs.fields(RuleSet) if field.required}
"""Keys required of a set that extends none."""

_FIELDS: dict[str, Any] = {key: (_type(each.type, each.meta), ...) for key, each in _DECLARED.items()}
_FIELDS = {"extends": (Literal[tuple(BUILT_IN)] | None, None), **_FIELDS}
WrittenRules: Any = create_model("WrittenRules", __base__=WrittenRule, **_FIELDS)


def rule_set_from(mapping: object, *, path: str = "rules") -> RuleSet:
    """Return the rule set that a user's mapping (parsed YAML or JSON) describes.

    The keys are those of ``rule_set_to``. With ``extends: prd`` or ``extends: course`` every other key is optional;
    without it ``name``, ``answer_key``, ``target_kind`` and the two justification limits are required. Raises
    ``ConfigError`` whose path ends in the faulty key.
    """
    if not isinstance(mapping, Mapping):
        raise wrong_value(path, "a mapping of rules", mapping)
    extended = BUILT_IN.get(str(mapping.get("extends")))
    start = rule_set_to(extended or PRD)
    if extended is None:
        start = {key: value for key, value in start.items() if _DECLARED[key].field not in _DECISIVE}
    else:
        start["name"] = "custom"
    written = read_written(WrittenRules, _laid_over(start, mapping), path)
    rules = RuleSet(
        **{each.field: _value(each.type, getattr(written, key)) for key, each in _DECLARED.items()},
    )
    if rules.name in BUILT_IN and rules != BUILT_IN[rules.name]:
        raise ConfigError(
            f"{path}.name", f"{rules.name!r} is the name of a built-in set with other rules; choose another name"
        )
    return rules


def _laid_over(start: Mapping[str, Any], given: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return ``start`` with the values of ``given``; nested mappings are merged in the same way."""
    inner = {
        key: _laid_over(start[key], value)
        for key, value in given.items()
        if isinstance(value, Mapping) and isinstance(start.get(key), Mapping)
    }
    return {**start, **given, **inner}


def _value(kind: Any, written: Any) -> Any:
    if kind is timedelta:
        return timedelta(seconds=written)
    if isinstance(written, WrittenMapping):
        hints = get_type_hints(kind)
        return kind(**{key: _value(hints[key], getattr(written, key)) for key in hints})
    if isinstance(written, list):
        return tuple((tier.least, tier.points) if isinstance(tier, WrittenTier) else tier for tier in written)
    return written
