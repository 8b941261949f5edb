"""The change history of a mailbox, in order, kept for as long as Gmail keeps it.

Rule: ids grow and never fit 63 bits, so that no client keeps them in a signed integer. A cursor older than the kept
history is refused with 404 (the client must read the whole mailbox again), and so is one from the future.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from league_agents.sandbox.refusal import not_found
from league_agents.sandbox.state import SandboxState

FIRST_ID = 2**63 + 1_000_000
TYPES = ("messageAdded", "messageDeleted", "labelAdded", "labelRemoved")


class Numbers:
    """The counters of one sandbox: each number is used once, also after a restart."""

    def __init__(self, state: SandboxState) -> None:
        self._state = state
        stored = state.load("number")
        self._history = int(str(stored.get("history", FIRST_ID)))
        self._mail = int(str(stored.get("mail", 0)))

    @property
    def history(self) -> int:
        """The newest history id."""
        return self._history

    def next_history(self) -> int:
        # Steps are uneven, as in Gmail: a client that adds one to a cursor is wrong.
        self._history += 3 + self._history % 5
        self._state.put("number", "history", str(self._history))
        return self._history

    def next_mail(self) -> int:
        self._mail += 1
        self._state.put("number", "mail", self._mail)
        return self._mail


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One change of one mail."""

    history_id: int
    at_ms: int
    mail_id: str
    thread_id: str
    labels: tuple[str, ...]
    """The labels after the change."""

    event: str
    """``messageAdded``, ``messageDeleted`` or ``labels``."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def document(self, types: frozenset[str], label: str | None) -> dict[str, object] | None:
        """The change as ``history.list`` shows it; ``None`` when the request does not ask for it."""
        if label is not None and label not in self.labels and label not in self.removed:
            return None
        brief = {"id": self.mail_id, "threadId": self.thread_id}
        message = {**brief, "labelIds": list(self.labels)}
        shown: dict[str, object] = {}
        if self.event == "messageAdded" and "messageAdded" in types:
            shown["messagesAdded"] = [{"message": message}]
        if self.event == "messageDeleted" and "messageDeleted" in types:
            shown["messagesDeleted"] = [{"message": message}]
        if self.added and "labelAdded" in types:
            shown["labelsAdded"] = [{"message": message, "labelIds": list(self.added)}]
        if self.removed and "labelRemoved" in types:
            shown["labelsRemoved"] = [{"message": message, "labelIds": list(self.removed)}]
        return {"id": str(self.history_id), "messages": [brief], **shown} if shown else None


class History:
    """The changes of one mailbox."""

    def __init__(self, address: str, numbers: Numbers, state: SandboxState) -> None:
        self._address = address
        self._state = state
        self._changes: deque[Change] = deque()
        floor = state.load("floor").get(address)
        self._floor = numbers.next_history() if floor is None else int(str(floor))
        self.last_id = self._floor
        if floor is None:
            state.put("floor", address, str(self._floor))

    def restore(self, stored: dict[str, object]) -> None:
        """Restore one stored change."""
        self._append(
            Change(
                history_id=int(str(stored["id"])),
                at_ms=int(str(stored["at"])),
                mail_id=str(stored["mail"]),
                thread_id=str(stored["thread"]),
                event=str(stored["event"]),
                labels=_texts(stored["labels"]),
                added=_texts(stored["added"]),
                removed=_texts(stored["removed"]),
            )
        )

    def write(self, change: Change) -> None:
        """Record a change."""
        self._append(change)
        self._state.put(
            "history",
            self._key(change),
            {
                "address": self._address,
                "id": str(change.history_id),
                "at": change.at_ms,
                "mail": change.mail_id,
                "thread": change.thread_id,
                "event": change.event,
                "labels": change.labels,
                "added": change.added,
                "removed": change.removed,
            },
        )

    def _append(self, change: Change) -> None:
        self._changes.append(change)
        self.last_id = max(self.last_id, change.history_id)

    def _key(self, change: Change) -> str:
        return f"{self._address}/{change.history_id:020d}"

    def forget(self, before_ms: int) -> None:
        """Drop the changes before an instant."""
        floor = self._floor
        while self._changes and self._changes[0].at_ms < before_ms:
            change = self._changes.popleft()
            self._state.drop("history", self._key(change))
            floor = change.history_id
        if floor != self._floor:
            self._floor = floor
            self._state.put("floor", self._address, str(floor))

    def expire(self, numbers: Numbers) -> None:
        """Drop all changes, which invalidates every cursor."""
        self.forget(2**62)
        self._floor = self.last_id = numbers.next_history()
        self._state.put("floor", self._address, str(self._floor))

    def after(self, start: int) -> list[Change]:
        """The changes after a cursor. Raises ``Refused`` (404) when the cursor is no longer valid."""
        if not self._floor <= start <= self.last_id:
            raise not_found()
        return self.recent(start)

    def recent(self, start: int) -> list[Change]:
        """The kept changes after a cursor, which may be older than they are."""
        found: list[Change] = []
        for change in reversed(self._changes):
            if change.history_id <= start:
                break
            found.append(change)
        return found[::-1]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(str(each) for each in value) if isinstance(value, list) else ()
