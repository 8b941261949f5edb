"""Options of substance: what a question with four options seeks, and which option is the only true one.

Rule: an option is given as the answer only if it is the only true one of the four; "none of them" only if the others
are surely false.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from league_agents.agents.questions.free import sentences_of as page
from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.book_claims import WrittenBy
from league_agents.agents.questions.free.claims import ClaimTarget, TextPart, place_in
from league_agents.agents.questions.free.things import TextThing
from league_agents.agents.questions.free.word_claims import SECRET, WordAt
from league_agents.agents.questions.reading import Text, edge_letter, fold, letter_count
from league_agents.knowledge.words import words_of

_NO_OPTION = re.compile(
    r"\W*(?:none|neither|no\b|nothing|nobody|not? (?:of|any)|other|another|some(?:one|body|thing) else"
    r"|keine?[sr]?\b|anderes|以上都不是|אף אחד)"
)
_ARTICLE = re.compile(r"^(?:an?|the) (?=\w)", re.IGNORECASE)
_LETTERS_ONLY = re.compile(
    r"(?:letters? )?(?:from )?[A-Za-z](?:(?:[\s,/–—-]|\bto\b|\bthrough\b|\bor\b|\band\b)+[A-Za-z](?![A-Za-z]))*"
)
_RANGE = re.compile(r"(?<![A-Za-z])([A-Za-z])\s*(?:-|–|—|to|through)\s*([A-Za-z])(?![A-Za-z])")
_NUMBER_OPTIONS = {"none": 0, "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
                   "eight": 8, "nine": 9, "ten": 10}  # fmt: skip


class Sought:
    """What a question seeks among its options."""

    __slots__ = ()

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        """Return the index of the only true option."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SoughtCount(Sought):
    """How many of a thing a text has."""

    part: TextPart
    thing: TextThing

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        text = self.part.text(target)
        if text is None or self.part.is_partial(target):
            return None
        count = self.thing.count(text)
        if count.high is None or not any(map(_has_number, options)) or any(map(_is_twisted, options)):
            return None
        places = {only([_holds(option, number) for option in options]) for number in range(count.low, count.high + 1)}
        return places.pop() if len(places) == 1 else None


@dataclass(frozen=True, slots=True)
class SoughtLength(Sought):
    """How many letters a word has."""

    word: WordAt

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        count = letter_count(self.word.of(target) or "")
        is_read = count and any(map(_has_number, options)) and not any(map(_is_twisted, options))
        return only([_holds(option, count) for option in options]) if count and is_read else None


@dataclass(frozen=True, slots=True)
class SoughtLetter(Sought):
    """The first or last letter of a word."""

    word: WordAt
    at_end: bool

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        letter = edge_letter(self.word.of(target) or "", at_end=self.at_end)
        if letter is None or not all(map(_is_letters, options)):
            return None
        return only([_holds_letter(option, letter) for option in options], options)


@dataclass(frozen=True, slots=True)
class SoughtWord(Sought):
    """Which word it is."""

    word: WordAt

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        word = self.word.of(target)
        if word is None:
            return None
        if self.word == SECRET:
            # "Anything but a whale" has the word too.
            return only([words_of(_bare(option)) == words_of(word) for option in options], options)
        return only([words_of(option) == words_of(word) for option in options], options)


@dataclass(frozen=True, slots=True)
class SoughtPresent(Sought):
    """Which of the options stands in a text, or, if ``is_absent``, does not."""

    part: TextPart
    is_absent: bool = False
    is_literal: bool = True
    """Whether the question is about words: a subject may be mentioned without being named, but a word occurs or not."""

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        text = self.part.text(target)
        if text is None or self.part.is_partial(target):
            return None
        found = [bool(option) and _is_there(option, text) != self.is_absent for option in substance(options)]
        return only(found, options if self.is_literal and not self.is_absent else ())


@dataclass(frozen=True, slots=True)
class SoughtFirst(Sought):
    """Which of the options comes first in a text."""

    part: TextPart

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        text = self.part.text(target)
        if text is None or self.part.is_partial(target):
            return None
        places = []
        for i, option in enumerate(substance(options)):
            place = place_in(_bare(option), text)
            if place is not None:
                places.append((place, i))
        return min(places)[1] if places else none_place(options)


@dataclass(frozen=True, slots=True)
class SoughtEndMark(Sought):
    """With which mark the sentence ends."""

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        text = target.reading.sentence
        names = {".": "full stop|period", "?": "question mark", "!": "exclamation", "…": "ellipsis", ",": "comma",
                 ":": r"(?<!semi)(?<!semi-)colon", ";": "semi-?colon"}  # fmt: skip
        end = names.get(page.end_mark(text)) if text is not None else None
        return None if end is None else only([bool(re.search(end, option.casefold())) for option in options], options)


@dataclass(frozen=True, slots=True)
class SoughtSpeaker(Sought):
    """Who speaks, if a verb of speech names the speaker."""

    part: TextPart

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        text = self.part.text(target)
        told = page.narrated(text) if text is not None else []
        speakers: set[str] = set()
        for i, word in enumerate(told):
            if word.folded in words.SPEECH_VERBS:
                after = list(takewhile(lambda other: other.folded not in _TO_WHOM, told[i + 1 : i + 4]))
                near = {other.folded for other in (*told[max(0, i - 2) : i], *after)}
                if near & words.PRONOUNS:
                    return None  # "she asked Tom": the name may be the listener's
                speakers |= near
        speakers -= words.ARTICLES | words.PRONOUNS | words.SPEECH_VERBS
        named = [bool(speakers & set(words_of(_bare(option)))) for option in substance(options)]
        return only(named)


@dataclass(frozen=True, slots=True)
class SoughtAuthor(Sought):
    """Who wrote the book."""

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        surname = words_of(target.facts.author)[-1:]
        if not surname:
            return None
        # Several authors share a surname, such as the Brontës.
        found = [surname[0] in words_of(option) and (WrittenBy(option).check(target) or None) for option in options]
        return None if None in found and True not in found else only([each is True for each in found], options)


@dataclass(frozen=True, slots=True)
class SoughtYear(Sought):
    """When the book was published."""

    def choose(self, options: Sequence[str], target: ClaimTarget) -> int | None:
        year = target.facts.year
        if year is None or any(_PART_OF_CENTURY.search(option.casefold()) for option in options):
            return None
        return only([_holds_year(option, year) for option in options])


def only(found: Sequence[bool], options: Sequence[str] = ()) -> int | None:
    """Return the index of the only true value; if none is true, that of the "none of them" option."""
    if any(found):
        return list(found).index(True) if sum(found) == 1 else None
    return none_place(options)


def none_place(options: Sequence[str]) -> int | None:
    """Return the last option that means "none of them", because earlier ones may be words like "nothing"."""
    said = [i for i, option in enumerate(options) if _NO_OPTION.match(option.casefold())]
    return said[-1] if said else None


def substance(options: Sequence[str]) -> list[str]:
    """Return the options, with the one for "none of them" replaced by an empty text."""
    place = none_place(options)
    return ["" if i == place else option for i, option in enumerate(options)]


def _bare(option: str) -> str:
    return _ARTICLE.sub("", option.strip(" “”\"'‘’.,"))


def _is_there(option: str, text: Text) -> bool:
    wanted = [fold(word) for word in Text(_bare(option)).words]
    if len(wanted) <= 1:
        return bool(wanted) and wanted[0] in text.vocabulary
    folded = list(text.folded)
    return any(folded[i : i + len(wanted)] == wanted for i in range(len(folded) - len(wanted) + 1))


def _is_letters(option: str) -> bool:
    return bool(_LETTERS_ONLY.fullmatch(option.strip(" .()'\"“”"))) or bool(_NO_OPTION.match(option.casefold()))


def _holds_letter(option: str, letter: str) -> bool:
    if _NO_OPTION.match(option.casefold()):
        return False
    ranges = [(low.upper(), high.upper()) for low, high in _RANGE.findall(option)]
    if ranges:
        return any(low <= letter <= high for low, high in ranges)
    return letter in {each.upper() for each in re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", option)}


_TWISTED = re.compile(r"\bn(?:o|ot)\b|n['’]t\b|\b(?:except|but|never)\b", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:under|over|more|fewer|less|above|below|before|after|least|most)\b", re.IGNORECASE)
_TO_WHOM = frozenset({"to", "with", "at", "of"})
_PART_OF_CENTURY = re.compile(
    r"\b(?:early|late|(?<!or )later|mid|half|quarter|third of|beginning|end|turn|not)\b"
    r"|\b(?:before|after|until) the \d\d?(?:st|nd|rd|th)"
)


def _is_twisted(option: str) -> bool:
    """Whether an option says more than a number or a span: "no fewer than 6", "under 2 or over 20"."""
    said = re.sub(r"\bor (?:more|fewer|less|later|earlier|above|below)\b", "", option)
    numbers = re.findall(r"\d+", said)
    is_none = _NO_OPTION.match(option.casefold()) and not numbers
    return bool((_TWISTED.search(said) and not is_none) or (len(numbers) > 1 and _COMPARED.search(said)))


def _has_number(option: str) -> bool:
    return any(map(str.isdigit, option)) or bool(set(words_of(option)) & _NUMBER_OPTIONS.keys())


def _holds_year(option: str, year: int) -> bool:
    if century := re.search(r"\b(\d\d)(?:st|nd|rd|th)(?: century)?\b", option.casefold()):
        return (year - 1) // 100 + 1 == int(century[1])
    if hundreds := re.search(r"\b(\d\d)00s\b", option.casefold()):
        return year // 100 == int(hundreds[1])
    return _holds(option, year)


def _holds(option: str, number: int) -> bool:
    """Whether a range in words, ``5-9``, ``up to 4``, ``more than 20``, ``1800 to 1850``, holds ``number``."""
    lowered = option.casefold()
    numbers = [int(each) for each in re.findall(r"\d{1,4}", option)]
    if not numbers:
        numbers = [_NUMBER_OPTIONS[word] for word in words_of(option) if word in _NUMBER_OPTIONS]
    if not numbers:
        return number == 0 if re.match(r"none|zero|no\b", lowered) else False
    if len(numbers) >= 2:
        return numbers[0] <= number <= numbers[1]
    if re.search(r"\b(?:or more|at least|from|or later|or longer|and above|or above)\b|\+|≥", lowered):
        return number >= numbers[0]
    if re.search(r"\b(?:up to|at most|or fewer|or less|or earlier|or shorter|or below)\b|≤", lowered):
        return number <= numbers[0]
    if re.search(r"\b(?:more than|over|after|above|longer than)\b|>", lowered):
        return number > numbers[0]
    if re.search(r"\b(?:fewer than|less than|under|before|below|shorter than)\b|<", lowered):
        return number < numbers[0]
    return number == numbers[0]
