"""The game of ``docs/how-to/own-game.md``, installed as a distribution of its own, is played like the built-in ones."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from league_agents.arena.client import Client
from league_agents.local_league.patience import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "how-to" / "own-game.md").read_text(encoding="utf-8")

Install = Callable[[Mapping[str, str]], Path]


def project() -> dict[str, str]:
    """The files of the page, by name."""
    found = re.findall(r"```\w+\n(?:#|//) ([\w./]+)\n(.*?)```", PAGE, flags=re.DOTALL)
    return dict(found)


@pytest.fixture(scope="module")
def nim(install_distribution: Install) -> Path:
    return install_distribution(project())


def python(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def arena(site: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return python(site, folder, "-m", "league_agents", "arena", *arguments)


def test_it_is_listed_played_and_replayed(nim: Path, tmp_path: Path) -> None:
    shown = arena(nim, tmp_path, "games", "--json")
    assert shown.returncode == 0, shown.stderr
    (told,) = [game for game in json.loads(shown.stdout)["games"] if game["game"] == "nim"]
    assert told["source"] == "nim-game 1.0"
    assert told["agents"] == [2, 6]
    command = ("play", "nim", "--agents", "random,scripted", "--seats", "3", "--seed", "4", "--config", "stones=40")
    played = arena(nim, tmp_path, *command, "--lang", "zh", "--record", "nim.jsonl", "--json")
    assert played.returncode == 0, played.stderr
    document = json.loads(played.stdout)
    assert document["outcome"]["reason"] == "last_stone"
    assert [agent["id"] for agent in document["agents"]] == ["player_1", "player_2", "player_3"]
    again = arena(nim, tmp_path, "replay", "nim.jsonl")
    assert "all as recorded" in again.stdout, again.stderr
    refused = arena(nim, tmp_path, "play", "nim", "--config", "stones=0")
    assert refused.returncode == 3
    assert refused.stderr == ("league-agents: config.stones: must be a whole number from 1 to 1000, found 0\n")


EVERYWHERE = """
import json, urllib.request, warnings
from datetime import timedelta
from league_agents.arena.client import Client
from league_agents.arena.pettingzoo import env, parallel_env
from league_agents.arena.server.limits import ServerLimits
from league_agents.app.arena_server import arena_server
from pettingzoo.test import api_test, seed_test

warnings.simplefilter("ignore")
api_test(env("nim"), num_cycles=50)
seed_test(lambda: env("nim"), num_cycles=20)
assert parallel_env("nim", agents=3).possible_agents == ["player_0", "player_1", "player_2"]
assert env("nim").action_space("player_0").n == 3

with arena_server(limits=ServerLimits(house_pause=timedelta(0))) as server:
    def get(path):
        with urllib.request.urlopen(server.url + path) as answer:
            return answer.read().decode()

    (told,) = [game for game in json.loads(get("/games"))["games"] if game["game"] == "nim"]
    assert told["usual_seats"] == ["player_1", "player_2"]
    assert '"nim"' in get("/page/game_list.js")
    assert "nim.left" in get("/page/games/nim.js")
    with Client(server.url) as client:
        match_id = client.create("nim", {"stones": 9}, ["open", "scripted"])
        ended = client.join(match_id, name="Ann").play(lambda state: ("take", {"stones": 1}))
        assert len(ended.winners) == 1
print("played everywhere")
"""


def test_it_is_finished_as_the_built_in_games_are(nim: Path) -> None:
    suite = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/unit/games/test_declared_games.py", "-k", "nim")
    ran = python(nim, ROOT, *suite)
    assert ran.returncode == 0, ran.stdout
    (passed,) = re.findall(r"\b(\d+) passed", ran.stdout)
    assert int(passed) >= 9


def test_it_is_served_and_wrapped(nim: Path, tmp_path: Path) -> None:
    (tmp_path / "everywhere.py").write_text(EVERYWHERE, encoding="utf-8")
    ran = python(nim, tmp_path, "everywhere.py")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.endswith("played everywhere\n")


def with_other(file: str, old: str, new: str) -> dict[str, str]:
    text = project()[file]
    assert old in text
    return {file: text.replace(old, new)}


BREAKAGES = {
    "a module that fails": (
        {"nim_game/__init__.py": "import nothing_like_it\n"},
        "nim of nim-game 1.0 cannot be used: nim_game:GAME: ModuleNotFoundError: No module named 'nothing_like_it'",
    ),
    "another object": ({"nim_game/__init__.py": "GAME = 3\n"}, "nim_game:GAME is 3, not a GameDeclaration"),
    "another code": (
        with_other("nim_game/__init__.py", 'code="nim"', 'code="nimm"'),
        "it declares the code 'nimm'; name the entry point like it",
    ),
    "no rules": (
        with_other("nim_game/__init__.py", ".rules:Nim", ".rules:Mim"),
        "has a part that cannot be loaded: .rules:Mim",
    ),
    "a method is missing": (
        with_other("nim_game/rules.py", "def forfeit(", "def give_up("),
        "game nim: cannot be played: its rules have no forfeit (nim-game 1.0)",
    ),
    "keys of all games are missing": (
        with_other("nim_game/rules.py", "NimConfig.in_json_schema()", '{"properties": {}}'),
        "game nim: cannot be played: its config_schema has no key lang with a default and a description",
    ),
    "rules that want something": (
        with_other("nim_game/rules.py", "class Nim:", "class Nim:\n    def __init__(self, a): ..."),
        "game nim: has rules that cannot be made: TypeError",
    ),
}


def changed(site: Path, folder: Path, files: Mapping[str, str]) -> Path:
    """A copy of what was installed, with other texts in some of its files."""
    copy = folder / "site"
    shutil.copytree(site, copy)
    for name, text in files.items():
        (copy / name).write_text(text, encoding="utf-8")
    return copy


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_broken_game_is_one_line_and_the_others_are_listed(breakage: str, nim: Path, tmp_path: Path) -> None:
    files, said = BREAKAGES[breakage]
    listed = arena(changed(nim, tmp_path, files), tmp_path, "games")
    assert listed.returncode == 3
    assert "market: Market" in listed.stdout
    assert said in listed.stderr
    assert listed.stderr.count("\n") == 1


def test_a_broken_game_is_not_played_and_the_others_are(nim: Path, tmp_path: Path) -> None:
    files, said = BREAKAGES["a module that fails"]
    site = changed(nim, tmp_path, files)
    played = arena(site, tmp_path, "play", "nim")
    assert (played.returncode, played.stdout) == (3, "")
    assert said in played.stderr
    assert arena(site, tmp_path, "play", "market", "--config", "max_rounds=1").returncode == 0


def test_a_server_leaves_a_broken_game_out_and_says_so(nim: Path, tmp_path: Path) -> None:
    files, said = BREAKAGES["a module that fails"]
    environment = {**os.environ, "PYTHONPATH": str(changed(nim, tmp_path, files))}
    command = [sys.executable, "-m", "league_agents", "arena", "serve", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            with Client(process.stdout.readline().strip()) as client:
                assert "nim" not in [game["game"] for game in client.games()]
        finally:
            process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=LIMIT_S)[1]
    assert process.returncode == 0
    assert "left out: " in told
    assert said in told


def test_a_game_without_its_script_is_shown_as_its_view_says_it(nim: Path, tmp_path: Path) -> None:
    site = changed(nim, tmp_path, {})
    (site / "nim_game/page.js").unlink()
    asked = "from league_agents.arena.server.page_files import page_files; print(page_files()['game_list.js'].body)"
    shown = python(site, tmp_path, "-c", asked)
    assert '"code": "nim"' in shown.stdout
    assert shown.stdout.count('"has_page": false') == 1
    assert "game nim has no page: page.js of nim_game" in shown.stderr


def test_a_game_with_the_code_of_a_built_in_one_is_refused(nim: Path, tmp_path: Path) -> None:
    points = "nim_game-1.0.dist-info/entry_points.txt"
    site = changed(nim, tmp_path, {points: (nim / points).read_text(encoding="utf-8").replace("nim = ", "market = ")})
    shown = arena(site, tmp_path, "games")
    assert shown.returncode == 3
    assert shown.stderr == (
        "league-agents: entry point league_agents.games: market of nim-game 1.0 has the name of a built-in one; "
        "uninstall nim-game\n"
    )
