"""The schema versions of a journal, oldest first.

Rule: a published script never changes; a new schema is a new script at the end. ``PRAGMA user_version`` is the number
of scripts that were applied to a file.
"""

from __future__ import annotations

import sqlite3

from league_agents.kit.errors import JournalUnusable

APPLICATION_ID = 0x4C414A31
"""SQLite's ``application_id`` of a journal, which distinguishes it from other databases."""

MODEL_CALLS = """
    CREATE TABLE model_calls (
        seq INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        scope TEXT NOT NULL,
        season_id TEXT NOT NULL,
        match_id TEXT NOT NULL,
        callback TEXT NOT NULL,
        step TEXT NOT NULL,
        model TEXT NOT NULL,
        prompt_digest TEXT NOT NULL,
        reply TEXT,
        outcome TEXT NOT NULL,
        input_tokens INTEGER,
        output_tokens INTEGER,
        cached_tokens INTEGER,
        cost_usd REAL,
        is_cached INTEGER NOT NULL,
        took_s REAL NOT NULL
    );
    CREATE INDEX model_calls_asked ON model_calls (match_id, callback, prompt_digest);
    """
"""The calls to language models. Commands without a journal keep the same table in a ledger."""

MODEL_WORK = """
    ALTER TABLE model_calls ADD COLUMN work TEXT;
    ALTER TABLE model_calls ADD COLUMN why TEXT
    """
"""How each reply was used; NULL until that is reported, and for calls of older versions."""

SCRIPTS: tuple[str, ...] = (
    """
    CREATE TABLE version (only INTEGER PRIMARY KEY CHECK (only = 1), steps INTEGER NOT NULL);
    INSERT INTO version VALUES (1, 0);
    CREATE TABLE owner (only INTEGER PRIMARY KEY CHECK (only = 1), role TEXT NOT NULL, address TEXT NOT NULL);
    CREATE TABLE parts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE inbox (
        seq INTEGER PRIMARY KEY,
        mail_id TEXT NOT NULL UNIQUE,
        arrived_at TEXT NOT NULL,
        sender TEXT NOT NULL,
        subject TEXT NOT NULL,
        message_type TEXT NOT NULL,
        message_id TEXT NOT NULL,
        game_id TEXT,
        verdict TEXT NOT NULL,
        reason TEXT NOT NULL,
        document TEXT
    );
    CREATE TABLE outbox (
        seq INTEGER PRIMARY KEY,
        transaction_id TEXT NOT NULL UNIQUE,
        message_type TEXT NOT NULL,
        recipients TEXT NOT NULL,
        subject TEXT NOT NULL,
        document TEXT NOT NULL,
        file_name TEXT NOT NULL,
        game_id TEXT,
        created_at TEXT NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        not_before TEXT,
        finished_at TEXT,
        error TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX outbox_waiting ON outbox (game_id IS NULL, seq) WHERE state IN ('queued', 'sending', 'ambiguous');
    CREATE TABLE calls (
        seq INTEGER PRIMARY KEY,
        call_id TEXT NOT NULL UNIQUE,
        callback TEXT NOT NULL,
        context TEXT NOT NULL,
        timeout_s REAL NOT NULL,
        game_id TEXT NOT NULL,
        created_at TEXT NOT NULL,
        finished_at TEXT
    );
    CREATE INDEX calls_pending ON calls (seq) WHERE finished_at IS NULL;
    CREATE TABLE deadlines (name TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
    CREATE INDEX deadlines_due ON deadlines (at);
    CREATE TABLE commands (nonce TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE notes (
        seq INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        facts TEXT NOT NULL
    );
    """,
    """
    CREATE TABLE kept (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    """,
    """
    CREATE TABLE orders (
        seq INTEGER PRIMARY KEY,
        nonce TEXT NOT NULL UNIQUE,
        command TEXT NOT NULL,
        text TEXT NOT NULL,
        at TEXT NOT NULL
    );
    """,
    MODEL_CALLS,
    """
    ALTER TABLE outbox ADD COLUMN began_at TEXT;
    ALTER TABLE outbox ADD COLUMN began_s REAL;
    """,
    MODEL_WORK,
    # SQLite builds a table in memory for the list of the former condition, six times for each message that is sent.
    """
    DROP INDEX outbox_waiting;
    CREATE INDEX outbox_waiting ON outbox (game_id IS NULL, seq) WHERE finished_at IS NULL;
    """,
    # ``types`` stands before ``record``: SQLite then skips a record without reading it.
    """
    CREATE TABLE archive (game_id TEXT PRIMARY KEY, types TEXT NOT NULL, record BLOB NOT NULL);
    CREATE TABLE archived_keys (key TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE INDEX inbox_of_game ON inbox (game_id);
    CREATE INDEX outbox_of_game ON outbox (game_id);
    CREATE INDEX notes_about ON notes (key)
    """,
)


WITH_MODEL_WORK = SCRIPTS.index(MODEL_WORK) + 1
"""The first schema version whose table of model calls has the column ``work``."""


def migrate(connection: sqlite3.Connection, path: str) -> None:
    """Bring a file to the newest schema, all new scripts in one transaction.

    Raises ``JournalUnusable`` if the file is another program's database or comes from a newer version of this one.
    """
    # Read the application id last: another process that is creating the journal has then finished.
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (seen,) = connection.execute("PRAGMA user_version").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != APPLICATION_ID and (tables or application or seen):
        raise JournalUnusable(f"{path}: is a database of another program; name another file for the journal")
    if seen > len(SCRIPTS):
        raise JournalUnusable(f"{path}: was written by a newer version of league-agents; upgrade, or name another file")
    if seen == len(SCRIPTS):
        return
    # One transaction and one process at a time, so that no reader sees a partly created journal.
    connection.execute("BEGIN IMMEDIATE")
    try:
        (seen,) = connection.execute("PRAGMA user_version").fetchone()
        for script in SCRIPTS[seen:]:
            for statement in script.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(SCRIPTS)}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def is_in_newest_shape(connection: sqlite3.Connection, path: str) -> bool:
    """Whether a journal has the newest schema; ``False`` if it was written by an older version.

    Raises ``JournalUnusable`` if it is no journal or comes from a newer version.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (seen,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise JournalUnusable(f"{path}: is no journal; name the journal of a role")
    if seen > len(SCRIPTS):
        raise JournalUnusable(f"{path}: was written by a newer version of league-agents; upgrade")
    return bool(seen == len(SCRIPTS))
