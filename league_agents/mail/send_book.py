"""The number of mails that a mailbox sent, in a file that outlives every journal and is shared by all processes.

Rule 1: a count belongs to an address at a mail service: sends on a sandbox do not count for Gmail.
Rule 2: a count that cannot be written is kept in this process, with one warning: at worst it costs a refusal by Gmail,
never a mail.
"""

from __future__ import annotations

import logging
import sqlite3
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from league_agents.kit.private_file import make_private_database, make_private_folder, tighten_database
from league_agents.kit.write_ahead import use_write_ahead_log
from league_agents.mail.send_counts import MINUTES_OF_A_DAY

LOG = logging.getLogger(__name__)

APPLICATION_ID = 0x4C414A32
"""SQLite's ``application_id`` of a send book, which distinguishes it from other databases."""

KEPT_DAYS = 30
"""Longer than needed, so that a clock that is ahead does not delete the counts of other mailboxes."""

_SENDS = """
    CREATE TABLE IF NOT EXISTS sends (
        mailbox TEXT NOT NULL, minute INTEGER NOT NULL, sends INTEGER NOT NULL, PRIMARY KEY (mailbox, minute)
    ) WITHOUT ROWID
    """
_REFUSALS = "CREATE TABLE IF NOT EXISTS refusals (mailbox TEXT PRIMARY KEY, until TEXT NOT NULL) WITHOUT ROWID"
_PATIENCE_S = 2.0
"""Seconds to wait for another process that writes. It writes one row."""


class SendBook:
    """``SendCounts`` of one mailbox. Used by one thread at a time; ``close`` it."""

    def __init__(self, path: Path, *, endpoint: str, address: str) -> None:
        """Open or create the book."""
        self._path = path
        self._mailbox = f"{endpoint} {address.lower()}"
        self._unwritten: Counter[int] = Counter()
        self._unwritten_until: datetime | None = None
        self._is_told = False
        try:
            self._db = _opened(path)
        except (OSError, sqlite3.Error) as error:
            self._tell(error)
            self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            _shape(self._db)

    @classmethod
    def to_look_at(cls, path: Path, *, endpoint: str, address: str) -> SendBook | None:
        """Open the book read-only; ``None`` if none can be read."""
        book = cls.__new__(cls)
        book._path = path
        book._mailbox = f"{endpoint} {address.lower()}"
        book._unwritten = Counter()
        book._unwritten_until = None
        book._is_told = False
        try:
            book._db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            book._db.execute("SELECT count(*) FROM sends").fetchone()
        except sqlite3.Error:
            return None
        return book

    def minutes(self, since: int) -> Sequence[tuple[int, int]]:
        cells = Counter(self._unwritten)
        try:
            query = "SELECT minute, sends FROM sends WHERE mailbox = ? AND minute >= ?"
            cells.update(dict(self._db.execute(query, (self._mailbox, since))))
        except sqlite3.Error as error:
            self._tell(error)
        return sorted((minute, sends) for minute, sends in cells.items() if sends > 0 and minute >= since)

    def add(self, minute: int, sends: int) -> None:
        self._unwritten[minute] += sends
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany(
                    "INSERT INTO sends VALUES (?, ?, max(0, ?)) ON CONFLICT DO UPDATE SET sends = max(0, sends + ?)",
                    [(self._mailbox, at, change, change) for at, change in self._unwritten.items()],
                )
                self._db.execute("DELETE FROM sends WHERE minute < ?", (minute - KEPT_DAYS * MINUTES_OF_A_DAY,))
                self._db.execute("COMMIT")
            except sqlite3.Error:
                self._db.execute("ROLLBACK")
                raise
            self._unwritten.clear()
        except sqlite3.Error as error:
            self._tell(error)

    def refused_until(self) -> datetime | None:
        found = [] if self._unwritten_until is None else [self._unwritten_until]
        try:
            row = self._db.execute("SELECT until FROM refusals WHERE mailbox = ?", (self._mailbox,)).fetchone()
            if row is not None:
                found.append(datetime.fromisoformat(row[0]))
        except (sqlite3.Error, ValueError) as error:
            self._tell(error)
        return max(found, default=None)

    def refuse(self, until: datetime) -> None:
        self._unwritten_until = until
        try:
            self._db.execute("INSERT OR REPLACE INTO refusals VALUES (?, ?)", (self._mailbox, until.isoformat()))
        except sqlite3.Error as error:
            self._tell(error)

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def _tell(self, error: Exception) -> None:
        if not self._is_told:
            self._is_told = True
            LOG.warning(
                "%s: the day's sends cannot be counted there (%s), so this process counts its own; move the file away,"
                " or set LEAGUE_AGENTS_DATA to a folder that can be written",
                self._path,
                (error.strerror if isinstance(error, OSError) else error) or type(error).__name__,
            )


def _opened(path: Path) -> sqlite3.Connection:
    """Open or create the file. Raises ``OSError`` and ``sqlite3.Error``."""
    make_private_folder(path.parent)
    make_private_database(path)
    db = sqlite3.connect(path, isolation_level=None, timeout=_PATIENCE_S, check_same_thread=False)
    try:
        # Read the application id last: another process that is creating the book has then finished.
        (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application,) = db.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            if application or tables:
                raise sqlite3.DatabaseError("it is a database of another program")
            _shape(db)
            use_write_ahead_log(db, patience_s=_PATIENCE_S)
        tighten_database(path)
    except BaseException:
        db.close()
        raise
    return db


def _shape(db: sqlite3.Connection) -> None:
    db.execute("BEGIN IMMEDIATE")
    for statement in (_SENDS, _REFUSALS, f"PRAGMA application_id = {APPLICATION_ID}"):
        db.execute(statement)
    db.execute("COMMIT")
