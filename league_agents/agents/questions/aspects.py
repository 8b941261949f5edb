"""Subjects of questions in both forms, four options or yes and no: letters, lengths, words, counts.

Rule: the topic, the error rate and the name in a justification are declared once per subject. A form adds its wording
and the meaning of the answers.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

from league_agents.agents.questions.kinds import Inquiry, Options, Scope, Thing, Topic, WordSubject
from league_agents.agents.questions.reading import CandidateReading, Text, edge_letter, letter_count, letters_of

SUBJECTS = "|".join(map(str, WordSubject))
SCOPES = "|".join(map(str, Scope))
LETTER = r"[^\W\d_]"
THING = "[^;?]{1,300}"


@dataclass(frozen=True, slots=True)
class OfWord(Inquiry):
    """A question about one word."""

    subject: WordSubject

    @property
    def topic(self) -> Topic:
        return self.subject.topic


@dataclass(frozen=True, slots=True)
class OfText(Inquiry):
    """A question about a text that has to be read through."""

    scope: Scope

    @property
    def topic(self) -> Topic:
        return self.scope.topic


@dataclass(frozen=True, slots=True)
class EdgeLetter(OfWord):
    """A question about the first or last letter of a word."""

    at_end: bool

    @property
    def noise(self) -> float:
        return 0.02 + self.subject.miscount + 0.01 * self.at_end

    @property
    def about(self) -> str:
        return f"the {'last' if self.at_end else 'first'} letter of {self.subject.short}"

    def letter(self, reading: CandidateReading) -> str | None:
        return edge_letter(self.subject.of(reading) or "", at_end=self.at_end)


@dataclass(frozen=True, slots=True)
class WordLength(OfWord):
    """A question about how many letters a word has."""

    @property
    def about(self) -> str:
        return f"the length of {self.subject.short}"

    def length(self, reading: CandidateReading) -> int | None:
        """Return the number of letters; ``None`` if there is no such word, or readers would differ."""
        return letter_count(self.subject.of(reading) or "") or None


class Pair(Inquiry):
    """A question about two claims, each of which may be true or false."""

    __slots__ = ()

    @abstractmethod
    def verdict(self, first: bool, second: bool) -> int:
        """Return the answer for the truth of the two claims."""


@dataclass(frozen=True, slots=True)
class LetterPair(OfWord, Pair):
    """A question about whether a word contains two letters."""

    first: str
    second: str

    WORDING: ClassVar[re.Pattern[str]]
    """Pattern with the groups ``subject``, ``first`` and ``second``."""

    @property
    def about(self) -> str:
        return f"the letters in {self.subject.short}"

    def answer(self, reading: CandidateReading) -> int | None:
        letters = letters_of(self.subject.of(reading) or "")
        return self.verdict(self.first in letters, self.second in letters) if letters else None

    @classmethod
    def recognise(cls, text: str, options: Options) -> Self | None:  # noqa: ARG003
        match = cls.WORDING.fullmatch(text)
        return cls(WordSubject(match["subject"]), match["first"], match["second"]) if match else None


@dataclass(frozen=True, slots=True)
class ThingPair(OfText, Pair):
    """A question about whether a text contains two words or marks."""

    first: Thing
    second: Thing

    WORDING: ClassVar[re.Pattern[str]]
    """Pattern with the groups ``scope``, ``first`` and ``second``."""

    @property
    def noise(self) -> float:
        return 0.03 if self.scope is Scope.SENTENCE else 0.06

    @property
    def about(self) -> str:
        return f"two details of {self.scope}"

    def answer(self, reading: CandidateReading) -> int | None:
        text = self.scope.of(reading)
        return self.verdict(self.first.is_in(text), self.second.is_in(text)) if text else None

    @classmethod
    def recognise(cls, text: str, options: Options) -> Self | None:  # noqa: ARG003
        match = cls.WORDING.fullmatch(text)
        first, second = (Thing.read(match["first"]), Thing.read(match["second"])) if match else (None, None)
        return cls(Scope(match["scope"]), first, second) if match and first and second else None


class Countable(NamedTuple):
    """Something that can be counted in the opening sentence."""

    question: str
    """``How many …``, without the question mark."""

    least: int
    noise: float
    count: Callable[[Text], int]


COUNTED: Mapping[str, Countable] = {
    # Readers lose count in long sentences, and differ on hyphens: the noise is far above that of looking at one word.
    "words": Countable("How many words has the opening sentence", 1, 0.12, lambda text: len(text.words)),
    "commas": Countable("How many commas has the opening sentence", 0, 0.06, lambda text: text.commas),
    "capitals": Countable(
        "How many words of the opening sentence, its first word aside, begin with a capital letter",
        0,
        0.07,
        lambda text: text.capitals,
    ),
}


@dataclass(frozen=True, slots=True)
class Count(Inquiry):
    """A question about how many words, commas or capitalised words the opening sentence has."""

    counted: str
    """A key of ``COUNTED``."""

    topic = Topic.SENTENCE

    @property
    def about(self) -> str:
        return f"the number of {self.counted} in the opening sentence"

    def number(self, reading: CandidateReading) -> int | None:
        return COUNTED[self.counted].count(reading.sentence) if reading.sentence else None


class PlaceInBook(Inquiry):
    """A question about where in the book the paragraph stands. It needs the book, not only the paragraph."""

    __slots__ = ()

    topic = Topic.PARAGRAPH
    about = "the place in the book"

    @staticmethod
    def quarter(reading: CandidateReading) -> int | None:
        """Return the quarter of the book, counted from 0."""
        return None if reading.part is None else min(3, int(reading.part * 4))


class WordLists(Inquiry):
    """A question about lists that may contain the associative word."""

    __slots__ = ()

    topic = Topic.WORD
    noise = 0.02
    about = "the list that holds the word"
