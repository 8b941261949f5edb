"""Treat twenty questions asked at once as a code: select the questions, and decode the noisy answers.

Rule 1: a candidate is a row of predicted answers, small integers 0 … K-1, or ``UNKNOWN`` if the text does not tell. The
candidates and the questions are given by the caller.
Rule 2: there is no random generator: samples are drawn by fixed sequences, so equal inputs give equal results.
Rule 3: the choice of questions takes the noise into account. Two candidates whose predictions differ in the questions D
are confused with a probability of at most the product of ρ over D (Bhattacharyya); ``select`` keeps the sum of that
product over all pairs, weighted with the prior, small.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.int8]

UNKNOWN = -1
"""As a prediction: the candidate's text does not tell. As an answer: missing, or not among the options."""

_LEAST_NOISE = 0.002
"""Least noise assumed: with a likelihood of zero, a single slip would exclude the true candidate."""

_DECLINED_TILT = 2.0
"""Factor by which an answerer is likelier to decline a question that the candidate's text does not settle."""

_CELLS = 6_500_000
"""Limit for pairs × questions in memory; up to it ``select`` uses every pair (400 candidates × 80 questions)."""

MOST_COMPARED = 2048
"""Above this number of candidates, only this many are compared, spread evenly over the prior."""

_QUESTIONS_PER_SAMPLE = 4
"""Number of questions after which the sampled pairs are drawn again, for the pairs that are still close."""


def closeness(noise: npt.ArrayLike, options: npt.ArrayLike) -> Floats:
    """Return ρ per question: the overlap of the expected answers of two candidates that it tells apart.

    ``noise`` is the probability of a wrong answer, uniform over the other ``options`` (2 or more).
    """
    k = np.maximum(np.asarray(options, dtype=np.float64), 2.0)
    wrong = np.clip(np.asarray(noise, dtype=np.float64), _LEAST_NOISE, (k - 1.0) / k)
    each = wrong / (k - 1.0)
    return np.asarray(2.0 * np.sqrt((1.0 - wrong) * each) + (k - 2.0) * each, dtype=np.float64)


def select(
    predictions: npt.ArrayLike,
    prior: npt.ArrayLike,
    count: int,
    noise: npt.ArrayLike,
    *,
    options: npt.ArrayLike = 4,
    groups: npt.ArrayLike | None = None,
    refine: bool = True,
    taken: Sequence[int] = (),
) -> tuple[int, ...]:
    """Return the ``count`` questions that separate the candidates best, best first; fewer if there are fewer.

    ``predictions`` is candidates × questions. ``noise`` and ``options`` are one number or one for each question.
    Candidates of one group (equal numbers in ``groups``) need not be told apart. The choice is greedy; then each
    question is exchanged once for a better one if there is one (``refine``). Questions in ``taken`` are always
    included: they count towards ``count``, come first, and the others are chosen to complement them.

    Exact over all pairs up to 6.5 million pairs × questions; above that the pairs are sampled in proportion to their
    present weight and sampled again after every four questions. Above 2,048 candidates, 2,048 that are spread evenly
    over the prior stand for all.
    """
    codes = np.asarray(predictions, dtype=np.int8)
    weights = _normalised(prior, codes.shape[0])
    group = None if groups is None else np.asarray(groups)
    if codes.shape[0] > MOST_COMPARED:
        rows, weights = shortlist(weights, MOST_COMPARED)
        codes, group = codes[rows], None if group is None else group[rows]
    total = codes.shape[1]
    count = min(count, total)
    if count <= 0:
        return ()
    loss = np.log(np.broadcast_to(closeness(noise, options), (total,))).astype(np.float32)
    pairs = _Pairs(np.ascontiguousarray(codes.T), weights, loss, group)
    chosen = list(taken[:count])
    for step in range(len(chosen), count):
        if step % _QUESTIONS_PER_SAMPLE == 0 or step == len(taken):
            pairs.renew(chosen)
        best = _first_best(pairs.gains(), chosen)
        pairs.ask(best)
        chosen.append(best)
    if refine and count < total:
        pairs.renew(chosen)
        _exchange(pairs, chosen, len(taken))
    return tuple(chosen)


def log_likelihood(
    predictions: npt.ArrayLike, answers: npt.ArrayLike, noise: npt.ArrayLike, *, options: npt.ArrayLike = 4
) -> Floats:
    """Return the logarithm of the probability of the answers for each candidate.

    ``answers`` is one row, or runs × questions (the result is then runs × candidates). An answer outside the options
    says almost nothing; a prediction that is ``UNKNOWN`` makes each answer equally likely.
    """
    codes = np.asarray(predictions, dtype=np.int8)
    given = np.atleast_2d(np.asarray(answers, dtype=np.int8))
    total = codes.shape[1]
    k = np.broadcast_to(np.maximum(np.asarray(options, dtype=np.int64), 2), (total,))
    wrong = np.clip(np.broadcast_to(np.asarray(noise, dtype=np.float64), (total,)), _LEAST_NOISE, (k - 1.0) / k)
    result = np.zeros((given.shape[0], codes.shape[0]), dtype=np.float64)
    if total == 0 or codes.shape[0] == 0:
        return result[0] if np.ndim(answers) == 1 else result
    heard = (given >= 0) & (given < k)
    right, other, blind = np.log1p(-wrong), np.log(wrong / (k - 1.0)), -np.log(k)
    unknown = codes < 0
    if unknown.any():
        settled = np.where(unknown, 0.0, other)
        result += heard @ (settled + unknown * blind).T
        result += (~heard) @ (unknown * np.log(_DECLINED_TILT)).T
    else:
        result += (heard @ other)[:, None]
    for value in range(int(k.max())):
        said = (given == value) & heard
        result += (said * (right - other)) @ (codes == value).T.astype(np.float64)
    return result[0] if np.ndim(answers) == 1 else result


def normalise_logs(logs: Floats) -> Floats:
    """Return probabilities in proportion to ``exp(logs)``, over the last axis."""
    if logs.shape[-1] == 0:
        return logs
    top = logs.max(axis=-1, keepdims=True)
    scaled = np.exp(logs - np.where(np.isfinite(top), top, 0.0))
    return np.asarray(scaled / np.maximum(scaled.sum(axis=-1, keepdims=True), 1e-300), dtype=np.float64)


def simulate(
    predictions: npt.ArrayLike,
    truths: npt.ArrayLike,
    noise: npt.ArrayLike,
    *,
    options: npt.ArrayLike = 4,
    salt: int = 0,
) -> Codes:
    """Simulate answers (runs × questions) of an answerer who errs with ``noise``; ``truths`` has one candidate's row
    for each run.
    """
    codes = np.asarray(predictions, dtype=np.int8)
    rows = np.asarray(truths, dtype=np.int64)
    total = codes.shape[1]
    k = np.broadcast_to(np.maximum(np.asarray(options, dtype=np.int64), 2), (total,))
    shape = (rows.size, total)
    errs = _spread(rows.size * total, 2 * salt).reshape(shape) < np.broadcast_to(
        np.asarray(noise, np.float64), (total,)
    )
    aside = _spread(rows.size * total, 2 * salt + 1).reshape(shape)
    true = codes[rows].astype(np.int64)
    wrong = (true + 1 + (aside * (k - 1)).astype(np.int64)) % k
    return np.where(true < 0, (aside * k).astype(np.int64), np.where(errs, wrong, true)).astype(np.int8)


def typical(prior: npt.ArrayLike, runs: int) -> npt.NDArray[np.int64]:
    """Return ``runs`` candidates spread evenly over the prior, likely ones more often."""
    weights = np.asarray(prior, dtype=np.float64)
    edges = np.cumsum(_normalised(weights, weights.size))
    return np.minimum(np.searchsorted(edges, (np.arange(runs) + 0.5) / runs), weights.size - 1)


def shortlist(prior: npt.ArrayLike, most: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return at most ``most`` candidates that stand for all, each with the share of the prior that it stands for."""
    rows, counts = np.unique(typical(prior, most), return_counts=True)
    return rows, counts / most


def bits(probabilities: npt.ArrayLike) -> float:
    """Return the entropy of a distribution in bits."""
    p = np.asarray(probabilities, dtype=np.float64)
    p = p[p > 0]
    return float(-(p * np.log2(p / p.sum())).sum() / p.sum()) if p.size else 0.0


class _Pairs:
    """Pairs of candidates, weighted by their probability of confusion after the questions chosen so far."""

    def __init__(
        self, columns: Codes, prior: Floats, loss: npt.NDArray[np.float32], groups: npt.NDArray[np.int64] | None
    ) -> None:
        self._columns = columns
        self._prior = prior
        self._loss = loss
        self._groups = groups
        total, candidates = columns.shape
        self._limit = max(2048, _CELLS // total)
        self._exact = candidates * (candidates - 1) // 2 <= self._limit
        self._parted = np.zeros((total, 0), dtype=np.float32)
        self._weights = np.zeros(0, dtype=np.float32)

    def renew(self, chosen: list[int]) -> None:
        """Use all pairs, or draw pairs in proportion to their weight after the ``chosen`` questions."""
        if self._exact:
            if self._parted.shape[1] == 0:
                first, second = np.triu_indices(self._prior.size, 1)
                weights = self._prior[first] * self._prior[second]
                if self._groups is not None:
                    weights[self._groups[first] == self._groups[second]] = 0.0
                self._hold(first, second, weights)
                for question in chosen:
                    self.ask(question)
            return
        codes = self._columns[chosen]
        size = self._prior.size
        dense = np.zeros((size, size), dtype=np.float32)
        if chosen:
            loss = self._loss[chosen]
            # A pair is separated if both predictions are known and differ: known × known less the equal ones.
            known = (codes >= 0).astype(np.float32)
            dense += (known * loss[:, None]).T @ known
            for value in range(int(codes.max()) + 1):
                equal = (codes == value).astype(np.float32)
                dense -= (equal * loss[:, None]).T @ equal
        np.exp(dense, out=dense)
        dense *= self._prior[:, None].astype(np.float32)
        dense *= self._prior[None, :].astype(np.float32)
        np.fill_diagonal(dense, 0.0)
        if self._groups is not None:
            dense[self._groups[:, None] == self._groups[None, :]] = 0.0
        edges = np.cumsum(dense.ravel(), dtype=np.float64)
        marks = (np.arange(self._limit) + 0.5) * (edges[-1] / self._limit)
        flat = np.minimum(np.searchsorted(edges, marks), edges.size - 1)
        first, second = np.divmod(flat, size)
        self._hold(first, second, np.full(self._limit, edges[-1] / self._limit))

    def _hold(self, first: npt.NDArray[np.int64], second: npt.NDArray[np.int64], weights: Floats) -> None:
        a, b = self._columns[:, first], self._columns[:, second]
        self._parted = ((a != b) & (a >= 0) & (b >= 0)).astype(np.float32)
        self._weights = (weights / max(float(weights.sum()), 1e-300)).astype(np.float32)

    def gains(self) -> Floats:
        """Return how much of the present weight each question would remove."""
        taken = (self._parted @ self._weights) * -np.expm1(self._loss)
        return np.asarray(taken, dtype=np.float64)

    def ask(self, question: int) -> None:
        self._weights *= np.exp(self._parted[question] * self._loss[question])

    def take_back(self, question: int) -> None:
        self._weights *= np.exp(-self._parted[question] * self._loss[question])


def _exchange(pairs: _Pairs, chosen: list[int], start: int) -> None:
    for place in range(start, len(chosen)):
        question = chosen[place]
        pairs.take_back(question)
        better = _first_best(pairs.gains(), [*chosen[:place], *chosen[place + 1 :]])
        pairs.ask(better)
        chosen[place] = better


def _first_best(gains: Floats, taken: list[int]) -> int:
    """Return the first of the best, so that rounding differences between machines do not change the choice."""
    open_gains = gains.copy()
    open_gains[taken] = -1.0
    top = open_gains.max()
    return int(np.argmax(open_gains >= top - 1e-5 * abs(top)))


def _normalised(prior: npt.ArrayLike, size: int) -> Floats:
    weights = np.asarray(prior, dtype=np.float64)
    if weights.shape != (size,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(f"the prior must be {size} numbers of 0 or more")
    total = weights.sum()
    return weights / total if total > 0 else np.full(size, 1.0 / max(size, 1))


def _spread(count: int, salt: int) -> Floats:
    """Return ``count`` pseudo-random numbers in [0, 1): a SplitMix64 sequence."""
    x = (np.arange(1, count + 1, dtype=np.uint64) + np.uint64(salt) * np.uint64(0x51_7C_C1B7)) * np.uint64(
        0x9E37_79B9_7F4A_7C15
    )
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58_476D_1CE4_E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D0_49BB_1331_11EB)
    return np.asarray((x ^ (x >> np.uint64(31))) >> np.uint64(11), dtype=np.float64) / float(1 << 53)
