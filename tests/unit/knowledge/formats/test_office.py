"""Word documents and presentations, as Office programs and hostile people write them."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import docx
import pptx
import pytest
from pptx.util import Inches

from league_agents.knowledge.corpus import add_files, show_book
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.files import content_of, read_file
from league_agents.knowledge.formats import office
from league_agents.knowledge.formats.kinds import BookFormat
from league_agents.knowledge.formats.office import docx_extract, pptx_extract
from league_agents.knowledge.formats.reader import IsolatedReader
from league_agents.knowledge.passages import read_parts

FIRST = (
    "An operating system is a program that manages the resources of a machine on behalf of other programs. Without it "
    "every program would need its own code for every disk."
)
SECOND = (
    "A process is a program in execution, with memory, open files and at least one thread. The kernel keeps a record "
    "of each of them in a table of its own."
)


def saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


def word_document() -> bytes:
    document = docx.Document()
    document.core_properties.title = "Operating Systems"
    document.core_properties.author = "D. Teacher"
    document.core_properties.language = "en-GB"
    document.add_heading("Operating Systems", 0)
    document.add_paragraph("Contents")
    document.add_paragraph("Processes and threads", style="List Number")
    document.add_heading("What is it?", 1)
    document.add_paragraph(FIRST)
    table = document.add_table(rows=2, cols=2)
    table.cell(0, 0).text = "Year. " + FIRST
    document.add_paragraph("Threads in short", style="List Bullet")
    document.add_paragraph().add_run("Processes").bold = True
    paragraph = document.add_paragraph()
    for run, is_bold in ((SECOND[:20], True), (SECOND[20:], False)):
        paragraph.add_run(run).bold = is_bold
    return saved(document)


def presentation() -> bytes:
    made = pptx.Presentation()
    title = made.slides.add_slide(made.slide_layouts[0])
    title.shapes.title.text = "Operating Systems"
    title.placeholders[1].text = "D. Teacher, spring term"
    slide = made.slides.add_slide(made.slide_layouts[1])
    slide.shapes.title.text = "Processes"
    slide.placeholders[1].text = f"{FIRST}\nthreads"
    lower = slide.shapes.add_textbox(Inches(1), Inches(6), Inches(4), Inches(1))
    lower.text_frame.text = "A box below the points is read after them."
    upper = slide.shapes.add_textbox(Inches(1), Inches(1.5), Inches(4), Inches(1))
    upper.text_frame.text = "A box above the points is read before them."
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(Inches(1), Inches(7), Inches(4), Inches(1)).text_frame.text = "A group is read as well."
    slide.notes_slide.notes_text_frame.text = SECOND
    hidden = made.slides.add_slide(made.slide_layouts[1])
    hidden.shapes.title.text = "Hidden"
    hidden.placeholders[1].text = "This slide is hidden and is not read by anybody."
    hidden.element.set("show", "0")
    return saved(made)


def test_a_word_document_is_read_with_its_headings_and_without_lists_tables_and_contents() -> None:
    found = docx_extract(word_document(), "notes.docx")
    assert (found.title, found.author, found.language, found.pages) == ("Operating Systems", "D. Teacher", "en", None)
    assert [(part.kind, part.text) for part in found.parts if part.kind in ("heading", "paragraph")] == [
        ("heading", "Operating Systems"),
        ("heading", "What is it?"),
        ("paragraph", FIRST),
        ("heading", "Processes"),
        ("paragraph", SECOND),
    ]


def test_a_presentation_is_read_slide_by_slide_from_top_to_bottom_with_the_speakers_notes() -> None:
    found = pptx_extract(presentation(), "slides.pptx")
    assert found.pages == 3
    assert found.title == "Operating Systems"
    assert [(part.kind, part.text) for part in found.parts][:3] == [
        ("heading", "Operating Systems"),
        ("paragraph", "D. Teacher, spring term"),
        ("heading", "Processes"),
    ]
    text = found.parts[3].text
    order = [text.index(each) for each in ("A box above", FIRST, "threads", "A box below")]
    assert order == sorted(order)
    assert "A group is read as well." in text
    assert found.parts[4].text == SECOND
    assert not any("hidden" in part.text.casefold() for part in found.parts)


@pytest.mark.parametrize(("name", "made"), [("notes.docx", word_document), ("slides.pptx", presentation)])
def test_office_files_are_books_like_any_other(tmp_path: Path, name: str, made: Callable[[], bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(made())
    (report,) = add_files([path], tmp_path / "k.db")
    assert report.error is None
    assert report.added is not None
    assert report.format == path.suffix[1:]
    assert SECOND in [passage.text for passage in show_book("Operating Systems", tmp_path / "k.db").first_passages]


def test_a_document_without_styles_opens_below_its_first_chapter(tmp_path: Path) -> None:
    document = docx.Document()
    for text in (
        "The Long Road",
        "PREFACE",
        "I wrote this in the winter of the frost.",
        "CHAPTER I",
        FIRST,
        "CHAPTER II",
        SECOND,
    ):
        document.add_paragraph(text)
    path = tmp_path / "road.docx"
    path.write_bytes(saved(document))
    with IsolatedReader() as reader:
        opening = read_parts(read_file(content_of(path), reader).document).opening()
    assert opening is not None
    assert (opening.chapter, opening.text) == ("CHAPTER I", FIRST)


# --- hostile files


def with_part(content: bytes, name: str, replacement: Callable[[bytes], bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.infolist():
            text = old.read(member)
            new.writestr(member.filename, replacement(text) if member.filename == name else text)
    return buffer.getvalue()


def entities(text: bytes) -> bytes:
    declared = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    head, _, rest = text.partition(b"?>")
    return head + b"?>" + declared + rest


def entities_in_utf16(text: bytes) -> bytes:
    return entities(text).decode().replace("UTF-8", "UTF-16").encode("utf-16")


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "entities": (entities, "declares a document type"),
    "entities in UTF-16": (entities_in_utf16, "declares a document type"),
    "deep XML": (lambda _: b"<a>" * 300_000, "is damaged"),
    "broken XML": (lambda text: text[:200], "is damaged"),
}


@pytest.mark.parametrize(("change", "reason"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_word_document_is_refused_with_the_reason(change: Callable[[bytes], bytes], reason: str) -> None:
    with pytest.raises(DocumentRefused, match=reason):
        docx_extract(with_part(word_document(), "word/document.xml", change), "notes.docx")


def test_a_hostile_presentation_is_refused_with_the_reason() -> None:
    with pytest.raises(DocumentRefused, match="declares a document type"):
        pptx_extract(with_part(presentation(), "ppt/slides/slide2.xml", entities), "slides.pptx")


@pytest.mark.parametrize(
    ("bound", "most", "reason"),
    [
        ("MAX_BYTES", 20_000_000, "unpacks to more than 20 MB"),
        ("MAX_XML_BYTES", 1_000_000, "has a part of more than 1 MB"),
        ("MAX_MEMBERS", 10, "files inside; at most 10 are read"),
    ],
)
def test_an_archive_beyond_the_bounds_is_refused(
    monkeypatch: pytest.MonkeyPatch, bound: str, most: int, reason: str
) -> None:
    content = with_part(word_document(), "word/document.xml", lambda text: text + b" " * 21_000_000)
    monkeypatch.setattr(office, bound, most)
    with pytest.raises(DocumentRefused, match=reason):
        docx_extract(content, "notes.docx")


@pytest.mark.parametrize("content", [b"PK\x03\x04 and so on", word_document()[:-300], presentation()])
def test_a_damaged_file_and_one_of_another_program_are_refused(content: bytes) -> None:
    with IsolatedReader() as reader, pytest.raises(DocumentRefused, match="is damaged"):
        reader.extract(BookFormat.DOCX, content, "notes.docx")


def test_without_the_extra_the_line_names_it() -> None:
    code = (
        "import sys; sys.modules['docx'] = sys.modules['pptx'] = None\n"
        "from league_agents.knowledge.formats.office import docx_extract, pptx_extract\n"
        "for read in (docx_extract, pptx_extract):\n"
        "    try: read(open(sys.argv[1], 'rb').read(), 'notes.docx')\n"
        "    except Exception as error: print(error)\n"
    )
    path = Path(docx.__file__).parent / "templates" / "default.docx"
    said = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    assert said.splitlines() == [
        f"notes.docx: is not read: {what} need the extra; pip install 'league-agents[office]'"
        for what in ("Word documents", "PowerPoint presentations")
    ]


def test_a_file_that_is_named_like_an_office_file_and_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "notes.docx"
    path.write_bytes(b"\xd0\xcf\x11\xe0 an old Word document")
    (report,) = add_files([path], tmp_path / "k.db")
    assert report.error is not None
    assert str(report.error).endswith("notes.docx: is named like a Word file and is none")
