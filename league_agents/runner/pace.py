"""The polling intervals of a mailbox.

Rule 1: polls are frequent while a peer may be waiting, rare otherwise.
Rule 2: the pause after a failure grows with each failure and is at least as long as the service asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from league_agents.kit.errors import MailboxUnavailable, QuotaExhausted

FIRST_PAUSE = timedelta(seconds=1)
LONGEST_PAUSE = timedelta(seconds=64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """The pauses between two polls."""

    active: timedelta = timedelta(seconds=1.5)
    """Pause while a game is open, and for ``lively_for`` after any event. A poll costs 2 units: at 1.5 s that is 80 a
    minute, 1.3 % of the quota of a project of 2026."""

    idle: timedelta = timedelta(seconds=15)
    lively_for: timedelta = timedelta(minutes=1)
    """How long after an event the active pause is used."""

    shown_within: timedelta = timedelta(seconds=2)
    """How long the mail service may take to show an accepted mail. A deadline counts as passed only after that."""

    def pause(self, *, is_game_open: bool, quiet_for: timedelta, hears_of_mail: bool = False) -> timedelta:
        """Return how long to wait until the next poll. One who hears of new mail polls only to be safe."""
        if not hears_of_mail and (is_game_open or quiet_for < self.lively_for):
            return self.active
        return max(self.active, self.idle)


class Backoff:
    """The growing pause between attempts at a failing mailbox or another service."""

    def __init__(self) -> None:
        self._failures = 0

    @property
    def is_failing(self) -> bool:
        """Whether the last attempt failed."""
        return self._failures > 0

    def failed(self, error: Exception, now: datetime) -> timedelta:
        """Count a failure. Return how long to wait."""
        doublings: int = 2 ** min(self._failures, 10)
        self._failures += 1
        pause = min(FIRST_PAUSE * doublings, LONGEST_PAUSE)
        if isinstance(error, MailboxUnavailable) and error.retry_after is not None:
            pause = max(pause, error.retry_after)
        if isinstance(error, QuotaExhausted) and error.resets_at is not None:
            pause = max(pause, error.resets_at - now)
        return pause

    def succeeded(self) -> None:
        """Reset after an answer."""
        self._failures = 0
