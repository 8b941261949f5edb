"""The candidates that an agent states: a bounded list of numbers, or nothing."""

from __future__ import annotations

import pytest

from league_agents.kit.candidates_left import read_candidates_left


@pytest.mark.parametrize(
    ("stated", "read"),
    [
        ([400, 12.5, 1], (400.0, 12.5, 1.0)),
        ([], ()),
        ([1] * 201, ()),  # a batch has 20 questions
        ([1, -1], ()),
        ([1, float("nan")], ()),
        ([1, float("inf")], ()),
        ([1, 10**400], ()),  # too large for a float
        ([1, True], ()),
        ([1, "2"], ()),
        ({"1": 2}, ()),
        ("400", ()),
        (None, ()),
    ],
)
def test_only_a_bounded_list_of_numbers_is_read(stated: object, read: tuple[float, ...]) -> None:
    assert read_candidates_left(stated) == read
