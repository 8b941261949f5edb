"""``python -m tests.support.crash_process POINT FILE…``: all roles of a league in one process, which ends by
SIGKILL at a point.

The roles are those of the daemon, on Gmail's API and journals on disk; they only take turns instead of having threads,
so that a point means the same in each run. A point is a journal's write or a call to Gmail, before and after it.
POINT 0 lets the season end.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from league_agents.app.live import Live, live_roles
from league_agents.config.league_file import read_league_file
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import SystemClock, real_monotonic_s, sleep_s
from league_agents.kit.values import evolve
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.local_league.patience import LIMIT_S
from league_agents.mail.gmail.transport import Transport
from league_agents.runner.pace import Pace
from tests.support.crash import WRITES

QUIET_TURNS = 4
"""So many rounds of turns without anything to do, after the season's end, and nobody has anything left."""


def main() -> None:
    """Play until the point or the end. The last line on stdout is the number of points."""
    fatal = int(sys.argv[1])
    count = _count_points(fatal)
    with ExitStack() as stack:
        roles: list[Live] = []
        clock: _LeapingClock | None = None
        for path in sys.argv[2:]:
            settings = read_league_file(Path(path), {})
            clock = clock or _LeapingClock(settings.gmail.endpoint)
            pace = Pace(active=timedelta(seconds=10), idle=timedelta(seconds=10))
            # Nobody sleeps here, so a minute's units are soon spent; waiting for them would prove nothing.
            gmail = evolve(settings.gmail, limits=evolve(settings.gmail.limits, units_per_minute=10**9))
            roles += stack.enter_context(live_roles(evolve(settings, pace=pace, gmail=gmail), clock=clock))
        assert clock is not None, "there are league files"
        _play(roles, clock)
        print(count(), flush=True)


class _LeapingClock(SystemClock):
    """The machine's clock, which leaps over the time in which nobody has anything to do, and the sandbox's with it."""

    def __init__(self, endpoint: str) -> None:
        self._desk = f"{endpoint}/sandbox/clock"
        told = self._ask(None)
        self._ahead = datetime.fromisoformat(told["now"]) - super().now()

    def now(self) -> datetime:
        return super().now() + self._ahead

    def monotonic_s(self) -> float:
        return super().monotonic_s() + self._ahead.total_seconds()

    def leap(self, duration: timedelta) -> None:
        """Let ``duration`` pass at once."""
        self._ask({"advance_s": duration.total_seconds()})
        self._ahead += duration

    def _ask(self, document: dict[str, float] | None) -> dict[str, str]:
        request = urllib.request.Request(
            self._desk,
            data=None if document is None else json.dumps(document).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:
            told: dict[str, str] = json.load(reply)
        return told


def _play(roles: list[Live], clock: _LeapingClock) -> None:
    ends_at = real_monotonic_s() + LIMIT_S
    quiet = 0
    while quiet < QUIET_TURNS:
        if real_monotonic_s() > ends_at:
            sys.exit("the season did not end in time")
        rests = [live.role.turn() for live in roles]
        if not all(rests):
            quiet = 0
            continue
        journals = [live.role.wired.journal for live in roles]
        if any(journal.pending_calls() for journal in journals):
            # Agents take real time.
            sleep_s(0.001)
            continue
        is_over = any(
            isinstance(live.role.state, ManagerState) and live.role.state.season.phase is SeasonPhase.FINISHED
            for live in roles
        )
        quiet = quiet + 1 if is_over and not any(journal.sends_in_doubt() for journal in journals) else 0
        clock.leap(min(rests))


def _count_points(fatal: int) -> Callable[[], int]:
    points = 0

    def point() -> None:
        nonlocal points
        points += 1
        if points == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            point()
            result = method(*arguments, **named)
            point()
            return result

        return call

    for name in WRITES:
        setattr(SqliteJournal, name, around(getattr(SqliteJournal, name)))
    setattr(Transport, "call", around(Transport.call))  # noqa: B010 - mypy forbids to assign to a method
    return lambda: points


if __name__ == "__main__":
    main()
