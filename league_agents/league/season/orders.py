"""The content of an organiser's settlement, as it travels from the command line to the league manager."""

from __future__ import annotations

import msgspec
from msgspec import Struct

ABOUT_A_MATCH = ("annul", "correct", "reinstate")
ABOUT_A_TEAM = ("withdraw", "readmit")
SETTLING = (*ABOUT_A_MATCH, *ABOUT_A_TEAM, "extend-round")
"""Commands of settlements. Their text is a ``SettlementOrder``."""


class SettlementOrder(Struct, frozen=True, kw_only=True):
    """The content of a settlement. It travels as JSON in the text of an order."""

    about: str = ""
    """A game id, or the group id of a team."""

    why: str = ""
    points: tuple[int, int] | None = None
    """The league points of player 1 and player 2, for a correction."""

    private_scores: tuple[float, float] | None = None
    minutes: float | None = None
    """The length of an extension."""

    def to_text(self) -> str:
        """The text of the order."""
        return msgspec.json.encode(self).decode()


def read_order(text: str) -> SettlementOrder | None:
    """Parse the text of ``to_text``; ``None`` for any other text."""
    try:
        return msgspec.json.decode(text.encode(), type=SettlementOrder)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


def order_words(text: str) -> str:
    """A settlement's order in words for people: ``0101001: why``; any other text unchanged."""
    order = read_order(text) if text.startswith("{") else None
    return text if order is None else ": ".join(part for part in (order.about, order.why) if part)
