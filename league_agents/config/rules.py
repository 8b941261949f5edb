"""Rule sets by name: a built-in set, or a file of the user's own."""

from __future__ import annotations

from pathlib import Path

from league_agents.config.mapping_file import read_mapping
from league_agents.games.q21.rules import BUILT_IN, RuleSet
from league_agents.kit.errors import ConfigError


def rules_named(name: str) -> RuleSet:
    """The built-in set of that name, or the set in the YAML or JSON file of that name.

    Raises ``ConfigError`` that names the file, the key and the remedy.
    """
    built_in = BUILT_IN.get(name)
    if built_in is not None:
        return built_in
    if not name.strip():
        raise ConfigError("rules", f"the name is empty; write {', '.join(BUILT_IN)} or the path of a file")
    path = Path(name)
    if not _is_file(path):
        raise ConfigError(
            name,
            f"is neither a built-in rule set ({', '.join(BUILT_IN)}) nor a file; write one of these names or a path",
        )
    from league_agents.games.q21.rule_file import rule_set_from

    return rule_set_from(read_mapping(path), path=str(path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long for any file, or a folder without access
        return False
