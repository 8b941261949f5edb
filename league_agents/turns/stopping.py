"""Checks of stop conditions (arena 4.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from league_agents.turns.message import Message


def has_converged(rounds: Sequence[Sequence[Message]], tolerance: float) -> bool:
    """Whether these rounds agree, within each and with each other.

    They agree if every content is the same JSON value, or if all are numbers (or carry a ``price``) that lie within
    ``tolerance`` in every round, with means within ``tolerance`` of each other. A round without messages never agrees.
    """
    contents = [[message.content for message in messages] for messages in rounds]
    if not contents or not all(contents):
        return False
    first = contents[0][0]
    if all(is_same(first, content) for found in contents for content in found):
        return True
    means = []
    for found in contents:
        numbers = [number for content in found if (number := _number(content)) is not None]
        if len(numbers) != len(found) or max(numbers) - min(numbers) > tolerance:
            return False
        means.append(sum(numbers) / len(numbers))
    return max(means) - min(means) <= tolerance


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are equal in JSON: ``1`` and ``1.0`` are, ``1`` and ``true`` are not."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(is_same(value, other[key]) for key, value in one.items())
    if isinstance(one, (list, tuple)) and isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(is_same, one, other))
    return bool(one == other)


def _number(content: Any) -> float | None:
    value = content.get("price") if isinstance(content, Mapping) else content
    return value if type(value) in (int, float) else None
