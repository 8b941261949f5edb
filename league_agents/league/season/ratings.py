"""The strength of participants, estimated from their games against each other.

Model: Bradley and Terry (1952). A participant of strength ``s`` scores ``1 / (1 + exp(t - s))`` on average against one
of strength ``t``; a draw is half a win. Strengths have a normal prior (deviation two natural units, 347 Elo), so that a
participant who won every game has a finite strength.

Rule 1: each strength has an interval. Games of one cluster (a mirrored pair on one target) are dependent, so whole
clusters are resampled.
Rule 2: if resampling shows no variation, as for a participant who won every game, the interval comes from the curvature
of the likelihood.
Rule 3: participants that are not connected by games, directly or through others, are not compared: each connected group
is rated separately.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from hashlib import shake_256
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from league_agents.kit.errors import LocalProtocolError

ELO: Final = 400 / math.log(10)
"""Elo points of one natural unit."""

Z: Final = 1.959963984540054
"""The quantile of the normal distribution for a two-sided 95 % interval."""

_PRIOR_PRECISION: Final = 0.25
_MOST_STEPS: Final = 200
"""Steps of Newton's method. Chains and stars of 12 players with thousands of one-sided games took 12 at most."""

_MOST_CELLS: Final = 2_000_000
"""Cells of the tables of resamples that are fitted at once: bounds the memory."""

Numbers = NDArray[np.float64]


class RatedGame(Struct, frozen=True, kw_only=True):
    """One game between two participants."""

    first: str
    second: str
    score: float
    """The score of ``first``: 1 for a win, 0.5 for a draw, 0 for a loss."""

    cluster: str
    """Games with the same cluster are resampled together."""


class Rating(Struct, frozen=True, kw_only=True):
    """The strength of one participant, in Elo points above the mean of its group."""

    participant_id: str
    elo: float
    low: float
    high: float
    """The upper end of the 95 % interval; ``low`` is the lower end."""

    games: int
    score: float
    """The points of all its games: 1 for a win, 0.5 for a draw."""

    group: int
    """The number of the connected group, from 0. Ratings of different groups cannot be compared."""


class StrengthDifference(Struct, frozen=True, kw_only=True):
    """How much stronger ``first`` is than ``second``, in Elo points."""

    first: str
    second: str
    elo: float
    low: float
    high: float

    @property
    def is_significant(self) -> bool:
        """Whether the 95 % interval excludes 0."""
        return self.low > 0 or self.high < 0


class Ratings(Struct, frozen=True, kw_only=True):
    """The strengths of all participants, and the differences between them."""

    rows: tuple[Rating, ...]
    """Group by group, the strongest first."""

    differences: tuple[StrengthDifference, ...]
    """The difference of each pair in a group, the stronger participant first."""


class _Games(NamedTuple):
    """The games of one group, with participants by their position."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    score: Numbers
    cluster: NDArray[np.intp]
    clusters: int


def score_of_elo(elo: float) -> float:
    """The mean score of a participant that is ``elo`` Elo points stronger than its opponent."""
    return 1 / (1 + math.exp(-elo / ELO))


def rate(games: Sequence[RatedGame], *, seed: int = 0, resamples: int = 400) -> Ratings:
    """Estimate strengths with 95 % intervals. The same games and seed give the same figures.

    Raises ``ValueError`` for a score outside 0 to 1 and for a game against oneself.
    """
    for game in games:
        if not 0 <= game.score <= 1 or game.first == game.second:
            raise ValueError(f"cannot rate {game}")
    rows: list[Rating] = []
    differences: list[StrengthDifference] = []
    for group, (names, own) in enumerate(_groups(games)):
        more_rows, more_differences = _rate_group(group, names, own, seed, resamples)
        rows += more_rows
        differences += more_differences
    return Ratings(rows=tuple(rows), differences=tuple(differences))


def _groups(games: Sequence[RatedGame]) -> Iterator[tuple[list[str], list[RatedGame]]]:
    """The groups of participants that are connected by games, the largest first, with their games."""
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        parent.setdefault(name, name)
        while parent[name] != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for game in games:
        parent[root(game.first)] = root(game.second)
    members: dict[str, list[str]] = {}
    for name in sorted(parent):
        members.setdefault(root(name), []).append(name)
    own: dict[str, list[RatedGame]] = {}
    for game in games:
        own.setdefault(root(game.first), []).append(game)
    for group in sorted(members, key=lambda each: (-len(members[each]), members[each])):
        yield members[group], own[group]


def _rate_group(
    group: int, names: Sequence[str], games: Sequence[RatedGame], seed: int, resamples: int
) -> tuple[list[Rating], list[StrengthDifference]]:
    place = {name: position for position, name in enumerate(names)}
    number: dict[str, int] = {}
    table = _Games(
        first=np.array([place[game.first] for game in games]),
        second=np.array([place[game.second] for game in games]),
        score=np.array([game.score for game in games], dtype=np.float64),
        cluster=np.array([number.setdefault(game.cluster, len(number)) for game in games]),
        clusters=len(number),
    )
    size = len(names)
    played, scored = _tallies(table, size, np.ones((1, table.clusters)))
    strengths = _fit(played, scored)
    curvature = _curvature(played, strengths)[0]
    swings = _resampled(table, strengths, seed, resamples)
    steady = _steady_pairs(table, size)
    unclear = [bool(steady[position][played[0, position] > 0].all()) for position in range(size)]

    def deviation(weights: Numbers, *, is_unclear: bool) -> float:
        swing = float(np.std(swings @ weights, ddof=1))
        return max(swing, math.sqrt(weights @ curvature @ weights)) if is_unclear else swing

    rows, order = [], sorted(range(size), key=lambda position: (-strengths[0, position], names[position]))
    for position in order:
        weights = np.full(size, -1 / size)
        weights[position] += 1
        elo, reach = ELO * float(strengths[0, position]), ELO * Z * deviation(weights, is_unclear=unclear[position])
        rows.append(
            Rating(
                participant_id=names[position],
                elo=elo,
                low=elo - reach,
                high=elo + reach,
                games=int(played[0, position].sum()),
                score=float(scored[0, position]),
                group=group,
            )
        )
    differences = []
    for index, better in enumerate(order):
        for worse in order[index + 1 :]:
            weights = np.zeros(size)
            weights[better], weights[worse] = 1, -1
            elo = ELO * float(strengths[0, better] - strengths[0, worse])
            doubt = unclear[better] or unclear[worse] or bool(steady[better, worse])
            reach = ELO * Z * deviation(weights, is_unclear=doubt)
            differences.append(
                StrengthDifference(first=names[better], second=names[worse], elo=elo, low=elo - reach, high=elo + reach)
            )
    return rows, differences


def _steady_pairs(games: _Games, size: int) -> NDArray[np.bool_]:
    """The pairs with the same score in all their clusters, for which resampling shows no variation."""
    means: dict[tuple[int, int], dict[int, list[float]]] = {}
    for first, second, score, cluster in zip(games.first, games.second, games.score, games.cluster, strict=True):
        pair = (min(first, second), max(first, second))
        means.setdefault(pair, {}).setdefault(cluster, []).append(score if first < second else 1 - score)
    steady = np.zeros((size, size), dtype=np.bool_)
    for (one, other), clusters in means.items():
        scores = {sum(found) / len(found) for found in clusters.values()}
        steady[one, other] = steady[other, one] = len(scores) == 1
    return steady


def _tallies(games: _Games, size: int, weights: Numbers) -> tuple[Numbers, Numbers]:
    """The games between each pair, shape (samples, size, size), and each participant's points, shape (samples, size).

    ``weights`` is how often each cluster counts, shape (samples, clusters).
    """
    cells = games.first * size + games.second
    played = np.empty((len(weights), size, size))
    points = np.empty((len(weights), size))
    for sample, counted in enumerate(weights):
        often = counted[games.cluster]
        played[sample] = np.bincount(cells, often, size * size).reshape(size, size)
        points[sample] = np.bincount(games.first, often * games.score, size)
        points[sample] += np.bincount(games.second, often * (1 - games.score), size)
    return played + played.transpose(0, 2, 1), points


def _fit(played: Numbers, scored: Numbers, start: Numbers | None = None) -> Numbers:
    """The most likely strengths for the tallies, shape (samples, size), by Newton's method; their mean is 0.

    ``start`` is an estimate near the solution, shape (1, size).
    """
    strengths = np.zeros_like(scored) if start is None else np.repeat(start, len(scored), axis=0)
    for _ in range(_MOST_STEPS):
        expected = _expected(strengths)
        slope = scored - (played * expected).sum(axis=2) - _PRIOR_PRECISION * strengths
        step = np.linalg.solve(_hessian(played, expected), slope[:, :, None])[:, :, 0]
        strengths += np.clip(step, -2, 2)  # far from the solution a whole step may overshoot
        if float(np.abs(step).max(initial=0)) < 1e-8:
            break
    else:
        raise LocalProtocolError(f"the strengths of {scored.shape[1]} participants were not found")
    centred: Numbers = strengths - strengths.mean(axis=1, keepdims=True)
    return centred


def _expected(strengths: Numbers) -> Numbers:
    expected: Numbers = 1 / (1 + np.exp(strengths[:, None, :] - strengths[:, :, None]))
    return expected


def _hessian(played: Numbers, expected: Numbers) -> Numbers:
    spread = played * expected * (1 - expected)
    hessian: Numbers = np.eye(played.shape[1]) * (spread.sum(axis=2) + _PRIOR_PRECISION)[:, :, None] - spread
    return hessian


def _curvature(played: Numbers, strengths: Numbers) -> Numbers:
    """The covariance of the strengths by Laplace's approximation: the inverse of the curvature at the solution."""
    return np.asarray(np.linalg.inv(_hessian(played, _expected(strengths))), dtype=np.float64)


def _resampled(games: _Games, strengths: Numbers, seed: int, resamples: int) -> Numbers:
    """The strengths in each resample of the clusters, shape (resamples, size). ``strengths`` is fitted to all games."""
    size = strengths.shape[1]
    at_once = max(1, _MOST_CELLS // (size * size))
    found: list[Any] = []
    for start in range(0, resamples, at_once):
        drawn = [_resample(seed, index, games.clusters) for index in range(start, min(resamples, start + at_once))]
        found.append(_fit(*_tallies(games, size, np.stack(drawn)), strengths))
    return np.concatenate(found)


def _resample(seed: int, index: int, count: int) -> Numbers:
    """How often each of ``count`` clusters is drawn, with replacement, in one resample."""
    stream = shake_256(f"{seed}/ratings/{index}".encode()).digest(4 * count)
    # The upper half of a product: 32 bits are nearly uniform over far fewer clusters.
    places = (np.frombuffer(stream, dtype=">u4").astype(np.uint64) * np.uint64(count)) >> np.uint64(32)
    return np.bincount(places.astype(np.intp), minlength=count).astype(np.float64)
