"""What the README shows is true: its agent keeps the contracts and plays, and the places that it names exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from league_agents.arena.server.limits import ServerLimits
from league_agents.settings.arena_server import arena_server
from league_agents.testing.patience import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def example(tmp_path: Path) -> Path:
    (source,) = re.findall(r"```python\n# my_player\.py\n(.*?)```", README, flags=re.DOTALL)
    (tmp_path / "my_player.py").write_text(source, encoding="utf-8")
    return tmp_path


def league_agents(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "league_agents", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_the_example_agent_keeps_every_contract(example: Path) -> None:
    ran = league_agents("check", "my_player:MyPlayerAI", cwd=example)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_example_agent_plays_a_match(example: Path) -> None:
    ran = league_agents("run", "--single-game", "--json", "--player-a", "my_player:MyPlayerAI", cwd=example)
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert [player["termination"] for player in document["players"]] == ["completed", "completed"]
    assert document["players"][0]["guess"]["associative_word"] == "witch"


def test_the_example_program_sits_down_at_a_server_and_plays_to_the_end(tmp_path: Path) -> None:
    (source,) = re.findall(r"```python\n# join_in\.py\n(.*?)```", README, flags=re.DOTALL)
    with arena_server(limits=ServerLimits(house_pause=timedelta(0))) as server:
        program = tmp_path / "join_in.py"
        program.write_text(source.replace("http://127.0.0.1:8765", server.url), encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, str(program)], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path
        )
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"winners: [\[(].*agent_.*\n", ran.stdout)


def test_every_place_that_the_readme_names_exists() -> None:
    named = set(re.findall(r"`((?:league_agents|scripts|config|tests)/[\w./-]+)`", README))
    assert named
    assert [place for place in sorted(named) if not (ROOT / place).exists()] == []
