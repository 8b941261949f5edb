"""Inference of the target from the answers to a batch.

Rule 1: the noise of the answerer is inferred too: every noise level is weighted by how well it explains the answers.
Rule 2: "none of the candidates" is always a hypothesis. It expects the answers that are right for typical sentences, so
a candidate has to explain the answers better than a sentence that was drawn at random.
Rule 3: an answerer that does not regard the text is always a hypothesis. Its answers follow a uniform draw, or a habit
or pattern of letters, and tell nothing of the target.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from league_agents.agents.candidates import Candidates
from league_agents.agents.questions.kinds import Inquiry, Topic
from league_agents.agents.questions.pool import predict
from league_agents.agents.questions.reading import CandidateReading
from league_agents.games.q21.information import UNKNOWN, Floats, bits, log_likelihood, normalise_logs

EXTRA_LEVELS = (0.0, 0.04, 0.1, 0.18, 0.3, 0.45)
"""Noise levels of an answerer, in addition to the noise of the questions themselves."""

_UNLISTED_LEVEL = 0.1
"""Noise level at which an answerer is assumed to answer about an unlisted target."""

_CARELESS_LEVEL = 0.3

_BLIND = 0.2
"""Probability of an answerer that does not regard the text."""

_HINT_OF_BLIND = 0.2
"""Weight of what the hint says if the answers of its author do not regard the text."""

_PATTERNS = (0, 1, 2)
"""How many of its previous letters a pattern of answers depends on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Prior belief about the noise of an answerer."""

    expected: float = 0.08
    """Expected noise for the choice of questions made in code."""

    expected_written: float = 0.08
    """Expected noise for the choice of questions that a model wrote."""

    prior: tuple[float, ...] = (0.4, 0.22, 0.16, 0.1, 0.07, 0.05)
    """Probability of each of ``EXTRA_LEVELS``."""

    prior_written: tuple[float, ...] = (0.4, 0.22, 0.16, 0.1, 0.07, 0.05)


UNKNOWN_ANSWERER = Extra()


@dataclass(frozen=True, slots=True, kw_only=True)
class Belief:
    """Posterior belief after the answers."""

    sentences: Floats
    """Probability of each candidate sentence; together ``1 - unlisted``."""

    unlisted: float
    """Probability that the target is none of the candidates."""

    words: Floats

    noise: float
    """Expected share of wrong answers, in addition to the noise of each question, if the answers regard the text."""

    noise_written: float
    """``noise`` for the questions that a model wrote; 0 without such questions."""

    bits_left: float
    """Entropy of the sentences and "none of these", in bits."""


def decode(
    candidates: Candidates, asked: Sequence[Inquiry | None], answers: Sequence[int], extra: Extra = UNKNOWN_ANSWERER
) -> Belief:
    """Infer the target. ``asked`` and ``answers`` are parallel; ``None`` and ``UNKNOWN`` carry no information."""
    heard = [(inquiry, answer) for inquiry, answer in zip(asked, answers, strict=True) if inquiry is not None]
    on_texts = [(i, a) for i, a in heard if i.topic is not Topic.WORD and not i.is_written]
    on_words = [(i, a) for i, a in heard if i.topic is Topic.WORD]
    # A declined question of a model tells nothing: most candidates have no prediction, because none was requested.
    written = [(i, a) for i, a in heard if i.topic is not Topic.WORD and i.is_written and a != UNKNOWN]
    text_table = predict([i for i, _ in on_texts], candidates.readings)
    word_table = predict([i for i, _ in on_words], [CandidateReading(word=word) for word in candidates.words])
    written_table = predict([i for i, _ in written], candidates.readings)
    # The last row is the hypothesis that the target is none of the candidates.
    prior, given = np.ones(1), candidates.given[:1]
    if candidates.sentences:
        prior = np.append(candidates.prior * (1 - candidates.unlisted), candidates.unlisted)
        given = np.vstack([candidates.given, candidates.word_prior])
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    log_prior[-1] += _unlisted_likelihood(candidates, on_texts) + _unlisted_likelihood(candidates, written)
    # An answerer that handles a model's questions well may miscount letters, and vice versa, so use two noise levels.
    by_written = [(0.0, 1.0, np.zeros(log_prior.size))]
    if written and candidates.sentences:
        by_written = [
            (level, chance, np.append(_likelihood(written_table, written, level), 0.0))
            for level, chance in zip(EXTRA_LEVELS, extra.prior_written, strict=True)
        ]
    evidences, sentence_beliefs, word_beliefs, levels, chances = [], [], [], [], []
    for level, chance in zip(EXTRA_LEVELS, extra.prior, strict=True):
        words = _likelihood(word_table, on_words, level)
        top_word = words.max()
        computed = log_prior.copy()
        if candidates.sentences:
            computed[:-1] += _likelihood(text_table, on_texts, level)
        for level_written, chance_written, of_written in by_written:
            texts = computed + of_written
            top_text = texts.max()
            by_text, by_word = np.exp(texts - top_text), np.exp(words - top_word)
            of_sentences = by_text * (given @ by_word)
            total = max(float(of_sentences.sum()), 1e-300)
            evidences.append(float(top_text + top_word + np.log(total)))
            sentence_beliefs.append(of_sentences / total)
            word_beliefs.append((by_text @ given) * by_word / total)
            levels.append((level, level_written))
            chances.append(chance * chance_written * (1 - _BLIND))
    levels_weight = normalise_logs(np.array(evidences) + np.log(chances))
    noise, noise_written = levels_weight @ np.array(levels)
    regarding = levels_weight @ np.array(sentence_beliefs)
    if any(0 <= answer < inquiry.choices for inquiry, answer in heard):
        of_blind = _without_regard(prior, float(regarding[-1]))
        evidences.append(_blind_likelihood(heard))
        sentence_beliefs.append(of_blind)
        word_beliefs.append(of_blind @ given)
        chances.append(_BLIND)
    weight = normalise_logs(np.array(evidences) + np.log(chances))
    sentences = weight @ np.array(sentence_beliefs)
    return Belief(
        sentences=sentences[:-1],
        unlisted=float(sentences[-1]),
        words=weight @ np.array(word_beliefs),
        noise=float(noise),
        noise_written=float(noise_written),
        bits_left=bits(sentences),
    )


def _without_regard(prior: Floats, unlisted: float) -> Floats:
    """Return the belief in the sentences if the answers tell nothing, and the hint little.

    A sentence that contradicts the answers is no better for that, so ``unlisted`` is what the other hypotheses say.
    """
    listed = prior[:-1] / max(float(prior[:-1].sum()), 1e-300)
    even = 1 / max(1, listed.size)
    return np.append((_HINT_OF_BLIND * listed + (1 - _HINT_OF_BLIND) * even) * (1 - unlisted), unlisted)


def _blind_likelihood(heard: Sequence[tuple[Inquiry, int]]) -> float:
    """Return the logarithm of the probability of the answers, in their order, from an answerer blind to the text."""
    heard = [(inquiry, answer) for inquiry, answer in heard if 0 <= answer < inquiry.choices]
    uniform = -sum(float(np.log(inquiry.choices)) for inquiry, _ in heard)
    patterns = np.array([_pattern_likelihood(heard, memory) for memory in _PATTERNS])
    return _log_mean(np.array([uniform, _log_mean(patterns)]))


def _pattern_likelihood(heard: Sequence[tuple[Inquiry, int]], memory: int) -> float:
    """Return the logarithm of the probability of the letters if each depends on the ``memory`` letters before it.

    The estimate of Krichevsky and Trofimov: each letter counts half before it was first given.
    """
    counts: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    total = 0.0
    before: tuple[int, ...] = ()
    for inquiry, answer in heard:
        seen = counts[before]
        total += float(np.log((seen[answer] + 0.5) / (seen.total() + 0.5 * inquiry.choices)))
        seen[answer] += 1
        before = (*before, answer)[-memory:] if memory else ()
    return total


def _unlisted_likelihood(candidates: Candidates, asked: Sequence[tuple[Inquiry, int]]) -> float:
    """Return the logarithm of the probability of the answers if the target is none of the candidates.

    The mean of three estimates: the target is like the reference, and answers to different questions are independent;
    it is like one sentence of the reference, and the answerer careless; or nothing is known of either.
    """
    # A question that was declined says nothing: the reference lacks paragraphs that the target may have.
    asked = [(inquiry, answer) for inquiry, answer in asked if 0 <= answer < inquiry.choices]
    if not asked or not candidates.sentences:
        return 0.0
    blind = -sum(float(np.log(inquiry.choices)) for inquiry, _ in asked)
    if not candidates.reference:
        return blind
    table = predict([inquiry for inquiry, _ in asked], candidates.reference)
    apart = sum(
        _log_mean(_likelihood(table[:, i : i + 1], asked[i : i + 1], _UNLISTED_LEVEL)) for i in range(len(asked))
    )
    together = _log_mean(_likelihood(table, asked, _CARELESS_LEVEL))
    return _log_mean(np.array([apart, together, blind]))


def sentence_likelihood(
    readings: Sequence[CandidateReading], asked: Sequence[Inquiry | None], answers: Sequence[int], level: float
) -> Floats:
    """Return the logarithm of the probability of the answers about the sentence, for each of the readings."""
    heard = [
        (inquiry, answer)
        for inquiry, answer in zip(asked, answers, strict=True)
        if inquiry is not None and inquiry.topic is Topic.SENTENCE and 0 <= answer < inquiry.choices
    ]
    return _likelihood(predict([inquiry for inquiry, _ in heard], readings), heard, level)


def _log_mean(logs: Floats) -> float:
    return float(np.logaddexp.reduce(logs) - np.log(logs.size))


def candidates_left(
    candidates: Candidates, asked: Sequence[Inquiry | None], answers: Sequence[int], belief: Belief
) -> list[float]:
    """Return the effective number of sentences after each answer: two to the power of their entropy in bits.

    ``belief`` is the one after all answers; its noise is assumed for each of them. Empty without candidates.
    """
    if not candidates.sentences:
        return []
    logs = np.log(np.maximum(candidates.prior, 1e-300))
    left: list[float] = []
    for inquiry, answer in zip(asked, answers, strict=True):
        is_told = inquiry is not None and inquiry.topic is not Topic.WORD
        if inquiry is not None and is_told and not (inquiry.is_written and answer == UNKNOWN):
            level = belief.noise_written if inquiry.is_written else belief.noise
            logs = logs + _likelihood(predict([inquiry], candidates.readings), [(inquiry, answer)], level)
            left.append(_effective(candidates, logs))
        else:
            left.append(left[-1] if left else _effective(candidates, logs))
    return left


def _effective(candidates: Candidates, logs: Floats) -> float:
    """The effective number of different sentences."""
    return round(float(2 ** bits(np.bincount(candidates.groups, weights=normalise_logs(logs)))), 1)


def _likelihood(table: npt.NDArray[np.int8], asked: Sequence[tuple[Inquiry, int]], level: float) -> Floats:
    if not asked:
        return np.zeros(table.shape[0])
    answers = np.array([answer for _, answer in asked], dtype=np.int8)
    noise = 1 - (1 - np.array([inquiry.noise for inquiry, _ in asked])) * (1 - level)
    return log_likelihood(table, answers, noise, options=np.array([inquiry.choices for inquiry, _ in asked]))
