"""How a round comes out (arena 4.4)."""

from __future__ import annotations

import pytest

from league_agents.games.game import IllegalAction
from league_agents.games.market.resolution import (
    MarketTerms,
    Offer,
    read_offer,
    resolve,
    result_of,
    settle,
)
from league_agents.kit.errors import ConfigError
from league_agents.kit.written import read_written


@pytest.mark.parametrize(
    ("prices", "winners", "each", "unserved", "profits"),
    [
        ((15, 12, 12), ("s2", "s3"), 49, 1, (0, 98, 98)),
        ((20, 20, 20), ("s1", "s2", "s3"), 33, 0, (330, 330, 330)),
        ((10, 11, 50), ("s1",), 99, 0, (0, 0, 0)),
        ((None, 30, 25), ("s3",), 99, 0, (0, 0, 1485)),
        ((None, None, None), (), 0, 99, (0, 0, 0)),
    ],
)
def test_the_lowest_price_takes_all(prices, winners, each, unserved, profits) -> None:
    found = resolve(dict(zip(("s1", "s2", "s3"), prices, strict=True)))
    assert (found.winners, found.each, found.unserved) == (winners, each, unserved)
    assert tuple(found.profits.values()) == profits
    assert found.market_price == min((price for price in prices if price is not None), default=None)


def test_a_price_below_cost_loses_money() -> None:
    assert resolve({"a": 8, "b": 9}, marginal_cost=10, num_customers=5).profits == {"a": -10, "b": 0}


def test_a_market_without_sellers_serves_nobody() -> None:
    assert resolve({}).unserved == 99


def test_a_result_tells_everything_in_json() -> None:
    terms = MarketTerms(num_customers=10)
    settled = settle(("a", "b", "c"), (Offer(price=20, speech="hi"), None, Offer(price=20)), (1, 2, 3), terms)
    assert result_of(4, ("a", "b", "c"), settled) == {
        "round": 4,
        "prices": {"a": 20, "b": None, "c": 20},
        "speeches": {"a": "hi"},
        "market_price": 20,
        "winners": ["a", "c"],
        "each": 5,
        "unserved": 0,
        "profits": {"a": 50, "b": 0, "c": 50},
        "balances": {"a": 51, "b": 2, "c": 53},
        "degraded": 1,
    }


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"price": 9}, "price_out_of_range"),
        ({"price": 101}, "price_out_of_range"),
        ({"price": 15.0}, "price_out_of_range"),
        ({"price": float("nan")}, "price_out_of_range"),
        ({"price": False}, "price_out_of_range"),
        ({"price": "15"}, "price_out_of_range"),
        ({}, "invalid_data"),
        ({"price": 15, "speech": None}, "invalid_data"),
        ({"price": 15, "speech": "\x00"}, "invalid_data"),
        ({"price": 15, "speech": "x" * 501}, "invalid_data"),
        ({"price": 15, "discount": 3}, "invalid_data"),
        ({"price": 9, "discount": 3}, "invalid_data"),
    ],
)
def test_an_offer_is_taken_as_it_is_or_refused(data: dict[str, object], code: str) -> None:
    with pytest.raises(IllegalAction) as refused:
        read_offer(data, MarketTerms())
    assert refused.value.code == code
    assert refused.value.data["errors"]


def test_an_offer_at_either_bound_is_taken() -> None:
    assert read_offer({"price": 10}, MarketTerms()) == Offer(price=10)
    assert read_offer({"price": 100, "speech": "x" * 500}, MarketTerms()).price == 100


def test_a_speech_is_normalised() -> None:
    assert read_offer({"price": 10, "speech": "Cafe\u0301"}, MarketTerms()).speech == "Café"


def test_a_silent_market_takes_no_speech() -> None:
    silent = MarketTerms(allow_speech=False)
    assert read_offer({"price": 10, "speech": ""}, silent) == Offer(price=10)
    with pytest.raises(IllegalAction, match="silent"):
        read_offer({"price": 10, "speech": "psst"}, silent)


@pytest.mark.parametrize(
    ("config", "path"),
    [
        ({"price_range": [100, 10]}, "price_range"),
        ({"price_range": [-1, 10]}, "price_range[0]"),
        ({"price_range": 10}, "price_range"),
        ({"marginal_cost": -1}, "marginal_cost"),
        ({"num_customers": 0}, "num_customers"),
        ({"initial_balance": 1.5}, "initial_balance"),
        ({"allow_speech": "yes"}, "allow_speech"),
        ({"max_speech": 0}, "max_speech"),
        ({"max_sellers": 3}, "configuration"),
    ],
)
def test_terms_are_checked(config: dict[str, object], path: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_written(MarketTerms, config, "")
    assert refused.value.path == path
