"""Several roles in one process, on a clock that is set by hand and mail that stays in memory.

Rule: nothing here decides anything about the game. It wakes the roles in a fixed order, lets simulated time pass
while they work and jumps to the next deadline or delivery when all of them rest, so the same seed gives the same
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
"""How long one pass over all roles takes in simulated time: about what a fast poll takes."""

REST = timedelta(minutes=1)
"""How long a mailbox is left alone that could not be reached and did not say for how long."""


class Post(Protocol):
    """What carries the mail, as far as time is concerned."""

    def next_arrival(self) -> datetime | None:
        """When the next mail arrives that is still on its way."""
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
        """``longest``: simulated time after which the simulation is given up, so that nothing runs for ever."""
        self._roles = roles
        self._post = post
        self._clock = clock
        self._longest = longest
        self._started_at = clock.now()
        self._resting: dict[RoleRunner[Any], datetime] = {}
        """Roles whose mailbox could not be reached, and until when it is left alone."""

    def start(self) -> None:
        """Start every role. Once, before ``run``."""
        for role in self._roles:
            role.start()

    def run(self, is_over: Callable[[], bool]) -> None:
        """Play until ``is_over()``, then let the roles finish what they have in hand; or until nobody has anything
        left to do.

        Raises ``LimitExceeded`` when simulated time runs out.
        """
        while not is_over():
            if not self._pass() and not self._jump():
                return
        while self._pass():
            pass

    def _pass(self) -> bool:
        busy = False
        for role in self._roles:
            busy = self._tick(role) or busy
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
        """Move the clock to the next instant at which something happens. ``False`` when nothing ever will."""
        wake = self._next_wake()
        if wake is None:
            return False
        # A wake that is already over means that a role could not use it at that instant: give it a later one.
        self._move_to(max(wake, self._clock.now() + PASS))
        return True

    def _move_to(self, instant: datetime) -> None:
        elapsed = instant - self._started_at
        if elapsed > self._longest:
            raise LimitExceeded(
                "simulated time in hours", elapsed / timedelta(hours=1), self._longest / timedelta(hours=1)
            )
        self._clock.advance_to(instant)

    def _next_wake(self) -> datetime | None:
        now = self._clock.now()
        wakes = [role.next_wake() for role in self._roles]
        rests = [until for until in self._resting.values() if until > now]
        return min((at for at in (*wakes, *rests, self._post.next_arrival()) if at is not None), default=None)
