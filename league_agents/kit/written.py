"""Files that people write, as pydantic models, and errors of one line for mistakes in them.

Rule: an error is one ``ConfigError`` that names the key, the allowed values and the value found. Nothing is converted
silently: a number in quotes, a boolean for a number and an unknown key are mistakes. A key without a value is absent.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError
from pydantic import model_validator as _model_validator
from pydantic.json_schema import GenerateJsonSchema

from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import WHOLE, no_such_key, not_one_of, wrong_value
from league_agents.kit.printable import printable

W = TypeVar("W", bound="WrittenMapping")


class WrittenMapping(BaseModel):
    """The base of the models: one mapping of a file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    missing: ClassVar[str] = "is missing"
    """The error text for a required key that is absent."""

    @_model_validator(mode="before")
    @classmethod
    def _without_empty_keys(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        return {key: each for key, each in value.items() if each is not None and each != ""}


def _as_text(value: object) -> object:
    # Unquoted ids are often read as numbers.
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _printable(value: str) -> str:
    if not value.isprintable():
        raise ValueError("not printable")
    return value


@dataclass(frozen=True, slots=True)
class Words:
    """Annotation that states the allowed values in words, if types and limits do not."""

    allowed: str


def one_line(most: int) -> StringConstraints:
    """The constraint of a text of at most ``most`` characters. Use it together with ``PRINTABLE``."""
    return StringConstraints(strip_whitespace=True, min_length=1, max_length=most)


class Contradiction(ValueError):
    """Raised by validators for a value that contradicts another one. Brings its own error text."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = printable(key, 120)
        """The key below the validated value; empty for the value itself."""

        self.message = message


PRINTABLE = AfterValidator(_printable)
NUMBER_AS_TEXT = BeforeValidator(_as_text)

Line = Annotated[str, one_line(200), PRINTABLE, NUMBER_AS_TEXT]
"""One line of text. A number is read as text."""

LongLine = Annotated[str, one_line(4_000), PRINTABLE]
"""A path or an address."""


MOST_MISTAKES = 20
"""Mistakes of one mapping that are reported together."""

_UNKNOWN = ("extra_forbidden", "invalid_key")
_OF_A_KEY = (*_UNKNOWN, "missing")


def read_written(kind: type[W], value: object, path: str) -> W:
    """Validate a mapping and return its value. ``path`` is the mapping's place in the file. Raises ``ConfigError``."""
    try:
        return kind.model_validate({} if value is None else value)
    except ValidationError as error:
        found = error.errors(include_url=False)
    # Report an unknown key first: it often is a misspelling of the missing one.
    found.sort(key=lambda each: each["type"] not in _UNKNOWN)
    wrong = [_wrong(kind, each, path) for each in found[:MOST_MISTAKES]]
    raise ConfigError(wrong[0].path, wrong[0].message, wrong[1:]) from None


def schema_of(kind: type[WrittenMapping]) -> dict[str, Any]:
    """The JSON Schema (2020-12) of a mapping."""
    schema = kind.model_json_schema(schema_generator=_PlainSchema)
    return {key: value for key, value in schema.items() if key not in ("title", "description")}


class _PlainSchema(GenerateJsonSchema):
    """A schema without titles and with ``type: [..., null]`` for optional values, as the forms need it."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # pydantic's signature
        return False

    def nullable_schema(self, schema: Any) -> dict[str, Any]:
        inner = self.generate_inner(schema["schema"])
        return {**inner, "type": [inner["type"], "null"]} if "type" in inner else super().nullable_schema(schema)


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
        place = _below(place, name)
    if said == "missing":
        return ConfigError(_below(place, f".{location[-1]}"), declared.missing)
    if said in _OF_A_KEY:
        return no_such_key(place or WHOLE, location[-1], list(_fields(declared)))
    reason = error.get("ctx", {}).get("error")
    if isinstance(reason, Contradiction):
        return ConfigError(
            _below(place, reason.key if reason.key[:1] in ("", "[") else f".{reason.key}") or WHOLE, reason.message
        )
    words = _words_of(declared)
    if words:
        return not_one_of(place or WHOLE, words, error["input"])
    return wrong_value(place or WHOLE, _in_words(declared, metadata), error["input"])


def allowed_in_words(kind: type[WrittenMapping], key: str) -> str:
    """The allowed values of a mapping's key, in words."""
    field = _fields(kind)[key]
    declared, metadata = _bare(field.annotation, field.metadata)
    words = _words_of(declared)
    return f"one of {', '.join(words)}" if words else _in_words(declared, metadata)


def _words_of(declared: Any) -> list[str]:
    """The allowed words of a closed set; empty for any other type."""
    if isinstance(declared, type) and issubclass(declared, StrEnum):
        return list(map(str, declared))
    return list(map(str, get_args(declared))) if get_origin(declared) is Literal else []


def _below(place: str, name: str) -> str:
    return f"{place}{name}" if place else name.removeprefix(".")


def _inner(declared: Any, step: object) -> tuple[str, Any, Sequence[object]] | None:
    """The name, the type and the constraints at one step of a location; ``None`` for a step that pydantic adds, such as
    the name of a type."""
    origin, arguments = get_origin(declared), get_args(declared)
    if isinstance(step, str) and step in _fields(declared):
        field = _fields(declared)[step]
        return (f".{step}", *_bare(field.annotation, field.metadata))
    if origin in (list, tuple) and isinstance(step, int):
        return (f"[{step}]", *_bare(arguments[0], ()))
    if origin is dict:
        return (f"[{printable(str(step), 80)}]", *_bare(arguments[1], ()))
    return None


def _bare(annotation: Any, metadata: Sequence[object]) -> tuple[Any, Sequence[object]]:
    """A type without ``Annotated`` and without ``None``, and its constraints."""
    found = list(metadata)
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *more = get_args(annotation)
            found += more
        elif get_origin(annotation) in (Union, types.UnionType):
            annotation = next(each for each in get_args(annotation) if each is not type(None))
        else:
            return annotation, found


def inner_of(declared: Any) -> type[WrittenMapping] | None:
    """The mapping class that a key holds, directly, in a list or by name; ``None`` if it holds none."""
    declared, _ = _bare(declared, ())
    if get_origin(declared) in (list, dict):
        return inner_of(get_args(declared)[-1])
    return declared if isinstance(declared, type) and issubclass(declared, WrittenMapping) else None


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
        if not {"ge", "le"} <= limits.keys():
            return noun
        return f"{noun} from {_figure(limits['ge'])} to {_figure(limits['le'])}"
    if declared is str:
        return f"one line of 1 to {limits['max_length']} characters" if "max_length" in limits else "a text"
    least, most = limits.get("min_length"), limits.get("max_length")
    origin, arguments = get_origin(declared), get_args(declared)
    if origin is dict:
        return f"a mapping of at most {most} names" if most else "a mapping of names"
    inner = _bare(arguments[0], ())[0] if origin in (list, tuple) else None
    items = ", ".join(_words_of(inner)) or _PLURAL.get(inner, "mappings" if _fields(inner) else "texts")
    count = f"{least} " if most and least == most else f"{least} to {most} " if least else f"at most {most} "
    return f"a list of {count if most else ''}{items}"


_PLURAL: dict[Any, str] = {int: "whole numbers", float: "numbers"}


def _figure(limit: float) -> str:
    return str(int(limit)) if limit == int(limit) else f"{limit:g}"


def _limits(metadata: Sequence[object]) -> Iterator[tuple[str, float]]:
    for each in metadata:
        inner = getattr(each, "metadata", None)  # of a ``FieldInfo`` within ``Annotated``
        if isinstance(inner, list):
            yield from _limits(inner)
        for name in ("ge", "le", "min_length", "max_length"):
            value = getattr(each, name, None)
            if isinstance(value, int | float):
                yield name, value
