"""Token prices from a file of the user, because prices change after a release.

Rule: a price that is not in the file is unknown, never zero, and so is a sum that contains it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from league_agents.llm.port import Usage

NANO = 1_000_000_000
"""Money is counted in whole billionths of a dollar, so that sums, and with them limits, are exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens."""

    input_usd: float
    output_usd: float
    cached_usd: float | None = None
    """Price of input that the service had cached; ``None`` if it costs as much as other input."""

    stored_usd: float | None = None
    """Price of input that the service stores in its cache; ``None`` if it costs as much as other input."""

    def nano_usd(self, usage: Usage) -> int:
        """Return the cost of this use, rounded up."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        stored = min(usage.stored_tokens, usage.input_tokens - cached)
        return (
            _nano(self.input_usd, usage.input_tokens - cached - stored)
            + _nano(self.input_usd if self.cached_usd is None else self.cached_usd, cached)
            + _nano(self.input_usd if self.stored_usd is None else self.stored_usd, stored)
            + _nano(self.output_usd, usage.output_tokens)
        )


def _nano(usd_per_million: float, tokens: int) -> int:
    # A thousandth of a billionth of a dollar per token is as exact as any price list.
    pico_per_token = round(usd_per_million * 1_000_000)
    return -(-pico_per_token * tokens // 1_000)


class PriceList:
    """Prices by ``provider:model``. A name ending in ``*`` is a prefix; the longest match counts."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = dict(prices)

    def of(self, model: str) -> Price | None:
        """Return the price of a model; ``None`` if it is unknown."""
        if model in self._prices:
            return self._prices[model]
        fitting = [name for name in self._prices if name.endswith("*") and model.startswith(name[:-1])]
        return self._prices[max(fitting, key=len)] if fitting else None

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """Return the cost of this use of a model; ``None`` if the price is unknown."""
        price = self.of(model)
        return None if price is None else price.nano_usd(usage) / NANO
