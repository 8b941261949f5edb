"""A journal kept in memory, for simulated games: fast, and lost when the process ends."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from heapq import heappop, heappush
from itertools import islice

from league_agents.journal.port import (
    Deadline,
    InboxRow,
    InboxVerdict,
    Note,
    Order,
    OutboxItem,
    OutboxState,
    PendingCall,
    StepCause,
    StepCommit,
)
from league_agents.kit.values import evolve


@dataclass(slots=True, eq=False)
class _Sending:
    """The state of one message. Changed in place, to avoid a copy of the item for each change."""

    item: OutboxItem
    """The message as it was queued."""

    state: OutboxState
    attempts: int
    not_before: datetime | None
    began_at: datetime | None = None
    began_s: float | None = None

    def as_item(self) -> OutboxItem:
        """Return the message in its present state."""
        item = self.item
        if self.state is item.state and self.attempts == item.attempts and self.not_before == item.not_before:
            return item
        return evolve(
            item,
            state=self.state,
            attempts=self.attempts,
            not_before=self.not_before,
            began_at=self.began_at,
            began_s=self.began_s,
        )


class MemoryJournal:
    """``Journal`` in dictionaries. ``dump`` is used only by ``load_parts``.

    With ``keeps_history=False`` the contents of mails, sent messages and finished calls are dropped, to limit the
    memory that a long season takes.
    """

    def __init__(self, *, dump: Callable[[str, object], str], keeps_history: bool = True) -> None:
        self._dump = dump
        self._keeps_history = keeps_history
        self._parts: dict[str, object] = {}
        self._mail_ids: set[str] = set()
        self._inbox: list[InboxRow] = []
        self._waiting: dict[str, _Sending] = {}
        self._postponed: dict[str, _Sending] = {}
        """Queued messages with a ``not_before``, by transaction id."""

        self._transaction_ids: set[str] = set()
        self._outbox: list[_Sending] = []
        self._calls: dict[str, PendingCall] = {}
        self._call_ids: set[str] = set()
        self._deadlines: dict[str, datetime] = {}
        self._wakes: list[tuple[datetime, str]] = []
        """A heap of all deadlines ever set; those that have been moved or cleared are skipped."""

        self._commands: set[str] = set()
        self._notes: list[Note] = []
        self._kept: dict[str, str] = {}
        self._orders: dict[str, Order] = {}

    def load_parts(self) -> dict[str, str]:
        return {name: self._dump(name, part) for name, part in self._parts.items()}

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()

    def commit(self, step: StepCommit) -> bool:
        if not self._consume_cause(step):
            return False
        for name, part in step.parts.items():
            if part is None:
                self._parts.pop(name, None)
            else:
                self._parts[name] = part
        for item in step.sends:
            if item.transaction_id not in self._transaction_ids:
                self._transaction_ids.add(item.transaction_id)
                sending = _Sending(item, item.state, item.attempts, item.not_before)
                self._waiting[item.transaction_id] = sending
                if item.not_before is not None:
                    self._postponed[item.transaction_id] = sending
                if self._keeps_history:
                    self._outbox.append(sending)
        for call in step.calls:
            if call.call_id not in self._call_ids:
                self._call_ids.add(call.call_id)
                self._calls[call.call_id] = call
        for name in step.cleared:
            self._deadlines.pop(name, None)
        for deadline in step.deadlines:
            self._deadlines[deadline.name] = deadline.at
            heappush(self._wakes, (deadline.at, deadline.name))
        self._notes.extend(step.notes)
        return True

    def _consume_cause(self, step: StepCommit) -> bool:
        cause, key = step.cause, step.key
        if cause is StepCause.MAIL:
            assert step.inbox is not None, "a step for a mail carries its inbox row"
            if key in self._mail_ids:
                return False
            self._mail_ids.add(key)
            if self._keeps_history:
                self._inbox.append(step.inbox)
            return True
        if cause is StepCause.CALL:
            return self._calls.pop(key, None) is not None
        if cause is StepCause.DEADLINE:
            return self._deadlines.pop(key, None) is not None
        if cause is StepCause.COMMAND:
            if key in self._commands:
                return False
            self._commands.add(key)
        return True

    def has_mail(self, mail_id: str) -> bool:
        return mail_id in self._mail_ids

    def latest_mail_ids(self, limit: int) -> list[str]:
        taken_in = (row.mail_id for row in reversed(self._inbox) if row.verdict is not InboxVerdict.IGNORED)
        return list(islice(taken_in, limit))

    def due_sends(self, now: datetime, limit: int) -> list[OutboxItem]:
        if not self._waiting:
            return []
        due = [
            each
            for each in self._waiting.values()
            if each.state is OutboxState.QUEUED and (each.not_before is None or each.not_before <= now)
        ]
        if len(due) > 1:
            due.sort(key=lambda each: each.item.game_id is None)
            del due[limit:]
        return [each.as_item() for each in due]

    def sends_in_doubt(self) -> list[OutboxItem]:
        return [each.as_item() for each in self._waiting.values() if each.state is not OutboxState.QUEUED]

    def begin_send(self, item: OutboxItem, *, at: datetime, monotonic_s: float) -> OutboxItem | None:
        sending = self._waiting.get(item.transaction_id)
        if sending is None or sending.attempts != item.attempts:
            return None
        sending.state = OutboxState.SENDING
        sending.attempts += 1
        sending.began_at, sending.began_s = at, monotonic_s
        return sending.as_item()

    def finish_sends(self, transaction_ids: Sequence[str], now: datetime) -> None:
        for transaction_id in transaction_ids:
            self._end(transaction_id, OutboxState.SENT)

    def _end(self, transaction_id: str, state: OutboxState) -> None:
        sending = self._waiting.pop(transaction_id, None)
        self._postponed.pop(transaction_id, None)
        if sending is not None:
            sending.state = state

    def postpone_send(self, transaction_id: str, *, not_before: datetime, error: str) -> None:
        sending = self._waiting.get(transaction_id)
        if sending is not None:
            sending.state = OutboxState.QUEUED
            sending.not_before = not_before
            self._postponed[transaction_id] = sending

    def doubt_send(self, transaction_id: str, *, error: str) -> None:
        sending = self._waiting.get(transaction_id)
        if sending is not None:
            sending.state = OutboxState.AMBIGUOUS

    def fail_send(self, transaction_id: str, now: datetime, error: str) -> None:
        self._end(transaction_id, OutboxState.FAILED)

    def outbox(self, *, types: Collection[str] = (), game: str = "", is_recent: bool = False) -> Iterator[OutboxItem]:
        for each in self._outbox:
            if _is_wanted(each.item.message_type, types, each.item.game_id, game):
                yield each.as_item()

    def pending_calls(self) -> list[PendingCall]:
        return list(self._calls.values())

    def due_deadlines(self, now: datetime) -> list[Deadline]:
        if not self._deadlines:
            return []
        due = [Deadline(name=name, at=at) for name, at in self._deadlines.items() if at <= now]
        return sorted(due, key=lambda deadline: (deadline.at, deadline.name))

    def next_wake(self) -> datetime | None:
        wakes = self._wakes
        while wakes and self._deadlines.get(wakes[0][1]) != wakes[0][0]:
            heappop(wakes)
        instants = [at for at, _ in wakes[:1]]
        instants += [
            each.not_before
            for each in self._postponed.values()
            if each.not_before is not None and each.state is OutboxState.QUEUED
        ]
        return min(instants, default=None)

    def notes(self, *, kinds: Collection[str] = (), about: str = "", is_recent: bool = False) -> Iterator[Note]:
        return (note for note in self._notes if _is_wanted(note.kind, kinds, note.key, about))

    def inbox(self, *, types: Collection[str] = (), game: str = "", is_recent: bool = False) -> Iterator[InboxRow]:
        return (row for row in self._inbox if _is_wanted(row.message_type, types, row.game_id, game))

    def keep(self, name: str, value: object) -> None:
        self._kept[name] = json.dumps(value)

    def kept(self, name: str) -> object:
        return json.loads(self._kept[name]) if name in self._kept else None

    def order(self, order: Order) -> None:
        self._orders.setdefault(order.nonce, order)

    def open_orders(self) -> list[Order]:
        return [order for nonce, order in self._orders.items() if nonce not in self._commands]

    def orders(self) -> Iterator[Order]:
        yield from self._orders.values()

    def close(self) -> None:
        """No-op: holds no resources."""


def _is_wanted(kind: str, kinds: Collection[str], key: str | None, beginning: str) -> bool:
    return (not kinds or kind in kinds) and (not beginning or (key or "").startswith(beginning))
