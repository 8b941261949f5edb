"""The port by which a quota ledger counts the sends of a mailbox."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

MINUTES_OF_A_DAY = 24 * 60


class SendCounts(Protocol):
    """The sends of one mailbox by all processes. Minutes are counted from 1970."""

    def minutes(self, since: int) -> Sequence[tuple[int, int]]:
        """Return (minute, sends) from the minute ``since`` on, oldest first."""
        ...

    def add(self, minute: int, sends: int) -> None:
        """Count sends in a minute; a negative number takes some back."""
        ...

    def refused_until(self) -> datetime | None:
        """Return the end of the service's latest refusal to send; ``None`` if it never refused."""
        ...

    def refuse(self, until: datetime) -> None:
        """Record that the service refuses to send until then."""
        ...


class StoredSendCounts(SendCounts, Protocol):
    """Counts that outlive their process."""

    def close(self) -> None:
        """Release the file."""
        ...


class CountsInMemory:
    """``SendCounts`` of this process alone."""

    def __init__(self) -> None:
        self._minutes: Counter[int] = Counter()
        self._refused_until: datetime | None = None

    def minutes(self, since: int) -> Sequence[tuple[int, int]]:
        for minute in [minute for minute in self._minutes if minute < since]:
            del self._minutes[minute]
        return sorted((minute, sends) for minute, sends in self._minutes.items() if sends > 0)

    def add(self, minute: int, sends: int) -> None:
        self._minutes[minute] += sends

    def refused_until(self) -> datetime | None:
        return self._refused_until

    def refuse(self, until: datetime) -> None:
        self._refused_until = until
