"""Questions with four options of their own.

Each class is one kind. The options of a question cover all values that occur among the candidates it was made for; a
text with another value has no answer.
"""

from __future__ import annotations

import re
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
from league_agents.agents.questions.kinds import (
    QUOTED,
    Inquiry,
    Options,
    Scope,
    Topic,
    WordSubject,
    cuts_of,
    place_among,
    quoted,
    spans,
)
from league_agents.agents.questions.reading import CandidateReading, fold


@dataclass(frozen=True, slots=True)
class LetterRange(EdgeLetter):
    """In which part of the alphabet the first or last letter of a word lies."""

    ranges: tuple[tuple[str, str], tuple[str, str], tuple[str, str], tuple[str, str]]
    """First and last letter of each option, as capitals."""

    @property
    def text(self) -> str:
        return f"With which letter does {self.subject} {'end' if self.at_end else 'begin'}?"

    @property
    def options(self) -> Options:
        a, b, c, d = (low if low == high else f"{low} to {high}" for low, high in self.ranges)
        return a, b, c, d

    def answer(self, reading: CandidateReading) -> int | None:
        letter = self.letter(reading)
        if letter is None:
            return None
        return next((i for i, (low, high) in enumerate(self.ranges) if low <= letter <= high), None)

    _WORDING = re.compile(rf"With which letter does ({SUBJECTS}) (begin|end)\?")
    _RANGE = re.compile(rf"({LETTER})(?: to ({LETTER}))?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> LetterRange | None:
        match = cls._WORDING.fullmatch(text)
        found = [cls._RANGE.fullmatch(option) for option in options]
        if not match or not all(found):
            return None
        a, b, c, d = ((m[1], m[2] or m[1]) for m in found if m)
        return cls(WordSubject(match[1]), match[2] == "end", (a, b, c, d))


@dataclass(frozen=True, slots=True)
class LetterCount(WordLength):
    """How long a word is."""

    cuts: tuple[int, int, int]

    @property
    def text(self) -> str:
        return f"How many letters has {self.subject}?"

    @property
    def options(self) -> Options:
        return spans(self.cuts, least=1)

    @property
    def noise(self) -> float:
        return 0.04 + self.subject.miscount

    def answer(self, reading: CandidateReading) -> int | None:
        length = self.length(reading)
        return None if length is None else place_among(length, self.cuts)

    _WORDING = re.compile(rf"How many letters has ({SUBJECTS})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> LetterCount | None:
        match, cuts = cls._WORDING.fullmatch(text), cuts_of(options)
        return cls(WordSubject(match[1]), cuts) if match and cuts else None


class Which(Pair):
    """A question with the options both, only the first, only the second, and neither."""

    __slots__ = ()

    def verdict(self, first: bool, second: bool) -> int:
        return (0 if second else 1) if first else (2 if second else 3)


@dataclass(frozen=True, slots=True)
class TwoLetters(LetterPair, Which):
    """Which of two letters a word contains."""

    @property
    def text(self) -> str:
        return f"Which of the letters {self.first} and {self.second} does {self.subject} contain?"

    @property
    def options(self) -> Options:
        return "both", f"only {self.first}", f"only {self.second}", "neither"

    @property
    def noise(self) -> float:
        return 0.03 + self.subject.miscount

    WORDING = re.compile(
        rf"Which of the letters (?P<first>{LETTER}) and (?P<second>{LETTER}) does (?P<subject>{SUBJECTS}) contain\?"
    )


@dataclass(frozen=True, slots=True)
class TwoThings(ThingPair, Which):
    """Which of two words or marks a text contains."""

    @property
    def text(self) -> str:
        return f"Which of these two does {self.scope} contain: (1) {self.first}; (2) {self.second}?"

    options = ("both (1) and (2)", "only (1)", "only (2)", "neither")

    WORDING = re.compile(
        rf"Which of these two does (?P<scope>{SCOPES}) contain: \(1\) (?P<first>{THING}); \(2\) (?P<second>{THING})\?"
    )


@dataclass(frozen=True, slots=True)
class WhichComesFirst(OfText):
    """Which of three words stands first in a text."""

    words: tuple[str, str, str]

    @property
    def text(self) -> str:
        a, b, c = map(quoted, self.words)
        return f"Which of the words {a}, {b} and {c} comes first in {self.scope}?"

    @property
    def options(self) -> Options:
        a, b, c = map(quoted, self.words)
        return a, b, c, "none of the three is there"

    @property
    def noise(self) -> float:
        return 0.04 if self.scope is Scope.SENTENCE else 0.07

    def answer(self, reading: CandidateReading) -> int | None:
        text = self.scope.of(reading)
        if text is None:
            return None
        places = text.first_places
        found = [(places[fold(word)], i) for i, word in enumerate(self.words) if fold(word) in places]
        return min(found)[1] if found else 3

    @property
    def about(self) -> str:
        return f"the order of words in {self.scope}"

    _WORDING = re.compile(rf"Which of the words [^?]{{1,200}} comes first in ({SCOPES})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhichComesFirst | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        words = QUOTED.findall(text) if match else []
        return cls(Scope(match[1]), (words[0], words[1], words[2])) if match and len(words) == 3 else None


@dataclass(frozen=True, slots=True)
class HowMany(Count):
    """How many words, commas or capitalised words the opening sentence has."""

    cuts: tuple[int, int, int]

    @property
    def text(self) -> str:
        return f"{COUNTED[self.counted].question}?"

    @property
    def options(self) -> Options:
        return spans(self.cuts, least=COUNTED[self.counted].least)

    @property
    def noise(self) -> float:
        return COUNTED[self.counted].noise

    def answer(self, reading: CandidateReading) -> int | None:
        number = self.number(reading)
        return None if number is None else place_among(number, self.cuts)

    @classmethod
    def recognise(cls, text: str, options: Options) -> HowMany | None:
        counted = next((name for name, row in COUNTED.items() if text == f"{row.question}?"), None)
        cuts = cuts_of(options)
        return cls(counted, cuts) if counted and cuts else None


@dataclass(frozen=True, slots=True)
class WhereSpeech(Inquiry):
    """Whether and where somebody speaks."""

    text = "Does somebody speak in quotation marks in the paragraph, and where for the first time?"
    options = ("yes, in the opening sentence", "yes, but only after the opening sentence", "no", "cannot be told")
    topic = Topic.PARAGRAPH
    noise = 0.07
    choices = 3

    def answer(self, reading: CandidateReading) -> int | None:
        if reading.paragraph is None or reading.sentence is None:
            return None
        return 0 if reading.sentence.has_speech else 1 if reading.paragraph.has_speech else 2

    about = "the place of direct speech"

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhereSpeech | None:  # noqa: ARG003
        return cls() if text == cls.text else None


@dataclass(frozen=True, slots=True)
class WhichQuarter(PlaceInBook):
    """In which quarter of the book the paragraph stands."""

    text = "In which quarter of the book does the paragraph stand, as far as its length goes?"
    options = ("the first quarter", "the second quarter", "the third quarter", "the last quarter")
    noise = 0.15

    def answer(self, reading: CandidateReading) -> int | None:
        return self.quarter(reading)

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhichQuarter | None:  # noqa: ARG003
        return cls() if text == cls.text else None


@dataclass(frozen=True, slots=True)
class WhichList(WordLists):
    """In which of three lists the associative word stands."""

    lists: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

    text = "In which of these lists does the associative word stand?"

    @property
    def options(self) -> Options:
        a, b, c = map(", ".join, self.lists)
        return a, b, c, "in none of these lists"

    def answer(self, reading: CandidateReading) -> int | None:
        if reading.word is None:
            return None
        word = reading.word.casefold()
        return next((i for i, words in enumerate(self.lists) if word in words), 3)

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhichList | None:
        if text != cls.text or options[3] != "in none of these lists":
            return None
        a, b, c = (tuple(option[:2000].split(", ")) for option in options[:3])
        return cls((a, b, c))


KINDS: tuple[type[Inquiry], ...] = (
    LetterRange,
    LetterCount,
    TwoLetters,
    TwoThings,
    WhichComesFirst,
    HowMany,
    WhereSpeech,
    WhichQuarter,
    WhichList,
)
