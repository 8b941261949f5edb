"""The tables of a journal: the statements on them, and how values become rows and rows values.

Instants are stored as text of one width in UTC, so that comparing texts compares instants.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import msgspec

from league_agents.journal.port import (
    Deadline,
    InboxRow,
    InboxVerdict,
    Note,
    Order,
    OutboxItem,
    OutboxState,
    PendingCall,
)
from league_agents.journal.rows import (
    Stored,
    duration,
    instant,
    json_object,
    json_value,
    one_of,
    optional,
    real,
    text,
    texts,
    whole,
)

WAITING = "finished_at IS NULL"  # must equal the condition of the index
_NEW = "transaction_id, message_type, recipients, subject, document, file_name, game_id, created_at, not_before"

_IS_UP_TO_DATE = "EXISTS (SELECT 1 FROM version WHERE {mine}steps = ?)"
"""The condition that no other process has taken a step: one that has, decides about the messages."""


@lru_cache(maxsize=100)
def instant_text(at: datetime) -> str:
    """The text of an instant."""
    # Cached: a step has few distinct instants, and each is written many times.
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def json_text(value: object) -> str:
    """The text of a JSON value."""
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError):
        # A lone surrogate in a hostile document, which no UTF-8 column accepts, or a huge number.
        return _ASCII.encode(value)


_ASCII = json.JSONEncoder(separators=(",", ":"))


def storable(written: str) -> str:
    """The text with ``?`` for what no database takes, half surrogate pairs."""
    return written.encode("utf-8", "replace").decode()


def narrowed(kind: str, kinds: Collection[str], key: str, beginning: str) -> tuple[str, tuple[object, ...]]:
    """Return the condition for rows of some kinds whose key has a prefix, and its values. No kinds and no prefix mean
    all."""
    conditions: list[str] = []
    values: tuple[object, ...] = tuple(kinds)
    if kinds:
        conditions.append(f"{kind} IN ({', '.join('?' * len(kinds))})")
    if beginning:
        condition, bounds = beginning_with(key, beginning)
        conditions.append(condition)
        values += bounds
    return " AND ".join(conditions), values


def beginning_with(column: str, prefix: str) -> tuple[str, tuple[object, ...]]:
    """Return the condition that a text has a prefix, for which an index is used, and its values."""
    return f"{column} >= ? AND {column} < ?", (prefix, prefix + chr(sys.maxunicode))


ADVANCE = "UPDATE version SET steps = ? WHERE {mine}steps = ?"
SET_PART = (
    "INSERT INTO parts ({key}name, value) VALUES ({id}?, ?)"
    " ON CONFLICT ({key}name) DO UPDATE SET value = excluded.value"
)
INSERT_OUTBOX = (
    f"INSERT INTO outbox ({{key}}{_NEW}, state)"  # noqa: S608
    " VALUES ({id}?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued') ON CONFLICT DO NOTHING"
)
INSERT_TRIED = (
    f"INSERT INTO outbox ({{key}}{_NEW}, state, attempts, began_at, began_s)"  # noqa: S608
    " VALUES ({id}?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
INSERT_CALL = (
    "INSERT INTO calls ({key}call_id, callback, context, timeout_s, game_id, created_at)"
    " VALUES ({id}?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
SET_DEADLINE = (
    "INSERT INTO deadlines ({key}name, at) VALUES ({id}?, ?) ON CONFLICT ({key}name) DO UPDATE SET at = excluded.at"
)
KEEP = (
    f"INSERT INTO kept ({{key}}name, value) SELECT {{id}}?, ? WHERE {_IS_UP_TO_DATE}"
    " ON CONFLICT ({key}name) DO UPDATE SET value = excluded.value"
)
INSERT_ORDER = "INSERT INTO orders ({key}nonce, command, text, at) VALUES ({id}?, ?, ?, ?) ON CONFLICT DO NOTHING"
DUE = (
    f"SELECT transaction_id, attempts FROM outbox WHERE {{mine}}{WAITING} AND state = 'queued'"  # noqa: S608
    " AND (not_before IS NULL OR not_before <= ?) ORDER BY game_id IS NULL, seq LIMIT ?"
)
BEGIN_SEND = (
    "UPDATE outbox SET state = 'sending', attempts = attempts + 1, began_at = ?, began_s = ?"  # noqa: S608
    f" WHERE {{mine}}transaction_id = ? AND attempts = ? AND {WAITING} AND {_IS_UP_TO_DATE}"
)
POSTPONE_SEND = (
    "UPDATE outbox SET state = 'queued', not_before = ?, error = ?"  # noqa: S608
    f" WHERE {{mine}}transaction_id = ? AND {_IS_UP_TO_DATE}"
)
DOUBT_SEND = f"UPDATE outbox SET state = 'ambiguous', error = ? WHERE {{mine}}transaction_id = ? AND {_IS_UP_TO_DATE}"  # noqa: S608
FAIL_SEND = (
    "UPDATE outbox SET state = 'failed', finished_at = ?, error = ?"  # noqa: S608
    f" WHERE {{mine}}transaction_id = ? AND {_IS_UP_TO_DATE}"
)
NEXT_WAKE = (
    "SELECT min(at) FROM (SELECT min(at) AS at FROM deadlines WHERE {mine}TRUE UNION ALL"  # noqa: S608
    f" SELECT min(not_before) FROM outbox WHERE {{mine}}{WAITING} AND state = 'queued') AS wakes"
)
INSERT_NOTE = "INSERT INTO notes ({key}at, kind, key, facts) VALUES ({id}?, ?, ?, ?)"
INSERT_INBOX = (
    "INSERT INTO inbox ({key}mail_id, arrived_at, sender, subject, message_type, message_id, game_id, verdict,"
    " reason, document) VALUES ({id}?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)


def note_row(note: Note) -> tuple[object, ...]:
    return (instant_text(note.at), note.kind, note.key, json_text(note.facts))


def inbox_row(row: InboxRow) -> tuple[object, ...]:
    return (
        row.mail_id,
        instant_text(row.arrived_at),
        storable(row.sender),
        storable(row.subject),
        row.message_type,
        storable(row.message_id),
        row.game_id,
        row.verdict,
        storable(row.reason),
        None if row.document is None else json_text(row.document),
    )


def outbox_row(item: OutboxItem) -> tuple[object, ...]:
    return (
        item.transaction_id,
        item.message_type,
        json_text(item.to),
        item.subject,
        json_text(item.document),
        item.file_name,
        item.game_id,
        instant_text(item.created_at),
        None if item.not_before is None else instant_text(item.not_before),
    )


STEPS: Stored[int] = Stored("version", lambda steps: steps, {"steps": whole}, key=None)
OWNER: Stored[tuple[str, str]] = Stored(
    "owner", lambda role, address: (role, address), {"role": text, "address": text}, key=None
)
OUTBOX = Stored(
    "outbox",
    OutboxItem,
    {
        "transaction_id": text,
        "message_type": text,
        "to": texts,
        "subject": text,
        "document": json_object,
        "file_name": text,
        "game_id": optional(text),
        "created_at": instant,
        "not_before": optional(instant),
        "state": one_of(OutboxState),
        "attempts": whole,
        "began_at": optional(instant),
        "began_s": optional(real),
    },
    to="recipients",
)
INBOX = Stored(
    "inbox",
    InboxRow,
    {
        "mail_id": text,
        "arrived_at": instant,
        "sender": text,
        "subject": text,
        "message_type": text,
        "message_id": text,
        "game_id": optional(text),
        "verdict": one_of(InboxVerdict),
        "reason": text,
        "document": optional(json_object),
    },
)
MAIL_IDS: Stored[str] = Stored("inbox", lambda mail_id: mail_id, {"mail_id": text})
CALLS = Stored(
    "calls",
    PendingCall,
    {"call_id": text, "callback": text, "context": json_object, "timeout": duration, "game_id": text},
    timeout="timeout_s",
)
DEADLINES = Stored("deadlines", Deadline, {"name": text, "at": instant}, key="name")
NOTES = Stored("notes", Note, {"at": instant, "kind": text, "key": text, "facts": json_object})
ORDERS = Stored("orders", Order, {"nonce": text, "command": text, "text": text, "at": instant})
PARTS: Stored[tuple[str, str]] = Stored(
    "parts", lambda name, value: (name, value), {"name": text, "value": text}, key="name"
)
KEPT: Stored[object] = Stored("kept", lambda value: value, {"value": json_value}, key="name")

TABLES: tuple[Stored[Any], ...] = (STEPS, OWNER, PARTS, INBOX, OUTBOX, CALLS, DEADLINES, NOTES, KEPT, ORDERS)
