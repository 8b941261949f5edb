"""The package as somebody gets it who installs the wheel and never sees the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from league_agents.local_league.patience import LIMIT_S

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "league_agents"

# Left behind by tools, never part of the package.
SCRATCH = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".DS_Store"})


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with the pinned hatchling of .venv: no isolation, so no network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S)
    assert built.returncode == 0, built.stdout + built.stderr
    [path] = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run_installed(unpacked: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the unpacked wheel in front of the path, away from the repository."""
    environment = {**os.environ, "PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=unpacked, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    ours = {
        path.relative_to(ROOT).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and not SCRATCH & set(path.parts) and path.suffix not in {".pyc", ".orig", ".rej"}
    }
    packed = set(zipfile.ZipFile(wheel).namelist())
    assert sorted(ours - packed) == []
    assert "league_agents/py.typed" in packed
    assert any(name.startswith("league_agents/knowledge/catalogue/") and name.endswith(".json") for name in packed)
    assert {"league_agents/games/q21/__init__.py", "league_agents/games/q21/rules.py"} <= packed


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0].split("-")[0] for name in names} == {"league_agents"}
    assert any(name.endswith(".dist-info/licenses/LICENSE") for name in names)


def test_the_command_of_the_wheel_is_league_agents(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    [entry_points] = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
    assert "league-agents = league_agents.cli:main" in archive.read(entry_points).decode().splitlines()


def test_the_unpacked_wheel_is_what_python_imports(unpacked: Path) -> None:
    shown = run_installed(unpacked, "-c", "import league_agents; print(league_agents.__file__)")
    assert shown.returncode == 0, shown.stderr
    assert Path(shown.stdout.strip()).parent == unpacked / "league_agents"


def test_rule_sets_and_catalogue_are_found_where_the_wheel_is_installed(unpacked: Path) -> None:
    asked = (
        "import importlib.resources, json\n"
        "from league_agents.games.q21.rules import BUILT_IN\n"
        "catalogue = importlib.resources.files('league_agents.knowledge') / 'catalogue'\n"
        "files = [file for file in catalogue.iterdir() if file.name.endswith('.json')]\n"
        "documents = [json.loads(file.read_text('utf-8')) for file in files]\n"
        "print(sorted(BUILT_IN), bool(documents))\n"
    )
    shown = run_installed(unpacked, "-c", asked)
    assert shown.stdout.strip() == "['course', 'prd'] True", shown.stderr


@pytest.mark.parametrize("rules", ["prd", "course"])
def test_a_match_is_played_from_the_wheel_with_each_built_in_rule_set(unpacked: Path, rules: str) -> None:
    # Offline agents read the catalogue, so package data is proved to be found where it was installed.
    played = run_installed(
        unpacked, "-m", "league_agents", "run", "--single-game", "--seed", "1", "--rules", rules, "--json"
    )
    assert played.returncode == 0, played.stderr
    assert '"winner_id"' in played.stdout


def test_the_files_that_config_init_writes_are_in_the_wheel(unpacked: Path, tmp_path: Path) -> None:
    for kind, name, word in (
        ("manager", "league.yaml", "roles:"),
        ("prices", "prices.yaml", "prices:"),
        ("arena", "match.yaml", "game:"),
        ("env", "settings.env", "LEAGUE_LLM_PROVIDER"),
        ("systemd", "league-agents.service", "ExecStart="),
    ):
        path = tmp_path / name
        written = run_installed(unpacked, "-m", "league_agents", "config", "init", kind, "-o", str(path))
        assert written.returncode == 0, written.stderr
        assert word in path.read_text("utf-8")
