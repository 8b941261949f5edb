"""The file of a journal or a ledger: what can be wrong with it, and transactions that look whether it is still there.

Rule: what passes (a full disk, a lock) is told from what stays until a person has seen to the file. Either is one line
that names the file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from functools import wraps
from typing import ClassVar, Concatenate, ParamSpec, Protocol, TypeVar

from league_agents.kit.errors import JournalError, JournalUnusable

NONSENSE = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""What comes of reading a row whose bytes were changed."""

_DAMAGE = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_IOERR_SHORT_READ})
_QUOTED = " with text '"
"""Where Python's complaint of text that is no UTF-8 begins to quote it. A file that is damaged may hold a target."""

_PRIMARY = 0xFF
"""The bits of a code that say what it is about; those above say more precisely what happened."""


class HasPath(Protocol):
    """Whose file it is that is read."""

    path: str


J = TypeVar("J", bound=HasPath)
P = ParamSpec("P")
T = TypeVar("T")


def journal_error(path: str, error: Exception, *, place: str = "") -> JournalError:
    """The error to raise for a failure of ``sqlite3``, of the file system, or one of ``NONSENSE``. ``place`` is the row
    that was read."""
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
    """Read every page. Raises ``JournalUnusable`` when one of them is damaged."""
    try:
        rows = connection.execute("PRAGMA quick_check(1)").fetchall()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise journal_error(path, error) from error
    said = " ".join(" ".join(str(column).split()) for row in rows for column in row)
    if said != "ok":
        raise journal_error(path, sqlite3.DatabaseError(said))


def reads(method: Callable[Concatenate[J, P], T]) -> Callable[Concatenate[J, P], T]:
    """For a method that reads: whatever is wrong with the file is a ``JournalError`` that names it."""

    @wraps(method)
    def reading(self: J, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, *NONSENSE) as error:
            raise journal_error(self.path, error) from error

    return reading


class OpenedFile:
    """The file that a connection was opened on. SQLite goes on writing to one that was removed, without a word."""

    __slots__ = ("_identity", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._identity = self._now()

    def check(self) -> None:
        """Raises ``JournalUnusable`` when no file, an empty one or another one has its name now."""
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
    """``with`` around what is written all or not at all. Whatever SQLite refuses is a ``JournalError``.

    Its statements share one cursor: what one of them gives is read before the next one is run.
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
    """The same for a part of a transaction that has begun: what fails in it leaves the rest as it was."""

    __slots__ = ()

    BEGIN = ("SAVEPOINT step",)
    COMMIT = ("RELEASE step",)
    ROLLBACK = ("ROLLBACK TO step", "RELEASE step")


def _is_damage(error: sqlite3.Error) -> bool:
    # Python's own complaint, such as of text that is no UTF-8, carries no code of SQLite's.
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code in _DAMAGE or code & _PRIMARY in _DAMAGE
