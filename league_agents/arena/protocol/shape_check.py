"""A validator for the part of JSON Schema that the envelopes use.

Rule: it reports every fault, not only the first, and its verdict is that of any JSON Schema validator. A keyword that
it does not support is a bug in the schema and raises, so every keyword of a schema is checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from league_agents.kit.errors import shortened

Schema = Mapping[str, Any]
Fault = dict[str, str]
"""``{"path", "code", "message"}``, the path a JSON Pointer."""

_ANNOTATIONS = frozenset({"$schema", "$id", "title", "description", "format", "default", "examples"})


def faults_of(value: object, schema: Schema) -> list[Fault]:
    """All faults, in no particular order."""
    found: list[Fault] = []
    _check(value, schema, "", found)
    return found


def _check(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    kinds = schema.get("type")
    if kinds is not None and not _is_of(value, kinds):
        found.append({"path": path, "code": "wrong_type", "message": f"must be {_kinds(kinds)}"})
        return
    for keyword in schema:
        if keyword != "type" and keyword not in _ANNOTATIONS:
            _KEYWORDS[keyword](value, schema, path, found)


def _is_of(value: object, kinds: str | list[str]) -> bool:
    if not isinstance(kinds, str):
        return any(_is_of(value, kind) for kind in kinds)
    if kinds == "integer":
        # In JSON Schema 3.0 is an integer. A game that needs an int checks again.
        return (isinstance(value, int) and not isinstance(value, bool)) or (
            isinstance(value, float) and value.is_integer()
        )
    if kinds == "number":
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, _CLASSES[kinds])


_CLASSES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": (list, tuple),
    "string": str,
    "boolean": bool,
    "null": type(None),
}
_WORDS = {"object": "an object", "array": "a list", "string": "a text", "integer": "an integer", "number": "a number",
          "boolean": "true or false", "null": "null"}  # fmt: skip


def _kinds(kinds: str | list[str]) -> str:
    return " or ".join(_WORDS[kind] for kind in ([kinds] if isinstance(kinds, str) else kinds))


def _required(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    names: list[str] = schema["required"]
    if isinstance(value, dict):
        found += [
            {"path": _below(path, name), "code": "missing_field", "message": "is missing"}
            for name in names
            if name not in value
        ]


def _properties(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    inner: Mapping[str, Schema] = schema["properties"]
    if isinstance(value, dict):
        for name, rule in inner.items():
            if name in value:
                _check(value[name], rule, _below(path, name), found)


def _additional(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    rule = schema["additionalProperties"]
    if not isinstance(value, dict) or rule is True:
        return
    known = schema.get("properties", {})
    for name in value:
        if name in known:
            continue
        if rule is False:
            message = f"is unknown; known here: {', '.join(known) or 'nothing'}"
            found.append({"path": _below(path, name), "code": "unknown_field", "message": message})
        else:
            _check(value[name], rule, _below(path, name), found)


def _items(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    rule: Schema = schema["items"]
    if isinstance(value, list | tuple):
        # A list that is too long is reported already; items beyond the limit are not checked.
        for place, item in enumerate(value[: schema.get("maxItems")]):
            _check(item, rule, f"{path}/{place}", found)


def _min_items(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    least: int = schema["minItems"]
    if isinstance(value, list | tuple) and len(value) < least:
        found.append({"path": path, "code": "too_short", "message": f"must have at least {least} items"})


def _max_items(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    most: int = schema["maxItems"]
    if isinstance(value, list | tuple) and len(value) > most:
        found.append({"path": path, "code": "too_long", "message": f"must have at most {most} items"})


def _min_length(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    least: int = schema["minLength"]
    if isinstance(value, str) and len(value) < least:
        found.append({"path": path, "code": "too_short", "message": f"must have at least {least} characters"})


def _max_length(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    most: int = schema["maxLength"]
    if isinstance(value, str) and len(value) > most:
        found.append({"path": path, "code": "too_long", "message": f"must have at most {most} characters"})


def _pattern(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    pattern: str = schema["pattern"]
    if isinstance(value, str) and _compiled(pattern).search(value) is None:
        # The description states the pattern in words.
        told = schema.get("description", f"a text that matches {pattern}")
        found.append({"path": path, "code": "wrong_form", "message": f"must be {told}"})


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # "$" matches only at the end of the text in JSON Schema; in Python also before a final line break.
    return re.compile(pattern[:-1] + r"\Z" if pattern.endswith("$") else pattern, re.ASCII)


def _minimum(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    least: float = schema["minimum"]
    if _is_of(value, "number") and value < least:
        found.append({"path": path, "code": "out_of_range", "message": f"must be at least {least}"})


def _maximum(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    most: float = schema["maximum"]
    if _is_of(value, "number") and value > most:
        found.append({"path": path, "code": "out_of_range", "message": f"must be at most {most}"})


def _enum(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    allowed: list[Any] = schema["enum"]
    if not any(_same(value, each) for each in allowed):
        message = f"must be one of {shortened(', '.join(map(str, allowed)))}"
        found.append({"path": path, "code": "wrong_value", "message": message})


def _const(value: Any, schema: Schema, path: str, found: list[Fault]) -> None:
    only = schema["const"]
    if not _same(value, only):
        found.append({"path": path, "code": "wrong_value", "message": f"must be {only}"})


def _same(left: object, right: object) -> bool:
    # 1 == True in Python but not in JSON.
    return left == right and isinstance(left, bool) == isinstance(right, bool)


_Keyword = Callable[[Any, Schema, str, list[Fault]], None]
_KEYWORDS: dict[str, _Keyword] = {
    "required": _required,
    "properties": _properties,
    "additionalProperties": _additional,
    "items": _items,
    "minItems": _min_items,
    "maxItems": _max_items,
    "minLength": _min_length,
    "maxLength": _max_length,
    "pattern": _pattern,
    "minimum": _minimum,
    "maximum": _maximum,
    "enum": _enum,
    "const": _const,
}


def _below(path: str, name: str) -> str:
    return f"{path}/{shortened(name, 80).replace('~', '~0').replace('/', '~1')}"
