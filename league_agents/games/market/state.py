"""The state of a market match and its way to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Struct

from league_agents.games.entry import check_agent_ids
from league_agents.games.game import IllegalAction, JsonObject
from league_agents.games.market.resolution import (
    TERM_KEYS,
    MarketTerms,
    Offer,
    SettledRound,
    read_offer,
    read_terms,
    settle,
)
from league_agents.games.people import LANGUAGES, read_names
from league_agents.kit.errors import ConfigError
from league_agents.kit.frozen import FrozenDict
from league_agents.kit.keys import Keys
from league_agents.kit.violation import shown

FEWEST: Final = 2
MOST: Final = 64
MOST_ROUNDS: Final = 10_000

CONFIG_KEYS: Final = (*TERM_KEYS, "max_rounds", "simultaneous", "shown_rounds", "lang", "names")


class MarketConfig(Struct, frozen=True, kw_only=True):
    """What a market match is played with."""

    terms: MarketTerms
    max_rounds: int = 10
    simultaneous: bool = True
    """Whether prices are sealed until all are in, or named in turn."""

    shown_rounds: int = 20
    """Of how many past rounds a view repeats the results; each was announced when it was settled."""

    lang: str = "en"
    names: Mapping[str, str] = msgspec.field(default_factory=FrozenDict)
    """What sellers are called in the events' texts, by id; the others by their ids."""

    def called(self, agent: str) -> str:
        """What a seller is called in a text."""
        return self.names.get(agent, agent)


class SellerTurn(Struct, frozen=True, kw_only=True):
    """What one seller did in the open round."""

    agent: str
    offer: Offer | None
    """``None`` = it forfeited."""

    heard_by: tuple[str, ...] | None = None
    """Who heard it before the round was settled, where prices are named in turn; ``None`` = everybody."""


class MarketState(Struct, frozen=True, kw_only=True):
    """Everything about a match."""

    config: MarketConfig
    agent_ids: tuple[str, ...]
    balances: tuple[int, ...]
    turns: tuple[SellerTurn, ...] = ()
    """Of the open round, in the order in which they were taken."""

    rounds: tuple[SettledRound, ...] = ()

    @property
    def is_over(self) -> bool:
        return len(self.rounds) >= self.config.max_rounds


def read_config(config: JsonObject) -> MarketConfig:
    """The configuration with its defaults. Raises ``ConfigError``."""
    keys = Keys(config, "", CONFIG_KEYS)
    return MarketConfig(
        terms=read_terms(keys),
        max_rounds=keys.integer("max_rounds", 10, 1, MOST_ROUNDS),
        simultaneous=keys.boolean("simultaneous", True),
        shown_rounds=keys.integer("shown_rounds", 20, 1, MOST_ROUNDS),
        lang=keys.word("lang", LANGUAGES, "en"),
        names=read_names(keys.at("names") if "names" in keys else None),
    )


def prices(config: JsonObject, agent_ids: Sequence[str]) -> range:  # noqa: ARG001  # the same for all sellers
    """What can be asked in a match."""
    least, most = read_config(config).terms.price_range
    return range(least, most + 1)


def config_to(config: MarketConfig) -> dict[str, Any]:
    """The configuration as JSON values, every key there."""
    terms = msgspec.structs.asdict(config.terms)
    terms["price_range"] = list(config.terms.price_range)
    return {
        **terms,
        "max_rounds": config.max_rounds,
        "simultaneous": config.simultaneous,
        "shown_rounds": config.shown_rounds,
        "lang": config.lang,
        "names": dict(config.names),
    }


def dump(state: MarketState) -> dict[str, Any]:
    """The state as JSON values. What the rounds came to is not in it: it follows from their offers."""
    return {
        "config": config_to(state.config),
        "agent_ids": list(state.agent_ids),
        "turns": [
            {
                "agent": turn.agent,
                "offer": _offer_to(turn.offer),
                "heard_by": None if turn.heard_by is None else list(turn.heard_by),
            }
            for turn in state.turns
        ],
        "rounds": [[_offer_to(offer) for offer in settled.offers] for settled in state.rounds],
    }


def load(dumped: JsonObject) -> MarketState:
    """The state that was dumped. Raises ``ConfigError`` for anything else."""
    keys = Keys(dumped, "", ("config", "agent_ids", "turns", "rounds"))
    config = read_config(_mapping(keys.at("config"), "config"))
    agent_ids = check_agent_ids(_listed(keys.at("agent_ids"), "agent_ids"), FEWEST, MOST)
    rounds: list[SettledRound] = []
    balances = (config.terms.initial_balance,) * len(agent_ids)
    for number, found in enumerate(_listed(keys.at("rounds"), "rounds")):
        path = f"rounds[{number}]"
        offers = tuple(_offer(each, config.terms, path) for each in _listed(found, path))
        if len(offers) != len(agent_ids) or number >= config.max_rounds:
            raise ConfigError(path, "must hold one offer a seller, and be within max_rounds")
        rounds.append(settle(agent_ids, offers, balances, config.terms))
        balances = rounds[-1].balances
    turns: list[SellerTurn] = []
    for place, found in enumerate(_listed(keys.at("turns"), "turns")):
        path = f"turns[{place}]"
        turn = Keys(found, path, ("agent", "offer", "heard_by"))
        agent = turn.word("agent", [each for each in agent_ids if all(each != other.agent for other in turns)], None)
        heard = turn.at("heard_by")
        if heard is not None and not all(name in agent_ids for name in _listed(heard, f"{path}.heard_by")):
            raise ConfigError(f"{path}.heard_by", "must hold agents of the match")
        turns.append(
            SellerTurn(
                agent=agent,
                offer=_offer(turn.at("offer"), config.terms, f"{path}.offer"),
                heard_by=None if heard is None else tuple(_listed(heard, path)),
            )
        )
    if len(turns) >= len(agent_ids) or (turns and len(rounds) >= config.max_rounds):
        raise ConfigError("turns", "must leave somebody to name a price")
    return MarketState(config=config, agent_ids=agent_ids, balances=balances, turns=tuple(turns), rounds=tuple(rounds))


def _offer_to(offer: Offer | None) -> dict[str, Any] | None:
    return None if offer is None else {"price": offer.price, "speech": offer.speech}


def _offer(dumped: object, terms: MarketTerms, path: str) -> Offer | None:
    if dumped is None:
        return None
    try:
        return read_offer(_mapping(dumped, path), terms)
    except IllegalAction as refused:
        raise ConfigError(path, refused.message) from None


def _mapping(value: object, path: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ConfigError(path, f"must be a mapping, found {shown(value)}")
    return value


def _listed(value: object, path: str) -> Sequence[Any]:
    if not isinstance(value, (list, tuple)):
        raise ConfigError(path, f"must be a list, found {shown(value)}")
    return value
