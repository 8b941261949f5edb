"""What is made quickly is what ``dataclasses`` makes."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import dataclass, field

import pytest

from league_agents.values import as_dict, evolve, maker


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A value with every kind of default."""

    name: str
    points: int = 3
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plain:
    """A value whose fields may be given by position."""

    first: int
    second: int = 2


@dataclass(frozen=True, slots=True)
class Checked:
    """A value that refuses some fields."""

    number: int

    def __post_init__(self) -> None:
        if self.number < 0:
            raise ValueError("negative")


@dataclass(frozen=True, slots=True)
class Longer(Plain):
    """A value that inherits."""

    third: int = 3


new_card = maker(Card)
new_plain = maker(Plain)


def test_fields_and_defaults_are_those_of_the_class() -> None:
    card = new_card(name="a")
    assert card == Card(name="a", points=3, tags=[])
    assert type(card) is Card
    assert repr(card) == "Card(name='a', points=3, tags=[])"
    assert new_card(name="a").tags is not card.tags


def test_a_given_value_wins_over_a_default_factory() -> None:
    given = ["x"]
    assert new_card(name="a", tags=given).tags is given


def test_fields_by_position() -> None:
    assert new_plain(1) == new_plain(first=1, second=2) == Plain(1, 2)


def test_a_missing_and_an_unknown_field_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Card\(\) missing 1 required keyword-only argument: 'name'"):
        new_card()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        new_card(name="a", colour=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        new_card("a")  # type: ignore[misc]


@pytest.mark.parametrize("value", [new_plain(1), evolve(new_plain(1), second=5), evolve(Plain(1), second=5)])
def test_it_is_frozen_and_has_no_other_fields(value: Plain) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        value.first = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del value.first
    with pytest.raises((AttributeError, TypeError)):  # Python 3.11 gives the wrong one
        value.other = 2  # type: ignore[attr-defined]


def test_it_is_equal_to_and_hashed_like_what_the_class_makes() -> None:
    assert new_plain(1) == Plain(1) != new_plain(2)
    assert {Plain(1): "x"}[new_plain(1)] == "x"


def test_it_can_be_copied_and_pickled() -> None:
    card = new_card(name="a", tags=["x"])
    assert copy.deepcopy(card) == card
    assert pickle.loads(pickle.dumps(card)) == card
    assert dataclasses.replace(card, points=1) == evolve(card, points=1)


def test_evolve_changes_the_named_fields_and_leaves_the_original() -> None:
    card = Card(name="a", tags=["x"])
    changed = evolve(card, name="b", points=0)
    assert changed == Card(name="b", points=0, tags=["x"])
    assert card == Card(name="a", tags=["x"])
    assert changed.tags is card.tags
    assert type(changed) is Card


def test_evolve_without_changes_is_an_equal_value() -> None:
    assert evolve(Plain(1)) == Plain(1)


def test_evolve_refuses_an_unknown_field() -> None:
    with pytest.raises(TypeError, match="third"):
        evolve(Plain(1), third=3)  # type: ignore[call-arg]


def test_evolve_runs_the_checks_of_a_class_that_has_some() -> None:
    assert evolve(Checked(1), number=2) == Checked(2)
    with pytest.raises(ValueError, match="negative"):
        evolve(Checked(1), number=-1)


def test_evolve_copies_what_inherits() -> None:
    assert evolve(Longer(1), third=4) == Longer(1, 2, 4)


@pytest.mark.parametrize("kind", [Checked, Longer, int])
def test_where_there_is_no_shorter_way_the_class_itself_makes_the_values(kind: type) -> None:
    assert maker(kind) is kind


def test_a_class_that_is_not_frozen_makes_its_own_values() -> None:
    @dataclass(slots=True)
    class Open:
        first: int

    assert maker(Open) is Open


def test_a_value_as_a_dict_has_the_named_fields_as_they_are_written() -> None:
    read = as_dict(Card, {"points": str, "name": None}, {"is": "Card"})
    assert read(Card(name="a")) == {"points": "3", "name": "a", "is": "Card"}
    assert list(read(Card(name="a"))) == ["points", "name", "is"]
