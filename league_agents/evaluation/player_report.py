"""The report on a player from a series of games."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from league_agents.evaluation.calibration import ConfidenceBand, calibration_error, reliability
from league_agents.evaluation.figures import (
    TOLD_APART,
    EvaluationReport,
    Figure,
    Unit,
    behaviour_figures,
    complaints_of,
    latencies_of,
    mean_difference,
    mean_of,
    precision_of_share,
)
from league_agents.evaluation.hardness import hardness
from league_agents.evaluation.model_share import models_of, on_models
from league_agents.evaluation.results import PlayerGame, PlayerSide
from league_agents.evaluation.statistics import games_for_mean, paired_shares, ratio, wilson

Pair = tuple[PlayerSide, PlayerSide]
"""The evaluated player and its opponent, with the same target."""


def player_report(games: Sequence[PlayerGame], *, questions: int = 20, noise: float = 0.0) -> EvaluationReport:
    """Return the figures of all games, in any order. ``questions`` of a batch, and the ``noise`` of their answers."""
    games = sorted(games, key=lambda game: game.game)
    pairs = [(game.player, game.opponent) for game in games if game.player is not None and game.opponent is not None]
    count = len(pairs)
    wins = sum(one.points > two.points for one, two in pairs)
    draws = sum(one.points == two.points for one, two in pairs)
    won, lost = wilson(wins, count), wilson(count - wins - draws, count)
    score = _means(pairs, "private_score", "Private score", Unit.SCORE, lambda side: side.private_score)
    figures = (
        Figure(key="wins", label="Games won", unit=Unit.SHARE, own=won, other=lost),
        Figure(key="draws", label="Games drawn", unit=Unit.SHARE, own=wilson(draws, count)),
        _shares(pairs, "sentence", "Opening sentence right", lambda side: side.sentence_right),
        _means(pairs, "similarity", "Likeness of the sentence", Unit.SCORE, lambda side: side.similarity),
        _shares(pairs, "word", "Associative word right", lambda side: side.word_right),
        _means(pairs, "bits_possible", "Bits possible", Unit.BITS, lambda side: side.bits_possible, least=0.0),
        _means(pairs, "bits_gained", "Bits gained", Unit.BITS, lambda side: side.bits_gained),
        _gained_of_possible(pairs),
        _means(pairs, "understood", "Questions understood by code", Unit.COUNT, lambda side: side.understood),
        _means(pairs, "league_points", "League points", Unit.POINTS, lambda side: side.points),
        score,
        *behaviour_figures(games, "player", "opponent"),
    )
    bands = reliability([one for one, _ in pairs])
    models = models_of(games, ("player", "opponent", "referee"))
    hard = hardness(games, questions=questions, noise=noise)
    remarks = [
        *on_models(models),
        *precision_of_share("the share of games won", won),
        *_told_apart(score),
        *([] if hard is None else [hard.words()]),
        *_too_easy(pairs),
        *_on_confidence(bands),
        *_unmeasured(games, pairs),
        *(f"The player: {each}" for each in complaints_of(games, "player")),
        *(f"The referee: {each}" for each in complaints_of(games, "referee", 2)),
    ]
    return EvaluationReport(
        games=len(games),
        aborted=len(games) - count,
        figures=figures,
        remarks=tuple(remarks),
        models=models,
        latencies=latencies_of(games, "player"),
        reliability=bands,
        hardness=hard,
    )


def _means(
    pairs: Sequence[Pair],
    key: str,
    label: str,
    unit: Unit,
    value: Callable[[PlayerSide], float | None],
    *,
    least: float = -math.inf,
) -> Figure:
    known = [(a, b) for one, two in pairs if (a := value(one)) is not None and (b := value(two)) is not None]
    return Figure(
        key=key,
        label=label,
        unit=unit,
        own=mean_of([one for one, _ in known], unit, least=least),
        other=mean_of([two for _, two in known], unit, least=least),
        difference=mean_difference([one - two for one, two in known], unit),
        note="" if known else "not measured",
    )


def _shares(pairs: Sequence[Pair], key: str, label: str, value: Callable[[PlayerSide], bool | None]) -> Figure:
    known = [(a, b) for one, two in pairs if (a := value(one)) is not None and (b := value(two)) is not None]
    return Figure(
        key=key,
        label=label,
        unit=Unit.SHARE,
        own=wilson(sum(one for one, _ in known), len(known)),
        other=wilson(sum(two for _, two in known), len(known)),
        difference=paired_shares(known),
        note="" if known else "not measured",
    )


def _gained_of_possible(pairs: Sequence[Pair]) -> Figure:
    found = []
    for place in (0, 1):
        sides = [pair[place] for pair in pairs]
        found.append(
            ratio(
                [
                    (side.bits_gained, side.bits_possible)
                    for side in sides
                    if side.bits_gained is not None and side.bits_possible is not None
                ]
            )
        )
    return Figure(
        key="bits_share",
        label="Gained of possible",
        unit=Unit.SHARE,
        own=found[0],
        other=found[1],
        note="" if found[0] else "not measured",
    )


def _told_apart(score: Figure) -> list[str]:
    """Describe whether the difference is significant, and how many games would show it."""
    gap = score.difference
    if gap is not None and gap.deviation == 0 and gap.value == 0:
        return ["On the same targets the two have the same private scores in every game."]
    if gap is None or gap.low is None or gap.high is None or gap.deviation is None:
        return []
    if gap.low > 0:
        return ["The player scores better than the opponent on the same targets."]
    if gap.high < 0:
        return ["The player scores worse than the opponent on the same targets."]
    needed = games_for_mean(gap.deviation, 100 * TOLD_APART)
    said = "On the same targets the two are not told apart"
    if gap.count >= needed:
        return [f"{said}: whatever the difference of their scores is, it is small."]
    return [f"{said}; to know the difference of their scores to ±{100 * TOLD_APART:.0f} takes about {needed:,} games."]


def _on_confidence(bands: Sequence[ConfidenceBand]) -> list[str]:
    error = calibration_error(bands)
    if error is None:
        return []
    return [f"The stated confidence differs from the share of right sentences by {100 * error:.1f} points on average."]


_EASY = 0.98
_EASY_GAMES = "Both players find nearly everything: these games are too easy to tell players apart"


def _too_easy(pairs: Sequence[Pair]) -> list[str]:
    found = [side.sentence_right and side.word_right for pair in pairs for side in pair]
    if len(pairs) < 2 or sum(map(bool, found)) < _EASY * len(found):
        return []
    return [f"{_EASY_GAMES}; add longer books or more noise."]


def _unmeasured(games: Sequence[PlayerGame], pairs: Sequence[Pair]) -> list[str]:
    remarks = []
    if len(games) > len(pairs):
        remarks.append(f"{_games(len(games) - len(pairs))} ended before the first question: the referee failed.")
    silent = sum(one.sentence_right is None for one, _ in pairs)
    if silent:
        remarks.append(f"In {_games(silent)} the referee kept the target to itself, so only its scores are known.")
    unpooled = sum(one.bits_possible is None for one, _ in pairs) - silent
    if unpooled:
        remarks.append(f"In {_games(unpooled)} the target is none of the known ones, so bits are not measured.")
    return remarks


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count:,} games"
