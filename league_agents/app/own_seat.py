"""A user's own class on a seat of the arena, in a process of its own unless it is to run in this one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from league_agents.app.agent_wanted import AgentWanted
from league_agents.arena.agents.own_agent import ArenaMind, Call, Mind, OwnAgent
from league_agents.arena.agents.seated import SEATED
from league_agents.games.declaration import GameDeclaration
from league_agents.games.registry import declared
from league_agents.user_code.loading import ARENA


def own_seat(wanted: AgentWanted, roles: Sequence[str] = (), callbacks: Callable[[Call], Mind] = ArenaMind) -> OwnAgent:
    """The agent of a user's class. ``callbacks`` adapts a class for one of the league's ``roles``. Raises
    ``ConfigError``."""
    adapter = (SEATED, *_adapter_of(declared(wanted.scenario.game)))
    company = wanted.company
    chosen, role = company.own_class(wanted.spec, tuple(roles), in_process=company.in_process, adapter=adapter)
    mind = ArenaMind if role == ARENA else callbacks
    return OwnAgent(chosen.instances, name=wanted.seat.id, now=wanted.company.now, mind=mind)


def _adapter_of(game: GameDeclaration) -> tuple[str, ...]:
    """The arguments of ``seated`` about the game."""
    reference = game.agents.adapter
    if reference is None:
        return ()
    return (f"{game.package}{reference}" if reference.startswith(".") else reference, *game.agents.methods)


@contextmanager
def closing_agents(agents: Collection[object]) -> Iterator[None]:
    """On exit, send agents of the user's own their remaining events, and end their processes."""
    try:
        yield
    finally:
        close_agents(agents)


def close_agents(agents: Iterable[object]) -> None:
    """Send agents of the user's own their remaining events, and end their processes."""
    closing = [threading.Thread(target=agent.close) for agent in agents if isinstance(agent, OwnAgent)]
    for thread in closing:
        thread.start()
    for thread in closing:
        thread.join()
