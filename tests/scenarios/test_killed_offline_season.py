"""A season that is killed in the middle, by the signal that nobody can hear, goes on to the same bytes."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from league_agents.app.faults import LIGHT
from league_agents.app.season import ends, play_season
from league_agents.app.season_plan import SeasonPlan, numbered_roster, plan_of, write_plan

KILLED = """
import os, signal, sys
from pathlib import Path
from league_agents.app import season
from league_agents.app.executors import executor_of
from league_agents.app.season_plan import read_plan

class Deadly:
    def __init__(self, inner, passes):
        self.inner, self.left = inner, passes

    def submit(self, lane, work, /, *args, **kwargs):
        self.left -= work.__name__ == "play_pass"
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.inner.submit(lane, work, *args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.inner, name)

if __name__ == "__main__":
    folder, workers, passes = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    season.executor_of = lambda *places: Deadly(executor_of(*places), passes)
    season.play_season(read_plan(folder), folder, workers=workers)
"""


def plan() -> SeasonPlan:
    return plan_of(numbered_roster(3), seed=11, agents=("scripted",), faults=LIGHT)


def files_of(folder: Path) -> dict[str, bytes]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_season_that_is_killed_goes_on_to_the_same_bytes_in_two_processes(tmp_path: Path) -> None:
    # Starts five interpreters: nothing less shows that what lies on the disk, and what is handed over, is enough.
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    play_season(plan(), whole)
    cut.mkdir()
    write_plan(plan(), cut)
    program = tmp_path / "killed.py"
    program.write_text(KILLED, "utf-8")
    ended = subprocess.run([sys.executable, str(program), str(cut), "2", "400"], check=False, timeout=300)
    assert ended.returncode == -signal.SIGKILL
    assert any(path.read_bytes().count(b"\n") for path in cut.glob("unfinished/1/answers.*.jsonl"))
    assert not (cut / "journals").exists()
    play_season(plan(), cut, workers=2)
    assert files_of(cut) == files_of(whole)
    assert list(ends(plan(), cut)) == list(ends(plan(), whole))
