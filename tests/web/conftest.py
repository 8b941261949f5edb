"""A server of the arena on loopback, for the tests that talk to it over real sockets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from league_agents.app.arena_server import arena_server
from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.serving import ArenaServer
from tests.support.arena_wire import QUICK

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
