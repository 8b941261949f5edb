"""A copy of a value with some fields changed.

Values are ``msgspec.Struct`` classes where many are created (states, messages, effects, records) and frozen dataclasses
elsewhere; ``evolve`` takes both.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import msgspec

_Struct, _replace = msgspec.Struct, msgspec.structs.replace

if TYPE_CHECKING:
    # Type checkers know this function, and check the names and types of the fields.
    from dataclasses import replace as evolve
else:

    def evolve(value, /, **changes):
        """A copy of ``value`` with these fields changed. Raises ``TypeError`` for an unknown field."""
        if isinstance(value, _Struct):
            return _replace(value, **changes)
        return dataclasses.replace(value, **changes)


__all__ = ["evolve"]
