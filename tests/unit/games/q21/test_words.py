"""Counting words and fitting texts."""

from __future__ import annotations

import pytest

from league_agents.games.q21.rules import WordLimit
from league_agents.games.q21.words import count_tokens, count_words, cut_to_words, fit, limit_in_words

FILLERS = ("These four words follow.", "Two more.", "Indeed.")


@pytest.mark.parametrize(
    ("text", "words", "tokens"),
    [
        ("", 0, 0),
        ("one two\u00a0three\n\u3000four", 4, 4),
        ("well - known", 2, 3),  # a lone dash is a token, not a word
        ("don't re-read 1851", 3, 3),
        ("鲸鱼 שלום", 2, 2),
    ],
)
def test_words_and_tokens(text: str, words: int, tokens: int) -> None:
    assert (count_words(text), count_tokens(text)) == (words, tokens)


@pytest.mark.parametrize(
    ("text", "limit", "fitted"),
    [
        ("a  b", (2, 3), "a  b"),  # what fits is not touched
        ("a b c, d", (2, 3), "a b c."),
        ("a – b – c", (2, 3), "a b c."),
        ("a", (2, 3), "a. Two more."),
        ("a", (2, 2), "a. Indeed."),
        ("a", (9, None), "a. These four words follow. Two more. Indeed. These four words follow."),
        ("", (6, 6), "These four words follow. Two more."),
        ("— —", (1, 1), "Indeed."),
        ("He asked “why?”", (4, 9), "He asked “why?” These four words follow."),
    ],
)
def test_a_text_is_made_to_fit(text: str, limit: tuple[int, int | None], fitted: str) -> None:
    assert fit(text, WordLimit(least=limit[0], most=limit[1]), FILLERS) == fitted


def test_a_cut_keeps_the_beginning() -> None:
    assert cut_to_words("one  two three", 2) == "one two"
    assert cut_to_words("one  two", 2) == "one  two"


def test_limits_in_words() -> None:
    assert limit_in_words(WordLimit(least=35, most=None)) == "35 or more words"
    assert limit_in_words(WordLimit(least=20, most=30)) == "20 to 30 words"
