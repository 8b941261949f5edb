"""The state of a market match, and its conversion to and from JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from pydantic import Field

from league_agents.games.configuration import GameConfig
from league_agents.games.entry import check_agent_ids
from league_agents.games.game import IllegalAction, JsonObject
from league_agents.games.market.resolution import MarketTerms, Offer, SettledRound, read_offer, settle
from league_agents.kit.errors import ConfigError
from league_agents.kit.mistakes import not_one_of
from league_agents.kit.violation import shown
from league_agents.kit.written import WrittenMapping, read_written

FEWEST: Final = 2
MOST: Final = 64
MOST_ROUNDS: Final = 10_000


class MarketConfig(MarketTerms, GameConfig):
    """The configuration of a market match."""

    max_rounds: int = Field(10, ge=1, le=MOST_ROUNDS, description="How many rounds are played.")
    simultaneous: bool = Field(
        True,
        description="Prices are sealed until all are in; without it they are named in turn and heard at once.",
    )
    shown_rounds: int = Field(
        20,
        ge=1,
        le=MOST_ROUNDS,
        # Each was announced when it was settled.
        description="Of how many past rounds a view repeats the results.",
    )


class SellerTurn(Struct, frozen=True, kw_only=True):
    """One seller's turn in the open round."""

    agent: str
    offer: Offer | None
    """``None`` = the seller forfeited."""

    heard_by: tuple[str, ...] | None = None
    """Agents that heard the offer before the round was settled, if prices are named in turn; ``None`` = everybody."""


class MarketState(Struct, frozen=True, kw_only=True):
    """The state of a match."""

    config: MarketConfig
    agent_ids: tuple[str, ...]
    balances: tuple[int, ...]
    turns: tuple[SellerTurn, ...] = ()
    """Turns of the open round, in the order in which they were taken."""

    rounds: tuple[SettledRound, ...] = ()

    @property
    def is_over(self) -> bool:
        return len(self.rounds) >= self.config.max_rounds


def prices(config: JsonObject, agent_ids: Sequence[str]) -> range:  # noqa: ARG001  # the same for all sellers
    """Return the prices that can be named in a match."""
    least, most = MarketConfig.read(config).price_range
    return range(least, most + 1)


def dump(state: MarketState) -> dict[str, Any]:
    """Return the state as JSON values, without the results of rounds: they follow from the offers."""
    return {
        "config": state.config.as_json(),
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


class StoredTurn(WrittenMapping):
    """The stored form of one seller's turn in the open round."""

    agent: str
    offer: Any = None
    heard_by: list[str] | None = None


class StoredMarket(WrittenMapping):
    """The stored form of a match."""

    config: Any
    agent_ids: list[str]
    turns: list[StoredTurn]
    rounds: list[list[Any]]


def load(dumped: JsonObject) -> MarketState:
    """Return the dumped state. Raises ``ConfigError`` for anything else."""
    stored = read_written(StoredMarket, dumped, "")
    config = MarketConfig.read(stored.config)
    agent_ids = check_agent_ids(stored.agent_ids, FEWEST, MOST)
    rounds: list[SettledRound] = []
    balances = (config.initial_balance,) * len(agent_ids)
    for number, found in enumerate(stored.rounds):
        path = f"rounds[{number}]"
        offers = tuple(_offer(each, config, path) for each in found)
        if len(offers) != len(agent_ids) or number >= config.max_rounds:
            raise ConfigError(path, "must hold one offer a seller, and be within max_rounds")
        rounds.append(settle(agent_ids, offers, balances, config))
        balances = rounds[-1].balances
    turns: list[SellerTurn] = []
    for place, turn in enumerate(stored.turns):
        path = f"turns[{place}]"
        left = [each for each in agent_ids if all(each != other.agent for other in turns)]
        if turn.agent not in left:
            raise not_one_of(f"{path}.agent", left, turn.agent)
        if turn.heard_by is not None and not set(turn.heard_by) <= set(agent_ids):
            raise ConfigError(f"{path}.heard_by", "must hold agents of the match")
        turns.append(
            SellerTurn(
                agent=turn.agent,
                offer=_offer(turn.offer, config, f"{path}.offer"),
                heard_by=None if turn.heard_by is None else tuple(turn.heard_by),
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
    if not isinstance(dumped, Mapping):
        raise ConfigError(path, f"must be a mapping, found {shown(dumped)}")
    try:
        return read_offer(dumped, terms)
    except IllegalAction as refused:
        raise ConfigError(path, refused.message) from None
