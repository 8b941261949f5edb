"""Which of several players is the strongest: mirrored games on the same targets, until a test decides or games run out.

Rule 1: a cluster is one target. Each two players play it twice, once on each seat, so neither target nor seat favours
anybody; the games of a cluster are one observation.
Rule 2: tests are looked at after whole rounds of clusters only, so what is played does not depend on the order in which
games end.
Rule 3: a match that its referee did not bring to scores is counted, and decides nothing. Neither does its mirrored
game, which would favour a seat.
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
"""Clusters between two looks at the tests."""


class ComparedGame(NamedTuple):
    """One game that is to be played."""

    cluster: int
    """From 1: the number of the target."""

    first: int
    second: int
    """Positions of the players, ``first < second``."""

    is_swapped: bool
    """Whether ``second`` sits on seat 1."""


class GameScore(Struct, frozen=True, kw_only=True):
    """How one game ended."""

    game: ComparedGame
    referee: int
    """Its position."""

    score: float | None
    """Of ``game.first``: 1 for a win, 0.5 for a draw, 0 for a loss; ``None`` if it did not come to scores."""

    private_scores: tuple[float, float] | None = None
    """Of ``game.first`` and ``game.second``, 0 to 100."""

    models: tuple[ModelWorkUse | None, ModelWorkUse | None] = (None, None)
    """What became of their language models' work in the whole game; ``None`` for agents that tell of none."""

    complaints: tuple[str, str] = ("", "")
    """The first complaint about a callback of theirs, a fallback in its place included; empty without any."""


class PairResult(Struct, frozen=True, kw_only=True):
    """Two players against each other."""

    first: int
    second: int
    played: int
    """All games between them."""

    games: int
    """That came to scores on both seats: these are tested and rated."""

    half_scored: int
    """Games that came to scores, and whose mirrored game did not: left out."""

    wins: int
    draws: int
    losses: int
    """Of ``first``."""

    test: SequentialTest
    more_games: int | None
    """About how many more would decide, if they went like those so far; ``None`` if decided, or if they point
    nowhere."""


class PlayerConduct(Struct, frozen=True, kw_only=True):
    """How one player behaved, beside its results: those of a fallback are not its own."""

    player: int
    games: int
    with_complaints: int
    """Games in which a callback failed or broke its contract."""

    complaint: str
    """The first of them."""

    models: Mapping[ModelWorkUse, int]
    """Games by what became of its language models' work; empty for an agent that tells of none."""


class RefereeRating(Struct, frozen=True, kw_only=True):
    """How one referee judges, on the private scores that it gave."""

    referee: int
    games: int
    severity: Estimate | None
    """Points of 100 that it gives less than all referees together, over its clusters; ``None`` with one referee."""

    inconsistency: Estimate | None
    """Points of 100 by which a player's scores on the same target differ from seat to seat, on average."""

    not_scored: int
    """Its matches that did not come to scores."""


class Comparison(Struct, frozen=True, kw_only=True):
    """What the games say."""

    ratings: Ratings
    """By positions as text: ``"0"`` is the player that was named first."""

    pairs: tuple[PairResult, ...]
    conduct: tuple[PlayerConduct, ...]
    referees: tuple[RefereeRating, ...]
    not_scored: int


def rounds(clusters: int) -> Iterator[tuple[int, ...]]:
    """The clusters, round by round."""
    for start in range(1, clusters + 1, ROUND):
        yield tuple(range(start, min(start + ROUND, clusters + 1)))


def pairs_of(players: int) -> tuple[tuple[int, int], ...]:
    """Each two players."""
    return tuple(combinations(range(players), 2))


def games_of(cluster: int, pairs: Sequence[tuple[int, int]]) -> list[ComparedGame]:
    """The games of one cluster."""
    return [ComparedGame(cluster, *pair, is_swapped) for pair in pairs for is_swapped in (False, True)]


class RunningTests:
    """The tests of all pairs while games end."""

    def __init__(self, pairs: Sequence[tuple[int, int]], *, margin: float, error: float) -> None:
        self._tests = {pair: RunningTest(margin=margin, error=error) for pair in pairs}
        self._waiting: dict[ComparedGame, float | None] = {}
        """Scores of games whose mirrored game is to come."""

    def add(self, each: GameScore) -> None:
        """Take in a game, each once."""
        other = each.game._replace(is_swapped=not each.game.is_swapped)
        if other not in self._waiting:
            self._waiting[each.game] = each.score
            return
        score = self._waiting.pop(other)
        if score is not None and each.score is not None:
            self._tests[each.game.first, each.game.second].add((score + each.score) / 2)

    def is_decided(self, pair: tuple[int, int]) -> bool:
        """Whether nothing more need be played between these two."""
        return self._tests[pair].result().verdict is not Verdict.OPEN


def compare(
    scores: Sequence[GameScore], *, players: int, referees: int, margin: float, error: float, seed: int
) -> Comparison:
    """All figures. ``error`` is that of one pair's test: divide the whole by the number of pairs."""
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
    """The games on each target that came to scores on both seats, in the order of the targets."""
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
    """The mean private score on each target. Targets weigh alike, however many pairs were still playing."""
    clusters: dict[int, list[float]] = {}
    for each in scores:
        if each.private_scores is not None:
            clusters.setdefault(each.game.cluster, []).append(sum(each.private_scores) / 2)
    return [sum(found) / len(found) for found in clusters.values()]


def _gaps(judged: Sequence[GameScore]) -> list[float]:
    """For each mirrored pair of games: how far a player's two scores are apart, on average of both players."""
    plain = {each.game: each.private_scores for each in judged if not each.game.is_swapped}
    found = []
    for each in judged:
        other = plain.get(each.game._replace(is_swapped=False)) if each.game.is_swapped else None
        if other is not None and each.private_scores is not None:
            found.append(sum(abs(one - two) for one, two in zip(each.private_scores, other, strict=True)) / 2)
    return found
