"""Computed answers to questions that somebody else wrote.

Rule 1: an answer is based on the page or the catalogue's facts; if neither decides, the answer is ``None`` and the
referee answers "cannot tell". Answers are never guessed.
Rule 2: an option of substance is given as the answer only if it is the only true one of the four.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from league_agents.agents.questions.answer_key import meanings, place_of
from league_agents.agents.questions.asked import LONGEST_QUESTION, MaskedQuestion, take_apart
from league_agents.agents.questions.claims import claim
from league_agents.agents.questions.contents import occurs
from league_agents.agents.questions.facts import Facts as Facts  # part of this module's interface
from league_agents.agents.questions.kinds import NO, YES
from league_agents.agents.questions.reading import CandidateReading, edge_letter, fold
from league_agents.agents.questions.spelling import counted, edge_word, has_mark
from league_agents.games.q21.information import UNKNOWN
from league_agents.knowledge.words import words_of

_LONGEST_OPTION = 200


def answer_foreign(text: str, options: Sequence[str], reading: CandidateReading, facts: Facts) -> int | None:
    """Return the index (0 to 3) of the true option; ``None`` if it cannot be decided."""
    given = [" ".join(option[:_LONGEST_OPTION].split()) for option in options]
    asked = take_apart(text)
    if meanings(given) is not None:
        found = claim(asked, reading, facts) if asked is not None else None
        return None if found is None else place_of(YES if found else NO, given)
    if asked is None or asked.is_denied:
        return _not_among(" ".join(text[:LONGEST_QUESTION].split()), asked, given, reading)
    return _among(asked, given, reading, facts)


def cannot_tell(options: Sequence[str]) -> int | None:
    """Return the index of the option that means "unknown"; ``None`` if there is none."""
    return place_of(UNKNOWN, [option[:_LONGEST_OPTION] for option in options])


_NO_OPTION = re.compile(r"\W*(?:none|neither|no\b|nothing|not? (?:of|any)|other|another|some(?:one|body|thing) else)")
_ARTICLE = re.compile(r"^(?:an?|the) (?=\w)", re.IGNORECASE)
_HOLDS = r"\b(?:contain|appear|occur|mention|named?|stands?|used?|present|found|include)"
_LETTERS_ONLY = re.compile(
    r"(?:letters? )?(?:from )?[A-Za-z](?:(?:[\s,/–—-]|\bto\b|\bthrough\b|\bor\b|\band\b)+[A-Za-z](?![A-Za-z]))*"
)
_RANGE = re.compile(r"(?<![A-Za-z])([A-Za-z])\s*(?:-|–|—|to|through)\s*([A-Za-z])(?![A-Za-z])")


def _among(asked: MaskedQuestion, options: Sequence[str], reading: CandidateReading, facts: Facts) -> int | None:
    """Return the index of the only true option of substance."""
    lowered = asked.lowered
    if asked.is_beyond_reading or asked.has(r"\btitle\b"):
        return None
    if re.search(r"\bhow (?:many|long)\b|\b(?:number|count|length)\b", lowered) and any(map(_has_number, options)):
        unit = re.search(r"\b(letter|character|comma)s?\b", lowered)
        is_of_word = asked.is_about_word or asked.place is not None
        count = counted(asked, reading, unit[1] if unit else "letter" if is_of_word else "word")
        return None if count is None else _only([holds(option, count) for option in options])
    if re.search(r"\bletter|\bstart|\bbegin|\bend", lowered) and all(map(_is_letters, options)):
        letter = edge_letter(
            edge_word(asked, reading) or "", at_end=bool(re.search(r"\bend|\b(?:last|final) letter", lowered))
        )
        return None if letter is None else _only([_holds_letter(option, letter) for option in options], options)
    if asked.is_about_word and reading.word and re.search(r"\b(?:which|what)\b", lowered):
        return _only([fold(reading.word) in words_of(option) for option in options], options)
    if re.search(r"\b(?:mark|punctuation)\b", lowered):
        return _which_mark(asked, options, reading)
    if asked.place is not None and re.search(r"\b(?:what|which) (?:is|was)\b", lowered):
        word = asked.word(reading)
        return None if word is None else _only([words_of(option) == words_of(word) for option in options], options)
    if re.search(rf"\b(?:which|who|what)\b.*{_HOLDS}", lowered):
        text = asked.scope(reading)
        if text is None or asked.place is not None or asked.is_partly_known(reading):
            return None
        if asked.names_book:
            return None
        present = [_is_there(option, reading, asked) for option in _substance(options)]
        # A subject may be mentioned without being named, but a word either occurs or does not.
        is_literal = bool(re.search(r"\b(?:words?|names?|phrases?)\b", lowered))
        return _only(present, options if is_literal else ())
    if facts.author and re.search(r"\b(?:who wrote|author|written by|by whom|writer)\b", lowered):
        surname = words_of(facts.author)[-1:]
        return _only([bool(surname) and surname[0] in words_of(option) for option in options], options)
    if facts.year is not None and re.search(r"\b(?:when|what year|which year|century|publish)", lowered):
        if re.search(r"\b(?:set|take place|happen|born)\b", lowered):
            return None
        return _only([_holds_year(option, facts.year) for option in options])
    return None


def _not_among(
    text: str, asked: MaskedQuestion | None, options: Sequence[str], reading: CandidateReading
) -> int | None:
    """Return the index of the only word of four that does not occur, if the question asks for it literally."""
    found = re.search(rf"\b(?:which|what)\b.*\b(?:not|n't)\b (?:\w+ )?{_HOLDS}", text.casefold())
    if found is None or re.search(r"\bletter|\bassociat|\bsecret\b", text.casefold()):
        return None
    scope = asked or MaskedQuestion(text, (), is_denied=True)
    if scope.scope(reading) is None or scope.is_partly_known(reading):
        return None
    return _only([bool(option) and not _is_there(option, reading, scope) for option in _substance(options)])


def _is_there(option: str, reading: CandidateReading, asked: MaskedQuestion) -> bool:
    text = asked.scope(reading)
    bare = _ARTICLE.sub("", option.strip(" “”\"'‘’.,"))
    return text is not None and bool(words_of(bare)) and occurs(bare, text)


def _which_mark(asked: MaskedQuestion, options: Sequence[str], reading: CandidateReading) -> int | None:
    text = asked.scope(reading)
    if text is None or asked.is_partly_known(reading):
        return None
    if re.search(r"\bend", asked.lowered):
        end = text.text.rstrip("\"'”’»)_* ")[-1:]
        names = {".": "full stop|period", "?": "question mark", "!": "exclamation", "…": "ellipsis", ":": "^a? ?colon"}
        return _only([bool(re.search(names.get(end, "$^"), option.casefold())) for option in options], options)
    return _only([has_mark(option, text) is True for option in options], options)


def _is_letters(option: str) -> bool:
    return bool(_LETTERS_ONLY.fullmatch(option.strip(" .()'\"“”"))) or bool(_NO_OPTION.match(option.casefold()))


def _holds_letter(option: str, letter: str) -> bool:
    if _NO_OPTION.match(option.casefold()):
        return False
    ranges = [(low.upper(), high.upper()) for low, high in _RANGE.findall(option)]
    if ranges:
        return any(low <= letter <= high for low, high in ranges)
    return letter in {each.upper() for each in re.findall(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])", option)}


def _has_number(option: str) -> bool:
    return any(map(str.isdigit, option))


def _holds_year(option: str, year: int) -> bool:
    if century := re.search(r"\b(\d\d)(?:st|nd|rd|th)(?: century)?\b", option.casefold()):
        return (year - 1) // 100 + 1 == int(century[1])
    if hundreds := re.search(r"\b(\d\d)00s\b", option.casefold()):
        return year // 100 == int(hundreds[1])
    return holds(option, year)


def holds(option: str, number: int) -> bool:
    """Whether a range in words, ``5-9``, ``up to 4``, ``more than 20``, ``1800 to 1850``, holds ``number``."""
    numbers = [int(each) for each in re.findall(r"\d{1,4}", option)]
    lowered = option.casefold()
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


def _only(found: Sequence[bool], options: Sequence[str] = ()) -> int | None:
    """Return the index of the only true value; if none is true, that of the "none of them" option."""
    if any(found):
        return list(found).index(True) if sum(found) == 1 else None
    return _none_place(options)


def _none_place(options: Sequence[str]) -> int | None:
    """Return the last option that means "none of them", because earlier ones may be words like "nothing"."""
    said = [i for i, option in enumerate(options) if _NO_OPTION.match(option.casefold())]
    return said[-1] if said else None


def _substance(options: Sequence[str]) -> list[str]:
    """Return the options, with the one for "none of them" replaced by an empty text."""
    place = _none_place(options)
    return ["" if i == place else option for i, option in enumerate(options)]
