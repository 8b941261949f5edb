"""Things that a text may contain, each with its count in a text, known exactly or within bounds.

Rule: "none" needs the page: no such word of a closed class, no such mark, no capital letter, no word that the noun data
knows in this sense. That a list of examples has nothing is not enough.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from league_agents.agents.questions.free import sentences_of as page
from league_agents.agents.questions.free.counters import COUNTERS, nouns_under
from league_agents.agents.questions.free.counts import NONE, UNKNOWN_COUNT, CountBounds
from league_agents.agents.questions.reading import MARKS, Text, fold, letters_of
from league_agents.knowledge.words import stem


class TextThing:
    """Something that is counted in a text. Things are values."""

    __slots__ = ()

    def count(self, text: Text) -> CountBounds:
        """Count the occurrences in the text."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Phrase(TextThing):
    """Words in this order, as they are written."""

    text: str

    def count(self, text: Text) -> CountBounds:
        wanted = [fold(word) for word in Text(self.text).words]
        if not wanted:
            return UNKNOWN_COUNT
        folded = text.folded
        if len(wanted) > 1:
            return CountBounds.exactly(
                sum(list(folded[i : i + len(wanted)]) == wanted for i in range(len(folded) - len(wanted) + 1))
            )
        exact = folded.count(wanted[0])
        if wanted[0] not in text.vocabulary:
            return NONE
        return CountBounds(
            max(exact, 1), exact + sum(wanted[0] in re.split(r"[’'\-‐‑]", w) for w in folded if w != wanted[0])
        )


@dataclass(frozen=True, slots=True)
class Mark(TextThing):
    """A mark of punctuation."""

    characters: str

    def count(self, text: Text) -> CountBounds:
        found = sum(text.text.count(mark) for mark in self.characters)
        if "—" in self.characters:
            found += text.text.count("--")
        return CountBounds.exactly(found)


@dataclass(frozen=True, slots=True)
class Pattern(TextThing):
    """Something that a pattern of characters finds."""

    pattern: str

    def count(self, text: Text) -> CountBounds:
        return CountBounds.exactly(len(re.findall(self.pattern, text.text)))


@dataclass(frozen=True, slots=True)
class LetterThing(TextThing):
    """A letter anywhere in the text."""

    letter: str

    def count(self, text: Text) -> CountBounds:
        return CountBounds.exactly(letters_of(text.text).count(self.letter))


@dataclass(frozen=True, slots=True)
class OfClass(TextThing):
    """A word of a closed class, with words that belong to it only in some uses."""

    sure: frozenset[str]
    maybe: frozenset[str] = frozenset()
    is_open: bool = False
    """Whether other words may belong to the class, so that the page alone does not say "none"."""

    def count(self, text: Text) -> CountBounds:
        if not page.is_english(text):
            return UNKNOWN_COUNT
        low = sum(word in self.sure for word in text.folded)
        if self.is_open:
            return CountBounds(low, None)
        return CountBounds(
            low, low + sum(word in self.maybe or "-" in word for word in text.folded if word not in self.sure)
        )


@dataclass(frozen=True, slots=True)
class Measured(TextThing):
    """Something that a function of this module counts; its name is a key of ``COUNTERS``."""

    name: str

    def count(self, text: Text) -> CountBounds:
        return COUNTERS[self.name](text)


@dataclass(frozen=True, slots=True)
class Noun(TextThing):
    """Words for something: the word itself, or one that the noun data puts under it."""

    phrase: str

    def count(self, text: Text) -> CountBounds:
        if not page.is_english(text):
            return Phrase(self.phrase).count(text) if Phrase(self.phrase).count(text).low else UNKNOWN_COUNT
        return nouns_under(self.phrase, text.text)


@dataclass(frozen=True, slots=True)
class NamedWord(TextThing):
    """A name, as the question writes it: a text that does not write it does not name it."""

    name: str

    def count(self, text: Text) -> CountBounds:
        return Phrase(self.name).count(text)


@dataclass(frozen=True, slots=True)
class FreeMention(TextThing):
    """A noun or a verb that may be mentioned in other words: only its presence is certain."""

    word: str

    def count(self, text: Text) -> CountBounds:
        wanted = stem(fold(self.word))
        found = sum(stem(word) == wanted for word in text.vocabulary)
        return CountBounds(found, None)


MARK_NAMES: Mapping[str, str] = {
    **{name.split(maxsplit=1)[1]: marks for name, marks in MARKS.items()},
    "full stop": ".。",
    "period": ".。",
    "ellipsis": "…",
}
