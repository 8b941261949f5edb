"""The benchmark as a whole: its sizes, and series of games that run at once."""

from __future__ import annotations

from functools import partial

import pytest

from benchmarks.benchmark import Size, at_once


def test_calls_at_once_give_their_results_by_name_and_tell_how_far_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    results = at_once("sums", {"one": partial(sum, (1,)), "three": partial(sum, (1, 2))})
    assert list(results.items()) == [("one", 1), ("three", 3)]
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in told] == ["bench: sums: 1 of 2", "bench: sums: 2 of 2"]


def test_the_usual_size_is_between_the_others() -> None:
    assert [size.of(1, 2, 3) for size in Size] == [1, 2, 3]
