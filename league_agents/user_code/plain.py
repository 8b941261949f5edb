"""What user code returned, as plain values.

Rule: whatever a class of the user's does when it is looked at, it does here, on the thread and within the time of its
own callback. Behind this border only built-in types exist: a machine can compare and look up without running anybody's
code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any, cast

from league_agents.user_code.called import UnusableResult

MOST_VALUES = 20_000
"""Twenty questions with their options are a hundredth of this."""

MOST_LEVELS = 20

MOST_CHARACTERS = 4_000_000
"""Of all texts together; of one text a contract looks at a two hundredth of it."""

MOST_BITS = 1_024
"""Of an integer; larger ones take long to write down."""


def plain(value: object) -> object:
    """A copy made of ``dict``, ``list``, ``str``, ``int``, ``float``, ``bool`` and ``None``.

    An object of another type, and an integer of too many digits, becomes an empty one whose class has the same name, so
    that a report can name it. Raises ``UnusableResult`` for what holds more
    values, levels or characters than any contract needs, and whatever the value's own classes raise.
    """
    return _Copier().copy(value, MOST_LEVELS)


def named(name: str) -> object:
    """An empty object whose class has this name."""
    return type(name if name.isidentifier() and len(name) <= 100 else "object", (), {})()


class _Copier:
    def __init__(self) -> None:
        self._left = MOST_VALUES
        self._characters_left = MOST_CHARACTERS

    def copy(self, value: object, levels: int) -> object:
        self._left -= 1
        if self._left < 0:
            raise UnusableResult(f"more than {MOST_VALUES} values")
        kind = type(value)
        if value is None or kind is bool or kind is float:
            return value
        raw = cast("Any", value)
        # Subclasses: the built-in type's own method is called, not theirs.
        if issubclass(kind, str):
            self._characters_left -= str.__len__(raw)
            if self._characters_left < 0:
                raise UnusableResult(f"texts with more than {MOST_CHARACTERS} characters")
            return str.__str__(raw)
        if issubclass(kind, int):
            number = int.__index__(raw)
            return number if number.bit_length() <= MOST_BITS else named("int")
        if issubclass(kind, float):
            return float.__float__(raw)
        if levels == 0:
            raise UnusableResult(f"values nested deeper than {MOST_LEVELS} levels")
        if issubclass(kind, dict):
            return self._mapping(dict.items(raw), levels)
        if issubclass(kind, list):
            return [self.copy(item, levels - 1) for item in list.__iter__(raw)]
        if issubclass(kind, tuple):
            return [self.copy(item, levels - 1) for item in tuple.__iter__(raw)]
        if issubclass(kind, Mapping):  # its class is asked, which is not its code
            return self._mapping(islice(raw.items(), MOST_VALUES + 1), levels)
        return named(kind.__name__)

    def _mapping(self, items: Iterable[tuple[object, object]], levels: int) -> dict[str, object]:
        copied: dict[str, object] = {}
        for key, item in items:
            name = self.copy(key, levels - 1)
            if isinstance(name, (str, int)):
                copied[str(name)] = self.copy(item, levels - 1)
        return copied
