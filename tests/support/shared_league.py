"""A season whose mailboxes all belong to three daemons on one PostgreSQL, any of which may die or stop at any moment.

Every daemon lists every mailbox, as on machines of its own; leases decide who works on which. Disturbances come at
drawn instants: SIGKILL of a daemon or of the whole server, a daemon stopped for longer than its leases, a frozen
server. Time advances as the mailboxes are polled, and nobody is disturbed while a mail is in doubt, so that no
disturbance costs anybody a deadline.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import yaml

from league_agents.journal.port import StoredJournal
from league_agents.kit.clock import real_monotonic_s, sleep_s
from league_agents.kit.draw import Draw
from league_agents.kit.errors import LimitExceeded
from league_agents.local_league.league import UNHURRIED, LeagueProcess, LocalLeague
from league_agents.local_league.machine_clock import MachineClock
from league_agents.local_league.patience import LIMIT_S, LOOK_EVERY_S
from tests.support.killed_season import KilledSeason, ending_of, seats_of
from tests.support.postgres import PostgresServer

DAEMONS = 3
LEASE_S = 4
LONGEST_PAUSE_S = 4.0
"""Longest time between two disturbances."""

KILL, STOP, KILL_SERVER, FREEZE_SERVER = "daemon killed", "daemon stopped", "server killed", "server frozen"
FATES = (KILL,) * 7 + (STOP, KILL_SERVER, FREEZE_SERVER)


@dataclass(slots=True, kw_only=True)
class SharedLeague(LocalLeague):
    """The league, and its daemons by number."""

    daemons: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    has_stopped: bool = False
    """Whether a daemon is stopped. Time must not run on: what it began to send is in doubt for a while only."""

    def _running(self) -> list[LeagueProcess]:
        return list(self.seats)

    def start_daemon(self, number: int) -> None:
        """Start a daemon, on files of its own as on another machine."""
        folder = self.folder / f"daemon-{number}"
        if not folder.exists():
            folder.mkdir(mode=0o700)
            for path in (*self.folder.glob("token_*.json"), *self.folder.glob("client_secret*.json")):
                (folder / path.name).write_bytes(path.read_bytes())
            (folder / "league.yaml").write_text(yaml.safe_dump(self._all_settings()), "utf-8")
        with (folder / "log").open("ab") as log:
            self.daemons[number] = subprocess.Popen(
                [
                    *(sys.executable, "-m", "league_agents.kit.lifeline", "league_agents"),
                    *("run", "--watch", "--config", "league.yaml"),
                ],
                cwd=folder,
                env=self.environment_of(self.seats[0]),
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                process_group=0,
            )

    def _all_settings(self) -> dict[str, object]:
        manager: dict[str, Any] = self._settings(next(seat for seat in self.seats if seat.role == "manager"))
        for role in ("referee", "player"):
            ours: list[Any] = [self._settings(seat)["roles"] for seat in self.seats if seat.role == role]
            manager["roles"][role] = [each[role] for each in ours]
        return manager

    def end_daemon(self, number: int) -> None:
        """SIGKILL."""
        daemon = self.daemons.pop(number)
        daemon.kill()
        daemon.communicate()

    def watch(self, seconds: float) -> None:
        """Let the league go on for some real time. Daemons that found no database at their start begin again."""
        ends_s = real_monotonic_s() + seconds
        while True:
            for number, daemon in list(self.daemons.items()):
                if daemon.poll() is not None:
                    daemon.communicate()
                    self.start_daemon(number)
            if not self.has_stopped:
                # Registration ends when everybody has registered: no leap of time is needed for it.
                self._pass_poll()
            if real_monotonic_s() >= ends_s:
                return
            sleep_s(LOOK_EVERY_S)

    def settle(self) -> None:
        """Let the league go on until no mail is in doubt. Whoever is killed again and again while his mail is in doubt
        misses a deadline, as he should."""
        while any(journal.sends_in_doubt() for journal in self._journals()):
            self.watch(LOOK_EVERY_S)

    def _journals(self) -> Iterator[StoredJournal]:
        for seat in self.seats:
            if (journal := self.look_at_journal(seat)) is not None:
                with closing(journal):
                    yield journal

    def is_over(self) -> bool:
        """Whether the season is over and everybody was told."""
        return self.season() is not None and self._is_quiet()


def shared_season(
    folder: Path,
    server: PostgresServer,
    *,
    teams: int,
    disturbances: int,
    seed: int,
    fates: Counter[str],
    told: Callable[[str], None] = lambda _line: None,
) -> KilledSeason:
    """Play a season with at most so many disturbances, counted in ``fates``.

    Raises ``LimitExceeded`` when it does not come to an end.
    """
    draw = Draw(seed, "fates")
    clock = MachineClock(folder.parent, rate=UNHURRIED)
    url = f"{server.new_database(folder.name)}&lease_seconds={LEASE_S}"
    league = SharedLeague(
        folder=folder, seats=seats_of(teams), registration=timedelta(hours=1), clock=clock, database=url
    )
    done = 0
    with league:
        try:
            for number in range(DAEMONS):
                league.start_daemon(number)
            while done < disturbances and not league.is_over():
                league.settle()
                league.watch(LONGEST_PAUSE_S * draw.below(1_000) / 1_000)
                fate = FATES[draw.below(len(FATES))]
                told(f"{done + 1}: {fate}")
                _disturb(league, server, fate, draw.below(DAEMONS))
                fates[fate] += 1
                done += 1
            ends_s = real_monotonic_s() + LIMIT_S
            while not league.is_over():
                if real_monotonic_s() > ends_s:
                    raise LimitExceeded("seconds until the season is over", LIMIT_S, LIMIT_S)
                league.watch(1.0)
            return ending_of(league, kills=done, points=0)
        finally:
            for number in list(league.daemons):
                with suppress(ProcessLookupError):
                    league.end_daemon(number)


def _disturb(league: SharedLeague, server: PostgresServer, fate: str, number: int) -> None:
    if fate == KILL:
        league.end_daemon(number)
        league.start_daemon(number)
    elif fate == STOP:
        daemon = league.daemons[number]
        daemon.send_signal(signal.SIGSTOP)
        league.has_stopped = True
        league.watch(1.5 * LEASE_S)
        league.has_stopped = False
        daemon.send_signal(signal.SIGCONT)
    elif fate == KILL_SERVER:
        server.kill_all()
        server.start()
    else:
        server.freeze()
        sleep_s(LEASE_S)
        server.thaw()
