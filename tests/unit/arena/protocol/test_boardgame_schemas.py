"""The shipped schemas are the shapes that are checked here, and say the same to any JSON Schema validator.

``python tests/unit/arena/protocol/test_boardgame_schemas.py`` writes the files anew after a change of a shape.
"""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from league_agents.arena.protocol.shape_check import faults_of
from league_agents.arena.protocol.shapes import ANSWERS, HANDSHAKE, REQUESTS, SHAPES, schema_documents
from league_agents.games.registry import game_codes, game_of


def generated() -> dict[str, str]:
    return schema_documents([game_of(code) for code in game_codes()])


def shipped() -> dict[str, str]:
    folder = resources.files("league_agents.arena.protocol") / "schemas" / "1.0.0"
    return {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir() if file.name.endswith(".json")}


def test_the_shipped_schemas_are_the_shapes_that_are_checked() -> None:
    assert shipped() == generated()


def test_every_message_type_and_every_action_of_every_game_has_its_document() -> None:
    actions = [f"action.{code}.{action}.json" for code in game_codes() for action in game_of(code).action_schemas]
    assert {"action.undercover.vote.json", "action.market.submit_price.json"} <= set(actions)
    assert set(generated()) == {f"{kind}.json" for kind in (*HANDSHAKE, *REQUESTS, *ANSWERS)} | set(actions)
    assert set(SHAPES) == {*HANDSHAKE, *REQUESTS, *ANSWERS}


@pytest.mark.parametrize("name", sorted(generated()))
def test_every_document_is_a_json_schema_with_a_name_of_its_own(name: str) -> None:
    document = json.loads(generated()[name])
    Draft202012Validator.check_schema(document)
    assert document["$id"] == f"urn:boardgame-protocol:1.0.0:{name.removesuffix('.json')}"


def test_no_message_has_a_field_that_its_shape_does_not_name() -> None:
    for kind, shape in SHAPES.items():
        assert shape["additionalProperties"] is False, kind
        assert {"version", "type"} <= set(shape["required"]), kind


@pytest.mark.parametrize(
    ("value", "schema", "codes"),
    [
        (True, {"type": "integer"}, ["wrong_type"]),  # a truth value is an int in Python only
        (3.0, {"type": "integer"}, []),  # JSON has one kind of number
        (3.5, {"type": "integer"}, ["wrong_type"]),
        (True, {"type": "number"}, ["wrong_type"]),
        (None, {"type": ["string", "null"]}, []),
        (1, {"enum": [True, 2]}, ["wrong_value"]),
        (True, {"const": 1}, ["wrong_value"]),
        (4, {"minimum": 5}, ["out_of_range"]),
        (4, {"maximum": 3}, ["out_of_range"]),
        ("x", {"minimum": 5}, []),  # a rule for numbers says nothing about a text
        ("ab\n", {"pattern": "^[a-z]{2}$"}, ["wrong_form"]),  # "$" is the end of the text
        ("ab", {"pattern": "^[a-z]{2}$"}, []),
        ("", {"minLength": 1}, ["too_short"]),
        ("abc", {"maxLength": 2}, ["too_long"]),
        ([], {"minItems": 1}, ["too_short"]),
        ([1, 2], {"maxItems": 1}, ["too_long"]),
        ([1, None, None], {"items": {"type": "integer"}, "maxItems": 2}, ["wrong_type", "too_long"]),
        ([1, "a", None], {"items": {"type": "integer"}}, ["wrong_type", "wrong_type"]),
        ({"a": 1}, {"additionalProperties": {"type": "string"}}, ["wrong_type"]),
        ({"a": 1}, {"additionalProperties": True}, []),
        ({}, {"type": "object", "required": ["a", "b"]}, ["missing_field", "missing_field"]),
        ([], {"required": ["a"]}, []),
    ],
)
def test_a_keyword_means_what_json_schema_says(value: Any, schema: dict[str, Any], codes: list[str]) -> None:
    assert [fault["code"] for fault in faults_of(value, schema)] == codes


def test_a_schema_with_a_keyword_that_is_not_checked_is_an_error_of_ours() -> None:
    with pytest.raises(KeyError, match="uniqueItems"):
        faults_of([], {"uniqueItems": True})


def test_the_path_of_a_fault_is_a_json_pointer() -> None:
    shape = {"properties": {"a/b": {"items": {"properties": {"~": {"type": "null"}}}}}}
    assert [fault["path"] for fault in faults_of({"a/b": [{}, {"~": 1}]}, shape)] == ["/a~1b/1/~0"]


if __name__ == "__main__":
    target = Path(__file__).parents[4] / "league_agents/arena/protocol/schemas/1.0.0"
    target.mkdir(parents=True, exist_ok=True)
    for old in target.glob("*.json"):
        old.unlink()
    for file_name, text in generated().items():
        (target / file_name).write_text(text, encoding="utf-8")
