"""Daemons that are killed in the middle of a send, again and again, over a mail service that takes its time.

Each daemon is a process of its own with its own mailbox. It answers mails of the league manager; the service takes a
drawn time with each of its sends, up to a minute, and some it drops in the end. What is counted is what the service
took: each answer once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from league_agents.app.storage import STORAGE
from league_agents.journal.port import OutboxState
from league_agents.kit.clock import real_monotonic_s, sleep_s
from league_agents.kit.draw import Draw
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague
from league_agents.runner.outbox import LONGEST_DOUBT
from league_agents.sandbox.faults import Fault, FaultAction
from tests.support.latency import VERDICT, free_text

SLOWEST_S = 60.0
SENDS_OF_A_DAEMON = 40
"""Sends with a drawn fate; later ones are quick."""

DROPPED = 0.15
"""The share of sends that never arrive."""

UNANSWERED = 3
"""Mails that wait at each daemon as long as it is to be killed."""

LONGEST_PAUSE_S = 3.0
"""Between a death and the next start."""

LONGEST_WAIT_S = 12.0
"""Between the moment in which a send reaches the service and the death of its client, which would leave after 20 s."""

LOOK_EVERY_S = 0.05


@dataclass(slots=True, kw_only=True)
class KilledSends:
    """What came of it."""

    kills: int = 0
    """While the service had a send that it had neither taken nor dropped, and its client waited for the reply."""

    other_kills: int = 0
    """The service was done in the very moment."""

    lives: int = 0
    asked: int = 0
    """Mails to be answered."""

    posts: int = 0
    """Sends that reached the service."""

    doubled: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    took_s: float = 0.0


@dataclass(slots=True)
class _Victim:
    """One daemon."""

    seat: LeagueProcess
    draw: Draw
    starts_at_s: float | None
    """When it is started; ``None`` while it lives."""

    asked: int = 0
    posted: Counter[str] = field(default_factory=Counter)
    """How often each of its answers has reached the service, as far as it was noticed."""

    target: str = ""
    """The send in the middle of which it dies at ``dies_at_s``; empty while none is on its way."""

    dies_at_s: float = 0.0


def killed_sends(
    folder: Path, *, daemons: int, kills: int, seed: int, told: Callable[[str], None] = lambda _line: None
) -> KilledSends:
    """Kill until ``kills`` of them hit a send on its way, then let every mail be answered. It takes minutes."""
    draw = Draw(seed, "killed sends")
    seats = [
        LeagueProcess(role="player" if number % 2 else "referee", group=f"team-{number}")
        for number in range(1, daemons + 1)
    ]
    began_s = real_monotonic_s()
    found = KilledSends()
    with LocalLeague(folder=folder, seats=seats, poll=timedelta(seconds=1)) as league:
        for fault in (fault for seat in seats for fault in _fates(seat, draw.fork(seat.name))):
            league.sandbox.add_fault(fault)
        victims = [
            _Victim(seat, fate := draw.fork(f"{seat.name}/deaths"), began_s + LONGEST_PAUSE_S * fate.fraction())
            for seat in seats
        ]
        while found.kills < kills:
            sends = _sends(league)
            now_s = real_monotonic_s()
            for victim in victims:
                _ask(league, victim, sends, found)
                _live_and_die(league, victim, sends, now_s, found)
            told(f"{found.kills} kills of {found.lives} lives, {found.asked} mails")
            sleep_s(LOOK_EVERY_S)
        _finish(league, victims, found, told)
        league.stop()
        _judge(league, victims, found)
    found.took_s = real_monotonic_s() - began_s
    return found


def _fates(seat: LeagueProcess, draw: Draw) -> Iterator[Fault]:
    """How long each send of a daemon takes, and which never arrive."""
    for number in range(1, SENDS_OF_A_DAEMON + 1):
        once = (number,)
        seconds = SLOWEST_S * draw.fraction()
        yield Fault(action=FaultAction.WAIT, method="messages.send", account=seat.address, calls=once, seconds=seconds)
        if draw.chance(DROPPED):
            yield Fault(action=FaultAction.DROP_UNDONE, method="messages.send", account=seat.address, calls=once)


def _sends(league: LocalLeague) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
    """Account -> mail -> how often it reached the service, and how often it was taken."""
    report: dict[str, Any] = league.sandbox.report()
    sends: dict[str, dict[str, dict[str, int]]] = report["sends"]
    return sends


def _ask(league: LocalLeague, victim: _Victim, sends: Mapping[str, Any], found: KilledSends) -> None:
    """Let mails wait at a daemon."""
    while victim.asked - _answered(victim, sends) < UNANSWERED:
        victim.asked += 1
        found.asked += 1
        address = victim.seat.address
        league.sandbox.inject(free_text(victim.asked, address), to=[address], sender=MANAGER, verdict=VERDICT)


def _answered(victim: _Victim, sends: Mapping[str, Any]) -> int:
    return sum(bool(counts["accepted"]) for counts in sends.get(victim.seat.address, {}).values())


def _live_and_die(
    league: LocalLeague, victim: _Victim, sends: Mapping[str, Any], now_s: float, found: KilledSends
) -> None:
    """Start a daemon whose time has come, or kill it in the middle of a send."""
    if victim.starts_at_s is not None:
        if now_s >= victim.starts_at_s:
            league.start(victim.seat)
            found.lives += 1
            victim.starts_at_s = None
        return
    posted = Counter({key: counts["posted"] for key, counts in sends.get(victim.seat.address, {}).items()})
    arrived = posted - victim.posted
    if arrived:
        victim.posted = posted
        victim.target = next(iter(arrived))
        victim.dies_at_s = now_s + LONGEST_WAIT_S * victim.draw.fraction()
    if not victim.target or now_s < victim.dies_at_s:
        return
    if victim.target in league.sandbox.sends_under_way(victim.seat.address):
        league.kill(victim.seat)
        if victim.target in league.sandbox.sends_under_way(victim.seat.address):
            found.kills += 1
        else:
            found.other_kills += 1
        victim.starts_at_s = now_s + LONGEST_PAUSE_S * victim.draw.fraction()
    victim.target = ""


def _finish(league: LocalLeague, victims: Sequence[_Victim], found: KilledSends, told: Callable[[str], None]) -> None:
    """Let every mail be answered, or wait in vain for longer than any doubt lasts."""
    for victim in victims:
        if victim.starts_at_s is not None:
            league.start(victim.seat)
            found.lives += 1
    changed_s, before = real_monotonic_s(), -1
    while real_monotonic_s() - changed_s < LONGEST_DOUBT.total_seconds():
        waiting = sum(_waiting(league, victim) for victim in victims)
        if waiting == 0:
            return
        if waiting != before:
            changed_s, before = real_monotonic_s(), waiting
        told(f"{waiting} mails are not answered yet")
        sleep_s(1)


def _waiting(league: LocalLeague, victim: _Victim) -> int:
    """Mails that a daemon has not answered, as far as it knows."""
    journal = STORAGE.look_at_journal(league.journal_of(victim.seat))
    try:
        return victim.asked - sum(item.state is OutboxState.SENT for item in journal.outbox())
    finally:
        journal.close()


def _judge(league: LocalLeague, victims: Sequence[_Victim], found: KilledSends) -> None:
    sends = _sends(league)
    for victim in victims:
        counts = sends.get(victim.seat.address, {})
        found.posts += sum(each["posted"] for each in counts.values())
        found.doubled += [f"{victim.seat.name} {key}" for key, each in counts.items() if each["accepted"] > 1]
        unanswered = victim.asked - _answered(victim, sends) + _waiting(league, victim)
        if unanswered:
            found.lost.append(f"{victim.seat.name}: {unanswered} mails")
