"""Running an agent's callbacks: in time, one at a time for each instance, and never letting a failure out.

Rule 1: user code is called here and nowhere else; whatever it does comes back as an outcome.
Rule 2: an instance that does not return is left behind. Its late result reaches nobody, and the next call gets a new
instance.
"""

from __future__ import annotations

import copy
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from league_agents.clock import Clock, monotonic_s
from league_agents.core.printable import line_of
from league_agents.core.violation import shown
from league_agents.journal.port import PendingCall
from league_agents.league.events import CallbackFailed, CallbackReturned, Failure
from league_agents.user_code.place import place_of
from league_agents.user_code.plain import plain

T = TypeVar("T")

AgentFactory = Callable[[], object]
"""Makes one instance of the agent. Called again for every further game at the same time, and after a hung callback."""

Outcome = CallbackReturned | CallbackFailed


class AgentHost(Protocol):
    """Where calls are run."""

    def submit(self, call: PendingCall) -> None:
        """Run this call as soon as its instance is free."""
        ...

    def collect(self) -> Sequence[Outcome]:
        """What ended since the last time, in a repeatable order where the host promises one."""
        ...

    def release(self, game_id: str) -> None:
        """The game is over: its instance may serve another one."""
        ...

    def next_wake(self) -> datetime | None:
        """When an outcome is to be expected that time alone brings; ``None`` when none is."""
        ...

    def close(self) -> None:
        """Start nothing new. Running callbacks are not waited for."""
        ...


def run_callback(agent: object, callback: str, context: Mapping[str, object], call_id: str) -> Outcome:
    """Call one method of an agent, on this thread, without a time limit. Only an interrupt gets out."""
    try:
        result = getattr(agent, callback)(context)
        # The last callback of a player gives nothing back; every other one must give a dict (protocol 6).
        if result is None and callback == "on_score_received":
            result = {}
        if issubclass(type(result), Mapping):
            return CallbackReturned(call_id=call_id, result=result)
        detail = f"{callback} returned {shown(result)}, not a dict"
        return CallbackFailed(call_id=call_id, failure=Failure.NOT_A_DICT, detail=detail)
    except KeyboardInterrupt:
        if threading.current_thread() is threading.main_thread():
            raise  # a person pressed the key; on any other thread only user code raises this
        return CallbackFailed(call_id=call_id, failure=Failure.RAISED, detail=f"{callback} raised KeyboardInterrupt")
    except BaseException as error:  # user code may raise anything, SystemExit included
        return CallbackFailed(call_id=call_id, failure=Failure.RAISED, detail=f"{callback} raised {_told(error)}")


def run_user_callback(agent: object, callback: str, context: Mapping[str, object], call_id: str) -> Outcome:
    """``run_callback`` for code that is not ours: it gets a context of its own, and only plain values come back."""
    outcome = run_callback(agent, callback, copy.deepcopy(context), call_id)
    if isinstance(outcome, CallbackFailed):
        return outcome
    try:
        result = plain(outcome.result)
    except BaseException as error:  # the result's own classes may raise anything
        detail = f"what {callback} returned cannot be read: it raised {_told(error)}"
        return CallbackFailed(call_id=call_id, failure=Failure.RAISED, detail=detail)
    assert isinstance(result, dict), "a mapping is copied as a dict"
    return CallbackReturned(call_id=call_id, result=result)


def _told(error: BaseException) -> str:
    """``KeyError (my_player.py:11): 'dynamc'``: the class, the place in the user's own code if it is there, the text.

    The place stands before the text, which is left out where nobody may read it.
    """
    line, place = line_of(error), place_of(error)
    if place is None:
        return line
    name, colon, text = line.partition(": ")
    return f"{name} ({place}){colon}{text}"


def _late(call: PendingCall) -> str:
    return f"{call.callback} did not return within {call.timeout.total_seconds():g} s"


class Pool(Generic[T]):
    """Which of several alike serves which game.

    With ``one_game_each`` one of them serves one game until that is released, then the next (referees); otherwise a
    single one serves all games (players, protocol 6).
    """

    def __init__(self, make: Callable[[], T], *, one_game_each: bool) -> None:
        self._make = make
        self._one_game_each = one_game_each
        self._free: list[T] = []
        self._of_game: dict[str, T] = {}

    def of(self, game_id: str) -> T:
        """The one that serves a game."""
        key = game_id if self._one_game_each else ""
        if key not in self._of_game:
            self._of_game[key] = self._free.pop() if self._free else self._make()
        return self._of_game[key]

    def release(self, game_id: str) -> None:
        """The game is over."""
        if self._one_game_each and (one := self._of_game.pop(game_id, None)) is not None:
            self._free.append(one)

    def forget(self, one: T) -> None:
        """Never hand this one out again."""
        self._of_game = {key: value for key, value in self._of_game.items() if value is not one}
        self._free = [value for value in self._free if value is not one]


class InlineHost:
    """Runs calls on the caller's thread: for agents of this package, which always return, on a clock that is set by
    hand.

    An agent that has ``simulated_latency(callback) -> timedelta`` is taken to need that long, without anybody waiting.
    """

    def __init__(self, factory: AgentFactory, clock: Clock, *, one_game_each: bool) -> None:
        self._pool = Pool(factory, one_game_each=one_game_each)
        self._clock = clock
        self._submitted: list[PendingCall] = []
        self._later: list[tuple[datetime, Outcome]] = []

    def submit(self, call: PendingCall) -> None:
        self._submitted.append(call)

    def collect(self) -> Sequence[Outcome]:
        if not self._submitted and not self._later:
            return ()
        now = self._clock.now()
        calls, self._submitted = self._submitted, []
        outcomes: list[Outcome] = []
        for call in calls:
            agent = self._pool.of(call.game_id)
            outcome = run_callback(agent, call.callback, call.context, call.call_id)
            latency_of = getattr(agent, "simulated_latency", None)
            if latency_of is None:
                outcomes.append(outcome)
                continue
            latency = latency_of(call.callback)
            if latency > call.timeout:
                latency = call.timeout
                outcome = CallbackFailed(call_id=call.call_id, failure=Failure.TIMED_OUT, detail=_late(call))
            self._later.append((now + latency, outcome))
        outcomes += [outcome for at, outcome in self._later if at <= now]
        self._later = [(at, outcome) for at, outcome in self._later if at > now]
        return outcomes

    def release(self, game_id: str) -> None:
        self._pool.release(game_id)

    def next_wake(self) -> datetime | None:
        return min((at for at, _ in self._later), default=None)

    def close(self) -> None:
        self._submitted.clear()
        self._later.clear()


@dataclass(slots=True, eq=False)
class _Job:
    call: PendingCall
    started_s: float | None = None
    """On the monotonic clock; ``None`` while it waits for its instance."""

    outcome: Outcome | None = None


class _Worker:
    """One instance and the thread on which it is made and all its methods run."""

    def __init__(self, factory: AgentFactory, changed: threading.Condition, notify: Callable[[], None]) -> None:
        self._factory = factory
        self._changed = changed
        self._notify = notify
        self._waiting: deque[_Job] = deque()
        self._stopped = False
        self.running: _Job | None = None
        threading.Thread(target=self._work, name="agent", daemon=True).start()

    def put(self, job: _Job) -> None:
        """Run this job after those that wait already. The condition is held."""
        self._waiting.append(job)
        self._changed.notify_all()

    def stop(self) -> list[_Job]:
        """Begin no further job; gives back those that wait. The condition is held."""
        self._stopped = True
        self._changed.notify_all()
        waiting = list(self._waiting)
        self._waiting.clear()
        return waiting

    def _work(self) -> None:
        agent: object | None = None
        while True:
            with self._changed:
                while not self._waiting and not self._stopped:
                    self._changed.wait()
                if self._stopped:
                    return
                job = self.running = self._waiting.popleft()
                job.started_s = monotonic_s()
                self._changed.notify_all()
            agent, outcome = self._run(agent, job.call)
            with self._changed:
                self.running = None
                if job.outcome is None:
                    job.outcome = outcome
                self._changed.notify_all()
            self._notify()

    def _run(self, agent: object | None, call: PendingCall) -> tuple[object | None, Outcome]:
        if agent is None:
            try:
                agent = self._factory()
            except BaseException as error:  # the constructor is user code
                detail = f"the agent could not be made: its constructor raised {_told(error)}"
                return None, CallbackFailed(call_id=call.call_id, failure=Failure.RAISED, detail=detail)
        return agent, run_user_callback(agent, call.callback, call.context, call.call_id)


class ThreadHost:
    """Runs calls on threads of their own, so that a callback that waits or computes for ever stops nothing.

    One thing it cannot stop: a callback that never lets go of the interpreter lock, such as one regular expression that
    backtracks for hours, holds up every thread of the process.

    ``waits`` makes ``collect`` wait for everything that was submitted and give it back in that order, so that a match
    on a clock that is set by hand is repeatable. A callback's time is counted on the system's clock either way.

    ``clock`` is the real clock of a host that does not wait: it then tells when the next running callback is out of
    time. ``notify`` is called on an agent's thread whenever there is something to collect; it must return at once.
    """

    def __init__(
        self,
        factory: AgentFactory,
        *,
        one_game_each: bool,
        waits: bool = False,
        clock: Clock | None = None,
        notify: Callable[[], None] = lambda: None,
    ) -> None:
        self._changed = threading.Condition()
        self._workers: list[_Worker] = []
        self._waits = waits
        self._clock = clock
        self._jobs: list[_Job] = []

        def make() -> _Worker:
            worker = _Worker(factory, self._changed, notify)
            self._workers.append(worker)
            return worker

        self._pool = Pool(make, one_game_each=one_game_each)

    def submit(self, call: PendingCall) -> None:
        job = _Job(call)
        with self._changed:
            self._jobs.append(job)
            self._pool.of(call.game_id).put(job)

    def collect(self) -> Sequence[Outcome]:
        with self._changed:
            self._leave_hung_behind()
            while self._waits and any(job.outcome is None for job in self._jobs):
                self._changed.wait(timeout=self._seconds_to_next_limit())
                self._leave_hung_behind()
            outcomes = [job.outcome for job in self._jobs if job.outcome is not None]
            self._jobs = [job for job in self._jobs if job.outcome is None]
        return outcomes

    def _running(self) -> list[tuple[_Worker, _Job, float]]:
        """Workers that run a job, and the seconds that it has left."""
        now_s = monotonic_s()
        return [
            (worker, job, job.started_s + job.call.timeout.total_seconds() - now_s)
            for worker in self._workers
            if (job := worker.running) is not None and job.started_s is not None
        ]

    def _seconds_to_next_limit(self) -> float | None:
        return min((max(0.0, left_s) for _, _, left_s in self._running()), default=None)

    def _leave_hung_behind(self) -> None:
        for worker, job, left_s in self._running():
            if left_s > 0:
                continue
            job.outcome = CallbackFailed(call_id=job.call.call_id, failure=Failure.TIMED_OUT, detail=_late(job.call))
            # Its instance is still busy with this call, and two calls of one instance must never overlap.
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
            for worker in self._workers:
                worker.stop()
            self._workers.clear()
