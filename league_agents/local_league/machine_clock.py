"""Clocks of other processes, controlled by a test.

    clock = MachineClock(folder)
    subprocess.Popen(command, env={**os.environ, **clock.environment("referee")})
    clock.advance(timedelta(minutes=5))                     # deadlines are due now, without sleeping
    clock.set_wall(timedelta(hours=-1), "referee")          # the referee's wall clock is an hour slow

Time passes at the real rate until a test sets another. It is the same for all processes, and for a ``Sandbox`` that
gets this clock; only the wall clocks differ.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from league_agents.kit.clock import TEST_CLOCK_VARIABLE, Clock, follow, real_monotonic_s, utc_now, wait_by_looking

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MachineClock:
    """A ``Clock``, and one file per process that reads its time from it. Thread-safe."""

    def __init__(self, folder: Path, *, rate: float = 1.0) -> None:
        """Write the clock files into ``folder``. ``rate``: see ``set_rate``."""
        self._folder = folder
        self._lock = threading.Lock()
        self._real_s = self._monotonic_s = real_monotonic_s()
        self._rate = rate
        self._right_s = (utc_now() - _EPOCH).total_seconds() - self._monotonic_s
        """Correct wall clock minus monotonic clock, in seconds."""

        self._walls: dict[str, timedelta] = {}
        """Offset of each process's wall clock from the correct time."""

    def environment(self, name: str) -> Mapping[str, str]:
        """Environment variables for a process. ``name`` names its clock file and its wall clock."""
        with self._lock:
            self._walls.setdefault(name, timedelta(0))
            self._write()
        return {TEST_CLOCK_VARIABLE: str(self._file(name))}

    @contextmanager
    def here(self) -> Iterator[None]:
        """Make this process use the clock too, for the duration of the ``with`` block."""
        path = self.environment("here")[TEST_CLOCK_VARIABLE]
        with follow(Path(path)):
            yield

    def advance(self, duration: timedelta) -> None:
        """Advance the time by ``duration`` at once."""
        with self._lock:
            self._turn(self._rate)
            self._monotonic_s += duration.total_seconds()
            self._write()

    def set_rate(self, rate: float) -> None:
        """Set the rate relative to real time; at 0 the time changes only through ``advance``."""
        with self._lock:
            self._turn(rate)
            self._write()

    def set_wall(self, off: timedelta, name: str) -> None:
        """Set the wall clock of a process to the correct time plus ``off``. Its monotonic clock is not affected."""
        with self._lock:
            self._walls[name] = off
            self._write()

    def of(self, name: str) -> Clock:
        """The clock as a process of this name sees it, for roles in the test's own process."""
        return _Seen(self, name)

    def wall(self, name: str) -> timedelta:
        """Offset set by ``set_wall``; zero by default."""
        with self._lock:
            return self._walls.get(name, timedelta(0))

    # -- Clock with the correct wall time --------------------------------------------------------------------------

    def now(self) -> datetime:
        return _EPOCH + timedelta(seconds=self.monotonic_s() + self._right_s)

    def monotonic_s(self) -> float:
        with self._lock:
            return self._monotonic_s + (real_monotonic_s() - self._real_s) * self._rate

    def sleep(self, duration: timedelta) -> None:
        self.wait(threading.Event(), duration)

    def wait(self, event: threading.Event, duration: timedelta) -> bool:
        return wait_by_looking(self, event, duration)

    # -- files ----------------------------------------------------------------------------------------------------

    def _turn(self, rate: float) -> None:
        real_s = real_monotonic_s()
        self._monotonic_s += (real_s - self._real_s) * self._rate
        self._real_s, self._rate = real_s, rate

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.clock"

    def _write(self) -> None:
        for name, off in self._walls.items():
            path = self._file(name)
            temporary = path.with_name(f".{path.name}.new")
            wall_s = self._right_s + off.total_seconds()
            temporary.write_text(f"{self._real_s!r} {self._monotonic_s!r} {self._rate!r} {wall_s!r}", "ascii")
            temporary.replace(path)


class _Seen:
    """The clocks of one process."""

    def __init__(self, machine: MachineClock, name: str) -> None:
        self._machine = machine
        self._name = name

    def now(self) -> datetime:
        return self._machine.now() + self._machine.wall(self._name)

    def monotonic_s(self) -> float:
        return self._machine.monotonic_s()

    def sleep(self, duration: timedelta) -> None:
        self._machine.sleep(duration)

    def wait(self, event: threading.Event, duration: timedelta) -> bool:
        return self._machine.wait(event, duration)
