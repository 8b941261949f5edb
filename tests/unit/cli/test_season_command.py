"""``league-agents season``: what it says, and how it goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.app import season as use_case
from league_agents.app.executor import Here
from league_agents.cli import command_line
from league_agents.cli.season import SCHEDULES, command
from league_agents.league.season.schedule import ScheduleKind


def season(*words: str) -> Result:
    return CliRunner().invoke(command, words, catch_exceptions=False, standalone_mode=True)


def test_a_season_is_played_and_shown(tmp_path: Path) -> None:
    out = tmp_path / "spring"
    ended = season(
        "--teams", "3", "--agents", "scripted", "--seed", "4", "--tie-breaks", "points,lot", "--out", str(out)
    )
    assert ended.exit_code == 0
    assert "Seed 4: 3 teams, round-robin, 3 matches, rules prd" in ended.stderr
    assert "3 matches: 3 completed" in ended.stdout
    assert " lot" in ended.stdout
    assert f"league-agents show standings --from {out}" in " ".join(ended.stdout.split())
    # The folder says the rest: the same season, played already.
    again = season("--out", str(out), "--json")
    document = json.loads(again.stdout)
    assert (document["seed"], document["terminations"], document["tie_breaks"]) == (
        4,
        {"completed": 3},
        ["points", "lot"],
    )
    assert [row["rank"] for row in document["divisions"][0]["standings"]] == [1, 2, 3]
    assert again.stderr == ""


def test_an_interrupted_season_goes_on_with_the_same_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--teams", "3", "--agents", "scripted", "--out", str(tmp_path / "s"))

    class Interrupted(Here):
        def close(self) -> None:
            raise KeyboardInterrupt

    monkeypatch.setattr(use_case, "executor_of", lambda *_: Interrupted())
    stopped = CliRunner().invoke(command, words, standalone_mode=True)
    assert stopped.exit_code != 0
    assert "3 of 3 matches were played; the same command goes on" in stopped.stderr
    monkeypatch.undo()
    # No seed was named: it is the one that was drawn.
    assert season(*words).exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "say who plays: --teams N or --roster FILE"),
        (("--teams", "4", "--roster", "r.yaml"), "cannot be used together"),
        (("--teams", "2"), "2 is not in the range"),
        (("--teams", "4", "--schedule", "cup"), "'cup' is not one of"),
        (("--teams", "4", "--dask", "here:8786", "--workers", "2"), "--workers is for this machine"),
    ],
)
def test_words_that_do_not_fit_are_refused(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    refused = season(*words, "--out", str(tmp_path / "s"))
    assert refused.exit_code == 2
    assert message in refused.stderr
    assert not (tmp_path / "s").exists()


def test_every_kind_of_schedule_can_be_named() -> None:
    assert tuple(kind.value for kind in ScheduleKind) == SCHEDULES


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--dask", "here"), "league-agents: --dask: 'here' is no address; write HOST:PORT or local\n"),
        (
            ("--dask", "local", "--agents", "llm"),
            "league-agents: --dask: keys of language models are not sent to",
        ),
        (("--dask", "local", "--agents", "gone.py:Me"), "league-agents: gone.py: cannot be read: No such file"),
        (("--agents", "gone.py:Me"), "league-agents: gone.py:"),
        (("--rules", "gone.yaml"), "gone.yaml"),
    ],
)
def test_what_cannot_be_played_is_refused_before_anything_is_written(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    out = ("--agents", "scripted", "--out", str(tmp_path / "s"))
    refused = CliRunner().invoke(command_line, ["season", "--teams", "4", *out, *words])
    assert refused.exit_code == 3
    assert message in refused.stderr
    assert not (tmp_path / "s").exists(), "the corrected command may name the same folder"
