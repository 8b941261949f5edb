"""One pass over a mailbox: take in the waiting mail, send the due messages, and end.

Rule: the mailbox is drained once. Mail that arrives while the agents run is left for the next scan; otherwise a scan
would last as long as its peers keep playing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.runner.live import LiveRole
from league_agents.runner.outbox import LONGEST_PAUSE, SHOWS_UP, UNDER_WAY
from league_agents.runner.role import Observer

SEND_PATIENCE = UNDER_WAY + SHOWS_UP + LONGEST_PAUSE
"""How long to wait for a message that could not be sent at once: long enough to search for one that may have been sent,
and to send it again. The next scan continues the search for mails that show up later."""

LOOK_EVERY = timedelta(seconds=1)


@dataclass(slots=True)
class ScanReport:
    """The result of one pass over one mailbox."""

    received: int = 0
    sent: int = 0
    waiting: int = 0
    """Number of messages that could not be sent yet; the next scan tries again."""

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to do at all."""
        return not (self.received or self.sent or self.waiting)


class CountingObserver:
    """An observer that counts events for the report and forwards them."""

    def __init__(self, observer: Observer | None, report: ScanReport) -> None:
        self._observer = observer
        self._report = report

    def received(self, role: str, row: InboxRow) -> None:
        self._report.received += 1
        if self._observer is not None:
            self._observer.received(role, row)

    def sent(self, role: str, item: OutboxItem) -> None:
        self._report.sent += 1
        if self._observer is not None:
            self._observer.sent(role, item)

    def noted(self, role: str, note: Note) -> None:
        if self._observer is not None:
            self._observer.noted(role, note)


def scan(role: LiveRole, rest: Callable[[timedelta], None]) -> ScanReport:
    """Make one pass. ``rest`` waits, and returns early when an agent has finished.

    Raises the errors of the mailbox and the journal; steps committed before stay.
    """
    report = ScanReport()
    role.observer = CountingObserver(role.observer, report)
    wired, clock = role.wired, role.clock
    runner, journal = wired.runner, wired.journal
    role.start(runner)
    runner.obey()
    while runner.tick():
        pass
    role.polled(clock.now())
    while journal.pending_calls():
        wake = runner.next_wake()
        now = clock.now()
        rest(timedelta(seconds=1) if wake is None else min(max(wake - now, timedelta(0)), timedelta(seconds=1)))
        while runner.tick(fetches=False):
            pass
    patience_ends_s = clock.monotonic_s() + SEND_PATIENCE.total_seconds()
    while waiting := [item for item in journal.outbox(is_recent=True) if item.is_waiting]:
        left = timedelta(seconds=patience_ends_s - clock.monotonic_s())
        now = clock.now()
        waits = [timedelta(0) if item.is_in_doubt else (item.not_before or now) - now for item in waiting]
        if left <= timedelta(0) or min(waits) > left:
            break
        rest(LOOK_EVERY)
        while runner.tick(fetches=False):
            pass
    report.waiting = len(waiting)
    return report
