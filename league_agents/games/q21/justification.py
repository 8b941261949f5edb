"""Measure the countable properties of a justification.

Rule: only facts of the match count: questions, answers and guessed words. Praise, requests and instructions are
ordinary words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache

from msgspec import Struct
from rapidfuzz.distance import LCSseq

from league_agents.games.q21.model import LETTERS, AnswerBatch, Choice, Question, QuestionBatch
from league_agents.games.q21.rules import WordLimit
from league_agents.games.q21.similarity import all_words, content_words
from league_agents.games.q21.words import MOST_CHARACTERS, count_words, cut_to_words

MOST_WORDS_READ = 400
"""Words of a justification that are read under rules without an upper limit."""


class JustificationReading(Struct, frozen=True, kw_only=True):
    """Measurements of one justification. The floats are shares from 0 to 1, explained at ``scoring.score``."""

    words: int
    """Number before the text was cut to its upper limit."""

    limit: WordLimit

    cited_right: int
    """Questions cited together with their true answer."""

    cited_bare: int
    """Questions cited without an answer."""

    cited_wrong: int
    """Questions cited with another answer, or never asked."""

    evidence: float
    bearing: float
    substance: float
    originality: float
    variety: float

    @property
    def quality(self) -> float:
        """0 to 100."""
        share = 0.5 * self.evidence + 0.3 * self.bearing + 0.2 * self.substance
        return 100 * share * self.originality * self.variety

    @property
    def is_short(self) -> bool:
        return self.words < self.limit.least

    @property
    def is_long(self) -> bool:
        return self.limit.most is not None and self.words > self.limit.most


def read_justification(
    text: str,
    *,
    limit: WordLimit,
    subject: str,
    given: str,
    other: str,
    citations_wanted: int,
    questions: QuestionBatch,
    answers: AnswerBatch,
) -> JustificationReading:
    """Measure ``text``.

    ``subject`` is the guess that it justifies, ``given`` the common knowledge (the hint), ``other`` the player's other
    justification if this one must differ from it, else empty.
    """
    text = text[:MOST_CHARACTERS]
    read = " ".join(cut_to_words(text, MOST_WORDS_READ if limit.most is None else limit.most).split())
    words, content = all_words(read), content_words(read)
    right, bare, wrong = _citations(read, questions, answers)
    cited = right + bare + wrong
    evidence = min(1.0, right / citations_wanted + min(0.5, 0.5 * bare / citations_wanted))
    subject_words = set(content_words(subject)) or set(all_words(subject))
    known = subject_words | set(content_words(given))
    copied = sum(word in known for word in content) / len(content) if content else 0.0
    if other and words:
        copied = max(copied, LCSseq.similarity(words, all_words(other[:MOST_CHARACTERS])) / len(words))
    return JustificationReading(
        words=count_words(text),
        limit=limit,
        cited_right=right,
        cited_bare=bare,
        cited_wrong=wrong,
        evidence=(evidence * (right + bare) / cited if cited else 0.0) if questions else float(bool(words)),
        bearing=min(1.0, len(subject_words & set(words)) / min(2, len(subject_words))) if subject_words else 0.0,
        substance=min(1.0, len(set(content)) / max(4, limit.least / 3)),
        originality=min(1.0, 2 * (1 - copied)),
        variety=min(1.0, len(set(words)) / len(words) / 0.45) if words else 0.0,
    )


_NUMERALS = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_NUMBER = rf"(?:\d{{1,3}}|(?:{'|'.join(_NUMERALS)})\b)"
_JOIN = r"(?: ?, ?and | ?, ?| and | ?& ?)"
_CITATION = re.compile(
    rf"(?:\b(?:questions?|answers?)(?: number)? ?#?|\bq\.? ?|\bq(?=\d)|#|שאלה |שאלות |תשובה |问题|第)"
    rf"({_NUMBER}(?:{_JOIN}#?{_NUMBER})*)",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"[.;!。；！](?:\s|$)")
_CLAIM_BEFORE = re.compile(r"(?:,|\band\b|\bwhile\b|\bbut\b|\bthe\b|^)?([^,]{1,80}?) (?:to|on|for|in|at) (?:the )?$")
_TRAILING_CLAIM = re.compile(r"(?:,|\band\b|\bwhile\b|\bbut\b)[^,]{1,80} (?:to|on|for|in|at) (?:the )?$")
_CAPITAL = re.compile(r"(?<!\w)([B-D])(?![\w'’])")
_CAPITAL_A = re.compile(
    r"(?:^|[(:=]|\b(?:answer(?:ed|s)?|was|were|is|got|says?|said|option|letter|with|as)) ?A(?![\w'’])"
    r"(?! (?!and\b|so\b|but\b|which\b|while\b|to\b|for\b|on\b)[a-z])"
)
"""Matches the letter, not the article: after a word that announces an answer, and not before a noun."""


def _citations(text: str, questions: QuestionBatch, answers: AnswerBatch) -> tuple[int, int, int]:
    cited = list(_cited(text))
    if not cited:
        return 0, 0, 0
    asked = {question.number: question for question in questions}
    choices = {answer.number: answer.choice for answer in answers}
    worst: dict[int, int] = {}
    for number, before, after in cited:
        question, choice = asked.get(number), choices.get(number)
        verdict = 2 if question is None or choice is None else _verdict(question, choice, before, after)
        worst[number] = max(worst.get(number, 0), verdict)
    verdicts = list(worst.values())
    return verdicts.count(0), verdicts.count(1), verdicts.count(2)


def cited_numbers(text: str) -> set[int]:
    """Return the numbers of all questions that a justification cites."""
    return {number for number, _, _ in _cited(" ".join(text[:MOST_CHARACTERS].split()))}


def _cited(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield each cited number with the words before and after it that may state its answer."""
    found = list(_CITATION.finditer(text))
    for i, match in enumerate(found):
        earlier = found[i - 1].end() if i else 0
        later = found[i + 1].start() if i + 1 < len(found) else len(text)
        before = text[max(earlier, match.start() - 100) : match.start()]
        after = _SENTENCE_END.split(text[match.end() : min(later, match.end() + 160)], maxsplit=1)[0]
        claim = _CLAIM_BEFORE.search(_SENTENCE_END.split(before)[-1])
        for numeral in re.findall(_NUMBER, match.group(1), re.IGNORECASE):
            number = int(numeral) if numeral.isdecimal() else _NUMERALS.index(numeral.lower()) + 1
            yield number, claim.group(1) if claim else "", _TRAILING_CLAIM.sub("", after)


def _verdict(question: Question, choice: Choice, before: str, after: str) -> int:
    """Return 0 if the true answer is stated, 1 for none or several, 2 for another one."""
    a, b, c, d = (text[:1000] for text in question.options)
    phrases = _phrases((a, b, c, d))
    for window in (before, after):
        claims = _letters(window)
        true: set[str] = {choice.value}
        if not claims:
            claims, true = _stated(window, frozenset[str]().union(*phrases.values())), set(phrases[choice])
        if claims:
            return 0 if claims <= true else 1 if claims & true else 2
    return 1


def _letters(window: str) -> set[str]:
    letters = set(_CAPITAL.findall(window))
    if _CAPITAL_A.search(window):
        letters.add("A")
    return letters


@lru_cache(maxsize=256)
def _phrases(options: tuple[str, str, str, str]) -> Mapping[Choice, frozenset[str]]:
    """Return the phrases for each choice; the parts of "Unknown / Not Relevant" are two phrases for one choice.

    Cached, because under a fixed key all questions have the same options.
    """
    phrases = {Choice.NOT_RELEVANT: frozenset({"not relevant", "irrelevant"})}
    for letter, text in zip(LETTERS, options, strict=True):
        parts = {" ".join(all_words(part)) for part in (text, *text.split("/"))}
        phrases[Choice(letter)] = frozenset(parts - {""})
    return phrases


def _stated(window: str, phrases: Collection[str]) -> set[str]:
    """Return the phrases in the window, without those that are part of a longer one in it."""
    folded = f" {' '.join(all_words(window))} "
    found = {phrase for phrase in phrases if f" {phrase} " in folded}
    return {phrase for phrase in found if not any(f" {phrase} " in f" {longer} " for longer in found - {phrase})}
