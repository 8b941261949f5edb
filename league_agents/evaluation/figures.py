"""Figures computed from games, for people and for scripts.

Rule 1: a figure that cannot be computed is listed with the reason in words. An unknown cost stays unknown.
Rule 2: equal games give equal figures in any order of play; durations are kept separately.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from league_agents.evaluation.calibration import ConfidenceBand
from league_agents.evaluation.hardness import Hardness
from league_agents.evaluation.model_share import Judged, ModelShare
from league_agents.evaluation.results import Behaviour, Spent
from league_agents.evaluation.statistics import Estimate, clustered_share, games_for_share, mean, quantile

TOLD_APART = 0.05
"""The largest margin of a difference that counts as known: five points of a hundred."""


class Unit(StrEnum):
    """The unit of a figure."""

    SHARE = "share"
    SCORE = "score"
    """0 to 100."""

    POINTS = "points"
    """League points, 0 to 3."""

    BITS = "bits"
    COUNT = "count"
    TOKENS = "tokens"
    USD = "usd"
    RANK = "rank"


UNBOUNDED = (-math.inf, math.inf)
RANGES: Mapping[Unit, tuple[float, float]] = {
    Unit.SCORE: (0.0, 100.0),
    Unit.POINTS: (0.0, 3.0),
    Unit.COUNT: (0.0, math.inf),
    Unit.TOKENS: (0.0, math.inf),
    Unit.USD: (0.0, math.inf),
}
"""The minimum and maximum of one game; a unit that is not listed is unbounded."""


def mean_of(values: Sequence[float], unit: Unit, *, least: float = -math.inf) -> Estimate | None:
    """Return the mean, with an interval inside the unit's range and not below ``least``; ``None`` without values."""
    low, most = RANGES.get(unit, UNBOUNDED)
    return mean(values, least=max(low, least), most=most)


def mean_difference(values: Sequence[float], unit: Unit) -> Estimate | None:
    """Return the mean of differences of two values of this unit, with an interval inside their range."""
    least, most = RANGES.get(unit, UNBOUNDED)
    return mean(values, least=least - most, most=most - least)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One line of a report."""

    key: str
    label: str
    unit: Unit
    own: Estimate | None
    """The value of the evaluated participant. ``None`` if it is unknown; ``note`` says why."""

    other: Estimate | None = None
    """The value of the opponent; ``None`` also if there is nothing to compare."""

    difference: Estimate | None = None
    """Own minus other, game by game."""

    note: str = ""

    def to_json(self) -> dict[str, object]:
        return {
            "key": self.key,
            "unit": self.unit.value,
            "own": _estimate(self.own),
            "opponent": _estimate(self.other),
            "difference": _estimate(self.difference),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """The duration of one callback's calls, in seconds."""

    callback: str
    calls: int
    median_s: float
    late_s: float
    """The 95th percentile."""

    longest_s: float

    def to_json(self) -> dict[str, object]:
        return {
            "callback": self.callback,
            "calls": self.calls,
            "median_s": round(self.median_s, 6),
            "p95_s": round(self.late_s, 6),
            "longest_s": round(self.longest_s, 6),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationReport:
    """The results of a series of games."""

    games: int
    aborted: int
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...]
    """Reliability of the figures, and failures, in sentences."""

    models: Mapping[str, ModelShare]
    """By participant, ``player``, ``opponent`` or ``referee``; participants that report no model are left out."""

    latencies: tuple[Latency, ...]

    reliability: tuple[ConfidenceBand, ...] = ()
    """Confidence and success of the evaluated player; empty for a referee, or if no confidence is stated."""

    hardness: Hardness | None = None
    """How hard a player's games are; ``None`` for a referee, or if no target is known."""


def latencies_of(games: Sequence[Judged], part: str) -> tuple[Latency, ...]:
    """Return the latency of each callback, in the order of first calls."""
    seconds: dict[str, list[float]] = {}
    for game in games:
        for callback, each in game.behaviour[part].seconds.items():
            seconds.setdefault(callback, []).extend(each)
    return tuple(
        Latency(
            callback=callback,
            calls=len(values),
            median_s=quantile(values, 0.5) or 0.0,
            late_s=quantile(values, 0.95) or 0.0,
            longest_s=max(values),
        )
        for callback, values in seconds.items()
        if values
    )


def behaviour_figures(games: Sequence[Judged], own: str, other: str | None) -> list[Figure]:
    """Return the figures on fallbacks, broken contracts, and use of language models."""
    figures = []
    for key, label, counted in (
        ("fallbacks", "Callbacks that failed", lambda each: each.fallbacks),
        ("broken", "Results that broke a contract", lambda each: each.broken),
    ):
        shares = [None if part is None else _of_calls(games, part, counted) for part in (own, other)]
        figures.append(Figure(key=key, label=label, unit=Unit.SHARE, own=shares[0], other=shares[1]))
    measures: tuple[tuple[str, str, Unit, Callable[[Spent], float | None]], ...] = (
        ("model_calls", "Model calls a game", Unit.COUNT, lambda spent: spent.calls),
        ("input_tokens", "Tokens read a game", Unit.TOKENS, lambda spent: _counted(spent, spent.input_tokens)),
        ("output_tokens", "Tokens written a game", Unit.TOKENS, lambda spent: _counted(spent, spent.output_tokens)),
        ("cost", "Money a game", Unit.USD, lambda spent: None if spent.unpriced else spent.nano_usd / 1e9),
    )
    for key, label, unit, measure in measures:
        mine, why = _spent(games, own, unit, measure)
        theirs = None if other is None else _spent(games, other, unit, measure)[0]
        figures.append(Figure(key=key, label=label, unit=unit, own=mine, other=theirs, note=why))
    return figures


def complaints_of(games: Sequence[Judged], part: str, most: int = 5) -> list[str]:
    """Return the most frequent complaints, in words."""
    heard = Counter(complaint for game in games for complaint in game.behaviour[part].complaints)
    ordered = sorted(heard.items(), key=lambda each: (-each[1], each[0]))
    return [f"{text}{f' ({times} times)' if times > 1 else ''}" for text, times in ordered[:most]]


def precision_of_share(name: str, share: Estimate | None) -> list[str]:
    """Describe the precision of a share, and the number of games for a margin of five points."""
    if share is None or share.margin is None:
        return []
    needed = math.ceil(games_for_share(share.value, TOLD_APART) / share.worth)
    games = "1 game tells" if share.count == 1 else f"{share.count:,} games tell"
    known = f"{games} {name} to ±{100 * share.margin:.1f} points of 100"
    if share.margin <= TOLD_APART:
        return [f"{known}."]
    return [f"{known}; to tell it to ±{100 * TOLD_APART:.0f} takes about {needed:,}."]


def _counted(spent: Spent, tokens: int) -> float | None:
    return None if spent.uncounted else tokens


def _of_calls(games: Sequence[Judged], part: str, counted: Callable[[Behaviour], Mapping[str, int]]) -> Estimate | None:
    return clustered_share(
        [
            (min(sum(counted(each).values()), sum(each.calls.values())), sum(each.calls.values()))
            for game in games
            for each in [game.behaviour[part]]
        ]
    )


def _spent(
    games: Sequence[Judged], part: str, unit: Unit, measure: Callable[[Spent], float | None]
) -> tuple[Estimate | None, str]:
    values: list[float] = []
    for game in games:
        spent = game.behaviour[part].spent
        if spent is None:
            return None, "not seen from here"
        value = measure(spent)
        if value is None:
            return None, "unknown"
        values.append(value)
    return mean_of(values, unit), ""


def _estimate(found: Estimate | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "value": _rounded(found.value),
        "low": _rounded(found.low),
        "high": _rounded(found.high),
        "games": found.count,
    }


def _rounded(value: float | None) -> float | None:
    # Further digits depend on the machine. Eight are enough for small costs.
    return None if value is None else round(value, 8)
