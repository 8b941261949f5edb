"""JSON values that are shared instead of copied."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from league_agents.kit.frozen import FrozenDict, FrozenList, frozen, thawed

VALUE = {"a": [1, {"b": None}], "c": "text"}


def test_whoever_reads_sees_a_plain_value() -> None:
    made = frozen(VALUE)
    assert made == VALUE
    assert json.loads(json.dumps(made)) == VALUE
    assert isinstance(made, dict)
    assert isinstance(made["a"], list)
    assert frozen(made) is made


@pytest.mark.parametrize(
    "change",
    [
        lambda value: value.update(a=1),
        lambda value: value.__setitem__("a", 1),
        lambda value: value.pop("a"),
        lambda value: value.__delitem__("a"),
        lambda value: value.setdefault("x", 1),
        lambda value: value.clear(),
        lambda value: value.__ior__({"x": 1}),
        lambda value: value["a"].append(1),
        lambda value: value["a"].__setitem__(0, 2),
        lambda value: value["a"].__iadd__([1]),
        lambda value: value["a"].sort(),
        lambda value: value["a"][1].popitem(),
    ],
)
def test_whoever_writes_is_refused_at_any_depth(change: Callable[[Any], object]) -> None:
    made = frozen(VALUE)
    with pytest.raises(TypeError, match="change a copy"):
        change(made)
    assert made == VALUE


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, thawed, lambda value: pickle.loads(pickle.dumps(value))],
    ids=["deepcopy", "thawed", "pickle"],
)
def test_a_copy_may_be_changed(copied: Callable[[Any], Any]) -> None:
    made = frozen(VALUE)
    mine = copied(made)
    assert mine == VALUE
    mine["a"][1]["b"] = 5
    mine["a"].append(6)
    assert made == VALUE


def test_a_shallow_copy_is_plain_at_the_top() -> None:
    made = frozen(VALUE)
    assert type(made.copy()) is type(copy.copy(made)) is dict
    assert type(made["a"].copy()) is type(copy.copy(made["a"])) is list
    assert type(made["a"]) is FrozenList
    assert type(made["a"][1]) is FrozenDict
