"""One pass over a mailbox: what waits is dealt with, what is due is sent, and then it is over.

Rule: the mailbox is drained once. Whoever answers while our agents think is heard by the next scan; otherwise a scan
would play on as long as its peers do.
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
"""How long a message is waited for that could not be sent at once: long enough to look for one that may have been sent,
and to send it again. Where mails show up later than that, the next scan goes on looking."""

LOOK_EVERY = timedelta(seconds=1)


@dataclass(slots=True)
class ScanReport:
    """What one pass over one mailbox did."""

    received: int = 0
    sent: int = 0
    waiting: int = 0
    """Messages that could not be sent yet; the next scan tries again."""

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to do at all."""
        return not (self.received or self.sent or self.waiting)


class CountingObserver:
    """An observer that counts for the report and passes everything on."""

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
    """One pass. ``rest`` waits, and ends early when an agent has finished.

    Raises what the mailbox and the journal raise; whatever was committed until then stays.
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
    while waiting := [item for item in journal.outbox() if item.is_waiting]:
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
