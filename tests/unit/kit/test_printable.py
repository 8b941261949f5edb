"""Texts of strangers on a terminal."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from league_agents.kit.printable import line_of, of, printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Call me Ishmael.", "Call me Ishmael."),
        ("two\r\nlines\tand a tab", "two lines and a tab"),
        ("\x1b[31mred\x1b[0m", "red"),  # colours
        ("\x1b[2J\x1b[1;1Hgone", "gone"),  # clears the screen, moves the cursor
        ("\x1b]0;a new title\x07text", "text"),  # renames the window
        ("\x1b]8;;http://bad.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b31mred", "red"),  # the same in one byte
        ("\u202egnissim\u202c", "gnissim"),  # reversed writing
        ("a\u2066b\u2069c\u200fd", "abcd"),
        ("a\u2028b\u2029c", "a b c"),
        ("tag\U000e0041", "tag"),  # invisible letters
        ("\ud800", "�"),  # half a character
        ("בְּרֵאשִׁ֖ית", "בְּרֵאשִׁ֖ית"),
        ("此开卷第一回也", "此开卷第一回也"),
        ("می\u200cخواهم", "می\u200cخواهم"),  # Persian needs its joiner
        ("a" + "\u0301" * 50, "a" + "\u0301" * 4),
    ],
)
def test_what_is_shown_is_visible_and_stays_in_its_line(text: str, expected: str) -> None:
    assert printable(text) == expected


def test_a_long_text_ends_in_an_ellipsis() -> None:
    assert printable("word " * 100, 20) == "word word word word…"
    assert len(printable("x" * 10_000_000, 80)) == 80


@given(st.text())
def test_nothing_that_controls_a_terminal_is_left(text: str) -> None:
    shown = printable(text, 50)
    assert len(shown) <= 50
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Zl", "Zp", "Cs")]
    assert not set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069") & set(shown)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, "3"), (91.25, "91.25"), (1e300, ""), (None, ""), (True, ""), ({"a": 1}, ""), (10**50, str(10**50)[:40])],
)
def test_values_of_a_document_are_bounded(value: object, expected: str) -> None:
    assert of(value) == expected


class _Exits(Exception):
    def __str__(self) -> str:
        raise SystemExit(7)


class _Interrupts(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt


class _GivesNoText(Exception):
    def __str__(self) -> str:
        return 3  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no such book"), "ValueError: no such book"),
        (ValueError(), "ValueError"),
        (ValueError("two\nlines, \x1b[31mred"), "ValueError: two lines, red"),
        (_Exits(), "_Exits"),
        (_Interrupts(), "_Interrupts"),
        (_GivesNoText(), "_GivesNoText"),
        (type("E" * 1_000, (Exception,), {})("x"), f"{'E' * 79}…: x"),
    ],
)
def test_an_error_of_user_code_is_one_line_whatever_its_text_does(error: BaseException, line: str) -> None:
    assert line_of(error) == line


def test_the_line_of_an_error_is_bounded() -> None:
    assert len(line_of(ValueError("x" * 10_000_000))) == len("ValueError: ") + 300
