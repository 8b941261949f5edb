"""Everybody names a price, then the market settles the round (arena 4.2, 4.4).

Rule: a sealed price is hidden from the others until the last one is submitted, and all sellers receive the same result.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from league_agents.games.game import IllegalAction, Mode
from league_agents.games.market.resolution import (
    MarketTerms,
    Offer,
    read_offer,
    result_of,
    settle,
)
from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown
from league_agents.kit.written import read_written
from league_agents.turns.flow import InformationFlowConfig
from league_agents.turns.message import InteractionError, Message
from league_agents.turns.topology import Topology
from league_agents.turns.turn_taking import Stages, TurnTaking

MARKET: Final = "market"
"""The sender of results."""


class MarketTurnBased(TurnTaking):
    """Messages are ``{"price": int, "speech": str}``; the protocol keeps the balances."""

    type = "market_turn_based"

    def __init__(
        self,
        agent_ids: Sequence[str],
        topology: Topology | None = None,
        flow: InformationFlowConfig | None = None,
        *,
        simultaneous: bool = True,
        market: Mapping[str, Any] | None = None,
    ) -> None:
        """``market``: the terms that differ from the defaults, such as ``price_range`` or ``marginal_cost``.

        With ``simultaneous=False`` sellers name prices in turn and hear them at once. Raises ``ConfigError``.
        """
        if type(simultaneous) is not bool:
            raise ConfigError("protocol.simultaneous", f"must be true or false, found {shown(simultaneous)}")
        self.simultaneous = simultaneous
        self.has_own_terms = market is not None
        """Whether the terms were given; if not, a match replaces the defaults by its game's terms."""

        self.terms: MarketTerms = read_written(MarketTerms, market, "protocol.market")
        super().__init__(agent_ids, topology, flow)

    def reset(self) -> None:
        self.balances: dict[str, int] = dict.fromkeys(self.agent_ids, self.terms.initial_balance)
        self.results: list[dict[str, Any]] = []
        """One result a round; see ``result_of``."""

        self._offers: dict[str, Offer | None] = {}
        self._sealed: list[Message] = []
        super().reset()

    @classmethod
    def for_match(cls, agent_ids: Sequence[str], config: Mapping[str, Any]) -> MarketTurnBased:
        return cls(agent_ids, simultaneous=config.get("simultaneous", True))

    def in_force(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """Add ``simultaneous``, which the protocol decides. Raises ``ConfigError`` if the game's value differs."""
        found = dict(config)
        given = found.setdefault("simultaneous", self.simultaneous)
        if given != self.simultaneous:
            said = str(self.simultaneous).lower()
            raise ConfigError("simultaneous", f"differs from the protocol, which has {said}; keep one of the two")
        return found

    def adopt(self, config: Mapping[str, Any]) -> None:
        """Adopt the game's terms. Raises ``ConfigError`` if other terms were given."""
        given = {key: value for key, value in config.items() if key in MarketTerms.model_fields}
        terms = read_written(MarketTerms, given, "")
        if self.has_own_terms and terms != self.terms:
            raise ConfigError("protocol.market", "differs from the game's terms; leave it out and set the game's")
        self.terms = terms
        self.reset()

    def rule_text(self, lang: str = "en") -> str:
        if lang == "zh":
            how = "同时密封报价，全部报完后一起公开" if self.simultaneous else "轮流公开报价"
            return f"各方{how}；每轮结束时市场结算并向所有人公布结果。"
        how = "name their prices under seal, opened together" if self.simultaneous else "name their prices in turn"
        return f"Sellers {how}; after the last one the market settles the round and tells everybody."

    def is_public(self, speaker: str) -> bool:
        return self._reaches_all(speaker)

    def takes(self, mode: Mode) -> bool:
        return True

    def _side_by_side(self, stages: Stages) -> Stages:
        if not self.simultaneous:
            return stages
        members = set(chain.from_iterable(stages))
        return (tuple([agent for agent in self.agent_ids if agent in members]),)

    def _hearers(self, speaker: str) -> Collection[str]:
        return self.agent_ids

    def _accept(self, message: Message) -> None:
        content = message.content
        if not isinstance(content, Mapping):
            raise InteractionError("invalid_content", f'must be {{"price": …, "speech": …}}, found {shown(content)}')
        try:
            offer = read_offer(content, self.terms)
        except IllegalAction as refused:
            code = refused.code if refused.code == "price_out_of_range" else "invalid_content"
            raise InteractionError(code, refused.message) from None
        self._offers[message.sender] = offer

    def _deliver(self, message: Message) -> None:
        if self.simultaneous:
            self._show(message, (message.sender,))
            self._sealed.append(message)
        else:
            super()._deliver(message)
        self._settle_when_complete()

    def _silent(self, speaker: str) -> None:
        self._offers[speaker] = None
        self._settle_when_complete()

    def _settle_when_complete(self) -> None:
        members = self.members()
        if len(self._offers) < len(members):
            return
        for message in self._sealed:
            self._show(message, message.receivers)
        self._sealed = []
        sellers = [agent for agent in self.agent_ids if agent in self._offers]
        offers = [self._offers[agent] for agent in sellers]
        settled = settle(sellers, offers, [self.balances[agent] for agent in sellers], self.terms)
        self._offers = {}
        self.balances.update(zip(sellers, settled.balances, strict=True))
        result = {**result_of(self.current_round, sellers, settled), "balances": dict(self.balances)}
        self.results.append(result)
        told = Message(MARKET, list(self.agent_ids), result, self.current_round, {"kind": "market_result"})
        self.message_log.append(told)
        self._show(told, self.agent_ids)
