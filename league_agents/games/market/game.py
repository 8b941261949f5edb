"""The market: each round every seller names a price, and the lowest one takes all customers (arena 4.4).

Rule 1: a price is the seller's own or none; a seller that forfeits sells nothing in that round.
Rule 2: until a round is settled, a seller's offer is known to the seller and to those who heard it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from league_agents.games.entry import check_agent_ids
from league_agents.games.game import (
    ALL,
    GAME_VERSION,
    HOST,
    SPECTATOR,
    Action,
    Event,
    ForfeitCause,
    IllegalAction,
    JsonObject,
    LegalAction,
    Mode,
    Outcome,
    Progress,
    Step,
    Visibility,
)
from league_agents.games.market.analysis import tacit_collusion
from league_agents.games.market.resolution import Offer, read_offer, result_of, settle
from league_agents.games.market.schemas import ACTION_SCHEMAS, CONFIG_SCHEMA, SUBMIT_PRICE, offer_schema
from league_agents.games.market.state import (
    FEWEST,
    MOST,
    MarketConfig,
    MarketState,
    SellerTurn,
    dump,
    load,
)
from league_agents.games.market.words import MOST_WORDS, rules_text, said
from league_agents.games.people import check_names
from league_agents.kit.printable import printable
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown

PRICING: Final = "pricing"
END: Final = "end"


class Market:
    """The rules of the market."""

    code: str = "market"
    version: str = GAME_VERSION
    min_agents = FEWEST
    max_agents = MOST
    config_schema: JsonObject = CONFIG_SCHEMA
    action_schemas: Mapping[str, JsonObject] = ACTION_SCHEMAS
    protocol: str | None = "market_turn_based"

    def setup(self, config: JsonObject, agent_ids: Sequence[str], seed: int) -> MarketState:
        """Return the first state; nothing in a market is random. Raises ``ConfigError``."""
        found = MarketConfig.read(config)
        sellers = check_agent_ids(agent_ids, FEWEST, MOST)
        check_names(found.names, sellers)
        return MarketState(config=found, agent_ids=sellers, balances=(found.initial_balance,) * len(sellers))

    def opening(self, state: MarketState) -> tuple[Event, ...]:
        terms = state.config
        least, most = terms.price_range
        return (
            Event(
                kind="market_opened",
                visible_to=ALL,
                text=said(
                    state.config.lang,
                    "opened",
                    sellers=len(state.agent_ids),
                    rounds=state.config.max_rounds,
                    least=least,
                    most=most,
                    cost=terms.marginal_cost,
                    customers=terms.num_customers,
                ),
                data={"sellers": list(state.agent_ids), "terms": _terms(state), "max_rounds": state.config.max_rounds},
            ),
        )

    def pending(self, state: MarketState) -> tuple[str, ...]:
        if state.is_over:
            return ()
        if not state.turns:
            return state.agent_ids
        taken = [turn.agent for turn in state.turns]
        return tuple([agent for agent in state.agent_ids if agent not in taken])

    def phase_mode(self, state: MarketState) -> Mode:
        return Mode.SEALED if state.config.simultaneous else Mode.SPOKEN

    def legal(self, state: MarketState, agent: str) -> tuple[LegalAction, ...]:
        if not self._owes(state, agent):
            return ()
        config = state.config
        return offer_schema(*config.price_range, config.max_speech if config.allow_speech else 0)

    def apply(
        self, state: MarketState, agent: str, action: Action, heard_by: Sequence[str] | None = None
    ) -> Step[MarketState]:
        """Take a seller's price."""
        if not self._owes(state, agent):
            raise IllegalAction("not_pending", f"no price of {shown(agent)} is due now")
        if action.type != SUBMIT_PRICE:
            raise IllegalAction("unknown_action", f"{shown(action.type)} is no action of the market: {SUBMIT_PRICE}")
        offer = read_offer(action.data, state.config)
        heard = () if state.config.simultaneous else None if heard_by is None else tuple(heard_by)
        config = state.config
        named = Event(
            kind="price_submitted",
            visible_to=_seen_by(agent, heard),
            text=said(
                config.lang,
                "price_with_speech" if offer.speech else "price",
                seller=config.called(agent),
                price=offer.price,
                speech=printable(offer.speech, MOST_WORDS),
            ),
            data={"round": len(state.rounds), "agent_id": agent, "price": offer.price, "speech": offer.speech},
        )
        return self._take(state, SellerTurn(agent=agent, offer=offer, heard_by=heard), named)

    def forfeit(self, state: MarketState, agent: str, cause: ForfeitCause) -> Step[MarketState]:
        """Settle the round without a price of this seller."""
        if not self._owes(state, agent):
            raise IllegalAction("not_pending", f"no price of {shown(agent)} is due now")
        heard = () if state.config.simultaneous else None
        missing = Event(
            kind="price_missing",
            visible_to=_seen_by(agent, heard),
            text=said(state.config.lang, "missing", seller=state.config.called(agent), cause=cause.value),
            data={"round": len(state.rounds), "agent_id": agent, "cause": cause.value},
        )
        return self._take(state, SellerTurn(agent=agent, offer=None, heard_by=heard), missing)

    def view(self, state: MarketState, viewer: str) -> dict[str, Any]:
        """Return a viewer's view of the market."""
        sellers = state.agent_ids
        config = state.config
        first = max(0, len(state.rounds) - config.shown_rounds)
        found: dict[str, Any] = {
            "round": len(state.rounds),
            "max_rounds": config.max_rounds,
            "phase": END if state.is_over else PRICING,
            "simultaneous": config.simultaneous,
            "terms": _terms(state),
            "sellers": [
                {"agent_id": seller, "balance": balance}
                for seller, balance in zip(sellers, state.balances, strict=True)
            ],
            "prices_in": len(state.turns),
            "offers": [
                {"agent_id": turn.agent, "price": turn.offer and turn.offer.price, "speech": _speech(turn.offer)}
                for turn in state.turns
                if _may_hear(turn, viewer)
            ],
            "results": [
                result_of(number, sellers, settled) for number, settled in enumerate(state.rounds[first:], start=first)
            ],
            "done": state.is_over,
        }
        if viewer in sellers:
            found["me"] = {"agent_id": viewer, "balance": state.balances[sellers.index(viewer)]}
        return found

    def info(self, state: MarketState, viewer: str) -> Progress:
        if state.is_over:
            stage = "done" if viewer in state.agent_ids else "watch"
            return Progress(status="ended", phase=END, turn=len(state.rounds), stage=stage, active_agent_ids=())
        pending = self.pending(state)
        stage = "price" if viewer in pending else "wait" if viewer in state.agent_ids else "watch"
        return Progress(
            status="started", phase=PRICING, turn=len(state.rounds) + 1, stage=stage, active_agent_ids=pending
        )

    def outcome(self, state: MarketState) -> Outcome | None:
        """The sellers with the highest balance win."""
        if not state.is_over:
            return None
        best = max(state.balances)
        balances = dict(zip(state.agent_ids, state.balances, strict=True))
        prices = [settled.market_price for settled in state.rounds]
        found = tacit_collusion(prices, cost=state.config.marginal_cost)
        return Outcome(
            winners=tuple(seller for seller, balance in balances.items() if balance == best),
            scores={seller: float(balance) for seller, balance in balances.items()},
            reason="max_rounds",
            metrics={
                "rounds": len(state.rounds),
                "market_prices": prices,
                "unserved": sum(settled.unserved for settled in state.rounds),
                "degraded": sum(settled.offers.count(None) for settled in state.rounds),
                "tacit_collusion": {
                    "detected": found.detected, "score": found.score, "share": found.share, "slope": found.slope,
                },
            },
        )  # fmt: skip

    def rounds(self, config: JsonObject) -> tuple[str, int]:
        return "max_rounds", MarketConfig.read(config).max_rounds

    def rules_text(self, config: JsonObject, lang: str = "en") -> str:
        return rules_text(MarketConfig.read(config), lang)

    def dump(self, state: MarketState) -> dict[str, Any]:
        return dump(state)

    def load(self, dumped: JsonObject) -> MarketState:
        return load(dumped)

    def _owes(self, state: MarketState, agent: str) -> bool:
        return agent in state.agent_ids and not state.is_over and all(turn.agent != agent for turn in state.turns)

    def _take(self, state: MarketState, turn: SellerTurn, event: Event) -> Step[MarketState]:
        turns = (*state.turns, turn)
        if len(turns) < len(state.agent_ids):
            return Step(state=evolve(state, turns=turns), events=(event,))
        offers = {each.agent: each.offer for each in turns}
        sellers = state.agent_ids
        settled = settle(sellers, [offers[seller] for seller in sellers], state.balances, state.config)
        after = evolve(state, turns=(), rounds=(*state.rounds, settled), balances=settled.balances)
        result = result_of(len(state.rounds), sellers, settled)
        events = [event, Event(kind="market_result", visible_to=ALL, text=_told(result, state.config), data=result)]
        if after.is_over:
            events.append(
                Event(
                    kind="market_closed",
                    visible_to=ALL,
                    text=_closed(result["balances"], state.config),
                    data={"balances": dict(result["balances"])},
                )
            )
        return Step(state=after, events=tuple(events))


def _terms(state: MarketState) -> dict[str, Any]:
    terms = state.config
    return {
        "price_range": list(terms.price_range),
        "marginal_cost": terms.marginal_cost,
        "num_customers": terms.num_customers,
        "allow_speech": terms.allow_speech,
        "max_speech": terms.max_speech,
    }


def _seen_by(agent: str, heard_by: tuple[str, ...] | None) -> Visibility:
    return ALL if heard_by is None else (agent, *heard_by)


def _may_hear(turn: SellerTurn, viewer: str) -> bool:
    return viewer in (HOST, turn.agent) or turn.heard_by is None or (viewer != SPECTATOR and viewer in turn.heard_by)


def _speech(offer: Offer | None) -> str:
    return "" if offer is None else offer.speech


def _told(result: JsonObject, config: MarketConfig) -> str:
    number = result["round"] + 1
    if result["market_price"] is None:
        return said(config.lang, "no_price", round=number)
    return said(
        config.lang,
        "settled",
        round=number,
        winners=said(config.lang, "join").join(map(config.called, result["winners"])),
        price=result["market_price"],
        each=result["each"],
    )


def _closed(balances: Mapping[str, int], config: MarketConfig) -> str:
    lang = config.lang
    told = [said(lang, "has", seller=config.called(seller), balance=balance) for seller, balance in balances.items()]
    return said(lang, "closed", balances=said(lang, "join").join(told))
