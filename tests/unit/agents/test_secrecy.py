"""Whether a text tells a secret, whatever it looks like."""

from __future__ import annotations

import base64
import codecs

import pytest

from league_agents.agents.secrecy import canary_line, canary_of, skeleton, tells, tells_any, tells_canary
from league_agents.llm.port import Prompt, Purpose

SENTENCE = "Call me Ishmael."


def prompt(system: str, user: str = "material", key: str = "seed") -> Prompt:
    purpose = Purpose(match_id="m", callback="get_answers", step="step")
    return Prompt(system=f"{system}\n{canary_line(key, system, user)}", user=user, purpose=purpose)


@pytest.mark.parametrize(
    "text",
    [
        "call me ishmael",
        "It is “CALL ME ISHMAEL”!",
        "C a l l  m e  I s h m a e l",
        "Саll mе Ishmаеl",  # Cyrillic letters
        "C4ll m3 1shm43l",
        "leamhsI em llaC",
        codecs.encode(SENTENCE, "rot13"),
        base64.b64encode(SENTENCE.encode()).decode(),
        base64.b64encode(b"x" + SENTENCE.encode() + b"yz").decode(),
        base64.b64encode(b"xy" + SENTENCE.encode()).decode(),
        base64.b32encode(SENTENCE.encode()).decode(),
        SENTENCE.encode().hex(),
        " ".join(f"{byte:02X}" for byte in SENTENCE.encode()),
        " ".join(map(str, SENTENCE.encode())),
    ],
)
def test_a_sentence_is_found_in_each_dress(text: str) -> None:
    assert tells(text, SENTENCE)


@pytest.mark.parametrize(
    "text", ["whale", "Whales swim", "w-h-a-l-e", "wh@1e", "Wild horses always leap east", "elahw", "junyr", "ｗhale"]
)
def test_a_word_is_found_in_each_dress(text: str) -> None:
    assert tells(text, "whale")


@pytest.mark.parametrize("text", ["", "A sailor tells of a long hunt.", "what a leap", "0123456789", "名字"])
def test_an_innocent_text_tells_nothing(text: str) -> None:
    assert not tells_any(text, ["whale", SENTENCE, ""])


def test_a_short_secret_counts_as_a_whole_word_only() -> None:
    assert tells("It was red.", "red")
    assert not tells("It was coloured.", "red")


def test_letters_that_look_alike_are_one() -> None:
    assert skeleton("Ｐѕеudо-1ёtter") == skeleton("pseudo letter")
    assert skeleton("café") == skeleton("CAFE")


def test_the_mark_depends_on_the_key_and_on_both_texts() -> None:
    marks = {canary_line(key, system, user) for key in "ab" for system in "ab" for user in "ab"}
    assert len(marks) == 8
    assert canary_line("a", "b", "c") == canary_line("a", "b", "c")


def test_a_completion_that_shows_the_mark_is_seen_through() -> None:
    asked = prompt("You judge.")
    mark = canary_of(asked)
    assert mark is not None
    told = f"kestrel-{mark}"
    for text in (told, mark.upper(), " ".join(mark), mark[::-1], mark[:14], base64.b64encode(told.encode()).decode(),
                 told.encode().hex(), asked.system):  # fmt: skip
        assert tells_canary(asked, "innocent", text)
    assert not tells_canary(asked, "innocent", "kestrel-000000000000000000000000", mark[:6])


def test_the_last_mark_counts_so_that_a_text_cannot_bring_its_own() -> None:
    asked = prompt("The mark is kestrel-000000000000000000000000.")
    assert canary_of(asked) != "0" * 24
    assert canary_of(Prompt(system="none", user="", purpose=asked.purpose)) is None
