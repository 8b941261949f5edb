"""A test decides what time it is in another process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from league_agents.local_league.machine_clock import MachineClock
from league_agents.local_league.patience import LIMIT_S

HOUR = timedelta(hours=1)
A_DAY_S = 86_400.0
PROGRAM = """
import sys, threading
from datetime import timedelta
from league_agents.kit.clock import SystemClock, monotonic_s, sleep_s, utc_now
from league_agents.runner.wakeup import Wakeup
clock = SystemClock()
for order in sys.stdin:
    if order == "rest\\n":
        print("resting", flush=True)
        Wakeup().rest(timedelta(days=1))
    elif order == "sleep\\n":
        print("resting", flush=True)
        sleep_s(86400)
    print(utc_now().isoformat(), monotonic_s(), clock.now().isoformat(), clock.monotonic_s(), flush=True)
"""


@pytest.fixture
def clock(tmp_path: Path) -> MachineClock:
    return MachineClock(tmp_path, rate=0)


class Process:
    """The program in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._orders, self._answers = process.stdin, process.stdout

    def order(self, text: str) -> None:
        self._orders.write(f"{text}\n")
        self._orders.flush()

    def line(self) -> str:
        return self._answers.readline()

    def reading(self) -> tuple[datetime, float]:
        """Its wall clock and its monotonic one."""
        now, monotonic, clock_now, clock_monotonic = self.line().split()
        assert datetime.fromisoformat(now) <= datetime.fromisoformat(clock_now)
        assert float(monotonic) <= float(clock_monotonic)
        return datetime.fromisoformat(clock_now), float(clock_monotonic)

    def look(self) -> tuple[datetime, float]:
        self.order("look")
        return self.reading()


@pytest.fixture
def other(clock: MachineClock) -> Iterator[Process]:
    environment = {**os.environ, **clock.environment("other")}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        yield Process(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(LIMIT_S) == 0


def near(one: datetime, other: datetime) -> bool:
    """Whether two instants are the same as far as the numbers of a file can tell."""
    return abs(one - other) < timedelta(milliseconds=1)


def test_time_that_stands_still_moves_when_the_test_says_so(clock: MachineClock, other: Process) -> None:
    first_now, first_s = other.look()
    assert other.look() == (first_now, first_s)
    clock.advance(HOUR)
    now, monotonic_s = other.look()
    assert near(now, first_now + HOUR)
    assert near(now, clock.now())
    assert monotonic_s - first_s == pytest.approx(3_600)
    assert monotonic_s == pytest.approx(clock.monotonic_s())


def test_a_wall_clock_is_set_and_the_monotonic_one_does_not_notice(clock: MachineClock, other: Process) -> None:
    first_now, first_s = other.look()
    clock.set_wall(-HOUR, "other")
    now, monotonic_s = other.look()
    assert near(now, first_now - HOUR)
    assert monotonic_s == first_s
    clock.set_wall(HOUR, "somebody else")
    assert other.look() == (now, monotonic_s)
    assert near(clock.now(), first_now)


@pytest.mark.parametrize("order", ["rest", "sleep"])
def test_a_process_that_waits_for_a_day_goes_on_when_the_test_lets_the_day_pass(
    clock: MachineClock, other: Process, order: str
) -> None:
    _, first_s = other.look()
    other.order(order)
    assert other.line() == "resting\n"
    clock.set_rate(1e7)
    _, monotonic_s = other.reading()
    assert monotonic_s - first_s >= A_DAY_S


def test_a_rate_makes_time_pass_faster(clock: MachineClock, other: Process) -> None:
    first_now, _ = other.look()
    clock.set_rate(1e6)
    while other.look()[0] < first_now + timedelta(hours=10):
        pass
    clock.set_rate(0)
    stands_at, _ = other.look()
    assert other.look()[0] == stands_at


def test_a_wait_in_the_same_process_ends_early_for_an_event(clock: MachineClock) -> None:
    event = threading.Event()
    event.set()
    assert clock.wait(event, timedelta(days=1))
    event.clear()
    waited = threading.Event()

    def let_time_pass() -> None:
        while not waited.wait(0.001):
            clock.advance(HOUR)

    thread = threading.Thread(target=let_time_pass)
    thread.start()
    assert not clock.wait(event, timedelta(days=1))
    waited.set()
    thread.join()
