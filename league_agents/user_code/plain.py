"""Copy the results of user code into plain values.

Rule: code of a user's class that runs when its object is read (properties, iterators) runs here, on the thread and
within the time of its own callback. The copy holds only built-in types, so that a machine can compare and look up
values without running user code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from math import isfinite
from typing import Any, cast

from league_agents.kit.violation import COPY_CHANGES, shown
from league_agents.user_code.called import UnusableResult

MOST_VALUES = 20_000
"""Most values in one result. Twenty questions with their options are a hundredth of this."""

MOST_LEVELS = 20

MOST_CHARACTERS = 4_000_000
"""Most characters of all texts together. A contract reads at most a two hundredth of this from one text."""

MOST_BITS = 1_024
"""Most bits of an integer; larger ones are slow to convert to text."""


MOST_CHANGES = 20
"""Most changes reported for one result."""


def plain(value: object) -> object:
    """Return a copy made of ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` and ``None``.

    An object of another type, or an integer of too many digits, is replaced by an empty object whose class has the same
    name, so that a report can name it. Raises ``UnusableResult`` for more values, levels or characters than any
    contract needs, and any exception of the value's own classes.
    """
    return _Copier().copy(value, MOST_LEVELS)


def plain_reply(value: object) -> object:
    """As ``plain``, but a dict lists under ``COPY_CHANGES`` the values that were changed or dropped, if any."""
    copier = _Copier()
    copied = copier.copy(value, MOST_LEVELS)
    if isinstance(copied, dict):
        copied.pop(COPY_CHANGES, None)
        if copier.changes:
            copied[COPY_CHANGES] = copier.changes
    return copied


def named(name: str) -> object:
    """Return an empty object whose class has this name."""
    return type(name if name.isidentifier() and len(name) <= 100 else "object", (), {})()


class _Copier:
    def __init__(self) -> None:
        self.changes: list[list[str]] = []
        self._place: list[str] = []
        """The path to the value being copied: ``[".feedback", "[3]"]``."""

        self._left = MOST_VALUES
        self._characters_left = MOST_CHARACTERS

    def copy(self, value: object, levels: int) -> object:
        self._left -= 1
        if self._left < 0:
            raise UnusableResult(f"more than {MOST_VALUES} values")
        kind = type(value)
        if value is None or kind is bool:
            return value
        raw = cast("Any", value)
        # For subclasses, call the built-in type's own method.
        if issubclass(kind, str):
            self._characters_left -= str.__len__(raw)
            if self._characters_left < 0:
                raise UnusableResult(f"texts with more than {MOST_CHARACTERS} characters")
            return str.__str__(raw)
        if issubclass(kind, int):
            number = int.__index__(raw)
            return number if number.bit_length() <= MOST_BITS else self._object("int")
        if issubclass(kind, float):
            real = float.__float__(raw)
            if not isfinite(real):
                self._note("a number that JSON can spell", shown(real), _UNUSED)
            return real
        if levels == 0:
            raise UnusableResult(f"values nested deeper than {MOST_LEVELS} levels")
        if issubclass(kind, dict):
            return self._mapping(dict.items(raw), levels)
        if issubclass(kind, list):
            return self._list(list.__iter__(raw), levels)
        if issubclass(kind, tuple):
            return self._list(tuple.__iter__(raw), levels)
        if issubclass(kind, Mapping):  # checks the class without running its code
            return self._mapping(islice(raw.items(), MOST_VALUES + 1), levels)
        return self._object(kind.__name__)

    def _object(self, name: str) -> object:
        self._note("a value that JSON can spell", f"an object of type {name[:100]}", _UNUSED)
        return named(name)

    def _list(self, items: Iterable[object], levels: int) -> list[object]:
        copied: list[object] = []
        for place, item in enumerate(items):
            self._place.append(f"[{place}]")
            copied.append(self.copy(item, levels - 1))
            self._place.pop()
        return copied

    def _mapping(self, items: Iterable[tuple[object, object]], levels: int) -> dict[str, object]:
        copied: dict[str, object] = {}
        for key, item in items:
            name = self._key(key, levels - 1)
            if name is None:
                continue
            self._place.append(f".{name}" if name.isidentifier() else ".?")
            copied[name] = self.copy(item, levels - 1)
            self._place.pop()
        return copied

    def _key(self, key: object, levels: int) -> str | None:
        """Return the key as text; ``None`` for a key that JSON cannot convert to text."""
        changes = len(self.changes)
        found = self.copy(key, levels)
        del self.changes[changes:]  # changes inside a key are reported with the key
        if isinstance(found, str):
            try:
                found.encode()
                return found
            except UnicodeEncodeError:
                text = found.encode("utf-8", "replace").decode()
                self._note("a dict whose keys UTF-8 can hold, without half a surrogate pair", shown(found), _AS_TEXT)
                return text
        is_kept = isinstance(found, int)
        self._note(
            "a dict whose keys are texts", shown(key), _AS_TEXT if is_kept else "what stands under it is left out"
        )
        return str(found) if is_kept else None

    def _note(self, rule: str, found: str, done: str) -> None:
        if len(self.changes) < MOST_CHANGES:
            self.changes.append(["".join(self._place).removeprefix("."), rule, found, done])


_AS_TEXT = "it is read as a text"
_LEFT_OUT = "what stands under it is left out"
_UNUSED = "nothing reads it"
