"""Independent tasks on an executor: few are under way, and results come in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from league_agents.app.executor import Here, results


class Elsewhere(Here):
    """Three places whose work ends when the test says so."""

    width = 3
    most_waiting = 6

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []
        self.checks = 0

    def submit(self, lane: int | None, work: Callable[..., Any], /, *args: Any, **_: Any) -> Future[Any]:
        assert lane is None
        self.futures.append(Future())
        if args[0] >= 2:  # the first two take longer
            self.futures[-1].set_result(work(*args))
        return self.futures[-1]

    def check(self) -> None:
        self.checks += 1


def numbers(drawn: list[int], count: int = 20) -> Iterator[tuple[int]]:
    for number in range(count):
        drawn.append(number)
        yield (number,)


def test_a_task_is_drawn_when_it_is_handed_over() -> None:
    drawn: list[int] = []
    found = results(Here(), float, numbers(drawn))
    assert [next(found), next(found)] == [0.0, 1.0]
    assert drawn == [0, 1]


def test_results_wait_for_those_before_them_and_count_as_under_way() -> None:
    drawn: list[int] = []
    executor = Elsewhere()
    looks: list[int] = []

    def look() -> None:
        looks.append(len(drawn))
        for number, future in enumerate(executor.futures[:2]):
            if not future.done():
                future.set_result(float(number))

    assert list(results(executor, float, numbers(drawn), look=look)) == [float(number) for number in range(20)]
    assert looks[0] == 6
    assert executor.checks


def test_out_of_order_nothing_waits_for_a_slow_one() -> None:
    executor = Elsewhere()
    found = results(executor, float, numbers([]), in_order=False)
    early = [next(found) for _ in range(18)]
    assert sorted(early) == [float(number) for number in range(2, 20)]
    for number, future in enumerate(executor.futures[:2]):
        future.set_result(float(number))
    assert sorted(found) == [0.0, 1.0]


def test_an_error_abandons_the_rest() -> None:
    executor = Elsewhere()
    executor_error = ValueError("no number")
    drawn = iter([None])

    def look() -> None:
        if next(drawn, 0) is None:
            executor.futures[0].set_exception(executor_error)

    found = results(executor, float, numbers([]), look=look)
    with pytest.raises(ValueError, match="no number"):
        list(found)
    assert executor.futures[1].cancelled()
