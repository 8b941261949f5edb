"""Limits of model use per period, and the port to the budget that counts it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from league_agents.llm.port import Purpose
from league_agents.llm.prices import NANO

LONGEST_CHAIN = 5
"""Models that one callback asks at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """An amount of model use."""

    nano_usd: int | None = 0
    """Billionths of a dollar; ``None`` if the price is unknown."""

    tokens: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The limits of one period. ``None`` is no limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def amounts(self) -> tuple[int | None, int | None, int | None]:
        """Return the limits in the order and the units of ``Amount``."""
        return (None if self.usd is None else round(self.usd * NANO), self.tokens, self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingLimits:
    """The limits set by the user."""

    per_game: Limit = field(default_factory=Limit)
    """Limit of one agent in one game."""

    per_day: Limit = field(default_factory=Limit)
    """Limit of all agents together in one UTC day."""

    per_season: Limit = field(default_factory=Limit)
    """Limit of all agents of one league together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The possible needs of one callback of a game."""

    amount: Amount
    """For all occurrences of the callback in a game; ``calls`` is their number."""

    stage: int
    """When a callback of a later stage has come, those of this one are over. A referee's answers and feedback share a
    stage: one player may be scored while the other one still asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The amount reserved for one call."""

    row: int
    game: str
    place: int | None
    """The callback whose reserve was used; ``None`` if none was."""

    taken: Amount
    """The part that came from that reserve."""

    is_awaited: bool
    """Whether the plan counts this call, as opposed to a repetition."""


class Spending(Protocol):
    """The user's limits, and the amounts spent and reserved under them."""

    def hold(self, purpose: Purpose, most: Amount, *, league: str, scope: str, is_repeated: bool = False) -> Hold:
        """Reserve the most that a call can use. Raises ``OverBudget``, and ``ModelUnavailable`` if it is not written,
        because then no limit could be kept.

        ``is_repeated`` marks a call that repeats an earlier, unsuccessful one.
        """
        ...

    def settle(self, hold: Hold, used: Amount) -> None:
        """Record the call's use; zero calls if the service was not reached. Raises ``JournalError``; then the whole
        reserve counts as used."""
        ...
