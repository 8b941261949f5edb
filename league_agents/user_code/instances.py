"""Instances of a class that is not ours, wherever they run: in this process, or in one of their own."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Protocol

from league_agents.user_code.called import Called
from league_agents.user_code.instance import UserInstance


class Instance(Protocol):
    """One agent, wherever it is. One thread calls it."""

    @property
    def keeps_time(self) -> bool:
        """Whether a call always ends in its time."""
        ...

    def make(self, timeout_s: float) -> Called:
        """Make it now, where it is not made yet. Never raises."""
        ...

    def call(self, method: str, arguments: Sequence[object], timeout_s: float | None) -> Called:
        """Call a method. Never raises."""
        ...

    def close(self) -> None:
        """There are no more calls."""
        ...

    def kill(self) -> None:
        """End the call that is running, if that is possible. Any thread may do it."""
        ...


InstanceMaker = Callable[[], Instance]


class InstanceHere:
    """An agent in this process. It gets a copy of its context, because it may do to it what it likes.

    Two things nobody is safe from: a callback that never lets go of the interpreter's lock, such as one regular
    expression that backtracks for hours, and one that ends the process.
    """

    keeps_time = False

    def __init__(self, factory: Callable[[], object]) -> None:
        self._instance = UserInstance(factory)

    def make(self, timeout_s: float) -> Called:
        return self._instance.make()

    def call(self, method: str, arguments: Sequence[object], timeout_s: float | None) -> Called:
        return self._instance.call(method, copy.deepcopy(arguments))

    def close(self) -> None:
        self._instance.close()

    def kill(self) -> None:
        """No-op: a thread cannot be stopped."""


def here(factory: Callable[[], object]) -> InstanceMaker:
    """Instances in this process."""
    return lambda: InstanceHere(factory)
