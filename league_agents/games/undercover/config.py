"""The configuration of a match of undercover: every key with its default and bounds (arena 3.1).

Rule: ``Settings`` defines all keys; any other key is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final, Literal, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from league_agents.games.configuration import HOST_ONLY, LANG, GameConfig
from league_agents.games.game import JsonObject
from league_agents.games.people import check_names
from league_agents.games.undercover.words import DEFAULT_PAIRS, LONGEST_WORD, MOST_PAIRS, Pair, read_pair, read_pairs
from league_agents.kit.errors import ConfigError
from league_agents.kit.written import Contradiction

MIN_AGENTS: Final = 3
MAX_AGENTS: Final = 12
LONGEST_DESCRIPTION: Final = 2000

_WORD: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": LONGEST_WORD}
_PAIR: Final[JsonObject] = {"type": ["array", "null"], "items": _WORD, "minItems": 2, "maxItems": 2}
_PAIRS: Final[JsonObject] = {
    "type": ["array", "null"],
    "items": {**_PAIR, "type": "array"},
    "minItems": 1,
    "maxItems": MOST_PAIRS,
}


class Settings(GameConfig):
    """The configuration of one match."""

    num_undercover: int = Field(
        1, ge=1, le=5, description="How many players have the other word; fewer than half of all."
    )
    max_rounds: int = Field(
        10,
        ge=1,
        le=100,
        description="When this many rounds are over and nobody has won, the undercover side wins.",
    )
    tie: Literal["no_elimination", "random", "revote"] = Field(
        "no_elimination",
        description="What a tied vote leads to: nobody is out, one of the tied is drawn, or one more vote between the "
        "tied. Tournaments do best with revote: with no_elimination many games last until max_rounds.",
    )
    reveal: Literal["none", "role"] = Field(
        "none", description="Whether the role of whoever is eliminated is announced."
    )
    reveal_at_end: bool = Field(
        True, description="Whether all see the roles, both words and the reasons of votes after the end."
    )
    know_own_role: bool = Field(False, description="Whether players are told which side they are on.")
    announce_counts: bool = Field(True, description="Whether the number of undercover players is public.")
    speaking_order: Literal["fixed", "rotate", "random"] = Field(
        "fixed", description="By seat, by seat with the start moving on every round, or drawn every round."
    )
    allow_abstain: bool = Field(True, description="Whether a player may vote for nobody.")
    max_description: int = Field(
        200, ge=1, le=LONGEST_DESCRIPTION, description="Characters that a description may have."
    )
    reject_repeats: bool = Field(
        True, description="Whether a description that its speaker has heard or made before is refused."
    )
    reject_own_word: bool = Field(True, description="Whether a description that holds its speaker's word is refused.")
    lang: Literal["zh", "en"] = Field("zh", description=LANG)
    word_pairs: Annotated[
        tuple[Pair, ...] | None, BeforeValidator(partial(read_pairs, "word_pairs")), WithJsonSchema(_PAIRS)
    ] = Field(
        None,
        description="The pairs to draw from; null is the list that comes with the language.",
        json_schema_extra=HOST_ONLY,
    )
    pair: Annotated[Pair | None, BeforeValidator(partial(read_pair, "pair")), WithJsonSchema(_PAIR)] = Field(
        None,
        description="The very pair to play with, instead of a drawn one.",
        json_schema_extra=HOST_ONLY,
    )
    swap_pair: bool = Field(
        True,
        description="Whether it is drawn which word of the pair is the civilians'; otherwise the first is.",
        # Without it, a player who knows the pairs can tell his role from his word.
        json_schema_extra=HOST_ONLY,
    )

    @model_validator(mode="after")
    def _has_one_source_of_words(self) -> Self:
        if self.pair is not None and self.word_pairs is not None:
            raise Contradiction("pair", "stands beside word_pairs; give one of the two")
        return self

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Return the pairs from which the words are drawn."""
        if self.pair is not None:
            return (self.pair,)
        return self.word_pairs if self.word_pairs is not None else DEFAULT_PAIRS[self.lang]


CONFIG_SCHEMA: Final[JsonObject] = Settings.in_json_schema()


def votes(config: JsonObject, agent_ids: Sequence[str]) -> tuple[int | None, ...]:  # noqa: ARG001  # the same for all
    """Return the values of a vote in a match: ``None``, or a seat."""
    return (None, *range(1, len(agent_ids) + 1))


def check_table(settings: Settings, agent_ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return the name of every seat. Raises ``ConfigError`` if the settings do not fit these agents."""
    if 2 * settings.num_undercover >= len(agent_ids):
        raise ConfigError(
            "num_undercover",
            f"must be fewer than half of the {len(agent_ids)} players, found {settings.num_undercover}",
        )
    return check_names(settings.names, agent_ids)
