"""Which rules: the name of a built-in set, or a file of the user's own."""

from __future__ import annotations

from pathlib import Path

import yaml

from league_agents.errors import ConfigError
from league_agents.games.q21.rules import BUILT_IN, RuleSet, rule_set_from

LARGEST_FILE = 1_000_000
"""Bytes. A rule set has about a thousand."""


def rules_named(name: str) -> RuleSet:
    """The built-in set of that name, or the set in the YAML or JSON file of that name.

    Raises ``ConfigError`` that names the file, the key and the remedy.
    """
    built_in = BUILT_IN.get(name)
    if built_in is not None:
        return built_in
    path = Path(name)
    if not path.is_file():
        raise ConfigError(
            name,
            f"is neither a built-in rule set ({', '.join(BUILT_IN)}) nor a file; write one of these names or a path",
        )
    return rule_set_from(read_mapping(path), path=str(path))


def read_mapping(path: Path) -> dict[str, object]:
    """A YAML or JSON file that holds one mapping with text keys. Raises ``ConfigError``."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise ConfigError(str(path), f"is larger than {LARGEST_FILE} bytes; is it the right file?")
        found = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(str(path), f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(str(path), "is not UTF-8 text; save it as UTF-8") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
        raise ConfigError(str(path), f"is not valid YAML{where}: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ConfigError(str(path), f"is not valid YAML: {reason}") from None
    if not isinstance(found, dict) or not all(isinstance(key, str) for key in found):
        raise ConfigError(str(path), "must hold keys and values, one 'key: value' a line")
    return found
