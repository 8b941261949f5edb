"""One JSON object out of what a model wrote."""

from __future__ import annotations

import pytest
from pydantic import BaseModel

from league_agents.kit.errors import MalformedCompletion
from league_agents.llm.json_text import find_object, parse, parse_beginning


class Guess(BaseModel):
    word: str
    points: int = 0


@pytest.mark.parametrize("text", [
    '{"word": "a"}',
    ' \n{"word": "a"}\n ',
    '```json\n{"word": "a"}\n```',
    'Sure! {"word": "a"} I hope that {this} helps.',
    '<think>{"word": "b"}? no</think>{"word": "a"}',
    '{"word": "a"} and once more {"word": "a"}',  # said twice, still one
    '[{"word": "a"}]',
    'The set {x, y} has: {"word": "a"}',
])  # fmt: skip
def test_the_object_is_found(text: str) -> None:
    assert find_object(text) == {"word": "a"}


@pytest.mark.parametrize(("text", "why"), [
    ("", "no JSON object"),
    ("I cannot say.", "no JSON object"),
    ('{"word": "a"', "no valid JSON"),
    ('{"a": [{"word": "b"}', "no valid JSON"),  # the inner one is not what was asked for
    ('{"word": "a"} or {"word": "b"}', "2 JSON objects"),
    ('{"word": NaN}', "cannot be read"),
    ('{"word": ' + "[" * 100_000, "cannot be read"),
    ('{"word": ' + "9" * 5_000 + "}", "cannot be read"),
    ("x" * 1_000_001, "characters"),
    ("{}", "no JSON object"),
])  # fmt: skip
def test_what_is_no_single_object_is_said(text: str, why: str) -> None:
    with pytest.raises(MalformedCompletion, match=why):
        find_object(text)


def test_half_of_a_surrogate_pair_is_no_text() -> None:
    class Line(BaseModel):
        word: str

    with pytest.raises(MalformedCompletion, match="half of a surrogate pair"):
        parse(r'{"word": "\ud83d a", "note": 1}', Line)
    assert parse(r'{"word": "\ud83d\ude00"}', Line).word == "😀"


def test_what_breaks_the_schema_is_said_in_one_bounded_line() -> None:
    class Many(BaseModel):
        items: list[int]

    with pytest.raises(MalformedCompletion) as failed:
        parse('{"items": [' + ", ".join(['"x\\u001b[31m\\n"'] * 50) + "]}", Many)
    message = str(failed.value)
    assert "items.0: Input should be a valid integer" in message
    assert "and 42 more" in message
    assert "\n" not in message
    assert "\x1b" not in message


def test_numbers_in_quotes_are_taken_as_numbers() -> None:
    assert parse('{"word": "a", "points": "3", "more": 1}', Guess) == Guess(word="a", points=3)


def test_many_objects_and_open_braces_take_no_time() -> None:
    many = "".join(f'{{"a":{number}}}' for number in range(50_000))
    for text in ("{" * 200_000, many, '{"' * 100_000, "<think>" * 100_000, '{"a":' * 100_000):
        with pytest.raises(MalformedCompletion):
            find_object(text)


class Pool(BaseModel):
    words: list[str] = []
    rows: list[Guess] = []


WHOLE = '{"words": ["a", "b, ]}\\"", "c"], "rows": [{"word": "d", "points": 1}, {"word": "e", "points": 12}]}'


def test_what_is_complete_of_a_text_that_breaks_off_anywhere_is_a_part_of_the_whole() -> None:
    whole = parse(WHOLE, Pool)
    seen = set()
    for length in range(len(WHOLE) + 1):
        try:
            found = parse_beginning(f"Here: {WHOLE[:length]}", Pool)
        except MalformedCompletion:
            assert length < WHOLE.index('"a"') + 3
            continue
        assert found.words == whole.words[: len(found.words)]
        assert found.rows == whole.rows[: len(found.rows)]
        seen.add((len(found.words), len(found.rows)))
    assert seen == {(1, 0), (2, 0), (3, 0), (3, 1), (3, 2)}


@pytest.mark.parametrize("text", [
    "", "I think", '{"words": [', '{"words": [], "rows": [{"word": "a"', '<think>{"words": ["a"]', '{"words": "a"',
    '{"word": "a", "points": 3}', '{"words": [1, 2', "{" * 10_000, '{"a": ' + "[" * 100_000,
])  # fmt: skip
def test_a_beginning_without_a_complete_item_is_nothing(text: str) -> None:
    with pytest.raises(MalformedCompletion):
        parse_beginning(text, Pool)


def test_a_number_at_the_end_may_have_gone_on() -> None:
    class Numbers(BaseModel):
        numbers: list[int]

    assert parse_beginning('{"numbers": [1, 23, 4', Numbers).numbers == [1, 23]
