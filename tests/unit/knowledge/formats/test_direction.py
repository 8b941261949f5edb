"""Lines that run from the right, put in reading order from where their letters stand."""

from __future__ import annotations

import pytest

from league_agents.knowledge.formats.direction import Sign, logical, runs_from_right


def seen(shown: str, *, spaces: bool = True) -> list[Sign]:
    """Signs as they stand on paper from the left to the right, each one wide; spaces may be mere gaps."""
    signs = [Sign(character, float(i), float(i + 1)) for i, character in enumerate(shown)]
    return [sign for sign in signs if spaces or sign.character != " "]


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        ("םלוע םולש", "שלום עולם"),
        ("UDP תמועל TCP", "TCP לעומת UDP"),  # a Latin word at the line's right edge comes first
        (".הרעה איה 192.168.0.1 תבותכ", "כתובת 192.168.0.1 היא הערה."),
        ("50% לש החנה", "הנחה של 50%"),
        ("TCP Reno 2 לוקוטורפ", "פרוטוקול TCP Reno 2"),
        ("443-ו 80 םירעש", "שערים 80 ו-443"),
        ("3 ,2 ,1 :רדסה", "הסדר: 1, 2, 3"),  # numbers apart run from the right one by one
        ("!Hello, world רמא", "אמר Hello, world!"),  # a mark at its end is the Hebrew's
        ("", ""),
    ],
)
def test_letters_run_from_the_right_and_latin_words_and_numbers_from_the_left(shown: str, read: str) -> None:
    assert logical(seen(shown)) == read


def test_words_are_divided_by_gaps_where_the_file_has_no_spaces() -> None:
    assert logical(seen("םלוע םולש", spaces=False)) == "שלום עולם"


def test_the_order_in_the_file_does_not_matter() -> None:
    signs = seen("םלוע םולש")
    assert logical(reversed(signs)) == logical(signs[3:] + signs[:3]) == "שלום עולם"


def test_a_space_without_a_width_is_nobodys_word() -> None:
    signs = [*seen("םולש"), Sign(" ", 2.0, 2.0)]
    assert logical(signs) == "שלום"


@pytest.mark.parametrize(
    "shown",
    [
        "ףוס (רגוסב) הלחתה",  # each bracket as it looks
        "ףוס )רגוסב( הלחתה",  # each as it is meant
        "ףוס )רגוסב) הלחתה",  # one turned round by somebody on the way
        "ףוס (רגוסב( הלחתה",
    ],
)
def test_brackets_open_and_close_however_they_were_stored(shown: str) -> None:
    assert logical(seen(shown)) == "התחלה (בסוגר) סוף"


def test_brackets_inside_a_latin_phrase_are_left_as_they_are() -> None:
    assert logical(seen("f(x) היצקנופ")) == "פונקציה f(x)"
    assert logical(seen(".f(x, y)-ב")) == "ב-f(x, y)."


def test_points_stay_with_their_letters() -> None:
    letters = [Sign("ב", 1.0, 2.0), Sign("\u05b7", 1.4, 1.5), Sign("ת", 0.0, 1.0), Sign("\u05bc", 1.6, 1.7)]
    assert logical(letters) == "ב\u05b7\u05bcת"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("שלום", True),
        ("שלום hello", True),
        ("A lecture on the word שלום in English", False),
        ("123", False),
        ("", False),
    ],
)
def test_a_book_runs_from_the_right_by_its_letters(text: str, answer: bool) -> None:
    assert runs_from_right(text) is answer
