"""Questions that suit any book, for books about which nothing is known.

Their ranges are chosen for ordinary English prose.
"""

from __future__ import annotations

from league_agents.agents.questions import four_options as four
from league_agents.agents.questions import yes_no as two
from league_agents.agents.questions.kinds import Inquiry, Scope, Thing, WordSubject
from league_agents.games.q21.rules import AnswerKey

_QUARTERS = (("A", "F"), ("G", "L"), ("M", "R"), ("S", "Z"))
_PLACES = (WordSubject.FIRST, WordSubject.LAST, WordSubject.SECOND, WordSubject.THIRD)


def general_questions(key: AnswerKey) -> list[Inquiry]:
    """Return twenty-four questions, those about the sentence and those about the word mixed."""
    return _four() if key is AnswerKey.OWN else _two()


def _word(word: str) -> Thing:
    return Thing(words=(word,))


def _four() -> list[Inquiry]:
    sentence, paragraph, word = Scope.SENTENCE, Scope.PARAGRAPH, WordSubject.ASSOCIATIVE
    found: list[Inquiry] = []
    for place in _PLACES:
        found.append(four.LetterRange(place, False, _QUARTERS))
        found.append(four.LetterCount(place, (2, 3, 5)))
    found += [
        four.LetterRange(word, False, _QUARTERS),
        four.LetterCount(word, (4, 5, 7)),
        four.HowMany("words", (10, 18, 30)),
        four.HowMany("commas", (0, 1, 2)),
        four.HowMany("capitals", (0, 1, 2)),
        four.WhichComesFirst(sentence, ("I", "he", "she")),
        four.LetterRange(word, True, (("A", "E"), ("F", "M"), ("N", "R"), ("S", "Z"))),
        four.TwoThings(sentence, _word("the"), _word("and")),
        four.TwoThings(sentence, _word("was"), _word("of")),
        four.TwoThings(sentence, _word("had"), _word("in")),
        four.TwoThings(sentence, Thing(mark="a semicolon"), Thing(mark="a question mark")),
        four.TwoLetters(word, "A", "R"),
        four.TwoLetters(word, "E", "O"),
        four.WhereSpeech(),
        four.WhichComesFirst(paragraph, ("I", "he", "she")),
        four.TwoThings(sentence, _word("to"), _word("a")),
    ]
    return found


def _two() -> list[Inquiry]:
    sentence, word = Scope.SENTENCE, WordSubject.ASSOCIATIVE
    found: list[Inquiry] = []
    for place in _PLACES:
        found.append(two.LetterBetween(place, False, "A", "L"))
        found.append(two.LongerThan(place, 3))
    found += [
        two.LetterBetween(word, False, "A", "L"),
        two.LongerThan(word, 5),
        two.MoreThan("words", 18),
        two.MoreThan("commas", 1),
        two.ContainsBoth(sentence, _word("the"), _word("and")),
        two.ContainsBoth(sentence, _word("was"), _word("of")),
        two.Contains(sentence, _word("I")),
        two.BothLetters(word, "A", "R"),
        two.LetterBetween(word, False, "G", "R"),
        two.Contains(sentence, _word("he")),
        two.Contains(sentence, _word("she")),
        two.Contains(sentence, _word("had")),
        two.BothLetters(word, "E", "O"),
        two.Speech(sentence),
        two.Contains(sentence, Thing(mark="a semicolon")),
        two.MoreThan("capitals", 1),
    ]
    return found
