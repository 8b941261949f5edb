"""However much waits, a process that is to end begins nothing more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.journal.memory import MemoryJournal
from league_agents.kit.clock import SystemClock
from league_agents.league.machines.effects import Effect
from league_agents.league.machines.events import Event
from league_agents.local_league.patience import LIMIT_S
from league_agents.mail.port import Mail, OutgoingMail, Stopping
from league_agents.runner.live import LiveRole, WiredRole
from league_agents.runner.pace import Pace
from league_agents.runner.role import Observer, RoleRunner
from league_agents.runner.wakeup import StopRequest, Wakeup
from league_agents.runner.watch import watch

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)


class Deaf:
    role = "player"

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event, now: datetime) -> tuple[int, Sequence[Effect]]:
        return state, []

    def parts(self, state: int, since: int | None = None) -> Mapping[str, object]:
        return {"n": state}

    def dump_part(self, name: str, part: object) -> str:
        return str(part)

    def load(self, parts: Mapping[str, str]) -> int:
        return int(parts["n"])


class Endless:
    """A mailbox in which a hundred mails wait whenever it is looked into."""

    address = "p@league.test"

    def __init__(self, stopping: threading.Event, at_fetch: Callable[[int], None]) -> None:
        self._stopping = stopping
        self._at_fetch = at_fetch
        self.fetches = 0

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        if self._stopping.is_set():
            raise Stopping
        self.fetches += 1
        self._at_fetch(self.fetches)
        return [
            Mail(mail_id=f"{self.fetches}-{number}", arrived_at=NOON, from_header="", subject="", documents=())
            for number in range(limit)
        ]

    def acknowledge(self, mail_ids: Sequence[str]) -> None: ...

    def send(self, mail: OutgoingMail) -> None: ...

    def was_sent(self, transaction_id: str) -> bool:
        return False


def test_a_drain_without_an_end_ends_with_the_mail_in_hand_when_the_process_is_to_end() -> None:
    wakeup, stop = Wakeup(), StopRequest()
    journal = MemoryJournal(dump=lambda _name, part: str(part))

    def at_fetch(number: int) -> None:
        if number == 5:
            stop.request()
            wakeup.stopping.wait(LIMIT_S)  # the main thread has heard of it

    mailbox = Endless(wakeup.stopping, at_fetch)

    def make(observer: Observer) -> WiredRole:
        runner = RoleRunner(
            Deaf(),
            mailbox,
            journal,
            None,
            SystemClock(),
            codec=LEAGUE_MAIL,
            observer=observer,
            stopping=wakeup.stopping,
        )
        return WiredRole(runner=runner, journal=journal)

    pace = Pace(active=timedelta(milliseconds=10), idle=timedelta(milliseconds=10))
    role = LiveRole(name="player", make=make, clock=SystemClock(), pace=pace, pid=1)
    try:
        watch([(role, wakeup)], stop)
    finally:
        stop.close()
    assert mailbox.fetches == 5
    assert len(list(journal.inbox())) == 400, "of the fifth batch nothing was taken in"
