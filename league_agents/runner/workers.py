"""A host for agents that may not return: each instance has a thread on which it is called.

Rule 1: a user's own agent runs in a separate process, which is killed when a call is late. The next call gets a new
process.
Rule 2: an agent that runs in this process cannot be stopped. It is abandoned: its late result is dropped, and the next
call gets a new instance.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from league_agents.journal.port import PendingCall
from league_agents.kit.clock import Clock, monotonic_s
from league_agents.runner.calls import AgentPool, Outcome, outcome_of
from league_agents.user_code.called import Called, End
from league_agents.user_code.instances import InstanceMaker
from league_agents.user_code.process import PATIENCE_S


@dataclass(slots=True, eq=False)
class _Job:
    call: PendingCall
    started_s: float | None = None
    """When the job started, on the monotonic clock; ``None`` while it waits for its instance."""

    called: Called | None = None
    """The result; ``None`` until the job has ended."""


class _Worker:
    """One instance, and the thread on which it is made and called."""

    def __init__(
        self, make: InstanceMaker, changed: threading.Condition, notify: Callable[[], None], name: str
    ) -> None:
        self.instance = make()
        self._changed = changed
        self._notify = notify
        self._waiting: deque[_Job] = deque()
        self._stopped = False
        self.running: _Job | None = None
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, job: _Job) -> None:
        """Append a job to the queue. The caller holds the condition."""
        self._waiting.append(job)
        self._changed.notify_all()

    def stop(self) -> list[_Job]:
        """Begin no further job. Return the waiting ones. The caller holds the condition."""
        self._stopped = True
        self._changed.notify_all()
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            while (job := self._next()) is not None:
                call = job.call
                try:
                    called = self.instance.call(call.callback, (call.context,), call.timeout.total_seconds())
                except Exception as error:  # a call without a result would block its match for ever
                    called = Called(end=End.DIED, detail=f"could not be called: {type(error).__name__}: {error}")
                with self._changed:
                    self.running = None
                    if job.called is None:
                        job.called = called
                    self._changed.notify_all()
                self._notify()
        finally:
            self.instance.close()

    def _next(self) -> _Job | None:
        with self._changed:
            while not self._waiting and not self._stopped:
                self._changed.wait()
            if self._stopped:
                return None
            job = self.running = self._waiting.popleft()
            job.started_s = monotonic_s()
            self._changed.notify_all()
            return job


class Workers:
    """``AgentHost`` that runs calls on the threads of their instances, so that a callback that never returns blocks
    nothing else.

    With ``waits``, ``ended`` waits for all submitted calls and returns them in that order, so that a match on a
    simulated clock is repeatable. Time limits are measured on the system's clock either way.

    ``clock`` is the real clock of a host that does not wait; ``next_wake`` uses it to give the next time limit of a
    running callback. ``notify`` is called on an agent's thread whenever a call has ended; it must return at once.
    """

    def __init__(
        self,
        make: InstanceMaker,
        *,
        one_game_each: bool,
        waits: bool = False,
        clock: Clock | None = None,
        notify: Callable[[], None] = lambda: None,
        name: str = "agent",
    ) -> None:
        """``name`` is that of the threads, in log lines of libraries."""
        self._changed = threading.Condition()
        self._workers: list[_Worker] = []
        self._waits = waits
        self._clock = clock
        self._jobs: list[_Job] = []

        def make_worker() -> _Worker:
            worker = _Worker(make, self._changed, notify, name)
            self._workers.append(worker)
            return worker

        self._pool = AgentPool(make_worker, one_game_each=one_game_each)

    def submit(self, call: PendingCall) -> None:
        job = _Job(call)
        with self._changed:
            self._jobs.append(job)
            self._pool.of(call.game_id).put(job)

    def ended(self) -> list[tuple[PendingCall, Called]]:
        """Return the calls that ended since the last call of this method."""
        with self._changed:
            self._leave_hung_behind()
            while self._waits and any(job.called is None for job in self._jobs):
                self._changed.wait(timeout=self._seconds_to_next_limit())
                self._leave_hung_behind()
            found = [(job.call, job.called) for job in self._jobs if job.called is not None]
            self._jobs = [job for job in self._jobs if job.called is None]
        return found

    def collect(self) -> Sequence[Outcome]:
        return [outcome_of(call, called) for call, called in self.ended()]

    def _running(self) -> list[tuple[_Worker, _Job, float]]:
        """Workers whose instance does not enforce time limits, their running job, and its remaining seconds."""
        now_s = monotonic_s()
        return [
            (worker, job, job.started_s + job.call.timeout.total_seconds() - now_s)
            for worker in self._workers
            if (job := worker.running) is not None and job.started_s is not None and not worker.instance.keeps_time
        ]

    def _seconds_to_next_limit(self) -> float | None:
        return min((max(0.0, left_s) for _, _, left_s in self._running()), default=None)

    def _leave_hung_behind(self) -> None:
        for worker, job, left_s in self._running():
            if left_s > 0:
                continue
            job.called = Called(end=End.TIMED_OUT, seconds=job.call.timeout.total_seconds())
            # The instance is still busy with this call, and two calls of one instance must never overlap.
            self._workers.remove(worker)
            self._pool.forget(worker)
            for waiting in worker.stop():
                self._pool.of(waiting.call.game_id).put(waiting)

    def release(self, game_id: str) -> None:
        with self._changed:
            self._pool.release(game_id)

    def next_wake(self) -> datetime | None:
        if self._clock is None:
            return None
        with self._changed:
            left_s = self._seconds_to_next_limit()
        return None if left_s is None else self._clock.now() + timedelta(seconds=left_s)

    def close(self) -> None:
        with self._changed:
            workers, self._workers = self._workers, []
            for worker in workers:
                worker.stop()
            busy = [worker for worker in workers if worker.running is not None]
        for worker in busy:
            worker.instance.kill()
        for worker in workers:
            if worker not in busy or worker.instance.keeps_time:
                worker.join(2 * PATIENCE_S)
