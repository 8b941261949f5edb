"""scripts/release, tried on a copy of the tree that has a history of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from league_agents import __version__
from league_agents.local_league.patience import LIMIT_S
from tests.support.dependencies import link_dependencies

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the tree, committed on the branch main; its environment is the one of this test."""
    folder = tmp_path_factory.mktemp("release") / "copy"
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    (folder / "scripts" / "setup").write_text("#!/bin/sh\n", "utf-8")
    (folder / "tests").mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    git(folder, "init", "--quiet", "--initial-branch", "main")
    commit(folder)
    return folder


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Somebody", "-c", "user.email=somebody@league.test")
    return subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def commit(folder: Path) -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "A state")


def release(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PIP_NO_COMPILE": "1", "PYTHONPATH": ""}
    return subprocess.run(
        ["scripts/release", *options],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def notes(folder: Path, unreleased: str, version: str) -> None:
    (folder / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## Unreleased\n{unreleased}\n## {version}\n\n- It works.\n", "utf-8"
    )
    commit(folder)


@pytest.mark.parametrize(
    ("unreleased", "version", "said"),
    [
        ("\n### Added\n\n- A thing.\n", __version__, "lists changes as unreleased"),
        ("", "0.0.9", f"has no section '## {__version__}'"),
    ],
)
def test_what_is_not_in_the_changelog_is_not_released(copy: Path, unreleased: str, version: str, said: str) -> None:
    notes(copy, unreleased, version)
    refused = release(copy)
    assert refused.returncode == 1
    assert said in refused.stderr
    assert git(copy, "tag", "--list") == ""


def test_a_version_is_released_once_and_from_a_clean_tree(copy: Path) -> None:
    notes(copy, "", __version__)
    git(copy, "tag", f"v{__version__}")
    refused = release(copy)
    git(copy, "tag", "--delete", f"v{__version__}")
    assert (refused.returncode, "is tagged already" in refused.stderr) == (1, True)
    (copy / "stray.txt").write_text("x", "utf-8")
    refused = release(copy)
    (copy / "stray.txt").unlink()
    assert (refused.returncode, "not committed" in refused.stderr) == (1, True)


def test_a_dry_run_builds_installs_and_plays_and_tags_nothing(copy: Path, tmp_path: Path) -> None:
    notes(copy, "\n- A thing.\n", __version__)
    # What the wheel needs is that of this environment, without this package: a registry would take a minute.
    dependencies = link_dependencies(tmp_path / "dependencies")
    done = release(copy, "--dry-run", "--dependencies", str(dependencies))
    assert done.returncode == 0, done.stderr
    assert "not ready: CHANGELOG.md lists changes as unreleased" in done.stderr
    assert done.stderr.count("PASSED") == 2
    assert f"{__version__} could be built, installed and played; nothing was tagged" in done.stderr
    assert git(copy, "tag", "--list") == ""
    assert {path.suffix for path in (copy / "build" / "release").iterdir()} == {".whl", ".gz"}
