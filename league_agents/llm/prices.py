"""What tokens cost, as the user says: a file of his own, because no program knows tomorrow's prices.

Rule: a price that nobody wrote down is unknown. It is never nothing, and neither is a sum with it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from league_agents.llm.port import Usage

NANO = 1_000_000_000
"""Money is counted in whole billionths of a dollar: sums are exact, so that a limit is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None
    """Input that the service had cached; ``None`` where it costs as much as other input."""

    def nano_usd(self, usage: Usage) -> int:
        """What this use costs, rounded up."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        return (
            _nano(self.input_usd, usage.input_tokens - cached)
            + _nano(self.input_usd if self.cached_usd is None else self.cached_usd, cached)
            + _nano(self.output_usd, usage.output_tokens)
        )


def _nano(usd_per_million: float, tokens: int) -> int:
    # A thousandth of a billionth of a dollar for each token is as exact as any price list is.
    pico_per_token = round(usd_per_million * 1_000_000)
    return -(-pico_per_token * tokens // 1_000)


class PriceList:
    """Prices by ``provider:model``. A name that ends in ``*`` is for all that begin so; the longest that fits
    counts."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = dict(prices)

    def of(self, model: str) -> Price | None:
        """The price of a model; ``None`` when it is unknown."""
        if model in self._prices:
            return self._prices[model]
        fitting = [name for name in self._prices if name.endswith("*") and model.startswith(name[:-1])]
        return self._prices[max(fitting, key=len)] if fitting else None

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """What this use of a model costs; ``None`` when the price is unknown."""
        price = self.of(model)
        return None if price is None else price.nano_usd(usage) / NANO
