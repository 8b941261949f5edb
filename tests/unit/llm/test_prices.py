"""Prices are the user's; an unknown one stays unknown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from league_agents.llm.port import Usage
from league_agents.llm.prices import Price, PriceList

LIST = PriceList(
    {
        "openai:small": Price(input_usd=0.15, output_usd=0.60, cached_usd=0.075),
        "openai:small*": Price(input_usd=1, output_usd=2),
        "openai:*": Price(input_usd=10, output_usd=20),
        "openai:llama*": Price(input_usd=0, output_usd=0),
    }
)


def test_a_million_tokens_cost_what_the_list_says() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=400_000, output_tokens=1_000_000)
    assert LIST.cost_usd("openai:small", usage) == 0.6 * 0.15 + 0.4 * 0.075 + 0.60


def test_cached_input_costs_as_much_as_other_input_unless_the_list_says_less() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=1_000_000)
    assert LIST.cost_usd("openai:small-2", usage) == 1


def test_the_longest_name_that_fits_counts() -> None:
    usage = Usage(output_tokens=1_000_000)
    assert LIST.cost_usd("openai:small-mini", usage) == 2
    assert LIST.cost_usd("openai:other", usage) == 20
    assert LIST.cost_usd("openai:llama3", usage) == 0


def test_an_unknown_price_is_not_nothing() -> None:
    assert LIST.of("gemini:any") is None
    assert LIST.cost_usd("gemini:any", Usage()) is None


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.floats(0, 1_000), st.floats(0, 1_000))
def test_money_is_rounded_up_and_never_far(read: int, written: int, in_usd: float, out_usd: float) -> None:
    usage = Usage(input_tokens=read, output_tokens=written)
    exact = (round(in_usd * 10**6) * read + round(out_usd * 10**6) * written) / 1_000
    found = Price(input_usd=in_usd, output_usd=out_usd).nano_usd(usage)
    assert exact - 1e-6 * exact <= found <= exact + 3 + 1e-6 * exact
