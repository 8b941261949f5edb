"""The result of one round of the market: a pure function of its prices (arena 4.4).

Rule: the market game and the market protocol both settle their rounds here, so they cannot disagree. A price is either
accepted or refused; it is never clamped to the range, because a clamped price would not be the seller's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from msgspec import Struct
from pydantic import Field, field_validator

from league_agents.games.entry import EntryReader
from league_agents.games.game import IllegalAction, JsonObject
from league_agents.kit.written import Contradiction, WrittenMapping

HIGHEST_PRICE: Final = 1_000_000
MOST_CUSTOMERS: Final = 100_000
LARGEST_BALANCE: Final = 10**12
"""With at most 10,000 rounds, every balance stays below 2**53, so JSON readers of any language represent it exactly."""

LONGEST_SPEECH: Final = 4_000

Amount = Annotated[int, Field(ge=0, le=HIGHEST_PRICE)]


class MarketTerms(WrittenMapping):
    """The terms in force in every round of a market."""

    price_range: Annotated[tuple[Amount, ...], Field(strict=False, min_length=2, max_length=2)] = Field(
        (10, 100), description="The lowest and the highest price, both allowed."
    )
    marginal_cost: Amount = Field(10, description="What serving one customer costs a seller.")
    num_customers: int = Field(99, ge=1, le=MOST_CUSTOMERS, description="Customers of each round.")
    initial_balance: int = Field(
        0, ge=-LARGEST_BALANCE, le=LARGEST_BALANCE, description="What every seller starts with."
    )
    allow_speech: bool = Field(True, description="Whether a seller may say something with its price.")
    max_speech: int = Field(500, ge=1, le=LONGEST_SPEECH, description="The longest speech, in characters.")

    @field_validator("price_range")
    @classmethod
    def _is_in_order(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if value[0] > value[1]:
            raise Contradiction("", f"must be a list [lowest, highest], found {list(value)}")
        return value


class Resolution(Struct, frozen=True, kw_only=True):
    """Market price, winners and profits of one round."""

    market_price: int | None
    """The lowest price; ``None`` when nobody named one."""

    winners: tuple[str, ...]
    """The sellers at the market price, in the order of the prices."""

    each: int
    """Customers of every winner."""

    unserved: int
    """Customers left over: they are shared out evenly or not at all."""

    profits: Mapping[str, int]
    """Profit of every seller that took part, 0 included."""


class Offer(Struct, frozen=True, kw_only=True):
    """A seller's price and speech in a round."""

    price: int
    speech: str = ""


class SettledRound(Struct, frozen=True, kw_only=True):
    """A completed round; tuples of one value a seller are in the order of the sellers."""

    offers: tuple[Offer | None, ...]
    market_price: int | None
    winners: tuple[str, ...]
    each: int
    unserved: int
    profits: tuple[int, ...]
    balances: tuple[int, ...]
    """Balances after the round."""


def resolve(prices: Mapping[str, int | None], marginal_cost: int = 10, num_customers: int = 99) -> Resolution:
    """Return the result of the round with these prices; ``None`` stands for a seller without a price."""
    named = [price for price in prices.values() if price is not None]
    profits = dict.fromkeys(prices, 0)
    if not named:
        return Resolution(market_price=None, winners=(), each=0, unserved=num_customers, profits=profits)
    lowest = min(named)
    winners = tuple([seller for seller, price in prices.items() if price == lowest])
    each = num_customers // len(winners)
    for winner in winners:
        profits[winner] = (lowest - marginal_cost) * each
    return Resolution(
        market_price=lowest, winners=winners, each=each, unserved=num_customers - each * len(winners), profits=profits
    )


def settle(
    sellers: Sequence[str], offers: Sequence[Offer | None], balances: Sequence[int], terms: MarketTerms
) -> SettledRound:
    """Return the round in which the sellers made these offers, from these balances; ``None`` is a seller without an
    offer."""
    found = resolve(
        {seller: None if offer is None else offer.price for seller, offer in zip(sellers, offers, strict=True)},
        terms.marginal_cost,
        terms.num_customers,
    )
    profits = tuple(found.profits.values())
    return SettledRound(
        offers=tuple(offers),
        market_price=found.market_price,
        winners=found.winners,
        each=found.each,
        unserved=found.unserved,
        profits=profits,
        balances=tuple([before + profit for before, profit in zip(balances, profits, strict=True)]),
    )


def result_of(market_round: int, sellers: Sequence[str], settled: SettledRound) -> dict[str, Any]:
    """Return a settled round as JSON values: all that is announced to everybody. Rounds count from 0."""
    pairs = list(zip(sellers, settled.offers, strict=True))
    return {
        "round": market_round,
        "prices": {seller: None if offer is None else offer.price for seller, offer in pairs},
        "speeches": {seller: offer.speech for seller, offer in pairs if offer is not None and offer.speech},
        "market_price": settled.market_price,
        "winners": list(settled.winners),
        "each": settled.each,
        "unserved": settled.unserved,
        "profits": dict(zip(sellers, settled.profits, strict=True)),
        "balances": dict(zip(sellers, settled.balances, strict=True)),
        # Sellers without a price are left out: any substitute would be the market's price, not theirs.
        "degraded": settled.offers.count(None),
    }


def read_offer(data: JsonObject, terms: MarketTerms) -> Offer:
    """Return the offer in an action or a message. Raises ``IllegalAction`` (``price_out_of_range``,
    ``invalid_data``)."""
    entry = EntryReader(data)
    price = entry.integer("price", *terms.price_range)
    # Arena 4.4: a value that is no integer in the range is out of range.
    is_off = bool(entry.errors) and "price" in data
    speech: str | None = ""
    if "speech" in data:
        if terms.allow_speech:
            speech = entry.text("speech", most=terms.max_speech)
        elif data["speech"] != "":
            entry.fault("speech", "not_allowed", "must be left out: this market is silent")
    entry.only(("price", "speech"))
    if is_off and len(entry.errors) == 1:
        least, most = terms.price_range
        raise IllegalAction(
            "price_out_of_range", f"the price must be an integer from {least} to {most}", {"errors": entry.errors}
        )
    entry.done()
    if price is None or speech is None:
        raise AssertionError("an entry without faults has its values")
    return Offer(price=price, speech=speech)
