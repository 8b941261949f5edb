"""Estimated tokens: never far too few."""

from __future__ import annotations

import pytest

from league_agents.kit.tokens import cut_to_tokens, tokens_in

PROSE = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife. However little known the feelings or views of such a man may be on his first entering a neighbourhood, this "
    "truth is so well fixed in the minds of the surrounding families, that he is considered as the rightful property."
)


def test_prose_counts_more_than_a_token_for_four_characters() -> None:
    """The rule of thumb of the services is four; the estimate is on the safe side of it."""
    assert 2.5 <= len(PROSE) / tokens_in(PROSE) <= 4


def test_other_scripts_count_by_the_letter() -> None:
    assert tokens_in("话说天下") == 4
    assert tokens_in("שלום עולם") == 8


@pytest.mark.parametrize(
    "text", ["one two three four five", "话说天下大势", "a,b,c,d,e,f", "x" * 500, "", "12345678901"]
)
@pytest.mark.parametrize("most", [0, 1, 3, 10, 1000])
def test_a_cut_text_is_a_beginning_within_its_budget(text: str, most: int) -> None:
    cut = cut_to_tokens(text, most)
    assert text.startswith(cut)
    assert tokens_in(cut) <= most
    if tokens_in(text) <= most:
        assert cut == text


def test_a_cut_falls_between_words() -> None:
    text = "I don't know a well-kept garden"
    for most in range(12):
        cut = cut_to_tokens(text, most)
        assert text.startswith(cut)
        assert not cut or text[len(cut) :][:1] in ("", " ")
