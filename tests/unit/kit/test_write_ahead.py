"""The switch to the write-ahead log waits for other connections to the file."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from league_agents.kit.write_ahead import use_write_ahead_log


class Hindered(sqlite3.Connection):
    """A connection whose first switch meets ``reader`` in the file, which leaves it right after."""

    reader: sqlite3.Connection
    refusals = 0

    def execute(self, *args: Any) -> sqlite3.Cursor:
        try:
            return super().execute(*args)
        except sqlite3.OperationalError:
            self.refusals += 1
            self.reader.execute("COMMIT")
            raise


@pytest.fixture
def reader(tmp_path: Path) -> Any:
    db = sqlite3.connect(tmp_path / "file.db", isolation_level=None)
    db.execute("CREATE TABLE kept (name TEXT)")
    db.execute("BEGIN")
    db.execute("SELECT * FROM kept").fetchall()
    yield db
    db.close()


def test_the_switch_waits_until_the_file_is_free(tmp_path: Path, reader: sqlite3.Connection) -> None:
    db = sqlite3.connect(tmp_path / "file.db", isolation_level=None, timeout=0, factory=Hindered)
    db.reader = reader
    use_write_ahead_log(db)
    assert db.refusals == 1
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    db.close()


def test_a_file_that_stays_in_use_is_an_error(tmp_path: Path, reader: sqlite3.Connection) -> None:
    db = sqlite3.connect(tmp_path / "file.db", isolation_level=None, timeout=0)
    with pytest.raises(sqlite3.OperationalError, match="database is locked"):
        use_write_ahead_log(db, patience_s=0)
    db.close()


def test_other_errors_are_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "file.db"
    path.write_bytes(b"no database" * 100)
    db = sqlite3.connect(path, isolation_level=None)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        use_write_ahead_log(db)
    db.close()
