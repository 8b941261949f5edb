"""Input and output values of the index."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from league_agents.knowledge.passages import Passage


class AddOutcome(StrEnum):
    """The effect of ``add``."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"

    UPDATED = "updated"
    """The text was known; the caller gave it another title, author or language."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddReport:
    """The result for one document."""

    outcome: AddOutcome

    title: str
    """For UNCHANGED the title under which the same text is already stored."""

    words: int
    passages: int

    opening_sentence: str
    """The first sentence of the book; ``""`` for a text that does not begin with a sentence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The file that a document was read from."""

    fingerprint: str
    """Equal for equal bytes."""

    path: str
    """Absolute, so that the file is recognised from any folder."""

    digest: str = ""
    """Equal for equal bytes, whatever the version of the readers; an opening that a person set is kept under it."""

    format: str
    """``text``, ``markdown``, ``html``, ``epub``, ``pdf``, ``docx`` or ``pptx``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadPart:
    """One of the first parts of a book, as it was judged."""

    number: int
    """1 for the first part of the book."""

    heading: str | None
    text: str

    skipped: str | None
    """Why it cannot be the opening; ``None`` if it could be."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadingReport:
    """How a book was divided, and where it opens."""

    parts: int
    passages: int

    too_short: int
    """Paragraphs that are too short to be a passage."""

    skipped: dict[str, int]
    """Reason -> number of parts that were passed over, most first."""

    opens_at: int | None
    """The number of the part that was found to be the opening; ``None`` if none was."""

    first_parts: tuple[ReadPart, ...]
    """The parts from which a person can choose the opening."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """The size of an index."""

    books: int
    passages: int
    words: int

    languages: dict[str, int]
    """Language -> number of books, largest first."""

    formats: dict[str, int]
    """Format -> number of books, largest first."""

    size_bytes: int
    """Size of the database, without its write-ahead log."""

    schema: int
    """Version of the tables."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Book:
    """One book in the index."""

    title: str

    author: str | None
    """``None`` if unknown."""

    language: str
    source: str

    words: int
    """Number of words of the whole text, headings and short paragraphs included."""

    passages: int
    """Number of paragraphs that can be a target."""

    opening_sentence: str
    """The first sentence of the book, possibly from a paragraph that is too short to be a passage."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """A passage found by a search."""

    passage: Passage

    score: float
    """BM25; larger is better; comparable within one search only."""
