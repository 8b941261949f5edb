"""``--config KEY=VALUE``: keys of a game's configuration on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from league_agents.kit.errors import ConfigError


def configured(settings: Sequence[str]) -> dict[str, Any]:
    """The keys and their values. Raises ``ConfigError``."""
    from league_agents.kit.yaml_text import read_value

    found: dict[str, Any] = {}
    for each in settings:
        key, equals, value = each.partition("=")
        if not equals or not key:
            raise ConfigError(f"--config {each}", "must be KEY=VALUE, for example max_rounds=5")
        if key in found:
            raise ConfigError(f"--config {key}", "is given twice; keep one of the two")
        try:
            found[key] = read_value(value, "value")
        except ConfigError as error:
            why = str(error).partition(": ")[2]
            raise ConfigError(f"--config {each}", f"cannot be read: the value {why}; put a text in quotes") from None
    return found
