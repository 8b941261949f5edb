"""A journal that lasts as long as the process: for games in memory, where speed counts and nothing has to survive."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice

from league_agents.journal.port import (
    Cause,
    Deadline,
    InboxRow,
    InboxVerdict,
    Note,
    OutboxItem,
    OutboxState,
    PendingCall,
    StepCommit,
)

_WAITING = (OutboxState.QUEUED, OutboxState.SENDING, OutboxState.AMBIGUOUS)


class MemoryJournal:
    """``Journal`` in dictionaries. ``dump`` is used only when the parts are loaded again.

    ``keeps_history=False`` forgets mails' contents, sent messages and finished calls, so that a long season stays
    small.
    """

    def __init__(self, *, dump: Callable[[str, object], str], keeps_history: bool = True) -> None:
        self._dump = dump
        self._keeps_history = keeps_history
        self._parts: dict[str, object] = {}
        self._mail_ids: set[str] = set()
        self._inbox: list[InboxRow] = []
        self._waiting: dict[str, OutboxItem] = {}
        self._transaction_ids: set[str] = set()
        self._outbox: dict[str, OutboxItem] = {}
        self._calls: dict[str, PendingCall] = {}
        self._call_ids: set[str] = set()
        self._deadlines: dict[str, datetime] = {}
        self._commands: set[str] = set()
        self._notes: list[Note] = []
        self._kept: dict[str, str] = {}

    def load_parts(self) -> dict[str, str]:
        return {name: self._dump(name, part) for name, part in self._parts.items()}

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
                self._waiting[item.transaction_id] = item
                if self._keeps_history:
                    self._outbox[item.transaction_id] = item
        for call in step.calls:
            if call.call_id not in self._call_ids:
                self._call_ids.add(call.call_id)
                self._calls[call.call_id] = call
        for name in step.cleared:
            self._deadlines.pop(name, None)
        for deadline in step.deadlines:
            self._deadlines[deadline.name] = deadline.at
        self._notes.extend(step.notes)
        return True

    def _consume_cause(self, step: StepCommit) -> bool:
        match step.cause:
            case Cause.MAIL:
                assert step.inbox is not None, "a step for a mail carries its inbox row"
                if step.key in self._mail_ids:
                    return False
                self._mail_ids.add(step.key)
                if self._keeps_history:
                    self._inbox.append(step.inbox)
                return True
            case Cause.CALL:
                return self._calls.pop(step.key, None) is not None
            case Cause.DEADLINE:
                return self._deadlines.pop(step.key, None) is not None
            case Cause.COMMAND:
                if step.key in self._commands:
                    return False
                self._commands.add(step.key)
                return True
            case Cause.START:
                return True

    def has_mail(self, mail_id: str) -> bool:
        return mail_id in self._mail_ids

    def latest_mail_ids(self, limit: int) -> list[str]:
        taken_in = (row.mail_id for row in reversed(self._inbox) if row.verdict is not InboxVerdict.IGNORED)
        return list(islice(taken_in, limit))

    def claim_outbox(self, now: datetime, limit: int) -> list[OutboxItem]:
        if not self._waiting:
            return []
        due = [item for item in self._waiting.values() if item.not_before is None or item.not_before <= now]
        due.sort(key=lambda item: item.game_id is None)
        for item in due[:limit]:
            self._put(replace(item, state=OutboxState.SENDING, attempts=item.attempts + 1))
        return due[:limit]

    def _put(self, item: OutboxItem) -> None:
        if item.state in _WAITING:
            self._waiting[item.transaction_id] = item
        else:
            self._waiting.pop(item.transaction_id, None)
        if self._keeps_history:
            self._outbox[item.transaction_id] = item

    def finish_sends(self, transaction_ids: Sequence[str], now: datetime) -> None:
        for transaction_id in transaction_ids:
            if (item := self._waiting.get(transaction_id)) is not None:
                self._put(replace(item, state=OutboxState.SENT))

    def postpone_send(self, transaction_id: str, *, not_before: datetime, ambiguous: bool, error: str) -> None:
        state = OutboxState.AMBIGUOUS if ambiguous else OutboxState.QUEUED
        if (item := self._waiting.get(transaction_id)) is not None:
            self._put(replace(item, state=state, not_before=not_before))

    def fail_send(self, transaction_id: str, now: datetime, error: str) -> None:
        if (item := self._waiting.get(transaction_id)) is not None:
            self._put(replace(item, state=OutboxState.FAILED))

    def outbox(self) -> Iterator[OutboxItem]:
        yield from self._outbox.values()

    def pending_calls(self) -> list[PendingCall]:
        return list(self._calls.values())

    def due_deadlines(self, now: datetime) -> list[Deadline]:
        if not self._deadlines:
            return []
        due = [Deadline(name=name, at=at) for name, at in self._deadlines.items() if at <= now]
        return sorted(due, key=lambda deadline: (deadline.at, deadline.name))

    def next_wake(self) -> datetime | None:
        postponed = (item.not_before for item in self._waiting.values() if item.not_before is not None)
        return min((*self._deadlines.values(), *postponed), default=None)

    def notes(self) -> Iterator[Note]:
        yield from self._notes

    def inbox(self) -> Iterator[InboxRow]:
        yield from self._inbox

    def keep(self, name: str, value: object) -> None:
        self._kept[name] = json.dumps(value)

    def kept(self, name: str) -> object:
        return json.loads(self._kept[name]) if name in self._kept else None

    def close(self) -> None:
        """Nothing to release."""
