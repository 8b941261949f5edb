"""What people write is read by pydantic, and what is wrong with it is one line that names the key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, Field

from league_agents.kit.errors import ConfigError
from league_agents.kit.written import Contradiction, Line, WrittenMapping, read_written, schema_of


class Seat(WrittenMapping):
    """One of several."""

    id: Line
    points: Annotated[int, Field(ge=0, le=9)] = 0


def _rises(bounds: tuple[int, ...]) -> tuple[int, ...]:
    if bounds[0] > bounds[1]:
        raise Contradiction("[1]", f"must be {bounds[0]} or more, found {bounds[1]}")
    return bounds


class Table(WrittenMapping):
    """A mapping with every kind of key."""

    name: Line
    game: Literal["market", "undercover"] = "market"
    is_open: bool = False
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    seats: Annotated[list[Seat], Field(max_length=3)] = Field(default_factory=list)
    first: Seat | None = None
    prices: dict[str, Seat] = Field(default_factory=dict)
    turn_seconds: Annotated[float, Field(ge=1, le=60)] = 5
    words: list[Line] = Field(default_factory=list)
    bounds: Annotated[
        tuple[Annotated[int, Field(ge=0, le=1_000_000)], ...],
        Field(strict=False, min_length=2, max_length=2),
        AfterValidator(_rises),
    ] = (0, 9)


def test_a_right_mapping_is_a_value_and_empty_keys_are_absent() -> None:
    table = read_written(Table, {"name": 7, "seats": [{"id": "a"}], "share": None, "game": ""}, "t")
    assert table == Table(name="7", seats=[Seat(id="a")])
    assert read_written(Table, {"name": " x ", "share": 1}, "t").share == 1


@pytest.mark.parametrize(("written", "said"), [
    ([], "t: must be a mapping (name, game, is_open …), found list of 0"),
    (None, "t.name: is missing"),
    ({"nmae": "x"}, "t: there is no key 'nmae': did you mean 'name'?"),
    ({"name": "x", "turn": 5}, "t: there is no key 'turn': did you mean 'turn_seconds'?"),
    ({"name": "x", "zzz": 5}, "t: there is no key 'zzz': the keys are name, game, is_open, share, seats, first, "),
    ({"name": "x", 3: 5}, "t: there is no key 3: the keys are name"),
    ({"name": True}, "t.name: must be one line of 1 to 200 characters, found True (YAML reads a bare Yes or No"),
    ({"name": "a\nb"}, "t.name: must be one line of 1 to 200 characters, found 'a\\nb'"),
    ({"name": "x" * 201}, "t.name: must be one line of 1 to 200 characters, found"),
    ({"name": " "}, "t.name: must be one line of 1 to 200 characters, found ' '"),
    ({"name": "x", "game": "markt"}, "t.game: must be one of market, undercover, found 'markt'; did you mean"),
    ({"name": "x", "is_open": "yes"}, "t.is_open: must be true or false, found 'yes'"),
    ({"name": "x", "share": "0.5"}, "t.share: must be a number from 0 to 1, found '0.5'"),
    ({"name": "x", "share": 2}, "t.share: must be a number from 0 to 1, found 2"),
    ({"name": "x", "share": float("nan")}, "t.share: must be a number from 0 to 1, found nan"),
    ({"name": "x", "share": True}, "t.share: must be a number from 0 to 1, found True (YAML"),
    ({"name": "x", "seats": {}}, "t.seats: must be a list of at most 3 mappings, found dict of 0"),
    ({"name": "x", "seats": [{"id": str(n)} for n in range(4)]}, "t.seats: must be a list of at most 3"),
    ({"name": "x", "seats": [{"id": "a"}, 3]}, "t.seats[1]: must be a mapping (id, points …), found 3"),
    ({"name": "x", "seats": [{"id": "a", "points": "3"}]}, "t.seats[0].points: must be a whole number from"),
    ({"name": "x", "seats": [{"id": "a", "points": 3.0}]}, "t.seats[0].points: must be a whole number from"),
    ({"name": "x", "seats": [{"id": "a", "pionts": 3}]}, "t.seats[0]: there is no key 'pionts': did you mean"),
    ({"name": "x", "seats": [{}]}, "t.seats[0].id: is missing"),
    ({"name": "x", "first": {"points": 1}}, "t.first.id: is missing"),
    ({"name": "x", "first": {"id": "a", "points": 10}}, "t.first.points: must be a whole number from 0 to 9"),
    ({"name": "x", "prices": {"a b": {"id": []}}}, "t.prices[a b].id: must be one line of 1 to 200"),
    ({"name": "x", "prices": {"a\nb": {"id": []}}}, "t.prices[a b].id: must be one line of 1 to 200"),
    ({"name": "x", "prices": []}, "t.prices: must be a mapping of names, found list of 0"),
    ({"name": "x", "prices": {3: {"id": "a"}}}, "t.prices: must be a mapping of names, found 3"),
    ({"name": "x", "bounds": [1]}, "t.bounds: must be a list of 2 whole numbers, found list of 1"),
    ({"name": "x", "bounds": [1, "2"]}, "t.bounds[1]: must be a whole number from 0 to 1000000, found '2'"),
    ({"name": "x", "bounds": [9, 1]}, "t.bounds[1]: must be 9 or more, found 1"),
    ({"name": "x", "words": ["a", None]}, "t.words[1]: must be one line of 1 to 200 characters, found None"),
])  # fmt: skip
def test_what_is_wrong_is_one_line_with_path_and_value(written: Any, said: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        read_written(Table, written, "t")
    assert str(wrong.value).startswith(said)
    assert "\n" not in str(wrong.value)


def test_a_whole_configuration_has_no_path_of_its_own() -> None:
    with pytest.raises(ConfigError, match=r"^configuration: there is no key 'nmae'"):
        read_written(Table, {"nmae": 1}, "")
    with pytest.raises(ConfigError, match=r"^name: is missing"):
        read_written(Table, {}, "")
    with pytest.raises(ConfigError, match=r"^seats\[0\]\.id: is missing"):
        read_written(Table, {"name": "x", "seats": [{}]}, "")


def test_the_schema_has_no_titles_and_says_null_where_a_key_may_be_absent() -> None:
    schema = schema_of(Table)
    assert "title" not in {*schema, *schema["properties"]["name"]}
    assert schema["properties"]["share"] == {"default": None, "type": ["number", "null"], "minimum": 0, "maximum": 1}
    bounds = {"type": "integer", "minimum": 0, "maximum": 1_000_000}
    assert schema["properties"]["bounds"] == {
        "type": "array",
        "items": bounds,
        "minItems": 2,
        "maxItems": 2,
        "default": [0, 9],
    }
