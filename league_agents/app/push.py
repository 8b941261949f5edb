"""Wakes roles when Gmail says that their inbox has changed.

Rule 1: one thread for each subscription, which may serve any number of mailboxes.
Rule 2: trouble of a subscription is said once, and the roles poll as they do without it until it works again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

from league_agents.config.league_settings import LeagueSettings, PushSettings, RoleSettings
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.printable import printable
from league_agents.league.wire.address import address_key
from league_agents.mail.gmail.subscription import Subscription, refuse_missing_library
from league_agents.runner.pace import Backoff
from league_agents.runner.wakeup import Wakeup

LONGEST_REASON = 240
SHORTEST_PULL = timedelta(seconds=1)
"""After an empty answer that came sooner the next one is awaited so long."""

FAREWELL = timedelta(seconds=0.5)
"""How long the end waits for a pull; one that takes longer ends with the process."""


def refuse_missing_push(settings: LeagueSettings) -> None:
    """Raises ``ConfigError`` if the league file wants notifications and the extra ``push`` is missing."""
    if settings.gmail.push is not None:
        refuse_missing_library(f"{settings.path}.gmail.push")


class PushListener:
    """The subscriptions of one process. ``close`` it."""

    def __init__(self, tell: Callable[[str, bool], object], *, clock: Clock | None = None) -> None:
        """``tell`` is called with one line when a subscription begins to fail (``True``) and when it works again."""
        self._tell = tell
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._channels: dict[PushSettings, _Channel] = {}

    def begin(self, settings: LeagueSettings, role: RoleSettings, wakeup: Wakeup) -> None:
        """Wake a role from now on, if its league file says so."""
        push = settings.gmail.push
        if push is None:
            return
        with self._lock:
            channel = self._channels.get(push)
            if channel is None:
                channel = self._channels[push] = _Channel(push, self._tell, self._clock)
            channel.add(role.identity, wakeup)

    def end(self, role: RoleSettings) -> None:
        """Wake a role no longer."""
        with self._lock:
            for channel in self._channels.values():
                channel.remove(role.identity)

    def close(self) -> None:
        """End all threads after what they are waiting for."""
        with self._lock:
            channels, self._channels = list(self._channels.values()), {}
        for channel in channels:
            channel.ending.set()
        for channel in channels:
            channel.join(FAREWELL)


class _Channel:
    """One subscription, its thread and the roles that it wakes."""

    def __init__(self, push: PushSettings, tell: Callable[[str, bool], object], clock: Clock) -> None:
        self._push = push
        self._tell = tell
        self._clock = clock
        self._lock = threading.Lock()
        self._wakeups: dict[tuple[str, str], Wakeup] = {}
        self._thread: threading.Thread | None = None
        self._backoff = Backoff()
        self.ending = threading.Event()

    def add(self, identity: tuple[str, str], wakeup: Wakeup) -> None:
        wakeup.hears_of_mail = lambda: not self._backoff.is_failing
        with self._lock:
            self._wakeups[identity] = wakeup
            if self._thread is None:
                name = f"push {self._push.subscription}"
                self._thread = threading.Thread(target=self._listen, name=name, daemon=True)
                self._thread.start()

    def remove(self, identity: tuple[str, str]) -> None:
        with self._lock:
            self._wakeups.pop(identity, None)

    def join(self, patience: timedelta) -> None:
        thread = self._thread
        if thread is not None:
            thread.join(patience.total_seconds())

    def _listen(self) -> None:
        subscription: Subscription | None = None
        while not self._is_over():
            began_s = self._clock.monotonic_s()
            try:
                if subscription is None:
                    push = self._push
                    subscription = Subscription(push.subscription, endpoint=push.endpoint, credentials=push.credentials)
                count = subscription.pull(self._ring)
            except Exception as error:
                # The edge of the thread: the library has errors of four families, and polling goes on after each.
                self._clock.wait(self.ending, self._failed(error))
                continue
            self._worked()
            took = timedelta(seconds=self._clock.monotonic_s() - began_s)
            if not count and took < SHORTEST_PULL:
                self._clock.wait(self.ending, SHORTEST_PULL - took)
        if subscription is not None:
            subscription.close()

    def _is_over(self) -> bool:
        with self._lock:
            if self._wakeups and not self.ending.is_set():
                return False
            self._thread = None
            return True

    def _ring(self, address: str) -> None:
        key = address_key(address)
        for (_, mailbox), wakeup in self._woken():
            if mailbox == key:
                wakeup.ring()

    def _woken(self) -> list[tuple[tuple[str, str], Wakeup]]:
        with self._lock:
            return list(self._wakeups.items())

    def _failed(self, error: Exception) -> timedelta:
        """Count a failure. Return how long to wait."""
        was_failing = self._backoff.is_failing
        pause = self._backoff.failed(error, self._clock.now())
        if was_failing or self.ending.is_set():
            return pause
        why = printable(str(error) or type(error).__name__, LONGEST_REASON)
        self._tell(f"{self._push.subscription} cannot be read: {why}; new mail is found by polling", True)
        for _, wakeup in self._woken():
            wakeup.ring()  # a rest that counted on being woken may be long
        return pause

    def _worked(self) -> None:
        was_failing = self._backoff.is_failing
        self._backoff.succeeded()
        if was_failing and not self.ending.is_set():
            self._tell(f"{self._push.subscription} can be read again", False)
            for _, wakeup in self._woken():
                wakeup.ring()  # what was published meanwhile may have been lost
