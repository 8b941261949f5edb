"""Measures a season of divisions in one process, and on two workers of Dask of which one is killed on the way:
``.venv/bin/python -m benchmarks.clusters --divisions 50``. ``--plan`` measures only the plan of 10,000 teams.

By processor time, which a busy machine does not change much: the time of one process, divided by that of the busiest
worker (both processes of the killed one together) and of the client, which is the scheduler too. The wall clock's
ratio means something on an idle machine only.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

from benchmarks.seasons import digest_of
from league_agents.app import season as season_app
from league_agents.app.cluster import LOCAL, Cluster
from league_agents.app.season import play_season
from league_agents.app.season_plan import SeasonPlan, numbered_roster, plan_of, write_plan

psutil = import_module("psutil")  # which comes with Dask, without types

TEAMS = 15
"""Of a division, which then has 105 matches."""


class _Watched(Cluster):
    """A cluster on this machine whose worker processes are measured while it works, and of which one is killed."""

    opened: _Watched | None = None

    def __init__(self, _workers: int, _cluster: str | None) -> None:
        super().__init__(LOCAL, workers=2)
        self.cpu_s: dict[int, dict[int, float]] = defaultdict(dict)
        """By worker, and by process: a worker that was killed goes on as another process."""

        _Watched.opened = self

    def look(self) -> None:
        """Read the processor time of the worker processes."""
        for name, nanny in self._local.workers.items():
            process = nanny.process.process if nanny.process is not None else None
            pid = None if process is None else process.pid
            if pid is not None:
                try:
                    times = psutil.Process(pid).cpu_times()
                except psutil.Error:
                    continue
                self.cpu_s[name][pid] = times.user + times.system

    def kill_one(self) -> None:
        """As if memory had run out."""
        os.kill(next(iter(self._local.workers.values())).process.process.pid, signal.SIGKILL)

    @property
    def busiest_s(self) -> float:
        return max(sum(each.values()) for each in self.cpu_s.values())


def _memory_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


def plan_for(divisions: int) -> SeasonPlan:
    """A season of scripted teams."""
    return plan_of(numbered_roster(TEAMS * divisions), seed=1, divisions=divisions, agents=("scripted",))


def measure(divisions: int, folder: Path) -> None:
    """Play the season twice, and print what it cost."""
    plan = plan_for(divisions)
    print(f"{plan.matches} matches of {divisions} divisions", flush=True)
    began_s, cpu_s = time.perf_counter(), time.process_time()
    play_season(plan, folder / "one")
    one_s, one_wall_s = time.process_time() - cpu_s, time.perf_counter() - began_s
    print(f"one process: {one_s:.1f} s of processor, {one_wall_s:.0f} s, {_memory_mb():.0f} MB", flush=True)
    expected = digest_of(folder / "one")
    shutil.rmtree(folder / "one")

    memory: list[float] = []
    is_killed = False

    def told(matches: int) -> None:
        nonlocal is_killed
        assert _Watched.opened is not None
        _Watched.opened.look()
        if not is_killed and 3 * matches >= plan.matches:
            is_killed = True
            _Watched.opened.kill_one()
        if matches >= plan.matches * (len(memory) + 1) / 4:
            memory.append(_memory_mb())

    began_s, cpu_s = time.perf_counter(), time.process_time()
    with patch.object(season_app, "executor_of", _Watched):
        play_season(plan, folder / "cluster", progress=told)
    client_s, wall_s = time.process_time() - cpu_s, time.perf_counter() - began_s
    assert _Watched.opened is not None
    busiest_s = _Watched.opened.busiest_s
    workers = ", ".join(
        " + ".join(f"{each:.1f}" for each in processes.values()) for processes in _Watched.opened.cpu_s.values()
    )
    is_same = digest_of(folder / "cluster") == expected
    shutil.rmtree(folder / "cluster")
    print(f"two workers, one killed after a third: {workers} s of processor, client {client_s:.1f} s, {wall_s:.0f} s")
    print(f"client's memory after each quarter: {', '.join(f'{each:.0f}' for each in memory)} MB")
    print(f"same bytes: {'yes' if is_same else 'NO'}")
    print(f"times one process, by processor time: {one_s / (busiest_s + client_s):.2f}; by the wall: ", end="")
    print(f"{one_wall_s / wall_s:.2f}", flush=True)


def measure_plan(folder: Path) -> None:
    """Plan 10,000 teams in 1,000 divisions, and write the plan."""
    began_s = time.process_time()
    plan = plan_of(numbered_roster(10_000), seed=1, divisions=1_000, agents=("scripted",), promoted=2)
    made_s = time.process_time() - began_s
    write_plan(plan, folder)
    size = sum(path.stat().st_size for path in folder.iterdir())
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(
        f"10,000 teams, {plan.matches} matches: planned in {made_s:.2f} s of processor, {size / 1e6:.1f} MB, ", end=""
    )
    print(f"{peak_mb:.0f} MB of memory")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--divisions", type=int, default=50, help=f"each of {TEAMS} teams, {TEAMS * 7} matches")
    parser.add_argument("--plan", action="store_true", help="only plan 10,000 teams")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if chosen.plan:
            measure_plan(Path(folder))
        else:
            measure(chosen.divisions, Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
