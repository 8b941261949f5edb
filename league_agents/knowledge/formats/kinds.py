"""Determine a file's format: by its first bytes, and by its suffix only where they leave a choice.

A file name is untrusted. A PDF called ``novel.txt`` is read as a PDF; a file called ``novel.pdf`` that is not a PDF is
refused, because something else was meant.
"""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import PurePath

from league_agents.knowledge.documents import MARKDOWN_ENDINGS
from league_agents.knowledge.failures import DocumentRefused

HEAD_BYTES = 2_048


class BookFormat(StrEnum):
    """A format that books are read from."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    EPUB = "epub"
    PDF = "pdf"
    DOCX = "docx"
    PPTX = "pptx"


ENDINGS = {
    ".txt": BookFormat.TEXT,
    ".text": BookFormat.TEXT,
    **dict.fromkeys(MARKDOWN_ENDINGS, BookFormat.MARKDOWN),
    ".html": BookFormat.HTML,
    ".htm": BookFormat.HTML,
    ".xhtml": BookFormat.HTML,
    ".epub": BookFormat.EPUB,
    ".pdf": BookFormat.PDF,
    ".docx": BookFormat.DOCX,
    ".pptx": BookFormat.PPTX,
}
"""Suffixes that are accepted in folders. A file that is named explicitly may have any suffix."""

OFFICE_ENDINGS = {
    ".doc": "an old Word document",
    ".odt": "a text document of an office program",
    ".rtf": "an RTF document",
    ".ppt": "an old PowerPoint presentation",
    ".odp": "a presentation of an office program",
}
"""Common formats without a reader: such files are refused with advice, not skipped."""

_HTML = re.compile(
    rb"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!--.{0,500}?-->\s*)*(?:<!doctype\s+html|<html\b)", re.IGNORECASE | re.DOTALL
)
_OFFICE_MARKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"{\\rtf")
_EPUB_MIMETYPE = b"mimetypeapplication/epub+zip"


def kind_of(name: str, head: bytes) -> BookFormat:
    """Return the format of the file ``name`` that begins with ``head``.

    Raises DocumentRefused for a misleading name and for an office file.
    """
    ending = PurePath(name).suffix.lower()
    claimed = ENDINGS.get(ending)
    # A few stray bytes may precede the mark: PDF readers accept it within the first kilobyte.
    if head.startswith(b"%PDF-") or (claimed is BookFormat.PDF and b"%PDF-" in head[:1024]):
        return BookFormat.PDF
    if head.startswith(b"PK\x03\x04") and (claimed is BookFormat.EPUB or _EPUB_MIMETYPE in head[:200]):
        return BookFormat.EPUB
    if head.startswith(b"PK\x03\x04") and claimed in (BookFormat.DOCX, BookFormat.PPTX):
        return claimed
    if claimed in _ARTICLE:
        raise DocumentRefused(name, f"is named like {_ARTICLE[claimed]} file and is none")
    if ending in OFFICE_ENDINGS and head.startswith(_OFFICE_MARKS):
        raise DocumentRefused(name, f"is {OFFICE_ENDINGS[ending]}, which cannot be read; export it as PDF or text")
    bare = head.removeprefix(b"\xef\xbb\xbf").replace(b"\x00", b"").removeprefix(b"\xff\xfe").removeprefix(b"\xfe\xff")
    if claimed is BookFormat.HTML or _HTML.match(bare):
        return BookFormat.HTML
    return claimed or BookFormat.TEXT


_ARTICLE = {
    BookFormat.PDF: "a PDF",
    BookFormat.EPUB: "an EPUB",
    BookFormat.DOCX: "a Word",
    BookFormat.PPTX: "a PowerPoint",
}
