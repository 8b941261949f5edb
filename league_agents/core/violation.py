"""A broken rule, as a value.

Checks return lists of these, all of them, never only the first: a person mends everything in one go.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One broken rule at one place."""

    path: str
    """Where, from the checked object: ``questions[3].options.B``; ``""`` is the object itself."""

    rule: str
    """The broken rule in words that name its limit: ``30 to 50 words``."""

    found: str
    """What was there instead, shortened: ``12 words``, ``None``, ``'E'``."""

    def __str__(self) -> str:
        return f"{self.path or 'result'}: must be {self.rule}, found {self.found}"


def shown(value: object, limit: int = 80) -> str:
    """``repr`` of an untrusted value, shortened so that it cannot flood a report."""
    if isinstance(value, str):
        value = value[: limit + 1]
    elif isinstance(value, (list, tuple, dict, set)) and len(value) > 10:
        return f"{type(value).__name__} of {len(value)}"
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
