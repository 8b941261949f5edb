"""How often a mailbox is looked into.

Rule 1: often while somebody may be waiting for us, seldom otherwise.
Rule 2: a mailbox that fails is left alone for longer each time, and at least for as long as it asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from league_agents.kit.errors import MailboxUnavailable, MailError, QuotaExhausted

FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The pauses between two looks."""

    active: timedelta = timedelta(seconds=1.5)
    """While a game is open, and for a while after anything happened. A look costs 2 units: at 1.5 s that is 80 a
    minute, 1.3 % of what a project of 2026 has."""

    idle: timedelta = timedelta(seconds=15)
    lively_for: timedelta = timedelta(minutes=1)
    """How long after anything happened the next thing is expected at once."""

    shown_within: timedelta = timedelta(seconds=2)
    """How long the mail service may take to show a mail that it has taken: only then is a deadline over."""

    def pause(self, *, is_game_open: bool, quiet_for: timedelta) -> timedelta:
        """How long to wait until the next look."""
        if is_game_open or quiet_for < self.lively_for:
            return self.active
        return max(self.active, self.idle)


class Backoff:
    """How long a failing mailbox is left alone."""

    def __init__(self) -> None:
        self._failures = 0

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt failed."""
        return self._failures > 0

    def failed(self, error: MailError, now: datetime) -> timedelta:
        """One more failure: how long to wait."""
        doublings: int = 2 ** min(self._failures, 10)
        self._failures += 1
        pause = min(FIRST_PAUSE * doublings, LONGEST_PAUSE)
        if isinstance(error, MailboxUnavailable) and error.retry_after is not None:
            pause = max(pause, error.retry_after)
        if isinstance(error, QuotaExhausted) and error.resets_at is not None:
            pause = max(pause, error.resets_at - now)
        return pause

    def succeeded(self) -> None:
        """The mailbox answered."""
        self._failures = 0
