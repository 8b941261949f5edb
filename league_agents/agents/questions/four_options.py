"""Questions with four options of their own.

Each class is one kind. The options of a question leave no gap that occurs among the candidates it was made for; a text
that falls between them has no answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from league_agents.agents.questions.kinds import (
    QUOTED,
    Inquiry,
    Options,
    Scope,
    Subject,
    Thing,
    Topic,
    cuts_of,
    place_among,
    quoted,
    spans,
)
from league_agents.agents.questions.reading import Reading, Text, edge_letter, fold, letter_count, letters_of

_SUBJECTS = "|".join(map(str, Subject))
_SCOPES = "|".join(map(str, Scope))


@dataclass(frozen=True, slots=True)
class LetterRange(Inquiry):
    """In which part of the alphabet the first or last letter of a word lies."""

    subject: Subject
    at_end: bool
    ranges: tuple[tuple[str, str], tuple[str, str], tuple[str, str], tuple[str, str]]
    """First and last letter of each option, capitals."""

    @property
    def text(self) -> str:
        return f"With which letter does {self.subject} {'end' if self.at_end else 'begin'}?"

    @property
    def options(self) -> Options:
        a, b, c, d = (low if low == high else f"{low} to {high}" for low, high in self.ranges)
        return a, b, c, d

    @property
    def topic(self) -> Topic:
        return self.subject.topic

    @property
    def noise(self) -> float:
        return 0.02 + self.subject.miscount + 0.01 * self.at_end

    def answer(self, reading: Reading) -> int | None:
        letter = edge_letter(self.subject.of(reading) or "", at_end=self.at_end)
        if letter is None:
            return None
        return next((i for i, (low, high) in enumerate(self.ranges) if low <= letter <= high), None)

    @property
    def about(self) -> str:
        return f"the {'last' if self.at_end else 'first'} letter of {self.subject.short}"

    _WORDING = re.compile(rf"With which letter does ({_SUBJECTS}) (begin|end)\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> LetterRange | None:
        match = cls._WORDING.fullmatch(text)
        found = [re.fullmatch(r"([^\W\d_])(?: to ([^\W\d_]))?", option) for option in options]
        if not match or not all(found):
            return None
        a, b, c, d = ((m[1], m[2] or m[1]) for m in found if m)
        return cls(Subject(match[1]), match[2] == "end", (a, b, c, d))


@dataclass(frozen=True, slots=True)
class LetterCount(Inquiry):
    """How long a word is."""

    subject: Subject
    cuts: tuple[int, int, int]

    @property
    def text(self) -> str:
        return f"How many letters has {self.subject}?"

    @property
    def options(self) -> Options:
        return spans(self.cuts, least=1)

    @property
    def topic(self) -> Topic:
        return self.subject.topic

    @property
    def noise(self) -> float:
        return 0.04 + self.subject.miscount

    def answer(self, reading: Reading) -> int | None:
        count = letter_count(self.subject.of(reading) or "")
        return place_among(count, self.cuts) if count else None

    @property
    def about(self) -> str:
        return f"the length of {self.subject.short}"

    _WORDING = re.compile(rf"How many letters has ({_SUBJECTS})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> LetterCount | None:
        match, cuts = cls._WORDING.fullmatch(text), cuts_of(options)
        return cls(Subject(match[1]), cuts) if match and cuts else None


@dataclass(frozen=True, slots=True)
class TwoLetters(Inquiry):
    """Which of two letters a word contains."""

    subject: Subject
    first: str
    second: str

    @property
    def text(self) -> str:
        return f"Which of the letters {self.first} and {self.second} does {self.subject} contain?"

    @property
    def options(self) -> Options:
        return "both", f"only {self.first}", f"only {self.second}", "neither"

    @property
    def topic(self) -> Topic:
        return self.subject.topic

    @property
    def noise(self) -> float:
        return 0.03 + self.subject.miscount

    def answer(self, reading: Reading) -> int | None:
        letters = letters_of(self.subject.of(reading) or "")
        return _which(self.first in letters, self.second in letters) if letters else None

    @property
    def about(self) -> str:
        return f"the letters in {self.subject.short}"

    _WORDING = re.compile(rf"Which of the letters ([^\W\d_]) and ([^\W\d_]) does ({_SUBJECTS}) contain\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> TwoLetters | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        return cls(Subject(match[3]), match[1], match[2]) if match else None


@dataclass(frozen=True, slots=True)
class TwoThings(Inquiry):
    """Which of two words or marks a text contains."""

    scope: Scope
    first: Thing
    second: Thing

    @property
    def text(self) -> str:
        return f"Which of these two does {self.scope} contain: (1) {self.first}; (2) {self.second}?"

    @property
    def options(self) -> Options:
        return "both (1) and (2)", "only (1)", "only (2)", "neither"

    @property
    def topic(self) -> Topic:
        return self.scope.topic

    @property
    def noise(self) -> float:
        return 0.03 if self.scope is Scope.SENTENCE else 0.06

    def answer(self, reading: Reading) -> int | None:
        text = self.scope.of(reading)
        return _which(self.first.is_in(text), self.second.is_in(text)) if text else None

    @property
    def about(self) -> str:
        return f"two details of {self.scope}"

    _WORDING = re.compile(
        rf"Which of these two does ({_SCOPES}) contain: \(1\) ([^;?]{{1,300}}); \(2\) ([^;?]{{1,300}})\?"
    )

    @classmethod
    def recognise(cls, text: str, options: Options) -> TwoThings | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        first, second = (Thing.read(match[2]), Thing.read(match[3])) if match else (None, None)
        return cls(Scope(match[1]), first, second) if match and first and second else None


@dataclass(frozen=True, slots=True)
class WhichComesFirst(Inquiry):
    """Which of three words stands first in a text."""

    scope: Scope
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
    def topic(self) -> Topic:
        return self.scope.topic

    @property
    def noise(self) -> float:
        return 0.04 if self.scope is Scope.SENTENCE else 0.07

    def answer(self, reading: Reading) -> int | None:
        text = self.scope.of(reading)
        if text is None:
            return None
        places = text.first_places
        found = [(places[fold(word)], i) for i, word in enumerate(self.words) if fold(word) in places]
        return min(found)[1] if found else 3

    @property
    def about(self) -> str:
        return f"the order of words in {self.scope}"

    _WORDING = re.compile(rf"Which of the words [^?]{{1,200}} comes first in ({_SCOPES})\?")

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhichComesFirst | None:  # noqa: ARG003
        match = cls._WORDING.fullmatch(text)
        words = QUOTED.findall(text) if match else []
        return cls(Scope(match[1]), (words[0], words[1], words[2])) if match and len(words) == 3 else None


@dataclass(frozen=True, slots=True)
class HowMany(Inquiry):
    """How many words, commas or capitalised words the opening sentence has."""

    counted: str
    """A key of ``COUNTED``."""

    cuts: tuple[int, int, int]

    @property
    def text(self) -> str:
        return f"{COUNTED[self.counted][0]}?"

    @property
    def options(self) -> Options:
        return spans(self.cuts, least=COUNTED[self.counted][1])

    @property
    def topic(self) -> Topic:
        return Topic.SENTENCE

    @property
    def noise(self) -> float:
        return COUNTED[self.counted][2]

    def answer(self, reading: Reading) -> int | None:
        return place_among(COUNTED[self.counted][3](reading.sentence), self.cuts) if reading.sentence else None

    @property
    def about(self) -> str:
        return f"the number of {self.counted} in the opening sentence"

    @classmethod
    def recognise(cls, text: str, options: Options) -> HowMany | None:
        counted = next((name for name, row in COUNTED.items() if text == f"{row[0]}?"), None)
        cuts = cuts_of(options)
        return cls(counted, cuts) if counted and cuts else None


COUNTED: Mapping[str, tuple[str, int, float, Callable[[Text], int]]] = {
    # Readers lose count in long sentences, and differ on hyphens: the noise is far above that of looking at one word.
    "words": ("How many words has the opening sentence", 1, 0.12, lambda text: len(text.words)),
    "commas": ("How many commas has the opening sentence", 0, 0.06, lambda text: text.commas),
    "capitals": (
        "How many words of the opening sentence, its first word aside, begin with a capital letter",
        0,
        0.07,
        lambda text: text.capitals,
    ),
}
"""What is counted: the question without its mark, the least count, the noise, how to count."""


@dataclass(frozen=True, slots=True)
class WhereSpeech(Inquiry):
    """Whether, and where, somebody speaks."""

    text = "Does somebody speak in quotation marks in the paragraph, and where for the first time?"
    options = ("yes, in the opening sentence", "yes, but only after the opening sentence", "no", "cannot be told")
    topic = Topic.PARAGRAPH
    noise = 0.07
    choices = 3

    def answer(self, reading: Reading) -> int | None:
        if reading.paragraph is None or reading.sentence is None:
            return None
        return 0 if reading.sentence.has_speech else 1 if reading.paragraph.has_speech else 2

    about = "the place of direct speech"

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhereSpeech | None:  # noqa: ARG003
        return cls() if text == cls.text else None


@dataclass(frozen=True, slots=True)
class WhichQuarter(Inquiry):
    """In which quarter of the book the paragraph stands."""

    text = "In which quarter of the book does the paragraph stand, as far as its length goes?"
    options = ("the first quarter", "the second quarter", "the third quarter", "the last quarter")
    topic = Topic.PARAGRAPH
    noise = 0.15  # needs the book, not only the paragraph

    def answer(self, reading: Reading) -> int | None:
        return None if reading.part is None else min(3, int(reading.part * 4))

    about = "the place in the book"

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhichQuarter | None:  # noqa: ARG003
        return cls() if text == cls.text else None


@dataclass(frozen=True, slots=True)
class WhichList(Inquiry):
    """In which of three lists the associative word stands."""

    lists: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]

    text = "In which of these lists does the associative word stand?"
    topic = Topic.WORD
    noise = 0.02

    @property
    def options(self) -> Options:
        a, b, c = map(", ".join, self.lists)
        return a, b, c, "in none of these lists"

    def answer(self, reading: Reading) -> int | None:
        if reading.word is None:
            return None
        word = reading.word.casefold()
        return next((i for i, words in enumerate(self.lists) if word in words), 3)

    about = "the list that holds the word"

    @classmethod
    def recognise(cls, text: str, options: Options) -> WhichList | None:
        if text != cls.text or options[3] != "in none of these lists":
            return None
        a, b, c = (tuple(option[:2000].split(", ")) for option in options[:3])
        return cls((a, b, c))


def _which(first: bool, second: bool) -> int:
    return (0 if second else 1) if first else (2 if second else 3)


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
