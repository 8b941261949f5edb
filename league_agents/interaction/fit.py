"""Which protocol a game is played with (arena 4.5).

Rule: what cannot work together is refused before the first word; two limits that contradict each other are a warning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from league_agents.core.game import JsonObject
from league_agents.core.keys import Keys
from league_agents.errors import ConfigError
from league_agents.games.market.resolution import TERM_KEYS, read_terms
from league_agents.interaction.broadcast import BroadcastDeliberation
from league_agents.interaction.market import MarketTurnBased
from league_agents.interaction.own_turns import OwnTurns
from league_agents.interaction.sequential import SequentialHandoff
from league_agents.interaction.turns import TurnTaking

MARKET_GAME: Final = "market"

_TALKING: Final = (BroadcastDeliberation, SequentialHandoff, OwnTurns)


def default_protocol(code: str, agent_ids: Sequence[str], config: JsonObject) -> TurnTaking:
    """The protocol of a match that names none."""
    if code == MARKET_GAME:
        return MarketTurnBased(agent_ids, simultaneous=config.get("simultaneous", True))
    return BroadcastDeliberation(agent_ids)


def config_in_force(code: str, config: JsonObject, protocol: TurnTaking) -> dict[str, Any]:
    """The game's configuration with what the protocol decides: whether a market's prices are named at once."""
    found = dict(config)
    if code == MARKET_GAME and isinstance(protocol, MarketTurnBased):
        given = found.setdefault("simultaneous", protocol.simultaneous)
        if given != protocol.simultaneous:
            said = str(protocol.simultaneous).lower()
            raise ConfigError("simultaneous", f"differs from the protocol, which has {said}; keep one of the two")
    return found


def fit(code: str, agent_ids: Sequence[str], config: JsonObject, protocol: TurnTaking) -> None:
    """Make a fresh protocol ready for a game. Raises ``ConfigError`` for one that the game cannot be played with."""
    if protocol.agent_ids != tuple(agent_ids):
        raise ConfigError("protocol", f"is for the agents {', '.join(protocol.agent_ids)}, not those of the match")
    if protocol.current_round or protocol.message_log or protocol.skips:
        raise ConfigError("protocol", "has been used; give every match a fresh one")
    if code == MARKET_GAME:
        if not isinstance(protocol, MarketTurnBased):
            raise ConfigError("protocol.type", f"must be market_turn_based for the market, found {protocol.type}")
        terms = {key: value for key, value in config.items() if key in TERM_KEYS}
        protocol.adopt(read_terms(Keys(terms, "", TERM_KEYS)))
    elif not isinstance(protocol, _TALKING):
        raise ConfigError(
            "protocol.type", f"must be broadcast, sequential or a class of your own for {code}, found {protocol.type}"
        )
    absent = [agent for agent in agent_ids if agent not in protocol.members()]
    if absent:
        raise ConfigError("flow.flow_order", f"must have every agent; {', '.join(absent[:12])} would never speak")


_ROUNDS: Final[Mapping[str, Callable[[Mapping[str, Any]], tuple[str, int]]]] = {
    # A step of guess_number is one round of reports and, with proposals, one of proposals.
    "guess_number": lambda config: ("max_steps", config["max_steps"] * (2 if config["proposals"] else 1)),
    "undercover": lambda config: ("max_rounds", config["max_rounds"]),
    MARKET_GAME: lambda config: ("max_rounds", config["max_rounds"]),
}
"""The key of a game's own limit, and how many rounds of the protocol it makes."""


def limit_warnings(code: str, config: JsonObject, schema: JsonObject, protocol: TurnTaking) -> tuple[str, ...]:
    """What is worth knowing when the game's limit and the protocol's differ: the earlier one ends the match."""
    rounds_of = _ROUNDS.get(code)
    if rounds_of is None:
        return ()
    defaults = {key: each["default"] for key, each in schema.get("properties", {}).items() if "default" in each}
    try:
        key, rounds = rounds_of({**defaults, **config})
    except KeyError:
        return ()
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
