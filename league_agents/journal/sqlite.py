"""A journal in one SQLite file.

Write-ahead logging: a reader never waits and a killed process loses nothing that was committed. ``synchronous=FULL``
is for real mail, where a commit must survive a power cut; ``NORMAL`` survives a killed process and is ten times faster.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Literal

from league_agents.journal.file import SqliteDatabase, check_pages, journal_error
from league_agents.journal.migrations import is_in_newest_shape, migrate
from league_agents.journal.port import Dump, Journal
from league_agents.journal.rows import NONSENSE
from league_agents.journal.sql import SqlJournal
from league_agents.journal.tables import TABLES
from league_agents.kit.private_file import make_private_database, tighten_database
from league_agents.kit.write_ahead import use_write_ahead_log

Synchronous = Literal["FULL", "NORMAL"]


class SqliteJournal(SqlJournal):
    """``StoredJournal`` in one file."""

    _db: SqliteDatabase

    def __init__(
        self, path: Path | str, *, role: str, address: str, dump: Dump, synchronous: Synchronous = "FULL"
    ) -> None:
        """Open or create the file. Raises ``JournalError`` if it cannot be used for this role and address."""
        name = str(path)
        try:
            make_private_database(Path(path))
            connection = sqlite3.connect(name, isolation_level=None, timeout=10, check_same_thread=False)
            use_write_ahead_log(connection)
            connection.execute(f"PRAGMA synchronous = {synchronous}")
            migrate(connection, name)
            connection.execute("INSERT OR IGNORE INTO owner VALUES (1, ?, ?)", (role, address.lower()))
            super().__init__(SqliteDatabase(connection, name), dump=dump)
            self.check_owner(role, address)
            tighten_database(Path(path))
        except (OSError, sqlite3.Error, *NONSENSE) as error:
            raise journal_error(name, error) from error

    @classmethod
    def to_look_at(cls, path: Path | str) -> SqliteJournal:
        """Open a journal read-only, even while its role is running.

        A journal of an older version is read from a copy in memory. Raises ``JournalError`` if the file is no journal
        or comes from a newer version.
        """
        name = str(path)
        journal = cls.__new__(cls)
        try:
            connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            if not is_in_newest_shape(connection, name):
                file, connection = connection, sqlite3.connect(":memory:", isolation_level=None)
                file.backup(connection)
                file.close()
                migrate(connection, name)
            connection.execute("PRAGMA query_only = ON")
            database = SqliteDatabase(connection, name, is_read_only=True)
            SqlJournal.__init__(journal, database, dump=lambda _name, _part: "")
        except (sqlite3.Error, *NONSENSE) as error:
            raise journal_error(name, error) from error
        return journal

    def check_content(self) -> None:
        """Read every page and every row, but those of the archive, which are checked when they are read. Raises
        ``JournalUnusable`` if one of them is damaged."""
        tables = [*(table.table for table in TABLES), "commands"] if self._has_archive else [""]
        for table in tables:
            check_pages(self._db.connection, self._db.name, table)
        super().check_content()

    def check_archive(self) -> None:
        check_pages(self._db.connection, self._db.name)
        super().check_archive()

    def take_over(self, ended: Journal) -> None:
        # Durability is not needed: after a power cut the caller can write the copy again.
        self._db.connection.execute("PRAGMA synchronous = OFF")
        super().take_over(ended)
        # Nothing writes to it any more, so readers need no WAL files beside it.
        self._db.connection.execute("PRAGMA journal_mode = DELETE")


def vacuum(path: Path) -> None:
    """Write a journal anew without unused room. Raises ``JournalError``."""
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=10)) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise journal_error(str(path), error) from error
