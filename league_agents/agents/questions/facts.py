"""Known facts about a book, in addition to the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Known facts about a book, in addition to the page."""

    title: str = ""
    author: str = ""

    year: int | None = None
    """``None`` if unknown."""

    statements: tuple[str, ...] = ()
    """Sentences that are true of the book."""

    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Words of each domain, such as colours and animals."""

    word_senses: frozenset[int] = frozenset()
    """Synsets of the announced domain: the meant sense of the secret word is one of them or below one. Empty if the
    domain is not understood."""
