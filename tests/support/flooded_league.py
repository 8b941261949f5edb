"""A season in which strangers fill one mailbox: over local Gmail, in simulated time.

Rule 1: time passes for calls to Gmail, for rests and for waits, by fixed amounts, so that every figure is that of the
program and none is that of the machine.
Rule 2: the flood is there before its victim starts, and more of it arrives all the time.
"""

from __future__ import annotations

import signal
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from league_agents.journal.port import InboxRow, InboxVerdict, Note, OutboxItem
from league_agents.kit.clock import monotonic_s, sleep_s
from league_agents.kit.errors import LimitExceeded
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague
from league_agents.local_league.machine_clock import MachineClock
from league_agents.runner.pace import Pace
from league_agents.sandbox.faults import Fault, FaultAction
from tests.support.latency import VERDICT, free_text
from tests.support.turns import Turns, in_turns, turns

CALL = timedelta(milliseconds=150)
"""What each of the victim's calls to Gmail takes."""

LONGEST = timedelta(hours=12)
LONGEST_STOP = timedelta(minutes=3)
REGISTRATION = timedelta(seconds=45)
PACE = Pace()
AFTERWARDS = timedelta(seconds=20)
"""For so long the roles go on when the season is over, so that everybody hears of it."""

_WAIT_FOR_AGENT = timedelta(milliseconds=20)
EVIL = "@evil.test"


class Flood(StrEnum):
    """Who the flood says that it is from."""

    STRANGERS = "strangers"
    """Addresses that nobody knows, of a domain that signs its mail."""

    FORGED = "forged"
    """The league manager, or for the league manager a player; the receiving server knows better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloodedSeason:
    """How it ended."""

    matches: Counter[str]
    """Why the matches ended, as the league manager recorded it."""

    latencies: Sequence[timedelta]
    """From a league mail's arrival at the victim until it was taken in, in ascending order."""

    most_units: int
    """That the victim spent in any minute."""

    read: int
    """Mails of the flood that the victim had recorded in the end."""

    took: timedelta


@dataclass(slots=True, kw_only=True)
class _Heard:
    """An observer of the victim."""

    clock: MachineClock
    latencies: list[timedelta] = field(default_factory=list)
    turned_away: int = 0

    def received(self, role: str, row: InboxRow) -> None:
        del role
        if row.verdict is InboxVerdict.PROCESSED and not row.sender.endswith(EVIL):
            self.latencies.append(self.clock.now() - row.arrived_at)
        else:
            self.turned_away += 1

    def sent(self, role: str, item: OutboxItem) -> None:
        """Of no interest here."""

    def noted(self, role: str, note: Note) -> None:
        """Of no interest here."""


def flood_mail(number: int, victim: LeagueProcess, kind: Flood, posing_as: str) -> bytes:
    """One mail of a flood: it looks like a message of the league."""
    sender = f"s{number}{EVIL}" if kind is Flood.STRANGERS else posing_as
    return (
        f"From: {sender}\r\nTo: {victim.address}\r\nSubject: league.v2::PLAYER::{sender}::t{number}::BROADCASTFREETEXT"
        "\r\nMIME-Version: 1.0\r\nContent-Type: application/json\r\n"
        'Content-Disposition: attachment; filename="payload.json"\r\n\r\n'
        f'{{"protocol": "league.v2", "message_type": "BROADCAST_FREE_TEXT", "message_id": "f{number}"}}\r\n'
    ).encode()


def play_flooded_season(
    folder: Path,
    *,
    seats: Sequence[LeagueProcess],
    victim: LeagueProcess,
    waiting: int,
    per_minute: int = 0,
    kind: Flood = Flood.STRANGERS,
) -> FloodedSeason:
    """Play a season; ``waiting`` mails lie in the victim's mailbox at the start and ``per_minute`` arrive.

    Raises ``LimitExceeded`` when it does not come to an end.
    """
    with in_turns(folder, seats, registration=REGISTRATION) as league:
        clock = league.clock
        assert clock is not None, "a league in turns has one"
        heard = _Heard(clock=clock)
        season = _Season(league=league, victim=victim, kind=kind, clock=clock, per_minute=per_minute)
        league.sandbox.add_fault(Fault(action=FaultAction.LAST, account=victim.address, seconds=CALL.total_seconds()))
        season.pour(waiting)
        others = [seat for seat in seats if seat is not victim]
        with turns(league, others, pace=PACE) as rest, turns(league, [victim], pace=PACE, observer=heard) as flooded:
            # The victim comes first, so that nothing is late only because the others had their turn before it.
            season.play(Turns([*flooded.lives, *rest.lives], clock))
            manager = next(live for live in (*flooded.lives, *rest.lives) if live.settings.role == "manager")
            matches = Counter(
                str(note.facts["termination"]) for note in manager.role.wired.journal.notes() if note.kind == "match"
            )
    return FloodedSeason(
        matches=matches,
        latencies=sorted(heard.latencies),
        most_units=season.most_units,
        read=heard.turned_away,
        took=clock.now() - season.started_at,
    )


@dataclass(slots=True, kw_only=True)
class _Season:
    """The season as it goes on."""

    league: LocalLeague
    victim: LeagueProcess
    kind: Flood
    clock: MachineClock
    per_minute: int
    started_at: datetime = field(init=False)
    most_units: int = 0
    _poured: int = 0
    _pour_at: datetime = field(init=False)
    _spent: list[tuple[datetime, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.started_at = self._pour_at = self.clock.now()

    def pour(self, mails: int) -> None:
        """So many mails of the flood arrive."""
        peer = "player" if self.victim.role == "manager" else "manager"
        posing_as = next(seat.address for seat in self.league.seats if seat.role == peer)
        verdict = "pass" if self.kind is Flood.STRANGERS else "fail"
        world = self.league.sandbox.world
        with world.lock:
            for number in range(self._poured, self._poured + mails):
                world.office.inject(
                    flood_mail(number, self.victim, self.kind, posing_as),
                    to=[self.victim.address],
                    sender="someone@evil.test",
                    verdict={"spf": "pass", "dkim": verdict, "dmarc": verdict},
                    labels=("INBOX", "UNREAD"),
                )
        self._poured += mails

    def play(self, everybody: Turns) -> None:
        """Turns until the season is over and everybody has heard it."""
        due: dict[str, datetime] = {}
        finished_at: datetime | None = None
        while finished_at is None or self.clock.now() < finished_at + AFTERWARDS:
            if self.clock.now() - self.started_at > LONGEST:
                hours = LONGEST / timedelta(hours=1)
                raise LimitExceeded("simulated hours of a season", hours, hours)
            is_busy = is_thinking = False
            for live in everybody.lives:
                name, journal = live.settings.address, live.role.wired.journal
                if due.get(name, self.clock.now()) > self.clock.now() and not journal.pending_calls():
                    continue
                rest = live.role.turn()
                due[name] = self.clock.now() + rest
                is_busy = is_busy or not rest
                if journal.pending_calls():
                    is_thinking = True
                    live.wakeup.rest(_WAIT_FOR_AGENT)
            self._count()
            if not is_busy and not is_thinking:
                self.clock.advance(max(min(due.values()) - self.clock.now(), timedelta(0)))
            self._go_on_pouring()
            if finished_at is None and everybody.is_in(SeasonPhase.FINISHED):
                finished_at = self.clock.now()

    def _count(self) -> None:
        """What the victim has spent within a minute."""
        report: dict[str, Any] = self.league.sandbox.world.ledger.report()
        units = int(report["accounts"].get(self.victim.address.lower(), {}).get("units", 0))
        now = self.clock.now()
        self._spent.append((now, units))
        while self._spent[0][0] < now - timedelta(minutes=1):
            del self._spent[0]
        self.most_units = max(self.most_units, units - self._spent[0][1])

    def _go_on_pouring(self) -> None:
        if not self.per_minute:
            return
        arrived = int((self.clock.now() - self._pour_at) / timedelta(minutes=1) * self.per_minute)
        if arrived:
            self._pour_at += arrived * timedelta(minutes=1) / self.per_minute
            self.pour(arrived)


def time_to_stop(folder: Path, *, waiting: int, busy_for: timedelta) -> timedelta:
    """How long a real daemon takes to end after SIGTERM, in the middle of reading so many mails of the league manager
    while each call takes its time. Raises ``LimitExceeded`` when it does not end."""
    player = LeagueProcess(role="player", group="falcons")
    with LocalLeague(folder=folder, seats=[player]) as league:
        sandbox = league.sandbox
        for number in range(waiting):
            sandbox.inject(free_text(number, player.address), to=[player.address], sender=MANAGER, verdict=VERDICT)
        sandbox.add_fault(Fault(action=FaultAction.WAIT, account=player.address, seconds=CALL.total_seconds()))
        league.start(player)
        process = league.processes[player.name]
        sleep_s(busy_for.total_seconds())
        begun_s = monotonic_s()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(LONGEST_STOP.total_seconds())
        except subprocess.TimeoutExpired:
            raise LimitExceeded("seconds until a daemon ends", LONGEST_STOP.seconds, LONGEST_STOP.seconds) from None
        return timedelta(seconds=monotonic_s() - begun_s)
