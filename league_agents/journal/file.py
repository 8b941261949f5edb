"""The SQLite file of a journal or a ledger: its statements, its errors, and transactions that check that it is there.

Rule: temporary errors (a full disk, a lock) are distinguished from those that a person has to repair. Either is one
line that names the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import ClassVar

from league_agents.journal.database import ID, KEY, MINE
from league_agents.kit.errors import JournalError, JournalUnusable

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR_SHORT_READ})
_QUOTED = " with text '"
"""Start of the quotation in Python's error for text that is not UTF-8: a damaged file may hold a target."""

_PRIMARY = 0xFF
"""Mask for SQLite's primary result code; the higher bits hold the extended code."""


def journal_error(path: str, error: Exception, *, place: str = "") -> JournalError:
    """Return the error to raise for a failure of ``sqlite3``, of the file system, or of a row's reader. ``place`` names
    the row."""
    if isinstance(error, OSError):
        return JournalError(f"{path}: {error.strerror or error}")
    if isinstance(error, sqlite3.Error) and not _is_damage(error):
        return JournalError(f"{path}: {error}")
    why = " ".join(str(error).partition(_QUOTED)[0].split())
    if not isinstance(error, (sqlite3.Error, ValueError)):
        why = f"{type(error).__name__}: {why}"
    if place:
        why = f"{place}: {why}"
    is_none = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB
    what = "is damaged or no journal" if is_none else "is damaged"
    return JournalUnusable(f"{path}: {what} ({why[:300]}); put a copy in its place, or name another file to begin anew")


def check_pages(connection: sqlite3.Connection, path: str, table: str = "") -> None:
    """Read every page, or those of one table. Raises ``JournalUnusable`` if one of them is damaged."""
    try:
        rows = connection.execute(f"PRAGMA quick_check({table or 1})").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise journal_error(path, error) from error
    said = " ".join(" ".join(str(column).split()) for row in rows for column in row)
    if said != "ok":
        raise journal_error(path, sqlite3.DatabaseError(said))


class OpenedFile:
    """The file that a connection was opened on. SQLite reports no error when it writes to a removed file."""

    __slots__ = ("_identity", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._identity = self._now()

    def check(self) -> None:
        """Raises ``JournalUnusable`` if the file was removed, emptied or replaced."""
        now = self._now()
        if now != self._identity:
            happened = "is gone" if now is None else "was emptied" if now == _EMPTY else "was replaced by another file"
            raise JournalUnusable(
                f"{self.path}: {happened} while it was in use, and nothing more is written;"
                " put it or a copy of it back and start again"
            )

    def _now(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)  # noqa: PTH116  # for every transaction
        except OSError:
            return None
        return (status.st_dev, status.st_ino) if status.st_size else _EMPTY


_EMPTY = (-1, -1)


class Transaction:
    """Context manager for one transaction. Any error of SQLite is raised as a ``JournalError``."""

    __slots__ = ("_cursor", "_db", "_file")

    BEGIN: ClassVar[tuple[str, ...]] = ("BEGIN IMMEDIATE",)
    COMMIT: ClassVar[tuple[str, ...]] = ("COMMIT",)
    ROLLBACK: ClassVar[tuple[str, ...]] = ("ROLLBACK",)

    def __init__(self, cursor: sqlite3.Cursor, file: OpenedFile) -> None:
        self._cursor = cursor
        self._db = cursor.connection
        self._file = file

    def __enter__(self) -> None:
        if not self._db.in_transaction:
            self._file.check()
        try:
            self._execute(self.BEGIN)
        except sqlite3.Error as error:
            raise journal_error(self._file.path, error) from error

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        try:
            self._execute(self.COMMIT if error is None else self.ROLLBACK)
        except sqlite3.Error as refused:
            # A full disk may have ended the transaction already.
            if self._db.in_transaction:
                self._execute(self.ROLLBACK)
            raise journal_error(self._file.path, refused) from refused
        if isinstance(error, sqlite3.Error):
            raise journal_error(self._file.path, error) from error

    def _execute(self, statements: tuple[str, ...]) -> None:
        for statement in statements:
            self._cursor.execute(statement)


class Savepoint(Transaction):
    """A savepoint within a transaction: a failure inside it rolls back only its own statements."""

    __slots__ = ()

    BEGIN = ("SAVEPOINT step",)
    COMMIT = ("RELEASE step",)
    ROLLBACK = ("ROLLBACK TO step", "RELEASE step")


@lru_cache(maxsize=200)
def _in_sqlite(statement: str) -> str:
    """The statement without its marks: a file has one journal."""
    for mark in (MINE, KEY, ID):
        statement = statement.replace(mark, "")
    return statement


class SqliteDatabase:
    """``Database`` on a connection to one file."""

    failures: tuple[type[Exception], ...] = (sqlite3.Error,)

    def __init__(self, connection: sqlite3.Connection, name: str, *, is_read_only: bool = False) -> None:
        """A file that is not ``is_read_only`` exists already."""
        self.name = name
        self.connection = connection
        self._cursor = connection.cursor()
        self._file = None if is_read_only else OpenedFile(name)

    def run(self, statement: str, values: Sequence[object] = ()) -> sqlite3.Cursor:
        return self._cursor.execute(_in_sqlite(statement), values)

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        self._cursor.executemany(_in_sqlite(statement), rows)

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Sequence[object]]:
        return self.connection.execute(_in_sqlite(statement), values)

    def write(self, statement: str, values: Sequence[object] = ()) -> int:
        with self.transaction():
            return self.run(statement, values).rowcount

    def transaction(self) -> Transaction | Savepoint:
        assert self._file is not None, "a journal that is only read"
        kind = Savepoint if self.connection.in_transaction else Transaction
        return kind(self._cursor, self._file)

    def fault(self, error: Exception, *, place: str = "") -> JournalError:
        return journal_error(self.name, error, place=place)

    def close(self) -> None:
        self.connection.close()


def _is_damage(error: sqlite3.Error) -> bool:
    # An error raised by Python itself, such as for text that is not UTF-8, has no SQLite code.
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code in _DAMAGE or code & _PRIMARY in _DAMAGE
