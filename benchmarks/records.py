"""How long people wait for the tables of a large season, and how much memory that takes.

Rule: the folder is made of journals of matches that were played. One division is played; the others are links to its
files, because a table costs the same whether two divisions have the same names or not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from league_agents.app.agents import choose_agent
from league_agents.app.offline import OfflineTeam, offline_league, team_of
from league_agents.app.season_files import JOURNALS
from league_agents.app.storage import STORAGE
from league_agents.games.q21.rules import PRD
from league_agents.journal.port import Journal
from league_agents.league.season.schedule import round_robin

TEAMS = 20
"""Of a division: 380 matches, everybody against everybody twice."""

MATCHES = 10_000

_MEASURED = """
import atexit, runpy, sys

def tell(place=int(sys.argv.pop(1))):
    with open("/proc/self/status", encoding="ascii") as status, open(place, "w", encoding="ascii") as told:
        told.write(next(line for line in status if line.startswith("VmHWM:")).split()[1])

atexit.register(tell)
runpy.run_module("league_agents", run_name="__main__", alter_sys=True)
"""
"""The command, which writes its peak of memory in kB when it ends: ``ru_maxrss`` would be that of its parent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waited:
    """What one command cost."""

    wall_s: float
    cpu_s: float
    memory_mb: float
    """The most that the process held at once (VmHWM)."""

    printed: int
    """Bytes."""


def make_season(folder: Path, *, matches: int = MATCHES, teams: int = TEAMS) -> int:
    """Fill a season's folder with at least so many matches; return how many."""
    first = folder / JOURNALS / "d01"
    first.mkdir(parents=True)
    played = _play_division(first, teams)
    divisions = -(-matches // played)
    for number in range(2, divisions + 1):
        place = first.with_name(f"d{number:02d}")
        place.mkdir()
        for journal in first.glob("*.db"):
            (place / journal.name).hardlink_to(journal)
    return divisions * played


def _play_division(folder: Path, count: int) -> int:
    """Play a double round robin. Return the number of matches."""
    groups = [team_of(f"team-{number:02d}") for number in range(1, count + 1)]
    player, referee = (choose_agent("scripted", role, rules=PRD, seed=1) for role in ("player", "referee"))
    schedule = round_robin(groups, season=1, double=True)

    def journal_of(*, role: str, address: str, dump: Callable[[str, object], str]) -> Journal:
        path = folder / f"{role}.{address.partition('@')[0]}.db"
        return STORAGE.journal(path, role=role, address=address, dump=dump, outlives_power_cut=False)

    sides = [OfflineTeam(team=group, player=player, referee=referee) for group in groups]
    league = offline_league(sides, schedule, seed=1, rules=PRD, journal_of=journal_of)
    try:
        league.play()
    finally:
        league.close()
    return sum(1 for _ in schedule)


def waited_for(*arguments: str, compiled_in: str = "") -> Waited:
    """Run the command once as a process of its own. Raises ``CalledProcessError``.

    ``compiled_in``: the folder for byte code, where Python writes it even if it is told not to.
    """
    environment = dict(os.environ)
    if compiled_in:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = compiled_in
    begin = time.perf_counter()
    peak, told = os.pipe()
    with (
        os.fdopen(peak, encoding="ascii") as peak_kb,
        subprocess.Popen(
            [sys.executable, "-c", _MEASURED, str(told), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            pass_fds=(told,),
        ) as process,
    ):
        os.close(told)
        assert process.stdout is not None
        printed = sum(len(line) for line in process.stdout)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - begin
        memory_mb = int(peak_kb.read() or 0) / 1024
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return Waited(
        wall_s=wall_s,
        cpu_s=used.ru_utime + used.ru_stime,
        memory_mb=memory_mb,
        printed=printed,
    )
