"""Two configuration keys of every game: the match's language and the agents' names.

Rule: names are for texts that people read. Actions, views and event data use agent ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from league_agents.games.entry import clean_text, is_agent_id
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.frozen import FrozenDict
from league_agents.kit.likeness import comparable
from league_agents.kit.printable import printable
from league_agents.kit.violation import shown

LANGUAGES: Final = ("en", "zh")
LONGEST_NAME: Final = 60
MOST_NAMES: Final = 64


def read_names(given: object) -> FrozenDict:
    """Return the names by agent id, in the given order. Raises ``ConfigError``."""
    if given is None:
        return FrozenDict()
    if not isinstance(given, Mapping) or len(given) > MOST_NAMES:
        raise ConfigError("names", f"must map at most {MOST_NAMES} agent ids to names, found {shown(given)}")
    names = {}
    for agent_id, name in given.items():
        if not is_agent_id(agent_id):
            raise ConfigError("names", f"{shown(agent_id)} is no agent id")
        cleaned = clean_text(name) if isinstance(name, str) and len(name) <= 4 * LONGEST_NAME else None
        line = printable(cleaned or "")
        if not 1 <= len(line) <= LONGEST_NAME:
            raise ConfigError(
                f"names.{agent_id}", f"must be a name of 1 to {LONGEST_NAME} characters, found {shown(name)}"
            )
        names[agent_id] = line
    return FrozenDict(names)


def check_names(given: Mapping[str, str], agent_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the name of every agent, in their order. Raises ``ConfigError`` for names without a seat and for names
    that look alike."""
    for agent_id in given:
        if agent_id not in agent_ids:
            raise ConfigError("names", f"{agent_id} has no seat; seats: {shortened(', '.join(agent_ids))}")
    names = tuple(given.get(agent_id, agent_id) for agent_id in agent_ids)
    heard: dict[str, str] = {}
    for agent_id, name in zip(agent_ids, names, strict=True):
        other = heard.setdefault(comparable(name) or name, agent_id)
        if other != agent_id and (agent_id in given or other in given):
            raise ConfigError(f"names.{agent_id}", f"reads like the name of {other}; give every agent its own name")
    return names
