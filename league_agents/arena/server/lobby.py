"""What strangers may ask of a lobby, read and bounded.

Rule 1: a stranger never decides, and is never told, what is the host's: seeds, and the keys of a configuration that a
game marks as ``x-host-only``.
Rule 2: whatever is wrong is one ``ConfigError`` that names the key and the remedy.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from league_agents.arena.protocol.envelope import instant
from league_agents.arena.protocol.hosting import Hosted
from league_agents.arena.protocol.requests import CreateMatch, SeatWanted
from league_agents.arena.scenario import Scenario, scenario_of
from league_agents.arena.server.house import OPEN, House
from league_agents.arena.server.limits import ServerLimits
from league_agents.games.registry import game_of, usable_games
from league_agents.kit.errors import ConfigError
from league_agents.kit.keys import Keys
from league_agents.kit.violation import shown

HOST_ONLY = "x-host-only"
LONGEST_PAUSE_S = 10.0

_MATCH_KEYS = (
    *("game", "config", "agents", "seats", "lang", "clock", "pause_s", "listed", "watchable"),
    *("protocol", "topology", "flow"),
)
_INTERACTION_KEYS = ("protocol", "topology", "flow")
_SEAT_KEYS = ("id", "name", "agent")
_JOIN_KEYS = ("name", "type", "agent_id")
_AGENT_ID = re.compile(r"[A-Za-z0-9_.:-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchWanted:
    """A match that somebody wants to open."""

    scenario: Scenario
    pause: timedelta
    """What each agent of the house takes for an action, so that people can follow."""

    is_listed: bool
    is_open: bool
    """Whether others may watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinWanted:
    """A seat that somebody wants to take."""

    name: str
    kind: Literal["human", "ai"]
    agent_id: str | None
    """``None``: the first that is free."""


def match_wanted(fields: Mapping[str, Any], house: House, limits: ServerLimits) -> MatchWanted:
    """The match that a body of ``POST /matches`` describes. Raises ``ConfigError``."""
    keys = Keys(fields, "", _MATCH_KEYS)
    game = keys.word("game", usable_games()[0], None)
    config = _config(keys, game)
    seats = _seats(keys, game, house, config)
    lang = keys.word("lang", ("en", "zh"), None) if "lang" in keys else None
    usual = house.usual_table(game, seats=len(seats), config=config, lang=lang)
    mapping: dict[str, Any] = {
        "game": game,
        "config": dict(usual.config),
        "lang": usual.lang,
        "agents": [
            {"id": seat.get("id", usual_id), "name": seat.get("name", seat.get("id", usual_id)), "agent": seat["agent"]}
            for seat, usual_id in zip(seats, usual.agent_ids, strict=True)
        ],
        **{key: keys.at(key) for key in (*_INTERACTION_KEYS, "clock") if key in keys},
    }
    scenario = scenario_of(mapping)
    _check_clock(scenario, limits)
    return MatchWanted(
        scenario=scenario,
        pause=timedelta(seconds=keys.number("pause_s", 0, 0, LONGEST_PAUSE_S)),
        is_listed=keys.boolean("listed", True),
        is_open=keys.boolean("watchable", True),
    )


def scenario_asked_for(request: CreateMatch, house: House, limits: ServerLimits) -> Scenario:
    """The match that a ``create_match`` describes; seats without an agent are open. Raises ``ConfigError``."""
    game, account = request.heading.game, request.heading.agent_id
    keys = Keys({"config": request.config}, "", ("config",))
    config = _config(keys, game)
    seats = request.seats
    if seats is None:
        usual = house.usual_table(game, config=config)
        ids = (account, *[agent_id for agent_id in usual.agent_ids if agent_id != account][1:])
        seats = tuple(SeatWanted(agent_id=agent_id) for agent_id in ids)
    if account not in [seat.agent_id for seat in seats if seat.agent in (None, OPEN)]:
        raise ConfigError("agents", f"must hold {account}, who opens the match, on an open seat")
    agents = []
    for place, seat in enumerate(seats):
        wanted = _seat({"agent": seat.agent or OPEN}, place, house.agents_of(game))
        agents.append({**wanted, "id": seat.agent_id, "name": seat.name or seat.agent_id})
    scenario = scenario_of({"game": game, "config": config, "agents": agents})
    _check_clock(scenario, limits)
    return scenario


def join_wanted(fields: Mapping[str, Any]) -> JoinWanted:
    """The seat that a body of ``POST /matches/{id}/join`` asks for. Raises ``ConfigError``."""
    keys = Keys(fields, "", _JOIN_KEYS)
    agent_id = keys.at("agent_id") if "agent_id" in keys else None
    if agent_id is not None and not (isinstance(agent_id, str) and _AGENT_ID.fullmatch(agent_id)):
        raise keys.wrong("agent_id", "the id of a seat", agent_id)
    name = keys.at("name") if "name" in keys else ""
    if not isinstance(name, str) or len(name) > 200:
        raise keys.wrong("name", "a text of at most 200 characters", name)
    kind = keys.word("type", ("human", "ai"), "ai")
    return JoinWanted(name=name, kind="human" if kind == "human" else "ai", agent_id=agent_id)


def games_told(house: House) -> list[dict[str, Any]]:
    """Every game, as the lobby shows it."""
    told = []
    for code in usable_games()[0]:
        game = game_of(code)
        usual = house.usual_table(code)
        schema = dict(game.config_schema)
        schema["properties"] = {
            key: each for key, each in schema.get("properties", {}).items() if not each.get(HOST_ONLY)
        }
        told.append(
            {
                "game": code,
                "version": game.version,
                "agents": [game.min_agents, game.max_agents],
                "rules": {lang: game.rules_text({}, lang) for lang in ("en", "zh")},
                "config": schema,
                "actions": dict(game.action_schemas),
                "house": list(house.agents_of(code)),
                "usual_seats": list(usual.agent_ids),
            }
        )
    return told


def match_told(hosted: Hosted, scenario: Scenario, watching: int) -> dict[str, Any]:
    """A match, as the lobby shows it to everybody."""
    agents = {seat.id: seat.agent for seat in scenario.seats}
    return {
        "match_id": hosted.match_id,
        "game": hosted.match.game.code,
        "status": hosted.status.value,
        "lang": scenario.lang,
        "created_at": instant(hosted.created_at),
        "started_at": None if hosted.started_at is None else instant(hosted.started_at),
        "ended_at": None if hosted.ended_at is None else instant(hosted.ended_at),
        "open_seats": hosted.open_seats,
        "watchable": hosted.is_open,
        "watching": watching,
        "seats": [
            {
                "agent_id": seat.agent_id,
                "name": seat.name or seat.agent_id,
                "type": seat.kind,
                "is_taken": seat.is_taken,
                "house": None if agents[seat.agent_id] == OPEN else agents[seat.agent_id],
            }
            for seat in hosted.seats
        ],
    }


def _config(keys: Keys, game: str) -> dict[str, Any]:
    config = keys.at("config") if "config" in keys else {}
    if not isinstance(config, Mapping):
        raise keys.wrong("config", "an object with the game's keys", config)
    for key, schema in game_of(game).config_schema.get("properties", {}).items():
        if schema.get(HOST_ONLY) and config.get(key) is not None:
            raise ConfigError(f"config.{key}", "is for the host alone; leave it out, and it is drawn")
    return dict(config)


def _seats(keys: Keys, game: str, house: House, config: Mapping[str, Any]) -> list[dict[str, str]]:
    """What is known of every seat. Where nothing is said, the first seat is open and the house takes the others."""
    rules, allowed = game_of(game), house.agents_of(game)
    if "agents" not in keys:
        count = keys.integer("seats", 0, rules.min_agents, rules.max_agents) if "seats" in keys else None
        usual = house.usual_table(game, seats=count, config=config)
        own = house.person_seat(game)
        return [{"agent": OPEN if place == own else allowed[0]} for place in range(len(usual.seats))]
    if "seats" in keys:
        raise ConfigError("seats", "stands beside agents, which say it already; give one of the two")
    value = keys.at("agents")
    if (
        not isinstance(value, Sequence)
        or isinstance(value, str)
        or not rules.min_agents <= len(value) <= rules.max_agents
    ):
        raise keys.wrong("agents", f"a list of {rules.min_agents} to {rules.max_agents} seats", value)
    return [_seat(each, place, allowed) for place, each in enumerate(value)]


def _seat(value: object, place: int, allowed: Sequence[str]) -> dict[str, str]:
    path = f"agents[{place}]"
    seat = Keys(value if isinstance(value, Mapping) else {"agent": value}, path, _SEAT_KEYS)
    agent = seat.at("agent") if "agent" in seat else OPEN
    known = (OPEN, *allowed)
    if agent not in known:
        raise ConfigError(f"{path}.agent", f"must be one of {', '.join(known)}, found {shown(agent)}")
    found = {"agent": str(agent)}
    for key in ("id", "name"):
        if key in seat:
            found[key] = seat.text(key, None, most=64)
    return found


def _check_clock(scenario: Scenario, limits: ServerLimits) -> None:
    clock, most = scenario.clock, limits.longest_turn
    if clock.turn_timeout is None or clock.turn_timeout > most:
        raise ConfigError("clock.turn_timeout_s", f"must be at most {most.total_seconds():g} at this server")
    if clock.time_bank > most:
        raise ConfigError("clock.time_bank_s", f"must be at most {most.total_seconds():g} at this server")
    if clock.max_invalid > 20 or clock.max_forfeits > 100:
        raise ConfigError("clock", "max_invalid must be at most 20 and max_forfeits at most 100 at this server")
