"""A damaged row of a journal is one line that names the file, the row and the column, whatever reads it."""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from league_agents.journal.port import NOTICE, Deadline, Note, Order, StepCause, StepCommit
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.errors import JournalUnusable
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.values import evolve
from league_agents.llm.calls import ModelCall
from league_agents.llm.ledger import Ledger
from league_agents.llm.port import Purpose, Usage
from league_agents.testing.journal_contract import NOON, call, dump_part, mail_row, outgoing

KEYS = {"parts": "name", "deadlines": "name", "kept": "name", "owner": "only", "version": "only", "archive": "game_id"}
"""The column that identifies a row; ``seq`` in the other tables."""

NEVER_READ = {
    *(("outbox", name) for name in ("finished_at", "error")),
    *(("calls", name) for name in ("created_at", "finished_at")),
}
"""For a person with a database browser, or only compared."""

INSTANTS = "an instant is expected"
MEANING = [
    ("outbox", "recipients", "falcons", "Expecting value"),
    ("outbox", "recipients", "{}", "a JSON array is expected"),
    ("outbox", "recipients", "[1]", "a text is expected, found int"),
    ("outbox", "document", "[]", "a JSON object is expected"),
    ("outbox", "document", '{"a":', "Expecting value"),
    ("outbox", "document", "[" * 5_000, "maximum recursion depth"),
    ("outbox", "created_at", "2031-05-02T12:00:00.0000?0Z", INSTANTS),
    ("outbox", "created_at", "2031-05-02T12:00:00.000000", INSTANTS),
    ("outbox", "state", "quewed", "one of queued, sending, ambiguous, sent, failed is expected"),
    ("inbox", "verdict", "Processed", "one of processed, ignored, rejected, parked is expected"),
    ("calls", "timeout_s", 1e300, "too large"),
    ("calls", "context", "null", "a JSON object is expected"),
    ("notes", "at", "", INSTANTS),
    ("notes", "facts", "{'a': 1}", "Expecting property name"),
    ("kept", "value", "{", "Expecting property name"),
    ("deadlines", "at", "2031-13-02T12:00:00.000000Z", INSTANTS),
    ("orders", "at", "noon", INSTANTS),
    ("model_calls", "at", "noon", INSTANTS),
    ("model_calls", "work", "Used", "one of .* is expected"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A journal with a row in each table and a value in each column."""
    path = tmp_path_factory.mktemp("whole") / "j.db"
    with closing(SqliteJournal(path, role="referee", address="r@league.test", dump=dump_part)) as journal:
        for number in (1, 2):
            journal.commit(
                StepCommit(
                    cause=StepCause.MAIL,
                    key=f"m{number}",
                    at=NOON,
                    inbox=evolve(mail_row(f"m{number}"), game_id="g"),
                    parts={f"part{number}": number},
                    sends=[outgoing(f"t{number}", game_id="g", not_before=NOON)],
                    calls=[call(f"c{number}")],
                    deadlines=[Deadline(name=f"d{number}", at=NOON)],
                    notes=[Note(at=NOON, kind=NOTICE, key=f"n{number}", facts={"text": "hello"})],
                )
            )
        closed = evolve(mail_row("m3"), game_id="0101009")
        record = Note(at=NOON, kind="match", key="0101009", facts={})
        journal.commit(StepCommit(cause=StepCause.MAIL, key="m3", at=NOON, inbox=closed, notes=[record]))
        assert journal.archive(NOON + timedelta(days=1)) == 1
        (item, _) = journal.due_sends(NOON, 10)
        journal.begin_send(item, at=NOON, monotonic_s=1.0)
        journal.keep("daemon", {"pid": 1})
        journal.order(Order(nonce="o1", command="pause", text="", at=NOON))
    ledger = Ledger(path, in_journal=True)
    made = ModelCall(
        at=NOON,
        scope="s",
        purpose=Purpose(match_id="g", callback="get_guess", step="guess"),
        model="m",
        prompt_digest="d",
        reply="yes",
        outcome="answered",
        usage=Usage(input_tokens=1, output_tokens=1, cached_tokens=0),
        cost_usd=0.5,
        is_cached=False,
        took_s=1.5,
    )
    ledger.judge(ledger.record(made), ModelWorkUse.PARTLY_USED, Why.BOUNDED)
    return path


def read_everything(path: Path) -> None:
    """Everything that any command reads, each method on its own. Raises what the first one raises."""
    later = NOON + timedelta(days=1)
    reads: list[Callable[[SqliteJournal], object]] = [
        SqliteJournal.load_parts,
        lambda journal: journal.owner,
        lambda journal: list(journal.inbox()),
        lambda journal: journal.latest_mail_ids(10),
        lambda journal: list(journal.outbox()),
        lambda journal: journal.sends_in_doubt(),
        lambda journal: journal.due_sends(later, 10),
        SqliteJournal.pending_calls,
        lambda journal: journal.due_deadlines(later),
        SqliteJournal.next_wake,
        lambda journal: list(journal.notes()),
        lambda journal: journal.kept("daemon"),
        SqliteJournal.open_orders,
        SqliteJournal.check_content,
    ]
    with closing(SqliteJournal.to_look_at(path)) as journal:
        for read in reads:
            read(journal)
    list(Ledger(path).calls())


def name_of_a_row(table: str) -> str:
    """A pattern for what an error calls a row."""
    key = KEYS.get(table, "seq")
    return "its row" if key == "only" else rf"{key} \S+"


def columns_of(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as db:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return [(table, row[1]) for table in tables for row in db.execute(f"PRAGMA table_info({table})")]


def damaged(whole: Path, folder: Path, table: str, column: str, value: object) -> Path:
    """A copy of a journal whose last row in a table has another value."""
    path = folder / f"{table}.{column}.db"
    shutil.copy(whole, path)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA synchronous = OFF")
        key = KEYS.get(table, "seq")
        written = "CAST(? AS TEXT)" if value == BROKEN_TEXT else "?"
        last = f"SELECT max({key}) FROM {table}"
        done = db.execute(f"UPDATE {table} SET {column} = {written} WHERE {key} = ({last})", (value,))
        assert done.rowcount == 1
    return path


BROKEN_TEXT = b"A\xffB"


def test_the_journal_that_is_damaged_here_can_be_read(whole: Path) -> None:
    read_everything(whole)


@pytest.mark.parametrize("value", [b"\xff\x00", BROKEN_TEXT], ids=["bytes", "no UTF-8"])
def test_bytes_in_any_column_are_told_with_file_row_and_remedy(whole: Path, tmp_path: Path, value: bytes) -> None:
    only_compared = ("commands", "archived_keys")
    asked = [
        (table, name)
        for table, name in columns_of(whole)
        if table not in only_compared and name not in ("seq", KEYS.get(table))
    ]
    untold = []
    for table, column in asked:
        path = damaged(whole, tmp_path, table, column, value)
        said = ""
        try:
            read_everything(path)
        except JournalUnusable as error:
            said = str(error)
            assert "with text" not in said  # which would quote it
        row = rf"{table}, ((a row after )?{name_of_a_row(table)}|the first row): "
        remedy = "put a copy in its place, or name another file to begin anew"
        if not re.fullmatch(rf"{re.escape(str(path))}: is damaged \({row}.+\); {remedy}", said):
            untold.append((table, column, said))
    assert [(table, column) for table, column, said in untold if said] == []
    assert {(table, column) for table, column, _ in untold} == NEVER_READ


@pytest.mark.parametrize(("table", "column", "value", "why"), MEANING)
def test_a_value_that_cannot_be_right_is_told(
    whole: Path, tmp_path: Path, table: str, column: str, value: object, why: str
) -> None:
    path = damaged(whole, tmp_path, table, column, value)
    place = rf"{table}, {name_of_a_row(table)}: {column}"
    with pytest.raises(JournalUnusable, match=rf"db: is damaged \({place}: .*{why}"):
        read_everything(path)
