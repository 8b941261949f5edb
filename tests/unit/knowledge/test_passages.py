"""Which paragraphs of a book can be a target."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from league_agents.knowledge.documents import Document, Markup, make_document
from league_agents.knowledge.passages import MIN_WORDS, Passage, blocks, book_opening, count_words, passages

PROSE = (
    "The harbour lay quiet under the morning fog. Nobody on the pier had noticed the small grey boat that came in\n"
    "with the tide, and nobody would have thought it worth a second look."
)
OTHER = (
    "Old Martha was the first to see what it carried. She put down her basket, wiped her hands on her apron, and\n"
    "called for the harbour master in a voice that woke the gulls on the roofs."
)


def book(text: str, markup: Markup = "plain") -> Document:
    return make_document(text, source="test", title="Test", language="en", markup=markup)


def read(text: str, markup: Markup = "plain") -> list[Passage]:
    return passages(book(text, markup))


def test_a_passage_knows_its_book_chapter_place_and_opening_sentence() -> None:
    found = read(f"CHAPTER I\n\n{PROSE}\n\nCHAPTER II\n\n{OTHER}\n")
    assert [(p.book, p.chapter, p.position, p.opening_sentence) for p in found] == [
        ("Test", "CHAPTER I", 1, "The harbour lay quiet under the morning fog."),
        ("Test", "CHAPTER II", 2, "Old Martha was the first to see what it carried."),
    ]
    assert found[0].text == PROSE.replace("\n", " ")


@pytest.mark.parametrize(
    "text",
    [
        "One sentence only, however long it goes on, with clause after clause, and never a full stop before its end",
        "Too short. Far too short.",
        # no letters to speak of
        "1.5 2.5 3.5 4.5. " * 8,
        # an opening below the ten characters that deployed players accept
        f"No. {PROSE}",
    ],
)
def test_what_is_too_short_or_no_prose_is_no_passage(text: str) -> None:
    assert read(text) == []


def test_the_least_passage_has_exactly_the_least_words_and_two_sentences() -> None:
    sentence = "The first sentence stands here."
    rest = " ".join(["word"] * (MIN_WORDS - 5)) + "."
    assert len(read(f"{sentence} W{rest[1:]}")) == 1
    assert read(f"{sentence} W{rest[6:]}") == []


@pytest.mark.parametrize(
    ("heading", "chapter"),
    [
        ("CHAPTER IV", "CHAPTER IV"),
        ("Chapter 12. The Storm", "Chapter 12. The Storm"),
        ("CHAPTER I\n\nDown the Rabbit-Hole and Up Again", "CHAPTER I"),  # a line of small letters may be anything
        ("CHAPTER I\n\nTHE STORM", "CHAPTER I: THE STORM"),
        ("IV", "IV"),
        ("XIV. The Return", "XIV. The Return"),
        ("THE RETURN OF THE FLEET", "THE RETURN OF THE FLEET"),
        ("_BOOK THE SECOND_", "BOOK THE SECOND"),
        ("פרק ג", "פרק ג"),
        ("第十二回 三國", "第十二回 三國"),
        ("Letter 1", "Letter 1"),
        ("ACT I. SCENE II.", "ACT I. SCENE II."),
    ],
)
def test_headings_are_recognised_by_their_form(heading: str, chapter: str | None) -> None:
    assert [p.chapter for p in read(f"{heading}\n\n{PROSE}\n")] == [chapter]


@pytest.mark.parametrize(
    "line", ["STOP!", '"A VISION', "Book I like.", "I saw him.", "MY DEAR FRIEND,--", "I. said nothing,"]
)
def test_a_short_line_of_the_story_is_no_heading(line: str) -> None:
    assert [p.chapter for p in read(f"CHAPTER I\n\n{PROSE}\n\n{line}\n\n{OTHER}\n")] == ["CHAPTER I", "CHAPTER I"]


def test_a_heading_right_above_its_text_is_told_apart_from_it() -> None:
    assert [(p.chapter, p.text[:11]) for p in read(f"Chapter 3\n{PROSE}")] == [("Chapter 3", "The harbour")]


def test_a_poster_in_capitals_is_no_chapter_of_a_book_with_numbered_ones() -> None:
    text = f"CHAPTER I\n\n{PROSE}\n\nTHE LEAGUE IS DISSOLVED\n\n{OTHER}\n"
    assert [p.chapter for p in read(text)] == ["CHAPTER I", "CHAPTER I"]


ASIDES = {
    "page number": "[Pg 12]",
    "page number between dashes": "- 12 -",
    "ornament": "* * * * *",
    "footnote": f"[Footnote 1: {PROSE}]",
    "numbered note": f"[12] {PROSE}",
    "note with a star": f"* {PROSE}",
    "picture": f"[Illustration: {PROSE}]",
    "table": "Year    Ships    Crew. And more.\n" * 10,
    "dots": "The Storm and the quiet after it. . . . . . . 12\n" * 6,
}


@pytest.mark.parametrize("aside", ASIDES.values(), ids=ASIDES.keys())
def test_matter_around_the_text_is_no_passage(aside: str) -> None:
    assert [p.opening_sentence for p in read(f"{PROSE}\n\n{aside}\n\n{OTHER}\n")] == [
        "The harbour lay quiet under the morning fog.",
        "Old Martha was the first to see what it carried.",
    ]


def test_notes_and_index_at_the_end_are_left_out_and_a_chapter_ends_them() -> None:
    text = f"CHAPTER I\n\n{PROSE}\n\nFOOTNOTES:\n\n{OTHER}\n\nCHAPTER II\n\n{OTHER}\n"
    assert [p.chapter for p in read(text)] == ["CHAPTER I", "CHAPTER II"]


def test_a_table_of_contents_is_left_out_however_long_its_entries() -> None:
    entry = "The Boys Escape Jim. Torn Gang. Deep-laid Plans. " * 6
    contents = f"CONTENTS.\n\nCHAPTER I. {entry}\n\nCHAPTER II. {entry}\n\n"
    found = read(f"{contents}CHAPTER I.\n\n{PROSE}\n\nCHAPTER II.\n\n{OTHER}\n")
    assert [(p.chapter, p.position) for p in found] == [("CHAPTER I.", 1), ("CHAPTER II.", 2)]


def test_lines_broken_at_the_margin_are_joined_without_inventing_spaces() -> None:
    text = PROSE.replace("came in\nwith", "came in--\nwith").replace("small grey boat", "small well-\nbuilt boat")
    assert "came in--with the tide" in read(text)[0].text
    assert "small well-built boat" in read(text)[0].text


def test_chinese_lines_are_joined_without_spaces_and_counted_by_characters() -> None:
    text = "話說天下大勢，分久必合，合久必分。周末七國分爭，并入於\n秦。"
    text += "及秦滅之後，楚、漢分爭，又并入於漢。漢朝自高祖斬白蛇而起義。"
    found = read(text)
    assert [p.opening_sentence for p in found] == ["話說天下大勢，分久必合，合久必分。"]
    assert "并入於秦。" in found[0].text


def test_typed_italics_are_no_part_of_the_text() -> None:
    assert "Nobody on the pier" in read(PROSE.replace("Nobody", "_Nobody_"))[0].text


def test_verse_keeps_its_lines() -> None:
    verse = "The fog came in from the sea,\nAnd it sat on the silent quay.\nThe bells of the harbour rang,\n"
    verse += "And nobody heard what they sang.\nThe night went by on the wall,\nAnd the fog went over it all."
    assert read(verse)[0].text == verse
    assert read(verse)[0].opening_sentence == "The fog came in from the sea, And it sat on the silent quay."


@pytest.mark.parametrize("label", ["GLOUCESTER.\n", "Ber.\n", "FIRST MURDERER.\n", "HAMLET. "])
def test_the_speaker_of_a_play_is_no_part_of_what_is_said(label: str) -> None:
    assert read(label + PROSE)[0].text == PROSE.replace("\n", " ")


def test_paragraphs_are_found_by_indentation_or_one_a_line_where_blank_lines_are_missing() -> None:
    lines = [line.strip() for text in [PROSE, OTHER] * 30 for line in text.split("\n")]
    indented = "\n".join(f"   {line}" if line.startswith(("The harbour", "Old")) else line for line in lines)
    assert len(read(indented)) == 60
    long_lines = "\n".join(text.replace("\n", " ") for text in [PROSE, OTHER] * 30)
    assert len(read(long_lines)) == 60


MARKED_UP = (
    OTHER.replace("Old Martha", "**Old** [Martha](page.html)[^1]")
    .replace("basket", "`basket`")
    .replace("roofs", "_roofs_")
)
MARKDOWN = f"""# Title

{PROSE}

## Code

```python
{PROSE}
```

~~~
{PROSE}

# no heading
~~~

    {PROSE}

- {PROSE}

1. {PROSE}

| a | b |
|---|---|
| {PROSE} | x |

[^1]: {PROSE}

Setext heading
--------------

{MARKED_UP}

> {PROSE.replace(chr(10), chr(10) + "> ")}
"""


def test_markdown_code_tables_lists_and_notes_are_no_passages_and_markup_is_gone() -> None:
    found = read(MARKDOWN, "markdown")
    assert [(p.chapter, p.text) for p in found] == [
        ("Title", PROSE.replace("\n", " ")),
        ("Setext heading", OTHER.replace("\n", " ")),
        ("Setext heading", PROSE.replace("\n", " ")),
    ]


def test_a_fence_that_is_never_closed_hides_the_rest() -> None:
    assert len(read(f"{PROSE}\n\n```\n{OTHER}\n\n{OTHER}", "markdown")) == 1


@example("1\\\n\\", "markdown")  # a line that is only a forced break
@settings(max_examples=60, deadline=None)
@given(st.text(alphabet='aA .!\n#`>|-*_[]()IV1\t"“”—\\', max_size=400), st.sampled_from(["plain", "markdown"]))
def test_no_text_breaks_the_blocks(text: str, markup: Markup) -> None:
    if not text.strip():
        return
    document = Document(title="T", author=None, language="en", text=text, source="test", markup=markup)
    assert all(block.text == block.text.strip("\n") for block in blocks(document))
    assert [p.position for p in passages(document, min_words=1, min_sentences=1)] == list(
        range(1, 1 + len(passages(document, min_words=1, min_sentences=1)))
    )


@pytest.mark.parametrize("markup", ["plain", "markdown"])
@pytest.mark.parametrize(
    "unit",
    [
        "a. ",
        "_a ",
        "[a](",
        "**a",
        "`a",
        "| a ",
        ". . ",
        "CONTENTS\n\nA\n\n",
        "-\n",
        "<a ",
        "[Illustration ",
        "A   ",
        "<!-- ",
    ],
)
def test_hostile_repetition_costs_little(unit: str, markup: Markup) -> None:
    began = time.process_time()
    read((unit * 60_000)[:60_000], markup)
    assert time.process_time() - began < 5  # quadratic searches would take minutes on a file of the largest size


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), ("one two  three", 3), ("非常道可道非常道", 5), ("道 and tao", 3)]
)
def test_words_are_counted_by_spaces_and_chinese_by_characters(text: str, words: int) -> None:
    assert count_words(text) == words


@pytest.mark.parametrize(
    ("text", "opening", "paragraph"),
    [
        (f"CHAPTER I\n\nThe lamp went out.\n\n{PROSE}\n", "The lamp went out.", "The lamp went out."),
        (f"THE LAMP\n\nby Ann Writer\n\nMay 1887\n\n{PROSE}\n", "The harbour lay quiet under the morning fog.", None),
        ("הילד יצא מן הבית. הוא הלך אל הים.", "הילד יצא מן הבית.", "הילד יצא מן הבית. הוא הלך אל הים."),
        ("話說有一個少年住在村裡。他讀書。", "話說有一個少年住在村裡。", "話說有一個少年住在村裡。他讀書。"),
    ],
)  # fmt: skip
def test_a_book_begins_with_its_first_sentence_even_in_a_paragraph_that_is_no_passage(
    text: str, opening: str, paragraph: str | None
) -> None:
    found = book_opening(book(text))
    assert found is not None
    assert found.opening_sentence == opening
    assert paragraph is None or found.text == paragraph
    assert found.position == 0


def test_a_book_without_a_sentence_begins_with_nothing() -> None:
    assert book_opening(book("no end mark\n\n12 34 56.\n")) is None


@pytest.mark.parametrize(("notes", "kept"), [("[1] The fog of 1812.\n\n[2] A boat.", ""), ("", "[1]")])
def test_marks_of_the_notes_of_a_book_are_no_words_of_it(notes: str, kept: str) -> None:
    marked = PROSE.replace("fog.", "fog.[1]").replace("boat", "boat[2]")
    (first, *_) = read(f"CHAPTER I\n\n{marked}\n\n{OTHER}\n\n{notes}\n")
    assert first.opening_sentence == f"The harbour lay quiet under the morning fog.{kept}"
    assert ("boat[2]" in first.text) == bool(kept)
