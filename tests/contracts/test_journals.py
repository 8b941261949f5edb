"""Every journal keeps the contract; the one on a file also survives what happens to files."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from league_agents.errors import JournalError
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.migrations import SCRIPTS
from league_agents.journal.port import Cause, Journal, StepCommit
from league_agents.journal.sqlite import SqliteJournal
from league_agents.testing.journal_contract import NOON, JournalContract, dump_part


class TestMemoryJournal(JournalContract):
    def make(self) -> Journal:
        return MemoryJournal(dump=dump_part)


class TestSqliteJournal(JournalContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "journal.db"

    def make(self) -> Journal:
        return SqliteJournal(self.path, role="referee", address="R@league.test", dump=dump_part)

    def reopen(self, journal: Journal) -> Journal:
        journal.close()
        return self.make()


def sqlite_journal(path: Path, role: str = "referee", address: str = "r@league.test") -> SqliteJournal:
    return SqliteJournal(path, role=role, address=address, dump=dump_part)


def step(nonce: str) -> StepCommit:
    return StepCommit(cause=Cause.COMMAND, key=nonce, at=NOON, parts={"n": nonce})


def test_a_second_process_on_the_journal_is_noticed_before_it_can_spoil_anything(tmp_path: Path) -> None:
    one = sqlite_journal(tmp_path / "j.db")
    two = sqlite_journal(tmp_path / "j.db")
    assert one.commit(step("1"))
    with pytest.raises(JournalError, match="another process"):
        two.commit(step("2"))
    assert one.commit(step("3"))
    assert one.load_parts() == {"n": '"3"'}
    one.close()
    two.close()


@pytest.mark.parametrize(("role", "address"), [("player", "r@league.test"), ("referee", "other@league.test")])
def test_a_journal_serves_one_role_on_one_address(tmp_path: Path, role: str, address: str) -> None:
    sqlite_journal(tmp_path / "j.db").close()
    with pytest.raises(JournalError, match=r"is the journal of referee r@league\.test.*delete this one if nothing"):
        sqlite_journal(tmp_path / "j.db", role, address)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE notes (text)")
    db.close()
    with pytest.raises(JournalError, match="another program"):
        sqlite_journal(path)


def test_a_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear league, " * 100)
    with pytest.raises(JournalError, match=r"letter\.txt: cannot be used as a journal"):
        sqlite_journal(path)


def test_a_journal_of_a_newer_version_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    sqlite_journal(path).close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {len(SCRIPTS) + 1}")
    db.close()
    with pytest.raises(JournalError, match="newer version"):
        sqlite_journal(path)


def test_a_step_that_cannot_be_written_whole_is_not_written_at_all(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    journal.commit(step("1"))
    with sqlite3.connect(tmp_path / "j.db") as db:
        db.execute("DROP TABLE notes")
        db.execute("CREATE TABLE notes (nothing_that_fits)")
    db.close()
    from league_agents.journal.port import Note

    broken = StepCommit(
        cause=Cause.COMMAND,
        key="2",
        at=NOON,
        parts={"n": "2"},
        notes=[Note(at=NOON, kind="match", key="1", facts={})],
    )
    with pytest.raises(JournalError):
        journal.commit(broken)
    assert journal.load_parts() == {"n": '"1"'}
    journal.close()
