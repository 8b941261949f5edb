"""The daemon's roles in one process and on one thread: turn by turn, so that a test decides what happens in between.

Rule: the roles are those of ``run --watch``, with their journals on disk and Gmail's API between them; only the
threads are missing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from league_agents.app.live import Live, live_roles
from league_agents.config.league_file import read_league_file
from league_agents.kit.clock import Clock, real_monotonic_s
from league_agents.kit.errors import LimitExceeded
from league_agents.kit.values import evolve
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.local_league.league import LeagueProcess, LocalLeague
from league_agents.local_league.machine_clock import MachineClock
from league_agents.local_league.patience import LIMIT_S
from league_agents.runner.pace import Pace
from league_agents.runner.role import Observer

QUIET_ROUNDS = 3
BRISK = Pace(active=timedelta(milliseconds=30), idle=timedelta(milliseconds=30), shown_within=timedelta(0))
"""On the machine's clock."""

STEPS = Pace(active=timedelta(milliseconds=500), idle=timedelta(milliseconds=500), shown_within=timedelta(0))
"""On a clock that moves on by one of them whenever everybody rests."""


def in_turns(folder: Path, seats: Sequence[LeagueProcess], **options: Any) -> LocalLeague:
    """A league whose clock stands still while anybody works."""
    chosen = {"registration": timedelta(seconds=2), **options}
    return LocalLeague(folder=folder, seats=seats, clock=_SteppingClock(folder), **chosen)


class _SteppingClock(MachineClock):
    """Stands still until somebody waits: on one thread nobody else could let time pass."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, rate=0)

    def wait(self, event: threading.Event, duration: timedelta) -> bool:
        if not event.is_set():
            self.advance(duration)
        return event.is_set()


@dataclass(slots=True)
class Turns:
    """Roles that take turns. Their order is that of the seats."""

    lives: Sequence[Live]
    time: MachineClock | None
    """Moves on by a poll whenever nobody has anything to do and no agent thinks; ``None`` if it moves by itself."""

    def once(self) -> bool:
        """A turn for each. Whether anybody had anything to do or an agent thinks."""
        rests = [live.role.turn() for live in self.lives]
        if not all(rests):
            return True
        if not any(live.role.is_started and live.role.wired.journal.pending_calls() for live in self.lives):
            if self.time is not None:
                self.time.advance(min(rests))
            return False
        for live in self.lives:
            # Whoever has an agent is woken by it; the others rest for a moment.
            live.wakeup.rest(timedelta(milliseconds=5))
        return True

    def until(self, condition: Callable[[], bool]) -> None:
        """Turns until something holds. Raises ``LimitExceeded``."""
        ends_at_s = real_monotonic_s() + LIMIT_S
        while not condition():
            self.once()
            if real_monotonic_s() > ends_at_s:
                raise LimitExceeded("seconds of turns", LIMIT_S, LIMIT_S)

    def until_quiet(self) -> None:
        """Turns until nobody has anything to do for a while."""
        quiet = 0

        def is_quiet() -> bool:
            nonlocal quiet
            quiet = 0 if self.once() else quiet + 1
            return quiet >= QUIET_ROUNDS

        self.until(is_quiet)

    def manager(self) -> ManagerState:
        """The league manager's state."""
        return next(live.role.state for live in self.lives if isinstance(live.role.state, ManagerState))

    def is_in(self, phase: SeasonPhase) -> bool:
        """Whether the season has come to this."""
        return any(
            isinstance(live.role.state, ManagerState) and live.role.state.season.phase is phase for live in self.lives
        )


@contextmanager
def turns(
    league: LocalLeague,
    seats: Sequence[LeagueProcess] | None = None,
    *,
    pace: Pace | None = None,
    clock: Clock | None = None,
    observer: Observer | None = None,
) -> Iterator[Turns]:
    """The roles of these seats, or of all. Leaving it is like the end of their processes.

    Each has the league's clock with the wall clock of its seat, unless ``clock`` is given.
    """
    with ExitStack() as stack:
        lives: list[Live] = []
        if pace is None:
            pace = BRISK if league.clock is None else STEPS
        for seat in league.seats if seats is None else seats:
            settings = evolve(read_league_file(league.config_of(seat), {}), pace=pace)
            own = league.clock.of(seat.name) if clock is None and league.clock is not None else clock
            lives += stack.enter_context(live_roles(settings, clock=own, observer=observer))
        yield Turns(lives, league.clock)
