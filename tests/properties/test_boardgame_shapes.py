"""The checks of this package and any JSON Schema validator agree about every message."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from league_agents.arena.protocol.shape_check import faults_of
from league_agents.arena.protocol.shapes import SHAPES


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    # JSON Schema's patterns are ECMA's, where "$" is the end of the text; jsonschema hands them to Python as they are.
    if isinstance(instance, str) and re.search(re.sub(r"\$\Z", r"\\Z", pattern), instance) is None:
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


Validator = extend(Draft202012Validator, {"pattern": _pattern})

RIGHT: dict[str, dict[str, Any]] = {
    kind: {
        "version": "1.0.0",
        "type": kind,
        **{name: "name-1" for name in ("game", "match_id", "agent_id") if name in shape["properties"]},
    }
    for kind, shape in SHAPES.items()
}
RIGHT["get_state"] |= {"state": {"version": "1.0.0"}}
RIGHT["perform_action"] |= {"action": {"version": "1.0.0", "type": "vote", "data": {"vote_number": None}}}
SEATS = ["a", {"id": "b", "agent": "scripted"}, {"id": "c", "agent": "open", "name": "Cleo"}]
RIGHT["create_match"] |= {"settings": {"version": "1.0.0", "data": {"config": {}, "agents": SEATS}}}
RIGHT["authenticate"] |= {"token": "secret", "after": 3}
RIGHT["authenticated"] |= {"now": "2025-05-05T10:00:00Z"}
RIGHT["get_state_response"] |= {
    "status": "started",
    "phase": "voting",
    "turn": 2,
    "stage": "vote",
    "started_at": "2025-05-05T10:00:00Z",
    "ended_at": None,
    "active_agent_id": None,
    "agents": [{"id": "a", "name": "A", "type": "human"}],
    "winners": ["a"],
    "state": {
        "version": "1.0.0",
        "data": {
            "seq": 3,
            "active_agent_ids": ["a"],
            "deadline": "2025-05-05T10:00:00.125Z",
            "legal": [{"type": "vote", "schema": {}, "choices": [{}]}],
            "rules": "...",
            "view": {},
        },
    },
}
RIGHT["perform_action_response"] |= {
    "request_id": "r",
    "action_response": {
        "version": "1.0.0",
        "status": "error",
        "message": "no",
        "data": {"code": "x", "attempts_left": 0},
    },
}
RIGHT["get_matches_response"] |= {
    "matches": [
        {
            "match_id": "m",
            "game": "g",
            "status": "waiting",
            "agents": [],
            "seats": 2,
            "open_seats": 1,
            "created_at": "2025-05-05T10:00:00Z",
        }
    ]
}
RIGHT["push_message"] |= {
    "message_response": {"version": "1.0.0", "message": "said", "data": {"seq": 1, "event": "description"}}
}
RIGHT["error"] |= {"error": {"version": "1.0.0", "message": "no", "data": {"code": "forbidden", "request_type": ""}}}

_scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 70),
    st.sampled_from([0.0, 1.0, 2.5, -1.0]),
    st.text(max_size=5),
    st.sampled_from(["1.0.0", "1.0.0\n", "10.2.30", "1.0", "x" * 64, "x" * 65, "started", "human", "error", "", "a\n"]),
    st.sampled_from(["2025-05-05T10:00:00Z", "2025-05-05T10:00:00+00:00", "٢٠٢٥-05-05T10:00:00Z", *SHAPES]),
)
_values = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, Any]:
    """A message with a few of its values replaced, removed or joined by others."""
    kind = draw(st.sampled_from(sorted(SHAPES)))
    message: Any = copy.deepcopy(RIGHT[kind])
    for _ in range(draw(st.integers(0, 3))):
        found = list(places(message))
        if not found:
            break
        path = draw(st.sampled_from(found))
        holder = message
        for step in path[:-1]:
            holder = holder[step]
        change = draw(st.sampled_from(["replace", "remove", "join"]))
        if change == "remove":
            del holder[path[-1]]
        elif change == "join" and isinstance(holder, dict):
            holder[draw(st.text(min_size=1, max_size=3))] = draw(_values)
        else:
            holder[path[-1]] = draw(_values)
    return kind, message


@pytest.mark.parametrize("kind", sorted(SHAPES))
def test_the_messages_that_are_damaged_below_are_right(kind: str) -> None:
    assert faults_of(RIGHT[kind], SHAPES[kind]) == []
    assert list(Validator(SHAPES[kind]).iter_errors(RIGHT[kind])) == []


_VALIDATORS = {kind: Validator(shape) for kind, shape in SHAPES.items()}


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_both_find_a_message_right_or_both_find_it_wrong(case: tuple[str, Any]) -> None:
    kind, message = case
    ours, theirs = faults_of(message, SHAPES[kind]), list(_VALIDATORS[kind].iter_errors(message))
    assert bool(ours) == bool(theirs), (ours, theirs)


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_both_find_the_faults_in_the_same_places(case: tuple[str, Any]) -> None:
    kind, message = case

    def place(error: Any) -> str:
        return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in error.absolute_path)

    ours = {
        fault["path"].rpartition("/")[0] if fault["code"] in ("missing_field", "unknown_field") else fault["path"]
        for fault in faults_of(message, SHAPES[kind])
    }
    assert ours == {place(error) for error in _VALIDATORS[kind].iter_errors(message)}
