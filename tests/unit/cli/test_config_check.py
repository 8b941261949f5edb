"""``league-agents config check``: every league file that is named, and everything that is wrong with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import command_line
from league_agents.sandbox.server import Sandbox

WRONG = """\
league: {manager_emial: office@league.test}
roles:
  player: {address: 7, group: falcons}
  referee: {address: r@league.test, id: R1, agnet: offline}
poll: {active_seconds: 0}
"""
RIGHT = """\
league: {manager_email: office@league.test}
roles: {player: {address: p@league.test, group_id: falcons, agent: scripted}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "leagues").mkdir()
    (tmp_path / "leagues" / "a.yaml").write_text(RIGHT, "utf-8")
    with Sandbox(["p@league.test"]) as sandbox:
        sandbox.client_secret_file(tmp_path / "leagues")
    return tmp_path / "leagues"


def league_agents(*words: str) -> Result:
    return CliRunner().invoke(command_line, words)


def said(result: Result) -> list[str]:
    return [line.partition(".yaml")[2].partition(";")[0] for line in result.stderr.splitlines()]


def test_all_mistakes_are_named_at_once(folder: Path) -> None:
    (folder / "a.yaml").write_text(WRONG, "utf-8")
    checked = league_agents("config", "check", "--config", "leagues/a.yaml")
    assert (checked.exit_code, checked.stdout) == (3, "")
    assert sorted(said(checked)) == [
        ".league: there is no key 'manager_emial': did you mean 'manager_email'?",
        ".poll.active_seconds: must be a number from 0.2 to 604800, found 0",
        ".roles.player.address: must be a mail address, found 7",
        ".roles.player: there is no key 'group': did you mean 'group_id'?",
        ".roles.referee: there is no key 'agnet': did you mean 'agent'?",
    ]


def test_a_new_file_is_refused_until_all_of_it_is_filled_in(folder: Path) -> None:
    assert league_agents("config", "init", "referee", "--out", "mine.yaml").exit_code == 0
    checked = league_agents("config", "check", "--config", "mine.yaml")
    assert checked.exit_code == 3
    assert said(checked) == [
        ".roles.referee.address: still says the example's address fill.in@example.com",
        ".league.manager_email: still says the example's address fill.in@example.com",
        ".roles.referee.group_id: still says 'fill-in'",
        ".roles.referee.id: still says 'fill-in'",
    ]
    started = league_agents("run", "--watch", "--config", "mine.yaml")
    assert (started.exit_code, said(started)) == (3, said(checked)[:1])


def test_the_files_of_a_folder_are_checked_one_by_one_and_together(folder: Path) -> None:
    (folder / "b.yaml").write_text(WRONG, "utf-8")
    checked = league_agents("config", "check", "--config", "leagues")
    assert checked.exit_code == 3
    assert "leagues/a.yaml is right; next: " in checked.stdout, checked.stderr
    assert {line.split(".yaml")[0] for line in checked.stderr.splitlines() if "there is no key" in line} == {
        "league-agents: leagues/b"
    }
    (folder / "b.yaml").write_text(RIGHT, "utf-8")
    doubled = league_agents("config", "check", "--config", "leagues")
    assert doubled.exit_code == 3
    assert "is the same address as leagues/a.yaml.roles.player.address" in doubled.stderr
    assert "leagues/b.yaml is right" not in doubled.stdout
