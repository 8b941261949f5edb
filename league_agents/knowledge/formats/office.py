"""Word documents (.docx) and PowerPoint presentations (.pptx): ZIP archives of XML parts.

Rule 1: an archive is checked before a library opens it: its parts, their stated sizes (no more is unpacked than
stated), and that no XML part declares a document type, which could define entities. Office programs write none.
Rule 2: python-docx and python-pptx open the package; the text is taken from its XML, at most ``_DEEPEST`` levels deep.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.extract import Extract, field, gathered, language_code
from league_agents.knowledge.formats.pages import slide_text
from league_agents.knowledge.headings import CONTENTS_HEADING, LONGEST_HEADING
from league_agents.knowledge.layout import LineBlock, plain_block

if TYPE_CHECKING:
    from lxml.etree import _Element

MAX_MEMBERS = 10_000
MAX_XML_BYTES = 40_000_000
"""Limit for one XML part, unpacked: the text of several thousand pages."""

MAX_BYTES = 150_000_000
"""Limit for all parts, pictures included, unpacked: the libraries hold them in memory."""

MAX_SLIDES = 5_000
_DEEPEST = 12
"""Groups of shapes, and content controls, within each other."""

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_HEADING_STYLE = re.compile(r"(?:heading|überschrift|titre|título|titolo|כותרת)\s*\d|title$|subtitle$", re.IGNORECASE)
_LEFT_OUT_STYLE = re.compile(
    r"toc\b|table of|caption|footnote|endnote|bibliography|index\b|code|header|footer", re.IGNORECASE
)
_NO_AUTHOR = re.compile(
    r"(?:python-docx|steve canny|microsoft office user|user|admin(?:istrator)?|windows user|unknown)$", re.IGNORECASE
)
_NO_TITLE = re.compile(
    r"(?:powerpoint presentation|presentation\d*|document\d*|untitled|word document|microsoft .*)$", re.IGNORECASE
)
_LONGEST_BOLD_HEADING = 12
_LEAST_WORDS_OF_LIST = 25


def docx_extract(content: bytes, source: str) -> Extract:
    """Return the text of a Word document. Raises DocumentRefused; without the extra ``office`` it names it."""
    _check_archive(content, source)
    try:
        import docx
    except ImportError as error:
        raise _missing(source, "Word documents") from error
    document = _opened(docx.Document, content, source)
    styles = {style.style_id: str(style.name) for style in document.styles}
    body = document.element.body
    parts = gathered(_word_parts(body, styles, _DEEPEST), source)
    return _extract(document.core_properties, parts, None)


def pptx_extract(content: bytes, source: str) -> Extract:
    """Return the text of a presentation: each slide below its title, then the speaker's notes.

    Raises DocumentRefused; without the extra ``office`` it names it.
    """
    _check_archive(content, source)
    try:
        import pptx
    except ImportError as error:
        raise _missing(source, "PowerPoint presentations") from error
    presentation = _opened(pptx.Presentation, content, source)
    slides = list(presentation.slides)
    if len(slides) > MAX_SLIDES:
        raise DocumentRefused(source, f"has {len(slides):,} slides; at most {MAX_SLIDES:,} are read")
    parts = gathered((part for slide in slides for part in _slide_parts(slide)), source)
    return _extract(presentation.core_properties, parts, len(slides))


def _missing(source: str, what: str) -> DocumentRefused:
    return DocumentRefused(source, f"is not read: {what} need the extra; pip install 'league-agents[office]'")


def _opened(open_package: Any, content: bytes, source: str) -> Any:
    """Open a package; the libraries raise KeyError, ValueError and others of their own for a broken one."""
    try:
        return open_package(io.BytesIO(content))
    except MemoryError:
        raise
    except Exception as error:
        raise DocumentRefused(source, f"is damaged ({type(error).__name__} while it was opened)") from error


def _extract(properties: Any, parts: tuple[LineBlock, ...], pages: int | None) -> Extract:
    title = field(properties.title)
    if title is None or _NO_TITLE.match(title):
        title = field(next((part.text for part in parts[:6] if part.kind in ("heading", "subheading")), None))
    author = field(properties.author)
    return Extract(
        title=title,
        author=None if author is None or _NO_AUTHOR.match(author) else author,
        language=language_code(properties.language),
        parts=parts,
        pages=pages,
    )


def _check_archive(content: bytes, source: str) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                raise DocumentRefused(source, f"has {len(members):,} files inside; at most {MAX_MEMBERS:,} are read")
            if sum(member.file_size for member in members) > MAX_BYTES:
                raise DocumentRefused(source, f"unpacks to more than {MAX_BYTES // 1_000_000} MB and is not read")
            for member in members:
                if member.flag_bits & 1:
                    raise DocumentRefused(source, "is protected by a password")
                if member.filename.lower().endswith((".xml", ".rels", ".vml")):
                    _check_xml(archive, member, source)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError, OverflowError) as error:
        raise DocumentRefused(source, "is damaged (its archive cannot be read)") from error


def _check_xml(archive: zipfile.ZipFile, member: zipfile.ZipInfo, source: str) -> None:
    if member.file_size > MAX_XML_BYTES:
        raise DocumentRefused(source, f"has a part of more than {MAX_XML_BYTES // 1_000_000} MB and is not read")
    with archive.open(member) as file:
        text = file.read(MAX_XML_BYTES + 1)
    # In UTF-16 each letter is two bytes.
    if b"<!DOCTYPE" in text or b"<!DOCTYPE" in text[:100_000].replace(b"\x00", b""):
        raise DocumentRefused(source, f"declares a document type in {member.filename[:80]}, as no Office program does")


# --- Word


def _word_parts(container: _Element, styles: dict[str, str], depth: int) -> Iterator[LineBlock]:
    for element in container:
        if element.tag == f"{_W}p":
            yield from _word_paragraph(element, styles)
        elif element.tag == f"{_W}tbl":
            yield LineBlock("aside", "".join(_word_text(element))[:400])
        elif element.tag == f"{_W}sdt" and depth > 0:
            gallery = next(element.iter(f"{_W}docPartGallery"), None)
            inner = element.find(f"{_W}sdtContent")
            is_contents = gallery is not None and "contents" in str(gallery.get(f"{_W}val")).casefold()
            if inner is not None and not is_contents:
                yield from _word_parts(inner, styles, depth - 1)


def _word_paragraph(paragraph: _Element, styles: dict[str, str]) -> Iterator[LineBlock]:
    lines = [" ".join(line.split()) for line in "".join(_word_text(paragraph)).split("\n")]
    lines = [line for line in lines if line]
    if not lines:
        return
    text = " ".join(lines)
    style = _style_of(paragraph, styles)
    is_list = paragraph.find(f"{_W}pPr/{_W}numPr") is not None or style.casefold().startswith("list")
    if CONTENTS_HEADING.match(text[:LONGEST_HEADING]):
        yield LineBlock("contents", text)
    elif _HEADING_STYLE.match(style) or paragraph.find(f"{_W}pPr/{_W}outlineLvl") is not None:
        yield LineBlock("heading", text[: 2 * LONGEST_HEADING])
    elif _LEFT_OUT_STYLE.match(style) or (is_list and len(text.split()) < _LEAST_WORDS_OF_LIST):
        yield LineBlock("aside", text)
    elif len(text.split()) <= _LONGEST_BOLD_HEADING and not text.endswith((".", ",", ";")) and _is_bold(paragraph):
        yield LineBlock("heading", text)
    else:
        yield plain_block(lines)


def _word_text(element: _Element) -> Iterator[str]:
    """Yield the words of an element, without those of text boxes, which repeat, and of what was deleted."""
    skipped: _Element | None = None
    from lxml import etree

    for event, each in etree.iterwalk(element, events=("start", "end")):
        if skipped is not None:
            if event == "end" and each is skipped:
                skipped = None
        elif event == "start":
            if each.tag in (f"{_MC}Fallback", f"{_W}txbxContent", f"{_W}del", f"{_W}instrText"):
                skipped = each
            elif each.tag in (f"{_W}t", f"{_M}t"):
                yield each.text or ""
            elif each.tag == f"{_W}tab":
                yield " "
            elif each.tag in (f"{_W}br", f"{_W}cr"):
                yield "\n"
        elif each.tag == f"{_W}p" and each is not element:
            yield "\n"


def _style_of(paragraph: _Element, styles: dict[str, str]) -> str:
    named = paragraph.find(f"{_W}pPr/{_W}pStyle")
    return "" if named is None else styles.get(str(named.get(f"{_W}val")), "")


def _is_bold(paragraph: _Element) -> bool:
    runs = [run for run in paragraph.iter(f"{_W}r") if any((text.text or "").strip() for text in run.iter(f"{_W}t"))]
    marks = [run.find(f"{_W}rPr/{_W}b") for run in runs]
    return bool(runs) and all(mark is not None and mark.get(f"{_W}val") not in ("0", "false") for mark in marks)


# --- PowerPoint


def _slide_parts(slide: Any) -> Iterator[LineBlock]:
    if slide.element.get("show") in ("0", "false"):
        return
    title = slide.shapes.title
    heading = " ".join(title.text_frame.text.split()) if title is not None and title.has_text_frame else ""
    if heading:
        yield LineBlock("heading", heading[: 2 * LONGEST_HEADING])
    points = [
        point for shape in _in_order(slide.shapes) if not _is_same(shape, title) for point in _points(shape, _DEEPEST)
    ]
    yield from slide_text(points)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    for paragraph in notes.paragraphs if notes is not None else ():
        text = " ".join(str(paragraph.text).split())
        if text:
            yield LineBlock("paragraph", text)


def _is_same(shape: Any, other: Any) -> bool:
    return other is not None and shape.shape_id == other.shape_id


def _in_order(shapes: Any) -> list[Any]:
    """Return the shapes from top to bottom; one without a place of its own stands where its layout puts it."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _points(shape: Any, depth: int) -> Iterator[str]:
    from pptx.enum.shapes import PP_PLACEHOLDER

    if shape.is_placeholder and shape.placeholder_format.type in (
        PP_PLACEHOLDER.SLIDE_NUMBER,
        PP_PLACEHOLDER.FOOTER,
        PP_PLACEHOLDER.DATE,
        PP_PLACEHOLDER.HEADER,
    ):
        return
    if hasattr(shape, "shapes"):  # a group
        if depth > 0:
            for inner in _in_order(shape.shapes):
                yield from _points(inner, depth - 1)
    elif shape.has_text_frame:
        for paragraph in shape.text_frame.paragraphs:
            text = " ".join(str(paragraph.text).split())
            if text:
                yield text
