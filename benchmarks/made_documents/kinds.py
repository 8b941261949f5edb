"""Made documents of other kinds than text, written as the file kind that their name says."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import PurePath

import docx
import pptx
from pptx.util import Inches

from tests.support.book_files import lines_of, pdf_bytes

SLIDE = "\n---\n"
PAGE = "\n\f\n"


def made_bytes(name: str, text: str) -> bytes:
    """The content of a file with this name: ``# `` begins a heading, ``---`` a slide, a form feed a page."""
    return _WRITERS.get(PurePath(name).suffix, str.encode)(text)


def _docx(text: str) -> bytes:
    document = docx.Document()
    for line in text.splitlines():
        if line.startswith("# "):
            document.add_heading(line[2:], 1)
        elif line:
            document.add_paragraph(line)
    return _saved(document.save)


def _pptx(text: str) -> bytes:
    presentation = pptx.Presentation()
    for slide_text in text.split(SLIDE):
        head, *lines = [line for line in slide_text.splitlines() if line]
        slide = presentation.slides.add_slide(presentation.slide_layouts[5])
        slide.shapes.title.text = head.removeprefix("# ")
        if lines:
            box = slide.shapes.add_textbox(Inches(1), Inches(2), Inches(8), Inches(4)).text_frame
            box.text = lines[0].removeprefix("- ")
            for line in lines[1:]:
                box.add_paragraph().text = line.removeprefix("- ")
    return _saved(presentation.save)


def _pdf(text: str) -> bytes:
    return pdf_bytes([lines_of(page.split("\n")) for page in text.split(PAGE)])


def _saved(save: Callable[[io.BytesIO], None]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


_WRITERS: Mapping[str, Callable[[str], bytes]] = {".docx": _docx, ".pptx": _pptx, ".pdf": _pdf}
