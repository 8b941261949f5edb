"""Freely worded questions about passages of real books, their answers decided by hand."""

from __future__ import annotations

import pytest

from benchmarks.free_answers import PARTS, measure_free_answers


@pytest.mark.parametrize("part", PARTS)
def test_a_quarter_at_most_is_declined_and_what_is_answered_is_right(part: str) -> None:
    found = measure_free_answers(part)
    assert found.right + found.wrong + found.declined >= 200
    precision, declined = found.precision, found.declined_share
    assert precision is not None
    assert declined is not None
    assert precision.value >= 0.97, found.missed
    assert declined.value <= 0.25, found.missed
