"""When a comparison of two may stop, valid however often one looks.

Method: betting against a mean (Waudby-Smith and Ramdas 2024). Who bets on each score that the mean is not ``m`` at fair
odds multiplies the stake by ``1 + b * (score - m)``; if the mean is ``m``, the stake reaches ``1 / a`` with a
probability of at most ``a``, at any time (Ville's inequality). Nothing is assumed but that scores are independent and
from 0 to 1.

Rule: scores of one cluster (a mirrored pair on one target) count as one, their mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

_BOLD: Final = (0.1, 0.2, 0.4, 0.7, 0.95)
"""The bets, as shares of the largest that no score can ruin; the stake is split evenly between them."""


class Verdict(StrEnum):
    """What the scores so far say."""

    FIRST = "first"
    """The first is stronger."""

    SECOND = "second"
    ALIKE = "alike"
    """The mean score is within the margin of one half."""

    OPEN = "open"


class SequentialTest(Struct, frozen=True, kw_only=True):
    """What a test says of the scores that it has seen."""

    verdict: Verdict
    clusters: int
    more: int | None
    """About how many more clusters would decide, if they went like those so far; ``None`` if decided, or if those so
    far point nowhere."""


def decide(scores: Sequence[float], *, margin: float = 0.05, error: float = 0.05) -> SequentialTest:
    """Test the mean score of the first, one score of 0 to 1 a cluster, against one half.

    ``error`` bounds the probability of ever naming the wrong verdict; ``margin`` is the distance from one half at which
    two count as alike (0.05 is 35 Elo).
    """
    needed = -math.log(error / 2)
    above, below = _evidence(scores, 0.5, upwards=True), _evidence(scores, 0.5, upwards=False)
    not_better = _evidence(scores, 0.5 + margin, upwards=False)
    not_worse = _evidence(scores, 0.5 - margin, upwards=True)
    if above >= needed and above > below:
        verdict = Verdict.FIRST
    elif below >= needed:
        verdict = Verdict.SECOND
    elif not_better >= needed and not_worse >= needed:
        verdict = Verdict.ALIKE
    else:
        verdict = Verdict.OPEN
    more = None
    if verdict is Verdict.OPEN and scores:
        ways = (above, below, min(not_better, not_worse))
        more = _more(max(ways), needed, len(scores))
    return SequentialTest(verdict=verdict, clusters=len(scores), more=more)


def _evidence(scores: Sequence[float], mean: float, *, upwards: bool) -> float:
    """The logarithm of the stake of who bets that the true mean is above (or below) ``mean``."""
    largest = 1 / mean if upwards else 1 / (1 - mean)
    sign = 1 if upwards else -1
    stakes = [math.fsum(math.log1p(sign * share * largest * (score - mean)) for score in scores) for share in _BOLD]
    most = max(stakes)
    return most + math.log(math.fsum(math.exp(stake - most) for stake in stakes) / len(stakes))


def _more(evidence: float, needed: float, count: int) -> int | None:
    """Further scores until the evidence is enough, if it grows as it did."""
    rate = evidence / count
    return None if rate <= 0 else max(1, math.ceil((needed - evidence) / rate))
