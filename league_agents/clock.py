"""The time, as something that is handed in.

Only edges hold a clock. Machines receive instants; tests and offline games hand in a ``ManualClock``.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What an edge may ask about time."""

    def now(self) -> datetime:
        """The present instant, in UTC."""
        ...

    def sleep(self, duration: timedelta) -> None:
        """Let ``duration`` pass."""
        ...


class SystemClock:
    """The clock of the operating system."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, duration: timedelta) -> None:
        time.sleep(max(0.0, duration.total_seconds()))


class ManualClock:
    """A clock that moves only when it is told to."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock needs an instant with a time zone")
        self._now = start

    def now(self) -> datetime:
        return self._now

    def sleep(self, duration: timedelta) -> None:
        self.advance_to(self._now + duration)

    def advance_to(self, instant: datetime) -> None:
        """Move forward to ``instant``; an instant in the past changes nothing."""
        self._now = max(self._now, instant)
