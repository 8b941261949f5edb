"""Secrets are hidden from every text, and a line asks only the sources of its owner."""

from __future__ import annotations

import pytest

from league_agents.report.secret_texts import HIDDEN, SecretTexts


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("whale", "the WHALE swims"),
        ("Call me Ishmael.", "it says: call  me\nishmael. And more"),
        ("key_", "my key_card"),  # no end is looked for behind what is no letter
        ("_key", "my card_key"),
        ("-x9-", "a-x9-b"),
        ("signs", "\u017fign\u017f"),  # the long s is another case of s
        ("Kelvin", "\u212aelvin"),
        ("שלום עולם", "אמר שלום עולם היום"),
    ],
)
def test_a_secret_is_found_in_every_spelling(secret: str, text: str) -> None:
    texts = SecretTexts()
    texts.add([secret])
    assert HIDDEN in texts.hide(text)


def test_a_word_that_only_holds_a_secret_stays() -> None:
    texts = SecretTexts()
    texts.add(["whale"])
    assert texts.hide("whales and a narwhale") == "whales and a narwhale"


def test_a_line_asks_its_owner_alone_and_hides_what_others_said() -> None:
    texts = SecretTexts()
    asked: list[str] = []
    secrets = {"one": ["apple"], "two": ["banana"]}
    for owner in secrets:

        def source(owner: str = owner) -> list[str]:
            asked.append(owner)
            return secrets[owner]

        texts.ask(source, owner)
    assert texts.hide("banana", "two") == HIDDEN
    assert asked == ["two"]
    assert texts.hide("apple and banana", "one") == f"{HIDDEN} and {HIDDEN}"
    assert asked == ["two", "one"]
    secrets["two"] = ["cherry"]
    assert texts.hide("banana, cherry", "two") == f"banana, {HIDDEN}", "a target is secret until it is scored"
    asked.clear()
    assert texts.hide("apple", "somebody else") == HIDDEN
    assert sorted(asked) == ["one", "two"], "a text of nobody in particular is looked through for everything"


def test_what_two_sources_hold_is_hidden_until_both_let_it_go() -> None:
    texts = SecretTexts()
    secrets = {"one": ["apple"], "two": ["apple"]}
    texts.ask(lambda: secrets["one"], "one")
    texts.ask(lambda: secrets["two"], "two")
    assert texts.hide("apple") == HIDDEN
    secrets["one"] = []
    assert texts.hide("apple") == HIDDEN
    secrets["two"] = []
    assert texts.hide("apple") == "apple"
