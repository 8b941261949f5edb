"""A circuit breaker for one account: no calls for a while after repeated failures, or until the time Gmail gives."""

from __future__ import annotations

from datetime import timedelta

from league_agents.kit.clock import Clock
from league_agents.kit.errors import MailboxUnavailable

FAILURES_BEFORE_PAUSE = 3
FIRST_PAUSE = timedelta(seconds=2)
LONGEST_PAUSE = timedelta(seconds=64)


class Breaker:
    """Counts consecutive failures and forbids calls during the pauses."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures = 0
        self._closed_until_s: float | None = None
        """The end of the pause on the monotonic clock; ``None`` if there is none."""

    @property
    def failures(self) -> int:
        """Number of consecutive failures."""
        return self._failures

    def check(self) -> None:
        """Raises ``MailboxUnavailable`` during a pause."""
        if self._closed_until_s is None:
            return
        left = timedelta(seconds=self._closed_until_s - self._clock.monotonic_s())
        if left > timedelta(0):
            why = f"Gmail is left alone for {left.total_seconds():.0f} s, after {self._failures} failures in a row"
            raise MailboxUnavailable(why, retry_after=left)
        self._closed_until_s = None

    def failed(self, wait: timedelta | None) -> None:
        """Record a temporary failure. ``wait`` is the time that Gmail gave; ``None`` if it gave none."""
        self._failures += 1
        pause = wait or timedelta(0)
        if self._failures >= FAILURES_BEFORE_PAUSE:
            doublings: int = 2 ** min(self._failures - FAILURES_BEFORE_PAUSE, 10)
            pause = max(pause, min(FIRST_PAUSE * doublings, LONGEST_PAUSE))
        if pause:
            self._closed_until_s = self._clock.monotonic_s() + pause.total_seconds()

    def succeeded(self) -> None:
        """Record an answer of Gmail."""
        self._failures = 0
        self._closed_until_s = None
