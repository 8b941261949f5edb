"""One account's patience: when Gmail fails again and again, or says when to come back, nobody asks before that."""

from __future__ import annotations

from datetime import timedelta

from league_agents.kit.clock import Clock
from league_agents.kit.errors import MailboxUnavailable

FAILURES_BEFORE_PAUSE = 3
FIRST_PAUSE = timedelta(seconds=2)
LONGEST_PAUSE = timedelta(seconds=64)


class Breaker:
    """Counts failures in a row."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._closed_until_s: float | None = None
        """On the monotonic clock."""

    @property
    def failures(self) -> int:
        """In a row, until now."""
        return self._failures

    def check(self) -> None:
        """Raises ``MailboxUnavailable`` while the account is left alone."""
        if self._closed_until_s is None:
            return
        left = timedelta(seconds=self._closed_until_s - self._clock.monotonic_s())
        if left > timedelta(0):
            why = f"Gmail is left alone for {left.total_seconds():.0f} s, after {self._failures} failures in a row"
            raise MailboxUnavailable(why, retry_after=left)
        self._closed_until_s = None

    def failed(self, wait: timedelta | None) -> None:
        """A call failed in a way that may pass. ``wait`` is what Gmail said."""
        self._failures += 1
        pause = wait or timedelta(0)
        if self._failures >= FAILURES_BEFORE_PAUSE:
            doublings: int = 2 ** min(self._failures - FAILURES_BEFORE_PAUSE, 10)
            pause = max(pause, min(FIRST_PAUSE * doublings, LONGEST_PAUSE))
        if pause:
            self._closed_until_s = self._clock.monotonic_s() + pause.total_seconds()

    def succeeded(self) -> None:
        """Gmail answered."""
        self._failures = 0
        self._closed_until_s = None
