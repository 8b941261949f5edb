"""What goes into the index and what comes out of it, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from league_agents.knowledge.passages import Passage


class AddOutcome(StrEnum):
    """What ``add`` did."""

    ADDED = "added"
    UNCHANGED = "unchanged"
    REPLACED = "replaced"

    UPDATED = "updated"
    """The text was known; the caller gave it another title, author or language."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AddReport:
    """What became of one document."""

    outcome: AddOutcome

    title: str
    """For UNCHANGED the title under which the same text is known already."""

    words: int
    passages: int

    opening_sentence: str
    """The first sentence of the book; ``""`` for a text that begins with none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Origin:
    """The file that a document was read from."""

    fingerprint: str
    """The same for the same bytes."""

    path: str
    """Absolute, so that the file is known again from another folder."""

    format: str
    """``text``, ``markdown``, ``html``, ``epub`` or ``pdf``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Statistics:
    """What is in an index."""

    books: int
    passages: int
    words: int

    languages: dict[str, int]
    """Language -> books, most first."""

    formats: dict[str, int]
    """Format -> books, most first."""

    size_bytes: int
    """Of the database, without what is still in its log."""

    schema: int
    """Version of the tables."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Book:
    """One book in the index."""

    title: str

    author: str | None
    """``None`` when unknown."""

    language: str
    source: str

    words: int
    """Of the whole text, headings and short paragraphs included."""

    passages: int
    """How many paragraphs can be a target."""

    opening_sentence: str
    """The first sentence of the book, which may stand in a paragraph that is too short to be a passage."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hit:
    """One passage that a search found."""

    passage: Passage

    score: float
    """BM25, larger is better; comparable within one search only."""
