"""Executors: run work in this process, or in other processes on this machine.

Rule: work is a function of a module and its arguments, all of which can be pickled, and its result depends on nothing
else. Work that depends on earlier work has the same lane: work of one lane runs in one process, in order.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import connection
from typing import ParamSpec, Protocol, TypeVar

from league_agents.kit.errors import WorkerLost

P = ParamSpec("P")
T = TypeVar("T")


class Executor(Protocol):
    """Runs work. Another implementation, such as a cluster, is one more class with these methods."""

    def submit(self, lane: int, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run ``work``. Lanes are numbered from 0; several may share one place."""
        ...

    def close(self) -> None:
        """Stop the processes. Running work is abandoned."""
        ...


class Here:
    """``Executor`` that runs everything immediately, in this process."""

    def submit(self, lane: int, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(work(*args, **kwargs))
        except Exception as error:  # as from another process
            done.set_exception(error)
        return done

    def close(self) -> None:
        """No-op: holds nothing."""


class Processes:
    """``Executor`` with some processes on this machine. Lane ``n`` belongs to process ``n`` modulo their number."""

    def __init__(self, count: int) -> None:
        # Start new interpreters: a fork of this process would have its threads' locks but not its threads.
        context = multiprocessing.get_context("spawn")
        self._lifeline, self._held = context.Pipe(duplex=False)
        self._pools = [
            ProcessPoolExecutor(1, mp_context=context, initializer=_begin_worker, initargs=(self._lifeline,))
            for _ in range(max(1, count))
        ]

    def submit(self, lane: int, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        return self._pools[lane % len(self._pools)].submit(work, *args, **kwargs)

    def close(self) -> None:
        """Stop the processes. Running work is abandoned."""
        self._held.close()
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)


def executor_of(workers: int) -> Executor:
    """The executor for a number of workers; a single one runs in this process."""
    return Here() if workers < 2 else Processes(workers)


@contextmanager
def naming_lost_workers() -> Iterator[None]:
    """Raise ``WorkerLost`` where work is lost because its process ended."""
    try:
        yield
    except BrokenProcessPool as error:
        if error.__cause__ is not None:  # the process lives; what it sent could not be read
            raise
        raise WorkerLost from None


def _begin_worker(lifeline: connection.Connection) -> None:
    """End with the parent, also when that is killed. Ctrl-C in its terminal is left to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def outlive_nobody() -> None:
        connection.wait([lifeline])
        os._exit(0)

    threading.Thread(target=outlive_nobody, name="parent", daemon=True).start()
