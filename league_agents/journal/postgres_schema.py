"""The schema versions of journals in PostgreSQL, oldest first.

Rule: a published script never changes; a new schema is a new script at the end. ``version_of_schema`` is the number of
scripts that were applied. One process migrates at a time, and a script is applied whole or not at all.
"""

from __future__ import annotations

from typing import Any, Final

import psycopg

from league_agents.kit.errors import JournalUnusable

SCHEMA: Final = "league_agents"
"""The schema of all tables; the address chooses the database."""

_LOCK = 0x4C414A31
"""The advisory lock of whoever migrates."""

_TEXT = 'TEXT COLLATE "C"'
"""Texts that are compared in the order of their characters, as instants and names are."""

SCRIPTS: tuple[str, ...] = (
    f"""
    CREATE TABLE owner (
        journal BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        role TEXT NOT NULL,
        address TEXT NOT NULL,
        UNIQUE (role, address)
    );
    CREATE TABLE version (
        journal BIGINT PRIMARY KEY REFERENCES owner ON DELETE CASCADE,
        steps BIGINT NOT NULL
    );
    CREATE TABLE lease (
        journal BIGINT PRIMARY KEY REFERENCES owner ON DELETE CASCADE,
        holder TEXT NOT NULL,
        until TIMESTAMPTZ NOT NULL
    );
    CREATE TABLE parts (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        name {_TEXT} NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (journal, name)
    );
    CREATE TABLE inbox (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        mail_id {_TEXT} NOT NULL,
        arrived_at {_TEXT} NOT NULL,
        sender TEXT NOT NULL,
        subject TEXT NOT NULL,
        message_type TEXT NOT NULL,
        message_id TEXT NOT NULL,
        game_id TEXT,
        verdict TEXT NOT NULL,
        reason TEXT NOT NULL,
        document TEXT,
        PRIMARY KEY (journal, seq),
        UNIQUE (journal, mail_id)
    );
    CREATE TABLE outbox (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        transaction_id {_TEXT} NOT NULL,
        message_type TEXT NOT NULL,
        recipients TEXT NOT NULL,
        subject TEXT NOT NULL,
        document TEXT NOT NULL,
        file_name TEXT NOT NULL,
        game_id TEXT,
        created_at {_TEXT} NOT NULL,
        state TEXT NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        not_before {_TEXT},
        began_at {_TEXT},
        began_s DOUBLE PRECISION,
        finished_at {_TEXT},
        error TEXT NOT NULL DEFAULT '',
        PRIMARY KEY (journal, seq),
        UNIQUE (journal, transaction_id)
    );
    CREATE INDEX outbox_waiting ON outbox (journal, (game_id IS NULL), seq) WHERE finished_at IS NULL;
    CREATE TABLE calls (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        call_id {_TEXT} NOT NULL,
        callback TEXT NOT NULL,
        context TEXT NOT NULL,
        timeout_s DOUBLE PRECISION NOT NULL,
        game_id TEXT NOT NULL,
        created_at {_TEXT} NOT NULL,
        finished_at {_TEXT},
        PRIMARY KEY (journal, seq),
        UNIQUE (journal, call_id)
    );
    CREATE INDEX calls_pending ON calls (journal, seq) WHERE finished_at IS NULL;
    CREATE TABLE deadlines (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        name {_TEXT} NOT NULL,
        at {_TEXT} NOT NULL,
        PRIMARY KEY (journal, name)
    );
    CREATE INDEX deadlines_due ON deadlines (journal, at);
    CREATE TABLE commands (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        nonce {_TEXT} NOT NULL,
        at {_TEXT} NOT NULL,
        PRIMARY KEY (journal, nonce)
    );
    CREATE TABLE notes (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        at {_TEXT} NOT NULL,
        kind TEXT NOT NULL,
        key TEXT NOT NULL,
        facts TEXT NOT NULL,
        PRIMARY KEY (journal, seq)
    );
    CREATE TABLE kept (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        name {_TEXT} NOT NULL,
        value TEXT NOT NULL,
        PRIMARY KEY (journal, name)
    );
    CREATE TABLE orders (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        nonce {_TEXT} NOT NULL,
        command TEXT NOT NULL,
        text TEXT NOT NULL,
        at {_TEXT} NOT NULL,
        PRIMARY KEY (journal, seq),
        UNIQUE (journal, nonce)
    );
    """,
    f"""
    CREATE TABLE model_calls (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        seq BIGINT GENERATED ALWAYS AS IDENTITY,
        at {_TEXT} NOT NULL,
        scope TEXT NOT NULL,
        season_id TEXT NOT NULL,
        match_id TEXT NOT NULL,
        callback TEXT NOT NULL,
        step TEXT NOT NULL,
        model TEXT NOT NULL,
        prompt_digest TEXT NOT NULL,
        reply TEXT,
        outcome TEXT NOT NULL,
        input_tokens BIGINT,
        output_tokens BIGINT,
        cached_tokens BIGINT,
        cost_usd DOUBLE PRECISION,
        is_cached INTEGER NOT NULL,
        took_s DOUBLE PRECISION NOT NULL,
        work TEXT,
        why TEXT,
        PRIMARY KEY (journal, seq)
    );
    CREATE INDEX model_calls_asked ON model_calls (journal, match_id, callback, prompt_digest);
    CREATE TABLE spending (
        seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        at {_TEXT} NOT NULL,
        day {_TEXT} NOT NULL,
        season TEXT NOT NULL,
        game TEXT NOT NULL,
        nano_usd BIGINT,
        tokens BIGINT NOT NULL,
        calls BIGINT NOT NULL
    );
    CREATE INDEX spending_of_game ON spending (game);
    CREATE INDEX spending_of_day ON spending (day);
    CREATE INDEX spending_of_season ON spending (season);
    CREATE TABLE reserved (
        game TEXT NOT NULL,
        place INTEGER NOT NULL,
        stage INTEGER NOT NULL,
        season TEXT NOT NULL,
        touched_at {_TEXT} NOT NULL,
        awaited INTEGER NOT NULL,
        nano_usd BIGINT NOT NULL,
        tokens BIGINT NOT NULL,
        calls BIGINT NOT NULL,
        PRIMARY KEY (game, place)
    );
    """,
    f"""
    CREATE TABLE archive (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        game_id {_TEXT} NOT NULL,
        types TEXT NOT NULL,
        record BYTEA NOT NULL,
        PRIMARY KEY (journal, game_id)
    );
    CREATE TABLE archived_keys (
        journal BIGINT NOT NULL REFERENCES owner ON DELETE CASCADE,
        key {_TEXT} NOT NULL,
        PRIMARY KEY (journal, key)
    );
    ALTER TABLE inbox ALTER COLUMN game_id TYPE {_TEXT};
    ALTER TABLE outbox ALTER COLUMN game_id TYPE {_TEXT};
    ALTER TABLE calls ALTER COLUMN game_id TYPE {_TEXT};
    ALTER TABLE notes ALTER COLUMN key TYPE {_TEXT};
    CREATE INDEX inbox_of_game ON inbox (journal, game_id);
    CREATE INDEX outbox_of_game ON outbox (journal, game_id);
    CREATE INDEX notes_about ON notes (journal, key);
    """,
)

_Connection = psycopg.Connection[tuple[Any, ...]]


def bring_up_to_date(connection: _Connection, name: str) -> None:
    """Create the schema, or apply its new scripts. Raises ``JournalUnusable`` for one of a newer version of this
    program, and ``psycopg.Error``."""
    if _applied(connection, name) == len(SCRIPTS):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
        connection.execute("CREATE TABLE IF NOT EXISTS version_of_schema (scripts INTEGER NOT NULL)")
        applied = _applied(connection, name)
        for script in SCRIPTS[applied:]:
            connection.execute(script)
        connection.execute("DELETE FROM version_of_schema")
        connection.execute("INSERT INTO version_of_schema VALUES (%s)", (len(SCRIPTS),))


def check_version(connection: _Connection, name: str) -> None:
    """Raises ``JournalUnusable`` if there is no schema of this version."""
    if _applied(connection, name) != len(SCRIPTS):
        raise JournalUnusable(f"{name}: has no journals of this version of league-agents; start a role on it once")


def is_there(connection: _Connection) -> bool:
    """Whether the database has journals. Raises ``psycopg.Error``."""
    return connection.execute("SELECT to_regclass('version_of_schema')").fetchone() != (None,)


def _applied(connection: _Connection, name: str) -> int:
    """The number of scripts that were applied."""
    row = connection.execute("SELECT scripts FROM version_of_schema").fetchone() if is_there(connection) else None
    applied = 0 if row is None else int(row[0])
    if applied > len(SCRIPTS):
        raise JournalUnusable(f"{name}: was written by a newer version of league-agents; upgrade, or name another")
    return applied
