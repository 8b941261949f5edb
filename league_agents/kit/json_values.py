"""Values of a JSON document that somebody else wrote: what is not of the expected type counts as absent.

Rule: nothing here raises, whatever a document holds: a number that is no finite one, a list in place of an object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LARGEST_NUMBER = 1e15
"""Larger numbers count as absent: no score, time or count of this program comes near."""


def mapping(value: object) -> Mapping[str, object]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def elements(value: object) -> Sequence[object]:
    """The elements of a list; none for any other value."""
    return value if isinstance(value, list | tuple) else ()


def mappings(value: object) -> list[Mapping[str, object]]:
    """The objects in a list; none for any other value."""
    return [each for each in elements(value) if isinstance(each, Mapping)]


def text(value: object) -> str | None:
    """The value if it is a text."""
    return value if isinstance(value, str) else None


def text_or_empty(value: object) -> str:
    """The value if it is a text, else an empty one."""
    return value if isinstance(value, str) else ""


def whole(value: object) -> int | None:
    """The value if it is a whole number."""
    return value if type(value) is int and abs(value) <= LARGEST_NUMBER else None


def number(value: object) -> float | None:
    """The value if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
        return None
    return float(value)
