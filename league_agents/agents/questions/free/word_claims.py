"""Claims about single words: their letters, their length, their class, and what the secret word is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from league_agents.agents.questions.free import sentences_of as page
from league_agents.agents.questions.free import word_classes as words
from league_agents.agents.questions.free.claims import AskedClaim, ClaimTarget, TextPart
from league_agents.agents.questions.free.counts import CountBounds, CountLimits
from league_agents.agents.questions.reading import Text, edge_letter, fold, letter_count, letters_of
from league_agents.knowledge.nouns import Nouns


@dataclass(frozen=True, slots=True)
class WordAt:
    """One word of the target: the secret word, or the word at a place of the opening sentence."""

    place: int | None = None
    """Counted from 0, or from -1 backwards; ``None`` for the secret word."""

    def of(self, target: ClaimTarget) -> str | None:
        if self.place is None:
            return target.reading.word
        every = target.reading.sentence.words if target.reading.sentence else ()
        return every[self.place] if -len(every) <= self.place < len(every) else None


SECRET = WordAt()
_ONE_LETTER_WORDS = frozenset("AIO")


@dataclass(frozen=True, slots=True)
class EdgeLetterIn(AskedClaim):
    """The first or last letter of a word is one of these."""

    word: WordAt
    at_end: bool
    letters: str

    def check(self, target: ClaimTarget) -> bool | None:
        letter = edge_letter(self.word.of(target) or "", at_end=self.at_end)
        return None if letter is None else letter in self.letters


@dataclass(frozen=True, slots=True)
class LetterCountIs(AskedClaim):
    """A word has some amount of letters, of all or of one kind."""

    word: WordAt
    amount: CountLimits
    letters: str = ""
    """Empty to count all."""

    def check(self, target: ClaimTarget) -> bool | None:
        word = self.word.of(target) or ""
        if not self.letters:
            count = letter_count(word) or None
            return None if count is None else self.amount.holds(CountBounds.exactly(count))
        every = letters_of(word)
        return (
            self.amount.holds(CountBounds.exactly(sum(letter in self.letters for letter in every))) if every else None
        )


@dataclass(frozen=True, slots=True)
class HasDoubleLetter(AskedClaim):
    """A word has the same letter twice in a row."""

    word: WordAt

    def check(self, target: ClaimTarget) -> bool | None:
        every = letters_of(self.word.of(target) or "")
        return any(one == other for one, other in pairwise(every)) if every else None


@dataclass(frozen=True, slots=True)
class LongerWord(AskedClaim):
    """One word has more letters than another."""

    longer: WordAt
    shorter: WordAt

    def check(self, target: ClaimTarget) -> bool | None:
        one, other = (letter_count(word.of(target) or "") for word in (self.longer, self.shorter))
        return one > other if one and other else None


@dataclass(frozen=True, slots=True)
class WordIs(AskedClaim):
    """A word is written so."""

    word: WordAt
    text: str

    def check(self, target: ClaimTarget) -> bool | None:
        found = self.word.of(target)
        if found is None:
            return None if self.word == SECRET or target.reading.sentence is None else False
        return fold(found) == fold(self.text.strip())


@dataclass(frozen=True, slots=True)
class WordInList(AskedClaim):
    """A word is one of a closed class."""

    word: WordAt
    listed: frozenset[str]

    def check(self, target: ClaimTarget) -> bool | None:
        found = self.word.of(target)
        return None if found is None else fold(found) in self.listed


@dataclass(frozen=True, slots=True)
class TextEdgeIs(AskedClaim):
    """A text begins or ends with these words."""

    part: TextPart
    at_end: bool
    text: str

    def check(self, target: ClaimTarget) -> bool | None:
        known = self.part.text(target)
        wanted = [fold(word) for word in Text(self.text).words]
        if known is None or not wanted or (self.at_end and self.part is not TextPart.SENTENCE):
            return None
        every = list(known.folded)
        is_so = every[-len(wanted) :] == wanted if self.at_end else every[: len(wanted)] == wanted
        if len(self.text) == 1 and self.text.isalpha() and every and self.text.isascii():
            # "Begins with A" is ambiguous: the word or the letter.
            edge = edge_letter(every[-1 if self.at_end else 0], at_end=self.at_end) == self.text.upper()
            if self.text.upper() not in _ONE_LETTER_WORDS:
                return edge
            return None if is_so != edge else is_so
        return is_so


@dataclass(frozen=True, slots=True)
class MarkEdgeIs(AskedClaim):
    """A text begins or ends with one of these marks."""

    part: TextPart
    at_end: bool
    marks: str

    def check(self, target: ClaimTarget) -> bool | None:
        known = self.part.text(target)
        if known is None or (self.at_end and self.part.is_partial(target)):
            return None
        if not self.at_end:
            return known.text.lstrip()[:1] in self.marks
        ends = {page.end_mark(known), known.text.rstrip("_* ")[-1:]}
        return any(end in self.marks for end in ends if end)


@dataclass(frozen=True, slots=True)
class WordClassIs(AskedClaim):
    """A word belongs to a word class."""

    word: WordAt
    kind: str

    def check(self, target: ClaimTarget) -> bool | None:
        sentence = target.reading.sentence
        if self.word.place is None or sentence is None or not page.is_english(sentence):
            return None
        every = page.words_in(sentence.text)
        place = self.word.place
        if not -len(every) <= place < len(every) or self.word.of(target) != every[place].surface:
            return None
        return _is_of_class(every[place], self.kind, target)


_CLASSES = {
    "pronoun": (words.PRONOUNS - {"her", "his", "its", "my", "our", "their", "your"},
                words.MAYBE_PRONOUNS | {"her", "his", "its", "my", "our", "their", "your"}),
    "article": (words.ARTICLES, frozenset()),
    "definite article": (words.DEFINITE, frozenset()),
    "indefinite article": (words.INDEFINITE, frozenset()),
    "preposition": (words.PREPOSITIONS | {"before", "after"}, words.MAYBE_PREPOSITIONS),
    "conjunction": (words.CONJUNCTIONS, words.MAYBE_CONJUNCTIONS),
    "question word": (frozenset({"who", "whom", "whose", "why", "how", "what"}), words.QUESTION_WORDS),
    "demonstrative": (words.DEMONSTRATIVES, frozenset()),
    "number": (words.CARDINALS, words.MAYBE_NUMBERS | words.ORDINALS),
    "title": (words.TITLES, frozenset()),
    "personal pronoun": (words.PERSONAL_PRONOUNS - {"her", "his", "its", "my", "our", "their", "your"},
                         frozenset({"her", "his", "its", "my", "our", "their", "your"})),
}  # fmt: skip
_CLOSED = (
    words.PRONOUNS | words.ARTICLES | words.PREPOSITIONS | words.CONJUNCTIONS | words.AUXILIARIES | words.DEMONSTRATIVES
    | words.QUESTION_WORDS
) - {"may", "might", "will", "can", "must", "past", "like", "i'm"}  # fmt: skip


def _is_of_class(word: page.Word, kind: str, target: ClaimTarget) -> bool | None:
    here = word.folded
    if kind in _CLASSES:
        sure, maybe = _CLASSES[kind]
        return True if here in sure else None if here in maybe else False
    is_name = _is_name(word, target)
    if kind == "name":
        return False if here in _CLOSED | words.CARDINALS else is_name
    if here in words.AUXILIARIES and here in _CLOSED:
        return kind == "verb"
    if here in _CLOSED:
        return False if kind in ("noun", "verb", "adjective") else None if here == "about" else False
    if is_name:
        return kind == "noun"
    if kind == "adverb":
        is_ly = here.endswith("ly") and len(here) > 4 and here not in words.NO_ADVERBS_IN_LY
        return (
            True if is_ly or here in words.ADVERBS - {"there", "yet", "quite", "perhaps"} or here == "there" else None
        )
    if here in words.ADVERBS:
        return False if kind in ("noun", "verb", "adjective") and here not in ("very", "then", "too", "still") else None
    if (
        kind == "noun"
        and word.before in words.ARTICLES
        and Nouns.load().noun(here)
        and word.after in ("", ",", ".", "of")
    ):
        return True
    return None


def _is_name(word: page.Word, target: ClaimTarget) -> bool | None:
    if not word.surface[0].isupper():
        return False
    text = target.reading.sentence
    wider = target.reading.paragraph or text
    for known in (text, wider):
        for name in page.names_in(known.text) if known is not None else ():
            if name.word.surface == word.surface and name.is_certain:
                return True
    if text is not None and any(name.word == word for name in page.names_in(text.text)):
        return None
    return None if word.folded in words.TITLES else False
