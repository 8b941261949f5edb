"""What every reader of a format gives: the parts of a book in reading order, and what the file says of itself.

Rule: a reader is bounded. ``Gathered`` counts what it is given and refuses the file that says too much.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.layout import LineBlock

MAX_CHARACTERS = 25_000_000
"""Of text in one file: five times the longest novel."""

MAX_PARTS = 500_000
LONGEST_FIELD = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Extract:
    """A file's text, taken apart."""

    title: str | None
    """As the file names itself; ``None`` when it does not."""

    author: str | None
    language: str | None
    """ISO 639-1, as the file states it; ``None`` when it does not."""

    parts: tuple[LineBlock, ...]

    pages: int | None
    """``None`` for a format without pages."""


def gathered(parts: Iterable[LineBlock], source: str) -> tuple[LineBlock, ...]:
    """The parts that hold something. Raises DocumentRefused when there are none, or too many."""
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
    """A name out of a file on one line of bounded length; ``None`` for nothing."""
    return " ".join((value or "")[: 4 * LONGEST_FIELD].split())[:LONGEST_FIELD] or None


def language_code(value: str | None) -> str | None:
    """``he`` of ``he-IL``; ``None`` for what is no language."""
    code = (value or "").strip().replace("_", "-").split("-")[0].casefold()
    code = _OLD_CODES.get(code, code)
    return code if len(code) == 2 and code.isascii() and code.isalpha() else None


_OLD_CODES = {"iw": "he", "eng": "en", "heb": "he", "deu": "de", "ger": "de", "fra": "fr", "fre": "fr", "spa": "es",
              "ita": "it", "zho": "zh", "chi": "zh", "jpn": "ja", "rus": "ru", "ara": "ar"}  # fmt: skip
