"""The command as a process of its own: bytes on stdout, lines on stderr, exit codes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.cli import EXIT_MEANINGS, Exit, command_line
from league_agents.local_league.patience import LIMIT_S

AGENTS = Path(__file__).with_name("checked_agents.py")
RUN = ("run", "--single-game", "--seed", "7")


def league_agents(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    own = {**os.environ, "LEAGUE_AGENTS_DATA": str(folder / "data"), **(environment or {})}
    own.pop("LEAGUE_AGENTS_DEBUG", None)
    command = [sys.executable, "-m", "league_agents", *arguments]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, timeout=LIMIT_S)


@pytest.mark.parametrize("rules", ["prd", "course"])
def test_the_same_seed_prints_the_same_bytes(tmp_path: Path, rules: str) -> None:
    first, second = (
        league_agents(tmp_path, *RUN, "--rules", rules, "--json", environment={"PYTHONHASHSEED": seed})
        for seed in ("1", "2")
    )
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout
    assert json.loads(first.stdout)["seed"] == 7


def test_json_is_alone_on_stdout_whatever_an_agent_prints(tmp_path: Path) -> None:
    spec = f"{AGENTS}:PrintingPlayer"
    played = league_agents(tmp_path, *RUN, "--player-a", spec, "--player-b", "scripted", "--json")
    assert json.loads(played.stdout)["players"][0]["guess"]["associative_word"] == "storm"
    for word in (b"constructor", b"a callback", b"descriptor", b"a child", b"at exit"):
        assert word in played.stderr
        assert word not in played.stdout
    checked = league_agents(tmp_path, "check", spec, "--json")
    assert json.loads(checked.stdout)["verdict"] == "kept"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_utf_8_and_the_transcript_fits_the_terminal(tmp_path: Path, encoding: str) -> None:
    environment = {"PYTHONIOENCODING": encoding, "NO_COLOR": "1", "COLUMNS": "80"}
    played = league_agents(tmp_path, *RUN, "--demo", "--json", environment=environment)
    assert json.loads(played.stdout.decode("utf-8"))["target"]["associative_word"] == "whale"
    told = league_agents(tmp_path, *RUN, "--demo", environment=environment)
    assert told.returncode == 0, told.stderr
    assert b"Call me Ishmael." in told.stdout
    assert b"\x1b" not in told.stdout + told.stderr
    assert max(map(len, told.stdout.decode(encoding).splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["run"], 2, "--single-game"),
        (["run", "--single-game", "--seed", "many"], 2, "--seed"),
        (["run", "--single-game", "--sed", "3"], 2, "--sed"),
        (["run", "--single-game", "3"], 2, "3"),
        (["run", "--single-game", "--demo", "--referee", "offline"], 2, "--referee"),
        (["run", "--single-game", "--rules", "prb"], 3, "prb"),
        (["run", "--single-game", "--rules", "broken.yaml"], 3, "broken.yaml"),
        (["run", "--single-game", "--rules", "unknown.yaml"], 3, "questons_required"),
        (["run", "--single-game", "--rules", "binary.yaml"], 3, "binary.yaml"),
        (["run", "--single-game", "--rules", "."], 3, "."),
        (["run", "--single-game", "--referee", "scripted:raisin"], 3, "scripted:raising"),
        (["run", "--single-game", "--player-a", "nowhere:Player"], 3, "nowhere"),
        (["run", "--single-game", "--player-b", "failing.py:Player"], 3, "line 1 of"),
        (["run", "--single-game", "--player-b", "syntax.py:Player"], 3, "SyntaxError"),
        (["run", "--single-game", "--player-b", "leaving.py:Player"], 3, "SystemExit"),
        (["run", "--single-game", "--demo", "--record", "no/match.json"], 3, "no/match.json"),
        (["run", "--single-game", "--demo", "--record", "broken.yaml"], 3, "broken.yaml"),
        (["run", "--single-game", "--demo", "--journal", "no/match.db"], 3, "no"),
        (["check"], 2, "module:Class"),
        (["check", "failing.py:Player"], 3, "failing.py"),
        (["corpus", "add"], 2, "FILE"),
        (["corpus", "add", "binary.yaml"], 3, "binary.yaml"),
        (["corpus", "show", "Nothing"], 3, "Nothing"),
        (["rules", "nothing"], 3, "nothing"),
        (["nonsense"], 2, "nonsense"),
    ],
)
def test_bad_input_is_one_line_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LEAGUE_AGENTS_DEBUG", raising=False)
    (tmp_path / "broken.yaml").write_text("a: [", "utf-8")
    (tmp_path / "unknown.yaml").write_text("extends: prd\nquestons_required: 3\n", "utf-8")
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))
    (tmp_path / "failing.py").write_text("raise ValueError('not today')\n", "utf-8")
    (tmp_path / "syntax.py").write_text("class Player(:\n", "utf-8")
    (tmp_path / "leaving.py").write_text("raise SystemExit(0)\n", "utf-8")
    done = CliRunner().invoke(command_line, arguments, prog_name="league-agents")
    assert done.exit_code == code, done.stderr
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("league-agents: ")
    assert word in line


@pytest.mark.parametrize(("arguments", "code"), [(["run", "--single-game", "--sed", "3"], 2), (["rules", "none"], 3)])
def test_bad_input_ends_the_process_with_its_code_and_one_line(tmp_path: Path, arguments: list[str], code: int) -> None:
    done = league_agents(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (code, b"")
    assert done.stderr.startswith(b"league-agents: ")
    assert done.stderr.count(b"\n") == 1


def test_a_reader_that_goes_away_is_no_error_message(tmp_path: Path) -> None:
    command = f"{sys.executable} -m league_agents run --single-game --demo --seed 1 2>errors | head -n 2"
    shown = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, timeout=LIMIT_S)
    assert len(shown.stdout.splitlines()) == 2
    errors = (tmp_path / "errors").read_text("utf-8")
    assert "Traceback" not in errors
    assert "pipe" not in errors.casefold()


@pytest.mark.parametrize("arguments", [["--help"], ["rules"], [*RUN, "--demo"], [*RUN, "--demo", "--json"]])
def test_an_output_that_nobody_reads_has_one_exit_code(tmp_path: Path, arguments: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "league_agents", *arguments],
        cwd=tmp_path,
        env={**os.environ, "LEAGUE_AGENTS_DATA": str(tmp_path)},
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=LIMIT_S,
    )
    os.close(writer)
    assert done.returncode == Exit.FAILED
    assert b"pipe" not in done.stderr.lower()
    assert "'| head'" in EXIT_MEANINGS[Exit.FAILED]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [["rules"], ["run", "--single-game", "--demo", "--json"], ["corpus", "list"]])
def test_a_full_disk_is_one_line(tmp_path: Path, arguments: list[str]) -> None:
    environment = {**os.environ, "LEAGUE_AGENTS_DATA": str(tmp_path)}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "league_agents", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,
            timeout=LIMIT_S,
        )
    assert done.returncode == 4
    (line,) = done.stderr.decode().splitlines()
    assert "No space left" in line


def test_an_interrupt_ends_a_match_with_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "league_agents", "run", "--single-game", "--player-a", f"{AGENTS}:HangingPlayer"]
    environment = {**os.environ, "LEAGUE_AGENTS_DATA": str(tmp_path)}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            # The book is told: from here on the match waits for questions that do not come.
            if "player-b asks" in line or "tells player-b" in line:
                break
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
        assert process.wait(LIMIT_S) == 130
    assert "Traceback" not in rest
    assert rest.rstrip().endswith("league-agents: interrupted")


def test_python_m_is_the_same_command(tmp_path: Path) -> None:
    assert b"Usage: league-agents" in league_agents(tmp_path, "--help").stdout
