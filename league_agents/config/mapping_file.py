"""YAML and JSON files written by users: one mapping each, parsed strictly."""

from __future__ import annotations

from pathlib import Path

from league_agents.kit.errors import ConfigError
from league_agents.kit.yaml_text import read_yaml

LARGEST_FILE = 1_000_000
"""Bytes. A rule set has about a thousand."""


def read_mapping(path: Path) -> dict[str, object]:
    """A YAML or JSON file that holds one mapping with text keys. Raises ``ConfigError``."""
    try:
        with path.open("rb") as file:
            # Bound the read, not the reported size: a device reports none, and never ends.
            found = file.read(LARGEST_FILE + 1)
        if len(found) > LARGEST_FILE:
            raise ConfigError(str(path), f"is larger than {LARGEST_FILE} bytes; is it the right file?")
        text = found.decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "is not UTF-8 text; save it as UTF-8") from None
    return read_yaml(text, str(path))
