"""Questions that suit any book, for books about which nothing is known.

They ask for the words, length and form of the sentence, and for what it speaks of, in words that a referee of any make
can look up in the sentence. Those that help most to reconstruct an unknown sentence come first. Their ranges and words
are chosen for ordinary English prose.
"""

from __future__ import annotations

from league_agents.agents.questions import four_options as four
from league_agents.agents.questions import yes_no as two
from league_agents.agents.questions.kinds import Inquiry, Scope, Thing, WordSubject
from league_agents.agents.questions.reading import Text, fold
from league_agents.games.q21.rules import AnswerKey
from league_agents.knowledge.words import STOP_WORDS

_FIRST_LETTERS = (("A", "H"), ("I", "I"), ("J", "S"), ("T", "Z"))
"""They set apart the two commonest beginnings: I, it, in, and the, there, this."""

_QUARTERS = (("A", "F"), ("G", "L"), ("M", "R"), ("S", "Z"))
_SENTENCE = Scope.SENTENCE
_WORD = WordSubject.ASSOCIATIVE

_MOST_OF_TITLE = 2
_LEAST_LETTERS = 3


def _word(word: str) -> Thing:
    return Thing(words=(word,))


def _any_of(words: str) -> Thing:
    return Thing(words=tuple(words.split()))


_DENIALS = _any_of("no not never nothing nobody none nor")
_NUMBERS = _any_of("one two three four five six seven ten hundred")
_TIMES = _any_of("day night morning evening year years summer winter")
_WEATHERS = _any_of("sun rain wind snow storm weather cold sky")
_PLACES = _any_of("house room town village city street sea country")
_RELATIVES = _any_of("father mother son daughter brother sister wife husband")

_PAIRS = ("the a", "of and", "in to", "was had", "that with", "his her", "it for", "which not")
_MORE_PAIRS = ("is were", "as from", "at on", "but by", "my me", "you there")
"""Less frequent words, which tell the tense and the person too."""

_WORDS = ("the", "of", "and", "a", "was", "in", "to", "that", "had")
_MORE_WORDS = ("with", "his", "her")


def general_questions(key: AnswerKey, title: str = "") -> list[Inquiry]:
    """Return more than twenty questions, first those about the sentence of a book with this title, then the word."""
    return [*text_questions(key, title), *word_questions(key)]


def text_questions(key: AnswerKey, title: str = "") -> list[Inquiry]:
    """Return questions about the sentence of a book with this title, the most useful first."""
    return _four(title) if key is AnswerKey.OWN else _two(title)


def word_questions(key: AnswerKey) -> list[Inquiry]:
    """Return questions about the associative word."""
    if key is AnswerKey.OWN:
        return [
            four.LetterRange(_WORD, False, _QUARTERS),
            four.LetterCount(_WORD, (4, 5, 7)),
            four.LetterRange(_WORD, True, (("A", "E"), ("F", "M"), ("N", "R"), ("S", "Z"))),
            four.TwoLetters(_WORD, "A", "R"),
            four.TwoLetters(_WORD, "E", "O"),
        ]
    return [
        two.LetterBetween(_WORD, False, "A", "L"),
        two.LongerThan(_WORD, 5),
        two.LetterBetween(_WORD, False, "G", "R"),
        two.BothLetters(_WORD, "A", "R"),
        two.BothLetters(_WORD, "E", "O"),
    ]


def _of_title(title: str) -> list[Thing]:
    """Return the last content words of the title, which one opening sentence in five contains."""
    found = [
        word for word in Text(title[:300]).words if word.isalpha() and len(word) >= _LEAST_LETTERS and len(word) <= 60
    ]
    content = dict.fromkeys(word for word in found if fold(word) not in STOP_WORDS)
    return [_word(word) for word in list(content)[-_MOST_OF_TITLE:]]


def _pair(words: str) -> Inquiry:
    first, second = words.split()
    return four.TwoThings(_SENTENCE, _word(first), _word(second))


def _four(title: str) -> list[Inquiry]:
    named = _of_title(title)
    first, second = (*named, _RELATIVES, _PLACES)[:2]
    return [
        four.HowMany("words", (10, 18, 30)),
        four.LetterRange(WordSubject.FIRST, False, _FIRST_LETTERS),
        four.TwoThings(_SENTENCE, first, second),
        four.WhichComesFirst(_SENTENCE, ("I", "he", "she")),
        *map(_pair, _PAIRS),
        four.TwoThings(_SENTENCE, Thing(mark="a quotation mark"), Thing(mark="a question mark")),
        four.TwoThings(_SENTENCE, _DENIALS, _NUMBERS),
        four.TwoThings(_SENTENCE, _TIMES, _WEATHERS),
        *map(_pair, _MORE_PAIRS),
        four.HowMany("capitals", (0, 1, 2)),
        *([four.TwoThings(_SENTENCE, _RELATIVES, _PLACES)] if named else []),
    ]


def _two(title: str) -> list[Inquiry]:
    return [
        two.MoreThan("words", 18),
        *(two.Contains(_SENTENCE, thing) for thing in _of_title(title)),
        *(two.Contains(_SENTENCE, _word(word)) for word in _WORDS),
        two.Contains(_SENTENCE, _word("I")),
        two.LetterBetween(WordSubject.FIRST, False, "S", "Z"),
        two.Contains(_SENTENCE, Thing(mark="a quotation mark")),
        two.ContainsBoth(_SENTENCE, _DENIALS, _NUMBERS),
        two.ContainsBoth(_SENTENCE, _TIMES, _WEATHERS),
        *(two.Contains(_SENTENCE, _word(word)) for word in _MORE_WORDS),
        two.ContainsBoth(_SENTENCE, _RELATIVES, _PLACES),
        two.MoreThan("capitals", 1),
        two.MoreThan("words", 30),
    ]
