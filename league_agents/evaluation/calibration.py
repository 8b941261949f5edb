"""How far a player's stated confidence can be believed.

Rule: only games with a stated confidence and a known target count; the confidence is that of the opening sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from league_agents.evaluation.results import PlayerSide
from league_agents.evaluation.statistics import Estimate, wilson

BAND_EDGES = (0.0, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95)
"""Least confidence of each band. Most guesses are near 0 or near 1, so the bands are narrow there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceBand:
    """The games with a confidence in one band: one row of a reliability table."""

    low: float
    high: float
    """Upper limit, not included; 1 is included in the last band."""

    stated: float
    """Mean of the stated confidence."""

    right: Estimate
    """Share of right opening sentences."""

    def to_json(self) -> dict[str, object]:
        return {
            "low": self.low,
            "high": self.high,
            "games": self.right.count,
            "stated": round(self.stated, 6),
            "right": round(self.right.value, 6),
        }


def reliability(sides: Sequence[PlayerSide]) -> tuple[ConfidenceBand, ...]:
    """Return the bands that have games, lowest confidence first."""
    return reliability_of(
        [
            (min(1.0, max(0.0, side.confidence)), side.sentence_right)
            for side in sides
            if side.confidence is not None and side.sentence_right is not None
        ]
    )


def reliability_of(known: Sequence[tuple[float, bool]]) -> tuple[ConfidenceBand, ...]:
    """Return the bands of stated confidences from 0 to 1, each with whether the sentence was right."""
    bands = []
    for low, high in zip(BAND_EDGES, (*BAND_EDGES[1:], 1.0), strict=True):
        held = [(stated, right) for stated, right in known if low <= stated and (stated < high or high == 1.0)]
        share = wilson(sum(right for _, right in held), len(held))
        if share is not None:
            stated = sum(stated for stated, _ in held) / len(held)
            bands.append(ConfidenceBand(low=low, high=high, stated=stated, right=share))
    return tuple(bands)


def calibration_error(bands: Sequence[ConfidenceBand]) -> float | None:
    """Return the expected calibration error: the mean gap between stated confidence and success, over all games."""
    games = sum(band.right.count for band in bands)
    if not games:
        return None
    return sum(band.right.count * abs(band.stated - band.right.value) for band in bands) / games
