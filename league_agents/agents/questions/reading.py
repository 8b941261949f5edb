"""Readings of a sentence or a paragraph: words in order, their letters, marks, speech.

Rule 1: a reading has only facts of the page, nothing that needs knowledge or taste. If careful readers would disagree,
the answer is ``None``.
Rule 2: text is truncated to ``LONGEST_TEXT`` characters before it is read.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache

from league_agents.knowledge.vocabulary import JOINTS, WORD, plain_text, with_parts
from league_agents.knowledge.vocabulary import fold as fold  # part of this module's interface

_QUOTES = "“”«»„「『"
MARKS = {
    "a comma": ",，、",
    "a semicolon": ";；",
    "a colon": ":：",
    "a dash": "—–",
    "a question mark": "?？",
    "an exclamation mark": "!！",
    "a quotation mark": _QUOTES + '"',
}
"""Marks by their name in questions."""


class Text:
    """One text and its facts."""

    def __init__(self, text: str) -> None:
        self.text = plain_text(text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words in their original spelling."""
        return tuple(WORD.findall(self.text))

    @cached_property
    def folded(self) -> tuple[str, ...]:
        """The words, folded to lower case."""
        if self.text.isascii():  # the words of the folded text are the folded words, many times as fast
            return tuple(WORD.findall(self.text.lower()))
        return tuple(fold(word) for word in self.words)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every folded word, and the parts of words with a hyphen or an apostrophe: "Emma's" contains "Emma"."""
        return with_parts(self.folded)

    @cached_property
    def first_places(self) -> dict[str, int]:
        """Index of the first occurrence of each word of the vocabulary, counted from 0."""
        places: dict[str, int] = {}
        for place, word in enumerate(self.folded):
            places.setdefault(word, place)
            if not word.isalnum():
                for part in JOINTS.split(word):
                    if len(part) > 1:
                        places.setdefault(part, place)
        return places

    @cached_property
    def marks(self) -> frozenset[str]:
        """Names of the ``MARKS`` that occur in the text; two hyphens count as a dash."""
        characters = set(self.text)
        found = {name for name, marks in MARKS.items() if not characters.isdisjoint(marks)}
        return frozenset(found | {"a dash"} if "--" in self.text else found)

    @cached_property
    def commas(self) -> int:
        return sum(self.text.count(mark) for mark in MARKS["a comma"])

    @cached_property
    def capitals(self) -> int:
        """Number of words after the first one that begin with a capital letter."""
        return sum(word[0].isupper() for word in self.words[1:])

    @cached_property
    def has_speech(self) -> bool:
        """Whether the text has a passage in quotation marks; a name in them, such as a ship's, is no speech."""
        text = _QUOTED_NAME.sub("", self.text)
        return any(mark in text for mark in _QUOTES) or text.count('"') >= 2 or bool(_SINGLE.search(text))


_QUOTED_NAME = re.compile(
    r"[\"“«„]\s?(?:(?:the|la|le|les|der|die|das|el|il)\s)?[A-ZÀ-ÞА-Я][\w’'-]*(?:\s[A-ZÀ-ÞА-Я][\w’'-]*){0,3}\s?[\"”»“](?!\s?(?:[a-zà-ÿ]+\s){0,2}"
    r"(?:said|cried|asked|replied|answered|shouted|called|whispered|dit|sagte|rief|dijo|disse)\b)"
)
_SINGLE = re.compile(r"(?<!\w)[‘'](?=\w)[^‘’'\n]{1,300}[,.!?—][’'](?!\w)")


@dataclass(frozen=True, slots=True)
class CandidateReading:
    """The texts of one candidate, or of the true target. ``None`` means that a part is not known."""

    sentence: Text | None = None
    """The opening sentence."""

    paragraph: Text | None = None
    """The paragraph that it opens, opening sentence included."""

    part: float | None = None
    """Position of the paragraph in the book, 0 to 1."""

    word: str | None = None
    """The associative word."""


def read(sentence: str = "", paragraph: str = "", *, part: float | None = None, word: str = "") -> CandidateReading:
    """Return a reading of the given texts; an empty text means that the part is not known."""
    return CandidateReading(
        sentence=Text(sentence) if sentence.strip() else None,
        paragraph=Text(paragraph) if paragraph.strip() else None,
        part=part,
        word=word.strip()[:100] or None,
    )


@lru_cache(maxsize=65_536)
def letters_of(word: str) -> str:
    """Return the letters of a word as capitals without accents, leaving out digits, hyphens and apostrophes."""
    if word.isascii():
        return "".join(filter(str.isalpha, word.upper()))
    apart = unicodedata.normalize("NFKD", word)
    return "".join(character for character in apart.upper() if character.isalpha())


def edge_letter(word: str, *, at_end: bool) -> str | None:
    """Return the first or last letter of a word; ``None`` if it is a digit."""
    if not word or not word[-1 if at_end else 0].isalpha():
        return None
    letters = letters_of(word)
    return (letters[-1] if at_end else letters[0]) if letters else None


def letter_count(word: str) -> int | None:
    """Return the number of letters; ``None`` with digits, hyphens or apostrophes, which readers count differently."""
    return len(letters_of(word)) if word.isalpha() else None
