"""Lines on pages become paragraphs again."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import pytest

from league_agents.knowledge.formats.pages import Line, Sheet, page_blocks

WIDTH = 60
FIRST = (
    "The harbour lay quiet in the early light and nobody was to be seen on the long wooden pier except for an old man "
    "who mended his nets with great patience, as he had done on every morning of his life."
)
SECOND = (
    "He did not look up when the strangers came. They asked him for a boat, and they asked him again, and only after "
    "the third time did he put down his needle and point towards the lighthouse beyond the bay."
)


def lines(text: str, top: float = 700.0, *, indent: float = 0.0, width: int = WIDTH, size: float = 12.0) -> list[Line]:
    """A paragraph of letters that are all six points wide, twelve high, with lines fifteen apart."""
    wrapped = textwrap.wrap(text, width, initial_indent=" " * int(indent / 6), break_on_hyphens=False)
    return [line(each, top - i * 15, size=size) for i, each in enumerate(wrapped)]


def line(text: str, bottom: float, *, size: float = 12.0) -> Line:
    start = 72.0 + 6 * (len(text) - len(text.lstrip()))
    return Line(text.strip(), start, 72.0 + 6 * len(text.rstrip()), bottom, bottom + size)


def page(*paragraphs: Sequence[Line], width: float = 500, height: float = 800) -> Sheet:
    return Sheet(width, height, [each for paragraph in paragraphs for each in paragraph])


def below(paragraph: Sequence[Line], gap: float = 15.0) -> float:
    return paragraph[-1].bottom - gap


def paragraphs(*sheets: Sheet) -> list[str]:
    return [block.text for block in page_blocks(sheets) if block.kind == "paragraph"]


def test_an_indented_line_begins_a_paragraph() -> None:
    first = lines(FIRST, indent=18)
    assert paragraphs(page(first, lines(SECOND, below(first), indent=18))) == [FIRST, SECOND]


def test_a_gap_begins_a_paragraph() -> None:
    first = lines(FIRST)
    assert paragraphs(page(first, lines(SECOND, below(first, 30)))) == [FIRST, SECOND]


def test_a_line_on_which_there_was_room_ends_a_paragraph() -> None:
    first = lines(f"{FIRST} It was so.")
    assert len(first[-1].text) < WIDTH - 10
    assert paragraphs(page(first, lines(SECOND, below(first)))) == [f"{FIRST} It was so.", SECOND]


def test_a_paragraph_goes_on_overleaf_past_the_printers_lines() -> None:
    found = lines(FIRST)
    pages = []
    for number, part in enumerate((found[:2], found[2:]), start=1):
        head, foot = line("A TALE OF THE SEA", 780, size=9), line(str(number), 30)
        pages.append(page([head], part, [foot]))
    more = [
        page([line("A TALE OF THE SEA", 780, size=9)], lines(SECOND, indent=18), [line(str(n), 30)]) for n in (3, 4)
    ]
    assert paragraphs(*pages, *more) == [FIRST, SECOND, SECOND]


def test_a_note_at_the_foot_does_not_keep_the_text_from_going_on() -> None:
    found = lines(FIRST)
    note = line("1 As one reads in the harbour's books.", 100, size=8)
    assert paragraphs(page(found[:2], [note]), page(found[2:], lines(SECOND, below(found[2:]), indent=18)))[0] == FIRST


@pytest.mark.parametrize("number", ["17", "- 17 -", "xvii", "Page 17 of 40", "17/40", "עמוד 17 מתוך 40"])
def test_a_pages_number_is_no_text(number: str) -> None:
    found = page(lines(FIRST), [line(number, 30)])
    assert [block.text for block in page_blocks([found])] == [FIRST]


def test_what_comes_back_at_another_height_is_the_authors() -> None:
    refrain = "And the sea went on and on, as it will when we are gone."
    sheets = [page(lines(FIRST), [line(refrain, 300 - 40 * number)]) for number in range(5)]
    assert sum(refrain in text for text in paragraphs(*sheets)) == 5


@pytest.mark.parametrize(
    ("broken", "elsewhere", "whole"),
    [
        ("It was un-/qualified praise.", "", "unqualified"),  # neither half is a word of the book
        ("It was some-/thing new.", "There was something in it.", "something"),  # the book writes it so
        ("A well-/known man came.", "He was well-known.", "well-known"),
        ("A pretty-/spoken girl.", "She was pretty. She was spoken to.", "pretty-spoken"),  # two words of the book
        ("From 1914-/1918 it lasted.", "", "1914- 1918"),  # no word at all
    ],
)
def test_a_word_that_was_broken_is_made_whole_as_the_book_writes_it(broken: str, elsewhere: str, whole: str) -> None:
    above, under = broken.split("/")
    start = f"{'The text goes on for a while and then there comes this end. ':.50}"
    text = [line(f"{start} {above}", 700), line(f"{under} {FIRST[:45]}", 685), *lines(f"{FIRST} {elsewhere}", 640)]
    assert whole in paragraphs(page(text))[0]


def test_verse_keeps_its_lines() -> None:
    verse = ["The tide comes in, the tide goes out,", "And no one asks it what about,", "Or why it cannot stay,"]
    found = page(lines(FIRST), [line(text, 600 - 15 * i) for i, text in enumerate(verse)], lines(SECOND, 500))
    assert paragraphs(found)[1] == "\n".join(verse)


def test_big_letters_are_a_heading_and_small_ones_an_aside() -> None:
    found = page(
        [line("The Harbour", 720, size=20)], lines(FIRST, 680), [line("A remark in small print.", 500, size=9)]
    )
    assert [(block.kind, block.text) for block in page_blocks([found])] == [
        ("heading", "The Harbour"),
        ("aside", "A remark in small print."),
        ("paragraph", FIRST),
    ]


def test_a_slide_is_one_part_and_begins_with_a_point_that_says_something() -> None:
    slide = page(
        [line("Reliable transfer", 400, size=24)],
        [line("• Agenda", 340)],
        [line("• Packets may be lost on the way", 310)],
        [line("• Every packet is acknowledged by whoever receives it, or else", 280)],
        [line("it is sent again.", 265)],
        [line("• The window grows.", 240)],
        width=700,
        height=450,
    )
    heading, points = page_blocks([slide])
    assert (heading.kind, heading.text) == ("heading", "Reliable transfer")
    assert points.text == (
        "Packets may be lost on the way\n\n"
        "Every packet is acknowledged by whoever receives it, or else it is sent again. The window grows."
    )


def test_pages_without_lines_give_nothing() -> None:
    assert list(page_blocks([])) == []
    assert list(page_blocks([Sheet(500, 800, [])])) == []


def test_lines_without_any_height_do_no_harm() -> None:
    flat = [Line(text, 0, 0, 0, 0) for text in ("one", "two three", "four.")]
    assert list(page_blocks([Sheet(0, 0, flat)]))
