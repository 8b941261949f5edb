"""Turns of any number of roles on a few threads.

Rule 1: a role whose turn is due waits at the end of a queue, also if it has just had one. So each gets as many turns as
any other, however much mail one of them has.
Rule 2: roles that are in trouble or were slow have a queue of their own, and most threads are never theirs: mailboxes
that hang leave threads for the others. A role is known to be slow when its first slow turn has ended; until then
another thread stands in for the one that it holds.
Rule 3: no step but the end grows with the number of roles: the times at which turns become due are in a heap.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections import deque
from collections.abc import Callable
from datetime import timedelta

from league_agents.kit.clock import monotonic_s
from league_agents.runner.live import LiveRole
from league_agents.runner.wakeup import Wakeup

THREADS = 32
"""Most threads. A turn mostly waits for the network, and roles without work need none."""

SLOW_SHARE = 4
"""One thread of so many may serve slow roles, and at least one."""

STAND_INS = 256
"""Most threads that stand in for those whose turns take long."""

SLOW_TURN_S = 2.0
"""Seconds after which a turn makes its role a slow one until its next turn."""


class Resident:
    """A role that takes turns."""

    def __init__(self, role: LiveRole, wakeup: Wakeup) -> None:
        self.role = role
        self.wakeup = wakeup
        self.is_slow = False
        self.is_stuck = False
        """Whether it waits for a login."""

        self.is_done = False
        """Whether it has nothing to do any more."""

        self.has_ended = False
        """Whether it is closed and gets no more turns."""

        self.failure: BaseException | None = None
        """The error that ended it."""


class _Entry:
    """Where a resident is in the queue."""

    __slots__ = ("is_queued", "is_running", "is_slow", "number", "was_woken")

    def __init__(self) -> None:
        self.number = 0
        """That of its valid entry in the heap; others are leftovers of rests that ended early."""

        self.is_queued = False
        self.is_running = False
        self.is_slow = False
        """Whether its running turn counts as that of a slow role."""

        self.was_woken = False
        """Whether it was woken during its turn."""


class TurnQueue:
    """Decides whose turn it is. The caller serializes the calls."""

    def __init__(self, *, slow_places: int) -> None:
        """At most ``slow_places`` slow residents have a turn at the same time."""
        self._slow_places = slow_places
        self._slow_running = 0
        self._entries: dict[Resident, _Entry] = {}
        self._running: dict[Resident, float] = {}
        """When the turns that are under way began."""

        self._queues: tuple[deque[Resident], deque[Resident]] = (deque(), deque())
        """Residents whose turn is due: the usual ones and the slow ones."""

        self._prefers_slow = False
        self._due: list[tuple[float, int, Resident]] = []
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self._entries)

    def add(self, resident: Resident) -> None:
        """Let a resident take turns, the first one at once."""
        self._entries[resident] = _Entry()
        self._queue(resident)

    def wake(self, resident: Resident) -> None:
        """Make a resident's turn due now."""
        entry = self._entries.get(resident)
        if entry is None or entry.is_queued:
            return
        if entry.is_running:
            entry.was_woken = True
        else:
            self._queue(resident)

    def take(self, now_s: float) -> Resident | None:
        """Begin the next turn that is due; ``None`` if there is none, or no place for it."""
        while self._due and self._due[0][0] <= now_s:
            _, number, resident = heapq.heappop(self._due)
            entry = self._entries.get(resident)
            if entry is not None and entry.number == number:
                self._queue(resident)
        usual, slow = self._queues
        has_place = bool(slow) and self._slow_running < self._slow_places
        queue = slow if has_place and (self._prefers_slow or not usual) else usual
        if not queue:
            return None
        self._prefers_slow = queue is usual
        resident = queue.popleft()
        entry = self._entries[resident]
        entry.is_queued, entry.is_running, entry.is_slow = False, True, queue is slow
        self._running[resident] = now_s
        self._slow_running += entry.is_slow
        return resident

    def rest(self, resident: Resident, until_s: float) -> None:
        """End a resident's turn. Its next one is due at ``until_s``, or when it is woken."""
        entry = self._ended(resident)
        if entry.was_woken:
            self._queue(resident)
        else:
            entry.number = next(self._numbers)
            heapq.heappush(self._due, (until_s, entry.number, resident))

    def leave(self, resident: Resident) -> None:
        """End a resident's last turn."""
        self._ended(resident)
        del self._entries[resident]

    def overdue(self, now_s: float) -> int:
        """How many turns of roles that are not known to be slow have taken long already."""
        return sum(
            now_s - began_s > SLOW_TURN_S and not self._entries[resident].is_slow
            for resident, began_s in self._running.items()
        )

    def next_due_s(self) -> float | None:
        """When the next turn becomes due by the clock; ``None`` if none does."""
        return self._due[0][0] if self._due else None

    def _queue(self, resident: Resident) -> None:
        entry = self._entries[resident]
        entry.is_queued, entry.was_woken, entry.number = True, False, 0
        self._queues[resident.is_slow].append(resident)

    def _ended(self, resident: Resident) -> _Entry:
        entry = self._entries[resident]
        self._slow_running -= entry.is_slow
        entry.is_running = entry.is_slow = False
        del self._running[resident]
        return entry


class TurnPool:
    """Threads on which residents take their turns."""

    def __init__(
        self,
        *,
        most_threads: int = THREADS,
        on_change: Callable[[], object] = lambda: None,
        on_end: Callable[[Resident], object] = lambda _resident: None,
    ) -> None:
        """Both are called on a thread of the pool: ``on_change`` when a resident ends or begins or ceases to wait for a
        login, ``on_end`` with each that has ended."""
        self._most_threads = most_threads
        self._on_change = on_change
        self._on_end = on_end
        self._changed = threading.Condition()
        self._queue = TurnQueue(slow_places=max(1, most_threads // SLOW_SHARE))
        self._threads: set[threading.Thread] = set()
        self._stand_ins = 0
        """Threads that are allowed besides, while turns take long."""

        self._stopping = threading.Event()
        self._watched_s: float | None = None
        """The due time that a thread waits for; the others wait to be called. ``None`` if there is none."""

        self._is_stopping = False
        self._residents: set[Resident] = set()

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        """Those that take turns, or wait for one."""
        with self._changed:
            return tuple(self._threads)

    def add(self, role: LiveRole, wakeup: Wakeup) -> Resident:
        """Let a role take turns until its wakeup is stopped, it has nothing to do any more, or it fails."""
        resident = Resident(role, wakeup)
        with self._changed:
            if self._is_stopping:
                wakeup.stop()
            self._residents.add(resident)
            self._queue.add(resident)
            if not self._threads:
                threading.Thread(target=self._watch, name="turns", daemon=True).start()
            self._fill()
            self._changed.notify()
        wakeup.listen(lambda: self._wake(resident))
        return resident

    def stop(self) -> None:
        """Ask every role to end after the current call or commit."""
        with self._changed:
            self._is_stopping = True
            self._stopping.set()
            residents = list(self._residents)
            self._changed.notify_all()
        for resident in residents:
            resident.wakeup.stop()

    def join(self, patience: timedelta) -> None:
        """Wait until every role has ended, at most so long. Call ``stop`` before."""
        ends_s = monotonic_s() + patience.total_seconds()
        for thread in self.threads:
            thread.join(max(0.0, ends_s - monotonic_s()))

    def _fill(self) -> None:
        """Start the threads that are allowed and not there."""
        while len(self._threads) < min(self._most_threads + self._stand_ins, len(self._queue)):
            thread = threading.Thread(target=self._work, daemon=True)
            self._threads.add(thread)
            thread.start()

    def _watch(self) -> None:
        """Let another thread stand in for each that has a turn which takes long."""
        while not self._stopping.wait(SLOW_TURN_S):
            with self._changed:
                self._stand_ins = min(self._queue.overdue(monotonic_s()), STAND_INS)
                self._fill()

    def _wake(self, resident: Resident) -> None:
        with self._changed:
            self._queue.wake(resident)
            self._changed.notify()

    def _work(self) -> None:
        while (resident := self._next()) is not None:
            until_s = self._turn(resident)
            with self._changed:
                if until_s is None:
                    self._queue.leave(resident)
                    self._residents.discard(resident)
                else:
                    self._queue.rest(resident, until_s)
                self._changed.notify()
            if until_s is None:
                resident.has_ended = True
                self._on_end(resident)
                self._on_change()
        with self._changed:
            self._threads.discard(threading.current_thread())
            self._changed.notify_all()

    def _next(self) -> Resident | None:
        """The resident whose turn it is; waits for it. ``None`` at the end, and if this thread is one too many."""
        with self._changed:
            while True:
                if len(self._threads) > self._most_threads + self._stand_ins:
                    self._threads.discard(threading.current_thread())
                    return None
                now_s = monotonic_s()
                resident = self._queue.take(now_s)
                if resident is not None:
                    self._changed.notify()  # there may be another one
                    return resident
                if self._is_stopping and not self._residents:
                    return None
                due_s = self._queue.next_due_s()
                if due_s is None or (self._watched_s is not None and self._watched_s <= due_s):
                    self._changed.wait()
                    continue
                self._watched_s = due_s
                self._changed.wait(max(0.0, due_s - now_s))
                if self._watched_s == due_s:
                    self._watched_s = None

    def _turn(self, resident: Resident) -> float | None:
        """Run one turn. Return when the next one is due; ``None`` if the role has ended."""
        role, stopping = resident.role, resident.wakeup.stopping
        threading.current_thread().name = role.name  # in log lines of libraries
        try:
            if not stopping.is_set():
                began_s = monotonic_s()
                rest = role.turn()
                ended_s = monotonic_s()
                resident.is_done = role.is_done
                resident.is_slow = bool(role.trouble) or ended_s - began_s > SLOW_TURN_S
                is_stuck = bool(role.needs_authorization)
                if is_stuck != resident.is_stuck:
                    resident.is_stuck = is_stuck
                    self._on_change()
                if not resident.is_done and not stopping.is_set():
                    return ended_s + rest.total_seconds()
        except BaseException as failure:
            resident.failure = failure
        try:
            role.close()
        except Exception as failure:
            resident.failure = resident.failure or failure
        return None
