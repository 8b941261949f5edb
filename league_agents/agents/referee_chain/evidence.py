"""Checks of the evidence for an answer against the sources.

Rule 1: a quotation counts if it occurs, word for word, in the passage or in one line of the known facts of the book;
typography and case are ignored.
Rule 2: a quotation bears on its question: it shares a word with it, or it is given for this question alone. Words that
a model quotes for several questions show nothing about any.
Rule 3: absence is shown by words that would occur if the claim were true. One of them must come from the question, and
none may occur in the passage.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from league_agents.agents.targets import Secret
from league_agents.games.q21.similarity import all_words, content_words
from league_agents.knowledge.words import STOP_WORDS, stem, words_of

_LONGEST_QUOTE = 400
_MOST_LOOKED_FOR = 12
_BETWEEN = re.compile(r"[,;/|\n、，；]+")


@dataclass(frozen=True)
class Sources:
    """All sources for an answer about one target."""

    passage: str
    """The paragraph, or the opening sentence if no more is known."""

    facts: tuple[str, ...]
    """Known facts in addition to the passage, one per line."""

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        return tuple(_spaced(line) for line in (self.passage, *self.facts))

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(map(stem, words_of(self.passage)))

    def hold(self, quote: str, question: str, *, is_shared: bool) -> bool:
        """Whether the quotation occurs in one of the sources, is not trivial, and bears on the question.

        ``is_shared`` says that it was also given for another question.
        """
        if is_shared and not _stems(quote) & _stems(question):
            return False
        wanted = _spaced(quote[:_LONGEST_QUOTE])
        is_telling = bool(content_words(quote)) or len(wanted.split()) >= 3
        return is_telling and any(wanted in line for line in self._lines)

    def lack(self, looked_for: str, question: str) -> bool:
        """Whether none of the comma-separated words occurs in the passage, and at least one is in the question."""
        wanted = [words_of(each) for each in _BETWEEN.split(looked_for[:_LONGEST_QUOTE])[:_MOST_LOOKED_FOR]]
        wanted = [words for words in wanted if words]
        asked = _stems(question)
        if not any(stem(word) in asked for words in wanted for word in words):
            return False
        return not any(all(stem(word) in self._stems for word in words) for words in wanted)


def _stems(text: str) -> set[str]:
    return {stem(word) for word in words_of(text) if word not in STOP_WORDS}


def sources_of(secret: Secret) -> Sources:
    """Return the sources about a target: its page, its book, its word."""
    facts, reading = secret.facts, secret.reading
    text = reading.paragraph or reading.sentence
    known = [f"The book is {facts.title}." if facts.title else ""]
    known += [f"Its author is {facts.author}." if facts.author else ""]
    if facts.year is not None:
        known.append(f"It was first published in {facts.year}." if facts.year > 0 else "It comes from antiquity.")
    if reading.part is not None:
        place = ("the first", "the second", "the third", "the last")[min(3, int(4 * reading.part))]
        known.append(f"The passage stands in {place} quarter of the book.")
    if reading.word:
        known.append(f"The associative word is {reading.word}, of the domain {secret.brief.association_domain}.")
    return Sources(
        passage=text.text if text is not None else secret.target.opening_sentence,
        facts=tuple(line for line in (*known, *facts.statements) if line),
    )


def _spaced(text: str) -> str:
    return f" {' '.join(all_words(text))} "
