"""The arena's agents by name, and matches wired to be played in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any, cast

from league_agents.app.agent_wanted import AgentWanted, Company
from league_agents.app.agents import A2A, remote_agent
from league_agents.app.own_seat import own_seat
from league_agents.arena.agents.random_agent import RandomAgent
from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.decisions import ClockRules
from league_agents.arena.scenario import Scenario, ScenarioSeat, scenario_of
from league_agents.arena.session import Memory, Recorder, Session
from league_agents.config.model_settings import ARENA
from league_agents.games.person import Reader
from league_agents.games.registry import declared, game_of, part_of, seats_in_words, usual_ids
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown

SCRIPTED, RANDOM, LLM, HUMAN = "scripted", "random", "llm", "human"


def usual_scenario(
    game: str,
    *,
    agents: Sequence[str] = (SCRIPTED,),
    seats: int | None = None,
    config: Mapping[str, Any] | None = None,
    lang: str | None = None,
) -> Scenario:
    """A match of the game with its usual number of seats, or ``seats``.

    ``agents`` fill the seats in order, the last one all that are left. Raises ``ConfigError``.
    """
    rules = game_of(game)
    wanted = max(len(declared(game).usual_seats), len(agents)) if seats is None else seats
    has = f"{game} has {seats_in_words(game)} seats"
    if seats is not None and not rules.min_agents <= seats <= rules.max_agents:
        raise ConfigError("--seats", f"{has}, found {seats}")
    if len(agents) > (rules.max_agents if seats is None else seats):
        given = "" if seats is None else f" for --seats {seats}"
        raise ConfigError("--agents", f"{has}, found {len(agents)} agents{given}")
    ids = usual_ids(game, wanted)
    names = [agents[min(i, len(agents) - 1)] for i in range(wanted)]
    mapping: dict[str, Any] = {
        "game": game,
        "config": dict(config or {}),
        "agents": [{"id": agent_id, "agent": name} for agent_id, name in zip(ids, names, strict=True)],
    }
    if lang is not None:
        mapping["lang"] = lang
    return scenario_of(mapping)


def with_agents(scenario: Scenario, agents: Sequence[str]) -> Scenario:
    """The scenario with other agents on its seats; the last one fills all that are left."""
    if not agents:
        return scenario
    if len(agents) > len(scenario.seats):
        raise ConfigError("--agents", f"the scenario has {len(scenario.seats)} seats, found {len(agents)} agents")
    seats = tuple(evolve(seat, agent=agents[min(place, len(agents) - 1)]) for place, seat in enumerate(scenario.seats))
    return evolve(scenario, seats=seats)


def arena_agent(
    seat: ScenarioSeat, scenario: Scenario, company: Company, *, seed: int, match_id: str, is_first: bool = False
) -> object:
    """Make the agent that a seat names. Raises ``ConfigError`` that lists the valid names."""
    game, spec = scenario.game, seat.agent
    wanted = AgentWanted(
        spec=spec, seat=seat, scenario=scenario, company=company, seed=seed, match_id=match_id, is_first=is_first
    )
    agents = declared(game).agents
    found = None if agents.make is None else part_of(declared(game), agents.make)(wanted)
    if found is not None:
        return found
    if spec == SCRIPTED:
        return ScriptedAgent(game, seed=seed, agent_id=seat.id)
    if spec == RANDOM:
        return RandomAgent(seed=seed, agent_id=seat.id)
    if spec == HUMAN:
        if company.terminal is None:
            raise ConfigError(f"agent {seat.id}", "a person cannot sit here; use the web page of 'arena serve'")
        from league_agents.arena.agents.human_agent import HumanAgent

        return HumanAgent(game, company.terminal, reader_of(scenario, seat.id), seed=seed)
    if spec == LLM:
        from league_agents.arena.agents.llm_agent import LlmAgent

        model = wanted.models()(f"{ARENA}{game}")
        return LlmAgent(game, model=model, seed=seed, agent_id=seat.id, now=company.now, match_id=match_id)
    if spec.partition(":")[0] == A2A:
        return _elsewhere(wanted)
    if ":" in spec:
        return own_seat(wanted)
    known = [SCRIPTED, RANDOM, LLM, HUMAN, *agents.names]
    near = get_close_matches(spec, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise ConfigError(
        f"agent {seat.id}", f"{shown(spec)} is no agent; {hint}write {', '.join(known)}, a2a:URL or module:Class"
    )


def _elsewhere(wanted: AgentWanted) -> object:
    remote = remote_agent(wanted.spec)
    remote.check()
    from league_agents.a2a.seats import RemoteDecider

    return RemoteDecider(remote, seat=wanted.seat.id, match_id=wanted.match_id, now=wanted.company.now)


def reader_of(scenario: Scenario, viewer: str) -> Reader:
    """A reader of the match: the person on a seat, or ``HOST``."""
    return Reader(viewer=viewer, lang=scenario.lang, names=scenario.config.get("names") or {})


def memory_for(game: str) -> Memory | None:
    """The memory aid for agents of the game (arena 3.4); ``None`` if it declares none."""
    reference = declared(game).memory
    return None if reference is None else cast("Memory", part_of(declared(game), reference)())


def session_of(
    scenario: Scenario,
    *,
    seed: int,
    company: Company,
    recorders: Sequence[Recorder] = (),
    clock_rules: ClockRules | None = None,
    on_change: Callable[[Session], None] = lambda _session: None,
) -> Session:
    """The match of a scenario with all its agents, ready to run. Raises ``ConfigError``."""
    match = scenario.new_match(seed)
    if company.models is not None:
        company = evolve(company, models=cache(company.models))  # one budget for all seats of this process
    # The name uses public facts only: one derived from the seed could give roles away.
    match_id = f"{scenario.game}-{'-'.join(scenario.agent_ids)[:60]}"
    agents = {
        seat.id: arena_agent(seat, scenario, company, seed=seed, match_id=match_id, is_first=place == 0)
        for place, seat in enumerate(scenario.seats)
    }
    return Session(
        match,
        agents,
        clock_rules=clock_rules or scenario.clock,
        now=company.now,
        recorders=recorders,
        memory_of=lambda _agent: memory_for(scenario.game),
        lang=scenario.lang,
        on_change=on_change,
    )
