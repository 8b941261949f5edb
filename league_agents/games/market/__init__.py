"""A market: each round every seller names a price, and the lowest one takes all customers (arena 4.4)."""

from __future__ import annotations

from typing import Final

from league_agents.games.declaration import DecidingField, GameDeclaration

GAME: Final = GameDeclaration(
    package=__name__,
    code="market",
    title={"en": "Market", "zh": "市场"},
    about={
        "en": "Name a price. The lowest one gets all customers.",
        "zh": "报一个价，最低价得到所有顾客。",
    },
    usual_seats=("s1", "s2", "s3"),
    roles=("seller",),
    rules=".game:Market",
    deciding={"submit_price": DecidingField(path=("price",), values=".state:prices")},
)
