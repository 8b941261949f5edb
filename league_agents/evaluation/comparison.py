"""Find the strongest of several players by mirrored games on the same targets, until a test decides or games run out.

Rule 1: a cluster is one target. Each pair of players plays it twice, once on each seat, so neither target nor seat
favours a player; the games of a cluster are one observation.
Rule 2: tests are evaluated after whole rounds of clusters only, so the games played do not depend on the order in which
games end.
Rule 3: an unscored match is counted but decides nothing, and neither does its mirrored game, which would favour a
seat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from msgspec import Struct

from league_agents.evaluation.statistics import Estimate, mean
from league_agents.kit.model_work import ModelWorkUse
from league_agents.league.season.ratings import RatedGame, Ratings, rate
from league_agents.league.season.sequential import RunningTest, SequentialTest, Verdict, decide

ROUND: Final = 5
"""Clusters between two evaluations of the tests."""


class ComparedGame(NamedTuple):
    """One game to be played."""

    cluster: int
    """The number of the target, from 1."""

    first: int
    second: int
    """Indices of the players, ``first < second``."""

    is_swapped: bool
    """Whether ``second`` is player 1."""


class GameScore(Struct, frozen=True, kw_only=True):
    """The result of one game."""

    game: ComparedGame
    referee: int
    """Index of the referee."""

    score: float | None
    """Of ``game.first``: 1 for a win, 0.5 for a draw, 0 for a loss; ``None`` if the game was not scored."""

    private_scores: tuple[float, float] | None = None
    """Of ``game.first`` and ``game.second``, 0 to 100."""

    models: tuple[ModelWorkUse | None, ModelWorkUse | None] = (None, None)
    """Use of their language models' work in the whole game; ``None`` for agents that report none."""

    complaints: tuple[str, str] = ("", "")
    """The first complaint about each player's callbacks, including fallbacks; empty if there is none."""


class PairResult(Struct, frozen=True, kw_only=True):
    """The results of two players against each other."""

    first: int
    second: int
    played: int
    """Number of all games between them."""

    games: int
    """Number of games scored on both seats; these are tested and rated."""

    half_scored: int
    """Number of scored games whose mirrored game was not scored; these are left out."""

    wins: int
    draws: int
    losses: int
    """Losses of ``first``."""

    test: SequentialTest
    more_games: int | None
    """Estimated number of further games that would decide, if they go like those so far; ``None`` if decided, or if
    there is no trend."""


class PlayerConduct(Struct, frozen=True, kw_only=True):
    """The conduct of one player beside its results: a fallback's results are not its own."""

    player: int
    games: int
    with_complaints: int
    """Number of games in which a callback failed or broke its contract."""

    complaint: str
    """The first complaint."""

    models: Mapping[ModelWorkUse, int]
    """Number of games by use of its language models' work; empty for an agent that reports none."""


class RefereeRating(Struct, frozen=True, kw_only=True):
    """A referee's judging, measured by its private scores."""

    referee: int
    games: int
    severity: Estimate | None
    """Points of 100 below the mean of all referees, over its clusters; ``None`` with one referee."""

    inconsistency: Estimate | None
    """Mean difference, in points of 100, of a player's scores on the same target between the two seats."""

    not_scored: int
    """Number of its unscored matches."""


class Comparison(Struct, frozen=True, kw_only=True):
    """The results of all games."""

    ratings: Ratings
    """Keyed by index as text: ``"0"`` is the player named first."""

    pairs: tuple[PairResult, ...]
    conduct: tuple[PlayerConduct, ...]
    referees: tuple[RefereeRating, ...]
    not_scored: int


def rounds(clusters: int) -> Iterator[tuple[int, ...]]:
    """Yield the clusters of each round."""
    for start in range(1, clusters + 1, ROUND):
        yield tuple(range(start, min(start + ROUND, clusters + 1)))


def pairs_of(players: int) -> tuple[tuple[int, int], ...]:
    """Return all pairs of players."""
    return tuple(combinations(range(players), 2))


def games_of(cluster: int, pairs: Sequence[tuple[int, int]]) -> list[ComparedGame]:
    """Return the games of one cluster."""
    return [ComparedGame(cluster, *pair, is_swapped) for pair in pairs for is_swapped in (False, True)]


class RunningTests:
    """The tests of all pairs, updated as games end."""

    def __init__(self, pairs: Sequence[tuple[int, int]], *, margin: float, error: float) -> None:
        self._tests = {pair: RunningTest(margin=margin, error=error) for pair in pairs}
        self._waiting: dict[ComparedGame, float | None] = {}
        """Scores of games whose mirrored game has not ended."""

    def add(self, each: GameScore) -> None:
        """Add a game; each game must be added once."""
        other = each.game._replace(is_swapped=not each.game.is_swapped)
        if other not in self._waiting:
            self._waiting[each.game] = each.score
            return
        score = self._waiting.pop(other)
        if score is not None and each.score is not None:
            self._tests[each.game.first, each.game.second].add((score + each.score) / 2)

    def is_decided(self, pair: tuple[int, int]) -> bool:
        """Return whether no further games between these two are needed."""
        return self._tests[pair].result().verdict is not Verdict.OPEN


def compare(
    scores: Sequence[GameScore], *, players: int, referees: int, margin: float, error: float, seed: int
) -> Comparison:
    """Return all figures. ``error`` is the error rate of one pair's test: the total divided by the number of pairs."""
    by_pair: dict[tuple[int, int], list[GameScore]] = {pair: [] for pair in pairs_of(players)}
    for each in scores:
        by_pair[each.game.first, each.game.second].append(each)
    rated = [
        RatedGame(first=str(each.game.first), second=str(each.game.second), score=score, cluster=str(each.game.cluster))
        for own in by_pair.values()
        for both in _mirrored(own)
        for each, score in both
    ]
    return Comparison(
        ratings=rate(rated, seed=seed),
        pairs=tuple(_pair(pair, own, margin=margin, error=error) for pair, own in by_pair.items()),
        conduct=tuple(_conduct(scores, player) for player in range(players)),
        referees=tuple(_referee(scores, referee, referees) for referee in range(referees)),
        not_scored=sum(each.score is None for each in scores),
    )


def _mirrored(own: Sequence[GameScore]) -> list[list[tuple[GameScore, float]]]:
    """Return the games on each target scored on both seats, in the order of the targets."""
    clusters: dict[int, list[tuple[GameScore, float]]] = {}
    for each in own:
        if each.score is not None:
            clusters.setdefault(each.game.cluster, []).append((each, each.score))
    return [found for _, found in sorted(clusters.items()) if len(found) == 2]


def _pair(pair: tuple[int, int], own: Sequence[GameScore], *, margin: float, error: float) -> PairResult:
    mirrored = [[score for _, score in both] for both in _mirrored(own)]
    test = decide((sum(both) / 2 for both in mirrored), margin=margin, error=error)
    counts = Counter(score for both in mirrored for score in both)
    games = 2 * len(mirrored)
    return PairResult(
        first=pair[0],
        second=pair[1],
        played=len(own),
        games=games,
        half_scored=sum(each.score is not None for each in own) - games,
        wins=counts[1.0],
        draws=counts[0.5],
        losses=counts[0.0],
        test=test,
        more_games=None if test.more is None else 2 * test.more,
    )


def _conduct(scores: Sequence[GameScore], player: int) -> PlayerConduct:
    own = [(each, (each.game.first, each.game.second).index(player)) for each in scores if player in each.game[1:3]]
    complaints = [each.complaints[seat] for each, seat in own if each.complaints[seat]]
    return PlayerConduct(
        player=player,
        games=len(own),
        with_complaints=len(complaints),
        complaint=next(iter(complaints), ""),
        models=Counter(use for each, seat in own if (use := each.models[seat]) is not None),
    )


def _referee(scores: Sequence[GameScore], referee: int, referees: int) -> RefereeRating:
    own = [each for each in scores if each.referee == referee]
    judged = [each for each in own if each.private_scores is not None]
    severity = None
    if referees > 1 and judged:
        usual = _means_of_clusters(scores)
        average = sum(usual) / len(usual)
        severity = mean([average - each for each in _means_of_clusters(own)], least=-100, most=100)
    return RefereeRating(
        referee=referee,
        games=len(judged),
        severity=severity,
        inconsistency=mean(_gaps(judged), least=0, most=100),
        not_scored=sum(each.score is None for each in own),
    )


def _means_of_clusters(scores: Sequence[GameScore]) -> list[float]:
    """Return the mean private score on each target. Targets have equal weight, however many pairs still played."""
    clusters: dict[int, list[float]] = {}
    for each in scores:
        if each.private_scores is not None:
            clusters.setdefault(each.game.cluster, []).append(sum(each.private_scores) / 2)
    return [sum(found) / len(found) for found in clusters.values()]


def _gaps(judged: Sequence[GameScore]) -> list[float]:
    """Return for each mirrored pair of games the difference of a player's two scores, averaged over both players."""
    plain = {each.game: each.private_scores for each in judged if not each.game.is_swapped}
    found = []
    for each in judged:
        other = plain.get(each.game._replace(is_swapped=False)) if each.game.is_swapped else None
        if other is not None and each.private_scores is not None:
            found.append(sum(abs(one - two) for one, two in zip(each.private_scores, other, strict=True)) / 2)
    return found
