"""The state that survives when the sandbox's process is killed.

Rule: the changes of a call are committed before its answer is sent, in one transaction. Without a file nothing is kept.
The file is written without waiting for the disk: it survives the death of the process, not of the machine.
"""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Protocol

from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import make_private_database, tighten_database
from league_agents.kit.write_ahead import use_write_ahead_log

_VERSION = 1
_APPLICATION_ID = 0x4C474D4C


class SandboxState(Protocol):
    """Values by kind and key. Used by one thread at a time."""

    def load(self, kind: str) -> dict[str, object]:
        """All values of a kind, ordered by key. Bytes come back as bytes."""
        ...

    def put(self, kind: str, key: str, value: object) -> None:
        """Store a JSON value or bytes."""
        ...

    def drop(self, kind: str, key: str) -> None:
        """Delete a value."""
        ...

    def commit(self) -> None:
        """Make the changes since the last commit durable."""
        ...

    def close(self) -> None:
        """Commit and close the file."""
        ...


class NoState:
    """``SandboxState`` that keeps nothing."""

    def load(self, kind: str) -> dict[str, object]:
        return {}

    def put(self, kind: str, key: str, value: object) -> None:
        pass

    def drop(self, kind: str, key: str) -> None:
        pass

    def commit(self) -> None:
        pass

    def close(self) -> None:
        pass


class SqliteState:
    """``SandboxState`` in one SQLite file."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises ``ConfigError``."""
        self._changes: dict[tuple[str, str], object] = {}
        try:
            make_private_database(path)  # the file holds tokens
        except OSError as error:
            raise ConfigError(str(path), f"cannot be opened ({error.strerror})") from error
        try:
            self._connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
            self._open(path)
        except sqlite3.Error as error:
            raise ConfigError(str(path), f"this is no sandbox state ({error}); name another file") from error

    def _open(self, path: Path) -> None:
        run = self._connection.execute
        try:
            kept = run("PRAGMA application_id").fetchone()[0], run("PRAGMA user_version").fetchone()[0]
            tables = run("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and kept != (_APPLICATION_ID, _VERSION):
                raise ConfigError(str(path), "this is no state of this version of the sandbox; name another file")
            use_write_ahead_log(self._connection, patience_s=0)
            run("PRAGMA synchronous = OFF")
            # One sandbox per file: a second one would hand out the same ids.
            run("PRAGMA locking_mode = EXCLUSIVE")
            run("BEGIN EXCLUSIVE")
            run(f"PRAGMA application_id = {_APPLICATION_ID}")
            run(f"PRAGMA user_version = {_VERSION}")
            run("CREATE TABLE IF NOT EXISTS kept (kind TEXT, key TEXT, value, PRIMARY KEY (kind, key)) WITHOUT ROWID")
            run("COMMIT")
            tighten_database(path)
        except (sqlite3.Error, ConfigError):
            self._connection.close()
            raise

    def load(self, kind: str) -> dict[str, object]:
        rows = self._connection.execute("SELECT key, value FROM kept WHERE kind = ? ORDER BY key", (kind,))
        return {key: value if isinstance(value, bytes) else json.loads(value) for key, value in rows}

    def put(self, kind: str, key: str, value: object) -> None:
        self._changes[kind, key] = value if isinstance(value, bytes) else json.dumps(value)

    def drop(self, kind: str, key: str) -> None:
        self._changes[kind, key] = None

    def commit(self) -> None:
        if not self._changes:
            return
        run = self._connection.execute
        run("BEGIN")
        for (kind, key), value in self._changes.items():
            if value is None:
                run("DELETE FROM kept WHERE kind = ? AND key = ?", (kind, key))
            else:
                run("INSERT OR REPLACE INTO kept VALUES (?, ?, ?)", (kind, key, value))
        run("COMMIT")
        self._changes.clear()

    def close(self) -> None:
        self.commit()
        self._connection.close()
