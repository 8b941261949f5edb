"""The time: the only module that reads the clocks of the operating system (``tests/unit/test_architecture.py``).

Rule 1: only edges hold a clock. Machines receive instants; tests and offline games hand in a ``ManualClock``.
Rule 2: an instant comes from ``now``, a wait from ``monotonic_s``. The wall clock of a machine may be wrong and may be
set at any moment, so a difference between two of its readings is no duration.
Rule 3: a process whose environment names a file in ``LEAGUE_TEST_CLOCK`` takes both readings from that file. It is for
tests only (``league_agents.local_league.machine_clock`` writes it).
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

TEST_CLOCK_VARIABLE = "LEAGUE_TEST_CLOCK"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LOOK_EVERY_S = 0.005
"""Real seconds between two polls of a test clock by a waiting thread."""


class Clock(Protocol):
    """The interface through which edges read the time and wait."""

    def now(self) -> datetime:
        """The present instant, in UTC."""
        ...

    def monotonic_s(self) -> float:
        """Seconds since an arbitrary moment. Never decreases, even if ``now`` is set back."""
        ...

    def sleep(self, duration: timedelta) -> None:
        """Block for ``duration``."""
        ...

    def wait(self, event: threading.Event, duration: timedelta) -> bool:
        """Block for ``duration``, or until ``event`` is set. Return whether it is set."""
        ...


class SystemClock:
    """The clocks of the operating system, or the test clocks that replace them."""

    def now(self) -> datetime:
        return utc_now()

    def monotonic_s(self) -> float:
        return monotonic_s()

    def sleep(self, duration: timedelta) -> None:
        sleep_s(duration.total_seconds())

    def wait(self, event: threading.Event, duration: timedelta) -> bool:
        if _CONTROL is None:
            return event.wait(max(0.0, duration.total_seconds()))
        return wait_by_looking(self, event, duration)


class ManualClock:
    """A clock that moves only by calls of its methods."""

    def __init__(self, start: datetime) -> None:
        if start.tzinfo is None:
            raise ValueError("a clock needs an instant with a time zone")
        self._now = start

    def now(self) -> datetime:
        return self._now

    def monotonic_s(self) -> float:
        return (self._now - _EPOCH).total_seconds()

    def sleep(self, duration: timedelta) -> None:
        self.advance_to(self._now + duration)

    def wait(self, event: threading.Event, duration: timedelta) -> bool:
        if not event.is_set():
            self.sleep(duration)
        return event.is_set()

    def advance_to(self, instant: datetime) -> None:
        """Move forward to ``instant``; an instant in the past changes nothing."""
        self._now = max(self._now, instant)


def wait_by_looking(clock: Clock, event: threading.Event, duration: timedelta) -> bool:
    """Implement ``Clock.wait`` by polling, for a clock that another thread or process moves."""
    ends_at_s = clock.monotonic_s() + duration.total_seconds()
    while not event.is_set() and clock.monotonic_s() < ends_at_s:
        event.wait(_LOOK_EVERY_S)
    return event.is_set()


def utc_now() -> datetime:
    """The wall clock, in UTC, for callers that need an instant and hold no clock."""
    if _CONTROL is None:
        return datetime.now(UTC)
    monotonic, wall = _CONTROL.reading()
    return _EPOCH + timedelta(seconds=monotonic + wall)


def monotonic_s() -> float:
    """Seconds of a monotonic clock, including time in which the machine was suspended if the system counts it."""
    return real_monotonic_s() if _CONTROL is None else _CONTROL.reading()[0]


def sleep_s(seconds: float) -> None:
    """Block for ``seconds``."""
    if _CONTROL is None:
        time.sleep(max(0.0, seconds))
    else:
        SystemClock().wait(threading.Event(), timedelta(seconds=seconds))


# CLOCK_MONOTONIC stands still while a Linux machine is suspended; on macOS it is ``time.monotonic`` that does.
_COUNTING = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


def real_monotonic_s() -> float:
    """``monotonic_s`` of the operating system, also when a test clock is in use."""
    return time.monotonic() if _COUNTING is None else time.clock_gettime(_COUNTING)


class _Control:
    """The clock file of a test: four numbers, replaced as a whole whenever the test changes them.

    ``real_s monotonic_s rate wall_s``: when the machine's own monotonic clock showed ``real_s``, the process's clock
    showed ``monotonic_s``. It runs at ``rate``. The wall clock, in seconds since 1970, is ``wall_s`` ahead of it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._numbers = (0.0, 0.0, 1.0, 0.0)
        self._latest_s = 0.0

    def reading(self) -> tuple[float, float]:
        """The monotonic clock in seconds, and how many seconds the wall clock is ahead of it."""
        found = self._path.stat()
        stamp = found.st_mtime_ns, found.st_ino
        if stamp != self._stamp:
            real, monotonic, rate, wall = map(float, self._path.read_text("ascii").split())
            self._numbers, self._stamp = (real, monotonic, rate, wall), stamp
        real, monotonic, rate, wall = self._numbers
        # The rate may have changed before this process read it, and the clock must not go back.
        self._latest_s = max(self._latest_s, monotonic + (real_monotonic_s() - real) * rate)
        return self._latest_s, wall


_CONTROL = _Control(Path(os.environ[TEST_CLOCK_VARIABLE])) if os.environ.get(TEST_CLOCK_VARIABLE) else None


@contextmanager
def follow(path: Path) -> Iterator[None]:
    """Read the time from a test's clock file inside the ``with`` block."""
    global _CONTROL
    before, _CONTROL = _CONTROL, _Control(path)
    try:
        yield
    finally:
        _CONTROL = before
