"""Every journal keeps the contract; the one on a file also survives what happens to files."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from league_agents.journal.memory import MemoryJournal
from league_agents.journal.migrations import APPLICATION_ID, SCRIPTS
from league_agents.journal.port import Journal, Note, OutboxState, StepCause, StepCommit
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.errors import JournalError
from league_agents.kit.values import evolve
from league_agents.testing.journal_contract import NOON, JournalContract, dump_part, outgoing

BEFORE_ATTEMPTS_WERE_DATED = 4


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
    return StepCommit(cause=StepCause.COMMAND, key=nonce, at=NOON, parts={"n": nonce})


def test_a_journal_takes_over_one_whose_work_is_over(tmp_path: Path) -> None:
    memory = MemoryJournal(dump=dump_part)
    assert memory.commit(
        evolve(step("1"), sends=[outgoing("t1")], notes=[Note(at=NOON, kind="match", key="k", facts={})])
    )
    (item,) = memory.due_sends(NOON, 10)
    memory.begin_send(item, at=NOON, monotonic_s=3.5)
    memory.finish_sends(["t1"], NOON)
    with closing(sqlite_journal(tmp_path / "j.db")) as journal:
        journal.take_over(memory)
    assert [path.name for path in tmp_path.iterdir()] == ["j.db"]
    with closing(SqliteJournal.to_look_at(tmp_path / "j.db")) as stored:
        assert stored.load_parts() == memory.load_parts() == {"n": '"1"'}
        assert list(stored.outbox()) == list(memory.outbox())
        assert list(stored.notes()) == list(memory.notes())
        assert next(stored.outbox()).state is OutboxState.SENT


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
    with pytest.raises(JournalError, match=r"letter\.txt: is damaged or no journal \(file is not a database\)"):
        sqlite_journal(path)


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A journal that was written before attempts were dated, with three messages on their way."""
    path = tmp_path / "older.db"
    with sqlite3.connect(path) as db:
        for script in SCRIPTS[:BEFORE_ATTEMPTS_WERE_DATED]:
            db.executescript(script)
        db.execute("INSERT INTO owner VALUES (1, 'referee', 'r@league.test')")
        for name, state, attempts in (("new", "queued", 0), ("killed", "sending", 1), ("broken off", "ambiguous", 2)):
            db.execute(
                "INSERT INTO outbox (transaction_id, message_type, recipients, subject, document, file_name,"
                " created_at, state, attempts, not_before) VALUES (?, 'HEARTBEAT', '[\"a@league.test\"]', 's', '{}',"
                " 'p.json', '2031-05-02T12:00:00.000000Z', ?, ?, ?)",
                (name, state, attempts, "2031-05-02T12:00:10.000000Z" if attempts == 2 else None),
            )
        db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        db.execute(f"PRAGMA user_version = {BEFORE_ATTEMPTS_WERE_DATED}")
    db.close()
    return path


def test_what_an_older_version_left_in_doubt_is_in_doubt(older: Path) -> None:
    journal = sqlite_journal(older)
    assert [item.transaction_id for item in journal.due_sends(NOON, 10)] == ["new"]
    doubtful = journal.sends_in_doubt()
    assert [(item.transaction_id, item.state) for item in doubtful] == [
        ("killed", OutboxState.SENDING),
        ("broken off", OutboxState.AMBIGUOUS),
    ]
    assert {(item.began_at, item.began_s) for item in doubtful} == {(None, None)}
    assert journal.next_wake() is None
    journal.close()


def test_a_journal_of_an_older_version_can_be_looked_at_and_is_left_as_it_is(older: Path) -> None:
    before = older.read_bytes()
    journal = SqliteJournal.to_look_at(older)
    assert journal.owner == ("referee", "r@league.test")
    assert [item.transaction_id for item in journal.outbox()] == ["new", "killed", "broken off"]
    journal.close()
    assert older.read_bytes() == before


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
        cause=StepCause.COMMAND,
        key="2",
        at=NOON,
        parts={"n": "2"},
        notes=[Note(at=NOON, kind="match", key="1", facts={})],
    )
    with pytest.raises(JournalError):
        journal.commit(broken)
    assert journal.load_parts() == {"n": '"1"'}
    journal.close()


def test_a_block_that_fails_leaves_nothing_and_the_journal_goes_on(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    assert journal.commit(step("1"))
    with pytest.raises(JournalError), journal.together():  # noqa: PT012 - the block fails after a step of it
        assert journal.commit(evolve(step("2"), sends=[outgoing("m1")]))
        raise JournalError("the disk is full")
    assert journal.load_parts() == {"n": '"1"'}
    assert journal.due_sends(NOON, 10) == []
    changed = evolve(outgoing("m1"), document={"n": 2})
    assert journal.commit(evolve(step("2"), sends=[changed])), "its cause was not used up"
    assert [item.document for item in journal.due_sends(NOON, 10)] == [{"n": 2}]
    journal.close()


def test_a_step_of_a_block_that_cannot_be_written_leaves_the_others(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    half_a_pair = evolve(outgoing("m1"), subject="\ud800")
    with journal.together():
        assert journal.commit(step("1"))
        with pytest.raises(UnicodeEncodeError):
            journal.commit(evolve(step("2"), sends=[half_a_pair]))
        assert journal.commit(step("3"))
    assert journal.load_parts() == {"n": '"3"'}
    assert list(journal.outbox()) == []
    assert journal.commit(step("2")), "it left nothing, not even that its cause is used up"
    journal.close()


def test_a_process_that_ends_within_a_block_has_taken_no_step_of_it(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    with journal.together():
        assert journal.commit(step("1"))
        for path in list(tmp_path.glob("j.db*")):
            shutil.copy(path, tmp_path / path.name.replace("j.db", "left.db"))
    journal.close()
    assert sqlite_journal(tmp_path / "left.db").load_parts() == {}


def test_sending_makes_no_tables_in_memory(tmp_path: Path) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    statements: list[str] = []
    journal._db.connection.set_trace_callback(statements.append)
    journal.commit(StepCommit(cause=StepCause.START, key="start", at=NOON, sends=[outgoing("t-1"), outgoing("t-2")]))
    for item in journal.due_sends(NOON, 10):
        assert journal.begin_send(item, at=NOON, monotonic_s=0.0) is not None
        journal.finish_sends([item.transaction_id], NOON)
    assert journal.next_wake() is None
    journal._db.connection.set_trace_callback(None)
    asked = [statement for statement in statements if "outbox" in statement]
    made = [
        statement
        for statement in asked
        if any("Ephemeral" in row[1] for row in journal._db.connection.execute(f"EXPLAIN {statement}"))
    ]
    assert asked
    assert made == []
    journal.close()


@pytest.mark.parametrize("method", ["inbox", "outbox", "notes"])
def test_what_belongs_to_a_game_is_found_by_an_index(tmp_path: Path, method: str) -> None:
    journal = sqlite_journal(tmp_path / "j.db")
    statements: list[str] = []
    journal._db.connection.set_trace_callback(statements.append)
    list(getattr(journal, method)(**{"about" if method == "notes" else "game": "0101001"}))
    journal._db.connection.set_trace_callback(None)
    (read,) = (statement for statement in statements if f"FROM {method}" in statement)
    plan = [row[-1] for row in journal._db.connection.execute(f"EXPLAIN QUERY PLAN {read}")]
    index = "notes_about" if method == "notes" else f"{method}_of_game"
    assert any(f"SEARCH {method} USING INDEX {index}" in step for step in plan), plan
    journal.close()
