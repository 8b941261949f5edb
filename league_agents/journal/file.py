"""The file of a journal or a ledger: its errors, and transactions that check that it still exists.

Rule: temporary errors (a full disk, a lock) are distinguished from those that a person has to repair. Either is one
line that names the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import wraps
from typing import ClassVar, Concatenate, ParamSpec, Protocol, TypeVar

from league_agents.kit.errors import JournalError, JournalUnusable

NONSENSE = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""The exceptions that reading a damaged row can raise."""

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR_SHORT_READ})
_QUOTED = " with text '"
"""Start of the quotation in Python's error for text that is not UTF-8: a damaged file may hold a target."""

_PRIMARY = 0xFF
"""Mask for SQLite's primary result code; the higher bits hold the extended code."""


class HasPath(Protocol):
    """An object that is stored in one file."""

    path: str


J = TypeVar("J", bound=HasPath)
P = ParamSpec("P")
T = TypeVar("T")


def journal_error(path: str, error: Exception, *, place: str = "") -> JournalError:
    """Return the error to raise for a failure of ``sqlite3``, of the file system, or one of ``NONSENSE``. ``place``
    names the row that was read."""
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


def check_pages(connection: sqlite3.Connection, path: str) -> None:
    """Read every page. Raises ``JournalUnusable`` if one of them is damaged."""
    try:
        rows = connection.execute("PRAGMA quick_check(1)").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise journal_error(path, error) from error
    said = " ".join(" ".join(str(column).split()) for row in rows for column in row)
    if said != "ok":
        raise journal_error(path, sqlite3.DatabaseError(said))


def reads(method: Callable[Concatenate[J, P], T]) -> Callable[Concatenate[J, P], T]:
    """Decorate a method that reads, so that any fault of the file raises a ``JournalError`` that names it."""

    @wraps(method)
    def reading(self: J, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, *NONSENSE) as error:
            raise journal_error(self.path, error) from error

    return reading


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
    """Context manager for one transaction. Any error of SQLite is raised as a ``JournalError``.

    The statements share one cursor: read the rows of one statement before running the next.
    """

    __slots__ = ("_cursor", "_db", "_file")

    BEGIN: ClassVar[tuple[str, ...]] = ("BEGIN IMMEDIATE",)
    COMMIT: ClassVar[tuple[str, ...]] = ("COMMIT",)
    ROLLBACK: ClassVar[tuple[str, ...]] = ("ROLLBACK",)

    def __init__(self, db: sqlite3.Connection, file: OpenedFile) -> None:
        self._db = db
        self._cursor = db.cursor()
        self._file = file

    def __enter__(self) -> sqlite3.Cursor:
        if not self._db.in_transaction:
            self._file.check()
        try:
            self._execute(self.BEGIN)
        except sqlite3.Error as error:
            raise journal_error(self._file.path, error) from error
        return self._cursor

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


def _is_damage(error: sqlite3.Error) -> bool:
    # An error raised by Python itself, such as for text that is not UTF-8, has no SQLite code.
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code in _DAMAGE or code & _PRIMARY in _DAMAGE
