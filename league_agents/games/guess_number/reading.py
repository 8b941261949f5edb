"""Read untrusted JSON: bounded in size and depth before it is parsed, converted to clean, frozen values afterwards.

Rule: no fault is ignored silently. A duplicate key, NaN, a lone surrogate or a control character is an error with its
path.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NoReturn

from league_agents.games.entry import clean_text
from league_agents.games.guess_number.findings import Findings, below
from league_agents.kit.frozen import FrozenDict, FrozenList

LONGEST: Final = 16 * 1024
"""Limit for a message's JSON text, in characters rather than bytes so that 8,000 characters of any script fit."""

DEEPEST: Final = 32
"""Limit for nested objects and lists."""

MOST_STARTS: Final = 100
"""Number of opening braces in prose that are tried as the start of a message."""

_LARGEST: Final = 1 << 1023
"""Larger integers are refused: some JSON readers cannot write them."""

_NESTING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


class Unreadable(ValueError):
    """The text has no JSON value."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class _Doubled(dict[str, Any]):
    """A JSON object with duplicate keys; the last value of each key counts."""

    doubled: tuple[str, ...]


def parse(text: str) -> object:
    """Return the JSON value of the text. Raises ``Unreadable``."""
    if len(text) > LONGEST:
        raise Unreadable("too_long", f"has {len(text)} characters, at most {LONGEST} are allowed")
    depth = deepest = 0
    for token in _NESTING.finditer(text):
        if token[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "]}":
            depth -= 1
    if deepest > DEEPEST:
        raise Unreadable("too_deep", f"has more than {DEEPEST} objects and lists inside each other")
    try:
        return json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if "\n" in text else f"column {error.colno}"
        raise Unreadable("not_json", f"is not JSON: {error.msg} ({where})") from None
    except ValueError as error:
        # NaN and Infinity, and integers of thousands of digits, which Python refuses to convert.
        why = error if isinstance(error, _NoNumber) else "it holds a number that is too long"
        raise Unreadable("not_json", f"is not JSON: {why}") from None


def find_objects(text: str) -> list[dict[str, Any]]:
    """Return the JSON objects found in prose or in code fences, in their order, none inside another.

    Braces are matched by JSON's rules: braces in strings do not count, and a brace in prose that opens no object is
    skipped.
    """
    found: list[dict[str, Any]] = []
    start = -1
    for _ in range(MOST_STARTS):
        start = text.find("{", start + 1)
        if start < 0:
            break
        end = _closing(text, start)
        if end is None:
            continue
        try:
            value = parse(text[start:end])
        except Unreadable:
            continue
        if isinstance(value, dict):
            found.append(value)
            start = end - 1
    return found


def note_doubled_keys(value: object, findings: Findings, path: str = "") -> None:
    """Add an error for every duplicate key in an object that ``parse`` returned."""
    if isinstance(value, dict):
        if isinstance(value, _Doubled):
            for key in value.doubled:
                findings.error(below(path, key), "duplicate_key", "is there twice")
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                note_doubled_keys(inner, findings, below(path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            if isinstance(inner, (dict, list)):
                note_doubled_keys(inner, findings, below(path, place))


def cleaned(message: Mapping[Any, Any], findings: Findings) -> FrozenDict | None:
    """Return the message as frozen JSON values with texts in normal form C; faults are added to ``findings``.

    ``None`` if it is too large or too deep to be examined.
    """
    cleaner = _Cleaner(findings)
    try:
        return cleaner.mapping(message, "", 1)
    except Unreadable as error:
        findings.errors.clear()
        findings.error("", error.code, error.message)
        return None


class _Cleaner:
    """Copies JSON values and counts a lower bound of the characters of their shortest JSON text."""

    __slots__ = ("_findings", "_left")

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._left = LONGEST

    def mapping(self, value: Mapping[Any, Any], path: str, depth: int) -> FrozenDict:
        self._check_depth(depth)
        self._spend(1 + 2 * len(value))
        made: dict[str, Any] = {}
        spent = 0
        for key, inner in value.items():
            name: str | None = key
            if type(key) is str and key.isascii() and key.isprintable():
                spent += 2 + len(key)
            elif isinstance(key, str):
                name = self._text(key, path)
            else:
                self._findings.error(path, "wrong_type", "has a key that is not a text")
                continue
            if name is None:
                continue
            if name in made:
                self._findings.error(below(path, name), "duplicate_key", "is there twice")
            # Fast path for the most frequent values: it builds no JSON Pointer.
            kind = type(inner)
            if kind is str and inner.isascii() and inner.isprintable():
                spent += 2 + len(inner)
                made[name] = inner
            elif kind is int and -_LARGEST < inner < _LARGEST:
                spent += len(repr(inner))
                made[name] = inner
            elif kind is bool:
                spent += 4
                made[name] = inner
            else:
                made[name] = self._value(inner, below(path, name), depth + 1)
        self._spend(spent)
        return FrozenDict(made)

    def _value(self, value: Any, path: str, depth: int) -> Any:
        """Return the clean value; ``None`` for a faulty one, for whose path an error was added."""
        if isinstance(value, str):
            return self._text(value, path)
        if value is None or value is True or value is False:
            self._spend(4)
            return value
        if isinstance(value, int):
            if -_LARGEST < value < _LARGEST:
                self._spend(len(repr(int(value))))
                return int(value)
            self._findings.error(path, "wrong_type", "must be a smaller number")
            return None
        if isinstance(value, float):
            self._spend(len(repr(float(value))))
            if math.isfinite(value):
                return float(value)
            self._findings.error(path, "wrong_type", "must be a finite number")
            return None
        if isinstance(value, Mapping):
            return self.mapping(value, path, depth)
        if isinstance(value, (list, tuple)):
            return self._array(value, path, depth)
        self._findings.error(path, "wrong_type", "must be a JSON value")
        return None

    def _array(self, value: list[Any] | tuple[Any, ...], path: str, depth: int) -> FrozenList:
        self._check_depth(depth)
        self._spend(1 + len(value))
        kinds = set(map(type, value))
        if kinds == {bool}:
            self._spend(4 * len(value))
            return FrozenList(value)
        if kinds == {int} and min(value) > -_LARGEST and max(value) < _LARGEST:
            self._spend(len(repr(value)) - 2 * len(value))
            return FrozenList(value)
        return FrozenList([self._value(inner, below(path, place), depth + 1) for place, inner in enumerate(value)])

    def _text(self, text: str, path: str) -> str | None:
        self._spend(2 + len(text))
        if text.isascii() and text.isprintable():
            return text
        found = clean_text(str.__str__(text))
        if found is None:
            self._findings.error(path, "control_character", "must not hold control characters or half characters")
        return found

    def _spend(self, characters: int) -> None:
        self._left -= characters
        if self._left < 0:
            raise Unreadable("too_long", f"is too long, at most {LONGEST} characters are allowed")

    def _check_depth(self, depth: int) -> None:
        if depth > DEEPEST:
            raise Unreadable("too_deep", f"has more than {DEEPEST} objects and lists inside each other")


class _NoNumber(ValueError):
    """NaN or an infinity."""


def _constant(name: str) -> NoReturn:
    raise _NoNumber(f"{name} is no number in JSON")


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) == len(pairs):
        return made
    seen: set[str] = set()
    doubled = _Doubled(made)
    doubled.doubled = tuple(dict.fromkeys(_repeated(pairs, seen)))
    return doubled


def _repeated(pairs: list[tuple[str, Any]], seen: set[str]) -> Iterator[str]:
    for key, _ in pairs:
        if key in seen:
            yield key
        seen.add(key)


def _closing(text: str, start: int) -> int | None:
    """Return the end of the object that opens at ``start``; ``None`` if its braces do not match."""
    depth = 0
    for token in _NESTING.finditer(text, start):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if depth == 0:
                return token.end()
    return None
