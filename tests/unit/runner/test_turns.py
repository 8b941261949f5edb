"""Roles share a few threads fairly: the busy and the slow delay nobody else."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from typing import Any, cast

import pytest

from league_agents.local_league.patience import LIMIT_S, until
from league_agents.runner import turns
from league_agents.runner.live import LiveRole
from league_agents.runner.turns import Resident, TurnPool, TurnQueue
from league_agents.runner.wakeup import Wakeup

NEVER = timedelta(days=1)
LIMIT = timedelta(seconds=LIMIT_S)


def residents(*names: str) -> list[Resident]:
    return [Resident(cast("LiveRole", Scripted(name)), Wakeup()) for name in names]


class Scripted:
    """Stands in for ``LiveRole``: what its turns do is given."""

    def __init__(self, name: str, *, rest: timedelta = NEVER, block: threading.Event | None = None) -> None:
        self.name = name
        self.trouble = ""
        self.needs_authorization = ""
        self.is_done = False
        self.rest = rest
        self.block = block
        self.failure: BaseException | None = None
        self.turns = 0
        self.is_closed = False
        self.at_once = 0
        self.most_at_once = 0
        self.threads: set[str] = set()

    def turn(self) -> timedelta:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.turns += 1
        self.threads.add(threading.current_thread().name)
        if self.block is not None:
            self.block.wait(LIMIT_S)
        self.at_once -= 1
        if self.failure is not None:
            raise self.failure
        return self.rest

    def close(self) -> None:
        self.is_closed = True


def add(pool: TurnPool, role: Scripted) -> Wakeup:
    wakeup = Wakeup()
    pool.add(cast("LiveRole", role), wakeup)
    return wakeup


def end(pool: TurnPool) -> None:
    pool.stop()
    pool.join(LIMIT)


def test_a_role_that_always_has_more_to_do_gets_no_more_turns_than_others() -> None:
    queue = TurnQueue(slow_places=1)
    flooded, *others = residents("flooded", *(f"r{n}" for n in range(9)))
    for each in (flooded, *others):
        queue.add(each)
    turns: Counter[str] = Counter()
    for _ in range(100):
        resident = queue.take(0.0)
        assert resident is not None
        turns[resident.role.name] += 1
        queue.rest(resident, 0.0)
    assert set(turns.values()) == {10}


def test_a_rest_ends_at_its_time_or_with_a_call_and_only_once() -> None:
    queue = TurnQueue(slow_places=1)
    one, other = residents("one", "other")
    for each, until_s in ((one, 5.0), (other, 3.0)):
        queue.add(each)
        assert queue.take(0.0) is each
        queue.rest(each, until_s)
    assert queue.take(2.0) is None
    assert queue.next_due_s() == 3.0
    assert queue.take(3.0) is other
    queue.wake(one)
    queue.wake(one)
    assert queue.take(3.0) is one
    queue.wake(one)  # in the middle of its turn
    queue.rest(one, 100.0)
    assert queue.take(3.0) is one
    queue.rest(one, 100.0)
    assert queue.take(50.0) is None, "what is left of the rest that ended early makes nothing due"
    queue.leave(other)
    queue.wake(other)
    assert queue.take(100.0) is one
    assert queue.take(200.0) is None


def test_roles_in_trouble_leave_threads_for_the_others_and_are_not_starved_by_them() -> None:
    queue = TurnQueue(slow_places=2)
    slow, usual = residents("s1", "s2", "s3"), residents("u1", "u2")
    for each in slow:
        each.is_slow = True
    for each in (*slow, *usual):
        queue.add(each)
    taken = [queue.take(0.0) for _ in range(5)]
    assert [each.role.name if each else None for each in taken] == ["u1", "s1", "u2", "s2", None]
    queue.rest(usual[0], 0.0)
    assert queue.take(0.0) is usual[0]
    queue.rest(slow[0], 9.0)
    assert queue.take(0.0) is slow[2], "there is a place again"


def test_no_role_has_two_turns_at_once_and_lines_of_libraries_name_it() -> None:
    pool = TurnPool(most_threads=4)
    roles = [Scripted(f"player {n}", rest=timedelta(0)) for n in range(12)]
    for role in roles:
        add(pool, role)
    until(lambda: all(role.turns >= 20 for role in roles), "turns of all")
    end(pool)
    assert {role.most_at_once for role in roles} == {1}
    assert all(role.threads == {role.name} for role in roles)
    assert all(role.is_closed for role in roles)


def test_a_role_that_hangs_delays_nobody() -> None:
    pool = TurnPool(most_threads=2)
    release = threading.Event()
    add(pool, Scripted("hanging", block=release))
    others = [Scripted(f"r{n}", rest=timedelta(0)) for n in range(5)]
    for role in others:
        add(pool, role)
    until(lambda: all(role.turns >= 3 for role in others), "turns of the others")
    release.set()
    end(pool)


def test_roles_that_begin_to_hang_together_delay_nobody_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "SLOW_TURN_S", 0.01)
    pool = TurnPool(most_threads=2)
    release = threading.Event()
    hanging = [Scripted(f"hanging {n}", block=release) for n in range(9)]
    for role in hanging:
        add(pool, role)
    until(lambda: sum(role.turns for role in hanging) >= 2, "a turn on every thread")
    other = Scripted("other", rest=timedelta(0))
    add(pool, other)
    until(lambda: other.turns >= 3, "turns of the other")
    release.set()
    until(lambda: len(pool.threads) == 2, "the end of the threads that stood in")
    end(pool)
    assert pool.threads == ()


def test_a_rest_is_ended_by_a_call_from_any_thread() -> None:
    pool = TurnPool()
    role = Scripted("player")
    wakeup = add(pool, role)
    until(lambda: role.turns == 1, "the first turn")
    wakeup.wake()
    until(lambda: role.turns == 2, "the second turn")
    end(pool)


def test_an_earlier_due_time_is_seen_while_a_later_one_is_waited_for() -> None:
    pool = TurnPool(most_threads=3)
    late, soon = Scripted("late"), Scripted("soon")
    add(pool, late)
    until(lambda: late.turns == 1, "the first turn")
    add(pool, soon)
    until(lambda: soon.turns == 1, "the other's first turn")
    soon.rest = timedelta(milliseconds=1)
    wakeup = add(pool, soon)
    until(lambda: soon.turns > 5, "turns that the clock makes due")
    wakeup.stop()
    end(pool)


@pytest.mark.parametrize("failure", [ValueError("a bug"), KeyboardInterrupt()])
def test_one_that_ends_is_closed_and_named_and_the_others_go_on(failure: BaseException) -> None:
    ended: list[tuple[str, Any]] = []
    pool = TurnPool(on_end=lambda resident: ended.append((resident.role.name, resident.failure)))
    broken, removed, other = Scripted("broken"), Scripted("removed"), Scripted("other", rest=timedelta(0))
    broken.failure = failure
    add(pool, other)
    add(pool, broken)
    until(lambda: len(ended) == 1, "the end of the broken one")
    add(pool, removed).stop()
    until(lambda: len(ended) == 2, "the end of the removed one")
    assert ended == [("broken", failure), ("removed", None)]
    assert broken.is_closed
    assert removed.is_closed
    before = other.turns
    until(lambda: other.turns > before, "another turn")
    end(pool)
    assert other.is_closed


def test_what_is_added_to_a_pool_that_ends_is_closed() -> None:
    pool = TurnPool()
    first = Scripted("first", block=(block := threading.Event()))
    add(pool, first)
    until(lambda: first.turns == 1, "the first turn")
    pool.stop()
    late = Scripted("late")
    add(pool, late)
    block.set()
    pool.join(LIMIT)
    assert (late.turns, late.is_closed, first.is_closed) == (0, True, True)
