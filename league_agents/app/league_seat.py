"""League agents at the arena's table of Q21: ``offline``, ``llm`` and users' classes with the league's callbacks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from league_agents.agents.asking import Models
from league_agents.app.agent_wanted import AgentWanted
from league_agents.app.agents import LLM, OFFLINE, AgentRole, choose_agent, is_own
from league_agents.app.own_seat import own_seat
from league_agents.arena.agents.callback_agent import CallbackAgent, callbacks_of
from league_agents.arena.agents.own_agent import OwnAgent
from league_agents.games.q21.seats import TableConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class _LeagueModels:
    """The company's models in the form that league agents take."""

    for_callback: Models


def league_agent(wanted: AgentWanted) -> CallbackAgent | OwnAgent | None:
    """The agent of a spec that means the same as in the league; ``None`` for any other. Raises ``ConfigError``."""
    spec = wanted.spec
    if spec not in (OFFLINE, LLM) and ":" not in spec:
        return None
    rules = TableConfig.read(wanted.scenario.config).rule_set()
    role: AgentRole = "referee" if wanted.is_first else "player"
    seated = partial(CallbackAgent, rules=rules, match_id=wanted.match_id, now=wanted.company.now)
    if is_own(spec):
        return own_seat(wanted, (role,), seated)
    chosen = choose_agent(
        spec,
        role,
        rules=rules,
        seed=f"{wanted.seed}/{wanted.seat.id}",
        index_path=wanted.company.index_path,
        models=lambda: _LeagueModels(for_callback=wanted.models()),
    )
    if chosen.check is not None:
        chosen.check()
    return seated(callbacks_of(chosen.factory()))
