"""When a secret word stands in a text."""

from __future__ import annotations

import pytest

from league_agents.agents.word_forms import forms_of, stands_in


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("cod", "cods"),
        ("fox", "foxes"),
        ("church", "churches"),
        ("berry", "berries"),
        ("wife", "wives"),
        ("fisherman", "fishermen"),
        ("potato", "potatoes"),
        ("radio", "radios"),
        ("day", "days"),
        ("Whale", "whale"),
        ("סירה", "סירה"),
    ],
)
def test_a_word_stands_in_a_text_as_it_is_or_as_its_plural(word: str, written: str) -> None:
    assert stands_in(word, {"and", written})


@pytest.mark.parametrize(
    ("word", "written"),
    [
        ("cod", "codes"),
        ("cod", "coded"),
        ("pin", "pines"),
        ("plan", "planes"),
        ("win", "wines"),
        ("sail", "sailor"),
        ("man", "woman"),
        ("can", "canes"),
    ],
)
def test_a_word_that_shares_only_its_beginning_is_another_word(word: str, written: str) -> None:
    assert written not in forms_of(word)
    assert not stands_in(word, {written})
