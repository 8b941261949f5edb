"""Errors for mistakes in files that people write: the path, the allowed values, the value found and a suggestion."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown

WHOLE = "configuration"
"""The path for a mistake that concerns the whole configuration."""


def not_one_of(path: str, allowed: Sequence[str], value: object) -> ConfigError:
    """The error for a value that is none of the allowed words; it suggests the nearest one."""
    close = difflib.get_close_matches(value[:60], allowed, n=1) if isinstance(value, str) else []
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return ConfigError(path, f"must be one of {', '.join(allowed)}, found {shown(value)}{hint}")


def no_such_key(path: str, key: object, allowed: Sequence[str]) -> ConfigError:
    """The error for an unknown key; it suggests the nearest allowed one."""
    close = difflib.get_close_matches(key[:60], allowed, n=1) if isinstance(key, str) else []
    close = close or [name for name in allowed if name == f"{key}_seconds"]
    hint = f"did you mean {close[0]!r}?" if close else f"the keys are {', '.join(allowed)}"
    return ConfigError(path, f"there is no key {shown(key)}: {hint}")


def wrong_value(path: str, allowed: str, value: object) -> ConfigError:
    """The error for a value that is not allowed."""
    quoted = " (YAML reads a bare Yes or No as true or false: quote it)" if isinstance(value, bool) else ""
    return ConfigError(path, f"must be {allowed}, found {shown(value)}{quoted}")
