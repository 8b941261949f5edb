"""Whether a plain claim about a sentence, a paragraph, a word or a book is true.

Rule: a claim is checked against the page or known facts; if neither decides, the verdict is ``None``. The readers are
tried in turn, and each decides only claims that it recognises.
"""

from __future__ import annotations

from collections.abc import Callable

from league_agents.agents.questions.asked import MaskedQuestion
from league_agents.agents.questions.contents import on_book, on_statements, on_words
from league_agents.agents.questions.facts import Facts
from league_agents.agents.questions.reading import CandidateReading, read
from league_agents.agents.questions.spelling import on_counts, on_edge_word, on_form, on_letters, on_marks


def claim(asked: MaskedQuestion, reading: CandidateReading, facts: Facts) -> bool | None:
    """Whether the claim is true, its denial taken into account."""
    if asked.is_beyond_reading:
        return None
    if asked.has(r"\btitle\b"):
        # The title is known to all sides; read it like a sentence.
        if not facts.title or not asked.is_about_book:
            return None
        reading = read(facts.title)
    for reader in _READERS:
        found = reader(asked, reading, facts)
        if found is not None:
            return found != asked.is_denied
    return None


_Reader = Callable[[MaskedQuestion, CandidateReading, Facts], bool | None]
_READERS: tuple[_Reader, ...] = (
    on_edge_word, on_letters, on_counts, on_book, on_marks, on_form, on_words, on_statements,
)  # fmt: skip
