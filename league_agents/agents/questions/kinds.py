"""Base of all kinds of questions: topic, wording, and expected noise of the answers.

Rule 1: a question computes its own answer from a reading, and from nothing else.
Rule 2: its wording contains all of its parameters, so that it can be recognised from text and options alone, after a
restart and by any receiver.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum, StrEnum

from league_agents.agents.questions.reading import MARKS, CandidateReading, Text, fold

Options = tuple[str, str, str, str]

YES, NO, PARTIALLY = 0, 1, 2
"""Answers to a question without options of its own."""


class Topic(Enum):
    """Part of the target that an answerer has to look at."""

    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    WORD = "word"


class Scope(StrEnum):
    """A text that is searched."""

    SENTENCE = "the opening sentence"
    PARAGRAPH = "the paragraph"

    @property
    def topic(self) -> Topic:
        return Topic.SENTENCE if self is Scope.SENTENCE else Topic.PARAGRAPH

    def of(self, reading: CandidateReading) -> Text | None:
        return reading.sentence if self is Scope.SENTENCE else reading.paragraph


class WordSubject(StrEnum):
    """A single word that is looked at."""

    FIRST = "the first word of the opening sentence"
    SECOND = "the second word of the opening sentence"
    THIRD = "the third word of the opening sentence"
    FOURTH = "the fourth word of the opening sentence"
    LAST_BUT_ONE = "the last word but one of the opening sentence"
    LAST = "the last word of the opening sentence"
    ASSOCIATIVE = "the associative word"

    @property
    def topic(self) -> Topic:
        return Topic.WORD if self is WordSubject.ASSOCIATIVE else Topic.SENTENCE

    @property
    def short(self) -> str:
        """``the second word``."""
        return self.value.removesuffix(" of the opening sentence")

    @property
    def miscount(self) -> float:
        """Rate at which a careful answerer looks at a neighbouring word instead."""
        return {WordSubject.FOURTH: 0.02, WordSubject.LAST_BUT_ONE: 0.02, WordSubject.THIRD: 0.01}.get(self, 0.0)

    def of(self, reading: CandidateReading) -> str | None:
        if self is WordSubject.ASSOCIATIVE:
            return reading.word
        words = reading.sentence.words if reading.sentence else ()
        place = _PLACES[self]
        needed = place + 1 if place >= 0 else -place
        return words[place] if len(words) >= needed else None


_PLACES = {
    WordSubject.FIRST: 0,
    WordSubject.SECOND: 1,
    WordSubject.THIRD: 2,
    WordSubject.FOURTH: 3,
    WordSubject.LAST_BUT_ONE: -2,
    WordSubject.LAST: -1,
}
SENTENCE_SUBJECTS = tuple(_PLACES)


class Inquiry(ABC):
    """A question that computes its answer from a reading. Equal inquiries have equal wording."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The question as it is sent."""

    @property
    def options(self) -> Options | None:
        """The texts of A to D; ``None`` for a question that is answered with yes, no or partially."""
        return None

    @property
    def choices(self) -> int:
        """Number of possible answers."""
        return 4

    @property
    def is_written(self) -> bool:
        """Whether a model wrote the question and predicted its answers; errors in such questions are correlated."""
        return False

    @property
    @abstractmethod
    def topic(self) -> Topic: ...

    @property
    @abstractmethod
    def noise(self) -> float:
        """Expected error rate of a careful answerer."""

    @abstractmethod
    def answer(self, reading: CandidateReading) -> int | None:
        """Return the index of the right option, or ``YES``, ``NO``, ``PARTIALLY``; ``None`` if undecided."""

    @property
    @abstractmethod
    def about(self) -> str:
        """Subject of the question, as a short noun phrase for a justification."""

    @classmethod
    @abstractmethod
    def recognise(cls, text: str, options: Options) -> Inquiry | None:
        """Return the question of this kind with this wording; ``None`` if it is not of this kind."""


@dataclass(frozen=True, slots=True)
class Thing:
    """A word or mark that a text may contain."""

    words: tuple[str, ...] = ()
    """Words in their usual spelling; any of them counts, in any case. Empty for a mark."""

    mark: str = ""
    """A name of ``MARKS``; empty for words."""

    def __str__(self) -> str:
        if self.mark:
            return self.mark
        if len(self.words) == 1:
            return f"the word {quoted(self.words[0])}"
        return f"one of the words {', '.join(map(quoted, self.words))}"

    def is_in(self, text: Text) -> bool:
        if self.mark:
            return self.mark in text.marks
        if len(self.words) == 1:  # fast path: the usual case, in the innermost loop of making questions
            return fold(self.words[0]) in text.vocabulary
        return any(fold(word) in text.vocabulary for word in self.words)

    @staticmethod
    def read(phrase: str) -> Thing | None:
        if phrase in MARKS:
            return Thing(mark=phrase)
        words = QUOTED.findall(phrase)
        thing = Thing(words=tuple(words))
        return thing if words and str(thing) == phrase else None


QUOTED = re.compile(r"“([^“”]{1,60})”")


def quoted(word: str) -> str:
    return f"“{word}”"


def spans(cuts: tuple[int, int, int], *, least: int) -> Options:
    """Return four ranges as texts: ``up to 2``, ``3``, ``4 or 5``, ``6 or more``; each cut is the end of its range."""
    first = "none" if cuts[0] == 0 else str(cuts[0]) if cuts[0] == least else f"up to {cuts[0]}"
    return first, _span(cuts[0] + 1, cuts[1]), _span(cuts[1] + 1, cuts[2]), f"{cuts[2] + 1} or more"


def cuts_of(options: Options) -> tuple[int, int, int] | None:
    """Return the cuts from which ``spans`` makes these options; ``None`` if the options are not such ranges."""
    ends: list[int] = []
    for option in options[:3]:
        numbers = re.findall(r"\d{1,3}", option[:40])
        if not numbers and option != "none":
            return None
        ends.append(int(numbers[-1]) if numbers else 0)
    return (ends[0], ends[1], ends[2]) if ends[0] < ends[1] < ends[2] else None


def place_among(value: int, cuts: tuple[int, int, int]) -> int:
    return sum(value > cut for cut in cuts)


def _span(low: int, high: int) -> str:
    return str(low) if low == high else f"{low} or {high}" if high == low + 1 else f"{low} to {high}"
