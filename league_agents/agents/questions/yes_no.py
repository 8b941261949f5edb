"""Questions for a fixed answer key: yes, no, partially.

If two claims are joined, "partially" means that one of them holds; the question says so. A joined question has three
useful answers, a plain one has two.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from league_agents.agents.questions.aspects import (
    COUNTED,
    LETTER,
    SCOPES,
    SUBJECTS,
    THING,
    Count,
    EdgeLetter,
    LetterPair,
    OfText,
    Pair,
    PlaceInBook,
    ThingPair,
    WordLength,
    WordLists,
)
from league_agents.agents.questions.kinds import NO, PARTIALLY, YES, Inquiry, Options, Scope, Thing, Topic, WordSubject
from league_agents.agents.questions.reading import CandidateReading, edge_letter

_ONLY_ONE = "(partially: only one of them)?"
# A question ends in a question mark: runners append one to texts that do not (protocol 6.2).


class YesNo(Inquiry):
    """A plain question."""

    __slots__ = ()

    @property
    def choices(self) -> int:
        return 2


class Joined(Pair):
    """A question about two claims, answered "partially" if only one of them holds."""

    __slots__ = ()

    @property
    def choices(self) -> int:
        return 3

    def verdict(self, first: bool, second: bool) -> int:
        return YES if first and second else PARTIALLY if first or second else NO


@dataclass(frozen=True, slots=True)
class LetterBetween(EdgeLetter, YesNo):
    """Whether a word begins or ends with a letter in a range of the alphabet."""

    low: str
    high: str

    @property
    def text(self) -> str:
        verb = "end" if self.at_end else "begin"
        return f"Does {self.subject} {verb} with a letter from {self.low} to {self.high}?"

    def answer(self, reading: CandidateReading) -> int | None:
        letter = self.letter(reading)
        return None if letter is None else _yes(self.low <= letter <= self.high)

    _WORDING = re.compile(rf"Does ({SUBJECTS}) (begin|end) with a letter from ({LETTER}) to ({LETTER})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> LetterBetween | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        return cls(WordSubject(match[1]), match[2] == "end", match[3], match[4]) if match else None


@dataclass(frozen=True, slots=True)
class BothBetween(Joined):
    """Whether two words begin with letters in given ranges of the alphabet."""

    first: WordSubject
    first_range: tuple[str, str]
    second: WordSubject
    second_range: tuple[str, str]

    @property
    def text(self) -> str:
        (a, b), (c, d) = self.first_range, self.second_range
        return (
            f"Is it so that (1) {self.first} begins with a letter from {a} to {b} and (2) {self.second} begins with a "
            f"letter from {c} to {d} {_ONLY_ONE}"
        )

    @property
    def topic(self) -> Topic:
        return self.first.topic

    @property
    def noise(self) -> float:
        return 0.04 + self.first.miscount + self.second.miscount

    def answer(self, reading: CandidateReading) -> int | None:
        first = edge_letter(self.first.of(reading) or "", at_end=False)
        second = edge_letter(self.second.of(reading) or "", at_end=False)
        if first is None or second is None:
            return None
        (a, b), (c, d) = self.first_range, self.second_range
        return self.verdict(a <= first <= b, c <= second <= d)

    @property
    def about(self) -> str:
        return f"the first letters of {self.first.short} and {self.second.short}"

    _WORDING = re.compile(
        rf"Is it so that \(1\) ({SUBJECTS}) begins with a letter from ({LETTER}) to ({LETTER}) and \(2\) ({SUBJECTS}) "
        rf"begins with a letter from ({LETTER}) to ({LETTER}) {re.escape(_ONLY_ONE)}"
    )

    @classmethod
    def recognise(cls, text: str, options: Options) -> BothBetween | None:  # noqa: ARG003
        m = cls._WORDING.fullmatch(text)
        return cls(WordSubject(m[1]), (m[2], m[3]), WordSubject(m[4]), (m[5], m[6])) if m else None


@dataclass(frozen=True, slots=True)
class LongerThan(WordLength, YesNo):
    """Whether a word has more than a given number of letters."""

    letters: int

    @property
    def text(self) -> str:
        return f"Has {self.subject} more than {self.letters} letters?"

    @property
    def noise(self) -> float:
        return 0.03 + self.subject.miscount

    def answer(self, reading: CandidateReading) -> int | None:
        length = self.length(reading)
        return None if length is None else _yes(length > self.letters)

    _WORDING = re.compile(rf"Has ({SUBJECTS}) more than (\d{{1,3}}) letters\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> LongerThan | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        return cls(WordSubject(match[1]), int(match[2])) if match else None


@dataclass(frozen=True, slots=True)
class BothLetters(LetterPair, Joined):
    """Whether a word contains two letters."""

    @property
    def text(self) -> str:
        return f"Does {self.subject} contain both the letter {self.first} and the letter {self.second} {_ONLY_ONE}"

    @property
    def noise(self) -> float:
        return 0.04 + self.subject.miscount

    WORDING = re.compile(
        rf"Does (?P<subject>{SUBJECTS}) contain both the letter (?P<first>{LETTER}) and the letter "
        rf"(?P<second>{LETTER}) {re.escape(_ONLY_ONE)}"
    )


@dataclass(frozen=True, slots=True)
class Contains(OfText, YesNo):
    """Whether a text contains a word or a mark."""

    thing: Thing

    @property
    def text(self) -> str:
        return f"Does {self.scope} contain {self.thing}?"

    @property
    def noise(self) -> float:
        return 0.02 if self.scope is Scope.SENTENCE else 0.04

    def answer(self, reading: CandidateReading) -> int | None:
        text = self.scope.of(reading)
        return _yes(self.thing.is_in(text)) if text else None

    @property
    def about(self) -> str:
        return f"a detail of {self.scope}"

    _WORDING = re.compile(rf"Does ({SCOPES}) contain ([^;?]{{1,600}})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> Contains | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        thing = Thing.read(match[2]) if match else None
        return cls(Scope(match[1]), thing) if match and thing else None


@dataclass(frozen=True, slots=True)
class ContainsBoth(ThingPair, Joined):
    """Whether a text contains two words or marks."""

    @property
    def text(self) -> str:
        return f"Does {self.scope} contain both (1) {self.first} and (2) {self.second} {_ONLY_ONE}"

    WORDING = re.compile(
        rf"Does (?P<scope>{SCOPES}) contain both \(1\) (?P<first>{THING}) and \(2\) (?P<second>{THING}) "
        rf"{re.escape(_ONLY_ONE)}"
    )


@dataclass(frozen=True, slots=True)
class MoreThan(Count, YesNo):
    """Whether the opening sentence has more than a given number of words, commas or capitalised words."""

    count: int

    @property
    def text(self) -> str:
        return _MORE_THAN[self.counted].format(self.count)

    @property
    def noise(self) -> float:
        return COUNTED[self.counted].noise / 2

    def answer(self, reading: CandidateReading) -> int | None:
        number = self.number(reading)
        return None if number is None else _yes(number > self.count)

    @classmethod
    def recognise(cls, text: str, options: Options) -> MoreThan | None:  # noqa: ARG003
        number = re.search(r"(?<= more than )\d{1,3}(?= )", text)
        if number is None:
            return None
        found = next((name for name, form in _MORE_THAN.items() if form.format(number[0]) == text), None)
        return cls(found, int(number[0])) if found else None


_MORE_THAN: Mapping[str, str] = {
    "words": "Has the opening sentence more than {} words?",
    "commas": "Has the opening sentence more than {} commas?",
    "capitals": "Has the opening sentence, its first word aside, more than {} words with a capital letter?",
}


@dataclass(frozen=True, slots=True)
class Speech(OfText, YesNo):
    """Whether somebody speaks."""

    @property
    def text(self) -> str:
        return f"Does somebody speak in quotation marks in {self.scope}?"

    @property
    def noise(self) -> float:
        return 0.05

    def answer(self, reading: CandidateReading) -> int | None:
        text = self.scope.of(reading)
        return _yes(text.has_speech) if text else None

    @property
    def about(self) -> str:
        return f"direct speech in {self.scope}"

    _WORDING = re.compile(rf"Does somebody speak in quotation marks in ({SCOPES})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> Speech | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        return cls(Scope(match[1])) if match else None


@dataclass(frozen=True, slots=True)
class InPart(PlaceInBook, YesNo):
    """Whether the paragraph stands in one half of the book."""

    quarters: tuple[int, int]
    """The quarters of the half, counted from 0."""

    noise = 0.1

    @property
    def text(self) -> str:
        return f"Does the paragraph stand {_PARTS[self.quarters]} of the book, as far as its length goes?"

    def answer(self, reading: CandidateReading) -> int | None:
        quarter = self.quarter(reading)
        return None if quarter is None else _yes(quarter in self.quarters)

    @classmethod
    def recognise(cls, text: str, options: Options) -> InPart | None:  # noqa: ARG003
        return next((question for question in map(cls, _PARTS) if question.text == text), None)


_PARTS: Mapping[tuple[int, int], str] = {
    (0, 1): "in the first half",
    (1, 2): "in the second or third quarter",
}


@dataclass(frozen=True, slots=True)
class OneOf(WordLists, YesNo):
    """Whether the associative word is one of a list."""

    words: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"Is the associative word one of these: {', '.join(self.words)}?"

    def answer(self, reading: CandidateReading) -> int | None:
        return None if reading.word is None else _yes(reading.word.casefold() in self.words)

    _WORDING = re.compile(r"Is the associative word one of these: ([^?]{1,2000})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> OneOf | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        return cls(tuple(match[1].split(", "))) if match else None


def _yes(claim: bool) -> int:
    return YES if claim else NO


KINDS: tuple[type[Inquiry], ...] = (
    LetterBetween,
    BothBetween,
    LongerThan,
    BothLetters,
    Contains,
    ContainsBoth,
    MoreThan,
    Speech,
    InPart,
    OneOf,
)
