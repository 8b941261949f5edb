"""Classes of the user's own run in processes of their own: one that misbehaves costs its own call, and says so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.local_league.patience import LIMIT_S

FILE = Path(__file__).with_name("own_trouble.py")
RUN = ("run", "--single-game", "--seed", "7", "--player-b", "scripted", "--referee", "scripted")


def league_agents(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    own = {**os.environ, "LEAGUE_AGENTS_DATA": str(folder / "data")}
    command = [sys.executable, "-m", "league_agents", *arguments]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, timeout=LIMIT_S, text=True)


def played(folder: Path, name: str, *more: str) -> Any:
    done = league_agents(folder, *RUN, "--player-a", f"{FILE}:{name}", "--json", *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def place(text: str) -> str:
    return f"own_trouble.py:{[line.strip() for line in FILE.read_text('utf-8').splitlines()].index(text) + 1}"


CRASH = place("ctypes.string_at(0)")
EXIT = place("os._exit(7)")
HANG = place('re.match(r"(a+)+$", "a" * 64 + "b")')


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("Leaving", f"get_guess ended its process with exit code 7 ({EXIT}); a placeholder is guessed"),
        ("Crashing", f"get_questions crashed its process (SIGSEGV) ({CRASH}); placeholder questions are asked"),
        ("Endless", f"get_guess did not return within 2 s; it was at {HANG}; a placeholder is guessed"),
    ],
)
def test_an_agent_that_ends_or_never_comes_back_loses_one_call(tmp_path: Path, name: str, note: str) -> None:
    # Only who never comes back may be late: a process that ends takes what a busy machine needs.
    limit_s = 2 if name == "Endless" else 600
    (tmp_path / "rules.yaml").write_text(
        f"{{extends: prd, name: quick, callback_timeouts_seconds: {{get_guess: {limit_s}}}}}", encoding="utf-8"
    )
    document = played(tmp_path, name, "--rules", "rules.yaml")
    assert document["match"]["status"] == "completed"
    assert document["players"][0]["notes"] == [note]
    assert document["players"][1]["notes"] == []


def test_each_failure_at_a_table_is_one_line_and_the_match_goes_on(tmp_path: Path) -> None:
    limits = ("--config", "max_rounds=1", "--turn-timeout", "3", "--seed", "1")
    done = league_agents(tmp_path, "arena", "play", "market", "--agents", f"{FILE}:AtTable", *limits, "--json")
    assert json.loads(done.stdout)["outcome"]["reason"] == "max_rounds", done.stderr
    left_at, raised = place("os._exit(6)"), place('return {}["dynamc"]')
    left, failed, late = sorted(done.stderr.splitlines())
    assert left == f"agent s1 (submit_price): act ended its process with exit code 6 ({left_at})"
    assert failed == f"agent s2 (submit_price): act raised KeyError ({raised}): 'dynamc'"
    assert late.startswith("agent s3 (submit_price): act did not return within ")


@pytest.mark.parametrize("more", [(), ("--in-process",)])
def test_async_callbacks_play(tmp_path: Path, more: tuple[str, ...]) -> None:
    document = played(tmp_path, "Waiting", *more)
    assert document["players"][0]["guess"]["associative_word"] == "storm"
    assert document["players"][0]["notes"] == []
    checked = league_agents(tmp_path, "check", f"{FILE}:Waiting", "--json", *more)
    assert json.loads(checked.stdout)["verdict"] == "kept", checked.stderr


def test_the_same_match_is_played_in_either_place(tmp_path: Path) -> None:
    there, here = (played(tmp_path, "GoodPlayer", *more) for more in ((), ("--in-process",)))
    assert there == here


def test_check_says_that_an_agent_ends_its_process(tmp_path: Path) -> None:
    checked = league_agents(tmp_path, "check", f"{FILE}:Leaving", "--json", "--valid-only")
    assert checked.returncode == 1
    guess = json.loads(checked.stdout)["callbacks"][2]
    (finding,) = guess["findings"]
    assert (finding["found"], finding["where"]) == ("get_guess ended its process with exit code 7", EXIT)


def test_check_blames_the_constructor_that_ends_its_process(tmp_path: Path) -> None:
    checked = league_agents(tmp_path, "check", f"{FILE}:NeverMade", "--json", "--valid-only")
    unmade = json.loads(checked.stdout)["unmade"]
    assert unmade["found"] == "its constructor ended its process with exit code 5"
    assert unmade["where"] == place("os._exit(5)")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("check", "leaving.py:Player"),
            "it ended its process with exit code 3 at leaving.py:2; importing a file",
        ),
        (("check", "../my_player:X"), "names a file without its ending; write ../my_player.py:X"),
        (("check", "pkg/:X"), "names a folder; name a file in it, as pkg/helper.py:X, pkg/player.py:X"),
        (("check", "nowhere/:X"), "names a file without its ending; write nowhere.py:X"),
        (("check", "pkg/player:X"), "names a file without its ending; write pkg/player.py:X"),
        (("check", "./:X"), "names a folder; name a file in it, as leaving.py:X"),
        (("check", "pkg/player.py:Player"), "as whose part it has to be named; write pkg.player:Player"),
        (("evaluate", "player", "leaving.py:Player"), "it ended its process with exit code 3"),
        ((*RUN, "--player-a", "leaving.py:Player"), "it ended its process with exit code 3"),
        (("arena", "play", "market", "--agents", "leaving.py:Player"), "it ended its process with exit code 3"),
        (("arena", "play", "--scenario", "own_turns.yaml"), "leaving.py:Turns: cannot be imported: it ended"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leaving.py").write_text("import os\nos._exit(3)\n", "utf-8")
    turns = "{game: guess_number, agents: [{id: a}, {id: b}], protocol: {type: 'leaving.py:Turns'}}"
    (tmp_path / "own_turns.yaml").write_text(turns, "utf-8")
    package = tmp_path / "pkg"
    package.mkdir()
    (package / "__init__.py").write_text("", "utf-8")
    (package / "player.py").write_text("from .helper import X\nclass Player: pass\n", "utf-8")
    (package / "helper.py").write_text("X = 1\n", "utf-8")
    done = CliRunner().invoke(command_line, arguments)
    assert (done.exit_code, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert said in line
