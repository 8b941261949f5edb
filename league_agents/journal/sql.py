"""A journal in the tables of an SQL database."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from league_agents.journal.archive import (
    NOTE_KINDS,
    archive_counts,
    archive_matches,
    archived_rows,
    has_archive,
    is_archived_mail,
    is_archived_send,
    prune_seasons,
)
from league_agents.journal.copying import copy_rows, is_empty, row_counts
from league_agents.journal.database import Database
from league_agents.journal.port import (
    ArchiveCounts,
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
    StoredJournal,
)
from league_agents.journal.rows import (
    instant,
    reading_failures,
)
from league_agents.journal.tables import (
    ADVANCE,
    BEGIN_SEND,
    CALLS,
    DEADLINES,
    DOUBT_SEND,
    DUE,
    FAIL_SEND,
    INBOX,
    INSERT_CALL,
    INSERT_INBOX,
    INSERT_NOTE,
    INSERT_ORDER,
    INSERT_OUTBOX,
    INSERT_TRIED,
    KEEP,
    KEPT,
    MAIL_IDS,
    NEXT_WAKE,
    NOTES,
    ORDERS,
    OUTBOX,
    OWNER,
    PARTS,
    POSTPONE_SEND,
    SET_DEADLINE,
    SET_PART,
    STEPS,
    TABLES,
    WAITING,
    inbox_row,
    instant_text,
    json_text,
    narrowed,
    note_row,
    outbox_row,
    storable,
)
from league_agents.kit.errors import JournalError, JournalUnusable
from league_agents.kit.values import evolve

P = ParamSpec("P")
T = TypeVar("T")

_MOST_QUEUED = 500


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
        self._steps = STEPS.read_one(db)
        try:
            self._has_archive = has_archive(db)
        except reading_failures(db) as error:
            raise db.fault(error) from error

    def check_content(self) -> None:
        """Read every row. Raises ``JournalUnusable`` if one of them is damaged."""
        for table in TABLES:
            for _ in table.read(self._db):
                pass

    @property
    def owner(self) -> tuple[str, str]:
        """The role and the address that the journal belongs to."""
        return OWNER.read_one(self._db)

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
        return dict(PARTS.read(self._db))

    def commit(self, step: StepCommit) -> bool:
        # Encode everything before the transaction begins, to keep the file locked as briefly as possible.
        at = instant_text(step.at)
        parts = [(name, None if part is None else self._dump(name, part)) for name, part in step.parts.items()]
        sends = [outbox_row(item) for item in step.sends]
        calls = [
            (c.call_id, c.callback, json_text(c.context), c.timeout.total_seconds(), c.game_id, at) for c in step.calls
        ]
        notes = [note_row(note) for note in step.notes]
        db = self._db
        with db.transaction():
            if not self._consume_cause(step, at):
                return False
            self._claim(self._steps + 1)
            for name, value in parts:
                if value is None:
                    db.run("DELETE FROM parts WHERE {mine}name = ?", (name,))
                else:
                    db.run(SET_PART, (name, value))
            is_new = [self._queue(row) for row in sends]
            for call in calls:
                db.run(INSERT_CALL, call)
            for name in step.cleared:
                db.run("DELETE FROM deadlines WHERE {mine}name = ?", (name,))
            for deadline in step.deadlines:
                db.run(SET_DEADLINE, (deadline.name, instant_text(deadline.at)))
            for note in notes:
                db.run(INSERT_NOTE, note)
        self._steps += 1
        if len(self._queued) < _MOST_QUEUED:
            self._queued.update(
                (item.transaction_id, item) for item, new in zip(step.sends, is_new, strict=True) if new
            )
        return True

    def _claim(self, steps: int) -> None:
        """Write the number of steps, within a transaction. Raises ``JournalError`` if another process has done so."""
        if self._db.run(ADVANCE, (steps, self._steps)).rowcount != 1:
            raise JournalError(f"{self._db.name}: another process is working on this journal; stop one of the two")

    def _consume_cause(self, step: StepCommit, at: str) -> bool:
        """Record that the cause is used up. Return whether it was new and still wanted."""
        db = self._db
        match step.cause:
            case StepCause.MAIL:
                assert step.inbox is not None, "a step for a mail carries its inbox row"
                if self._has_archive and is_archived_mail(db, step.key):
                    return False
                done = db.run(INSERT_INBOX, inbox_row(step.inbox))
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

    def _queue(self, row: tuple[object, ...]) -> bool:
        """Return whether the message is new."""
        if self._has_archive and is_archived_send(self._db, str(row[0])):
            return False
        return self._db.run(INSERT_OUTBOX, row).rowcount == 1

    @_reads
    def has_mail(self, mail_id: str) -> bool:
        found = self._db.run("SELECT 1 FROM inbox WHERE {mine}mail_id = ?", (mail_id,)).fetchone()
        return found is not None or (self._has_archive and is_archived_mail(self._db, mail_id))

    def latest_mail_ids(self, limit: int) -> list[str]:
        latest = MAIL_IDS.read(self._db, "verdict != ?", (InboxVerdict.IGNORED, limit), order="seq DESC LIMIT ?")
        return list(latest)

    @_reads
    def due_sends(self, now: datetime, limit: int) -> list[OutboxItem]:
        due = self._db.run(DUE, (instant_text(now), limit)).fetchall()
        return [self._due(transaction_id, attempts) for transaction_id, attempts in due]

    def _due(self, transaction_id: str, attempts: int) -> OutboxItem:
        # A message does not change before its first attempt begins.
        item = self._queued.get(transaction_id) if attempts == 0 else None
        return item or OUTBOX.read_one(self._db, "transaction_id = ?", (transaction_id,))

    def sends_in_doubt(self) -> list[OutboxItem]:
        return list(OUTBOX.read(self._db, f"{WAITING} AND state != 'queued'", order="seq"))

    def begin_send(self, item: OutboxItem, *, at: datetime, monotonic_s: float) -> OutboxItem | None:
        begun = self._db.write(
            BEGIN_SEND, (instant_text(at), monotonic_s, item.transaction_id, item.attempts, self._steps)
        )
        if begun != 1:
            return None
        return evolve(item, state=OutboxState.SENDING, attempts=item.attempts + 1, began_at=at, began_s=monotonic_s)

    def finish_sends(self, transaction_ids: Sequence[str], now: datetime) -> None:
        with self._db.transaction():
            self._db.run_many(
                "UPDATE outbox SET state = 'sent', finished_at = ? WHERE {mine}transaction_id = ?",
                [(instant_text(now), transaction_id) for transaction_id in transaction_ids],
            )
        for transaction_id in transaction_ids:
            self._queued.pop(transaction_id, None)

    def postpone_send(self, transaction_id: str, *, not_before: datetime, error: str) -> None:
        values = (instant_text(not_before), storable(error), transaction_id, self._steps)
        self._db.write(POSTPONE_SEND, values)

    def doubt_send(self, transaction_id: str, *, error: str) -> None:
        self._db.write(DOUBT_SEND, (storable(error), transaction_id, self._steps))

    def fail_send(self, transaction_id: str, now: datetime, error: str) -> None:
        self._db.write(FAIL_SEND, (instant_text(now), storable(error), transaction_id, self._steps))
        self._queued.pop(transaction_id, None)

    def outbox(self, *, types: Collection[str] = (), game: str = "", is_recent: bool = False) -> Iterator[OutboxItem]:
        if not is_recent:
            items = archived_rows(self._db, OUTBOX, types=types, game=game)
            yield from (item for item in items if not types or item.message_type in types)
        yield from OUTBOX.read(self._db, *narrowed("message_type", types, "game_id", game), order="seq")

    def pending_calls(self) -> list[PendingCall]:
        return list(CALLS.read(self._db, "finished_at IS NULL", order="seq"))

    def due_deadlines(self, now: datetime) -> list[Deadline]:
        return list(DEADLINES.read(self._db, "at <= ?", (instant_text(now),), order="at, name"))

    @_reads
    def next_wake(self) -> datetime | None:
        (wake,) = self._db.run(NEXT_WAKE).fetchone()
        return None if wake is None else instant(wake)

    def notes(self, *, kinds: Collection[str] = (), about: str = "", is_recent: bool = False) -> Iterator[Note]:
        if not is_recent and (not kinds or not NOTE_KINDS.isdisjoint(kinds)):
            notes = archived_rows(self._db, NOTES, game=about)
            yield from (note for note in notes if not kinds or note.kind in kinds)
        yield from NOTES.read(self._db, *narrowed("kind", kinds, "key", about), order="seq")

    def inbox(self, *, types: Collection[str] = (), game: str = "", is_recent: bool = False) -> Iterator[InboxRow]:
        if not is_recent:
            rows = archived_rows(self._db, INBOX, types=types, game=game)
            yield from (row for row in rows if not types or row.message_type in types)
        yield from INBOX.read(self._db, *narrowed("message_type", types, "game_id", game), order="seq")

    def keep(self, name: str, value: object) -> None:
        self._db.write(KEEP, (name, json_text(value), self._steps))

    def kept(self, name: str) -> object:
        return next(KEPT.read(self._db, "name = ?", (name,)), None)

    def order(self, order: Order) -> None:
        self._db.write(INSERT_ORDER, (order.nonce, order.command, storable(order.text), instant_text(order.at)))

    def open_orders(self) -> list[Order]:
        is_open = "NOT EXISTS (SELECT 1 FROM commands WHERE {mine}commands.nonce = orders.nonce)"
        return list(ORDERS.read(self._db, is_open, order="seq"))

    def orders(self) -> Iterator[Order]:
        return ORDERS.read(self._db, order="seq")

    @_reads
    def archive(self, before: datetime, *, limit: int = 100) -> int:
        with self._db.transaction():
            self._claim(self._steps)
            done = archive_matches(self._db, before, limit)
        self._has_archive = self._has_archive or done > 0
        return done

    @_reads
    def prune(self, keep: int) -> tuple[str, ...]:
        with self._db.transaction():
            self._claim(self._steps)
            pruned = prune_seasons(self._db, keep)
        self._has_archive = has_archive(self._db)
        return pruned

    @_reads
    def archived(self) -> ArchiveCounts:
        return archive_counts(self._db)

    def check_archive(self) -> None:
        for rows in (self.inbox(), self.outbox(), self.notes()):
            for _ in rows:
                pass

    def forget(self, name: str) -> None:
        self._db.write("DELETE FROM kept WHERE {mine}name = ?", (name,))

    @_reads
    def row_counts(self) -> Mapping[str, int]:
        return row_counts(self._db)

    @_reads
    def is_empty(self) -> bool:
        return is_empty(self._db)

    def replace_by(self, source: StoredJournal, told: Callable[[int], None]) -> int:
        assert isinstance(source, SqlJournal), "every stored journal is"
        try:
            with self._db.transaction():
                rows = copy_rows(source._db, self._db, told)
        except reading_failures(source._db) as error:
            raise source._db.fault(error) from error
        self._steps = STEPS.read_one(self._db)
        self._queued.clear()
        return rows

    def take_over(self, ended: Journal) -> None:
        """Copy state, mails, messages and notes from a journal whose work is over. Only for a new journal."""
        db = self._db
        with db.transaction():
            db.run_many(SET_PART, ended.load_parts().items())
            db.run_many(INSERT_INBOX, map(inbox_row, ended.inbox()))
            db.run_many(
                INSERT_TRIED,
                (
                    (
                        *outbox_row(item),
                        item.state,
                        item.attempts,
                        None if item.began_at is None else instant_text(item.began_at),
                        item.began_s,
                    )
                    for item in ended.outbox()
                ),
            )
            db.run_many(INSERT_NOTE, map(note_row, ended.notes()))
            db.run(ADVANCE, (self._steps + 1, self._steps))
        self._steps += 1

    def close(self) -> None:
        self._db.close()
