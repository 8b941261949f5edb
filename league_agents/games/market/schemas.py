"""JSON Schemas of a market's configuration and actions."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from league_agents.games.game import JsonObject, LegalAction
from league_agents.games.market.resolution import HIGHEST_PRICE, LONGEST_SPEECH
from league_agents.games.market.state import MarketConfig

SUBMIT_PRICE: Final = "submit_price"


def _whole(least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "minimum": least, "maximum": most}


CONFIG_SCHEMA: Final[JsonObject] = MarketConfig.in_json_schema()


def _offer(least: int, most: int, speech: int) -> dict[str, Any]:
    properties: dict[str, Any] = {"price": _whole(least, most)}
    if speech:
        properties["speech"] = {"type": "string", "maxLength": speech}
    return {"type": "object", "properties": properties, "required": ["price"], "additionalProperties": False}


ACTION_SCHEMAS: Final[dict[str, dict[str, Any]]] = {SUBMIT_PRICE: _offer(0, HIGHEST_PRICE, LONGEST_SPEECH)}
"""Loose enough for every market."""


@lru_cache(maxsize=256)
def offer_schema(least: int, most: int, speech: int) -> tuple[LegalAction, ...]:
    """Return the only action of a market with prices from ``least`` to ``most`` and speeches of up to ``speech``
    characters."""
    return (LegalAction(type=SUBMIT_PRICE, schema=_offer(least, most, speech)),)
