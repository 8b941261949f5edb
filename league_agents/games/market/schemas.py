"""What a market's configuration and actions look like, as JSON Schema."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from league_agents.games.game import JsonObject, LegalAction
from league_agents.games.market.resolution import (
    HIGHEST_PRICE,
    LARGEST_BALANCE,
    LONGEST_SPEECH,
    MOST_CUSTOMERS,
    MarketTerms,
)
from league_agents.games.market.state import MOST_ROUNDS, MarketConfig, config_to
from league_agents.games.people import people_keys

SUBMIT_PRICE: Final = "submit_price"


def _whole(least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


_KEYS: Final[dict[str, JsonObject]] = {
    "price_range": {
        "type": "array", "items": _whole(0, HIGHEST_PRICE), "minItems": 2, "maxItems": 2,
        "description": "The lowest and the highest price, both allowed.",
    },
    "marginal_cost": {**_whole(0, HIGHEST_PRICE), "description": "What serving one customer costs a seller."},
    "num_customers": {**_whole(1, MOST_CUSTOMERS), "description": "Customers of each round."},
    "initial_balance": {**_whole(-LARGEST_BALANCE, LARGEST_BALANCE), "description": "What every seller starts with."},
    "allow_speech": {"type": "boolean", "description": "Whether a seller may say something with its price."},
    "max_speech": {**_whole(1, LONGEST_SPEECH), "description": "The longest speech, in characters."},
    "max_rounds": {**_whole(1, MOST_ROUNDS), "description": "How many rounds are played."},
    "simultaneous": {
        "type": "boolean",
        "description": "Prices are sealed until all are in; without it they are named in turn and heard at once.",
    },
    "shown_rounds": {**_whole(1, MOST_ROUNDS), "description": "Of how many past rounds a view repeats the results."},
    **people_keys(),
}  # fmt: skip

CONFIG_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        key: {**_KEYS[key], "default": default} for key, default in config_to(MarketConfig(terms=MarketTerms())).items()
    },
}


def _offer(least: int, most: int, speech: int) -> dict[str, Any]:
    properties: dict[str, Any] = {"price": _whole(least, most)}
    if speech:
        properties["speech"] = {"type": "string", "maxLength": speech}
    return {"type": "object", "properties": properties, "required": ["price"], "additionalProperties": False}


ACTION_SCHEMAS: Final[dict[str, dict[str, Any]]] = {SUBMIT_PRICE: _offer(0, HIGHEST_PRICE, LONGEST_SPEECH)}
"""What every market allows at most."""


@lru_cache(maxsize=256)
def offer_schema(terms: MarketTerms) -> tuple[LegalAction, ...]:
    """The one action of a market with these terms."""
    return (
        LegalAction(
            type=SUBMIT_PRICE, schema=_offer(*terms.price_range, terms.max_speech if terms.allow_speech else 0)
        ),
    )
