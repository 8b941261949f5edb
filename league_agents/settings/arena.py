"""The arena's agents by name, and matches wired to be played in this process."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any

from league_agents.agents.asking import Models
from league_agents.arena.agents.callback_agent import CallbackAgent
from league_agents.arena.agents.random_agent import RandomAgent
from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.agents.undercover_agent import UndercoverSeat
from league_agents.arena.decisions import ClockRules
from league_agents.arena.scenario import Scenario, Seat, scenario_of
from league_agents.arena.session import Memory, Recorder, Session, wall_clock
from league_agents.core.person import Reader
from league_agents.core.printable import line_of
from league_agents.core.violation import shown
from league_agents.errors import ConfigError
from league_agents.games.registry import game_of
from league_agents.games.undercover.memory import AgentMemory
from league_agents.settings.agents import AgentRole, IndexPlace, choose_agent
from league_agents.settings.model_settings import ARENA, REMEDY
from league_agents.user_code.loading import load_class
from league_agents.values import evolve

if TYPE_CHECKING:
    from league_agents.arena.agents.human_agent import Terminal

SCRIPTED, RANDOM, LLM, HUMAN, OFFLINE = "scripted", "random", "llm", "human", "offline"

_USUAL_SEATS: Mapping[str, tuple[str, ...]] = {
    "guess_number": ("agent_0", "agent_1"),
    "undercover": tuple(f"agent_{seat}" for seat in range(1, 7)),
    "market": ("s1", "s2", "s3"),
    "q21": ("referee", "player_a", "player_b"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """What agents are made of, besides their names."""

    models: Callable[[], Models] | None = None
    """Makes the way to language models when the first one is wanted; ``None``: there are none."""

    index_path: IndexPlace | None = None
    terminal: Terminal | None = None
    now: Callable[[], datetime] = wall_clock


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
    usual = _USUAL_SEATS[game]
    wanted = max(len(usual), len(agents)) if seats is None else seats
    if not rules.min_agents <= wanted <= rules.max_agents or len(agents) > wanted:
        raise ConfigError(
            "--agents", f"{game} has {_seats_of(game)} seats, found {len(agents)} agents for {wanted}"
        )
    start, _, first = usual[0].rpartition("_") if "_" in usual[0] else ("", "", usual[0])
    ids = list(usual[:wanted]) if wanted <= len(usual) else []
    if not ids:
        count = int(first) if first.isdecimal() else 1
        ids = [f"{start}_{count + i}" if start else f"s{1 + i}" for i in range(wanted)]
    names = [agents[min(i, len(agents) - 1)] for i in range(wanted)]
    mapping: dict[str, Any] = {
        "game": game,
        "config": dict(config or {}),
        "agents": [{"id": agent_id, "agent": name} for agent_id, name in zip(ids, names, strict=True)],
    }
    if lang is not None:
        mapping["lang"] = lang
    return scenario_of(mapping)


def _seats_of(game: str) -> str:
    least, most = game_of(game).min_agents, game_of(game).max_agents
    return str(least) if least == most else f"{least} to {most}"


def with_agents(scenario: Scenario, agents: Sequence[str]) -> Scenario:
    """The scenario with other agents on its seats, the last one on all that are left."""
    if not agents:
        return scenario
    if len(agents) > len(scenario.seats):
        raise ConfigError("--agents", f"the scenario has {len(scenario.seats)} seats, found {len(agents)} agents")
    seats = tuple(
        evolve(seat, agent=agents[min(place, len(agents) - 1)]) for place, seat in enumerate(scenario.seats)
    )
    return evolve(scenario, seats=seats)


def arena_agent(
    seat: Seat, scenario: Scenario, company: Company, *, seed: int, match_id: str, is_referee: bool = False
) -> object:
    """The agent that a seat names. Raises ``ConfigError`` that says what may be written instead."""
    game, spec = scenario.game, seat.agent
    if spec == SCRIPTED:
        return ScriptedAgent(game, seed=seed, agent_id=seat.id)
    if spec == RANDOM:
        return RandomAgent(seed=seed, agent_id=seat.id)
    if spec == HUMAN:
        if company.terminal is None:
            raise ConfigError(f"agent {seat.id}", "a person cannot sit here; use the web page of 'arena serve'")
        from league_agents.arena.agents.human_agent import HumanAgent

        return HumanAgent(game, company.terminal, reader_of(scenario, seat.id), seed=seed)
    if game == "q21" and (spec in (OFFLINE, LLM) or ":" in spec):
        own = f"{seed}/{seat.id}"
        return _league_agent(spec, scenario, company, seed=own, match_id=match_id, is_referee=is_referee)
    if spec == LLM:
        from league_agents.arena.agents.llm_agent import LlmAgent

        model = _asked(company, f"agent {seat.id}").for_callback(f"{ARENA}{game}")
        return LlmAgent(game, model=model, seed=seed, agent_id=seat.id, now=company.now, match_id=match_id)
    if ":" in spec:
        return _own_class(spec)
    known = [SCRIPTED, RANDOM, LLM, HUMAN, *([OFFLINE] if game == "q21" else [])]
    near = get_close_matches(spec, known, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise ConfigError(f"agent {seat.id}", f"{shown(spec)} is no agent; {hint}write {', '.join(known)} or module:Class")


def _league_agent(
    spec: str, scenario: Scenario, company: Company, *, seed: str, match_id: str, is_referee: bool
) -> object:
    from league_agents.games.q21.seats import rules_from

    rules = rules_from(scenario.config)
    if ":" in spec and callable(getattr(load_class(spec), "act", None)):
        return _own_class(spec)
    role: AgentRole = "referee" if is_referee else "player"
    chosen = choose_agent(
        spec, role, rules=rules, seed=seed, index_path=company.index_path, models=lambda: _asked(company, spec)
    )
    return CallbackAgent(chosen.factory(), rules=rules, match_id=match_id, now=company.now)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """The company's models in the form in which league agents take them."""

    for_callback: Models


def _asked(company: Company, who: str) -> _Asked:
    if company.models is None:
        raise ConfigError(who, f"no language model is configured; {REMEDY}")
    return _Asked(for_callback=company.models())


def _own_class(spec: str) -> object:
    """An instance of a user's class: one with ``act``, or with the two methods of an undercover agent."""
    agent_class = load_class(spec)
    try:
        agent = agent_class()
    except Exception as error:  # the constructor is user code
        raise ConfigError(spec, f"cannot be made: its constructor raised {line_of(error)}") from None
    if callable(getattr(agent, "act", None)):
        return agent
    if callable(getattr(agent, "generate_description", None)) and callable(getattr(agent, "vote", None)):
        return UndercoverSeat(agent)
    raise ConfigError(spec, "is no agent of the arena; give it a method act(view, legal, deadline)")


def reader_of(scenario: Scenario, viewer: str) -> Reader:
    """Somebody who reads the match: the person on a seat, or ``HOST``."""
    return Reader(viewer=viewer, lang=scenario.lang, names=scenario.config.get("names") or {})


def memory_for(game: str) -> Memory | None:
    """What an agent of the game is helped to remember (arena 3.4)."""
    return AgentMemory() if game == "undercover" else None


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
    # Named by what everybody may know: a name that followed from the seed could give roles away.
    match_id = f"{scenario.game}-{'-'.join(scenario.agent_ids)[:60]}"
    agents = {
        seat.id: arena_agent(seat, scenario, company, seed=seed, match_id=match_id, is_referee=place == 0)
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

