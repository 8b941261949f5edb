"""The configuration of guess number (arena 2.2): every key with its default and its bounds.

Rule: the target and the initial guesses are visible to the host only; ``x-host-only`` marks them in the schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from league_agents.games.configuration import HOST_ONLY, GameConfig
from league_agents.games.game import JsonObject
from league_agents.games.people import check_names
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.printable import printable
from league_agents.kit.violation import shown
from league_agents.kit.written import Contradiction

MIN_AGENTS: Final = 1
MAX_AGENTS: Final = 64

ANY_WINS: Final = "any"

MOST_CHOICES: Final = 1_000_000
MOST_STEPS: Final = 10_000

Choice = Annotated[int, Field(ge=0, le=MOST_CHOICES - 1)]


class Config(GameConfig):
    """The configuration of one match."""

    num_choices: int = Field(10, ge=2, le=MOST_CHOICES, description="How many numbers there are: 0 to num_choices - 1.")
    max_steps: int = Field(10, ge=1, le=MOST_STEPS, description="After so many steps of four phases the game is lost.")
    win: Literal["all", "any"] = Field(
        "all", description="Who must have guessed the number: all agents, or any one of them."
    )
    target: Choice | None = Field(
        None,
        description="The number to find, below num_choices; null draws it from the seed.",
        json_schema_extra=HOST_ONLY,
    )
    initial_guesses: dict[str, Choice] = Field(
        default_factory=dict,
        max_length=MAX_AGENTS,
        description="Agent id to number: guesses that are answered in the first observation and cost no step.",
        json_schema_extra={**HOST_ONLY, "default": {}},
    )
    proposals: bool = Field(True, description="Whether every agent may make a proposal between reports and guesses.")
    reject_known_wrong: bool = Field(
        False, description="Refuse guesses that the agent's own feedback and the reports it heard show to be wrong."
    )
    share_reasoning: bool = Field(
        True, description="Whether a report's reasoning is heard with it, or stays with its sender and the host."
    )

    @model_validator(mode="after")
    def _is_below_num_choices(self) -> Self:
        numbers = {
            "target": self.target,
            **{f"initial_guesses[{key}]": n for key, n in self.initial_guesses.items()},
        }
        for key, number in numbers.items():
            if number is not None and number >= self.num_choices:
                raise Contradiction(
                    key, f"must be a whole number from 0 to {self.num_choices - 1}, found {shown(number)}"
                )
        return self


CONFIG_SCHEMA: Final[JsonObject] = Config.in_json_schema()


def read_config(config: object, agent_ids: Sequence[str]) -> Config:
    """Return the configuration with its defaults, checked for these agents. Raises ``ConfigError`` with the key
    path."""
    found = Config.read(config)
    check_names(found.names, agent_ids)
    for agent in found.initial_guesses:
        if agent not in agent_ids:
            path = f"initial_guesses[{printable(agent, 80)}]"
            raise ConfigError(path, f"there is no such agent; the agents are {shortened(', '.join(agent_ids))}")
    return found


def numbers(config: JsonObject, agent_ids: Sequence[str]) -> range:
    """Return the numbers that can be guessed in a match."""
    return range(read_config(config, agent_ids).num_choices)


def rounds(config: JsonObject) -> tuple[str, int]:
    """Return the key of the limit, and the rounds of talk until the limit: each step has one round of reports and may
    have one of proposals."""
    found = Config.read(config)
    return "max_steps", found.max_steps * (2 if found.proposals else 1)
