"""What a journal in SQL needs of a database engine.

Rule: the statements are written once, in the SQL that SQLite and PostgreSQL share, with three marks. An engine that
keeps many journals in one database has a column ``journal`` in every table; an engine with a file for each has not.

========== ============================================ =================
mark       with many journals                           with one
========== ============================================ =================
``{mine}`` ``journal = ? AND``, after ``WHERE``         nothing
``{key}``  ``journal,``, first of a list of columns     nothing
``{id}``   ``?,``, first of the values of a row         nothing
========== ============================================ =================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from league_agents.kit.errors import JournalError

MINE, KEY, ID = "{mine}", "{key}", "{id}"


class Rows(Protocol):
    """The result of one statement."""

    @property
    def rowcount(self) -> int:
        """Number of rows that the statement inserted, changed or deleted."""
        ...

    def fetchone(self) -> Any:
        """The next row; ``None`` after the last."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...


class Database(Protocol):
    """One journal's tables. Used by one thread at a time."""

    name: str
    """The file or the address, for messages; without a password."""

    failures: tuple[type[Exception], ...]
    """What the engine raises."""

    def run(self, statement: str, values: Sequence[object] = ()) -> Rows:
        """Run one statement within ``transaction``, or one that only reads. Raises ``failures``. Read the rows before
        the next statement runs."""
        ...

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run one statement for each row of values, within ``transaction``. Raises ``failures``."""
        ...

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Sequence[object]]:
        """Yield the rows of a query, of which a few at a time are in memory. Raises ``failures``."""
        ...

    def write(self, statement: str, values: Sequence[object] = ()) -> int:
        """Run one statement in a transaction of its own, or in the open one. Return the number of changed rows. Raises
        ``JournalError``."""
        ...

    def transaction(self) -> AbstractContextManager[object]:
        """Context manager whose statements are durable together at its end. Within another one it is a savepoint: an
        exception takes back only its own statements. Raises ``JournalError``."""
        ...

    def fault(self, error: Exception, *, place: str = "") -> JournalError:
        """The error to raise for one of ``failures``, an ``OSError``, or a value that cannot be read. ``place`` names
        the row."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...
