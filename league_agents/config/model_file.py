"""The keys of the section ``models`` of a league file, and of a price file.

Imported only when one of them is read, because importing pydantic is slow.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field

from league_agents.kit.written import Line, LongLine, WrittenMapping
from league_agents.llm.limits import LONGEST_CHAIN

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
    """What it is called in `use`."""

    provider: Line
    """openai, gemini, anthropic, or an installed one: `league-agents config providers`."""

    model: Line | None = None
    """As the service spells it. Default: the provider's."""

    base_url: LongLine | None = None
    """A server of your own: llama.cpp, Ollama, vLLM, LM Studio. A key is sent over https only."""

    key_variable: Line | None = None
    """The environment variable with the key. Default: the provider's."""

    timeout_seconds: Annotated[float, Field(ge=1, le=7 * 86_400)] | None = None
    """Of one call with its repetitions, when the deadline is later. Default: 120."""

    retries: Annotated[int, Field(ge=0, le=20)] | None = None
    """After a failure that may pass. Default: 3."""

    max_output: Annotated[int, Field(ge=16, le=1_000_000)] | None = None
    """Tokens that it may write, when the agent asks for more."""

    thinking_tokens: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    """Tokens besides, for models that think before they write."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """openai, gemini. Default: the service's."""

    seed: Annotated[int, Field(ge=0, le=2_147_483_647)] | None = None
    """openai, gemini with google-genai: replies to the same prompt vary less."""

    reasoning_effort: Line | None = None
    """A word of the service, such as low or high. Default: at the services themselves the shortest that leaves time to
    answer, unless `thinking_tokens` are given."""

    service_tier: Line | None = None
    """A word of the service, such as flex or priority. Default: the service's."""


class WrittenLimit(WrittenMapping):
    """The most in one period."""

    usd: Usd | None = None
    """Needs the price of every model."""

    tokens: Annotated[int, Field(ge=0, le=10**12)] | None = None
    """Read and written."""

    calls: Annotated[int, Field(ge=0, le=10**9)] | None = None
    """Of the service."""


class WrittenLimits(WrittenMapping):
    """The most in each period."""

    per_game: WrittenLimit = WrittenLimit()
    """One agent in one game."""

    per_day: WrittenLimit = WrittenLimit()
    """All agents on this machine, by UTC."""

    per_season: WrittenLimit = WrittenLimit()
    """All agents of this league."""


class WrittenModels(WrittenMapping):
    """The section."""

    models: Annotated[list[WrittenModel], Field(max_length=20)] = Field(default_factory=list)
    """The first one is asked first; the next one when it is down, too slow or too dear; when none is left, the agent
    goes on offline."""

    use: dict[str, Names] = Field(default_factory=dict)
    """Callback, or `default`, to names of models, the best first. An empty list is nobody: that callback works
    offline."""

    limits: WrittenLimits = WrittenLimits()
    """Hard limits: a call is made only when the most that it can use still fits."""

    prices: LongLine | None = None
    """A price file. Default: the one in the data folder."""


class WrittenPrice(WrittenMapping):
    """Dollars for a million tokens."""

    input: UsdPerMillion
    cached: UsdPerMillion | None = None
    stored: UsdPerMillion | None = None
    output: UsdPerMillion


class WrittenPrices(WrittenMapping):
    """A price file."""

    prices: Annotated[dict[str, WrittenPrice], Field(max_length=1_000)] = Field(default_factory=dict)
