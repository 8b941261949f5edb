"""The measure of instructions itself: what is counted is really played, and a machine without valgrind is told so."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from benchmarks import benchmark, instructions


@pytest.mark.parametrize("mode", instructions.MODES)
def test_a_season_that_is_counted_is_played_to_its_end(mode: str) -> None:
    instructions.play(mode, 1)


def test_matches_that_are_open_at_once_are_all_played() -> None:
    instructions.play_at_once(4, 2)


def test_one_batch_is_traced_from_mail_to_mail_and_no_further() -> None:
    trace = instructions.trace_of_one_batch()
    names = {path.rpartition("league_agents/")[2] for path in trace.files}
    assert {"league/wire/decode.py", "league/wire/encode.py", "journal/memory.py"} <= names
    assert "league/player.py" not in names, "the referee alone is traced"
    assert trace == instructions.trace_of_one_batch(), "the same work is counted every time"


def test_a_machine_without_valgrind_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    result = CliRunner().invoke(benchmark.main, ["--instructions"])
    assert result.exit_code == 1
    assert "valgrind is missing" in result.stderr
    assert "apt-get install valgrind" in result.stderr


def test_the_figures_come_as_one_document_without_progress_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "instructions_available", lambda: True)
    monkeypatch.setattr(benchmark, "millions_a_match", lambda mode: {"memory": 1.5, "journal": 2.5, "mime": 3.5}[mode])
    monkeypatch.setattr(benchmark, "process_s", lambda *_, runs: float(runs))
    result = CliRunner().invoke(benchmark.main, ["--instructions", "--quick", "--json"])
    document = json.loads(result.stdout)
    assert document["instructions"] == {"memory": 1.5, "journal": 2.5, "mime": 3.5}
    assert document["batch"]["files"] > 0
    assert "bench: instructions" in result.stderr
