"""Whole seasons offline: how much computing one costs, whether it repeats, and what a second worker brings."""

from __future__ import annotations

import hashlib
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from league_agents.app import season as season_app
from league_agents.app.executor import Processes
from league_agents.app.faults import HEAVY, NONE, FaultProfile
from league_agents.app.season import ends, play_season
from league_agents.app.season_plan import SeasonPlan, numbered_roster, plan_of
from league_agents.games.q21.model import Termination
from league_agents.league.season.schedule import ScheduleKind


def plan_for(teams: int, agent: str, *, faults: FaultProfile = NONE, divisions: int = 1) -> SeasonPlan:
    """A double round robin of these agents."""
    return plan_of(
        numbered_roster(teams),
        seed=1,
        schedule=ScheduleKind.DOUBLE,
        divisions=divisions,
        agents=(agent,),
        referees=(agent,),
        faults=faults,
    )


@contextmanager
def played(plan: SeasonPlan, *, workers: int = 1) -> Iterator[tuple[Path, float, float]]:
    """The folder of a season that was played, and the seconds of processor and wall that it took."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "season"
        cpu_s, wall_s = time.process_time(), time.perf_counter()
        play_season(plan, place, workers=workers)
        yield place, time.process_time() - cpu_s, time.perf_counter() - wall_s


def digest_of(folder: Path) -> str:
    """Of everything that a season leaves but its lock."""
    digest = hashlib.sha256()
    for path in sorted(each for each in folder.rglob("*") if each.is_file() and each.suffix != ".lock"):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def season_cpu_s(teams: int, runs: int) -> tuple[float, bool]:
    """The least seconds of processor of several runs of a scripted season, and whether all left the same bytes."""
    plan = plan_for(teams, "scripted")
    took: list[float] = []
    left: set[str] = set()
    for _ in range(runs):
        with played(plan) as (folder, cpu_s, _wall_s):
            took.append(cpu_s)
            left.add(digest_of(folder))
    return min(took), len(left) == 1


def named_share(teams: int) -> float:
    """The share of the matches of a season with heavy faults that ended by a name."""
    plan = plan_for(teams, "scripted", faults=HEAVY)
    names = {each.value for each in Termination}
    with played(plan) as (folder, _cpu_s, _wall_s):
        found = [end.terminations for end in ends(plan, folder)]
    return sum(count for each in found for name, count in each.items() if name in names) / plan.matches


class _Timed(Processes):
    """Processes whose processor times are read before they end."""

    def __init__(self, count: int) -> None:
        super().__init__(count)
        self.cpu_s: list[float] = []
        self._count = count

    def close(self) -> None:
        self.cpu_s = [self.submit(lane, time.process_time).result() for lane in range(self._count)]
        super().close()


class SpeedUp(NamedTuple):
    """The gain of some workers over one with offline agents, in one run."""

    wall: float
    """By the clock on the wall; meaningful on an idle machine only."""

    cpu: float
    """The processor time of one worker, divided by that of the busiest of several and of the process that leads them:
    the bound on an idle machine, start of the workers included."""

    is_same: bool
    """Whether both left the same bytes."""


def speed_up(teams: int, workers: int, *, divisions: int = 1) -> SpeedUp:
    """Play the same season with one worker and with several."""
    plan = plan_for(teams, "offline", divisions=divisions)
    with played(plan) as (folder, alone_cpu_s, alone_s):
        expected = digest_of(folder)
    processes: list[_Timed] = []

    def timed(count: int, _cluster: str | None) -> _Timed:
        processes.append(_Timed(count))
        return processes[-1]

    with (
        patch.object(season_app, "executor_of", timed),
        played(plan, workers=workers) as (folder, leading_cpu_s, together_s),
    ):
        is_same = digest_of(folder) == expected
    busiest_s = max(processes[0].cpu_s)
    return SpeedUp(wall=alone_s / together_s, cpu=alone_cpu_s / (busiest_s + leading_cpu_s), is_same=is_same)
