"""The schema of a game's configuration and the reading of one are two declarations of the same bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from league_agents.errors import ConfigError
from league_agents.games.registry import game_codes, game_of

PROPERTIES = [
    (code, key) for code in game_codes() for key in game_of(code).config_schema["properties"] if key != "rules"
]
BESIDE = {
    "target": {"num_choices": 1_000_000},
    "marginal_cost": {"price_range": [0, 1_000_000]},
    "initial_guesses": {"num_choices": 1_000_000},
}
"""What such a value needs beside it."""


def edges(schema: Mapping[str, Any]) -> Iterator[object]:
    """Values at the bounds of a schema, one beyond each, and some of other types."""
    yield from ("no such word", 7.5, {"a": {}}, True)
    yield from schema.get("enum", ())
    if "maximum" in schema:
        least, most = schema["minimum"], schema["maximum"]
        yield from (least - 1, least, most, most + 1, str(least), float(most) + 0.5)
    if "maxLength" in schema:
        yield from ("x" * length for length in (schema["minLength"] - 1, schema["minLength"], schema["maxLength"]))
        yield "x" * (schema["maxLength"] + 1)
    if "maxItems" in schema:
        for count in {schema["minItems"] - 1, schema["minItems"], schema["maxItems"], schema["maxItems"] + 1}:
            yield distinct(schema["items"], count)
        for item in edges(schema["items"]):
            yield [*distinct(schema["items"], schema["minItems"])[:-1], item]


def distinct(schema: Mapping[str, Any], count: int) -> list[object]:
    """So many items that differ, in order."""
    if schema.get("type") == "integer":
        return [schema["minimum"] + n for n in range(count)]
    if schema.get("type") == "array":
        return [[f"left {n}", f"right {n}"] for n in range(count)]
    return [f"item {n}" for n in range(count)]


@pytest.mark.parametrize(("code", "key"), PROPERTIES)
def test_the_reading_accepts_what_the_schema_allows(code: str, key: str) -> None:
    game = game_of(code)
    schema = game.config_schema["properties"][key]
    agents = [f"a{n}" for n in range(min(game.max_agents, 12))]
    for value in edges(schema):
        try:
            game.setup({**BESIDE.get(key, {}), key: value}, agents, 1)
            is_accepted = True
        except ConfigError as refused:
            is_accepted = not refused.path.startswith(key)
        assert is_accepted == Draft202012Validator(schema).is_valid(value), value


@pytest.mark.parametrize(("code", "key"), PROPERTIES)
def test_a_key_that_is_left_out_is_as_its_default(code: str, key: str) -> None:
    game = game_of(code)
    default = game.config_schema["properties"][key]["default"]
    agents = [f"a{n}" for n in range(max(3, game.min_agents))]
    assert game.dump(game.setup({key: default}, agents, 1)) == game.dump(game.setup({}, agents, 1))
