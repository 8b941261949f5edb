"""Run several roles in one process, on a simulated clock and with mail in memory.

Rule: this module makes no decision about the game. It wakes the roles in a fixed order, advances simulated time while
they work and jumps to the next deadline or delivery when all of them rest, so that the same seed gives the same
instants and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import LimitExceeded, MailError
from league_agents.runner.role import RoleRunner

PASS = timedelta(seconds=1)
"""Simulated time of one pass over all roles: about the time of a fast poll."""

REST = timedelta(minutes=1)
"""Pause after a failure of a mailbox that gave no time to wait."""


class Post(Protocol):
    """The delivery times of the simulated mail."""

    def next_arrival(self) -> datetime | None:
        """The arrival of the next mail in transit; ``None`` if there is none."""
        ...


class Simulation:
    """Roles that play against each other until everything has ended."""

    def __init__(
        self,
        roles: Sequence[RoleRunner[Any]],
        post: Post,
        clock: ManualClock,
        *,
        longest: timedelta = timedelta(days=400),
    ) -> None:
        """``longest`` is the simulated time after which the simulation is aborted."""
        self._roles = roles
        self._post = post
        self._clock = clock
        self._longest = longest
        self._started_at = clock.now()
        self._resting: dict[RoleRunner[Any], datetime] = {}
        """Roles whose mailbox failed -> the instant of the next attempt."""

    def start(self) -> None:
        """Start every role. Must be called once, before ``run``."""
        for role in self._roles:
            role.start()

    def run(self, is_over: Callable[[], bool]) -> None:
        """Play until ``is_over()`` and the roles have finished their pending work, or until no role has anything to do.

        Raises ``LimitExceeded`` if simulated time runs out.
        """
        while not is_over():
            if not self._pass() and not self._jump():
                return
        while self._pass():
            pass

    def tick(self) -> bool:
        """Wake every role once, without moving the clock. Return whether any of them had work."""
        busy = False
        for role in self._roles:
            busy = self._tick(role) or busy
        return busy

    def _pass(self) -> bool:
        busy = self.tick()
        if busy:
            self._move_to(self._clock.now() + PASS)
        return busy

    def _tick(self, role: RoleRunner[Any]) -> bool:
        rests_until = self._resting.get(role)
        if rests_until is not None and self._clock.now() < rests_until:
            return False
        try:
            return role.tick()
        except MailError as error:
            wait = getattr(error, "retry_after", None) or REST
            self._resting[role] = self._clock.now() + max(wait, PASS)
            return False

    def _jump(self) -> bool:
        """Move the clock to the next instant at which work is due. Return ``False`` if there is none."""
        wake = self.next_wake()
        if wake is None:
            return False
        # A wake in the past means that the role could not act at that instant: try again later.
        self._move_to(max(wake, self._clock.now() + PASS))
        return True

    def _move_to(self, instant: datetime) -> None:
        elapsed = instant - self._started_at
        if elapsed > self._longest:
            raise LimitExceeded(
                "simulated time in hours", elapsed / timedelta(hours=1), self._longest / timedelta(hours=1)
            )
        self._clock.advance_to(instant)

    def next_wake(self) -> datetime | None:
        """The earliest instant at which work becomes due; ``None`` if there is none."""
        now = self._clock.now()
        wakes = [role.next_wake() for role in self._roles]
        rests = [until for until in self._resting.values() if until > now]
        return min((at for at in (*wakes, *rests, self._post.next_arrival()) if at is not None), default=None)
