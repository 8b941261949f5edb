"""Estimates with 95 % confidence intervals.

Rule 1: every figure has an interval. An unknown end is ``None``; the interval of a share never has width zero.
Rule 2: games are the independent units. Twenty answers of one game are less than twenty observations of a share.
Rule 3: players of one game had the same target, so their differences are computed per game.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Z = 1.959963984540054
"""Two-sided 95 % quantile of the normal distribution."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A figure and the 95 % confidence interval of its true value."""

    value: float
    low: float | None
    """``None`` if there is no bound, as with a single game."""

    high: float | None
    count: int
    """Number of games, or other independent observations, behind the figure."""

    deviation: float | None = None
    """The standard deviation of one observation; ``None`` for shares, whose deviation follows from the value."""

    worth: float = 1.0
    """Number of independent trials that one game of a share is equivalent to: more than one, and fewer than its trials
    if those tend to succeed or fail together."""

    @property
    def margin(self) -> float | None:
        """Half of the interval's width."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def wilson(successes: int, count: int) -> Estimate | None:
    """Return a share with the interval of Wilson (1927); ``None`` if ``count`` is 0."""
    if count <= 0:
        return None
    low, high = _wilson(successes / count, count, Z)
    return Estimate(value=successes / count, low=low, high=high, count=count)


def _wilson(share: float, count: float, quantile: float) -> tuple[float, float]:
    square = quantile * quantile
    scale = 1 + square / count
    middle = (share + square / (2 * count)) / scale
    reach = quantile * math.sqrt(share * (1 - share) / count + square / (4 * count * count)) / scale
    # At the ends the bound is exact; the sum above misses it by a rounding error.
    return 0.0 if share == 0 else max(0.0, middle - reach), 1.0 if share == 1 else min(1.0, middle + reach)


def mean(values: Sequence[float], *, least: float = -math.inf, most: float = math.inf) -> Estimate | None:
    """Return a mean with Student's interval; ``None`` if there are no values.

    ``least`` and ``most`` bound a single value, and so the interval: the true mean lies between them. Equal values give
    no interval, because they do not show how much games can differ.
    """
    count = len(values)
    if count == 0:
        return None
    middle = math.fsum(values) / count
    if min(values) == max(values):
        return Estimate(value=values[0], low=None, high=None, count=count, deviation=None if count == 1 else 0.0)
    deviation = math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (count - 1))
    reach = student(count - 1) * deviation / math.sqrt(count)
    # A value beyond the bounds shows that they do not hold; the interval contains the mean all the same.
    low, high = min(middle, max(least, middle - reach)), max(middle, min(most, middle + reach))
    return Estimate(value=middle, low=low, high=high, count=count, deviation=deviation)


def paired_shares(pairs: Sequence[tuple[bool, bool]]) -> Estimate | None:
    """Return the difference of two shares over the same games, first minus second; ``None`` if there are no games.

    The interval is that of Agresti and Min (2005): half an observation is added to each of the four cells, so that
    agreement in every game does not yield certainty.
    """
    count = len(pairs)
    if count == 0:
        return None
    first = sum(one and not other for one, other in pairs)
    second = sum(other and not one for one, other in pairs)
    total, gap, apart = count + 2, first - second, first + second + 1
    middle = gap / total
    reach = Z * math.sqrt(apart - gap * gap / total) / total
    return Estimate(value=gap / count, low=max(-1.0, middle - reach), high=min(1.0, middle + reach), count=count)


def clustered_share(clusters: Sequence[tuple[int, int]]) -> Estimate | None:
    """Return the share of all (successes, trials) of several games; ``None`` if there are no trials.

    Trials of one game tend to succeed or fail together, so whole games are resampled: the variance of the share gives
    the number of equivalent independent trials, at least one per game and at most as many as there are. The interval is
    Wilson's for that number (Korn and Graubard 1998), with Student's quantile for the effective number of games behind
    the variance (Satterthwaite). One game bounds nothing.

    If all trials succeed, or all fail, the variance is zero: then each game counts as one trial.
    """
    clusters = [(successes, trials) for successes, trials in clusters if trials > 0]
    games, total = len(clusters), sum(trials for _, trials in clusters)
    if not games:
        return None
    share = sum(successes for successes, _ in clusters) / total
    if games == 1:
        return Estimate(value=share, low=None, high=None, count=1)
    if share in (0.0, 1.0):
        low, high = _wilson(share, games, Z)
        return Estimate(value=share, low=low, high=high, count=games)
    variance = _swing(clusters) * games / (games - 1)
    worth = float(total) if variance == 0 else max(1.0, min(float(total), share * (1 - share) / variance))
    low, high = _wilson(share, worth, student(_freedom(clusters, share)))
    return Estimate(value=share, low=low, high=high, count=games, worth=max(1.0, worth / games))


_RESAMPLES = 1_000
_RESAMPLING_SEED = 20_310_502
"""Fixed, so that the same games always give the same interval."""


def _swing(clusters: Sequence[tuple[int, int]]) -> float:
    """Return the variance of the share over resamples of whole games.

    Games with equal counts are interchangeable, so one multinomial draw gives the number of each kind.
    """
    kinds = sorted(Counter(clusters).items())
    counts = np.array([each for each, _ in kinds], dtype=np.float64)
    often = np.array([times for _, times in kinds], dtype=np.float64)
    # The only generator of numpy whose stream is guaranteed not to change (NEP 19).
    draw = np.random.RandomState(_RESAMPLING_SEED)
    drawn = draw.multinomial(len(clusters), often / often.sum(), size=_RESAMPLES).astype(np.float64)
    shares = drawn @ counts[:, 0] / (drawn @ counts[:, 1])
    return float(shares.var())


def _freedom(clusters: Sequence[tuple[int, int]], share: float) -> int:
    """Return the effective number of games behind the variance, less one: if one game of a hundred differs, only it
    counts."""
    squares = [(successes - share * trials) ** 2 for successes, trials in clusters]
    games, total = len(squares), math.fsum(squares)
    excess = math.fsum(each * each for each in squares) - total * total / games
    return games - 1 if excess <= 0 else max(min(2, games - 1), min(games - 1, int(2 * total * total / excess)))


def ratio(pairs: Sequence[tuple[float, float]]) -> Estimate | None:
    """Return the sum of the first values (parts) over the sum of the second, with the interval of the ratio over games;
    ``None`` if the divisor is zero."""
    count, total = len(pairs), math.fsum(whole for _, whole in pairs)
    if total <= 0:
        return None
    value = math.fsum(part for part, _ in pairs) / total
    if count == 1:
        return Estimate(value=value, low=None, high=None, count=1)
    size = total / count
    spread = math.sqrt(math.fsum(((part - value * whole) / size) ** 2 for part, whole in pairs) / (count - 1))
    reach = student(count - 1) * spread / math.sqrt(count)
    return Estimate(value=value, low=value - reach, high=min(1.0, value + reach), count=count, deviation=spread)


def games_for_share(value: float, margin: float) -> int:
    """Return the number of games for a margin of ± ``margin`` on a share near ``value``; near 0 and 1 as for 5 %."""
    p = min(0.95, max(0.05, value))
    return math.ceil(Z * Z * p * (1 - p) / (margin * margin))


def games_for_mean(deviation: float, margin: float) -> int:
    """Return the number of games for a margin of ± ``margin`` on a mean, given one game's standard deviation."""
    return max(2, math.ceil((Z * deviation / margin) ** 2))


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that at least ``share`` of the values do not exceed; ``None`` for no values."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@lru_cache(maxsize=4096)
def student(freedom: int) -> float:
    """Return the two-sided 95 % quantile of Student's distribution with ``freedom`` degrees, 1 or more."""
    low, high = 1.9, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        if _outside(middle, freedom) > 0.05:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def _outside(t: float, freedom: int) -> float:
    """Return the probability beyond ``t`` on either side: the regularised incomplete beta function."""
    return _beta(freedom / (freedom + t * t), freedom / 2, 0.5)


def _beta(x: float, a: float, b: float) -> float:
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    # The continued fraction converges fast only on one side of the mean; symmetry gives the other side.
    if x < (a + 1) / (a + b + 2):
        return front * _fraction(x, a, b) / a
    return 1 - front * _fraction(1 - x, b, a) / b


def _fraction(x: float, a: float, b: float) -> float:
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 300):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        change = 1.0
        for step in (even, odd):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            change = c * d
            value *= change
        if abs(change - 1) < 1e-15:
            break
    return value
