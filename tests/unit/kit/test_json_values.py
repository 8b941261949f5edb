"""A value of the wrong type in a foreign document counts as absent, and no value raises."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

import pytest

from league_agents.kit.json_values import elements, mapping, mappings, number, text, text_or_empty, whole

HOSTILE = (math.nan, math.inf, -math.inf, 10**400, -(10**400), 1e300)
OTHERS = (None, True, 0, -7, 2.5, "", "text", [], [1, {"a": 1}], {"a": 1})


@pytest.mark.parametrize(("read", "absent", "accepted"), [
    (mapping, {}, [{"a": 1}]),
    (elements, (), [[], [1, {"a": 1}]]),
    (mappings, [], [[]]),
    (text, None, ["", "text"]),
    (text_or_empty, "", ["", "text"]),
    (whole, None, [0, -7]),
    (number, None, [0, -7, 2.5]),
])  # fmt: skip
def test_only_values_of_the_type_are_read(
    read: Callable[[object], object], absent: object, accepted: list[object]
) -> None:
    assert [read(value) for value in HOSTILE] == [absent] * len(HOSTILE)
    for value in OTHERS:
        is_accepted = any(value is each or (value == each and type(value) is type(each)) for each in accepted)
        if (read, value) != (mappings, OTHERS[8]):
            assert read(value) == (value if is_accepted else absent), value


def test_the_objects_of_a_list_are_found_among_others() -> None:
    assert mappings(json.loads('[1, {"a": 1}, [], {"b": 2}]')) == [{"a": 1}, {"b": 2}]
