"""What the runner needs of a journal.

Rule 1: a step is written whole or not at all: the mail or the result that caused it, the new state, and everything that
it wants done. Steps of one batch may be made durable together.
Rule 2: nothing is performed before it is committed, and whatever is committed is performed at least once.
Rule 3: the same cause commits once. A second commit of it changes nothing and says so.
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
    """What a step was taken for."""

    MAIL = "mail"
    CALL = "call"
    DEADLINE = "deadline"
    COMMAND = "command"
    START = "start"
    SENT = "sent"
    """A message left late. Like a start, nothing is used up by it."""


class InboxVerdict(StrEnum):
    """What became of a mail."""

    PROCESSED = "processed"
    IGNORED = "ignored"
    """Not protocol mail, or not for this machine to act on."""
    REJECTED = "rejected"
    """Forged, or from somebody who may not send it."""
    PARKED = "parked"
    """Could not be processed; kept for a person to look at."""


class InboxRow(Struct, frozen=True, kw_only=True):
    """One mail that was taken in."""

    mail_id: str
    arrived_at: datetime
    sender: str
    subject: str
    message_type: str
    message_id: str
    game_id: str | None
    verdict: InboxVerdict
    reason: str
    """Why, when the verdict is not ``processed``; of a processed mail what of it could not be read."""

    document: Mapping[str, object] | None
    """The JSON document of a protocol message; ``None`` for other mail, of which nothing more is kept."""


class OutboxState(StrEnum):
    """How far a message is on its way out."""

    QUEUED = "queued"
    SENDING = "sending"
    """An attempt began. Found so after a crash, it may have been sent."""
    AMBIGUOUS = "ambiguous"
    """An attempt broke off after the mail was handed over: it may have been sent."""
    SENT = "sent"
    FAILED = "failed"
    """It can never be sent; kept for a person to look at."""


class OutboxItem(Struct, frozen=True, kw_only=True):
    """One message to be sent."""

    transaction_id: str
    """Identifies this mail, in the outbox and in its subject: an id is queued once, whatever happens."""

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
    """Of a queued message: the earliest instant of the next attempt."""

    began_at: datetime | None = None
    """When the latest attempt began; ``None`` before the first, and in journals that were written before this was
    kept."""

    began_s: float | None = None
    """The same moment on the machine's monotonic clock, which nobody sets (``Clock.monotonic_s``)."""

    @property
    def is_in_doubt(self) -> bool:
        """Whether it may have been sent."""
        return self.state in (OutboxState.SENDING, OutboxState.AMBIGUOUS)

    @property
    def is_waiting(self) -> bool:
        """Whether it is not known to be sent and still may be."""
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


WARNING, NOTICE, MODEL_WORK = "warning", "notice", "model_work"
"""Kinds of notes: something odd, something usual that people want to know, and what became of a language model's work
in a callback."""


class Note(Struct, frozen=True, kw_only=True):
    """A record, a warning or a notice for people."""

    at: datetime
    kind: str
    """One of those above, or the kind of a record: ``match``, ``game``, ``round``, ``season``."""

    key: str
    """What it is about: a warning's code, a game id, a round number, a season id."""

    facts: Mapping[str, object]
    """JSON values; of a warning and a notice ``{"text": …}``, of a model's work ``{"callback": …, "player": …,
    "steps": […]}``."""


class Order(Struct, frozen=True, kw_only=True):
    """What a person wants of a role, handed over by way of its journal: the role may be running in another process."""

    nonce: str
    """An order is carried out once, whatever happens."""

    command: str
    text: str
    at: datetime


class StepCommit(Struct, frozen=True, kw_only=True):
    """Everything that one step changes."""

    cause: StepCause
    key: str
    """The mail id, call id, deadline name or command nonce."""

    at: datetime
    inbox: InboxRow | None = None
    parts: Mapping[str, object | None] = msgspec.field(default_factory=dict)
    """Changed parts of the state, as the machine holds them; ``None`` removes a part."""

    sends: Sequence[OutboxItem] = ()
    calls: Sequence[PendingCall] = ()
    deadlines: Sequence[Deadline] = ()
    cleared: Sequence[str] = ()
    notes: Sequence[Note] = ()


class Journal(Protocol):
    """One role on one mailbox. Used by one thread at a time."""

    def load_parts(self) -> dict[str, str]:
        """The parts of the state as they were last committed, as JSON text; empty for a new journal."""
        ...

    def commit(self, step: StepCommit) -> bool:
        """Write a step. ``False``, and nothing is written, when its cause was committed before or is no longer wanted.

        A finished call and a fired deadline are removed by the step that they cause. Raises ``JournalError`` when
        another process has written to the journal meanwhile.
        """
        ...

    def together(self) -> AbstractContextManager[object]:
        """A block whose commits become durable together, at its end: nothing of them is performed before.

        A step that cannot be written leaves nothing, and the others of the block stay. If the block is left by an
        exception or the process ends, a journal that lasts has none of its steps.
        """
        ...

    def has_mail(self, mail_id: str) -> bool:
        """Whether this mail was taken in before."""
        ...

    def latest_mail_ids(self, limit: int) -> list[str]:
        """The last protocol mails that were taken in: after a crash they may not be acknowledged yet."""
        ...

    def due_sends(self, now: datetime, limit: int) -> list[OutboxItem]:
        """Queued messages that may be sent now, those of open games first, then in order."""
        ...

    def sends_in_doubt(self) -> list[OutboxItem]:
        """Messages that may have been sent: an attempt began and nothing says how it ended. In order."""
        ...

    def begin_send(self, item: OutboxItem, *, at: datetime, monotonic_s: float) -> OutboxItem | None:
        """Write that an attempt begins: before it does, and so that it survives the end of the process.

        Return the message as it stands now. ``None``, and nothing is written, when there were other attempts since
        ``item`` was read, or the message is done with: another worker has it.
        """
        ...

    def finish_sends(self, transaction_ids: Sequence[str], now: datetime) -> None:
        """These mails were accepted."""
        ...

    def postpone_send(self, transaction_id: str, *, not_before: datetime, error: str) -> None:
        """Nothing was sent; the message is queued again."""
        ...

    def doubt_send(self, transaction_id: str, *, error: str) -> None:
        """An attempt broke off and the mail may have been sent."""
        ...

    def fail_send(self, transaction_id: str, now: datetime, error: str) -> None:
        """The mail can never be sent."""
        ...

    def outbox(self, *, types: Collection[str] = (), game: str = "") -> Iterator[OutboxItem]:
        """All messages that were ever queued, in order; of these message types and of games whose ids begin so."""
        ...

    def pending_calls(self) -> list[PendingCall]:
        """Callbacks without a committed result, in order."""
        ...

    def due_deadlines(self, now: datetime) -> list[Deadline]:
        """Deadlines that are over, earliest first."""
        ...

    def next_wake(self) -> datetime | None:
        """The earliest instant at which a deadline or a queued message is due."""
        ...

    def notes(self, *, kinds: Collection[str] = (), about: str = "") -> Iterator[Note]:
        """All records and warnings, in order; of these kinds and with keys that begin so."""
        ...

    def inbox(self, *, types: Collection[str] = (), game: str = "") -> Iterator[InboxRow]:
        """All mails taken in, in order; of these message types and of games whose ids begin so."""
        ...

    def keep(self, name: str, value: object) -> None:
        """Keep a JSON value that belongs to no step: what the daemon wants to know again after a restart, and what
        people ask for while it runs. It replaces an earlier one of this name."""
        ...

    def kept(self, name: str) -> object:
        """What was kept under this name; ``None`` when nothing was."""
        ...

    def order(self, order: Order) -> None:
        """Hand over an order. Any process may do so, also while another one works on the journal."""
        ...

    def open_orders(self) -> list[Order]:
        """Orders whose command was not committed yet, in the order in which they were given."""
        ...

    def orders(self) -> Iterator[Order]:
        """All orders that were ever handed over, in order."""
        ...

    def close(self) -> None:
        """Release the files. A closed journal is not used again."""
        ...


Dump = Callable[[str, object], str]
"""Writes a part of a machine's state, which has this name, as JSON text."""


class StoredJournal(Journal, Protocol):
    """A journal that outlives its process."""

    @property
    def owner(self) -> tuple[str, str]:
        """The role and the address that the journal belongs to."""
        ...

    def check_content(self) -> None:
        """Read everything. Raises ``JournalUnusable`` when some of it is damaged."""
        ...

    def take_over(self, ended: Journal) -> None:
        """Write what another journal holds whose work is over: state, mails, messages and notes. For a new file."""
        ...

    def check_owner(self, role: str, address: str) -> None:
        """Raises ``JournalUnusable`` for the journal of another role or address."""
        ...
