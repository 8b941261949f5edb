"""The tutorial, word for word, in a new virtual environment without the clone.

Real: the wheel built from this tree, the environment that the page makes, pip's installation of the wheel, every
command in its order, in one shell. Not real: the dependencies are those of the environment that runs the tests, found
through a ``.pth`` file, because downloading them takes a minute and a network.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from league_agents.app.records import open_season
from league_agents.local_league.patience import LIMIT_S
from tests.support.dependencies import link_dependencies

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("first-match", "first-agent", "first-league")
VENV_LINE = "python3 -m venv env"
SITE = f"env/lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def steps() -> list[str]:
    """Every command of the tutorial; a program that it shows is a command that writes it."""
    found: list[str] = []
    for page in PAGES:
        text = (ROOT / "docs" / "tutorial" / f"{page}.md").read_text("utf-8")
        for language, body in re.findall(r"```(sh|python)\n(.*?)```", text, flags=re.DOTALL):
            if language == "python":
                (name,) = re.findall(r"\A# (\w+\.py)\n", body)
                found.append(f"cat > {name} <<'THE_END'\n{body}THE_END")
            else:
                found += body.splitlines()
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the wheel and nothing else."""
    folder = tmp_path_factory.mktemp("tutorial")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=LIMIT_S)
    return folder


@pytest.fixture(scope="module")
def shown(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What each command printed."""
    around = tmp_path_factory.mktemp("around")
    dependencies = link_dependencies(around / "dependencies")
    # The version of Python that the dependencies are for.
    (around / "python3").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    (around / "python3").chmod(0o755)
    script = ["set -eu"]
    for number, line in enumerate(steps()):
        script += [f"printf '\\036%d\\n' {number}", line]
        if line == VENV_LINE:
            script.append(f"echo '{dependencies}' > {SITE}/dependencies.pth")
    environment = {
        "PATH": f"{around}:{os.environ['PATH']}",
        "HOME": str(around),
        "LEAGUE_AGENTS_DATA": str(around / "data"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_COMPILE": "1",
        "COLUMNS": "100",
        "LANG": "C.UTF-8",
    }
    ran = subprocess.run(
        ["bash"],
        input="\n".join(script),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    printed = dict(each.split("\n", 1) for each in ran.stdout.split("\x1e")[1:])
    assert ran.returncode == 0, f"{steps()[len(printed) - 1]}\n{ran.stdout[-2000:]}\n{ran.stderr[-4000:]}"
    return {line: printed[str(number)] for number, line in enumerate(steps())}


def test_the_tutorial_installs_the_wheel_into_an_environment_of_its_own(folder: Path, shown: dict[str, str]) -> None:
    assert "Successfully installed league-agents" in shown["pip install league_agents-*.whl"]
    assert shown["league-agents --version"].startswith("league-agents")
    place = subprocess.run(
        [folder / "env/bin/python", "-c", "import league_agents; print(league_agents.__file__)"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT_S,
    )
    assert Path(place.stdout.strip()) == folder / SITE / "league_agents" / "__init__.py"


def test_its_first_match_is_the_same_match_for_everybody(folder: Path, shown: dict[str, str]) -> None:
    document = json.loads((folder / "match.json").read_text("utf-8"))
    assert document["target"]["book_name"] in shown["league-agents run --single-game --seed 7"]
    assert [player["termination"] for player in document["players"]] == ["completed", "completed"]
    assert "did not send its next message" in shown["league-agents run --single-game --player-b scripted:silent"]


def test_its_agent_keeps_every_contract_with_one_warning_and_loses(shown: dict[str, str]) -> None:
    assert "Every contract is kept: 1 warning." in shown["league-agents check my_player:MyPlayerAI"]
    assert "player-b wins" in shown["league-agents run --single-game --player-a my_player:MyPlayerAI"]
    assert "Verdict" in shown["league-agents compare my_player:MyPlayerAI offline --games 20"]


def test_its_season_is_published(folder: Path, shown: dict[str, str]) -> None:
    assert len(list((folder / "pages" / "teams").glob("*.html"))) == 6
    assert len(list((folder / "pages" / "matches").glob("*.html"))) == 15
    season = (folder / "pages" / "index.html").read_text("utf-8")
    assert "15 of 15 played" in season
    assert "Ratings" in season
    source = open_season(folder / "season")
    results = source.season().standings()
    source.close()
    assert max(row.wins for row in results) > 1  # the pages have something to show: not every match is a draw
    assert "Team 01" in shown["league-agents show standings --from season"]
