"""A PDF file as pages of lines, each line with its place.

PDFium reads the file. It is native code and the files are untrusted, so this module runs in a child process (see
``child``). ``pages`` interprets the lines.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections.abc import Callable
from typing import Any

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.columns import in_columns
from league_agents.knowledge.formats.direction import Sign, is_right_to_left, logical, runs_from_right
from league_agents.knowledge.formats.extract import Extract, field, gathered
from league_agents.knowledge.formats.pages import Line, Sheet, page_blocks

MAX_PAGES = 20_000
MAX_CHARACTERS_ON_PAGE = 100_000
"""Limit for one page; a page of print has 3,000 to 10,000."""

_PAGES_BETWEEN_REPORTS = 20
# PDFium ends a line with a line break, except after a hyphen, for which it writes a special character.
_LINE_ENDS = re.compile("[\r\n]+|(?<=[\x02\ufffe])(?=.)")
_ANSWERS_OF_PDFIUM = {4: "is protected by a password", 5: "is encrypted in a way that cannot be read"}
# Default titles written by programs.
_NO_TITLE = re.compile(
    r"(?:\(?(?:anonymous|unspecified|untitled)\)?(?:[ -]?\d+)?|title"
    r"|document\d*|slide \d+|presentation\d*|microsoft (?:word|powerpoint).*"
    r"|.*\.(?:docx?|pptx?|tex|dvi|pdf|indd|qxd|rtf|odt)|powerpoint presentation|מצגת של powerpoint)$",
    re.IGNORECASE,
)
_NO_AUTHOR = re.compile(r"\(?(?:anonymous|unspecified|unknown)\)?$", re.IGNORECASE)
_UNSEEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_HYPHENS = "\x02\ufffe\u00ad"
"""PDFium's characters for a hyphen that it regards as a word break."""


def pdf_extract(content: bytes, source: str, progress: Callable[[int], None] = lambda _: None) -> Extract:
    """Return the text of a PDF file; ``progress`` is called every few pages with the number of pages read.

    Raises DocumentRefused if it is encrypted, broken, too long, or without text.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        code = getattr(error, "err_code", None)
        raise DocumentRefused(source, _ANSWERS_OF_PDFIUM.get(code or 0, "is a broken PDF file")) from error
    try:
        count = len(document)
        if count == 0:
            raise DocumentRefused(source, "is a PDF file without pages")
        if count > MAX_PAGES:
            raise DocumentRefused(source, f"has {count:,} pages; at most {MAX_PAGES:,} are read")
        metadata = {key: str(value) for key, value in document.get_metadata_dict().items()}
        raw = []
        for number in range(count):
            raw.append(_raw_page(document, number))
            if number % _PAGES_BETWEEN_REPORTS == 0:
                progress(number + 1)
    finally:
        document.close()
    if not any(page.lines for page in raw):
        raise DocumentRefused(source, "holds no text; a scan must be made readable (OCR) first")
    title = field(metadata.get("Title"))
    parts = gathered(page_blocks(_sheets(raw)), source)
    if title is None or _NO_TITLE.match(title):
        heading = next((part.text for part in parts[:6] if part.kind in ("heading", "subheading")), None)
        title = field(heading)
    author = field(metadata.get("Author"))
    if author is not None and _NO_AUTHOR.match(author):
        author = None
    return Extract(title=title, author=author, language=None, parts=parts, pages=count)


class _RawPage:
    """The lines of one page: positioned characters, or text with the positions of its ends where that suffices."""

    __slots__ = ("height", "lines", "width")

    def __init__(self, width: float, height: float) -> None:
        self.width = width
        self.height = height
        self.lines: list[tuple[str, list[Sign], tuple[float, float, float, float]]] = []


def _raw_page(document: Any, number: int) -> _RawPage:
    """Read one page; empty if PDFium cannot read it, so that the others are still read."""
    import pypdfium2
    import pypdfium2.raw as c

    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return _RawPage(1.0, 1.0)
    try:
        width, height = page.get_size()
        found = _RawPage(width, height)
        try:
            text_page = page.get_textpage()
        except pypdfium2.PdfiumError:
            return found
        try:
            handle = text_page.raw
            count = c.FPDFText_CountChars(handle)
            if not 0 < count <= MAX_CHARACTERS_ON_PAGE:
                return found
            text = _text_of(handle, count)
            place = _Places(handle, page.get_rotation(), width, height)
            has_right_to_left = not text.isascii() and any(map(is_right_to_left, text))
            spans = _line_spans(text)
            for start, stop in spans if has_right_to_left else in_columns(text, spans, place.sides):
                line = text[start:stop]
                first = start + len(line) - len(line.lstrip())
                last = start + len(line.rstrip()) - 1
                is_turned = has_right_to_left and any(map(is_right_to_left, line))
                signs = [Sign(text[i], *place.sides(i)) for i in range(start, stop)] if is_turned else []
                found.lines.append((line, signs, place.around(first, last)))
        finally:
            text_page.close()
        return found
    finally:
        page.close()


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Return where each line begins and ends, without blank lines."""
    spans = []
    start = 0
    for end in [*_LINE_ENDS.finditer(text), None]:
        stop = end.start() if end else len(text)
        if text[start:stop].strip():
            spans.append((start, stop))
        start = end.end() if end else stop
    return spans


def _text_of(handle: Any, count: int) -> str:
    """Return the page's characters, one for each PDFium index."""
    import pypdfium2.raw as c

    buffer = (ctypes.c_ushort * (count + 1))()
    written = c.FPDFText_GetText(handle, 0, count, buffer)
    if written == count + 1:
        units = buffer[:count]
        if not any(0xD800 <= unit < 0xE000 for unit in units):
            return "".join(map(chr, units))
    # Characters beyond the basic plane, or without a Unicode mapping in the file, are read one by one.
    codes = (c.FPDFText_GetUnicode(handle, i) for i in range(count))
    return "".join(chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes)


class _Places:
    """Positions of characters on the page as displayed, after rotation."""

    def __init__(self, handle: Any, rotation: int, width: float, height: float) -> None:
        import pypdfium2.raw as c

        self._handle = handle
        self._box = c.FS_RECTF()
        self._ask = c.FPDFText_GetLooseCharBox
        self._rotation = rotation
        self._width = width
        self._height = height

    def sides(self, i: int) -> tuple[float, float]:
        left, _, right, _ = self._at(i)
        return left, right

    def around(self, first: int, last: int) -> tuple[float, float, float, float]:
        """Return left, bottom, right and top of a line, from its two ends and its middle; heights from the tallest."""
        boxes = [self._at(first), self._at((first + last) // 2), self._at(last)]
        tallest = max(boxes, key=lambda box: box[3] - box[1])
        return min(box[0] for box in boxes), tallest[1], max(box[2] for box in boxes), tallest[3]

    def _at(self, i: int) -> tuple[float, float, float, float]:
        self._ask(self._handle, i, self._box)
        left, bottom, right, top = self._box.left, self._box.bottom, self._box.right, self._box.top
        if self._rotation == 90:
            return bottom, self._height - right, top, self._height - left
        if self._rotation == 180:
            return self._width - right, self._height - top, self._width - left, self._height - bottom
        if self._rotation == 270:
            return self._width - top, left, self._width - bottom, right
        return left, bottom, right, top


def _sheets(raw: list[_RawPage]) -> list[Sheet]:
    """Return the pages in reading order; in a right-to-left book, such lines are measured from the right."""
    from_right = runs_from_right("".join(line for page in raw for line, _, _ in page.lines)[:200_000])
    sheets = []
    for page in raw:
        lines = []
        for text, signs_of_line, (left, bottom, right, top) in page.lines:
            if from_right and signs_of_line:
                text = logical(signs_of_line)
                left, right = min(s.left for s in signs_of_line), max(s.right for s in signs_of_line)
            start, end = (page.width - right, page.width - left) if from_right else (left, right)
            lines.append(Line(_written(text), start, end, bottom, top))
        sheets.append(Sheet(page.width, page.height, [line for line in lines if line.text]))
    return sheets


def _written(text: str) -> str:
    """Return composed letters instead of glyph shapes; a word break becomes a hyphen at the end of the line."""
    text = " ".join(text.split())
    if text.isascii() and not any(mark in text for mark in _HYPHENS):
        return text
    text = "".join(unicodedata.normalize("NFKC", c) if _is_shape(c) else c for c in text)
    for mark in _HYPHENS:
        text = text.replace(mark, "-")
    return unicodedata.normalize("NFC", _UNSEEN.sub("", text))


def _is_shape(character: str) -> bool:
    """Return whether this is a ligature or presentation form (``ﬁ``, Hebrew with points, Arabic by position)."""
    return "\ufb00" <= character <= "\ufdff" or "\ufe70" <= character <= "\ufefc"
