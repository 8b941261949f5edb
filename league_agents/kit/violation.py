"""A broken rule, as a value.

Checks return all violations, not only the first, so that a person can fix everything at once.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

COPY_CHANGES = "changed_by_the_copy"
"""The key of a callback's reply under which ``user_code.plain`` lists the values that it could not copy, as
``[path, rule, found, done]``. Readers report them."""


class Violation(Struct, frozen=True, kw_only=True):
    """One broken rule at one place."""

    path: str
    """The path from the checked object: ``questions[3].options.B``; ``""`` is the object itself."""

    rule: str
    """The broken rule in words that name its limit: ``30 to 50 words``."""

    found: str
    """The value found, shortened: ``12 words``, ``None``, ``'E'``."""

    def __str__(self) -> str:
        return f"{self.path or 'result'}: must be {self.rule}, found {self.found}"


def shown(value: object, limit: int = 80) -> str:
    """A representation of an untrusted value, shortened so that it cannot flood a report.

    Runs no code of the value's own class: a ``repr`` may raise, never end, or be megabytes long.
    """
    kind, raw = type(value), cast("Any", value)
    container = next((base for base in (list, tuple, dict, set) if issubclass(kind, base)), None)
    if issubclass(kind, str):
        text = repr(str.__getitem__(raw, slice(limit + 1)))
    elif raw is None or kind is bool or kind is float:
        text = repr(raw)
    elif kind is int:
        text = repr(raw) if abs(raw) < 10**limit else "an integer too long to show"
    elif container is not None:
        text = f"{kind.__name__} of {container.__len__(raw)}"
    else:
        text = f"an object of type {kind.__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"
