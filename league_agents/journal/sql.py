"""A journal in the tables of an SQL database: the statements, and how values become rows.

Instants are stored as text of one width in UTC, so that comparing texts compares instants.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache, wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec

from league_agents.journal.database import Database
from league_agents.journal.port import (
    Deadline,
    Dump,
    InboxRow,
    InboxVerdict,
    Journal,
    Note,
    Order,
    OutboxItem,
    OutboxState,
    PendingCall,
    StepCause,
    StepCommit,
)
from league_agents.journal.rows import (
    Stored,
    duration,
    instant,
    json_object,
    json_value,
    one_of,
    optional,
    reading_failures,
    real,
    text,
    texts,
    whole,
)
from league_agents.kit.errors import JournalError, JournalUnusable
from league_agents.kit.values import evolve

P = ParamSpec("P")
T = TypeVar("T")

_MOST_QUEUED = 500
_WAITING = "finished_at IS NULL"  # must equal the condition of the index
_NEW = "transaction_id, message_type, recipients, subject, document, file_name, game_id, created_at, not_before"


@lru_cache(maxsize=100)
def _text(at: datetime) -> str:
    # Cached: a step has few distinct instants, and each is written many times.
    return f"{at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z"


def _json(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except (TypeError, ValueError, OverflowError):
        # A lone surrogate in a hostile document, which no UTF-8 column accepts, or a huge number.
        return _ASCII.encode(value)


_ASCII = json.JSONEncoder(separators=(",", ":"))


def _utf8(written: str) -> str:
    return written.encode("utf-8", "replace").decode()


def _narrowed(kind: str, kinds: Collection[str], key: str, beginning: str) -> tuple[str, tuple[object, ...]]:
    """Return the condition for rows of some kinds whose key has a prefix, and its values. No kinds and no prefix mean
    all."""
    conditions: list[str] = []
    if kinds:
        conditions.append(f"{kind} IN ({', '.join('?' * len(kinds))})")
    if beginning:
        conditions.append(f"substr({key}, 1, ?) = ?")
    return " AND ".join(conditions), (*kinds, *((len(beginning), beginning) if beginning else ()))


_ADVANCE = "UPDATE version SET steps = ? WHERE {mine}steps = ?"
_SET_PART = (
    "INSERT INTO parts ({key}name, value) VALUES ({id}?, ?)"
    " ON CONFLICT ({key}name) DO UPDATE SET value = excluded.value"
)
_INSERT_OUTBOX = (
    f"INSERT INTO outbox ({{key}}{_NEW}, state)"  # noqa: S608
    " VALUES ({id}?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued') ON CONFLICT DO NOTHING"
)
_INSERT_TRIED = (
    f"INSERT INTO outbox ({{key}}{_NEW}, state, attempts, began_at, began_s)"  # noqa: S608
    " VALUES ({id}?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_CALL = (
    "INSERT INTO calls ({key}call_id, callback, context, timeout_s, game_id, created_at)"
    " VALUES ({id}?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_SET_DEADLINE = (
    "INSERT INTO deadlines ({key}name, at) VALUES ({id}?, ?) ON CONFLICT ({key}name) DO UPDATE SET at = excluded.at"
)
_KEEP = (
    "INSERT INTO kept ({key}name, value) VALUES ({id}?, ?) ON CONFLICT ({key}name) DO UPDATE SET value = excluded.value"
)
_INSERT_ORDER = "INSERT INTO orders ({key}nonce, command, text, at) VALUES ({id}?, ?, ?, ?) ON CONFLICT DO NOTHING"
_DUE = (
    f"SELECT transaction_id, attempts FROM outbox WHERE {{mine}}{_WAITING} AND state = 'queued'"  # noqa: S608
    " AND (not_before IS NULL OR not_before <= ?) ORDER BY game_id IS NULL, seq LIMIT ?"
)
_BEGIN_SEND = (
    "UPDATE outbox SET state = 'sending', attempts = attempts + 1, began_at = ?, began_s = ?"  # noqa: S608
    f" WHERE {{mine}}transaction_id = ? AND attempts = ? AND {_WAITING}"
)
_NEXT_WAKE = (
    "SELECT min(at) FROM (SELECT min(at) AS at FROM deadlines WHERE {mine}TRUE UNION ALL"  # noqa: S608
    f" SELECT min(not_before) FROM outbox WHERE {{mine}}{_WAITING} AND state = 'queued') AS wakes"
)
_INSERT_NOTE = "INSERT INTO notes ({key}at, kind, key, facts) VALUES ({id}?, ?, ?, ?)"
_INSERT_INBOX = (
    "INSERT INTO inbox ({key}mail_id, arrived_at, sender, subject, message_type, message_id, game_id, verdict,"
    " reason, document) VALUES ({id}?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)


def _noted(note: Note) -> tuple[object, ...]:
    return (_text(note.at), note.kind, note.key, _json(note.facts))


def _incoming(row: InboxRow) -> tuple[object, ...]:
    return (
        row.mail_id,
        _text(row.arrived_at),
        _utf8(row.sender),
        _utf8(row.subject),
        row.message_type,
        _utf8(row.message_id),
        row.game_id,
        row.verdict,
        _utf8(row.reason),
        None if row.document is None else _json(row.document),
    )


_STEPS: Stored[int] = Stored("version", lambda steps: steps, {"steps": whole}, key="only")
_OWNER: Stored[tuple[str, str]] = Stored(
    "owner", lambda role, address: (role, address), {"role": text, "address": text}, key="only"
)
_OUTBOX = Stored(
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
_INBOX = Stored(
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
_MAIL_IDS: Stored[str] = Stored("inbox", lambda mail_id: mail_id, {"mail_id": text})
_CALLS = Stored(
    "calls",
    PendingCall,
    {"call_id": text, "callback": text, "context": json_object, "timeout": duration, "game_id": text},
    timeout="timeout_s",
)
_DEADLINES = Stored("deadlines", Deadline, {"name": text, "at": instant}, key="name")
_NOTES = Stored("notes", Note, {"at": instant, "kind": text, "key": text, "facts": json_object})
_ORDERS = Stored("orders", Order, {"nonce": text, "command": text, "text": text, "at": instant})
_PARTS: Stored[tuple[str, str]] = Stored(
    "parts", lambda name, value: (name, value), {"name": text, "value": text}, key="name"
)
_KEPT: Stored[object] = Stored("kept", lambda value: value, {"value": json_value}, key="name")

_TABLES: tuple[Stored[Any], ...] = (_STEPS, _OWNER, _PARTS, _INBOX, _OUTBOX, _CALLS, _DEADLINES, _NOTES, _KEPT, _ORDERS)


def _reads(method: Callable[Concatenate[SqlJournal, P], T]) -> Callable[Concatenate[SqlJournal, P], T]:
    """Decorate a method that reads, so that any fault of the database raises a ``JournalError`` that names it."""

    @wraps(method)
    def reading(self: SqlJournal, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except reading_failures(self._db) as error:
            raise self._db.fault(error) from error

    return reading


class SqlJournal:
    """``StoredJournal`` on a ``Database`` whose tables exist."""

    def __init__(self, db: Database, *, dump: Dump) -> None:
        """Raises ``JournalError``."""
        self._db = db
        self._dump = dump
        self._queued: dict[str, OutboxItem] = {}
        """Cache of messages queued by this process and not sent yet. Their state is in the database."""
        self._steps = _STEPS.read_one(db)

    def check_content(self) -> None:
        """Read every row. Raises ``JournalUnusable`` if one of them is damaged."""
        for table in _TABLES:
            for _ in table.read(self._db):
                pass

    @property
    def owner(self) -> tuple[str, str]:
        """The role and the address that the journal belongs to."""
        return _OWNER.read_one(self._db)

    def check_owner(self, role: str, address: str) -> None:
        """Raises ``JournalUnusable`` if the journal belongs to another role or address."""
        found_role, found_address = self.owner
        if (found_role, found_address) != (role, address.lower()):
            raise JournalUnusable(
                f"{self._db.name}: is the journal of {found_role} {found_address}, not of {role} {address};"
                " name another file, or delete this one if nothing was played in it"
            )

    @contextmanager
    def together(self) -> Iterator[None]:
        steps = self._steps
        try:
            with self._db.transaction():
                yield
        except BaseException:
            self._steps = steps
            self._queued.clear()
            raise

    def load_parts(self) -> dict[str, str]:
        return dict(_PARTS.read(self._db))

    def commit(self, step: StepCommit) -> bool:
        # Encode everything before the transaction begins, to keep the file locked as briefly as possible.
        at = _text(step.at)
        parts = [(name, None if part is None else self._dump(name, part)) for name, part in step.parts.items()]
        sends = [self._outgoing(item) for item in step.sends]
        calls = [
            (c.call_id, c.callback, _json(c.context), c.timeout.total_seconds(), c.game_id, at) for c in step.calls
        ]
        notes = [_noted(note) for note in step.notes]
        db = self._db
        with db.transaction():
            if not self._consume_cause(step, at):
                return False
            if db.run(_ADVANCE, (self._steps + 1, self._steps)).rowcount != 1:
                raise JournalError(f"{db.name}: another process is working on this journal; stop one of the two")
            for name, value in parts:
                if value is None:
                    db.run("DELETE FROM parts WHERE {mine}name = ?", (name,))
                else:
                    db.run(_SET_PART, (name, value))
            is_new = [db.run(_INSERT_OUTBOX, row).rowcount == 1 for row in sends]
            for call in calls:
                db.run(_INSERT_CALL, call)
            for name in step.cleared:
                db.run("DELETE FROM deadlines WHERE {mine}name = ?", (name,))
            for deadline in step.deadlines:
                db.run(_SET_DEADLINE, (deadline.name, _text(deadline.at)))
            for note in notes:
                db.run(_INSERT_NOTE, note)
        self._steps += 1
        if len(self._queued) < _MOST_QUEUED:
            self._queued.update(
                (item.transaction_id, item) for item, new in zip(step.sends, is_new, strict=True) if new
            )
        return True

    @staticmethod
    def _outgoing(item: OutboxItem) -> tuple[object, ...]:
        return (
            item.transaction_id,
            item.message_type,
            _json(item.to),
            item.subject,
            _json(item.document),
            item.file_name,
            item.game_id,
            _text(item.created_at),
            None if item.not_before is None else _text(item.not_before),
        )

    def _consume_cause(self, step: StepCommit, at: str) -> bool:
        """Record that the cause is used up. Return whether it was new and still wanted."""
        db = self._db
        match step.cause:
            case StepCause.MAIL:
                assert step.inbox is not None, "a step for a mail carries its inbox row"
                done = db.run(_INSERT_INBOX, _incoming(step.inbox))
            case StepCause.CALL:
                done = db.run(
                    "UPDATE calls SET finished_at = ? WHERE {mine}call_id = ? AND finished_at IS NULL", (at, step.key)
                )
            case StepCause.DEADLINE:
                done = db.run("DELETE FROM deadlines WHERE {mine}name = ?", (step.key,))
            case StepCause.COMMAND:
                done = db.run(
                    "INSERT INTO commands ({key}nonce, at) VALUES ({id}?, ?) ON CONFLICT DO NOTHING", (step.key, at)
                )
            case StepCause.START | StepCause.SENT:
                return True
        return done.rowcount == 1

    @_reads
    def has_mail(self, mail_id: str) -> bool:
        return self._db.run("SELECT 1 FROM inbox WHERE {mine}mail_id = ?", (mail_id,)).fetchone() is not None

    def latest_mail_ids(self, limit: int) -> list[str]:
        latest = _MAIL_IDS.read(self._db, "verdict != ?", (InboxVerdict.IGNORED, limit), order="seq DESC LIMIT ?")
        return list(latest)

    @_reads
    def due_sends(self, now: datetime, limit: int) -> list[OutboxItem]:
        due = self._db.run(_DUE, (_text(now), limit)).fetchall()
        return [self._due(transaction_id, attempts) for transaction_id, attempts in due]

    def _due(self, transaction_id: str, attempts: int) -> OutboxItem:
        # A message does not change before its first attempt begins.
        item = self._queued.get(transaction_id) if attempts == 0 else None
        return item or _OUTBOX.read_one(self._db, "transaction_id = ?", (transaction_id,))

    def sends_in_doubt(self) -> list[OutboxItem]:
        return list(_OUTBOX.read(self._db, f"{_WAITING} AND state != 'queued'", order="seq"))

    def begin_send(self, item: OutboxItem, *, at: datetime, monotonic_s: float) -> OutboxItem | None:
        begun = self._db.write(_BEGIN_SEND, (_text(at), monotonic_s, item.transaction_id, item.attempts))
        if begun != 1:
            return None
        return evolve(item, state=OutboxState.SENDING, attempts=item.attempts + 1, began_at=at, began_s=monotonic_s)

    def finish_sends(self, transaction_ids: Sequence[str], now: datetime) -> None:
        with self._db.transaction():
            self._db.run_many(
                "UPDATE outbox SET state = 'sent', finished_at = ? WHERE {mine}transaction_id = ?",
                [(_text(now), transaction_id) for transaction_id in transaction_ids],
            )
        for transaction_id in transaction_ids:
            self._queued.pop(transaction_id, None)

    def postpone_send(self, transaction_id: str, *, not_before: datetime, error: str) -> None:
        self._db.write(
            "UPDATE outbox SET state = 'queued', not_before = ?, error = ? WHERE {mine}transaction_id = ?",
            (_text(not_before), _utf8(error), transaction_id),
        )

    def doubt_send(self, transaction_id: str, *, error: str) -> None:
        self._db.write(
            "UPDATE outbox SET state = 'ambiguous', error = ? WHERE {mine}transaction_id = ?",
            (_utf8(error), transaction_id),
        )

    def fail_send(self, transaction_id: str, now: datetime, error: str) -> None:
        self._db.write(
            "UPDATE outbox SET state = 'failed', finished_at = ?, error = ? WHERE {mine}transaction_id = ?",
            (_text(now), _utf8(error), transaction_id),
        )
        self._queued.pop(transaction_id, None)

    def outbox(self, *, types: Collection[str] = (), game: str = "") -> Iterator[OutboxItem]:
        return _OUTBOX.read(self._db, *_narrowed("message_type", types, "game_id", game), order="seq")

    def pending_calls(self) -> list[PendingCall]:
        return list(_CALLS.read(self._db, "finished_at IS NULL", order="seq"))

    def due_deadlines(self, now: datetime) -> list[Deadline]:
        return list(_DEADLINES.read(self._db, "at <= ?", (_text(now),), order="at, name"))

    @_reads
    def next_wake(self) -> datetime | None:
        (wake,) = self._db.run(_NEXT_WAKE).fetchone()
        return None if wake is None else instant(wake)

    def notes(self, *, kinds: Collection[str] = (), about: str = "") -> Iterator[Note]:
        return _NOTES.read(self._db, *_narrowed("kind", kinds, "key", about), order="seq")

    def inbox(self, *, types: Collection[str] = (), game: str = "") -> Iterator[InboxRow]:
        return _INBOX.read(self._db, *_narrowed("message_type", types, "game_id", game), order="seq")

    def keep(self, name: str, value: object) -> None:
        self._db.write(_KEEP, (name, _json(value)))

    def kept(self, name: str) -> object:
        return next(_KEPT.read(self._db, "name = ?", (name,)), None)

    def order(self, order: Order) -> None:
        self._db.write(_INSERT_ORDER, (order.nonce, order.command, _utf8(order.text), _text(order.at)))

    def open_orders(self) -> list[Order]:
        is_open = "NOT EXISTS (SELECT 1 FROM commands WHERE {mine}commands.nonce = orders.nonce)"
        return list(_ORDERS.read(self._db, is_open, order="seq"))

    def orders(self) -> Iterator[Order]:
        return _ORDERS.read(self._db, order="seq")

    def take_over(self, ended: Journal) -> None:
        """Copy state, mails, messages and notes from a journal whose work is over. Only for a new journal."""
        db = self._db
        with db.transaction():
            db.run_many(_SET_PART, ended.load_parts().items())
            db.run_many(_INSERT_INBOX, map(_incoming, ended.inbox()))
            db.run_many(
                _INSERT_TRIED,
                (
                    (
                        *self._outgoing(item),
                        item.state,
                        item.attempts,
                        None if item.began_at is None else _text(item.began_at),
                        item.began_s,
                    )
                    for item in ended.outbox()
                ),
            )
            db.run_many(_INSERT_NOTE, map(_noted, ended.notes()))
            db.run(_ADVANCE, (self._steps + 1, self._steps))
        self._steps += 1

    def close(self) -> None:
        self._db.close()
