"""Prices under seal and in turn, and what the market makes of them (arena 4.2, 4.4)."""

from __future__ import annotations

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.turns import InformationFlowConfig, InteractionError, MarketTurnBased, Topology

SELLERS = ("s1", "s2", "s3")


def prices_seen(protocol: MarketTurnBased, agent: str) -> list[int]:
    return [message.content["price"] for message in protocol.inbox(agent) if message.sender != "market"]


def test_sealed_prices_are_invisible_until_the_last_one_is_in() -> None:
    protocol = MarketTurnBased(SELLERS)
    assert protocol.pending_speakers() == SELLERS
    protocol.say("s3", {"price": 30, "speech": "high, please"})
    assert [protocol.inbox(agent) for agent in SELLERS] == [[], [], []]
    assert [message.content["price"] for message in protocol.visible_messages("s3")] == [30]
    protocol.say("s1", {"price": 12})
    assert [protocol.inbox(agent) for agent in SELLERS] == [[], [], []]
    assert protocol.pending_speakers() == ("s2",)
    protocol.say("s2", {"price": 12})
    assert [prices_seen(protocol, agent) for agent in SELLERS] == [[30, 12], [30, 12], [12, 12]]
    assert [protocol.inbox(agent)[-1].sender for agent in SELLERS] == ["market"] * 3


def test_the_last_price_settles_the_round_and_tells_everybody() -> None:
    protocol = MarketTurnBased(SELLERS)
    for agent, price in zip(SELLERS, (15, 12, 12), strict=True):
        protocol.say(agent, {"price": price, "speech": f"I am {agent}" if agent == "s1" else ""})
    result = {
        "round": 0,
        "prices": {"s1": 15, "s2": 12, "s3": 12},
        "speeches": {"s1": "I am s1"},
        "market_price": 12,
        "winners": ["s2", "s3"],
        "each": 49,
        "unserved": 1,
        "profits": {"s1": 0, "s2": 98, "s3": 98},
        "balances": {"s1": 0, "s2": 98, "s3": 98},
        "degraded": 0,
    }
    assert protocol.results == [result]
    assert protocol.balances == {"s1": 0, "s2": 98, "s3": 98}
    told = protocol.inbox("s1")[-1]
    assert (told.sender, told.content, told.metadata) == ("market", result, {"kind": "market_result"})
    assert protocol.message_count == 3
    assert len(protocol.message_log) == 4


def test_the_round_is_over_when_every_turn_was_ended() -> None:
    protocol = MarketTurnBased(SELLERS)
    for agent in SELLERS:
        protocol.say(agent, {"price": 20})
        protocol.advance()
    assert protocol.is_round_over()
    protocol.advance()
    assert protocol.pending_speakers() == SELLERS
    assert protocol.balances == {"s1": 330, "s2": 330, "s3": 330}


def test_a_seller_that_is_skipped_sells_nothing_and_holds_up_nobody() -> None:
    protocol = MarketTurnBased(SELLERS)
    protocol.say("s2", {"price": 30})
    protocol.advance()
    protocol.say("s3", {"price": 25})
    protocol.advance()
    protocol.skip("s1", "timeout")
    assert protocol.results[0]["prices"] == {"s1": None, "s2": 30, "s3": 25}
    assert protocol.results[0]["profits"] == {"s1": 0, "s2": 0, "s3": 1485}
    assert protocol.results[0]["degraded"] == 1
    assert prices_seen(protocol, "s1") == [30, 25]
    assert protocol.is_round_over()


def test_a_round_without_prices_is_settled_too() -> None:
    protocol = MarketTurnBased(SELLERS)
    for agent in SELLERS:
        protocol.skip(agent, "timeout")
    assert protocol.results[0]["market_price"] is None
    assert protocol.results[0]["unserved"] == 99


def test_in_turn_prices_are_heard_at_once() -> None:
    protocol = MarketTurnBased(SELLERS, simultaneous=False)
    assert protocol.pending_speakers() == ("s1",)
    protocol.say("s1", {"price": 20})
    assert prices_seen(protocol, "s2") == [20]
    protocol.advance()
    protocol.say("s2", {"price": 19})
    assert protocol.results == []
    protocol.advance()
    protocol.say("s3", {"price": 18})
    assert protocol.balances == {"s1": 0, "s2": 0, "s3": 792}


def test_sealed_prices_need_no_order() -> None:
    flow = InformationFlowConfig(flow_order=["s3", "s2", "s1"])
    assert MarketTurnBased(SELLERS, flow=flow).pending_speakers() == SELLERS
    assert MarketTurnBased(SELLERS, flow=flow, simultaneous=False).pending_speakers() == ("s3",)


def test_a_topology_hides_prices_but_not_results() -> None:
    protocol = MarketTurnBased(("a", "b"), Topology(("a", "b"), edges=[]))
    protocol.say("a", {"price": 20})
    protocol.say("b", {"price": 21})
    assert prices_seen(protocol, "b") == []
    assert protocol.inbox("b")[0].content["prices"] == {"a": 20, "b": 21}


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"price": 9}, "price_out_of_range"),
        ({"price": 101}, "price_out_of_range"),
        ({"price": 20.0}, "price_out_of_range"),
        ({"price": True}, "price_out_of_range"),
        ({"price": "20"}, "price_out_of_range"),
        ({"price": None}, "price_out_of_range"),
        ({}, "invalid_content"),
        ({"price": 20, "speech": "x" * 501}, "invalid_content"),
        ({"price": 20, "speech": 7}, "invalid_content"),
        ({"price": 20, "secret": 1}, "invalid_content"),
        (20, "invalid_content"),
    ],
)
def test_a_price_that_is_none_is_refused_and_may_be_named_again(content: object, code: str) -> None:
    protocol = MarketTurnBased(SELLERS)
    with pytest.raises(InteractionError) as refused:
        protocol.say("s1", content)
    assert refused.value.code == code
    assert protocol.message_log == []
    protocol.say("s1", {"price": 10})
    assert protocol.message_count == 1


def test_those_who_dropped_out_keep_their_balance() -> None:
    protocol = MarketTurnBased(SELLERS)
    for agent in SELLERS:
        protocol.say(agent, {"price": 20})
        protocol.advance()
    protocol.restrict(["s3", "s1"])
    protocol.advance()
    assert protocol.pending_speakers() == ("s1", "s3")
    protocol.say("s1", {"price": 30})
    protocol.say("s3", {"price": 30})
    assert protocol.results[1]["prices"] == {"s1": 30, "s3": 30}
    assert protocol.balances == {"s1": 330 + 980, "s2": 330, "s3": 330 + 980}


def test_the_terms_may_be_others() -> None:
    market = {"price_range": [1, 5], "marginal_cost": 1, "num_customers": 10, "initial_balance": 7}
    protocol = MarketTurnBased(("a", "b"), market=market)
    protocol.say("a", {"price": 5})
    protocol.say("b", {"price": 2})
    assert protocol.balances == {"a": 7, "b": 17}
    protocol.reset()
    assert protocol.balances == {"a": 7, "b": 7}
    assert protocol.results == []


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"market": {"price_range": [5, 1]}}, "protocol.market.price_range"),
        ({"market": {"prices": [1, 5]}}, "protocol.market"),
        ({"market": []}, "protocol.market"),
        ({"simultaneous": "yes"}, "protocol.simultaneous"),
    ],
)
def test_terms_are_checked(options: dict[str, object], path: str) -> None:
    with pytest.raises(ConfigError) as refused:
        MarketTurnBased(SELLERS, **options)  # type: ignore[arg-type]
    assert refused.value.path == path
