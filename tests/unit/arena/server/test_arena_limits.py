"""Buckets, outboxes, names and addresses: what bounds strangers."""

from __future__ import annotations

import asyncio

import pytest

from league_agents.arena.server.guard import Guard, address_key
from league_agents.arena.server.limits import Bucket, Buckets, RateLimiter
from league_agents.arena.server.names import LONGEST, free_name
from league_agents.arena.server.outbox import SocketOutbox


def test_a_bucket_lets_a_burst_through_and_then_the_rate() -> None:
    bucket = Bucket(2.0, 3.0, 0.0)
    assert [bucket.take(0.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    assert bucket.take(0.0) == 0.5
    assert bucket.take(0.5) == 0.0
    assert bucket.take(0.5) > 0
    assert [bucket.take(100.0) for _ in range(3)] == [0.0, 0.0, 0.0]


def test_each_address_has_a_bucket_of_its_own_and_the_oldest_is_forgotten() -> None:
    buckets = Buckets(1.0, 1.0, most=2)
    assert buckets.take("a", 0.0) == 0.0
    assert buckets.take("a", 0.0) > 0
    assert buckets.take("b", 0.0) == 0.0
    assert buckets.take("c", 0.0) == 0.0
    assert buckets.take("a", 0.0) == 0.0


def test_what_was_much_work_is_paid_for_later() -> None:
    buckets = Buckets(1.0, 2.0)
    assert buckets.take("a", 0.0) == 0.0
    buckets.charge("a", 4.0)
    assert buckets.take("a", 0.0) == 4.0
    assert buckets.take("a", 4.0) == 0.0
    buckets.charge("nobody", 4.0)
    assert buckets.take("nobody", 0.0) == 0.0


def test_a_pace_lets_one_after_the_other_go() -> None:
    pace = RateLimiter(10.0)
    assert [round(pace.wait_s(5.0), 6) for _ in range(3)] == [0.0, 0.1, 0.2]
    assert pace.wait_s(9.0) == 0.0


def test_what_a_reader_asked_for_again_counts_by_its_size_alone() -> None:
    outbox = SocketOutbox(2, 100)
    for _ in range(10):
        outbox.put("x", is_repeated=True)
    assert len(outbox) == 10
    outbox.put("x" * 91, is_repeated=True)
    assert outbox.is_overflowing


def test_an_outbox_keeps_its_order() -> None:
    async def sent() -> list[str | None]:
        outbox = SocketOutbox(10)
        for text in "abc":
            outbox.put(text)
        return [await outbox.take() for _ in range(3)]

    assert asyncio.run(sent()) == ["a", "b", "c"]


@pytest.mark.parametrize(("most", "characters"), [(2, 1000), (1000, 2)])
def test_an_outbox_that_nobody_empties_gives_up(most: int, characters: int) -> None:
    async def sent() -> tuple[bool, str | None, int]:
        outbox = SocketOutbox(most, characters)
        for text in "abcd":
            outbox.put(text)
        return outbox.is_overflowing, await outbox.take(), len(outbox)

    assert asyncio.run(sent()) == (True, None, 0)


def test_what_was_taken_makes_room() -> None:
    async def sent() -> bool:
        outbox = SocketOutbox(1, 4)
        for _ in range(5):
            outbox.put("four")
            await outbox.take()
        return outbox.is_overflowing

    assert not asyncio.run(sent())


@pytest.mark.parametrize(
    ("wanted", "given"),
    [
        ("Ann", "Ann"),
        ("  Ann \n Lee ", "Ann Lee"),
        ("", "seat_2"),
        ("\x00", "seat_2"),
        ("seat_2", "seat_2"),
        ("Ben", "Ben (2)"),  # somebody is called so
        ("b e n!", "b e n! (2)"),  # reads alike
        ("seat_1", "seat_1 (2)"),  # another's seat
        ("x" * 100, "x" * (LONGEST - 1) + "…"),
        ("🦊", "🦊"),
    ],
)
def test_a_name_is_one_line_and_nobody_elses(wanted: str, given: str) -> None:
    assert free_name(wanted, "seat_2", ["Ben", "seat_1"]) == given


@pytest.mark.parametrize(
    ("host", "origin", "is_in"),
    [
        ("127.0.0.1:8765", None, True),
        ("localhost:8765", "http://localhost:8765", True),
        ("localhost", "http://localhost:80", True),
        ("[::1]:8765", "http://[::1]:8765", True),
        ("localhost:8765", "http://127.0.0.1:8765", False),
        ("localhost:8765", "https://localhost", False),
        ("localhost:8765", "null", False),
        ("evil.example:8765", None, False),
        ("127.0.0.1.evil.example", None, False),
        ("", None, False),
        ("local host", None, False),
    ],
)
def test_a_server_on_loopback_lets_in_whom_it_knows(host: str, origin: str | None, is_in: bool) -> None:
    assert (Guard().objection(host, origin) is None) is is_in


def test_a_public_server_has_any_name_but_its_own_pages_only() -> None:
    guard = Guard(is_public=True)
    assert guard.objection("play.example", "http://play.example") is None
    assert guard.objection("play.example", "https://play.example:443") is None
    assert guard.objection("play.example", "http://evil.example") is not None


@pytest.mark.parametrize(
    ("address", "key"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("a socket", "a socket"),
    ],
)
def test_a_customer_is_one_address(address: str, key: str) -> None:
    assert address_key(address) == key
