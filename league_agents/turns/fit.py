"""Fit a protocol to a game (arena 4.5).

Rule: an incompatible combination is refused before the match starts; two limits that contradict each other are a
warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from league_agents.games.game import Game, JsonObject
from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import not_one_of
from league_agents.turns.broadcast import BroadcastDeliberation
from league_agents.turns.load import PROTOCOL_TYPES
from league_agents.turns.turn_taking import TurnTaking


def default_protocol(game: Game[Any], agent_ids: Sequence[str], config: JsonObject) -> TurnTaking:
    """Return the protocol of a match that names none. Raises ``ConfigError`` if the game's own does not exist."""
    name = game.protocol or BroadcastDeliberation.type
    if name not in PROTOCOL_TYPES:
        raise not_one_of(f"protocol of {game.code}", tuple(PROTOCOL_TYPES), name)
    return PROTOCOL_TYPES[name].make.for_match(agent_ids, config)


def fit(game: Game[Any], agent_ids: Sequence[str], config: JsonObject, protocol: TurnTaking) -> dict[str, Any]:
    """Prepare a new protocol for a game; return the game's configuration with the keys that the protocol decides.

    Raises ``ConfigError`` for a protocol that does not fit the game.
    """
    if protocol.agent_ids != tuple(agent_ids):
        raise ConfigError("protocol", f"is for the agents {', '.join(protocol.agent_ids)}, not those of the match")
    if protocol.current_round or protocol.message_log or protocol.skips:
        raise ConfigError("protocol", "has been used; give every match a fresh one")
    if protocol.type != game.protocol if game.protocol is not None else not protocol.is_for_talk:
        talking = [name for name, each in PROTOCOL_TYPES.items() if each.make.is_for_talk]
        wanted = game.protocol or f"{', '.join(talking)} or a class of your own"
        raise ConfigError("protocol.type", f"must be {wanted} for {game.code}, found {protocol.type}")
    in_force = protocol.in_force(config)
    protocol.adopt(in_force)
    absent = [agent for agent in agent_ids if agent not in protocol.members()]
    if absent:
        raise ConfigError("flow.flow_order", f"must have every agent; {', '.join(absent[:12])} would never speak")
    return in_force


def limit_warnings(game: Game[Any], config: JsonObject, protocol: TurnTaking) -> tuple[str, ...]:
    """Return a warning for each limit of the protocol that differs from the game's: the earlier one ends the match."""
    limit = game.rounds(config)
    if limit is None:
        return ()
    key, rounds = limit
    found = []
    limits = [("flow.cyclic", 1)] if not protocol.flow.cyclic else []
    limits += [("max_rounds", each.value) for each in protocol.flow.stop_conditions if each.type == "max_rounds"]
    for name, value in limits:
        if value < rounds:
            found.append(
                f"{name} stops after {_rounds(value)} of the protocol, before the game's {key} ({_rounds(rounds)}): "
                "the match may end without winners"
            )
        elif value > rounds:
            found.append(
                f"{name} ({_rounds(value)}) is never reached: the game's {key} ends it after {_rounds(rounds)}"
            )
    return tuple(found)


def _rounds(count: int) -> str:
    return "1 round" if count == 1 else f"{count} rounds"
