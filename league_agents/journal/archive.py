"""Closed matches as one compressed record each, read as if their rows were still there.

Rule 1: a match is archived when its result is recorded, nothing of it waits, and its last mail is old enough. Its
mails, messages and notes go into one record; its callbacks and their contexts are dropped.
Rule 2: the ids of its mails and messages stay, so that a copy of an old mail is still recognized.
Rule 3: archived rows are read before the others, match by match; within a match the order stays.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator
from datetime import datetime
from typing import Any, Final, TypeVar

import msgspec

from league_agents.journal.database import ID, KEY, MINE, Database
from league_agents.journal.port import BELIEF, MODEL_WORK, ArchiveCounts
from league_agents.journal.rows import Stored, reading_failures, text
from league_agents.journal.tables import INBOX, NOTES, OUTBOX, beginning_with, instant_text

NOTE_KINDS: Final = frozenset({"match", "game", MODEL_WORK, BELIEF})
"""Kinds of notes that belong to one match."""

_MAIL, _SEND = "m ", "t "
"""Prefixes of the keys of mails and messages."""

_NOTES: Final = f"kind IN ({', '.join(repr(kind) for kind in sorted(NOTE_KINDS))})"
_TABLES: Final[tuple[tuple[Stored[Any], str, str], ...]] = (
    (INBOX, "game_id", "TRUE"),
    (OUTBOX, "game_id", "TRUE"),
    (NOTES, "key", _NOTES),
)
"""The tables of a record, the column of the game id in each, and the condition for its rows."""

_CLOSED: Final = """
    SELECT key FROM notes WHERE {mine}kind IN ('match', 'game') AND at < ?
    AND NOT EXISTS (SELECT 1 FROM inbox WHERE {mine}inbox.game_id = notes.key AND arrived_at >= ?)
    AND NOT EXISTS (
        SELECT 1 FROM outbox WHERE {mine}outbox.game_id = notes.key AND (created_at >= ? OR finished_at IS NULL)
    )
    AND NOT EXISTS (SELECT 1 FROM calls WHERE {mine}calls.game_id = notes.key AND finished_at IS NULL)
    ORDER BY seq LIMIT ?
    """
_DECODER: Final = msgspec.msgpack.Decoder(dict[str, list[list[Any]]])
_IS_GAME: Final = "length(game_id) = 7"

T = TypeVar("T")


def archive_matches(db: Database, before: datetime, limit: int) -> int:
    """Archive at most ``limit`` matches that were closed before an instant. Return their number. Raises
    ``JournalError``, and ``db.failures``."""
    with db.transaction():
        at = instant_text(before)
        games = list(dict.fromkeys(key for (key,) in db.run(_CLOSED, (at, at, at, limit)).fetchall()))
        for game_id in games:
            _archive(db, game_id)
    return len(games)


def _archive(db: Database, game_id: str) -> None:
    earlier = db.run(f"SELECT record FROM archive WHERE {MINE}game_id = ?", (game_id,)).fetchone()  # noqa: S608
    record = {} if earlier is None else _unpacked(earlier[0])
    for table, column, condition in _TABLES:
        where = f"FROM {table.table} WHERE {MINE}{column} = ? AND {condition}"
        rows = db.run(f"SELECT {table.columns} {where} ORDER BY seq", (game_id,)).fetchall()
        record[table.table] = [*record.get(table.table, ()), *map(list, rows)]
    _keep_keys(db, "game_id = ?", game_id)
    for table, column, condition in _TABLES:
        db.run(f"DELETE FROM {table.table} WHERE {MINE}{column} = ? AND {condition}", (game_id,))  # noqa: S608
    db.run("DELETE FROM calls WHERE {mine}game_id = ?", (game_id,))
    types = {row.message_type for row in map(INBOX.decode, record[INBOX.table])}
    types |= {item.message_type for item in map(OUTBOX.decode, record[OUTBOX.table])}
    packed = zlib.compress(msgspec.msgpack.encode(record), 9)
    db.run(
        f"INSERT INTO archive ({KEY}game_id, types, record) VALUES ({ID}?, ?, ?)"  # noqa: S608
        f" ON CONFLICT ({KEY}game_id) DO UPDATE SET types = excluded.types, record = excluded.record",
        (game_id, " ".join(sorted(types)), packed),
    )


def _keep_keys(db: Database, condition: str, value: str) -> None:
    for prefix, column, table in ((_MAIL, "mail_id", "inbox"), (_SEND, "transaction_id", "outbox")):
        keys = db.run(f"SELECT {column} FROM {table} WHERE {MINE}{condition}", (value,)).fetchall()  # noqa: S608
        insert = f"INSERT INTO archived_keys ({KEY}key) VALUES ({ID}?) ON CONFLICT DO NOTHING"  # noqa: S608
        db.run_many(insert, [(prefix + key,) for (key,) in keys])


def has_archive(db: Database) -> bool:
    """Whether anything was archived or pruned. Raises ``db.failures``."""
    return db.run("SELECT 1 FROM archived_keys WHERE {mine}TRUE LIMIT 1").fetchone() is not None


def is_archived_mail(db: Database, mail_id: str) -> bool:
    """Whether a mail was taken in and archived. Raises ``db.failures``."""
    return _is_key(db, _MAIL + mail_id)


def is_archived_send(db: Database, transaction_id: str) -> bool:
    """Whether a message was sent and archived. Raises ``db.failures``."""
    return _is_key(db, _SEND + transaction_id)


def _is_key(db: Database, key: str) -> bool:
    return db.run("SELECT 1 FROM archived_keys WHERE {mine}key = ?", (key,)).fetchone() is not None


def archived_rows(db: Database, table: Stored[T], *, types: Collection[str] = (), game: str = "") -> Iterator[T]:
    """The archived rows of a table, of matches whose id begins with ``game`` and whose mails and messages have one of
    these ``types`` (empty: all). Raises ``JournalError``."""
    place = "archive, the first row"
    try:
        where, values = beginning_with("game_id", game) if game else ("TRUE", ())
        query = f"SELECT game_id, types, record FROM archive WHERE {MINE}{where} ORDER BY game_id"  # noqa: S608
        for game_id, present, packed in db.stream(query, values):
            place = f"archive, game_id {game_id!a:.60}"
            present_types = text(present).split(" ")
            if not types or not set(types).isdisjoint(present_types):
                for row in _unpacked(packed).get(table.table, ()):
                    yield table.decode(row)
    except reading_failures(db) as error:
        raise db.fault(error, place=place) from error


def _unpacked(packed: object) -> dict[str, list[list[Any]]]:
    """The rows in a record. Raises ``ValueError``."""
    if not isinstance(packed, bytes):
        raise ValueError(f"record: bytes are expected, found {type(packed).__name__}")
    try:
        return _DECODER.decode(zlib.decompress(packed))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise ValueError(f"record: {error}") from error


def archive_counts(db: Database) -> ArchiveCounts:
    """Raises ``db.failures``."""

    def count(query: str, *values: object) -> int:
        (number,) = db.run(query, values).fetchone()
        return int(number)

    keys = "SELECT count(*) FROM archived_keys WHERE {mine}substr(key, 1, 2) = ?"
    matches = count("SELECT count(*) FROM archive WHERE {mine}TRUE")
    return ArchiveCounts(matches=matches, mails=count(keys, _MAIL), messages=count(keys, _SEND))


def prune_seasons(db: Database, keep: int) -> tuple[str, ...]:
    """Delete everything of the matches of all seasons but the last ``keep``, except the ids of mails and messages.

    Return the numbers of the deleted seasons. A season with a match that is not over is kept. Raises ``JournalError``,
    and ``db.failures``.
    """
    # Not the inbox: a stranger's mail may name any season, also a later one than ours.
    own = ("archive", "outbox", "calls")
    tables = (*own, "inbox")
    with db.transaction():
        names = " UNION ".join(f"SELECT substr(game_id, 1, 2) FROM {name} WHERE {MINE}{_IS_GAME}" for name in own)  # noqa: S608
        seasons = sorted(season for (season,) in db.run(names).fetchall())
        pruned = tuple(season for season in seasons[:-keep] if not _is_open(db, season))
        for season in pruned:
            condition = f"{_IS_GAME} AND substr(game_id, 1, 2) = ?"
            _keep_keys(db, condition, season)
            for name in tables:
                db.run(f"DELETE FROM {name} WHERE {MINE}{condition}", (season,))  # noqa: S608
            notes = f"DELETE FROM notes WHERE {MINE}{_NOTES} AND substr(key, 1, 2) = ?"  # noqa: S608
            db.run(notes, (season,))
    return pruned


def _is_open(db: Database, season: str) -> bool:
    waiting = (
        f"SELECT 1 FROM {table} WHERE {MINE}finished_at IS NULL AND {_IS_GAME} AND substr(game_id, 1, 2) = ?"  # noqa: S608
        for table in ("outbox", "calls")
    )
    return any(db.run(query, (season,)).fetchone() is not None for query in waiting)
