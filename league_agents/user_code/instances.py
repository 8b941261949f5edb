"""Instances of a user's class, in this process or in a separate one."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Protocol

from league_agents.user_code.called import Called
from league_agents.user_code.instance import UserInstance


class Instance(Protocol):
    """One agent, in this process or another. All but ``kill`` must be called from one thread."""

    @property
    def keeps_time(self) -> bool:
        """Whether a call always ends within its time limit."""
        ...

    def make(self, timeout_s: float) -> Called:
        """Make the instance unless it exists. Never raises."""
        ...

    def call(self, method: str, arguments: Sequence[object], timeout_s: float | None) -> Called:
        """Call a method. Never raises."""
        ...

    def close(self) -> None:
        """Release the instance. No further call may follow."""
        ...

    def kill(self) -> None:
        """End the running call, if that is possible. May be called from any thread."""
        ...


InstanceMaker = Callable[[], Instance]


class InstanceHere:
    """An agent in this process. It gets a copy of its context, because it may change it.

    Two faults cannot be contained: a callback that never releases the interpreter's lock, such as a regular
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
    """Return a maker of instances in this process."""
    return lambda: InstanceHere(factory)
