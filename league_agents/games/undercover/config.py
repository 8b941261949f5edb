"""How a match of undercover is set up: every key with its default and bounds (arena 3.1).

Rule: ``CONFIG_SCHEMA`` is the one table of keys; reading goes by it, and what it does not name is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from league_agents.games.game import JsonObject
from league_agents.games.people import check_names, people_keys, read_names
from league_agents.games.undercover.words import DEFAULT_PAIRS, LONGEST_WORD, MOST_PAIRS, Pair, read_pair, read_pairs
from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown

MIN_AGENTS: Final = 3
MAX_AGENTS: Final = 12
LONGEST_DESCRIPTION: Final = 2000

_WORD: Final[JsonObject] = {"type": "string", "minLength": 1, "maxLength": LONGEST_WORD}
_PAIR: Final[JsonObject] = {"type": "array", "items": _WORD, "minItems": 2, "maxItems": 2}


def _choice(default: str, others: tuple[str, ...], description: str) -> JsonObject:
    return {"enum": [default, *others], "default": default, "description": description}


def _number(default: int, least: int, most: int, description: str) -> JsonObject:
    bounds = {"minimum": least, "maximum": most}
    return {"type": "integer", **bounds, "default": default, "description": description}


def _switch(default: bool, description: str) -> JsonObject:
    return {"type": "boolean", "default": default, "description": description}


_PROPERTIES: Final[Mapping[str, JsonObject]] = {
    "num_undercover": _number(1, 1, 5, "How many players have the other word; fewer than half of all."),
    "max_rounds": _number(10, 1, 100, "When this many rounds are over and nobody has won, the undercover side wins."),
    "tie": _choice(
        "no_elimination",
        ("random", "revote"),
        "What a tied vote leads to: nobody is out, one of the tied is drawn, or one more vote between the tied. "
        "Tournaments do best with revote: with no_elimination many games last until max_rounds.",
    ),
    "reveal": _choice("none", ("role",), "Whether the role of whoever is eliminated is announced."),
    "reveal_at_end": _switch(True, "Whether all see the roles, both words and the reasons of votes after the end."),
    "know_own_role": _switch(False, "Whether players are told which side they are on."),
    "announce_counts": _switch(True, "Whether the number of undercover players is public."),
    "speaking_order": _choice(
        "fixed", ("rotate", "random"), "By seat, by seat with the start moving on every round, or drawn every round."
    ),
    "allow_abstain": _switch(True, "Whether a player may vote for nobody."),
    "max_description": _number(200, 1, LONGEST_DESCRIPTION, "Characters that a description may have."),
    "reject_repeats": _switch(True, "Whether a description that its speaker has heard or made before is refused."),
    "reject_own_word": _switch(True, "Whether a description that holds its speaker's word is refused."),
    "word_pairs": {
        "type": ["array", "null"],
        "items": _PAIR,
        "minItems": 1,
        "maxItems": MOST_PAIRS,
        "default": None,
        "x-host-only": True,
        "description": "The pairs to draw from; null is the list that comes with the language.",
    },
    "pair": {
        **_PAIR,
        "type": ["array", "null"],
        "default": None,
        "x-host-only": True,
        "description": "The very pair to play with, instead of a drawn one.",
    },
    "swap_pair": {
        **_switch(True, "Whether it is drawn which word of the pair is the civilians'; otherwise the first is."),
        # Without it, whoever knows the pairs knows his side by his word.
        "x-host-only": True,
    },
    **people_keys("zh"),
}

CONFIG_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "additionalProperties": False,
    "properties": _PROPERTIES,
}


class Settings(Struct, frozen=True, kw_only=True):
    """The configuration of one match. The fields are the keys of ``CONFIG_SCHEMA``."""

    num_undercover: int
    max_rounds: int
    tie: str
    reveal: str
    reveal_at_end: bool
    know_own_role: bool
    announce_counts: bool
    speaking_order: str
    allow_abstain: bool
    max_description: int
    reject_repeats: bool
    reject_own_word: bool
    lang: str
    word_pairs: tuple[Pair, ...] | None
    pair: Pair | None
    swap_pair: bool
    names: Mapping[str, str]
    """By agent id, for those who have one."""

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """What the words are drawn from."""
        if self.pair is not None:
            return (self.pair,)
        return self.word_pairs if self.word_pairs is not None else DEFAULT_PAIRS[self.lang]

    def as_config(self) -> dict[str, Any]:
        """Every key with the value in force, as JSON values; ``settings_from`` reads it back."""
        config = {name: getattr(self, name) for name in _PROPERTIES}
        config["pair"] = None if self.pair is None else list(self.pair)
        config["word_pairs"] = None if self.word_pairs is None else [list(pair) for pair in self.word_pairs]
        config["names"] = dict(self.names)
        return config


def settings_from(config: JsonObject) -> Settings:
    """The settings that a configuration asks for. Raises ``ConfigError`` with the key that is wrong."""
    if not isinstance(config, Mapping):
        raise ConfigError("config", f"must be a mapping of keys to values, found {shown(config)}")
    for key in config:
        if key not in _PROPERTIES:
            raise ConfigError(shown(key).strip("'"), f"is no key of undercover; keys: {', '.join(_PROPERTIES)}")
    read: dict[str, Any] = {key: _read(key, rule, config.get(key)) for key, rule in _PROPERTIES.items()}
    if read["pair"] is not None and read["word_pairs"] is not None:
        raise ConfigError("pair", "stands beside word_pairs; give one of the two")
    return Settings(**read)


def _read(key: str, rule: JsonObject, given: Any) -> Any:
    if key == "names":
        return read_names(given)
    if given is None:
        return rule["default"]
    if key == "pair":
        return read_pair(key, given)
    if key == "word_pairs":
        return read_pairs(key, given)
    if "enum" in rule:
        if not isinstance(given, str) or given not in rule["enum"]:
            raise ConfigError(key, f"must be one of {', '.join(rule['enum'])}, found {shown(given)}")
    elif rule["type"] == "boolean":
        if type(given) is not bool:
            raise ConfigError(key, f"must be true or false, found {shown(given)}")
    elif type(given) is not int or not rule["minimum"] <= given <= rule["maximum"]:
        raise ConfigError(key, f"must be an integer from {rule['minimum']} to {rule['maximum']}, found {shown(given)}")
    return given


def votes(config: JsonObject, agent_ids: Sequence[str]) -> tuple[int | None, ...]:  # noqa: ARG001  # the same for all
    """What can be voted in a match: nobody, or a seat."""
    return (None, *range(1, len(agent_ids) + 1))


def check_table(settings: Settings, agent_ids: tuple[str, ...]) -> tuple[str, ...]:
    """The name of every seat. Raises ``ConfigError`` where the settings do not fit these agents."""
    if 2 * settings.num_undercover >= len(agent_ids):
        raise ConfigError(
            "num_undercover",
            f"must be fewer than half of the {len(agent_ids)} players, found {settings.num_undercover}",
        )
    return check_names(settings.names, agent_ids)
