"""A server of the arena on loopback, for the tests that talk to it over real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest

from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.serving import ArenaServer
from league_agents.settings.arena_server import arena_server

QUICK = ServerLimits(
    house_pause=timedelta(0),
    house_actions_per_s=100_000,
    requests_per_s=10_000,
    burst=10_000,
    new_matches_burst=10_000,
)
"""For tests: the house plays at once, and nobody asks too often."""

ServerMaker = Callable[..., ArenaServer]


@pytest.fixture
def start_server() -> Iterator[ServerMaker]:
    """Starts servers, on free ports, that stop when the test is over: ``start_server(limits=…, profile=…)``."""
    with ExitStack() as stack:

        def start(*, limits: ServerLimits = QUICK, **options: Any) -> ArenaServer:
            return stack.enter_context(arena_server(limits=limits, **options))

        yield start


@pytest.fixture(scope="module")
def arena() -> Iterator[ArenaServer]:
    """One running server for a whole module: ``arena.url``."""
    with arena_server(limits=QUICK) as server:
        yield server
