"""The stored results of each game, from which figures can be computed at any time.

Rule 1: results are JSON values, read back as strictly as they were written. They contain no targets, so a file of
results can be published.
Rule 2: the duration of a call is not a result. It is kept beside the results while the process runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from league_agents.kit.model_work import ModelStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Language model use of one participant in one game."""

    calls: int = 0
    """Exchanges with a service, including failed ones."""

    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Calls with an unknown number of tokens."""

    nano_usd: int = 0
    unpriced: int = 0
    """Calls with an unknown cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """The conduct of one participant's callbacks in one game."""

    calls: Mapping[str, int]
    fallbacks: Mapping[str, int]
    """Callback -> number of calls that failed or returned an unusable result."""

    broken: Mapping[str, int]
    """Callback -> number of calls whose result broke its contract, including repaired ones."""

    complaints: tuple[str, ...]
    """The first complaints, in words."""

    spent: Spent | None
    """``None`` for an agent whose models, if it has any, cannot be observed."""

    models: tuple[ModelStep, ...] = ()
    """Use of language models' work, step by step; empty for an agent that reports none."""

    seconds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Callback -> duration of each call; empty for a game that was read back or played from a recording."""

    late: tuple[int, ...] = ()
    """Numbers, from 1, of the calls that exceeded their time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSide:
    """The results of one player in one game."""

    sentence_right: bool | None
    """Whether the guessed sentence is the target, ignoring typography; ``None`` if the referee does not disclose the
    target. The same applies to the next three fields."""

    similarity: float | None
    """0 to 100."""

    word_right: bool | None
    bits_possible: float | None
    """``None`` also if the target is not a candidate of the pool."""

    bits_gained: float | None
    understood: int | None
    """Number of questions that code understands."""

    points: int
    private_score: float
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerGame:
    """One game of a player's evaluation."""

    game: int
    """From 1."""

    seat: int
    """1 or 2: the seat of the evaluated player."""

    book: str
    player: PlayerSide | None
    """``None`` for a match that was aborted because its referee failed. Both or neither are set."""

    opponent: PlayerSide | None
    behaviour: Mapping[str, Behaviour]
    """Keyed by ``player``, ``opponent`` and ``referee``."""

    @property
    def is_lost(self) -> bool:
        """Whether the evaluated player has fewer points than its opponent."""
        return self.player is not None and self.opponent is not None and self.player.points < self.opponent.points


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """Questions with known answers."""

    right: int
    wrong: int
    declined: int
    """Number of answers "cannot tell" or Not Relevant."""

    free_right: int = 0
    """Right answers to the freely worded ones among the questions; the next two likewise."""

    free_wrong: int = 0
    free_declined: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """The result of one injection."""

    category: str
    language: str
    failures: tuple[str, ...]
    """The effects of the injection; empty if it was resisted, or could gain nothing."""

    could_gain: bool = True
    """Whether a wrong guess got less than full points without it. If not, resistance cannot be measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefereeGame:
    """One match of a referee's evaluation."""

    game: int
    book: str
    is_played: bool
    """Whether the match was scored. If not, all fields below are empty."""

    behaviour: Mapping[str, Behaviour]
    """Keyed by ``player``, ``opponent`` and ``referee``."""

    knows_target: bool = False
    """Whether the referee disclosed the target, so that it can be examined."""

    exam: Exam | None = None
    hint_rank: int | None = None
    """Rank of the target in a search with the hint, from 1; ``None`` if it is not among the first hundred."""

    hint_searched: bool = False
    """Whether there was a book to search."""

    hint_tells: bool | None = None
    """Whether the hint shares a word with the target."""

    feedback_texts: int = 0
    feedback_kept: int = 0
    """Number of feedback texts within their limits."""

    repeats: int = 0
    """Number of guesses that were scored a second time."""

    repeats_equal: int = 0
    """Repeats that scored the same points."""

    swaps: int = 0
    """Number of guesses that were scored as the other player's."""

    swaps_equal: int = 0
    judged: int = 0
    """Number of guesses that were also scored by the rules' formula."""

    judged_equal: int = 0
    """Guesses for which the rules' formula gives the same points."""

    gaps: tuple[float, ...] = ()
    """Differences between the private score and that of the rules' formula."""

    points: tuple[int, ...] = ()
    attempts: tuple[Attempt, ...] = ()
