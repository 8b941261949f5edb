"""Schemas as services take them."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from league_agents.llm.chat import schema_of
from league_agents.llm.schemas import in_words, name_of, plain_schema, strict_schema, unbounded_schema


class Answer(BaseModel):
    number: int = Field(ge=1, le=20)
    letter: Literal["A", "B"]
    why: str | None = Field(default=None, min_length=3)


class Batch(BaseModel):
    answers: list[Answer] = Field(min_length=20, max_length=20)


class Free(BaseModel):
    counts: dict[str, int]


class Tree(BaseModel):
    children: list[Tree]


def test_strict_mode_gets_closed_objects_with_every_property_required_and_no_lengths_of_texts() -> None:
    found = strict_schema(schema_of(Batch))
    assert found is not None
    answer = found["$defs"]["Answer"]
    assert answer["additionalProperties"] is False
    assert answer["required"] == ["number", "letter", "why"]
    assert answer["properties"]["number"]["maximum"] == 20
    assert found["properties"]["answers"]["minItems"] == 20
    text = json.dumps(found)
    for word in ("minLength", "default", "title"):
        assert word not in text


def test_a_service_that_takes_no_bounds_reads_them_in_words() -> None:
    class Bounded(BaseModel):
        minimum: int = Field(ge=1, description="a field called like a bound")
        batch: Batch

    found = unbounded_schema(schema_of(Bounded))
    assert found is not None
    assert found["properties"]["minimum"]["description"] == "a field called like a bound; at least 1"
    assert found["$defs"]["Batch"]["properties"]["answers"]["description"] == "items at least 20, items at most 20"
    assert found["$defs"]["Answer"]["properties"]["number"] == {
        "type": "integer",
        "description": "at least 1, at most 20",
    }
    assert unbounded_schema(schema_of(Free)) is None


@pytest.mark.parametrize("kind", [Free])
def test_what_strict_mode_cannot_say_is_not_asked_strictly(kind: type[BaseModel]) -> None:
    assert strict_schema(schema_of(kind)) is None


def test_gemini_gets_no_references_and_nullable_for_none() -> None:
    found = plain_schema(schema_of(Batch))
    assert found is not None
    answer = found["properties"]["answers"]["items"]
    assert answer["properties"]["why"] == {"type": "string", "nullable": True}
    assert answer["properties"]["letter"]["enum"] == ["A", "B"]
    assert "$ref" not in json.dumps(found)


@pytest.mark.parametrize("kind", [Tree, Free])
def test_what_gemini_cannot_say_is_left_to_words(kind: type[BaseModel]) -> None:
    assert plain_schema(schema_of(kind)) is None


def test_words_hold_the_whole_schema() -> None:
    assert '"minItems":20' in in_words(schema_of(Batch))


def test_a_schema_has_a_name_that_services_take() -> None:
    class Ünusual(BaseModel):
        a: int

    assert name_of(schema_of(Ünusual)) == "nusual"


def test_gemini_gets_the_bounds_of_numbers_and_lists() -> None:
    found = plain_schema(schema_of(Batch))
    assert found is not None
    answers = found["properties"]["answers"]
    assert (answers["minItems"], answers["maxItems"]) == (20, 20)
    assert answers["items"]["properties"]["number"] == {"type": "integer", "minimum": 1, "maximum": 20}
