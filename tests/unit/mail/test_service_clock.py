"""The mail service's time, from what its replies say and what this machine counts."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.mail.service_clock import LARGEST_HOLD, ServiceClock, clock_trouble

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
ROUND_TRIP = timedelta(milliseconds=200)
OFFSETS = [timedelta(seconds=seconds) for seconds in (-3_600, -400, -60, -11, 0, 11, 60, 400, 3_600)]


class Machine(ManualClock):
    """A machine whose wall clock is wrong, and may be set at any time."""

    def __init__(self, off: timedelta = timedelta(0)) -> None:
        super().__init__(NOON)
        self.off = off

    def now(self) -> datetime:
        return self.right() + self.off

    def right(self) -> datetime:
        return super().now()


def reply(clock: ServiceClock, machine: Machine, *, off: timedelta = timedelta(0), after: timedelta = SECOND) -> None:
    """The service replies some time later, and its reply says how late it is there: ``off`` more than is right."""
    machine.sleep(after)
    asked_s = clock.monotonic_s()
    machine.sleep(ROUND_TRIP / 2)
    date = format_datetime((machine.right() + off).replace(microsecond=0))
    machine.sleep(ROUND_TRIP / 2)
    clock.heard(date, asked_s=asked_s)


def replies(clock: ServiceClock, machine: Machine, offs: Iterable[timedelta]) -> None:
    for off in offs:
        reply(clock, machine, off=off, after=timedelta(seconds=1.37))


def behind(clock: ServiceClock, machine: Machine) -> timedelta:
    """How far what is shown is behind the service."""
    return machine.right() - clock.now()


@pytest.mark.parametrize("off", OFFSETS, ids=str)
def test_a_machines_clock_does_not_matter_once_the_service_has_replied(off: timedelta) -> None:
    machine = Machine(off)
    clock = ServiceClock(machine)
    assert clock.now() == machine.now()
    assert clock.machine_error() is None
    replies(clock, machine, [timedelta(0)] * 3)
    assert timedelta(0) <= behind(clock, machine) <= SECOND + ROUND_TRIP
    error = clock.machine_error()
    assert error is not None
    assert abs(error - off) <= SECOND + ROUND_TRIP


def test_more_replies_tell_the_time_more_exactly_and_never_one_that_is_still_to_come() -> None:
    machine = Machine(timedelta(seconds=-60))
    clock = ServiceClock(machine)
    for _ in range(40):
        reply(clock, machine, after=timedelta(seconds=1.37))
        assert clock.is_in_doubt or behind(clock, machine) >= timedelta(0)
    assert behind(clock, machine) < timedelta(milliseconds=300)


@pytest.mark.parametrize("jump", [-HOUR, -SECOND, HOUR], ids=str)
def test_nobody_notices_when_the_wall_clock_is_set_but_the_error_tells(jump: timedelta) -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * 5)
    before = clock.now()
    machine.off = jump
    assert clock.now() == before
    machine.sleep(HOUR)
    assert clock.now() == before + HOUR
    error = clock.machine_error()
    assert error is not None
    assert abs(error - jump) <= SECOND


@pytest.mark.parametrize("date", [
    None, "", "soon", "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 02 May 9999 12:00:00 GMT",
    "Fri, 99 May 2031 12:00:00 GMT", "Fri, 02 May 2031 12:00:00 +9999999", "\x00" * 100_000,
])  # fmt: skip
def test_a_reply_without_a_usable_date_leaves_everything_as_it_was(date: str | None) -> None:
    machine = Machine(-HOUR)
    clock = ServiceClock(machine)
    for _ in range(5):
        clock.heard(date, asked_s=clock.monotonic_s())
    assert clock.machine_error() is None
    assert clock.now() == machine.now()
    assert not clock.is_in_doubt


def test_a_date_that_names_no_zone_is_in_utc() -> None:
    machine = Machine(-HOUR)
    clock = ServiceClock(machine)
    for _ in range(3):
        clock.heard("Fri, 02 May 2031 12:00:00", asked_s=clock.monotonic_s())
    assert clock.now() == NOON


@pytest.mark.parametrize("wrong", [HOUR, -HOUR, timedelta(days=-3_000)], ids=str)
@pytest.mark.parametrize("first", [0, 1, 4])
def test_one_wrong_reply_is_outvoted_wherever_it_comes(wrong: timedelta, first: int) -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * first)
    reply(clock, machine, off=wrong)
    assert clock.is_in_doubt
    assert abs(behind(clock, machine)) <= 2 * SECOND
    replies(clock, machine, [timedelta(0), wrong, timedelta(0), wrong, wrong, timedelta(0)])
    assert not clock.is_in_doubt
    assert abs(behind(clock, machine)) <= 2 * SECOND


def test_a_service_whose_replies_contradict_each_other_for_ever_changes_nothing() -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * 3)
    for number in range(100):
        reply(clock, machine, off=timedelta(hours=number % 3))
        assert abs(behind(clock, machine)) <= 2 * SECOND


@pytest.mark.parametrize("change", [HOUR, -HOUR, timedelta(hours=8)], ids=str)
def test_three_replies_in_a_row_are_believed_as_after_a_sleep_that_the_machine_did_not_count(
    change: timedelta,
) -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * 15)
    replies(clock, machine, [change] * 2)
    assert clock.is_in_doubt
    reply(clock, machine, off=change)
    assert not clock.is_in_doubt
    assert timedelta(0) <= machine.right() + change - clock.now() <= SECOND + ROUND_TRIP


@pytest.mark.parametrize("off", [timedelta(seconds=-1.9), timedelta(seconds=1.9)], ids=["behind", "ahead"])
@pytest.mark.parametrize("first", [0, 1, 2, 4, 15])
def test_one_reply_that_is_a_little_wrong_moves_nothing(first: int, off: timedelta) -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * first)
    before = behind(clock, machine)
    reply(clock, machine, off=off)
    assert behind(clock, machine) == before
    assert not clock.is_in_doubt
    for _ in range(5):
        reply(clock, machine)
        assert timedelta(0) <= behind(clock, machine) <= SECOND + ROUND_TRIP


def test_wrong_replies_among_right_ones_cannot_move_the_time_step_by_step() -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * 3)
    for number in range(1, 60):
        replies(clock, machine, [timedelta(0), timedelta(0), timedelta(seconds=1.9 * number)])
        assert timedelta(0) <= behind(clock, machine) <= SECOND + ROUND_TRIP


@pytest.mark.parametrize("change", [-SECOND, -30 * SECOND, -LARGEST_HOLD], ids=str)
def test_a_time_that_was_a_little_ahead_stands_still_and_never_goes_back(change: timedelta) -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * 3)
    latest = clock.now()
    for _ in range(80):
        reply(clock, machine, off=change)
        assert clock.now() >= latest
        latest = clock.now()
    assert timedelta(0) <= machine.right() + change - latest <= SECOND + ROUND_TRIP


def test_a_machine_whose_clock_drifts_is_followed() -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    for number in range(500):
        # 100 parts in a million: 15 ms of each 150 s.
        reply(clock, machine, off=timedelta(milliseconds=15 * number), after=timedelta(seconds=150))
        assert timedelta(0) <= machine.right() + timedelta(milliseconds=15 * number) - clock.now() <= 2 * SECOND


def test_a_slow_reply_tells_less_and_spoils_nothing() -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    replies(clock, machine, [timedelta(0)] * 15)
    before = behind(clock, machine)
    asked_s = clock.monotonic_s()
    date = format_datetime(machine.right().replace(microsecond=0))
    machine.sleep(55 * SECOND)  # what was dated at once came after 55 s
    clock.heard(date, asked_s=asked_s)
    assert not clock.is_in_doubt
    assert behind(clock, machine) <= before


def test_waits_are_those_of_the_machine() -> None:
    machine = Machine()
    clock = ServiceClock(machine)
    clock.sleep(HOUR)
    assert machine.right() == NOON + HOUR
    assert clock.monotonic_s() == machine.monotonic_s()


@pytest.mark.parametrize(("error", "said"), [
    (None, None),
    (timedelta(seconds=10), None),
    (timedelta(seconds=-61), "61 s behind"),
    (HOUR, "3,600 s ahead of"),
])  # fmt: skip
def test_a_person_is_told_about_an_error_of_more_than_ten_seconds(error: timedelta | None, said: str | None) -> None:
    trouble = clock_trouble(error)
    assert (trouble is None) == (said is None)
    if trouble is not None and said is not None:
        assert said in trouble
        assert "set-ntp" in trouble
