"""Choice of the questions of a batch.

Rule 1: the batch is chosen jointly. Every split between questions about the text and questions about the word is tried
on simulated games with a noisy answerer, and the one with the best expected score wins.
Rule 2: two players of equal strength need not ask the same questions: each chooses from its own random share of the
questions, which is still many times the number it can ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from league_agents.agents.candidates import Candidates
from league_agents.agents.questions.belief import UNKNOWN_ANSWERER, Extra
from league_agents.agents.questions.kinds import Inquiry
from league_agents.agents.questions.pool import PredictedPool, predict, sentence_pool, useful, word_pool
from league_agents.games.q21.information import Floats, bits, log_likelihood, select, shortlist, simulate, typical
from league_agents.games.q21.rules import AnswerKey, Weights
from league_agents.kit.draw import Draw
from league_agents.kit.values import evolve

_PLANNED_EXTRA = (0.04, 0.16)
"""Noise of a careful and of a careless answerer; the split between text and word must suit both."""

_WRITTEN_SHARE = 0.4
"""Share of the text questions for those of a model that predicted the answers of every candidate. An answerer that
cannot count letters fails in all questions made in code at once, so a batch mixes both."""

_MOST_WORD_QUESTIONS = 9
_MOST_WORD_QUESTIONS_ALONE = 12
"""Limit if no question can distinguish sentences; the other questions then test the one sentence."""

_GAIN_OF_TEXT = 0.002
"""Gain in similarity, 0 to 1, by one more general question about an unknown sentence, as measured."""

_MOST_WRITTEN_OF_UNKNOWN = 4
_GENERAL_BEFORE_WRITTEN = 8

_RUNS = 160

_MOST_PLANNED = 800
"""Most candidates for which questions are made and compared."""

_OWN_SHARE = 0.75
"""Share of the possible questions from which one player chooses. Novels give two hundred, of which three quarters are
as good as all, and two thirds slightly worse."""

_OWN_SHARE_OF_FEW = 0.5
_FEW = 60
"""Number of candidates that can be distinguished by far fewer questions than may be asked."""

_LEAST_CHOICE = 1.5
"""Least size of a player's share, as a multiple of the questions it may ask, so that small pools stay whole."""


class Strategy(StrEnum):
    """How a batch is taken from the pool. Only ``CHOSEN`` is for play; the others are baselines for measuring."""

    CHOSEN = "chosen"
    FIRST = "first20"
    RANDOM = "random"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All possible questions, the best ones, and the number of questions about the word."""

    texts: PredictedPool
    words: PredictedPool
    best_texts: PredictedPool
    """The best questions about the text, best first."""

    best_words: PredictedPool

    count: int
    on_word: int
    """Number of the ``count`` questions that are about the word."""

    def batch(self, strategy: Strategy = Strategy.CHOSEN, draw: Draw | None = None) -> list[Inquiry]:
        """Return the questions, those about the text first; fewer than ``count`` if the candidates allow no more.

        Every strategy has the same number of questions about the word, so that only their choice differs.
        """
        texts, words = self.best_texts.inquiries, self.best_words.inquiries
        if strategy is Strategy.FIRST:
            texts, words = self.texts.inquiries, self.words.inquiries
        elif strategy is Strategy.RANDOM:
            draw = draw or Draw(0, "batch")
            texts, words = tuple(draw.shuffled(self.texts.inquiries)), tuple(draw.shuffled(self.words.inquiries))
        return [*texts[: self.count - self.on_word], *words[: self.on_word]]


def plan_batch(
    candidates: Candidates,
    key: AnswerKey,
    count: int,
    weights: Weights,
    draw: Draw | None = None,
    *,
    written: Sequence[Inquiry] = (),
    extra: Extra = UNKNOWN_ANSWERER,
    is_computed: bool = True,
    general: Sequence[Inquiry] = (),
) -> Plan:
    """Return the plan with the best expected score for ``count`` questions.

    ``draw`` restricts the choice to a random share of the possible questions; ``None`` allows all. ``written`` are
    additional questions about the text; if ``is_computed`` is false, they are the only ones about the text.
    ``general``: questions about the text, most useful first, for a target that is probably none of the candidates.
    """
    if general:
        return _plan_of_unknown(candidates, key, count, weights, draw, written, extra, general)
    everybody, candidates = candidates, _shortlisted(candidates)
    several = len(candidates.sentences) > 1
    texts = sentence_pool(candidates.readings, candidates.prior, key) if several and is_computed else _EMPTY
    words = word_pool(candidates.words, candidates.word_prior, key) if len(candidates.words) > 1 else _EMPTY
    own = useful(written, candidates.readings, candidates.prior) if several and written else _EMPTY
    best_texts = _best_texts(candidates, _share(texts, count, draw), own, count, extra)
    texts = texts.joined(own)
    most = min(count, _MOST_WORD_QUESTIONS if texts.inquiries else _MOST_WORD_QUESTIONS_ALONE)
    best_words = _selected(_share(words, most, draw), candidates.word_prior, most, extra)
    return Plan(
        texts=texts,
        words=words,
        best_texts=best_texts,
        best_words=best_words,
        count=count,
        on_word=_best_split(
            *(candidates, best_texts, best_words, count, weights),
            handicap=np.log(2) * (bits(everybody.prior) - bits(candidates.prior)),
        ),
    )


def _plan_of_unknown(
    candidates: Candidates,
    key: AnswerKey,
    count: int,
    weights: Weights,
    draw: Draw | None,
    written: Sequence[Inquiry],
    extra: Extra,
    general: Sequence[Inquiry],
) -> Plan:
    """Return the plan for a target that is probably none of the candidates.

    The questions about the text are the general ones, in their order; a few of a model's join them where they tell
    apart sentences that it remembers. There are as many questions about the word as pay more than those.
    """
    words = word_pool(candidates.words, candidates.word_prior, key) if len(candidates.words) > 1 else _EMPTY
    best_words = _selected(
        _share(words, _MOST_WORD_QUESTIONS, draw), candidates.word_prior, _MOST_WORD_QUESTIONS, extra
    )
    texts = PredictedPool(inquiries=tuple(general), table=predict(general, candidates.readings))
    own = useful(written, candidates.readings, candidates.prior) if len(candidates.sentences) > 1 else _EMPTY
    own = own.only(_chosen(own, candidates.prior, _MOST_WRITTEN_OF_UNKNOWN, extra, candidates.groups))
    texts = texts.joined(own)
    places = list(range(len(texts.inquiries)))
    begun = places[:_GENERAL_BEFORE_WRITTEN]
    order = [*begun, *places[len(general) :], *places[len(begun) : len(general)]]
    return Plan(
        texts=texts,
        words=words,
        best_texts=texts.only(order),
        best_words=best_words,
        count=count,
        on_word=_words_worth_asking(best_words, candidates.word_prior, count, weights),
    )


def _words_worth_asking(words: PredictedPool, prior: Floats, count: int, weights: Weights) -> int:
    """Return the number of questions about the word after which another one gains less than one about the text."""
    most = min(len(words.inquiries), count)
    truths = typical(prior, _RUNS)
    values = np.zeros(most + 1)
    for extra in _PLANNED_EXTRA:
        for split, logs in enumerate(_simulated(words, truths, prior, most, extra, salt=7)):
            values[split] += weights.associative_word * np.mean(logs.argmax(axis=1) == truths) / len(_PLANNED_EXTRA)
    return int(np.argmax(values - weights.opening_sentence * _GAIN_OF_TEXT * np.arange(most + 1)))


def _shortlisted(candidates: Candidates) -> Candidates:
    """Return typical candidates that stand for all: from a thousand on, more of them choose the same questions."""
    if len(candidates.sentences) <= _MOST_PLANNED:
        return candidates
    rows, prior = shortlist(candidates.prior, _MOST_PLANNED)
    return evolve(
        candidates,
        sentences=tuple(candidates.sentences[row] for row in rows),
        readings=tuple(candidates.readings[row] for row in rows),
        groups=candidates.groups[rows],
        prior=prior,
        given=candidates.given[rows],
    )


_EMPTY = PredictedPool(inquiries=(), table=np.zeros((0, 0), dtype=np.int8))


def _share(pool: PredictedPool, count: int, draw: Draw | None) -> PredictedPool:
    """Return one player's share of the pool in random order; among equally good questions the first is chosen."""
    size = len(pool.inquiries)
    if draw is None:
        return pool
    share = _OWN_SHARE_OF_FEW if pool.table.shape[0] <= _FEW else _OWN_SHARE
    return pool.only(draw.sample(range(size), min(size, max(round(share * size), round(_LEAST_CHOICE * count)))))


def _best_texts(
    candidates: Candidates, computed: PredictedPool, written: PredictedPool, count: int, extra: Extra
) -> PredictedPool:
    """Return the best questions about the text: first the share reserved for a model's, then the best of all."""
    pool = computed.joined(written)
    claim: Sequence[int] = ()
    if written.inquiries and computed.inquiries:
        told = float(candidates.prior[(written.table >= 0).any(axis=1)].sum())
        best = _chosen(written, candidates.prior, round(_WRITTEN_SHARE * told * count), extra, candidates.groups)
        claim = [len(computed.inquiries) + place for place in best]
    return pool.only(_chosen(pool, candidates.prior, count, extra, candidates.groups, taken=claim))


def _selected(pool: PredictedPool, prior: Floats, count: int, extra: Extra) -> PredictedPool:
    return pool.only(_chosen(pool, prior, count, extra)) if pool.inquiries else _EMPTY


def _chosen(
    pool: PredictedPool,
    prior: Floats,
    count: int,
    extra: Extra,
    groups: npt.NDArray[np.int64] | None = None,
    *,
    taken: Sequence[int] = (),
) -> tuple[int, ...]:
    if not pool.inquiries or count <= 0:
        return ()
    expected = np.array([extra.expected_written if i.is_written else extra.expected for i in pool.inquiries])
    # Do not refine: the first n of a greedy choice are the greedy choice of n, so any split can be taken from it.
    return select(
        pool.table,
        prior,
        count,
        _with(pool, expected),
        options=pool.choices,
        groups=groups,
        refine=False,
        taken=taken,
    )


def _with(pool: PredictedPool, extra: float | Floats) -> Floats:
    return np.asarray(1 - (1 - pool.noise) * (1 - extra), dtype=np.float64)


def _best_split(
    candidates: Candidates,
    texts: PredictedPool,
    words: PredictedPool,
    count: int,
    weights: Weights,
    *,
    handicap: float,
) -> int:
    """Return the number of questions about the word with the best expected score; the others are about the text.

    ``handicap``: logarithm of the number of sentences that each candidate stands for, the rivals of the true one.
    """
    most = min(len(words.inquiries), count)
    least = min(most, max(0, count - len(texts.inquiries)))
    if least == most:
        return most
    given = candidates.given.astype(np.float32)
    truths = typical(candidates.prior, _RUNS)
    within = (np.arange(_RUNS) * 0.618034) % 1.0
    edges = np.cumsum(candidates.given[truths], axis=1)
    true_words = np.minimum((edges < within[:, None] * edges[:, -1:]).sum(axis=1), len(candidates.words) - 1)
    values = np.zeros(most + 1)
    for extra in _PLANNED_EXTRA:
        text_logs = _simulated(texts, truths, candidates.prior, count, extra)
        for logs in text_logs:
            logs[np.arange(_RUNS), truths] -= np.float32(handicap)
        word_logs = _simulated(words, true_words, np.ones(len(candidates.words)), most, extra, salt=7)
        for split in range(least, most + 1):
            on_texts = _scaled(text_logs[min(count - split, len(texts.inquiries))])
            on_words = _scaled(word_logs[split])
            sentence = (on_texts * (on_words @ given.T)).argmax(axis=1)
            word = (on_words * (on_texts @ given)).argmax(axis=1)
            sentence_right = np.mean(candidates.groups[sentence] == candidates.groups[truths])
            word_right = np.mean(word == true_words)
            values[split] += weights.opening_sentence * sentence_right + weights.associative_word * word_right
    return least + int(np.argmax(np.round(values[least:], 6)))


def _simulated(
    pool: PredictedPool, truths: npt.NDArray[np.int64], prior: Floats, count: int, extra: float, *, salt: int = 1
) -> list[npt.NDArray[np.float32]]:
    """Return log(prior × likelihood), runs × candidates, after 0, 1, 2, … questions of ``pool``."""
    with np.errstate(divide="ignore"):
        logs = np.tile(np.log(prior), (truths.size, 1)).astype(np.float32)
    steps = [logs]
    if pool.inquiries:
        noise, choices = _with(pool, extra), pool.choices
        answers = simulate(pool.table, truths, noise, options=choices, salt=salt)
        for i in range(min(count, len(pool.inquiries))):
            at = slice(i, i + 1)
            seen = log_likelihood(pool.table[:, at], answers[:, at], noise[at], options=choices[at])
            steps.append(steps[-1] + seen.astype(np.float32))
    return steps


def _scaled(logs: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)), dtype=np.float32)
