"""Numbers of a command line can be counted with."""

from __future__ import annotations

import click
import pytest

from league_agents.cli.numbers import FiniteRange


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "1e999", "x", "-1"])
def test_what_is_no_number_in_the_range_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        FiniteRange(0).convert(text, None, None)


def test_a_number_in_the_range_is_taken() -> None:
    assert FiniteRange(0, 1).convert("0.5", None, None) == 0.5
