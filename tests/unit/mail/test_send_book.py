"""The sends of a day belong to the mailbox, whatever journal and process made them."""

from __future__ import annotations

import logging
import sqlite3
import stat
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from league_agents.app.sends import BOOK_NAME
from league_agents.kit.clock import ManualClock
from league_agents.mail.quota import QuotaLedger, QuotaLimits, SendKind
from league_agents.mail.send_book import SendBook
from league_agents.mail.send_counts import CountsInMemory, SendCounts

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
MINUTE = int(NOON.timestamp()) // 60
GMAIL, SANDBOX = "https://gmail.googleapis.com", "http://127.0.0.1:4610"
ME = "me@league.test"
LIMITS = QuotaLimits(sends_per_day=10, sends_kept_for_running_games=0, sends_kept_from_new_games=0)

OpenBook = Callable[..., SendBook]


@pytest.fixture
def book(tmp_path: Path, request: pytest.FixtureRequest) -> OpenBook:
    """``book(endpoint=…, address=…)``: the book in a folder that need not exist."""

    def make(*, endpoint: str = GMAIL, address: str = ME) -> SendBook:
        opened = SendBook(tmp_path / "data" / BOOK_NAME, endpoint=endpoint, address=address)
        request.addfinalizer(opened.close)
        return opened

    return make


def ledger(sends: SendCounts, at: datetime = NOON) -> QuotaLedger:
    return QuotaLedger(ManualClock(at), limits=LIMITS, sends=sends)


@pytest.mark.parametrize("in_memory", [False, True])
def test_sends_are_counted_by_minute_and_taken_back(book: OpenBook, in_memory: bool) -> None:
    counts: SendCounts = CountsInMemory() if in_memory else book()
    for minute in (MINUTE, MINUTE - 3, MINUTE, MINUTE - 1):
        counts.add(minute, 1)
    counts.add(MINUTE - 1, -1)
    assert list(counts.minutes(MINUTE - 10)) == [(MINUTE - 3, 1), (MINUTE, 2)]
    assert list(counts.minutes(MINUTE - 2)) == [(MINUTE, 2)]
    assert counts.refused_until() is None
    counts.refuse(NOON)
    assert counts.refused_until() == NOON


def test_another_process_on_the_mailbox_knows_of_every_send(book: OpenBook) -> None:
    one, two = ledger(book()), ledger(book(address=ME.upper()))
    for _ in range(3):
        one.spend("messages.send")
        two.spend("messages.send")
    assert one.sends_left() == two.sends_left() == ledger(book()).sends_left() == 4
    one.refused("messages.send", no_sends_before=NOON + timedelta(minutes=15))
    assert two.resets_at(SendKind.RUNNING_GAME) == NOON + timedelta(minutes=15)
    assert ledger(book(), NOON + timedelta(minutes=16)).sends_left() == 5


def test_a_sandbox_and_another_mailbox_count_for_themselves(book: OpenBook) -> None:
    ledger(book(endpoint=SANDBOX)).spend("messages.send")
    ledger(book(address="other@league.test")).spend("messages.send")
    assert ledger(book()).sends_left() == 10
    assert ledger(book(endpoint=SANDBOX)).sends_left() == 9


def test_a_day_later_they_are_forgotten(book: OpenBook) -> None:
    ledger(book()).spend("messages.send")
    assert ledger(book(), NOON + timedelta(hours=24)).sends_left() == 9
    assert ledger(book(), NOON + timedelta(hours=24, minutes=1)).sends_left() == 10


def test_sends_that_a_clock_counted_ahead_of_time_count_now(book: OpenBook) -> None:
    ledger(book(), NOON + timedelta(hours=1)).spend("messages.send")
    assert ledger(book(), NOON).sends_left() == 9


def test_what_a_journal_of_an_older_version_counted_is_taken_over_once(book: OpenBook) -> None:
    state = {"seconds": [], "minutes": [[MINUTE - 5, 3]], "no_sends_before": None}
    for _ in range(2):
        again = QuotaLedger(ManualClock(NOON), limits=LIMITS, sends=book(), state=state)
        assert again.sends_left() == 7
    assert "minutes" not in again.dump()


def test_processes_that_count_at_once_lose_nothing(tmp_path: Path, book: OpenBook) -> None:
    book()

    def count() -> None:
        own = SendBook(tmp_path / "data" / BOOK_NAME, endpoint=GMAIL, address=ME)
        for _ in range(25):
            own.add(MINUTE, 1)
        own.close()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(book().minutes(0)) == [(MINUTE, 100)]


def test_only_the_owner_can_read_it(tmp_path: Path, book: OpenBook) -> None:
    book().add(MINUTE, 1)
    files = list((tmp_path / "data").iterdir())
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


def test_to_look_at_it_makes_no_file(tmp_path: Path, book: OpenBook) -> None:
    path = tmp_path / "data" / BOOK_NAME
    assert SendBook.to_look_at(path, endpoint=GMAIL, address=ME) is None
    assert not path.exists()
    book().add(MINUTE, 2)
    found = SendBook.to_look_at(path, endpoint=GMAIL, address=ME)
    assert found is not None
    assert list(found.minutes(0)) == [(MINUTE, 2)]
    found.close()


def test_a_book_that_cannot_be_written_any_more_costs_no_mail_and_is_told_once(
    tmp_path: Path, book: OpenBook, caplog: pytest.LogCaptureFixture
) -> None:
    own = ledger(book())
    own.spend("messages.send")
    with sqlite3.connect(tmp_path / "data" / BOOK_NAME) as db:
        db.execute("DROP TABLE sends")
    db.close()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            own.spend("messages.send")
    assert own.sends_left() == 8
    assert [record.getMessage().split(": ")[0] for record in caplog.records] == [str(tmp_path / "data" / BOOK_NAME)]


@pytest.mark.parametrize("content", [b"Dear league, " * 1000, None, "folder"])
def test_another_file_in_its_place_is_named_left_alone_and_costs_no_mail(
    tmp_path: Path, book: OpenBook, content: bytes | str | None, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "data" / BOOK_NAME
    if content == "folder":
        path.mkdir(parents=True)
    else:
        path.parent.mkdir()
        path.write_bytes(content if isinstance(content, bytes) else another_database(tmp_path))
    before = path.stat()
    own = ledger(book())
    own.spend("messages.send")
    assert own.sends_left() == 9
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{path}: the day's sends cannot be counted there (")
    assert "LEAGUE_AGENTS_DATA" in record.getMessage()
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert SendBook.to_look_at(path, endpoint=GMAIL, address=ME) is None


def another_database(folder: Path) -> bytes:
    path = folder / "notes.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE notes (text)")
    db.close()
    path.chmod(0o600)
    return path.read_bytes()
