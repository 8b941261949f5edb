"""Where a book opens, in the layouts of real files, and what is passed over before it."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import pytest

from benchmarks.documents import opening_of_file, same_opening
from benchmarks.made_documents import PARTS, STILL_WRONG, MadeDocument, made_documents
from league_agents.knowledge.documents import make_document
from league_agents.knowledge.formats.reader import IsolatedReader
from league_agents.knowledge.layout import without_line_numbers
from league_agents.knowledge.passages import Passage, Reading, passages, read_parts

EN = tuple(
    " ".join(each.split()) for each in made_documents("tuned")[0].text.split("CHAPTER II")[0].split("\n\n")[-4:-1]
)


def wrapped(paragraphs: tuple[str, ...], indent: str = "") -> list[str]:
    return [fill(each, 72, initial_indent=indent) for each in paragraphs]


def body(paragraphs: tuple[str, ...]) -> str:
    return "\n\n".join(wrapped(paragraphs))


def indented(paragraphs: tuple[str, ...], indent: str = "    ") -> str:
    return "\n".join(wrapped(paragraphs, indent))


def reading(text: str, name: str = "book.txt") -> Reading:
    return read_parts(
        make_document(text, source=name, title="T", markup="markdown" if name.endswith(".md") else "plain")
    )


TEXTS = [
    made
    for part in PARTS
    for made in made_documents(part)
    if made.name.endswith((".txt", ".md")) and made.name not in STILL_WRONG
]


@pytest.mark.parametrize("made", TEXTS, ids=lambda made: made.name)
def test_a_document_opens_with_its_text_whatever_stands_before_it(made: MadeDocument) -> None:
    found = reading(made.text, made.name).opening()
    assert found is not None
    assert same_opening(found.opening_sentence, made.opening)


def test_slides_notes_and_papers_open_with_their_text(tmp_path: Path) -> None:
    wrong = []
    with IsolatedReader() as reader:
        for made in made_documents("later_layouts"):
            if made.name not in {each.name for each in TEXTS} | STILL_WRONG:
                found = opening_of_file(made, tmp_path, reader)
                wrong += [] if same_opening(found, made.opening) else [(made.name, found)]
    assert wrong == []


def test_numbers_of_verse_lines_are_no_words_of_it() -> None:
    lines = [
        "Before the harbour lights were lit,",
        "I saw the herring fleet come in;",
        "And every boat had on its bow",
        "A lantern and a violin.",
    ]
    left = "\n".join(f"{number:>4}  {line}" for number, line in enumerate(lines, start=8))
    right = "\n".join(f"{line:<50}{number if number % 4 == 0 else ''}" for number, line in enumerate(lines, start=5))
    for text in (left, right):
        assert reading(f"THE FLEET\n\n{text}").parts[0].text == "\n".join(lines)
    steps = "1  Take a ring of iron\n2  Heat it until it glows\n3  Lay it on the stone"
    assert without_line_numbers(steps.split("\n")) == steps.split("\n")


@pytest.mark.parametrize(
    ("above", "reason"),
    [
        ("This is true liberty,\nWhen free-born men,\nHaving to advise, may speak.\n\nEuripid. Hicetid.", "epigraph"),
        ('"The sea has neither meaning nor pity." (Chekhov, Gusev)', "epigraph"),
        ("Reading: chapter 6. Due: problem set 3.", "title page"),
    ],
)
def test_verse_with_a_bare_source_and_lines_about_a_course_are_no_openings(above: str, reason: str) -> None:
    found = reading(f"CHAPTER I\n\n{above}\n\n{body(EN)}\n\nCHAPTER II\n\n{body(EN)}")
    assert found.parts[0].skipped == reason
    assert found.opens_at is not None
    assert same_opening(found.parts[found.opens_at].text, EN[0])


def test_verse_of_whoever_enters_first_opens_a_play() -> None:
    verse = "To sing a song that old was sung,\nFrom ashes ancient Gower is come;\nAssuming man's\nInfirmities."
    speeches = "\n\n".join(f"{name}. I never said so, and I never shall." for name in ("ANNE", "PAUL") * 4)
    found = reading(f"ACT I.\n\n[Enter GOWER.]\n\n{verse}\n\nSCENE I. A room.\n\n[Enter ANNE.]\n\n{speeches}").opening()
    assert found is not None
    assert found.text.startswith("To sing a song")


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("TRANSCRIBER'S NOTE\n\nThe spelling was kept as it is in the printed book.", "note on the file"),
        ("PREFACE\n\nI wrote this book in the winter of the great frost.", "front matter"),
        ("London: printed by Ballantyne, Hanson and Co., 1898.", "printer's line"),
        ("DRAMATIS PERSONAE\n\nThe guard is an old soldier of sixty years.", "cast"),
        ("To my wife, who read every page of it first.", "title page"),
    ],
)
def test_what_is_passed_over_is_named_with_its_reason(before: str, reason: str) -> None:
    parts = reading(f"{before}\n\nCHAPTER I\n\n{body(EN)}\n\nCHAPTER II\n\n{body(EN)}").parts
    assert [part.skipped for part in parts][:2] == [reason, None]


def test_a_long_text_before_the_first_chapter_is_the_beginning_unless_it_is_named_as_front_matter() -> None:
    chapters = f"CHAPTER I\n\n{body(EN[:1])}\n\nCHAPTER II\n\n{body(EN * 3)}"
    for heading, first in (("", EN[1]), ("THE INN AT THE TOP\n\n", EN[1]), ("INTRODUCTION\n\n", EN[0])):
        found = reading(f"{heading}{body(EN[1:])}\n\n{body(EN[1:])}\n\n{chapters}").opening()
        assert found is not None
        assert same_opening(found.opening_sentence, first)


def test_the_introduction_of_a_text_without_numbered_chapters_is_its_beginning() -> None:
    found = reading(f"# Roads\n\n## Introduction\n\n{EN[0]}\n\n## Surfaces\n\n{EN[2]}", "notes.md").opening()
    assert found is not None
    assert found.text == EN[0]


def test_a_book_that_is_a_preface_only_opens_with_it() -> None:
    found = reading(f"PREFACE\n\n{body(EN)}").opening()
    assert found is not None
    assert same_opening(found.opening_sentence, EN[0])


def test_paragraphs_marked_by_indentation_alone_are_divided_as_printed() -> None:
    for indent in (" ", "    ", "\t", "\u3000"):
        texts = [each.text for each in passages_of(indented(EN, indent=indent))]
        assert texts == list(EN)


def test_one_blank_line_in_each_chapter_does_not_hide_the_indentation() -> None:
    text = "\n\n".join(f"CHAPTER {number}\n\n{indented(EN)}" for number in ("I", "II", "III"))
    assert [each.text for each in passages_of(text)] == [*EN, *EN, *EN]


def test_paragraphs_without_blank_lines_and_indentation_are_divided_where_a_line_ended_early() -> None:
    text = "CHAPTER I\n" + "\n".join(wrapped(EN)) + "\nCHAPTER II\n" + "\n".join(wrapped(EN[::-1]))
    found = passages_of(text)
    assert [(each.chapter, each.text) for each in found] == [
        *(("CHAPTER I", each) for each in EN),
        *(("CHAPTER II", each) for each in EN[::-1]),
    ]


def test_a_paragraph_whose_sentences_end_at_line_ends_stays_whole() -> None:
    lines = ["The road went over the hill and down into the valley of the mill.", "Nobody walked there."]
    text = f"{body(EN)}\n\n" + "\n".join(lines * 3) + f"\n\n{body(EN)}"
    assert any(each.text == " ".join(lines * 3) for each in passages_of(text))


def test_verse_with_indented_lines_stays_one_passage() -> None:
    stanza = "\n".join(
        (
            "The road goes on across the hill,",
            "    And nobody can say,",
            "Why it should not be standing still",
            "    Until the break of day.",
        )
        * 3
    )
    found = passages_of(f"{body(EN)}\n\n{stanza}\n\n{body(EN)}", least=1)
    assert sum("Why it should not" in each.text for each in found) == 1


def test_the_names_of_speakers_are_no_part_of_their_speeches() -> None:
    speech = (
        "The mail is late tonight, and the lamp is nearly out. Nobody will come over the hill at this hour, I think."
    )
    lines = "\n\n".join(f"{who}. {speech}" for who in ("LUCY", "THE GUARD", "Lucy [aside]") * 3)
    found = passages_of(f"ACT I\n\n{lines}", least=10)
    assert {each.text for each in found} == {speech}


def test_a_book_in_which_few_paragraphs_begin_with_a_name_keeps_them() -> None:
    spoken = f"Note: {EN[0]}"
    assert passages_of(f"{spoken}\n\n{body(EN * 8)}")[0].text.startswith("Note: It was")


def passages_of(text: str, least: int = 25) -> list[Passage]:
    return passages(make_document(text, source="book.txt", title="T"), min_words=least)


@pytest.mark.parametrize(
    "line",
    [
        "“x” —" + "A." * 150,
        "“x” —" + "AB" * 60 + "!",
        ". " * 150,
        "A&" * 120 + ": x",
        "(" * 5_000,
        "_*" * 5_000 + "preface",
        "word's " * 40 + "!",
        "A" * 300 + "!\n" + "B" * 300 + "\n" + "C D" * 90 + "!",
    ],
    ids=range(8),
)
def test_no_line_is_read_for_long_however_it_is_made(line: str) -> None:
    # What takes longer than quadratic time on these would not end within the limit of the tests.
    text = f"CHAPTER I\n\n{line}\n\n{line}\n{line}\n\n" * 20
    assert len(reading(text + body(EN)).parts) > 0
