"""The configuration of a game: the keys of every game, and how a configuration is read, described and stored.

Rule: a game's configuration is one class. Its fields are the keys, each with type, bounds, default and meaning; reader,
JSON Schema and stored form follow from it. A key that gives the game away has ``json_schema_extra=HOST_ONLY``.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, Self

from pydantic import Field, PlainSerializer, PlainValidator, WithJsonSchema

from league_agents.games.people import LONGEST_NAME, MOST_NAMES, read_names
from league_agents.kit.frozen import FrozenDict
from league_agents.kit.written import WrittenMapping, read_written, schema_of

HOST_ONLY: Final[dict[str, Any]] = {"x-host-only": True}
LANG: Final = "The language of the match: its rules, announcements and default words."

Names = Annotated[
    FrozenDict,
    PlainValidator(read_names),
    PlainSerializer(dict, return_type=dict[str, str]),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
            "maxProperties": MOST_NAMES,
            "default": {},
        }
    ),
]


class GameConfig(WrittenMapping):
    """The keys that every game has. A subclass adds its own; they come first."""

    lang: Literal["en", "zh"] = Field("en", description=LANG)
    names: Names = Field(
        default_factory=FrozenDict, description="What agents are called, by agent id; by default their ids."
    )

    @classmethod
    def read(cls, config: object) -> Self:
        """Return the configuration with its defaults. Raises ``ConfigError`` with the key path."""
        return read_written(cls, config, "")

    @classmethod
    def in_json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of the configuration; every property has its default and its description."""
        schema = schema_of(cls)
        return {**schema, "properties": _own_first(schema["properties"])}

    def as_json(self) -> dict[str, Any]:
        """Return every key with the value in force, as JSON values; ``read`` reads it back."""
        return _own_first(self.model_dump(mode="json"))

    def called(self, agent: str) -> str:
        """Return an agent's name for texts."""
        return str(self.names.get(agent, agent))


def _own_first(keys: dict[str, Any]) -> dict[str, Any]:
    everybodys = {key: keys[key] for key in GameConfig.model_fields}
    return {**{key: value for key, value in keys.items() if key not in everybodys}, **everybodys}
