"""The common result of all format readers: the parts of a book in reading order, and the file's own metadata.

Rule: a reader is bounded. ``gathered`` counts its input and refuses a file with too much text.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.layout import LineBlock

MAX_CHARACTERS = 25_000_000
"""Limit for the text of one file: five times the longest novel."""

MAX_PARTS = 500_000
LONGEST_FIELD = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Extract:
    """A file's text in parts."""

    title: str | None
    """The title stated in the file; ``None`` if it states none."""

    author: str | None
    language: str | None
    """ISO 639-1 code stated in the file; ``None`` if it states none."""

    parts: tuple[LineBlock, ...]

    pages: int | None
    """``None`` for a format without pages."""


def gathered(parts: Iterable[LineBlock], source: str) -> tuple[LineBlock, ...]:
    """Return the parts that are not empty. Raises DocumentRefused if there are none, or too many."""
    found: list[LineBlock] = []
    characters = 0
    for part in parts:
        if not part.text.strip():
            continue
        characters += len(part.text)
        if characters > MAX_CHARACTERS or len(found) >= MAX_PARTS:
            raise DocumentRefused(source, f"holds more than {MAX_CHARACTERS:,} characters or {MAX_PARTS:,} parts")
        found.append(part)
    if not found:
        raise DocumentRefused(source, "holds no text")
    return tuple(found)


def field(value: str | None) -> str | None:
    """Return a metadata value on one line of limited length; ``None`` if it is empty."""
    return " ".join((value or "")[: 4 * LONGEST_FIELD].split())[:LONGEST_FIELD] or None


def language_code(value: str | None) -> str | None:
    """Return ``he`` for ``he-IL``; ``None`` if the value is not a language."""
    code = (value or "").strip().replace("_", "-").split("-")[0].casefold()
    code = _OLD_CODES.get(code, code)
    return code if len(code) == 2 and code.isascii() and code.isalpha() else None


_OLD_CODES = {"iw": "he", "eng": "en", "heb": "he", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es",
              "ita": "it", "zho": "zh", "chi": "zh", "jpn": "ja", "rus": "ru", "ara": "ar"}  # fmt: skip
