"""Batches of games on an executor: a process keeps the agents of a series from one batch to the next.

Rule 1: games are yielded in their order.
Rule 2: a process keeps one series, the latest. Others may follow on a cluster, whose workers outlive a command.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from platform import node
from typing import Any, Protocol, TypeVar

from league_agents.app.executor import Executor, results
from league_agents.app.executors import executor_of
from league_agents.evaluation.results_file import difference
from league_agents.kit.errors import ConfigError

ItemT = TypeVar("ItemT")
ItemArg = TypeVar("ItemArg", contravariant=True)
GameT = TypeVar("GameT", covariant=True)
G = TypeVar("G")

LARGEST_BATCH = 16
"""Games. What is under way is lost by an interruption."""


class OpenSeries(Protocol[ItemArg, GameT]):
    """Plays games in one process."""

    def play(self, item: ItemArg, /) -> GameT:
        """Play one game."""
        ...

    def close(self) -> None:
        """Release the agents."""
        ...


class SeriesSource(Protocol[ItemArg, GameT]):
    """Everything that the games of a series depend on besides their numbers; can be pickled and holds no secret."""

    def open(self) -> OpenSeries[ItemArg, GameT]:
        """Make the agents. Raises ``ConfigError``."""
        ...


@contextmanager
def executor_for_games(workers: int, cluster: str | None) -> Iterator[Executor]:
    """An executor that is closed in the end. Raises as ``executor_of``, and ``WorkerLost``."""
    executor = executor_of(workers, cluster)
    try:
        with executor.naming_losses():
            yield executor
    finally:
        executor.close()


def in_batches(executor: Executor, source: SeriesSource[ItemT, G], items: Sequence[ItemT]) -> Iterator[G]:
    """Play games in batches, and yield them in their order."""
    series = pickle.dumps(source)
    size = max(1, min(LARGEST_BATCH, len(items) // (3 * executor.width)))
    batches = ((series, tuple(items[start : start + size])) for start in range(0, len(items), size))
    for games in results(executor, play_batch, batches):
        yield from games


_HELD: dict[bytes, OpenSeries[Any, Any]] = {}
"""The latest series of this process."""


def play_batch(series: bytes, items: tuple[Any, ...]) -> list[Any]:
    """Play some games of a series in this process."""
    if series not in _HELD:
        while _HELD:
            _HELD.popitem()[1].close()
        _HELD[series] = pickle.loads(series).open()  # noqa: S301 - from another part of this program
    return [_HELD[series].play(item) for item in items]


def check_same(here: Mapping[str, object], wanted: Mapping[str, object]) -> None:
    """Raise ``ConfigError`` if games here depend on anything else than where they were asked for."""
    differing = difference(here, wanted)
    if differing is not None:
        remedy = "install there what is installed here"
        raise ConfigError(f"a worker on {node()}", f"plays with other books or classes ({differing}); {remedy}")
