"""Texts as numbers of word pieces."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.knowledge.wordpiece import pieces, vocabulary_of

VOCABULARY = vocabulary_of("[PAD]\n[UNK]\n[CLS]\n[SEP]\nwhale\n##s\nhunt\n##er\ncafe\n,\n.\n鯨\n_\n'")


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("Whales", [4, 5]),
        ("whale, hunters.", [4, 9, 6, 7, 5, 10]),
        ("Café", [8]),  # accents are no part of it
        ("鯨鯨", [11, 11]),  # one by one
        ("sharks", [1]),  # no sum of pieces
        ("whale\u200bwhale \x00", [4, 1, 4, 1]),
        ("w" * 101, [1]),
        ("whale_s", [4, 12, 1]),
    ],
)
def test_words_are_taken_apart_from_the_left(text: str, numbers: list[int]) -> None:
    assert pieces(text, VOCABULARY, 50) == [2, *numbers, 3]


def test_a_long_text_is_cut_and_still_ends() -> None:
    assert pieces("whale " * 100_000, VOCABULARY, 5) == [2, 4, 4, 4, 3]


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_text_has_numbers(text: str) -> None:
    found = pieces(text, VOCABULARY, 20)
    assert (found[0], found[-1]) == (2, 3)
    assert len(found) <= 20
