"""A broken rule, as a value.

Checks return lists of these, all of them, never only the first: a person mends everything in one go.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, cast

from msgspec import Struct

from league_agents.kit.errors import ConfigError

COPY_CHANGES = "changed_by_the_copy"
"""The key of a callback's reply under which the copy of it (``user_code.plain``) says what it could not take over: a
list of ``[path, rule, found, done]``. Readers remark on it."""

WHOLE = "configuration"
"""The path of a fault in a configuration as a whole."""


class Violation(Struct, frozen=True, kw_only=True):
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
    """What an untrusted value looks like, shortened so that it cannot flood a report.

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


def not_one_of(path: str, allowed: Sequence[str], value: object) -> ConfigError:
    """The error for a value that is none of the allowed words, with the one that may have been meant."""
    close = difflib.get_close_matches(value[:60], allowed, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return ConfigError(path, f"must be one of {', '.join(allowed)}, found {shown(value)}{hint}")


def no_such_key(path: str, key: object, allowed: Sequence[str]) -> ConfigError:
    """The error for an unknown key, with the one that may have been meant."""
    close = difflib.get_close_matches(key[:60], allowed, n=1) if isinstance(key, str) else []
    close = close or [name for name in allowed if name == f"{key}_seconds"]
    hint = f"did you mean {close[0]!r}?" if close else f"the keys are {', '.join(allowed)}"
    return ConfigError(path, f"there is no key {shown(key)}: {hint}")


def wrong_value(path: str, allowed: str, value: object) -> ConfigError:
    """The error for a value that is not what is allowed."""
    quoted = " (YAML reads a bare Yes or No as true or false: quote it)" if isinstance(value, bool) else ""
    return ConfigError(path, f"must be {allowed}, found {shown(value)}{quoted}")
