"""A seller without a model: undercuts while that pays, and else asks what the round before paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from league_agents.games.game import Action, JsonObject, LegalAction
from league_agents.games.market.schemas import SUBMIT_PRICE
from league_agents.kit.draw import Draw


def scripted(view: JsonObject, legal: Sequence[LegalAction], draw: Draw) -> Action:
    """A price one below the lowest one known, never below cost + 1, and a high one to begin with.

    Where others have spoken in this round already it undercuts them; otherwise the winners of the round before.
    """
    schema: Any = legal[0].schema["properties"]["price"]
    least, most = schema["minimum"], schema["maximum"]
    floor = min(max(least, view["terms"]["marginal_cost"] + 1), most)
    named = [offer["price"] for offer in view["offers"] if offer["price"] is not None]
    named = named or [result["market_price"] for result in view["results"][-1:] if result["market_price"] is not None]
    # Where nobody is known yet: somewhere in the upper half, so that sellers of one kind do not all begin alike.
    price = min(named) - 1 if named else most - draw.below(max(1, (most - floor) // 2))
    return Action(type=SUBMIT_PRICE, data={"price": min(max(price, floor), most)})
