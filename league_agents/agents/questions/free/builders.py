"""Builders of claims that the grammars of all languages share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from league_agents.agents.questions.free.claims import AskedClaim, Holds, TextPart
from league_agents.agents.questions.free.counts import CountLimits
from league_agents.agents.questions.free.things import Measured
from league_agents.agents.questions.free.word_claims import EdgeLetterIn, MarkEdgeIs, TextEdgeIs, WordAt


def same(value: Any) -> Any:
    return value


def constant(value: object) -> Callable[..., object]:
    """Return a builder that ignores the values of its parts."""
    return lambda *_: value


def has_words(part: TextPart, amount: CountLimits) -> AskedClaim:
    return Holds(part, Measured("words"), amount)


def text_edge(at_end: bool) -> Callable[[TextPart, str], AskedClaim]:
    """Build: a part begins or ends with these words."""
    return lambda part, text: TextEdgeIs(part, at_end, text)


def mark_edge(at_end: bool) -> Callable[[TextPart, str], AskedClaim]:
    """Build: a part begins or ends with one of these marks."""
    return lambda part, marks: MarkEdgeIs(part, at_end, marks)


def part_letter(at_end: bool) -> Callable[[TextPart, str], AskedClaim | None]:
    """Build: a part begins or ends with one of these letters; only a sentence has a known end."""
    return lambda part, letters: (
        EdgeLetterIn(WordAt(-1 if at_end else 0), at_end, letters) if part is TextPart.SENTENCE or not at_end else None
    )


def word_letter(at_end: bool) -> Callable[[WordAt, str], AskedClaim]:
    """Build: a word begins or ends with one of these letters."""
    return lambda word, letters: EdgeLetterIn(word, at_end, letters)
