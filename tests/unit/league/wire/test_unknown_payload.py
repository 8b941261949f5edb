"""A payload whose shape nobody knows is kept within bounds (protocol 2.7)."""

from __future__ import annotations

import pytest

from league_agents.league.wire.reading import bounded_json


def nested(levels: int) -> object:
    """Lists and objects in turn, and a number inside."""
    value: object = 1
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


def test_thirty_two_levels_are_kept_and_one_more_is_refused() -> None:
    assert bounded_json(nested(32)) == nested(32)
    with pytest.raises(ValueError, match="at most 32 levels deep"):
        bounded_json(nested(33))


def test_five_thousand_values_are_kept_and_one_more_is_refused() -> None:
    flat = [0] * 4_999  # and the list itself
    assert bounded_json(flat) == flat
    with pytest.raises(ValueError, match="at most 5000 values"):
        bounded_json([*flat, 0])


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (10**18 - 1, 10**18 - 1),
        (10**18, None),
        (-(10**18), None),
        (float("nan"), None),
        (float("inf"), None),
        (True, True),
        (None, None),
        ("x" * 20_001, "x" * 20_000),
        ({"k" * 200: 1, "k" * 201: 2, 3: 4}, {"k" * 200: 1}),
        ((1, 2), [1, 2]),
        ({1, 2}, None),  # no JSON
        ({"a\ud800": "b\ud800"}, {"a\ufffd": "b\ufffd"}),
    ],
)
def test_single_values_are_bounded_as_in_known_payloads(value: object, kept: object) -> None:
    assert bounded_json(value) == kept
