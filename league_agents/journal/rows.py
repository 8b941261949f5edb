"""Reading the rows of a table: the fields of a value, their columns, and a reader for each.

Rule: a row is read completely or not at all. An impossible value raises ``JournalUnusable``, which names the file, the
row and the column but quotes no text, because that may be a target.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from league_agents.journal.database import MINE, Database

NONSENSE = (ValueError, TypeError, KeyError, OverflowError, RecursionError)
"""The exceptions that reading a damaged row can raise."""


def reading_failures(db: Database) -> tuple[type[Exception], ...]:
    """The exceptions that reading from ``db`` can raise."""
    return (*db.failures, *NONSENSE)


T = TypeVar("T")
E = TypeVar("E", bound=StrEnum)
Reader = Callable[[object], Any]
"""Turns the value of a column into the value of a field, or raises one of ``NONSENSE``."""


def text(value: object) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError(f"a text is expected, found {type(value).__name__}")
    return value


def whole(value: object) -> int:
    """A whole number."""
    if not isinstance(value, int):
        raise ValueError(f"a whole number is expected, found {type(value).__name__}")
    return value


def real(value: object) -> float:
    """A number."""
    if not isinstance(value, int | float):
        raise ValueError(f"a number is expected, found {type(value).__name__}")
    return float(value)


def instant(value: object) -> datetime:
    """An instant, as ISO 8601 with its zone."""
    try:
        found = datetime.fromisoformat(text(value))
    except ValueError:
        found = None
    if found is None or found.tzinfo is None:
        raise ValueError("an instant is expected")
    return found


def json_value(value: object) -> object:
    """Any JSON value."""
    return _from_json(text(value))


def json_object(value: object) -> Mapping[str, object]:
    """A JSON object."""
    found = _from_json(text(value))
    if not isinstance(found, dict):
        raise ValueError("a JSON object is expected")
    return found


def texts(value: object) -> tuple[str, ...]:
    """A JSON array of texts."""
    found = _from_json(text(value))
    if not isinstance(found, list):
        raise ValueError("a JSON array is expected")
    return tuple(text(each) for each in found)


def _from_json(written: str) -> object:
    try:
        return msgspec.json.decode(written)
    except (msgspec.MsgspecError, UnicodeError):
        # Accepts lone surrogates and unbounded numbers, which this program writes for a hostile mail.
        return json.loads(written)


def duration(value: object) -> timedelta:
    """A duration in seconds."""
    return timedelta(seconds=real(value))


def one_of(kind: type[E]) -> Callable[[object], E]:
    """A member of an enumeration."""
    members = {member.value: member for member in kind}

    def read(value: object) -> E:
        found = members.get(text(value))
        if found is None:
            raise ValueError(f"one of {', '.join(members)} is expected")
        return found

    return read


def optional(read: Callable[[object], T]) -> Callable[[object], T | None]:
    """``None`` for NULL."""
    return lambda value: None if value is None else read(value)


class Stored(Generic[T]):
    """One table whose rows are read as values of one class."""

    def __init__(
        self,
        table: str,
        make: Callable[..., T],
        fields: Mapping[str, Reader],
        *,
        key: str | None = "seq",
        **columns: str,
    ) -> None:
        """``key`` is the column that identifies a row, ``None`` for a table of one row. ``columns`` maps fields to
        columns of another name."""
        self.table = table
        self.columns = ", ".join(columns.get(name, name) for name in fields)
        self._key = key
        self._make = make
        self._fields = tuple((name, columns.get(name, name), read) for name, read in fields.items())

    def read(self, db: Database, where: str = "", values: Sequence[object] = (), *, order: str = "") -> Iterator[T]:
        """Yield the rows that meet a condition. Raises ``JournalError``."""
        place = f"{self.table}, the first row"
        try:
            for key, *row in db.stream(self._query(where, order), values):
                name = "its row" if self._key is None else f"{self._key} {key!a:.60}"
                place = f"{self.table}, {name}"
                yield self.decode(row)
                place = f"{self.table}, a row after {name}"
        except reading_failures(db) as error:
            raise db.fault(error, place=place) from error

    def read_one(self, db: Database, where: str = "", values: Sequence[object] = ()) -> T:
        """Return the first row. Raises ``JournalError``."""
        for found in self.read(db, where, values):
            return found
        raise db.fault(ValueError(f"{self.table}: a row is missing"))

    def _query(self, where: str, order: str) -> str:
        query = f"SELECT {self._key or 1}, {self.columns} FROM {self.table} WHERE {MINE}{where or 'TRUE'}"  # noqa: S608
        return f"{query} ORDER BY {order}" if order else query

    def decode(self, row: Sequence[object]) -> T:
        """The value of a row's ``columns``. Raises one of ``NONSENSE``."""
        found = {}
        for (name, column, read), value in zip(self._fields, row, strict=True):
            try:
                found[name] = read(value)
            except NONSENSE as error:
                raise ValueError(f"{column}: {error}") from error
        return self._make(**found)
