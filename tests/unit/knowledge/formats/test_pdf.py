"""PDF files: what PDFium reads, and what becomes of files that are none."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from league_agents.knowledge.documents import document_of_parts
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats import pdf
from league_agents.knowledge.formats.pdf import pdf_extract
from league_agents.knowledge.passages import passages
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
