"""Configure an arena server: its own agents, and how its tables are set up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import (
    LLM,
    RANDOM,
    SCRIPTED,
    arena_agent,
    memory_for,
    usual_scenario,
)
from league_agents.arena.scenario import Scenario, ScenarioSeat
from league_agents.arena.server.house import House
from league_agents.games.registry import declared

if TYPE_CHECKING:
    from league_agents.arena.protocol.hosting import Profile
    from league_agents.arena.server.limits import ServerLimits
    from league_agents.arena.server.serving import ArenaServer


def arena_house(company: Company | None = None, *, with_models: bool = False) -> House:
    """The agents that remote users may put on a seat.

    Users' classes and a person at the server's terminal are excluded. ``with_models`` adds language models, at the
    operator's expense.
    """
    own = company or Company()

    def agents_of(game: str) -> tuple[str, ...]:
        return (SCRIPTED, RANDOM, *declared(game).agents.names, *((LLM,) if with_models else ()))

    def make_agent(seat: ScenarioSeat, scenario: Scenario, *, seed: int, match_id: str, is_first: bool) -> object:
        return arena_agent(seat, scenario, own, seed=seed, match_id=match_id, is_first=is_first)

    return House(
        agents_of=agents_of,
        make_agent=make_agent,
        usual_table=usual_scenario,
        person_seat=lambda game: declared(game).person_seat,
        memory_for=memory_for,
    )


def arena_server(
    company: Company | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    is_public: bool = False,
    with_models: bool = False,
    limits: ServerLimits | None = None,
    profile: Profile | None = None,
) -> ArenaServer:
    """A server, ready to be started. Raises ``ConfigError``."""
    from league_agents.arena.protocol.hosting import Profile
    from league_agents.arena.server.serving import ArenaServer

    return ArenaServer(
        arena_house(company, with_models=with_models),
        host=host,
        port=port,
        is_public=is_public,
        limits=limits,
        profile=profile or Profile.SEED,
    )
