"""When a description gives a word away, and when two descriptions say the same (arena 3.2)."""

from __future__ import annotations

import pytest

from league_agents.games.undercover.own_word import reveals
from league_agents.kit.likeness import comparable


@pytest.mark.parametrize(
    ("word", "description", "found"),
    [
        ("pear", "two pears", True),  # the specification's example
        ("pear", "it appears", False),
        ("pear", "PEAR!", True),
        ("pear", "a pear's skin", True),
        ("pear", "a pear’s skin", True),
        ("box", "many boxes", True),
        ("pear", "pearl", False),
        ("pear", "spear", False),
        ("pear", "pear_tree", True),
        ("pear", "pear-shaped", True),
        ("pear", "p e a r", False),
        ("pear", "pe\u00adar", True),  # a soft hyphen is not seen
        ("pear", "pe\u200bar", True),
        ("pear", "ｐｅａｒ", True),
        ("pear", "我吃pear呢", True),
        ("pear", "", False),
        ("ice cream", "Ice\n cream is cold", True),
        ("ice cream", "icecream", False),
        ("c++", "it is like c++", True),
        ("c++", "it is like c", False),
        ("straße", "die STRASSE", True),
        ("café", "cafe\u0301s", True),
        ("橙子", "这是橙子吧", True),
        ("橙子", "橙 子", True),
        ("橙子", "橙\u200b子", True),
        ("橙子", "橙色的果子", False),
        ("橙子", "橘子", False),
        ("が", "か゛", True),  # a voice mark that stands by itself
        ("KTV包房", "ktv包房", True),
        ("リンゴ", "ﾘﾝｺﾞだ", True),  # half-width kana
        ("사과", "사과는", True),
    ],
)
def test_a_description_gives_a_word_away(word: str, description: str, found: bool) -> None:
    assert reveals(word, description) is found


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C¸a", "ça"),  # an accent that stands by itself
        ("Grey, and hungry!", "grey and hungry"),
        ("圆形的，可以直接吃", "圆形的 可以直接吃。"),
        ("ＡＢＣ１２", "abc12"),
        ("a\u200bb", "ab"),
        ("don’t", "dont"),
        ("snake_case", "snake case"),
    ],
)
def test_the_same_said_differently_compares_equal(one: str, other: str) -> None:
    assert comparable(one) == comparable(other) != ""


@pytest.mark.parametrize(("one", "other"), [("1 + 1", "1 - 1"), ("🍐", "🍎"), ("round 1", "round 2"), ("橙", "橘")])
def test_what_differs_in_more_than_punctuation_stays_different(one: str, other: str) -> None:
    assert comparable(one) != comparable(other)


@pytest.mark.parametrize("text", ["", " \n", "…", "--!?", "，。", "\u200b\ufe0f", "＿"])
def test_nothing_is_left_of_a_text_that_says_nothing(text: str) -> None:
    assert comparable(text) == ""
