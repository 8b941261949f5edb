"""What the section ``models`` of a league file and a price file may say.

Imported where one of them is read, and not before: pydantic takes its time.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from league_agents.config.model_settings import LONGEST_CHAIN
from league_agents.kit.written import Line, LongLine, WrittenMapping

Usd = Annotated[float, Field(ge=0, le=1_000_000)]
UsdPerMillion = Annotated[float, Field(ge=0, le=100_000)]
Names = Annotated[
    list[Line],
    Field(max_length=LONGEST_CHAIN),
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
]
"""Of models; one may stand alone."""


class WrittenModel(WrittenMapping):
    """A model that may be asked."""

    name: Line
    provider: Line
    model: Line | None = None
    base_url: LongLine | None = None
    key_variable: Line | None = None
    timeout_seconds: Annotated[float, Field(ge=1, le=7 * 86_400)] | None = None
    retries: Annotated[int, Field(ge=0, le=20)] | None = None
    max_output: Annotated[int, Field(ge=16, le=1_000_000)] | None = None
    thinking_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = 0


class WrittenLimit(WrittenMapping):
    """The most in one period."""

    usd: Usd | None = None
    tokens: Annotated[int, Field(ge=0, le=10**12)] | None = None
    calls: Annotated[int, Field(ge=0, le=10**9)] | None = None


class WrittenLimits(WrittenMapping):
    """The most in each period."""

    per_game: WrittenLimit = WrittenLimit()
    per_day: WrittenLimit = WrittenLimit()
    per_season: WrittenLimit = WrittenLimit()


class WrittenModels(WrittenMapping):
    """The section."""

    models: Annotated[list[WrittenModel], Field(max_length=20)] = Field(default_factory=list)
    use: dict[str, Names] = Field(default_factory=dict)
    limits: WrittenLimits = WrittenLimits()
    prices: LongLine | None = None


class WrittenPrice(WrittenMapping):
    """Dollars for a million tokens."""

    input: UsdPerMillion
    cached: UsdPerMillion | None = None
    output: UsdPerMillion


class WrittenPrices(WrittenMapping):
    """A price file."""

    prices: Annotated[dict[str, WrittenPrice], Field(max_length=1_000)] = Field(default_factory=dict)
