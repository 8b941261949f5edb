"""What people write in files, as pydantic models, and one line for whatever is wrong with it.

Rule: an error is one ``ConfigError`` that names the key, says what is allowed and shows what was found. Nothing is
converted silently: a number in quotes, a boolean for a number and an unknown key are mistakes. A key that says nothing
is absent.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError
from pydantic import model_validator as _model_validator

from league_agents.kit.errors import ConfigError
from league_agents.kit.keys import WHOLE, no_such_key, not_one_of, wrong_value

W = TypeVar("W", bound="WrittenMapping")


class WrittenMapping(BaseModel):
    """One mapping."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @_model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {key: each for key, each in value.items() if each is not None and each != ""}


def _as_text(value: object) -> object:
    # Ids often look like numbers.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("not printable")
    return value


@dataclass(frozen=True, slots=True)
class Words:
    """Beside the other things in ``Annotated``: what is allowed, where types and limits do not say it."""

    allowed: str


def one_line(most: int) -> StringConstraints:
    """For a text of at most so many characters; ``PRINTABLE`` belongs to it."""
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=most)


PRINTABLE = AfterValidator(_printable)
NUMBER_AS_TEXT = BeforeValidator(_as_text)

Line = Annotated[str, one_line(200), PRINTABLE, NUMBER_AS_TEXT]
"""One line of text. A number is taken as it is written."""

LongLine = Annotated[str, one_line(4_000), PRINTABLE]
"""A path or an address."""


_UNKNOWN = ("extra_forbidden", "invalid_key")
_OF_A_KEY = (*_UNKNOWN, "missing")


def read_written(kind: type[W], value: object, path: str) -> W:
    """The value that a mapping means. ``path`` is where it stands. Raises ``ConfigError``."""
    try:
        return kind.model_validate({} if value is None else value)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False)
    # An unknown key first: it often is the one that is missing.
    first = min(found, key=lambda each: each["type"] not in _UNKNOWN)
    raise _wrong(kind, first, path) from None


def _wrong(kind: type[WrittenMapping], error: Any, path: str) -> ConfigError:
    place, declared = path, kind
    metadata: Sequence[object] = ()
    location, said = error["loc"], error["type"]
    steps = location[:-1] if said in _OF_A_KEY else location[:-2] if location[-1:] == ("[key]",) else location
    for step in steps:
        inner = _inner(declared, step)
        if inner is None:
            break
        name, declared, metadata = inner
        place = f"{place}{name}" if place or name.startswith("[") else name.removeprefix(".")
    if said == "missing":
        return ConfigError(f"{place}.{location[-1]}" if place else str(location[-1]), "is missing")
    if said in _OF_A_KEY:
        return no_such_key(place or WHOLE, location[-1], list(_fields(declared)))
    words = list(declared) if isinstance(declared, type) and issubclass(declared, StrEnum) else get_args(declared)
    if words and (get_origin(declared) is Literal or isinstance(declared, type)):
        return not_one_of(place or WHOLE, [str(each) for each in words], error["input"])
    return wrong_value(place or WHOLE, _in_words(declared, metadata), error["input"])


def _inner(declared: Any, step: object) -> tuple[str, Any, Sequence[object]] | None:
    """The name, the type and the constraints of what a step of a location leads to; ``None`` for a step that pydantic
    adds, such as the name of a type."""
    origin, arguments = get_origin(declared), get_args(declared)
    if isinstance(step, str) and step in _fields(declared):
        field = _fields(declared)[step]
        return (f".{step}", *_bare(field.annotation, field.metadata))
    if origin in (list, tuple) and isinstance(step, int):
        return (f"[{step}]", *_bare(arguments[0], ()))
    if origin is dict:
        return (f"[{step}]", *_bare(arguments[1], ()))
    return None


def _bare(annotation: Any, metadata: Sequence[object]) -> tuple[Any, Sequence[object]]:
    """A type without ``Annotated`` and without ``None``, and what limits it."""
    found = list(metadata)
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            found += more
        elif get_origin(annotation) in (Union, types.UnionType):
            annotation = next(each for each in get_args(annotation) if each is not type(None))
        else:
            return annotation, found


def _fields(declared: Any) -> Mapping[str, Any]:
    if not (isinstance(declared, type) and issubclass(declared, WrittenMapping)):
        return {}
    return {field.alias or name: field for name, field in declared.model_fields.items()}


def _in_words(declared: Any, metadata: Sequence[object]) -> str:
    for each in metadata:
        if isinstance(each, Words):
            return each.allowed
    limits = dict(_limits(metadata))
    if _fields(declared):
        return f"a mapping ({', '.join(list(_fields(declared))[:3])} …)"
    if declared is bool:
        return "true or false"
    if declared in (int, float):
        noun = "a whole number" if declared is int else "a number"
        return f"{noun} from {limits['ge']:g} to {limits['le']:g}" if {"ge", "le"} <= limits.keys() else noun
    if declared is str:
        return f"one line of 1 to {limits['max_length']:g} characters" if "max_length" in limits else "a text"
    most = f" of at most {limits['max_length']:g}" if "max_length" in limits else ""
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is dict:
        return f"a mapping{most} names" if most else "a mapping of names"
    items = "mappings" if origin in (list, tuple) and _fields(_bare(arguments[0], ())[0]) else "texts"
    return f"a list{most} {items}" if most else f"a list of {items}"


def _limits(metadata: Sequence[object]) -> Iterator[tuple[str, float]]:
    for each in metadata:
        inner = getattr(each, "metadata", None)  # of a ``FieldInfo`` within ``Annotated``
        if isinstance(inner, list):
            yield from _limits(inner)
        for name in ("ge", "le", "max_length"):
            value = getattr(each, name, None)
            if isinstance(value, int | float):
                yield name, value
