"""What is kept of each game, so that figures can be made of it at any time.

Rule 1: values that JSON can hold, read back as strictly as they were written. Nobody's target is in them: a file of
results can be shown around.
Rule 2: how long a call took is no result. It is kept beside the results for as long as the process runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from league_agents.kit.model_work import ModelStep


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What language models used for one participant in one game."""

    calls: int = 0
    """Exchanges with a service, failed ones too."""

    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    """Calls of which nobody knows the tokens."""

    nano_usd: int = 0
    unpriced: int = 0
    """Calls of which nobody knows the cost."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """How one participant's callbacks went in one game."""

    calls: Mapping[str, int]
    fallbacks: Mapping[str, int]
    """Calls by callback that failed or returned what cannot be used."""

    broken: Mapping[str, int]
    """Calls by callback whose result broke its contract, repaired ones too."""

    complaints: tuple[str, ...]
    """The first of them, in words."""

    spent: Spent | None
    """``None`` for an agent whose models, if it has any, are not seen from here."""

    models: tuple[ModelStep, ...] = ()
    """What became of language models' work, step by step; empty for an agent that tells of none."""

    seconds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """How long each call took, by callback; empty for a game that was read back or played from a recording."""

    late: tuple[int, ...] = ()
    """Which calls, counted from 1, were out of time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerSide:
    """How one player did in one game."""

    sentence_right: bool | None
    """Whether the guessed sentence is the target when typography is taken away; ``None`` where the referee keeps the
    target to itself. The next three likewise."""

    similarity: float | None
    """0 to 100."""

    word_right: bool | None
    bits_possible: float | None
    """``None`` where the target is no candidate of the pool, too."""

    bits_gained: float | None
    understood: int | None
    """Questions that code understands."""

    points: int
    private_score: float
    confidence: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayerGame:
    """One game of an evaluation of a player."""

    game: int
    """From 1."""

    seat: int
    """1 or 2: where the evaluated player sat."""

    book: str
    player: PlayerSide | None
    """``None`` for a match that was aborted because its referee failed. Both or neither."""

    opponent: PlayerSide | None
    behaviour: Mapping[str, Behaviour]
    """Of ``player``, ``opponent`` and ``referee``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exam:
    """Questions whose answers are known."""

    right: int
    wrong: int
    declined: int
    """Answered with the option that cannot tell, or Not Relevant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One injection."""

    category: str
    language: str
    failures: tuple[str, ...]
    """What it achieved; empty when it was resisted, or could gain nothing."""

    could_gain: bool = True
    """Whether a wrong guess got less than full points without it. Otherwise nobody knows whether it was resisted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefereeGame:
    """One match of an evaluation of a referee."""

    game: int
    book: str
    is_played: bool
    """Whether it came to scores. Everything below is empty otherwise."""

    behaviour: Mapping[str, Behaviour]
    """Of ``referee`` and ``player`` (both players together count as one there)."""

    knows_target: bool = False
    """Whether it handed the target in, so that it can be examined."""

    exam: Exam | None = None
    hint_rank: int | None = None
    """At which place a search with the hint finds the target, from 1; ``None``: not among the first hundred."""

    hint_searched: bool = False
    """Whether there was a book to search."""

    hint_tells: bool | None = None
    """Whether the hint shares a word with the target."""

    feedback_texts: int = 0
    feedback_kept: int = 0
    """Feedback texts within their limits."""

    repeats: int = 0
    """Guesses that were scored a second time."""

    repeats_equal: int = 0
    """Those of them with the same points."""

    swaps: int = 0
    """Guesses that were scored as the other player's."""

    swaps_equal: int = 0
    judged: int = 0
    """Guesses that were also scored as the rules count."""

    judged_equal: int = 0
    """Those of them with the same points."""

    gaps: tuple[float, ...] = ()
    """How far the private score is from the one that the rules count."""

    points: tuple[int, ...] = ()
    attempts: tuple[Attempt, ...] = ()
