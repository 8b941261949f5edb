"""A journal in one SQLite file.

Write-ahead logging: a reader never waits and a killed process loses nothing that was committed. ``synchronous=FULL``
is for real mail, where a commit must survive a power cut; ``NORMAL`` survives a killed process and is ten times faster.

Instants are stored as text of one width in UTC, so that comparing texts compares instants.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from league_agents.journal.file import (
    NONSENSE,
    OpenedFile,
    Savepoint,
    Transaction,
    check_pages,
    journal_error,
    reads,
)
from league_agents.journal.migrations import is_in_newest_shape, migrate
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
    real,
    text,
    texts,
    whole,
)
from league_agents.kit.errors import JournalError, JournalUnusable
from league_agents.kit.private_file import make_private_database, tighten_database
from league_agents.kit.values import evolve
from league_agents.kit.write_ahead import use_write_ahead_log

Synchronous = Literal["FULL", "NORMAL"]

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
    """Return the end of a query for rows of some kinds, in order, and its values. No kinds and no prefix mean all."""
    conditions: list[str] = []
    if kinds:
        conditions.append(f"{kind} IN ({', '.join('?' * len(kinds))})")
    if beginning:
        conditions.append(f"substr({key}, 1, ?) = ?")
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    return f"{where}ORDER BY seq", (*kinds, *((len(beginning), beginning) if beginning else ()))


_INSERT_NOTE = "INSERT INTO notes (at, kind, key, facts) VALUES (?, ?, ?, ?)"
_INSERT_INBOX = (
    "INSERT OR IGNORE INTO inbox (mail_id, arrived_at, sender, subject, message_type, message_id, game_id, verdict,"
    " reason, document) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
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


class SqliteJournal:
    """``Journal`` on a file. ``dump`` turns a part of the machine's state into JSON text."""

    def __init__(
        self, path: Path | str, *, role: str, address: str, dump: Dump, synchronous: Synchronous = "FULL"
    ) -> None:
        """Open or create the file. Raises ``JournalError`` if it cannot be used for this role and address."""
        self.path = str(path)
        self._dump = dump
        self._queued: dict[str, OutboxItem] = {}
        """Cache of messages queued by this process and not sent yet. Their state is in the file."""
        try:
            make_private_database(Path(path))
            self._db = sqlite3.connect(self.path, isolation_level=None, timeout=10, check_same_thread=False)
            use_write_ahead_log(self._db)
            self._db.execute(f"PRAGMA synchronous = {synchronous}")
            migrate(self._db, self.path)
            self._db.execute("INSERT OR IGNORE INTO owner VALUES (1, ?, ?)", (role, address.lower()))
            self.check_owner(role, address)
            tighten_database(Path(path))
            self._steps = _STEPS.read_one(self._db, self.path)
            self._file = OpenedFile(self.path)
        except (OSError, sqlite3.Error, *NONSENSE) as error:
            raise journal_error(self.path, error) from error

    @classmethod
    def to_look_at(cls, path: Path | str) -> SqliteJournal:
        """Open a journal read-only, even while its role is running.

        A journal of an older version is read from a copy in memory. Raises ``JournalError`` if the file is no journal
        or comes from a newer version.
        """
        journal = cls.__new__(cls)
        journal.path = str(path)
        journal._dump = lambda _name, _part: ""
        journal._queued = {}
        try:
            journal._db = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True, isolation_level=None)
            if not is_in_newest_shape(journal._db, journal.path):
                file, journal._db = journal._db, sqlite3.connect(":memory:", isolation_level=None)
                file.backup(journal._db)
                file.close()
                migrate(journal._db, journal.path)
            journal._db.execute("PRAGMA query_only = ON")
            journal._steps = _STEPS.read_one(journal._db, journal.path)
        except (sqlite3.Error, *NONSENSE) as error:
            raise journal_error(journal.path, error) from error
        return journal

    def check_content(self) -> None:
        """Read every page and every row. Raises ``JournalUnusable`` if one of them is damaged."""
        check_pages(self._db, self.path)
        for table in _TABLES:
            for _ in table.read(self._db, self.path):
                pass

    @property
    def owner(self) -> tuple[str, str]:
        """The role and the address that the journal belongs to."""
        return _OWNER.read_one(self._db, self.path)

    def check_owner(self, role: str, address: str) -> None:
        """Raises ``JournalUnusable`` if the journal belongs to another role or address."""
        found_role, found_address = self.owner
        if (found_role, found_address) != (role, address.lower()):
            raise JournalUnusable(
                f"{self.path}: is the journal of {found_role} {found_address}, not of {role} {address};"
                " name another file, or delete this one if nothing was played in it"
            )

    def _transaction(self) -> Transaction | Savepoint:
        return Savepoint(self._db, self._file) if self._db.in_transaction else Transaction(self._db, self._file)

    @contextmanager
    def together(self) -> Iterator[None]:
        steps = self._steps
        try:
            with Transaction(self._db, self._file):
                yield
        except BaseException:
            self._steps = steps
            self._queued.clear()
            raise

    def load_parts(self) -> dict[str, str]:
        return dict(_PARTS.read(self._db, self.path))

    def commit(self, step: StepCommit) -> bool:
        # Encode everything before the transaction begins, to keep the file locked as briefly as possible.
        at = _text(step.at)
        parts = [(name, None if part is None else self._dump(name, part)) for name, part in step.parts.items()]
        sends = [self._outgoing(item) for item in step.sends]
        calls = [
            (c.call_id, c.callback, _json(c.context), c.timeout.total_seconds(), c.game_id, at) for c in step.calls
        ]
        notes = [_noted(note) for note in step.notes]
        with self._transaction() as db:
            if not self._consume_cause(db, step, at):
                return False
            moved = db.execute("UPDATE version SET steps = ? WHERE steps = ?", (self._steps + 1, self._steps))
            if moved.rowcount != 1:
                raise JournalError(f"{self.path}: another process is working on this journal; stop one of the two")
            for name, value in parts:
                if value is None:
                    db.execute("DELETE FROM parts WHERE name = ?", (name,))
                else:
                    db.execute("INSERT OR REPLACE INTO parts VALUES (?, ?)", (name, value))
            is_new = [
                db.execute(
                    f"INSERT OR IGNORE INTO outbox ({_NEW}, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued')",  # noqa: S608
                    row,
                ).rowcount
                == 1
                for row in sends
            ]
            for call in calls:
                db.execute(
                    "INSERT OR IGNORE INTO calls (call_id, callback, context, timeout_s, game_id, created_at)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    call,
                )
            for name in step.cleared:
                db.execute("DELETE FROM deadlines WHERE name = ?", (name,))
            for deadline in step.deadlines:
                db.execute("INSERT OR REPLACE INTO deadlines VALUES (?, ?)", (deadline.name, _text(deadline.at)))
            for note in notes:
                db.execute(_INSERT_NOTE, note)
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

    @staticmethod
    def _consume_cause(db: sqlite3.Cursor, step: StepCommit, at: str) -> bool:
        """Record that the cause is used up. Return whether it was new and still wanted."""
        match step.cause:
            case StepCause.MAIL:
                assert step.inbox is not None, "a step for a mail carries its inbox row"
                done = db.execute(_INSERT_INBOX, _incoming(step.inbox))
            case StepCause.CALL:
                done = db.execute(
                    "UPDATE calls SET finished_at = ? WHERE call_id = ? AND finished_at IS NULL", (at, step.key)
                )
            case StepCause.DEADLINE:
                done = db.execute("DELETE FROM deadlines WHERE name = ?", (step.key,))
            case StepCause.COMMAND:
                done = db.execute("INSERT OR IGNORE INTO commands VALUES (?, ?)", (step.key, at))
            case StepCause.START | StepCause.SENT:
                return True
        return done.rowcount == 1

    @reads
    def has_mail(self, mail_id: str) -> bool:
        return self._db.execute("SELECT 1 FROM inbox WHERE mail_id = ?", (mail_id,)).fetchone() is not None

    def latest_mail_ids(self, limit: int) -> list[str]:
        latest = "WHERE verdict != ? ORDER BY seq DESC LIMIT ?"
        return list(_MAIL_IDS.read(self._db, self.path, latest, (InboxVerdict.IGNORED, limit)))

    @reads
    def due_sends(self, now: datetime, limit: int) -> list[OutboxItem]:
        due = self._db.execute(
            f"SELECT transaction_id, attempts FROM outbox WHERE {_WAITING} AND state = 'queued'"  # noqa: S608
            " AND (not_before IS NULL OR not_before <= ?) ORDER BY game_id IS NULL, seq LIMIT ?",
            (_text(now), limit),
        ).fetchall()
        return [self._due(transaction_id, attempts) for transaction_id, attempts in due]

    def _due(self, transaction_id: str, attempts: int) -> OutboxItem:
        # A message does not change before its first attempt begins.
        item = self._queued.get(transaction_id) if attempts == 0 else None
        return item or _OUTBOX.read_one(self._db, self.path, "WHERE transaction_id = ?", (transaction_id,))

    def sends_in_doubt(self) -> list[OutboxItem]:
        in_doubt = f"WHERE {_WAITING} AND state != 'queued' ORDER BY seq"
        return list(_OUTBOX.read(self._db, self.path, in_doubt))

    def begin_send(self, item: OutboxItem, *, at: datetime, monotonic_s: float) -> OutboxItem | None:
        with self._transaction() as db:
            begun = db.execute(
                "UPDATE outbox SET state = 'sending', attempts = attempts + 1, began_at = ?, began_s = ?"  # noqa: S608
                f" WHERE transaction_id = ? AND attempts = ? AND {_WAITING}",
                (_text(at), monotonic_s, item.transaction_id, item.attempts),
            )
            is_begun = begun.rowcount == 1
        if not is_begun:
            return None
        return evolve(item, state=OutboxState.SENDING, attempts=item.attempts + 1, began_at=at, began_s=monotonic_s)

    def finish_sends(self, transaction_ids: Sequence[str], now: datetime) -> None:
        with self._transaction() as db:
            db.executemany(
                "UPDATE outbox SET state = 'sent', finished_at = ? WHERE transaction_id = ?",
                [(_text(now), transaction_id) for transaction_id in transaction_ids],
            )
        for transaction_id in transaction_ids:
            self._queued.pop(transaction_id, None)

    def postpone_send(self, transaction_id: str, *, not_before: datetime, error: str) -> None:
        with self._transaction() as db:
            db.execute(
                "UPDATE outbox SET state = 'queued', not_before = ?, error = ? WHERE transaction_id = ?",
                (_text(not_before), _utf8(error), transaction_id),
            )

    def doubt_send(self, transaction_id: str, *, error: str) -> None:
        with self._transaction() as db:
            db.execute(
                "UPDATE outbox SET state = 'ambiguous', error = ? WHERE transaction_id = ?",
                (_utf8(error), transaction_id),
            )

    def fail_send(self, transaction_id: str, now: datetime, error: str) -> None:
        with self._transaction() as db:
            db.execute(
                "UPDATE outbox SET state = 'failed', finished_at = ?, error = ? WHERE transaction_id = ?",
                (_text(now), _utf8(error), transaction_id),
            )
        self._queued.pop(transaction_id, None)

    def outbox(self, *, types: Collection[str] = (), game: str = "") -> Iterator[OutboxItem]:
        return _OUTBOX.read(self._db, self.path, *_narrowed("message_type", types, "game_id", game))

    def pending_calls(self) -> list[PendingCall]:
        return list(_CALLS.read(self._db, self.path, "WHERE finished_at IS NULL ORDER BY seq"))

    def due_deadlines(self, now: datetime) -> list[Deadline]:
        return list(_DEADLINES.read(self._db, self.path, "WHERE at <= ? ORDER BY at, name", (_text(now),)))

    @reads
    def next_wake(self) -> datetime | None:
        (wake,) = self._db.execute(
            "SELECT min(at) FROM (SELECT min(at) AS at FROM deadlines UNION ALL"  # noqa: S608
            f" SELECT min(not_before) FROM outbox WHERE {_WAITING} AND state = 'queued')"
        ).fetchone()
        return None if wake is None else instant(wake)

    def notes(self, *, kinds: Collection[str] = (), about: str = "") -> Iterator[Note]:
        return _NOTES.read(self._db, self.path, *_narrowed("kind", kinds, "key", about))

    def inbox(self, *, types: Collection[str] = (), game: str = "") -> Iterator[InboxRow]:
        return _INBOX.read(self._db, self.path, *_narrowed("message_type", types, "game_id", game))

    def keep(self, name: str, value: object) -> None:
        with self._transaction() as db:
            db.execute("INSERT OR REPLACE INTO kept VALUES (?, ?)", (name, _json(value)))

    def kept(self, name: str) -> object:
        return next(_KEPT.read(self._db, self.path, "WHERE name = ?", (name,)), None)

    def order(self, order: Order) -> None:
        with self._transaction() as db:
            db.execute(
                "INSERT OR IGNORE INTO orders (nonce, command, text, at) VALUES (?, ?, ?, ?)",
                (order.nonce, order.command, _utf8(order.text), _text(order.at)),
            )

    def open_orders(self) -> list[Order]:
        is_open = "WHERE nonce NOT IN (SELECT nonce FROM commands) ORDER BY seq"
        return list(_ORDERS.read(self._db, self.path, is_open))

    def orders(self) -> Iterator[Order]:
        return _ORDERS.read(self._db, self.path, "ORDER BY seq")

    def take_over(self, ended: Journal) -> None:
        """Copy state, mails, messages and notes from a journal whose work is over. Only for a new file."""
        # Durability is not needed: after a power cut the caller can write the copy again.
        self._db.execute("PRAGMA synchronous = OFF")
        with self._transaction() as db:
            db.executemany("INSERT INTO parts VALUES (?, ?)", ended.load_parts().items())
            db.executemany(_INSERT_INBOX, map(_incoming, ended.inbox()))
            db.executemany(
                f"INSERT INTO outbox ({_NEW}, state, attempts, began_at, began_s) VALUES"  # noqa: S608
                " (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
            db.executemany(_INSERT_NOTE, map(_noted, ended.notes()))
            db.execute("UPDATE version SET steps = steps + 1")
        self._steps += 1
        # Nothing writes to it any more, so readers need no WAL files beside it.
        self._db.execute("PRAGMA journal_mode = DELETE")

    def close(self) -> None:
        self._db.close()
