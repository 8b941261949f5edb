"""What is known of a book beside the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of the book beside the page."""

    title: str = ""
    author: str = ""

    year: int | None = None
    """``None``: unknown."""

    statements: tuple[str, ...] = ()
    """Sentences that are true of the book."""

    lists: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Domain to words: what counts as a colour, an animal, …"""
