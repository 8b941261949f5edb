"""Parser for questions of other agents: quotations, subject, denial, numbers and letters.

Rule 1: quoted text is a subject of the question and never part of its grammar.
Rule 2: only a few plain forms of denial are understood, because a wrong answer is worse than none.
Rule 3: the text is truncated before it is read, and no pattern can backtrack over it more than once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from league_agents.agents.questions.reading import CandidateReading, Text, letters_of
from league_agents.knowledge.words import STOP_WORDS

LONGEST_QUESTION = 600

_QUOTED = re.compile(r"[“\"‘«]([^“”\"‘’«»]{1,80})[”\"’»]|(?<!\w)'([^']{1,80})'(?!\w)")
_NAMED = re.compile(
    r"\b(?P<kind>words?|name|term|pronoun) (?P<word>[^\W\d_][\w'’-]{0,40})"
    r"(?= ?[?.,]| ?$| (?:in|appears?|occurs?|stands?|used|anywhere|somewhere|or|and|more|at|to be)\b)",
    re.IGNORECASE,
)
_NOT_NAMED = frozenset(
    {"of", "in", "is", "are", "was", "for", "that", "which", "long", "longer", "short", "count", "counts", "order",
     "length", "begin", "begins", "start", "starts", "end", "ends", "contain", "contains", "have", "has", "do", "does",
     "with", "and", "or", "appear", "appears", "occur", "occurs", "used", "present", "found"}
)  # fmt: skip
_OWNER = re.compile(
    r"(?:\b(?:associative|association|associated|secret|hidden|target|mystery|last|final|next)|\w+th|first|second|third"
    r"|one|single|the same|of|many|more|fewer|less|\d+) ?$",
    re.IGNORECASE,
)
"""Matches text before "word" if "word" does not introduce a named word."""

WORD_SUBJECT = re.compile(
    r"\b(?:associative|association|associated|secret|hidden|target|mystery) (?:word|term)\b", re.IGNORECASE
)
_PLACE = re.compile(
    r"\b(second[- ]to[- ]last|last but one|penultimate|first|second|third|fourth|fifth|last|final) word\b",
    re.IGNORECASE,
)
_PLACES = {
    "first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1, "final": -1, "penultimate": -2,
    "second to last": -2, "last but one": -2,
}  # fmt: skip
_PARAGRAPH = re.compile(r"\b(?:paragraph|passage|excerpt|scene|text|page)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"\b(?:sentence|line)\b", re.IGNORECASE)
_BOOK = re.compile(r"\b(?:book|novel|story|work|chapter|play|poem)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(?:second|third|fourth|last|final|next|following|previous|other|each|every)"
    r" (?:sentence|line|clause|paragraph)"
    r"|\bclauses?\b|\bsentences\b|\bhalf of the (?!alphabet)|\bmiddle of\b"
    r"|\b(?:before|after) the (?:first )?comma\b"
    r"|\b(?:any|some|every|each|a|another|longest|shortest) (?:single )?word"
    r" (?:in|of|that|which|start|begin|end|long|short|with)"
    r"|\bwords (?:in the [a-z ]{1,30})?(?:that|which|start|begin|end|with)",
    re.IGNORECASE,
)
_SENSE = re.compile(
    r"\brhym|\bsynonym|\bantonym|\bmean(?:s|ing)?\b|\bsimilar|\brelated|\bresembl|\bsounds?\b|\bstands? for\b"
    r"|\btranslat|\bcategory\b|\bopposite\b|\banagram|\bsyllable|\bletter combination|\bprefix|\bsuffix|\bsubstring"
    r"|\bsequence of",
    re.IGNORECASE,
)
_PARAGRAPH_AS_OWNER = re.compile(r"\bparagraph that (?:it|the (?:opening )?sentence) (?:opens|begins)\b", re.IGNORECASE)

_STARTS = r"\b(?:start|begin)(?:s|ning)?\b|\binitials?\b|\bfirst letter\b|\bopens? with\b"
_ENDS = r"\bend(?:s|ing)?\b|\b(?:last|final) letter\b"

_RHETORICAL = re.compile(r"^\W*\w+n['’]t\b", re.IGNORECASE)
"""``Isn't it long?`` expects a yes for "it is long", unlike a machine's ``Is it not long?``."""

# (pattern, positive replacement, whether the claim is inverted).
_DENIALS: tuple[tuple[re.Pattern[str], str, bool], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), positive, turns)
    for pattern, positive, turns in (
        (r"\b(?:no|not) (?:more|longer|greater) than\b", "at most", False),
        (r"\b(?:no|not) (?:fewer|less|shorter) than\b", "at least", False),
        (r"\b(?:is|are) there (?:no|not any|not an?)\b", "is there a", True),
        (r"\b(contains?|ha[sv]e?|includes?|uses?|with|holds?) (?:no|not any|not an?|not a single)\b", r"\1 a", True),
        (r"\b(?:absent|missing|lacking) (?:from|in)\b", "in", True),
        (r"\black(?:s|ing)?\b", "contain", True),
        (r"\b(?:without|free (?:of|from)|devoid of)\b", "with", True),
        (r"\b(do|does|did|is|are|was|were|ha[sv]e?)(?:n['’]t| not)\b", r"\1", True),
        (r"\bnot (?=contain|include|appear|occur|have|use|start|begin|end|mention|named|used|found)", "", True),
    )
)
_NEGATION = re.compile(r"\b(?:not|never|without|no|none|neither|nor|except|unless|cannot)\b|n['’]t\b", re.IGNORECASE)

_LETTER = re.compile(r"(?<![\w'’.])([A-Z])(?![\w'’])")
_SMALL_LETTER = re.compile(r"\bletters? ([a-z])(?![\w'’])")
_SPAN = re.compile(r"(?<![\w'’])([A-Za-z]) ?(?:-|–|—|\bto\b|\bthrough\b|\band\b(?<=and)|\.\.\.?) ?([A-Za-z])(?![\w'’])")
_NUMBER_WORDS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "a dozen": 12,
}  # fmt: skip
_NUMBER = re.compile(
    rf"(?<![\w.,«])(?:\d{{1,4}}(?!\w)|(?:{'|'.join(_NUMBER_WORDS)})"
    r"(?=(?: or (?:more|fewer|less))? (?:words?|letters?|commas?|characters?|and\b|to\b)|-(?:word|letter)))",
    re.IGNORECASE,
)
"""Number words match only before the unit counted: "one of the words" counts nothing."""


@dataclass(frozen=True)
class MaskedQuestion:
    """A question with its quotations masked and its denial removed."""

    text: str
    """Text of the question with quotations replaced by ``«0»``, ``«1»`` …"""

    quotes: tuple[str, ...]

    is_denied: bool
    """Whether the claim is the opposite of ``text``."""

    @cached_property
    def lowered(self) -> str:
        return self.text.casefold()

    def has(self, pattern: str) -> bool:
        """Whether the pattern matches in the lower-case text."""
        return re.search(pattern, self.lowered) is not None

    @cached_property
    def is_about_start(self) -> bool:
        """Whether the question is about how something begins."""
        return self.has(_STARTS)

    @cached_property
    def is_about_end(self) -> bool:
        return self.has(_ENDS)

    @property
    def is_about_word(self) -> bool:
        """Whether the question is about the associative word."""
        return WORD_SUBJECT.search(self.text) is not None

    @property
    def place(self) -> int | None:
        """Index of the single word of the sentence that is asked about; ``None`` for any other subject."""
        found = _PLACE.search(self.text)
        return _PLACES[found[1].casefold().replace("-", " ")] if found else None

    def scope(self, reading: CandidateReading) -> Text | None:
        """Return the text that the question is about."""
        return (reading.paragraph or reading.sentence) if self.is_about_paragraph else reading.sentence

    @property
    def is_beyond_reading(self) -> bool:
        """Whether the question is about another part of the text, any word of it, or the meaning of words."""
        return _ELSEWHERE.search(self.text) is not None or _SENSE.search(self.text) is not None

    @property
    def is_about_book(self) -> bool:
        """Whether the question is about the whole book, or does not name a text."""
        return not self.is_about_paragraph and _SENTENCE.search(self.text) is None

    @property
    def names_book(self) -> bool:
        return self.is_about_book and _BOOK.search(self.text) is not None

    def is_partly_known(self, reading: CandidateReading) -> bool:
        """Whether the question is about a paragraph of which only the opening sentence is known."""
        return self.is_about_paragraph and reading.paragraph is None

    def may_mean_more(self, reading: CandidateReading) -> bool:
        """Whether the question may cover more text than the reading has, so that absence here proves nothing."""
        return self.is_partly_known(reading) or self.names_book

    @property
    def is_about_paragraph(self) -> bool:
        if _PARAGRAPH_AS_OWNER.search(self.text):
            return True
        return _PARAGRAPH.search(self.text) is not None and _SENTENCE.search(self.text) is None

    def word(self, reading: CandidateReading) -> str | None:
        """Return the single word that the question is about; ``None`` if there is none."""
        if self.is_about_word:
            return reading.word
        words = reading.sentence.words if reading.sentence else ()
        place = self.place
        if place is None or not -len(words) <= place < len(words):
            return None
        return words[place]

    @cached_property
    def span(self) -> tuple[str, str] | None:
        """First and last letter of the range of the alphabet in the question; ``None`` without a range."""
        if found := re.search(r"\b(first|second|last) half of the alphabet\b", self.lowered):
            return ("A", "M") if found[1] == "first" else ("N", "Z")
        found = _SPAN.search(self._with_letters)
        if found is None or ("and" in found[0] and "between" not in self.lowered):
            return None
        low, high = sorted((found[1].upper(), found[2].upper()))
        return low, high

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """Single letters named in the question, as capitals, each once."""
        text = self._with_letters
        named = [found[1] for found in _LETTER.finditer(text) if found.start() > 0]
        named += [found[1].upper() for found in _SMALL_LETTER.finditer(text)]
        return tuple(dict.fromkeys(named))

    @cached_property
    def _with_letters(self) -> str:
        text = self.text
        for i, quote in enumerate(self.quotes):
            if len(quote) == 1 and quote.isalpha():
                text = text.replace(f"«{i}»", quote.upper())
        return text

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Numbers named in the question, in figures or in words."""
        return tuple(
            int(found[0]) if found[0].isdecimal() else _NUMBER_WORDS[found[0].casefold()]
            for found in _NUMBER.finditer(self.text)
        )

    def compares(self, count: int) -> bool | None:
        """Whether ``count`` fulfils the question's claim; ``None`` if the claim is not understood."""
        numbers = self.numbers
        if len(numbers) == 2 and self.has(r"\bbetween\b|\bfrom\b|\bto\b|[-–]"):
            return min(numbers) <= count <= max(numbers)
        if len(numbers) != 1:
            return None
        wanted = numbers[0]
        if self.has(r"\bor (?:more|longer|above|over)\b|\bat least\b|\bminimum\b"):
            return count >= wanted
        if self.has(r"\bor (?:fewer|less|shorter|below|under)\b|\bat most\b|\bup to\b|\bmaximum\b"):
            return count <= wanted
        if self.has(r"\bmore than\b|\bover\b|\blonger than\b|\babove\b|\bgreater than\b|\bexceed"):
            return count > wanted
        if self.has(r"\bfewer than\b|\bless than\b|\bunder\b|\bshorter than\b|\bbelow\b"):
            return count < wanted
        return count == wanted


def take_apart(text: str) -> MaskedQuestion | None:
    """Parse a question; ``None`` if it is empty or contains a denial that is not understood."""
    text = " ".join(text[:LONGEST_QUESTION].split())
    if not text or _RHETORICAL.search(text):
        return None
    quotes: list[str] = []

    def keep(found: re.Match[str]) -> str:
        quotes.append((found[1] or found[2]).strip())
        return f"«{len(quotes) - 1}»"

    def keep_named(found: re.Match[str]) -> str:
        is_owned = _OWNER.search(text[max(0, found.start() - 30) : found.start()])
        if is_owned or found["word"].casefold() in _NOT_NAMED:
            return found[0]
        quotes.append(found["word"])
        return f"{found['kind']} «{len(quotes) - 1}»"

    text = _QUOTED.sub(keep, text)
    text = _NAMED.sub(keep_named, text)
    turned = 0
    for pattern, positive, turns in _DENIALS:
        text, times = pattern.subn(positive, text)
        turned += times if turns else 0
    if turned > 1 or _NEGATION.search(text):
        return None
    return MaskedQuestion(" ".join(text.split()), tuple(quotes), bool(turned))


def is_telling(word: str) -> bool:
    """Whether ``word`` is capitalised and could be a name."""
    return word[:1].isupper() and word.casefold() not in STOP_WORDS and bool(letters_of(word))
