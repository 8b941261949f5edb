"""A copy of a frozen value with some fields changed.

Rule: the same as ``dataclasses.replace``, and checked as such by mypy; only faster, because a match is some hundred and
fifty of these. A class with ``__post_init__`` must use ``replace``: nothing runs here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import replace as evolve
else:
    from dataclasses import fields

    _new = object.__new__
    _set = object.__setattr__

    @cache
    def _names(kind: type) -> tuple[str, ...]:
        return tuple(field.name for field in fields(kind))

    def evolve(value, /, **changes):
        kind = type(value)
        copy = _new(kind)
        for name in _names(kind):
            _set(copy, name, changes[name] if name in changes else getattr(value, name))
        return copy


__all__ = ["evolve"]
