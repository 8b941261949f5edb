"""The measure of a large season's tables works, on a small one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from benchmarks.records import make_season, waited_for
from league_agents.app.records import open_season


def test_a_folder_of_linked_divisions_is_read_whole(tmp_path: Path) -> None:
    assert make_season(tmp_path, matches=13, teams=3) == 18
    season = open_season(tmp_path).season()
    assert season.divisions == ("d01", "d02", "d03")
    assert len(season.schedule) == 18
    assert len(season.standings()) == 9
    assert min(row.rank for row in season.standings()) == 1
    assert len(list(open_season(tmp_path).matches())) == 18


def test_a_command_is_measured_as_a_process_of_its_own() -> None:
    larger = b"x" * 100_000_000
    found = waited_for("--version")
    assert 1 < found.memory_mb < len(larger) / 1_000_000  # its own, not that of the process that started it
    assert found.printed > 5
    with pytest.raises(subprocess.CalledProcessError):
        waited_for("show", "matches", "--from", "/nowhere")


def test_a_command_is_measured_with_its_modules_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    waited_for("--version", compiled_in=str(tmp_path))
    assert list(tmp_path.rglob("league_agents/cli/*.pyc"))
