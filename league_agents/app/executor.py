"""Executors: run work in this process, in other processes on this machine, or on a cluster (``cluster``).

Rule 1: work is a function of a module and its arguments, all of which can be pickled and none of which is a secret. Its
result depends on nothing else.
Rule 2: work that depends on earlier work has the same lane: work of one lane runs in one process, in order. Work
without a lane may run anywhere, and again when its worker is lost.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager, nullcontext
from multiprocessing import connection
from typing import ParamSpec, Protocol, TypeVar

from league_agents.kit.errors import WorkerLost

P = ParamSpec("P")
T = TypeVar("T")

LOOK_EVERY_S = 0.25
"""Interval of progress checks."""


class Executor(Protocol):
    """Runs work."""

    @property
    def width(self) -> int:
        """How many pieces of work run at the same time."""
        ...

    @property
    def most_waiting(self) -> int:
        """How many pieces of work are handed over before the result of the first one is taken."""
        ...

    @property
    def is_remote(self) -> bool:
        """Whether work runs on machines that may not have this one's files. Such an executor has no lanes."""
        ...

    def submit(self, lane: int | None, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``work``. Lanes are numbered from 0; several may share one place."""
        ...

    def check(self) -> None:
        """Raise ``WorkerLost`` if work that was handed over will never end."""
        ...

    def naming_losses(self) -> AbstractContextManager[None]:
        """Raises ``WorkerLost`` where work was lost for good."""
        ...

    def close(self) -> None:
        """Stop the workers. Running work is abandoned."""
        ...


class Here:
    """``Executor`` that runs everything immediately, in this process."""

    width = 1
    most_waiting = 1
    is_remote = False

    def submit(self, lane: int | None, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:  # as from another process
            done.set_exception(error)
        return done

    def check(self) -> None:
        """No-op: nothing can be lost."""

    def naming_losses(self) -> AbstractContextManager[None]:
        return nullcontext()

    def close(self) -> None:
        """No-op: holds nothing."""


class Processes:
    """``Executor`` with some processes on this machine. Lane ``n`` belongs to process ``n`` modulo their number."""

    is_remote = False

    def __init__(self, count: int) -> None:
        # Start new interpreters: a fork of this process would have its threads' locks but not its threads.
        context = multiprocessing.get_context("spawn")
        self._lifeline, self._held = context.Pipe(duplex=False)
        self._pools = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_begin_worker, initargs=(self._lifeline,))
            for _ in range(max(1, count))
        ]
        self._free: list[set[Future[object]]] = [set() for _ in self._pools]
        """Work without a lane that is not done, by process."""

    @property
    def width(self) -> int:
        return len(self._pools)

    @property
    def most_waiting(self) -> int:
        return 2 * self.width

    def submit(self, lane: int | None, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        if lane is not None:
            return self._pools[lane % self.width].submit(work, *args, **kwargs)
        self._free = [{each for each in waiting if not each.done()} for waiting in self._free]
        least = min(range(self.width), key=lambda place: len(self._free[place]))
        submitted = self._pools[least].submit(work, *args, **kwargs)
        self._free[least].add(submitted)  # type: ignore[arg-type]  # a future of T is read only here
        return submitted

    def check(self) -> None:
        """No-op: a pool that lost its process fails its work at once."""

    @contextmanager
    def naming_losses(self) -> Iterator[None]:
        """Raise ``WorkerLost`` where work is lost because its process ended."""
        try:
            yield
        except BrokenProcessPool as error:
            if error.__cause__ is not None:  # the process lives; what it sent could not be read
                raise
            raise WorkerLost from None

    def close(self) -> None:
        """Stop the processes. Running work is abandoned."""
        self._held.close()
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)


def results(
    executor: Executor,
    work: Callable[..., T],
    tasks: Iterable[tuple[object, ...]],
    *,
    in_order: bool = True,
    look: Callable[[], None] = lambda: None,
) -> Generator[T, None, None]:
    """Yield the result of ``work`` for the arguments of each task; ``in_order``: of the tasks, else as they end.

    At most ``most_waiting`` tasks and results exist at any time; a task is drawn when it is handed over. ``look`` is
    called every ``LOOK_EVERY_S`` and after results. Exceptions of a task are raised here, and the rest is abandoned.
    """
    left = iter(tasks)
    waiting: dict[Future[T], None] = {}
    try:
        while True:
            while len(waiting) < executor.most_waiting and (task := next(left, None)) is not None:
                waiting[executor.submit(None, work, *task)] = None
            if not waiting:
                return
            awaited = [next(iter(waiting))] if in_order else list(waiting)
            done, _ = wait(awaited, timeout=LOOK_EVERY_S, return_when=FIRST_COMPLETED)
            for each in done:
                del waiting[each]
                yield each.result()
            look()
            executor.check()
    finally:
        for each in waiting:
            each.cancel()


def _begin_worker(lifeline: connection.Connection) -> None:
    """End with the parent, also when that is killed. Ctrl-C in its terminal is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def outlive_nobody() -> None:
        connection.wait([lifeline])
        os._exit(0)

    threading.Thread(target=outlive_nobody, name="parent", daemon=True).start()
