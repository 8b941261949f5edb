"""A seller without a model: undercuts the lowest known price, but never asks less than cost + 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from league_agents.games.game import Action, JsonObject, LegalAction
from league_agents.games.market.schemas import SUBMIT_PRICE
from league_agents.kit.draw import Draw


def scripted(view: JsonObject, legal: Sequence[LegalAction], draw: Draw) -> Action:
    """Return a price one below the lowest known one, never below cost + 1; a high price if none is known.

    Undercuts prices already named in this round; if there are none, the last round's market price.
    """
    schema: Any = legal[0].schema["properties"]["price"]
    least, most = schema["minimum"], schema["maximum"]
    floor = min(max(least, view["terms"]["marginal_cost"] + 1), most)
    named = [offer["price"] for offer in view["offers"] if offer["price"] is not None]
    named = named or [result["market_price"] for result in view["results"][-1:] if result["market_price"] is not None]
    # No price is known: draw from the upper half, so that sellers of this kind do not all begin alike.
    price = min(named) - 1 if named else most - draw.below(max(1, (most - floor) // 2))
    return Action(type=SUBMIT_PRICE, data={"price": min(max(price, floor), most)})
