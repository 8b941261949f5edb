"""The journal as the runner uses it.

Rule 1: a step is written in one transaction: the mail or the result that caused it, the new state, and all its effects.
Steps of one batch may be made durable together.
Rule 2: no effect is performed before it is committed, and every committed effect is performed at least once.
Rule 3: the same cause commits once. A second commit of it changes nothing and returns ``False``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

import msgspec
from msgspec import Struct


class StepCause(StrEnum):
    """The kind of event that caused a step."""

    MAIL = "mail"
    CALL = "call"
    DEADLINE = "deadline"
    COMMAND = "command"
    START = "start"
    SENT = "sent"
    """A message was sent late. Like a start, this cause may be committed again."""


class InboxVerdict(StrEnum):
    """The result of taking in a mail."""

    PROCESSED = "processed"
    IGNORED = "ignored"
    """Not protocol mail, or not for this machine to act on."""
    REJECTED = "rejected"
    """Forged, or from a sender who is not allowed to send it."""
    PARKED = "parked"
    """Could not be processed; kept for a person to look at."""


class InboxRow(Struct, frozen=True, kw_only=True):
    """One received mail."""

    mail_id: str
    arrived_at: datetime
    sender: str
    subject: str
    message_type: str
    message_id: str
    game_id: str | None
    verdict: InboxVerdict
    reason: str
    """The reason for a verdict other than ``processed``; for a processed mail, the parts that could not be read."""

    document: Mapping[str, object] | None
    """The JSON document of a protocol message; ``None`` for other mail, whose content is not kept."""


class OutboxState(StrEnum):
    """The state of an outgoing message."""

    QUEUED = "queued"
    SENDING = "sending"
    """An attempt began. After a crash, a message in this state may have been sent."""
    AMBIGUOUS = "ambiguous"
    """An attempt failed after the mail was handed over: it may have been sent."""
    SENT = "sent"
    FAILED = "failed"
    """It can never be sent; kept for a person to look at."""


class OutboxItem(Struct, frozen=True, kw_only=True):
    """One message to be sent."""

    transaction_id: str
    """Identifies this mail, in the outbox and in its subject. Each id is queued only once."""

    message_type: str
    to: tuple[str, ...]
    subject: str
    document: Mapping[str, object]
    file_name: str
    game_id: str | None
    created_at: datetime
    state: OutboxState = OutboxState.QUEUED
    attempts: int = 0
    not_before: datetime | None = None
    """The earliest instant of the next attempt at a queued message; ``None`` for at once."""

    began_at: datetime | None = None
    """When the latest attempt began; ``None`` before the first, and in journals of versions without this field."""

    began_s: float | None = None
    """The same instant in seconds of the machine's monotonic clock (``Clock.monotonic_s``)."""

    @property
    def is_in_doubt(self) -> bool:
        """Whether the message may have been sent."""
        return self.state in (OutboxState.SENDING, OutboxState.AMBIGUOUS)

    @property
    def is_waiting(self) -> bool:
        """Whether the message is not known to be sent and has not failed permanently."""
        return self.state is OutboxState.QUEUED or self.is_in_doubt


class PendingCall(Struct, frozen=True, kw_only=True):
    """One callback to be run."""

    call_id: str
    callback: str
    context: Mapping[str, object]
    timeout: timedelta
    game_id: str


class Deadline(Struct, frozen=True, kw_only=True):
    """An instant at which a machine wants to be woken."""

    name: str
    at: datetime


MOVED = "moved_to"
"""The name under which a journal keeps where it was moved to: ``{"to": place, "at": instant}``."""

WARNING, NOTICE, MODEL_WORK, BELIEF = "warning", "notice", "model_work", "belief"
"""Kinds of notes: something odd, something usual that people want to know, how a language model's replies were used
in a callback, and the candidates that a player's agent had after each answer."""

REFUSALS = frozenset({"command_refused", "order_refused", "step_failed"})
"""Codes of warnings that an order was not carried out."""


class Note(Struct, frozen=True, kw_only=True):
    """A record, a warning or a notice for people."""

    at: datetime
    kind: str
    """One of those above, or the kind of a record: ``match``, ``game``, ``round``, ``season``."""

    key: str
    """The subject of the note: a warning's code, a game id, a round number, a season id."""

    facts: Mapping[str, object]
    """JSON values: ``{"text": …}`` for a warning and a notice, with ``nonce`` for the refusal of an order;
    ``{"callback": …, "player": …, "steps": […]}`` for a model's work."""


class Order(Struct, frozen=True, kw_only=True):
    """A person's order to a role, passed through its journal because the role may run in another process."""

    nonce: str
    """Identifies the order, which is carried out only once."""

    command: str
    text: str
    at: datetime


class ArchiveCounts(Struct, frozen=True, kw_only=True):
    """What was archived."""

    matches: int
    mails: int
    messages: int


class StepCommit(Struct, frozen=True, kw_only=True):
    """All changes of one step."""

    cause: StepCause
    key: str
    """The mail id, call id, deadline name or command nonce."""

    at: datetime
    inbox: InboxRow | None = None
    parts: Mapping[str, object | None] = msgspec.field(default_factory=dict)
    """Changed parts of the state, as the machine's own values; ``None`` removes a part."""

    sends: Sequence[OutboxItem] = ()
    calls: Sequence[PendingCall] = ()
    deadlines: Sequence[Deadline] = ()
    cleared: Sequence[str] = ()
    notes: Sequence[Note] = ()


class Journal(Protocol):
    """The journal of one role on one mailbox. Used by one thread at a time."""

    def load_parts(self) -> dict[str, str]:
        """The parts of the state as they were last committed, as JSON text; empty for a new journal."""
        ...

    def commit(self, step: StepCommit) -> bool:
        """Write a step. Return ``False``, and write nothing, if its cause was committed before or is no longer wanted.

        A finished call and a fired deadline are removed by the step that they cause. Raises ``JournalError`` if
        another process has written to the journal meanwhile.
        """
        ...

    def together(self) -> AbstractContextManager[object]:
        """Context manager whose commits become durable together at its end; none of their effects is performed before.

        A step that cannot be written is rolled back alone. If the block raises or the process ends, a stored journal
        has none of its steps.
        """
        ...

    def has_mail(self, mail_id: str) -> bool:
        """Whether this mail has been taken in."""
        ...

    def latest_mail_ids(self, limit: int) -> list[str]:
        """The ids of the latest protocol mails taken in, which may not be acknowledged yet after a crash."""
        ...

    def due_sends(self, now: datetime, limit: int) -> list[OutboxItem]:
        """Queued messages that may be sent now, those of open games first, then in order."""
        ...

    def sends_in_doubt(self) -> list[OutboxItem]:
        """Messages that may have been sent: an attempt began and its end is unknown. In order."""
        ...

    def begin_send(self, item: OutboxItem, *, at: datetime, monotonic_s: float) -> OutboxItem | None:
        """Record durably that an attempt begins. Called before the attempt.

        Return the message in its new state. Return ``None``, and write nothing, if another worker has tried to send the
        message since ``item`` was read, or has finished it.
        """
        ...

    def finish_sends(self, transaction_ids: Sequence[str], now: datetime) -> None:
        """Record that the mail service accepted these mails."""
        ...

    def postpone_send(self, transaction_id: str, *, not_before: datetime, error: str) -> None:
        """Queue the message again: the attempt sent nothing."""
        ...

    def doubt_send(self, transaction_id: str, *, error: str) -> None:
        """Record that an attempt failed and the mail may have been sent."""
        ...

    def fail_send(self, transaction_id: str, now: datetime, error: str) -> None:
        """Record that the mail can never be sent."""
        ...

    def outbox(self, *, types: Collection[str] = (), game: str = "", is_recent: bool = False) -> Iterator[OutboxItem]:
        """All messages ever queued, those of archived matches first, then in order, of these types (empty: all) and of
        game ids with the prefix ``game``. ``is_recent`` leaves out archived matches."""
        ...

    def pending_calls(self) -> list[PendingCall]:
        """Callbacks without a committed result, in order."""
        ...

    def due_deadlines(self, now: datetime) -> list[Deadline]:
        """Deadlines that have passed, earliest first."""
        ...

    def next_wake(self) -> datetime | None:
        """The earliest instant at which a deadline or a queued message is due."""
        ...

    def notes(self, *, kinds: Collection[str] = (), about: str = "", is_recent: bool = False) -> Iterator[Note]:
        """All notes, those of archived matches first, then in order, of these kinds (empty: all) and with keys that
        begin with ``about``. ``is_recent`` leaves out archived matches."""
        ...

    def inbox(self, *, types: Collection[str] = (), game: str = "", is_recent: bool = False) -> Iterator[InboxRow]:
        """All mails taken in, those of archived matches first, then in order, of these types (empty: all) and of game
        ids with the prefix ``game``. ``is_recent`` leaves out archived matches."""
        ...

    def keep(self, name: str, value: object) -> None:
        """Store a JSON value that belongs to no step, such as facts about the daemon that a restart or a status command
        reads. Replaces an earlier value of this name."""
        ...

    def kept(self, name: str) -> object:
        """Return the value stored under this name; ``None`` if there is none."""
        ...

    def order(self, order: Order) -> None:
        """Store an order. Any process may call this, even while another one works on the journal."""
        ...

    def open_orders(self) -> list[Order]:
        """Orders whose command is not committed yet, oldest first."""
        ...

    def orders(self) -> Iterator[Order]:
        """All orders ever stored, oldest first."""
        ...

    def close(self) -> None:
        """Release the files. A closed journal must not be used again."""
        ...


Dump = Callable[[str, object], str]
"""Takes the name of a part of a machine's state and the part; returns JSON text."""


class StoredJournal(Journal, Protocol):
    """A journal that outlives its process."""

    def replace_by(self, source: StoredJournal, told: Callable[[int], None]) -> int:
        """Replace everything by the rows of another journal, which nobody may work on meanwhile, all or nothing.
        ``told`` is called with the number of rows so far. Return their number. Raises ``JournalError``."""
        ...

    def archive(self, before: datetime, *, limit: int = 100) -> int:
        """Put at most ``limit`` matches that were closed before an instant into one record each. Return their
        number."""
        ...

    def prune(self, keep: int) -> tuple[str, ...]:
        """Delete the matches of all seasons but the last ``keep``. Return the numbers of the deleted seasons."""
        ...

    def archived(self) -> ArchiveCounts:
        """How much was archived."""
        ...

    def check_archive(self) -> None:
        """Read every archived match. Raises ``JournalUnusable`` if one of them is damaged."""
        ...

    def row_counts(self) -> Mapping[str, int]:
        """The number of rows of each table."""
        ...

    def is_empty(self) -> bool:
        """Whether nothing was ever written to it."""
        ...

    def forget(self, name: str) -> None:
        """Remove a value stored by ``keep``."""
        ...

    @property
    def owner(self) -> tuple[str, str]:
        """The role and the address that the journal belongs to."""
        ...

    def check_content(self) -> None:
        """Read everything. Raises ``JournalUnusable`` if some of it is damaged."""
        ...

    def take_over(self, ended: Journal) -> None:
        """Copy state, mails, messages and notes from a journal whose work is over. Only for a new file."""
        ...

    def check_owner(self, role: str, address: str) -> None:
        """Raises ``JournalUnusable`` if the journal belongs to another role or address."""
        ...
