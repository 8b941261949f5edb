"""What models may use in one period, and the port to whoever counts it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from league_agents.llm.port import Purpose
from league_agents.llm.prices import NANO


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """What calls use."""

    nano_usd: int | None = 0
    """Billionths of a dollar; ``None`` when the price is unknown."""

    tokens: int = 0
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """The most in one period. ``None`` is no limit."""

    usd: float | None = None
    tokens: int | None = None
    calls: int | None = None

    def amounts(self) -> tuple[int | None, int | None, int | None]:
        """In the order and the units of ``Amount``."""
        return (None if self.usd is None else round(self.usd * NANO), self.tokens, self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingLimits:
    """What the user allows."""

    per_game: Limit = field(default_factory=Limit)
    """What one agent may use in one game."""

    per_day: Limit = field(default_factory=Limit)
    """All agents together, by UTC."""

    per_season: Limit = field(default_factory=Limit)
    """All agents of one league together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """What one callback of a game may need."""

    amount: Amount
    """In all the times that it comes; ``calls`` says how often that is."""

    stage: int
    """Once a callback of a later stage has come, those of this one are over. A referee's answers and feedback are one
    stage: one player may be scored while the other one still asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What was set aside for one call."""

    row: int
    game: str
    place: int | None
    """Which callback's reserve it was taken from; ``None`` when from none."""

    taken: Amount
    """How much of it came from that reserve."""

    is_awaited: bool
    """Whether it is one of the calls that the plan counts, not a repetition of one."""


class Spending(Protocol):
    """The user's limits, and what is spent and set aside below them."""

    def hold(self, purpose: Purpose, most: Amount, *, league: str, scope: str, is_repeated: bool = False) -> Hold:
        """Set aside what a call can use at most. Raises ``OverBudget``, and ``ModelUnavailable`` when nothing can be
        written: then no limit could be kept.

        ``is_repeated`` says that the call asks once more for what one before should have brought.
        """
        ...

    def settle(self, hold: Hold, used: Amount) -> None:
        """Say what the call used; no call at all when the service was not reached. Raises ``JournalError``; then all
        that was set aside counts as used."""
        ...
