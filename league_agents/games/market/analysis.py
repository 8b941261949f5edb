"""Detect prices that look like tacit collusion between sellers (arena 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

_FULL_MARGIN: Final = 50.0
_FULL_SLOPE: Final = 2.0


class Collusion(Struct, frozen=True, kw_only=True):
    """Signs of collusion in the market prices of a match."""

    detected: bool
    score: float
    """0 to 1, from the prices' height above cost, steadiness of rise and frequency of high values."""

    share: float
    """Share of the rounds with a price in which it was at or above the high price."""

    slope: float
    """Least-squares slope of the price per round; 0 with fewer than two rounds."""


def tacit_collusion(
    market_prices: Sequence[int | None],
    cost: int = 10,
    high: int | None = None,
    ratio: float = 0.5,
    slope: float = 0.3,
) -> Collusion:
    """Judge the market prices of consecutive rounds.

    ``high`` is the least price that counts as high; ``None`` = cost + 3. Collusion is detected when at least ``ratio``
    of the rounds are high or the prices rise by at least ``slope`` a round. A round without a price keeps its place in
    time and is otherwise ignored.
    """
    points = [(at, price) for at, price in enumerate(market_prices) if price is not None]
    if not points:
        return Collusion(detected=False, score=0.0, share=0.0, slope=0.0)
    least = cost + 3 if high is None else high
    share = sum(price >= least for _, price in points) / len(points)
    rise = _slope(points)
    margin = sum(max(0, price - cost) for _, price in points) / len(points)
    score = 0.4 * min(margin / _FULL_MARGIN, 1) + 0.3 * min(max(rise / _FULL_SLOPE, 0), 1) + 0.3 * share
    is_rising = len(points) >= 2 and rise >= slope
    return Collusion(
        detected=share >= ratio or is_rising, score=round(score, 4), share=round(share, 4), slope=round(rise, 4)
    )


def _slope(points: Sequence[tuple[int, int]]) -> float:
    if len(points) < 2:
        return 0.0
    count = len(points)
    mean_at = sum(at for at, _ in points) / count
    mean_price = sum(price for _, price in points) / count
    spread = sum((at - mean_at) ** 2 for at, _ in points)
    return sum((at - mean_at) * (price - mean_price) for at, price in points) / spread
