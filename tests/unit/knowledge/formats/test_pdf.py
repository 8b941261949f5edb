"""PDF files: what PDFium reads, and what becomes of files that are none."""

from __future__ import annotations

import itertools
import random
import textwrap
from pathlib import Path

import pytest

from league_agents.knowledge.documents import document_of_parts
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats import pdf
from league_agents.knowledge.formats.pdf import pdf_extract
from league_agents.knowledge.passages import book_opening, passages
from tests.support.book_files import Placed, lines_of, pdf_bytes

FIXTURES = Path(__file__).parents[1] / "fixtures"
TEXT = [
    "The harbour lay quiet in the early light, and nobody was to be seen on the",
    "long wooden pier except for an old man who mended his nets. He did not look",
    "up when the strangers came (they were three).",
]


def refusal(content: bytes) -> str:
    with pytest.raises(DocumentRefused) as refused:
        pdf_extract(content, "book.pdf")
    assert "\n" not in str(refused.value)
    assert str(refused.value).startswith("book.pdf: ")
    return str(refused.value)


def test_a_page_becomes_parts_and_the_file_names_itself() -> None:
    page = [Placed("The Harbour", y=760, size=20), *lines_of(TEXT)]
    found = pdf_extract(pdf_bytes([page], fields={"Title": "A Tale", "Author": "Ann Writer"}), "book.pdf")
    assert [(part.kind, part.text) for part in found.parts] == [
        ("heading", "The Harbour"),
        ("paragraph", " ".join(TEXT)),
    ]
    assert (found.title, found.author, found.pages) == ("A Tale", "Ann Writer", 1)


@pytest.mark.parametrize(
    "title",
    [
        *("", "Microsoft Word - draft.docx", "untitled", "thesis.tex", "PowerPoint Presentation"),
        *("(anonymous)", "anonymous", "Untitled-1", "(unspecified)", "Microsoft Word - Document1"),
    ],
)
def test_a_title_that_a_program_wrote_gives_way_to_the_first_heading(title: str) -> None:
    page = [Placed("The Harbour", y=760, size=20), *lines_of(TEXT)]
    assert pdf_extract(pdf_bytes([page], fields={"Title": title}), "book.pdf").title == "The Harbour"


@pytest.mark.parametrize("author", ["(anonymous)", "anonymous", "Unknown"])
def test_an_author_that_a_program_wrote_is_none(author: str) -> None:
    assert pdf_extract(pdf_bytes([lines_of(TEXT)], fields={"Author": author}), "book.pdf").author is None


def test_hebrew_slides_are_read_in_reading_order() -> None:
    found = pdf_extract((FIXTURES / "hebrew_lecture.pdf").read_bytes(), "lecture.pdf")
    assert (found.title, found.pages) == ("הרצאה 4: אמינות ברשת", 4)
    document = document_of_parts(found.parts, source="lecture.pdf", title=found.title, author=None)
    assert document.language == "he"
    one, two = passages(document)
    assert one.chapter == "פרוטוקול TCP לעומת UDP"
    assert one.opening_sentence == "פרוטוקול TCP מבטיח שכל הנתונים יגיעו, ובסדר הנכון (בניגוד ל-UDP)."
    assert "האישור לא הגיע בתוך 200 אלפיות השנייה, החבילה נשלחת שוב. גודל החלון משתנה" in one.text
    assert two.chapter == "כתובות ושערים"
    assert two.opening_sentence == "כתובת IP, למשל 192.168.0.1, מזהה מחשב אחד ברשת."
    assert "שער (port) מזהה תוכנית אחת במחשב" in two.text
    assert "שערים 80 ו-443" in two.text.replace("בשערים", "שערים")
    assert "קורס רשתות" not in document.text  # the foot of every page


def test_pages_are_told_while_they_are_read() -> None:
    told: list[int] = []
    pdf_extract(pdf_bytes([lines_of(TEXT)] * 45), "book.pdf", told.append)
    assert told == [1, 21, 41]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"%PDF-1.4\n", "is a broken PDF file"),
        (pdf_bytes([lines_of(TEXT)])[:200], "is a broken PDF file"),
        (b"not a PDF file", "is a broken PDF file"),
        (pdf_bytes([[]]), "holds no text; a scan must be made readable"),
    ],
)
def test_a_broken_or_empty_file_is_refused(content: bytes, says: str) -> None:
    assert says in refusal(content)


def test_a_damaged_table_of_objects_is_repaired() -> None:
    content = pdf_bytes([lines_of(TEXT)])
    start = content.index(b"xref")
    assert pdf_extract(content[:start] + b"xref\n0 1\n" + content[start + 9 :], "book.pdf").pages == 1


def test_an_encrypted_file_is_refused_by_name() -> None:
    content = pdf_bytes([lines_of(TEXT)])
    locked = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O (%b) /U (%b) >> /ID [(x) (x)] /Root" % (
        b"o" * 32,
        b"u" * 32,
    )
    assert "is protected by a password" in refusal(content.replace(b"/Root", locked))
    strange = b"/Encrypt << /Filter /Nobody /V 9 >> /Root"
    assert "is encrypted in a way" in refusal(content.replace(b"/Root", strange))


def test_too_many_pages_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_PAGES", 3)
    assert "has 4 pages; at most 3 are read" in refusal(pdf_bytes([lines_of(TEXT)] * 4))


def test_a_page_that_claims_too_much_text_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "MAX_CHARACTERS_ON_PAGE", 400)
    found = pdf_extract(pdf_bytes([lines_of(TEXT * 10), lines_of(TEXT)]), "book.pdf")
    assert [part.text for part in found.parts] == [" ".join(TEXT)]


def test_bytes_changed_at_random_are_read_or_refused() -> None:
    content = pdf_bytes([lines_of(TEXT)] * 3, fields={"Title": "A Tale"})
    draw = random.Random(7)
    refused = 0
    for _ in range(150):
        spoilt = bytearray(content)
        for _ in range(draw.randrange(1, 30)):
            spoilt[draw.randrange(len(spoilt))] = draw.randrange(256)
        try:
            pdf_extract(bytes(spoilt), "book.pdf")
        except DocumentRefused:
            refused += 1
    assert 0 < refused < 150


# --- columns

HARBOUR = (
    "The harbour lay quiet in the early light and nobody was to be seen on the long wooden pier except for an old man. "
    "He mended his nets with great patience, as he had done on every morning of his life."
)
STRANGERS = (
    "The strangers asked him for a boat, and they asked him again, and only after the third time did he answer them. "
    "He pointed towards the lighthouse beyond the bay, and said nothing more to them that day."
)


def two_columns(*, row_by_row: bool, heading: str | None = None) -> bytes:
    left, right = (
        [Placed(line, x, 700 - i * 14, 10) for i, line in enumerate(textwrap.wrap(text, 34))]
        for x, text in ((60, HARBOUR), (320, STRANGERS))
    )
    top = [Placed(heading, 60, 740, 10)] if heading else []
    rows = [each for pair in itertools.zip_longest(left, right) for each in pair if each is not None]
    return pdf_bytes([[*top, *(rows if row_by_row else [*left, *right])]])


def test_a_heading_within_the_first_line_is_no_opening_and_the_line_no_heading() -> None:
    """The author's line is wider than the column: every line of the column seems to have had room."""
    column = [Placed(line, 60, 690 - i * 13, 10) for i, line in enumerate(textwrap.wrap(f"Abstract. {HARBOUR}", 42))]
    found = pdf_extract(
        pdf_bytes([[Placed("A. Author, Department of Harbours, University of Somewhere", 60, 725, 10), *column]]),
        "p.pdf",
    )
    opening = book_opening(document_of_parts(found.parts, source="p.pdf", title="T", author=None))
    assert opening is not None
    assert HARBOUR.startswith(opening.opening_sentence)


@pytest.mark.parametrize("row_by_row", [True, False])
def test_columns_are_read_one_after_the_other_however_the_file_draws_them(row_by_row: bool) -> None:
    found = pdf_extract(two_columns(row_by_row=row_by_row), "columns.pdf")
    assert [part.text for part in found.parts if part.kind == "paragraph"] == [HARBOUR, STRANGERS]


def test_a_line_across_the_page_stays_above_both_columns() -> None:
    heading = "The harbour of Eastport, a description by one who lived there for thirty years of his life."
    texts = [part.text for part in pdf_extract(two_columns(row_by_row=True, heading=heading), "columns.pdf").parts]
    assert texts[0].startswith("The harbour of Eastport")
    assert "".join(texts).endswith(STRANGERS)


def test_a_table_with_a_column_of_numbers_is_not_taken_apart() -> None:
    rows = [
        [
            Placed(f"Ships that came in {1800 + i}, by their flags", 60, 700 - i * 14, 10),
            Placed(str(i), 400, 700 - i * 14, 10),
        ]
        for i in range(12)
    ]
    found = pdf_extract(pdf_bytes([[each for row in rows for each in row]]), "table.pdf")
    assert "1801, by their flags 1" in " ".join(part.text for part in found.parts)
