"""The tasks of Inspect AI, run by its own ``eval`` with its mock model: no network, no key."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")

from league_agents.app import inspect_tasks
from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S

ROOT = Path(__file__).resolve().parents[3]
POINTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]["inspect_ai"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture(scope="module")
def runs(folder: Path) -> dict[str, Any]:
    """All runs of ``inspect_runs``; the entry point of ``pyproject.toml`` stands in metadata made for them."""
    metadata = folder / "league_agents_tasks-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: league-agents-tasks\nVersion: 1\n", "utf-8")
    lines = [f"{name} = {module}" for name, module in POINTS.items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[inspect_ai]", *lines]) + "\n", "utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "tests.support.inspect_runs", str(folder / "logs")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)])},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_the_entry_point_names_the_module_of_the_tasks() -> None:
    assert {"league_agents": inspect_tasks.__name__} == POINTS


def test_the_commands_of_the_page_name_tasks_and_their_parameters() -> None:
    page = (ROOT / "docs/how-to/research.md").read_text("utf-8")
    lines = re.findall(r"^inspect eval league_agents/(\w+) (.*)$", page, flags=re.MULTILINE)
    assert len(lines) > 3
    for task, options in lines:
        known = inspect.signature(getattr(inspect_tasks, task)).parameters
        assert set(re.findall(r"-T (\w+)=", options)) <= set(known), task


def test_a_player_is_scored_by_the_rules_and_not_by_what_it_says(runs: dict[str, Any]) -> None:
    bragging, plain = runs["bragging"]["figures"], runs["plain"]["figures"]
    assert bragging["points"]["mean"] == plain["points"]["mean"] == 0.0
    assert (bragging["usable_replies"]["mean"], plain["usable_replies"]["mean"]) == (0.0, 1.0)
    assert 0 < plain["private_score"]["stderr"] < plain["private_score"]["mean"] < 10
    assert bragging["private_score"]["mean"] < 10


def test_the_log_holds_the_conversation(runs: dict[str, Any], folder: Path) -> None:
    assert runs["course"]["status"] == "success"
    assert runs["course"]["calls"] == 2
    assert runs["course"]["roles"] == ["system", "user", "assistant", "user", "assistant"]
    assert len(list((folder / "logs").glob("*.eval"))) == len(runs)


def test_the_leagues_own_player_tells_what_it_used_of_the_model(runs: dict[str, Any]) -> None:
    player = runs["chain"]
    assert player["figures"]["model_share"]["mean"] == 0.0
    assert player["figures"]["points"]["mean"] > 0, "code plays on without the model"
    assert player["calls"] > 0


def test_a_referee_is_examined_with_known_answers(runs: dict[str, Any]) -> None:
    referee = runs["referee"]
    shares = [referee["figures"][f"answers_{kind}"]["mean"] for kind in ("right", "wrong", "declined")]
    assert sum(shares) == pytest.approx(1)
    assert referee["figures"]["points_as_rules"]["mean"] == 1.0
    assert referee["calls"] > 0


def test_a_model_takes_a_seat_in_the_arena(runs: dict[str, Any]) -> None:
    measured = runs["undercover"]["figures"]
    assert measured["model_share"] == {"mean": 1.0, "stderr": 0.0}
    assert set(measured) == {"score", "win", "model_share"}
    assert runs["guess_number"]["figures"]["model_share"]["mean"] == 0.0


def test_a_service_that_fails_fails_the_sample(runs: dict[str, Any]) -> None:
    assert runs["failing"]["status"] == "error"
    assert "the service is down" in runs["failing"]["error"]
    assert runs["failing"]["figures"] == {}


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: inspect_tasks.q21(rules="chess"), "rules"),
        (lambda: inspect_tasks.q21(agent="magic"), "agent"),
        (lambda: inspect_tasks.q21(games=0), "games"),
        (lambda: inspect_tasks.q21(noise=2), "noise"),
        (lambda: inspect_tasks.q21(opponent="llm"), "evaluated seat"),
        (lambda: inspect_tasks.q21(books="9/2"), "--books"),
        (lambda: inspect_tasks.q21_referee(players="nobody"), "nobody"),
        (lambda: inspect_tasks.arena("chess"), "chess"),
        (lambda: inspect_tasks.arena("undercover", seat=7), "1 to 6"),
    ],
)
def test_a_wrong_parameter_is_one_line_before_the_first_sample(make: Callable[[], object], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        make()
    assert "\n" not in str(caught.value)
