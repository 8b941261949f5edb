"""What a text must be to be read at all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from league_agents.arena.protocol.json_text import LARGEST, MOST_LEVELS, read_object
from league_agents.arena.protocol.refusals import Refused


def refusal(text: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        read_object(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "malformed_json"),
        ("{", "malformed_json"),
        ("{'a': 1}", "malformed_json"),
        ('{"a": 1,}', "malformed_json"),
        ('{"a": 1} {"b": 2}', "malformed_json"),
        ('\ufeff{"a": 1}', "malformed_json"),  # a byte order mark is no JSON (RFC 8259, 8.1)
        ('{"a": NaN}', "malformed_json"),
        ('{"a": [Infinity]}', "malformed_json"),
        ('{"a": -Infinity}', "malformed_json"),
        ('{"a": 1e999}', "malformed_json"),  # infinite in every language with 64-bit floats
        ('{"a": ' + "9" * 5000 + "}", "malformed_json"),
        ('{"a": "\x01"}', "malformed_json"),
        ('{"a": "\\ud800"}', "malformed_json"),
        ('{"\\uDC00": 1}', "malformed_json"),
        ('{"a": [{"b": "x\\udfffy"}]}', "malformed_json"),
        ('{"a": "\ud800"}', "malformed_json"),
        (b'{"a": "\xff"}', "malformed_json"),
        (b'{"a": "\xed\xa0\x80"}', "malformed_json"),  # a surrogate in UTF-8
        ('{"a": 1, "a": 1}', "duplicate_key"),
        ('{"a": {"b": [{"c": 1, "\\u0063": 2}]}}', "duplicate_key"),  # the same key, spelt in two ways
        ("[]", "not_an_object"),
        ("null", "not_an_object"),
        ('"text"', "not_an_object"),
        ("3", "not_an_object"),
    ],
)
def test_a_text_with_no_one_meaning_is_refused(text: str | bytes, code: str) -> None:
    assert refusal(text).code == code


def test_a_text_is_read_as_it_stands() -> None:
    assert read_object('{"a": "橙子", "b": [1, -2.5, true, null], "c": {}}') == {
        "a": "橙子",
        "b": [1, -2.5, True, None],
        "c": {},
    }
    assert read_object(b'{"a": "\\ud83c\\udf4a"}') == {"a": "🍊"}


def text_of_size(size: int, character: str) -> str:
    frame = '{"a": ""}'
    room = size - len(frame)
    width = len(character.encode())
    return frame[:-2] + character * (room // width) + "a" * (room % width) + frame[-2:]


@pytest.mark.parametrize("character", ["a", "é", "橙", "🍊"])
def test_the_bound_on_size_counts_bytes(character: str) -> None:
    fits, too_large = text_of_size(LARGEST, character), text_of_size(LARGEST + 1, character)

    assert read_object(fits)["a"].startswith(character)
    assert read_object(fits.encode()) == read_object(fits)
    assert refusal(too_large).code == "too_large"
    assert refusal(too_large.encode()).code == "too_large"


def nested(levels: int) -> str:
    return '{"a":' + "[" * (levels - 1) + "]" * (levels - 1) + "}"


def test_the_bound_on_depth_counts_levels() -> None:
    assert read_object(nested(MOST_LEVELS))
    assert refusal(nested(MOST_LEVELS + 1)).data["errors"][0]["code"] == "too_deep"
    assert refusal(nested(30_000)).code == "invalid_envelope"
    assert refusal("[" * LARGEST).code == "invalid_envelope"


def test_many_brackets_beside_each_other_are_not_deep() -> None:
    assert len(read_object(json.dumps({"a": [[]] * 5000, "b": "[" * 100}))["a"]) == 5000


def test_a_mapping_is_read_as_the_text_that_it_would_travel_as() -> None:
    numbered: dict[Any, Any] = {"a": (1, 2), 3: "b"}
    twice: dict[Any, Any] = {1: "a", "1": "b"}
    assert read_object(numbered) == {"a": [1, 2], "3": "b"}
    assert refusal({"a": float("nan")}).code == "malformed_json"
    assert refusal({"a": object()}).code == "malformed_json"
    assert refusal({"a": "x" * LARGEST}).code == "too_large"
    around: dict[str, Any] = {}
    around["a"] = around
    assert refusal(around).code == "malformed_json"
    assert refusal(twice).code == "duplicate_key"


def test_a_refusal_shows_only_the_beginning_of_what_it_refuses() -> None:
    key = json.dumps("k" * 5000)
    assert len(refusal(f"{{{key}: 1, {key}: 2}}").message) < 150
    assert len(refusal('{"a": 1' + "0" * 4000 + ".5e9}").message) < 150
