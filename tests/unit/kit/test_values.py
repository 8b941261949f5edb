"""A copy of a value with changed fields, whatever the value was made with."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from msgspec import Struct

from league_agents.kit.values import evolve


class Card(Struct, frozen=True, kw_only=True):
    """A value as states hold them."""

    name: str
    points: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A value as configurations hold them."""

    name: str
    limit: int = 3


@pytest.mark.parametrize("value", [Card(name="a"), Setting(name="a")], ids=["struct", "dataclass"])
def test_a_copy_differs_in_the_named_fields_only(value: Card | Setting) -> None:
    changed = evolve(value, name="b")
    assert type(changed) is type(value)
    assert changed == type(value)(name="b")
    assert value == type(value)(name="a")


@pytest.mark.parametrize("value", [Card(name="a"), Setting(name="a")], ids=["struct", "dataclass"])
def test_a_field_that_there_is_not_is_an_error(value: Card | Setting) -> None:
    with pytest.raises(TypeError, match="colour"):
        evolve(value, colour="red")  # type: ignore[call-arg]
