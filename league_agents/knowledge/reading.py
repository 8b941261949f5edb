"""Decode untrusted files to text, or refuse them with one clear reason.

Rule 1: the encoding is found from the bytes: a BOM, UTF-8, UTF-16 without a BOM, then Windows-1252 or Latin-1. Bytes
that would decode to mojibake are refused.
Rule 2: the size is checked before the file is read, and binary content is refused before it is searched.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from pathlib import Path

from league_agents.kit.errors import LimitExceeded
from league_agents.knowledge.failures import DocumentRefused

MAX_DOCUMENT_BYTES = 200_000_000
"""Size of a scanned book in a PDF; ``formats.extract`` has a far lower limit for text."""

MAX_TEXT_BYTES = 50_000_000
"""Ten times the longest novel; a larger text is a data dump, not a book."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is a prefix of this one
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_OTHER_FORMATS = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP, EPUB or office file"),
    (b"\x1f\x8b", "a gzip file"),
    (b"{\\rtf", "an RTF file"),
    (b"\xd0\xcf\x11\xe0", "an old office file"),
    (b"SQLite format 3\x00", "a database"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
)
_HTML = re.compile(r"\s*(?:<\?xml[^>]{0,200}>\s*)?(?:<!doctype\s+html|<html\b)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_NEW_LINES = re.compile(r"\r\n?|[\u2028\x85\x0b\x0c]")
_SAMPLE = 4096


def read_bytes(path: Path) -> bytes:
    """Read a file. Raises DocumentRefused if it is missing or not a file, and LimitExceeded if it is larger than
    ``MAX_DOCUMENT_BYTES``.
    """
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise DocumentRefused(str(path), "is not a file; name the files themselves")
        if size > MAX_DOCUMENT_BYTES:
            raise LimitExceeded(f"size of {path.name} in bytes", size, MAX_DOCUMENT_BYTES)
        with path.open("rb") as file:
            content = file.read(MAX_DOCUMENT_BYTES + 1)  # the file may have grown since
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DocumentRefused(str(path), f"cannot be read: {(reason or 'unknown reason').lower()}") from error
    if len(content) > MAX_DOCUMENT_BYTES:
        raise LimitExceeded(f"size of {path.name} in bytes", len(content), MAX_DOCUMENT_BYTES)
    return content


def decode_text(content: bytes, *, source: str) -> str:
    """Return a text with ``\\n`` line ends and composed accents (NFC); ``source`` names it in a refusal.

    Raises DocumentRefused if it is empty, binary, of another format or in an unknown encoding.
    """
    text = decode_bytes(content, source)
    if _HTML.match(text[:1000]):
        raise DocumentRefused(source, "is an HTML page and was to be read as text")
    return tidy(text, source)


def decode_bytes(content: bytes, source: str) -> str:
    """Decode without other changes. Raises DocumentRefused for another format and for an unknown encoding."""
    for magic, name in _OTHER_FORMATS:
        if content.startswith(magic):
            raise DocumentRefused(source, f"is {name}, which cannot be read; save the book as text, PDF or EPUB first")
    return _decode(content, source)


def tidy(text: str, source: str) -> str:
    """Return ``\\n`` line ends, composed accents, no control characters. Raises DocumentRefused if it is binary."""
    sample = text[:_SAMPLE]
    written = _NEW_LINES.sub("\n", _CONTROL.sub("", text).replace("\ufeff", ""))
    has_controls = len(_CONTROL.findall(sample)) > 8 + len(sample) // 50 or "\x00" in text
    if has_controls or (not written.strip() and _CONTROL.search(text)):
        raise DocumentRefused(source, "is binary, not text; save the book as plain text in UTF-8")
    text = written
    if not text.strip():
        raise DocumentRefused(source, "is empty")
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def _decode(content: bytes, source: str) -> str:
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            try:
                return content.decode(encoding)
            except UnicodeDecodeError as error:
                raise DocumentRefused(
                    source, f"is damaged: {encoding} text breaks off at byte {error.start}"
                ) from error
    if b"\x00" in content:
        return _utf16_without_bom(content, source)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        return _western(content, source, error.start)


def _utf16_without_bom(content: bytes, source: str) -> str:
    """Decode western text in UTF-16, which has a zero in every second byte; other data with zeros is binary."""
    sample = content[:_SAMPLE]
    for encoding, zeros, others in (
        ("utf-16-le", sample[1::2], sample[0::2]),
        ("utf-16-be", sample[0::2], sample[1::2]),
    ):
        if zeros.count(0) * 10 >= len(zeros) * 7 and others.count(0) == 0:
            try:
                return content.decode(encoding)
            except UnicodeDecodeError:
                break
    raise DocumentRefused(source, "is binary (it holds NUL bytes), not text; save the book as plain text in UTF-8")


def _western(content: bytes, source: str, offset: int) -> str:
    sample = content[: 64 * _SAMPLE]
    high = sum(byte >= 0xC0 for byte in sample)
    letters = high + sum(65 <= byte <= 90 or 97 <= byte <= 122 for byte in sample)
    # In western languages at most one letter in five has an accent. More means Hebrew, Cyrillic, Chinese ... in an old
    # encoding that the file does not declare.
    if high * 3 > letters:
        raise DocumentRefused(source, f"is in an unknown encoding (byte {offset} is not UTF-8); save it as UTF-8")
    try:
        return content.decode("cp1252")  # Latin-1 with curly quotes where Latin-1 has control codes
    except UnicodeDecodeError:
        return content.decode("latin-1")
