"""Immutable JSON values, so that a state and all its views may share them instead of copying.

Rule: for readers they are a dict and a list (``==``, ``isinstance``, ``json.dumps``); an attempt to change one raises a
``TypeError`` that says to copy first. Copies, deep copies and pickles included, are plain and mutable.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, NoReturn


def _refuse(*_: object, **__: object) -> NoReturn:
    raise TypeError("this value is shared and cannot be changed; change a copy of it")


class FrozenDict(dict[str, Any]):
    """A JSON object that cannot be changed."""

    __slots__ = ()

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> dict[str, Any]:
        """A plain dict with the same values."""
        return dict(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)


class FrozenList(list[Any]):
    """A JSON array that cannot be changed."""

    __slots__ = ()

    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def copy(self) -> list[Any]:
        """A plain list with the same values."""
        return list(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def frozen(value: object) -> Any:
    """An immutable version of a JSON value, at every depth. A value that is already frozen is returned as it is."""
    if isinstance(value, (FrozenDict, FrozenList)):
        return value
    if isinstance(value, Mapping):
        return FrozenDict({key: frozen(inner) for key, inner in value.items()})
    if isinstance(value, (list, tuple)):
        return FrozenList([frozen(inner) for inner in value])
    return value


def thawed(value: object) -> Any:
    """A deep copy of a JSON value as plain, mutable dicts and lists."""
    if isinstance(value, dict):
        return {key: thawed(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [thawed(inner) for inner in value]
    return value


__all__ = ["FrozenDict", "FrozenList", "frozen", "thawed"]
