"""The random agent draws what the schema allows, and the same for the same seed."""

from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from league_agents.arena.agents.random_agent import instance_of, random_action
from league_agents.games.game import LegalAction
from league_agents.kit.draw import Draw

SCHEMAS: list[dict[str, Any]] = [
    {"const": 3},
    {"enum": ["a", None, 3]},
    {"type": "string", "minLength": 0, "maxLength": 0},
    {"type": "string", "minLength": 1, "maxLength": 1},
    {"type": "string", "minLength": 100, "maxLength": 120},
    {"type": "string"},
    {"type": "integer", "minimum": -3, "maximum": -3},
    {"type": "integer", "minimum": 10},
    {"type": "number", "minimum": 0, "maximum": 1},
    {"type": ["integer", "null"], "minimum": 1, "maximum": 6},
    {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
    {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 4},
    {"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": False, "minItems": 2, "maxItems": 2},
    {
        "type": "object",
        "required": ["a"],
        "additionalProperties": False,
        "properties": {"a": {"type": "string", "minLength": 2}, "b": {"type": "boolean"}},
    },
]


@pytest.mark.parametrize("schema", SCHEMAS, ids=str)
def test_what_is_drawn_is_what_the_schema_allows(schema: dict[str, Any]) -> None:
    draw = Draw(1, "schemas")
    for _ in range(50):
        jsonschema.validate(instance_of(schema, draw), schema)


def test_optional_properties_are_drawn_now_and_then() -> None:
    draw = Draw(1, "optional")
    assert {len(instance_of(SCHEMAS[-1], draw)) for _ in range(50)} == {1, 2}


def test_listed_choices_are_taken_as_they_are() -> None:
    legal = [LegalAction(type="vote", schema={}, choices=({"vote": 1}, {"vote": 2}))]
    draw = Draw(1, "choices")
    assert {random_action(legal, draw).data["vote"] for _ in range(50)} == {1, 2}


def test_the_same_seed_draws_the_same_actions() -> None:
    legal = [LegalAction(type="say", schema=SCHEMAS[-1]), LegalAction(type="pass", schema={"type": "object"})]
    drawn = [[random_action(legal, Draw(seed, "x").fork(str(i))) for i in range(20)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_type_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(ValueError, match="tuple"):
        instance_of({"type": "tuple"}, Draw(1, "x"))
