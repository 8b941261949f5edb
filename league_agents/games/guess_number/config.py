"""The configuration of guess number (arena 2.2): every key with its default and its bounds.

Rule: the target and the guesses that are already made are for the host alone; ``x-host-only`` marks them in the schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from league_agents.games.game import JsonObject
from league_agents.games.people import LANGUAGES, check_names, people_keys, read_names
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.frozen import FrozenDict
from league_agents.kit.keys import Keys
from league_agents.kit.violation import shown

MIN_AGENTS: Final = 1
MAX_AGENTS: Final = 64
DEFAULT_AGENTS: Final = ("agent_0", "agent_1")

ALL_WIN: Final = "all"
ANY_WINS: Final = "any"

MOST_CHOICES: Final = 1_000_000
MOST_STEPS: Final = 10_000


class Config(Struct, frozen=True, kw_only=True):
    """What one match is played by."""

    num_choices: int = 10
    """The numbers are 0 to ``num_choices - 1``."""

    max_steps: int = 10
    """Rounds of all four phases."""

    win: str = ALL_WIN
    """``all``: every agent has guessed the target at least once; ``any``: one has."""

    target: int | None = None
    """``None``: drawn from the seed."""

    initial_guesses: tuple[tuple[str, int], ...] = ()
    """Agent and number: guesses that count as made before step 0, in the order of the agents."""

    proposals: bool = True
    """Whether agents are asked for proposals."""

    reject_known_wrong: bool = False
    """Whether a guess that its agent can know to be wrong is refused."""

    share_reasoning: bool = True
    """Whether those who hear a report also hear its reasoning."""

    lang: str = "en"
    """Of the events' texts."""

    names: Mapping[str, str] = msgspec.field(default_factory=FrozenDict)
    """What agents are called in the events' texts, by id; the others by their ids."""


CONFIG_SCHEMA: Final[JsonObject] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "guess_number",
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "num_choices": {
            "type": "integer",
            "minimum": 2,
            "maximum": MOST_CHOICES,
            "default": 10,
            "description": "How many numbers there are: 0 to num_choices - 1.",
        },
        "max_steps": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_STEPS,
            "default": 10,
            "description": "After so many steps of four phases the game is lost.",
        },
        "win": {
            "enum": [ALL_WIN, ANY_WINS],
            "default": ALL_WIN,
            "description": "Who must have guessed the number: all agents, or any one of them.",
        },
        "target": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MOST_CHOICES - 1,
            "default": None,
            "x-host-only": True,
            "description": "The number to find, below num_choices; null draws it from the seed.",
        },
        "initial_guesses": {
            "type": ["object", "null"],
            "additionalProperties": {"type": "integer", "minimum": 0, "maximum": MOST_CHOICES - 1},
            "maxProperties": MAX_AGENTS,
            "default": None,
            "x-host-only": True,
            "description": "Agent id to number: guesses that are answered in the first observation and cost no step.",
        },
        "proposals": {
            "type": "boolean",
            "default": True,
            "description": "Whether every agent may make a proposal between reports and guesses.",
        },
        "reject_known_wrong": {
            "type": "boolean",
            "default": False,
            "description": "Refuse guesses that the agent's own feedback and the reports it heard show to be wrong.",
        },
        "share_reasoning": {
            "type": "boolean",
            "default": True,
            "description": "Whether a report's reasoning is heard with it, or stays with its sender and the host.",
        },
        **people_keys(),
    },
}

_KEYS: Final = tuple(CONFIG_SCHEMA["properties"])


def read_config(config: object, agent_ids: Sequence[str] | None = None) -> Config:
    """The configuration with its defaults. Raises ``ConfigError`` with the key path.

    Without ``agent_ids`` the agents of the initial guesses and of the names are not checked.
    """
    keys = Keys(config, "", _KEYS)
    names = read_names(keys.at("names") if "names" in keys else None)
    if agent_ids is not None:
        check_names(names, agent_ids)
    num_choices = keys.integer("num_choices", 10, 2, MOST_CHOICES)
    target: int | None = None
    if "target" in keys and keys.at("target") is not None:
        target = keys.integer("target", None, 0, num_choices - 1)
    return Config(
        num_choices=num_choices,
        max_steps=keys.integer("max_steps", 10, 1, MOST_STEPS),
        win=keys.word("win", (ALL_WIN, ANY_WINS), ALL_WIN),
        target=target,
        initial_guesses=_initial_guesses(keys, num_choices, agent_ids),
        proposals=keys.boolean("proposals", True),
        reject_known_wrong=keys.boolean("reject_known_wrong", False),
        share_reasoning=keys.boolean("share_reasoning", True),
        lang=keys.word("lang", LANGUAGES, "en"),
        names=names,
    )


def numbers(config: JsonObject, agent_ids: Sequence[str]) -> range:
    """What can be guessed in a match."""
    return range(read_config(config, agent_ids).num_choices)


def rounds(config: JsonObject) -> tuple[str, int]:
    """The key of the limit, and rounds of talk until then: a step has one of reports and may have one of proposals."""
    found = read_config(config)
    return "max_steps", found.max_steps * (2 if found.proposals else 1)


def config_as_json(config: Config) -> dict[str, Any]:
    """What ``read_config`` gives back as the same configuration."""
    return {
        "num_choices": config.num_choices,
        "max_steps": config.max_steps,
        "win": config.win,
        "target": config.target,
        "initial_guesses": dict(config.initial_guesses),
        "proposals": config.proposals,
        "reject_known_wrong": config.reject_known_wrong,
        "share_reasoning": config.share_reasoning,
        "lang": config.lang,
        "names": dict(config.names),
    }


def _initial_guesses(keys: Keys, num_choices: int, agent_ids: Sequence[str] | None) -> tuple[tuple[str, int], ...]:
    key = "initial_guesses"
    found = keys.at(key) if key in keys else None
    if found is None:
        return ()
    if not isinstance(found, dict) or len(found) > MAX_AGENTS:
        raise keys.wrong(key, f"a mapping of at most {MAX_AGENTS} agents to numbers", found)
    for agent, guess in found.items():
        path = f"{key}.{shortened(str(agent), 80)}"
        if agent_ids is not None and agent not in agent_ids:
            raise ConfigError(path, f"there is no such agent; the agents are {shortened(', '.join(agent_ids))}")
        if type(guess) is not int or not 0 <= guess < num_choices:
            raise ConfigError(path, f"must be a whole number from 0 to {num_choices - 1}, found {shown(guess)}")
    order = list(found) if agent_ids is None else [agent for agent in agent_ids if agent in found]
    return tuple((agent, found[agent]) for agent in order)
