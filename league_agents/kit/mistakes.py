"""What is said of a mistake in what people write: the place, what is allowed, what was found and what may be meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown

WHOLE = "configuration"
"""The path of a mistake in a configuration as a whole."""


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
