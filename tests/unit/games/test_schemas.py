"""The schemas of a game's configuration and actions, and the reading of both, declare the same bounds twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from league_agents.arena.agents.scripted_agent import script_of
from league_agents.games.game import Action, IllegalAction
from league_agents.games.registry import game_codes, game_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError

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


@pytest.mark.parametrize(
    ("code", "config"),
    [("guess_number", {}), ("market", {}), ("undercover", {}), ("q21", {"rules": "prd"}), ("q21", {"rules": "course"})],
)
def test_an_action_is_taken_when_its_schema_allows_it(code: str, config: Mapping[str, Any]) -> None:
    game = game_of(code)
    agents = [f"a{n}" for n in range(max(3, game.min_agents))]
    state = game.setup(config, agents, 1)
    tried: set[str] = set()
    while pending := game.pending(state):
        agent, legal = pending[0], game.legal(state, pending[0])
        action = script_of(code)(game.view(state, agent), legal, Draw(1, agent))
        schema = next(each.schema for each in legal if each.type == action.type)
        if action.type not in tried:
            tried.add(action.type)
            check = Draft202012Validator(schema)
            assert not check.is_valid([])
            for data in variants(action.data, schema):
                try:
                    game.apply(state, agent, Action(type=action.type, data=data))
                    is_taken = True
                except IllegalAction:
                    is_taken = False
                assert is_taken == check.is_valid(data), [each.message for each in check.iter_errors(data)]
        state = game.apply(state, agent, action).state
    assert tried


def variants(value: Any, schema: Mapping[str, Any]) -> Iterator[Any]:
    """The value, and others that differ from it in one place: left out, too much, or at the edge of a bound."""
    yield value
    if isinstance(value, Mapping):
        yield {**value, "foreign": 1}
        for key in value:
            yield {name: held for name, held in value.items() if name != key}
            inner = schema.get("properties", {}).get(key, {})
            yield from ({**value, key: held} for held in variants(value[key], inner))
    elif isinstance(value, Sequence) and value and not isinstance(value, str):
        first = schema["prefixItems"][0] if "prefixItems" in schema else schema.get("items", {})
        yield from ([], "text", [*value, value[-1]])
        yield from ([held, *value[1:]] for held in variants(value[0], first))
    else:
        yield from edges(schema)
