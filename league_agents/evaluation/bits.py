"""The information in bits that a batch of questions and its answers yields.

Rule 1: all players are measured by the same pool, whatever their own knowledge: all opening sentences of the brief's
book, each with all words of the domain, weighted by hint and domain alone (``enumerate_candidates``). Bits possible is
the entropy of that pool; bits gained is the entropy removed by the answers.
Rule 2: a candidate's predicted answer is the answer of code about it. A question that code cannot answer for any
candidate gains nothing, so for free-text questions the gain is a lower bound; the number of understood questions is
reported beside it.
Rule 3: answers are trusted as far as the stated noise allows. Wrong answers can make the pool look smaller than it is;
the accuracies show whether the target was found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from league_agents.agents.answering import options_meant
from league_agents.agents.batches import answer_codes
from league_agents.agents.candidates import Candidates, enumerate_candidates
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.library import Knowledge
from league_agents.agents.questions.free.questions import answer_foreign, cannot_tell
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import Options
from league_agents.agents.questions.pool import predict
from league_agents.agents.questions.reading import CandidateReading
from league_agents.agents.targets import recall
from league_agents.games.q21.information import UNKNOWN, Codes, Floats, bits, log_likelihood
from league_agents.games.q21.model import LETTERS, AnswerBatch, Brief, QuestionBatch, Target
from league_agents.games.q21.rules import RuleSet
from league_agents.games.q21.similarity import fold

_FOREIGN_NOISE = 0.02
"""Expected error rate of code that reads free-text questions it understood."""

_MOST_READ = 400
"""Sentences of a long book for which a free-text question is evaluated; the others count as undecided."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The information from one batch."""

    possible: float
    gained: float
    """Bits; negative if the answers contradict the prior."""

    understood: int
    """Number of questions that code understands."""


class TargetStanding(NamedTuple):
    """The true opening or the true word among all of the pool, at one moment."""

    place: int
    """1 for the likeliest."""

    bits: float
    """Surprise: minus the binary logarithm of its probability."""


class CandidatePool:
    """The candidates of one match, shared by both players."""

    def __init__(self, knowledge: Knowledge, rules: RuleSet, brief: Brief, target: Target) -> None:
        self._rules = rules
        self._candidates = enumerate_candidates(knowledge, brief, rules.target_kind)
        self._secret = recall(knowledge, brief, target.opening_sentence, target.associative_word)
        self._target = target
        self._before = bits(_merged(self._joint(None, None), self._candidates).ravel())

    @property
    def holds_target(self) -> bool:
        """Whether the target is one of the candidates; otherwise nothing can be measured."""
        candidates, target = self._candidates, self._target
        if not candidates.is_known or fold(target.associative_word) not in map(fold, candidates.words):
            return False
        return fold(target.opening_sentence) in map(fold, candidates.sentences)

    @property
    def sizes(self) -> tuple[int, int]:
        """The number of different opening sentences, and of words."""
        return len(set(self._candidates.groups.tolist())), len(self._candidates.words)

    def gain(self, questions: QuestionBatch, answers: AnswerBatch, noise: float) -> Gain:
        """Return the information in the answers; ``noise`` is the share of wrong answers, 0 to 1."""
        columns = self._columns(questions, answers)
        on_texts, on_words = _by_topic(columns)
        after = self._after(columns, noise)
        left = bits(_merged(after, self._candidates).ravel())
        return Gain(possible=self._before, gained=self._before - left, understood=len(on_texts) + len(on_words))

    def course(
        self, questions: QuestionBatch, answers: AnswerBatch, noise: float
    ) -> tuple[list[TargetStanding], list[TargetStanding]]:
        """Return the standings of the true opening and of the true word, before the first answer and after each."""
        columns = self._columns(questions, answers)
        candidates, target = self._candidates, self._target
        sentence = candidates.groups[_place_of(target.opening_sentence, candidates.sentences)]
        word = _place_of(target.associative_word, candidates.words)
        openings, words = [], []
        for known in range(len(columns) + 1):
            joint = _merged(self._after(columns[:known], noise), candidates)
            openings.append(_standing(joint.sum(axis=1), int(sentence)))
            words.append(_standing(joint.sum(axis=0), word))
        return openings, words

    def _columns(self, questions: QuestionBatch, answers: AnswerBatch) -> list[_Column | None]:
        sent = [AskedQuestion(number=q.number, text=q.text, options=q.options) for q in questions]
        letters = {a.number: a.choice.value for a in answers if a.choice.value in LETTERS}
        return [self._column(question, letters) for question in sent]

    def _after(self, columns: Sequence[_Column | None], noise: float) -> Floats:
        on_texts, on_words = _by_topic(columns)
        return self._joint(_likelihood(on_texts, noise), _likelihood(on_words, noise))

    def _joint(self, texts: Floats | None, words: Floats | None) -> Floats:
        prior = self._candidates.prior if self._candidates.sentences else np.ones(1)
        joint = prior[:, None] * self._candidates.given
        if texts is not None:
            joint = joint * np.exp(texts - texts.max())[:, None]
        if words is not None:
            joint = joint * np.exp(words - words.max())[None, :]
        return np.asarray(joint / max(float(joint.sum()), 1e-300), dtype=np.float64)

    def _column(self, question: AskedQuestion, letters: Mapping[int, str]) -> _Column | None:
        options = options_meant(question, self._rules)
        ours = recognise(question.text, options)
        readings, words = self._candidates.readings, self._candidates.words
        if ours is not None:
            is_on_word = ours.topic.value == "word"
            asked_of = [CandidateReading(word=word) for word in words] if is_on_word else readings
            table = predict([ours], asked_of)
            (answer,) = answer_codes([ours], [question], letters)
            return _Column(table=table, answer=answer, noise=ours.noise, choices=ours.choices, is_on_word=is_on_word)
        letter = letters.get(question.number)
        silent = cannot_tell(options)
        answer = UNKNOWN if letter is None or LETTERS.index(letter) == silent else LETTERS.index(letter)
        for is_on_word in (False, True):
            codes = self._foreign(question.text, options, is_on_word=is_on_word, silent=silent)
            if (codes >= 0).any():
                return _Column(
                    table=codes[:, None], answer=answer, noise=_FOREIGN_NOISE, choices=4, is_on_word=is_on_word
                )
        return None

    def _foreign(self, text: str, options: Options, *, is_on_word: bool, silent: int | None) -> Codes:
        facts = self._secret.facts
        asked_of: Sequence[CandidateReading] = self._candidates.readings
        if is_on_word:
            asked_of = [CandidateReading(word=word) for word in self._candidates.words]
        found = np.full(len(asked_of), UNKNOWN, dtype=np.int8)
        for place in _spread(len(asked_of)):
            told = answer_foreign(text, options, asked_of[place], facts)
            found[place] = UNKNOWN if told is None or told == silent else told
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Column:
    """One question: the predicted answer of each candidate, and the actual answer."""

    table: Codes
    answer: int
    noise: float
    choices: int
    is_on_word: bool


def _place_of(wanted: str, among: Sequence[str]) -> int:
    return next(place for place, each in enumerate(among) if fold(each) == fold(wanted))


def _standing(shares: Floats, place: int) -> TargetStanding:
    own = float(shares[place])
    # Rounding must not put an equal one before it.
    return TargetStanding(1 + int((shares > own * (1 + 1e-9)).sum()), float(-np.log2(max(own, 1e-300))))


def _by_topic(columns: Sequence[_Column | None]) -> tuple[list[_Column], list[_Column]]:
    """The columns of questions about the text, and of those about the word."""
    known = [column for column in columns if column is not None]
    return [each for each in known if not each.is_on_word], [each for each in known if each.is_on_word]


def _likelihood(columns: Sequence[_Column], noise: float) -> Floats | None:
    if not columns:
        return None
    table = np.concatenate([column.table for column in columns], axis=1)
    wrong = 1 - (1 - np.array([column.noise for column in columns])) * (1 - noise)
    answers = np.array([column.answer for column in columns], dtype=np.int8)
    return log_likelihood(table, answers, wrong, options=np.array([column.choices for column in columns]))


def _merged(joint: Floats, candidates: Candidates) -> Floats:
    """Merge candidates with equal sentences: a guess of one is a guess of the other."""
    if candidates.groups.size != joint.shape[0]:
        return joint
    found = np.zeros((int(candidates.groups.max()) + 1, joint.shape[1]))
    np.add.at(found, candidates.groups, joint)
    return found


def _spread(size: int) -> Sequence[int]:
    if size <= _MOST_READ:
        return range(size)
    return [i * size // _MOST_READ for i in range(_MOST_READ)]
