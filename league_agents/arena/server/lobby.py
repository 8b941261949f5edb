"""Requests to the lobby, parsed and bounded.

Rule 1: a client can neither set nor read what belongs to the host: seeds, and the configuration keys that a game marks
as ``x-host-only``.
Rule 2: every fault is one ``ConfigError`` that names the key and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field

from league_agents.arena.protocol.envelope import instant
from league_agents.arena.protocol.hosting import Hosted
from league_agents.arena.protocol.requests import CreateMatch, SeatWanted
from league_agents.arena.scenario import Scenario, scenario_of
from league_agents.arena.server.house import OPEN, House
from league_agents.arena.server.limits import ServerLimits
from league_agents.games.registry import game_of, usable_games
from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import not_one_of, wrong_value
from league_agents.kit.written import Words, WrittenMapping, one_line, read_written

HOST_ONLY = "x-host-only"
LONGEST_PAUSE_S = 10.0

AgentName = Annotated[str, one_line(64)]


class LobbySeat(WrittenMapping):
    """A seat in a body of ``POST /matches``."""

    id: AgentName | None = None
    name: AgentName | None = None
    agent: str = OPEN


class WrittenMatch(WrittenMapping):
    """A body of ``POST /matches``. Fields of type ``Any`` are checked when the scenario is read."""

    game: str
    config: Annotated[dict[str, Any], Words("an object with the game's keys")] = Field(default_factory=dict)
    agents: Annotated[list[Any], Field(strict=False)] | None = None
    seats: int | None = None
    lang: Literal["en", "zh"] | None = None
    clock: Any = None
    pause_s: Annotated[float, Field(ge=0, le=LONGEST_PAUSE_S)] = 0
    listed: bool = True
    watchable: bool = True
    protocol: Any = None
    topology: Any = None
    flow: Any = None


class WrittenJoin(WrittenMapping):
    """A body of ``POST /matches/{id}/join``."""

    name: Annotated[str, Field(max_length=200), Words("a text of at most 200 characters")] = ""
    type: Literal["human", "ai"] = "ai"
    agent_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$"), Words("the id of a seat")] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchWanted:
    """A parsed request to open a match."""

    scenario: Scenario
    pause: timedelta
    """Time that each agent of the house takes for an action, so that people can follow."""

    is_listed: bool
    is_open: bool
    """Whether spectators may watch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinWanted:
    """A parsed request to take a seat."""

    name: str
    kind: Literal["human", "ai"]
    agent_id: str | None
    """``None`` for the first free seat."""


def match_wanted(fields: Mapping[str, Any], house: House, limits: ServerLimits) -> MatchWanted:
    """Parse a body of ``POST /matches``. Raises ``ConfigError``."""
    written = read_written(WrittenMatch, fields, "")
    game, codes = written.game, usable_games()[0]
    if game not in codes:
        raise not_one_of("game", codes, game)
    config = _config(written.config, game)
    seats = _seats(written, house)
    usual = house.usual_table(game, seats=len(seats), config=config, lang=written.lang)
    others = {key: getattr(written, key) for key in ("clock", "protocol", "topology", "flow")}
    mapping: dict[str, Any] = {
        "game": game,
        "config": dict(usual.config),
        "lang": usual.lang,
        "agents": [
            {"id": seat.id or usual_id, "name": seat.name or seat.id or usual_id, "agent": seat.agent}
            for seat, usual_id in zip(seats, usual.agent_ids, strict=True)
        ],
        **others,
    }
    scenario = scenario_of(mapping)
    _check_clock(scenario, limits)
    return MatchWanted(
        scenario=scenario,
        pause=timedelta(seconds=written.pause_s),
        is_listed=written.listed,
        is_open=written.watchable,
    )


def scenario_asked_for(request: CreateMatch, house: House, limits: ServerLimits) -> Scenario:
    """The scenario of a ``create_match``; seats without an agent are open. Raises ``ConfigError``."""
    game, account = request.heading.game, request.heading.agent_id
    config = _config(request.config, game)
    seats = request.seats
    if seats is None:
        usual = house.usual_table(game, config=config)
        ids = (account, *[agent_id for agent_id in usual.agent_ids if agent_id != account][1:])
        seats = tuple(SeatWanted(agent_id=agent_id) for agent_id in ids)
    if account not in [seat.agent_id for seat in seats if seat.agent in (None, OPEN)]:
        raise ConfigError("agents", f"must hold {account}, who opens the match, on an open seat")
    agents = []
    for place, seat in enumerate(seats):
        agent = _seat({"agent": seat.agent or OPEN}, place, house.agents_of(game)).agent
        agents.append({"agent": agent, "id": seat.agent_id, "name": seat.name or seat.agent_id})
    scenario = scenario_of({"game": game, "config": config, "agents": agents})
    _check_clock(scenario, limits)
    return scenario


def join_wanted(fields: Mapping[str, Any]) -> JoinWanted:
    """Parse a body of ``POST /matches/{id}/join``. Raises ``ConfigError``."""
    written = read_written(WrittenJoin, fields, "")
    return JoinWanted(name=written.name, kind=written.type, agent_id=written.agent_id)


def games_told(house: House) -> list[dict[str, Any]]:
    """The lobby's list of games, as JSON values."""
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
    """A match in the lobby's public list, as JSON values."""
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


def _config(config: Mapping[str, Any], game: str) -> dict[str, Any]:
    for key, schema in game_of(game).config_schema.get("properties", {}).items():
        if schema.get(HOST_ONLY) and config.get(key) is not None:
            raise ConfigError(f"config.{key}", "is for the host alone; leave it out, and it is drawn")
    return dict(config)


def _seats(written: WrittenMatch, house: House) -> list[LobbySeat]:
    """The seats as given. If none are given, the house's person seat is open and the house takes the others."""
    game = written.game
    rules, allowed = game_of(game), house.agents_of(game)
    least, most = rules.min_agents, rules.max_agents
    if written.agents is None:
        if written.seats is not None and not least <= written.seats <= most:
            raise wrong_value("seats", f"a whole number from {least} to {most}", written.seats)
        usual = house.usual_table(game, seats=written.seats, config=written.config)
        own = house.person_seat(game)
        return [LobbySeat(agent=OPEN if place == own else allowed[0]) for place in range(len(usual.seats))]
    if written.seats is not None:
        raise ConfigError("seats", "stands beside agents, which say it already; give one of the two")
    if not least <= len(written.agents) <= most:
        raise wrong_value("agents", f"a list of {least} to {most} seats", written.agents)
    return [_seat(each, place, allowed) for place, each in enumerate(written.agents)]


def _seat(value: object, place: int, allowed: Sequence[str]) -> LobbySeat:
    path = f"agents[{place}]"
    seat = read_written(LobbySeat, value if isinstance(value, Mapping) else {"agent": value}, path)
    if seat.agent not in (OPEN, *allowed):
        raise not_one_of(f"{path}.agent", (OPEN, *allowed), seat.agent)
    return seat


def _check_clock(scenario: Scenario, limits: ServerLimits) -> None:
    clock, most = scenario.clock, limits.longest_turn
    if clock.turn_timeout is None or clock.turn_timeout > most:
        raise ConfigError("clock.turn_timeout_s", f"must be at most {most.total_seconds():g} at this server")
    if clock.time_bank > most:
        raise ConfigError("clock.time_bank_s", f"must be at most {most.total_seconds():g} at this server")
    if clock.max_invalid > 20 or clock.max_forfeits > 100:
        raise ConfigError("clock", "max_invalid must be at most 20 and max_forfeits at most 100 at this server")
