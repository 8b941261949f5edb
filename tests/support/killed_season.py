"""A season over local Gmail whose process is killed at chosen points and started again, and how it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from league_agents.journal.port import InboxVerdict, OutboxState
from league_agents.kit.errors import LeagueError
from league_agents.local_league.league import LeagueProcess, LocalLeague
from league_agents.local_league.patience import LIMIT_S
from tests.support import ROOT

REGISTRATION = timedelta(minutes=5)
"""Long enough for whoever is killed while it registers. It ends when everybody has registered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KilledSeason:
    """How it ended."""

    standings: tuple[tuple[object, ...], ...]
    messages: Counter[tuple[str, str]]
    """Sender and type of everything that Gmail accepted."""

    accepted_twice: tuple[object, ...]
    unsent: int
    turned_away: int
    """Mails that were rejected or put aside."""

    unread: int
    """Protocol mails that nobody took in."""

    kills: int
    points: int
    """Of the last life."""


def seats_of(teams: int) -> list[LeagueProcess]:
    """A manager, and a referee and a player of each team."""
    groups = [f"team-{number}" for number in range(1, teams + 1)]
    return [
        LeagueProcess(role="manager", group=""),
        *(LeagueProcess(role=role, group=group) for group in groups for role in ("referee", "player")),
    ]


def killed_season(folder: Path, *, teams: int, kill_at: Iterable[int] = ()) -> KilledSeason:
    """Play a season; the process dies once at each of these points, counted from its own start.

    Raises ``LeagueError`` when a life ends in any other way.
    """
    kills = 0
    with LocalLeague(folder=folder, seats=seats_of(teams), registration=REGISTRATION) as league:
        files = [str(league.config_of(seat)) for seat in league.seats]
        for point in kill_at:
            if _live(folder, point, files).returncode == -signal.SIGKILL:
                kills += 1
            else:
                break
        last = _live(folder, 0, files)
        return ending_of(league, kills=kills, points=int(last.stdout.split()[-1]))


def ending_of(league: LocalLeague, *, kills: int, points: int) -> KilledSeason:
    """How a season that is over ended."""
    report: dict[str, Any] = league.sandbox.report()
    unread = sum(len(league.sandbox.mail(seat.address, "UNREAD")) for seat in league.seats)
    participants = league.participants()
    try:
        outbox = [(each.address, item) for each in participants for item in each.journal.outbox()]
        rows = [row for each in participants for row in each.journal.inbox()]
        season = next(note for note in participants[0].journal.notes() if note.kind == "season")
    finally:
        for each in participants:
            each.journal.close()
    standings = season.facts.get("standings")
    sends = [(account, key, n) for account, keys in report["sends"].items() for key, n in keys.items()]
    accepted = {(account, key) for account, key, n in sends if n["accepted"]}
    return KilledSeason(
        standings=tuple(tuple(row.values()) for row in standings if isinstance(row, dict))
        if isinstance(standings, list)
        else (),
        messages=Counter((address, item.message_type) for address, item in outbox if item.state is OutboxState.SENT),
        accepted_twice=tuple(report["accepted_twice"]),
        unsent=sum(
            1 for address, item in outbox if (address, item.transaction_id) not in accepted
            or item.state is not OutboxState.SENT
        ),
        turned_away=sum(row.verdict in (InboxVerdict.REJECTED, InboxVerdict.PARKED) for row in rows),
        unread=unread,
        kills=kills,
        points=points,
    )  # fmt: skip


def _live(folder: Path, point: int, files: list[str]) -> subprocess.CompletedProcess[bytes]:
    """One life of the process."""
    command = [sys.executable, "-m", "tests.support.crash_process", str(point), *files]
    environment = {**os.environ, "LEAGUE_AGENTS_DATA": str(folder / "data"), "PYTHONPATH": str(ROOT)}
    life = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=LIMIT_S, check=False)
    if life.returncode not in (0, -signal.SIGKILL):
        raise LeagueError(f"a life ended with code {life.returncode}: {life.stderr.decode(errors='replace')[-1000:]}")
    return life
