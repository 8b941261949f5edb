"""A sequential test that compares two participants and may be evaluated after every score.

Method: betting against a mean (Waudby-Smith and Ramdas 2024). A bet on each score, at fair odds, that the mean is not
``m`` multiplies the stake by ``1 + b * (score - m)``; if the mean is ``m``, the stake reaches ``1 / a`` with a
probability of at most ``a``, at any time (Ville's inequality). The only assumptions are that scores are independent and
from 0 to 1.

Rule 1: scores of one cluster (a mirrored pair on one target) count as one score, their mean.
Rule 2: each score is added once, so that a test after each round costs no more than one at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

from msgspec import Struct

_BOLD: Final = (0.1, 0.2, 0.4, 0.7, 0.95)
"""The bets, as shares of the largest bet that cannot lose the whole stake; the stake is split evenly between them."""


class Verdict(StrEnum):
    """The conclusion from the scores so far."""

    FIRST = "first"
    """The first is stronger."""

    SECOND = "second"
    ALIKE = "alike"
    """The mean score differs from one half by less than the margin."""

    OPEN = "open"


class SequentialTest(Struct, frozen=True, kw_only=True):
    """The result of a sequential test for the scores so far."""

    verdict: Verdict
    clusters: int
    more: int | None
    """An estimate of the further clusters needed, if they continue like those so far; ``None`` if the test is decided,
    or if the clusters so far show no tendency."""


class RunningTest:
    """A test of the first participant's mean score, one score from 0 to 1 per cluster, against one half.

    ``error`` bounds the probability of ever giving a wrong verdict; ``margin`` is the distance from one half up to
    which the two count as alike (0.05 is 35 Elo).
    """

    def __init__(self, *, margin: float, error: float) -> None:
        self._needed = -math.log(error / 2)
        self._above, self._below = _Bets(0.5, upwards=True), _Bets(0.5, upwards=False)
        self._not_better = _Bets(0.5 + margin, upwards=False)
        self._not_worse = _Bets(0.5 - margin, upwards=True)
        self._clusters = 0

    def add(self, score: float) -> None:
        """Add the score of one more cluster."""
        self._clusters += 1
        for each in (self._above, self._below, self._not_better, self._not_worse):
            each.add(score)

    def result(self) -> SequentialTest:
        """The result for the scores so far."""
        above, below = self._above.evidence(), self._below.evidence()
        alike = min(self._not_better.evidence(), self._not_worse.evidence())
        if above >= self._needed and above > below:
            verdict = Verdict.FIRST
        elif below >= self._needed:
            verdict = Verdict.SECOND
        elif alike >= self._needed:
            verdict = Verdict.ALIKE
        else:
            verdict = Verdict.OPEN
        more = None
        if verdict is Verdict.OPEN and self._clusters:
            more = _more(max(above, below, alike), self._needed, self._clusters)
        return SequentialTest(verdict=verdict, clusters=self._clusters, more=more)


def decide(scores: Iterable[float], *, margin: float = 0.05, error: float = 0.05) -> SequentialTest:
    """The result of a ``RunningTest`` of all these scores."""
    test = RunningTest(margin=margin, error=error)
    for score in scores:
        test.add(score)
    return test.result()


class _Bets:
    """The stakes of bets that the true mean is above (or below) ``mean``, as logarithms."""

    def __init__(self, mean: float, *, upwards: bool) -> None:
        largest = 1 / mean if upwards else 1 / (1 - mean)
        self._mean = mean
        self._bets = [(largest if upwards else -largest) * share for share in _BOLD]
        self._stakes = [0.0] * len(_BOLD)

    def add(self, score: float) -> None:
        for index, bet in enumerate(self._bets):
            self._stakes[index] += math.log1p(bet * (score - self._mean))

    def evidence(self) -> float:
        """The logarithm of the whole stake."""
        most = max(self._stakes)
        return most + math.log(math.fsum(math.exp(stake - most) for stake in self._stakes) / len(self._stakes))


def _more(evidence: float, needed: float, count: int) -> int | None:
    """An estimate of the further scores until the evidence suffices, if it grows at the same rate."""
    rate = evidence / count
    return None if rate <= 0 else max(1, math.ceil((needed - evidence) / rate))
