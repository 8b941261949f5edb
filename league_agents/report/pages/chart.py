"""Lines and intervals as numbers of a drawing: templates write the SVG, so every text in it is escaped there."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from league_agents.report.pages.shown import whole

WIDTH, HEIGHT = 720, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 176, 16, 36
_LABEL_GAP = 17
MOST_LINES = 12
"""Maximal number of lines with distinguishable labels. Of more teams the first ones are drawn."""


class Tick(Struct, frozen=True, kw_only=True):
    """A mark on an axis."""

    at: float
    text: str


class ChartLine(Struct, frozen=True, kw_only=True):
    """One team's course through the season."""

    name: str
    shade: int
    """Index of the colour and dash in the style sheet, from 0."""

    points: str
    """The ``points`` attribute of a ``polyline``."""

    end: tuple[float, float]
    label_y: float


class LineChart(Struct, frozen=True, kw_only=True):
    """Several lines over the rounds."""

    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM
    rounds: tuple[Tick, ...]
    values: tuple[Tick, ...]
    lines: tuple[ChartLine, ...]
    left_out: int
    """Number of teams that are not drawn."""


class Bar(Struct, frozen=True, kw_only=True):
    """An interval around a value."""

    name: str
    low: float
    at: float
    high: float
    y: float
    text: str


class IntervalChart(Struct, frozen=True, kw_only=True):
    """Intervals below each other on one scale."""

    width: int = WIDTH
    height: float
    left: int = 150
    right: int = WIDTH - 150
    scale: tuple[Tick, ...]
    bars: tuple[Bar, ...]


def line_chart(rounds: Sequence[int], values: Sequence[tuple[str, Sequence[float]]]) -> LineChart | None:
    """``values``: each team's name and values round by round, the leading team first. ``None`` below two rounds."""
    if len(rounds) < 2 or not values:
        return None
    drawn = values[:MOST_LINES]
    lowest = min(0.0, *(value for _, each in drawn for value in each))
    highest = max(1.0, *(value for _, each in drawn for value in each))
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM

    def x(place: int) -> float:
        return round(_LEFT + (right - _LEFT) * place / (len(rounds) - 1), 1)

    def y(value: float) -> float:
        return round(bottom - (bottom - _TOP) * (value - lowest) / (highest - lowest), 1)

    labels = _spread([y(each[-1]) for _, each in drawn])
    return LineChart(
        rounds=tuple(Tick(at=x(place), text=str(rounds[place])) for place in _places(len(rounds), 10)),
        values=tuple(Tick(at=y(value), text=f"{value:g}") for value in steps(lowest, highest)),
        lines=tuple(
            ChartLine(
                name=name,
                shade=shade,
                points=" ".join(f"{x(place)},{y(value)}" for place, value in enumerate(each)),
                end=(x(len(rounds) - 1), y(each[-1])),
                label_y=labels[shade],
            )
            for shade, (name, each) in enumerate(drawn)
        ),
        left_out=len(values) - len(drawn),
    )


def interval_chart(rows: Sequence[tuple[str, float, float, float]]) -> IntervalChart | None:
    """``rows``: name, lower end, value, upper end. ``None`` without rows."""
    if not rows:
        return None
    lowest, highest = min(low for _, low, _, _ in rows), max(high for _, _, _, high in rows)
    ticks = steps(lowest, max(highest, lowest + 1))
    lowest, highest = min(lowest, ticks[0]), max(highest, ticks[-1])
    left, right = 150, WIDTH - 150

    def x(value: float) -> float:
        return round(left + (right - left) * (value - lowest) / (highest - lowest), 1)

    return IntervalChart(
        height=len(rows) * 28 + 40,
        scale=tuple(Tick(at=x(value), text=whole(value)) for value in ticks),
        bars=tuple(
            Bar(
                name=name,
                low=x(low),
                at=x(at),
                high=x(high),
                y=20 + 28 * place,
                text=f"{whole(at)} ({whole(low)} to {whole(high)})",
            )
            for place, (name, low, at, high) in enumerate(rows)
        ),
    )


def steps(lowest: float, highest: float) -> tuple[float, ...]:
    """Round numbers from ``lowest`` to ``highest``, six at most."""
    span = highest - lowest
    size = next(base * 10.0**power for power in range(-3, 16) for base in (1, 2, 5) if span / (base * 10.0**power) <= 5)
    first = int(lowest // size)
    marks = (round((first + place) * size, 6) for place in range(8))
    return tuple(mark for mark in marks if lowest - size / 1e6 <= mark <= highest + size / 1e6)


def _places(count: int, most: int) -> list[int]:
    stride = max(1, -(-(count - 1) // (most - 1)))
    return sorted({*range(0, count, stride), count - 1} - ({count - 2} if stride > 1 else set()))


def _spread(wanted: Sequence[float]) -> list[float]:
    """The same heights, moved apart so that labels do not cover each other."""
    order = sorted(range(len(wanted)), key=lambda place: wanted[place])
    found = list(wanted)
    above = -1e9
    for place in order:
        found[place] = max(wanted[place], above + _LABEL_GAP)
        above = found[place]
    over = above - (HEIGHT - _BOTTOM + 4)
    for place in reversed(order):
        if over <= 0:
            break
        found[place] -= over
        below = min((found[other] for other in order[order.index(place) + 1 :]), default=1e9)
        found[place] = min(found[place], below - _LABEL_GAP) if below < 1e9 else found[place]
    return [round(max(_TOP, height), 1) for height in found]
