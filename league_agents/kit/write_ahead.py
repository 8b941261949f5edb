"""SQLite's write-ahead log, switched on while other connections use the file.

Rule 1: the switch needs the file for itself for a moment, and SQLite then answers "database is locked" at once instead
of waiting for its busy timeout. Two processes that create a file together would meet that, so the switch is tried
again until it succeeds or the patience ends.
"""

from __future__ import annotations

import sqlite3
import threading

from league_agents.kit.clock import real_monotonic_s

_PAUSE_S = 0.01
_PRIMARY_CODE = 0xFF
"""The mask of a primary result code within SQLite's extended result code."""


def use_write_ahead_log(db: sqlite3.Connection, *, patience_s: float = 10) -> None:
    """Switch the file of ``db`` to ``journal_mode = WAL``, outside of a transaction. ``patience_s`` is in seconds.
    Raises ``sqlite3.Error``, for a file that stays in use after ``patience_s`` too."""
    ends_s = real_monotonic_s() + patience_s
    while True:
        try:
            db.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY_CODE != sqlite3.SQLITE_BUSY or real_monotonic_s() >= ends_s:
                raise
        threading.Event().wait(_PAUSE_S)
