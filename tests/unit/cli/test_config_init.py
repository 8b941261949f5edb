"""``config init``: with options, at a terminal, and where a file is there already."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.cli import config as config_command
from league_agents.config.league_file import read_league_file


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def init(*words: str, answers: str = "") -> Result:
    return CliRunner().invoke(config_command.command, ["init", *words], input=answers, standalone_mode=False)


def test_options_fill_the_file_and_the_rest_is_told() -> None:
    done = init("player", "--address", "otters@league.test", "--group", "otters")
    assert done.exception is None
    assert "to do: league.manager_email" in done.stderr
    assert "roles.player.address" not in done.stderr
    assert done.stderr.splitlines()[-1] == "next: league-agents config check"
    assert read_league_file(Path("league.yaml"), {}).roles[0].address == "otters@league.test"
    assert Path("league.yaml").stat().st_mode & 0o077 == 0
    environment = Path(".env").read_text("utf-8")
    assert "OPENAI_API_KEY" in environment
    assert [line for line in environment.splitlines() if line and not line.startswith("#")] == []


def test_a_terminal_is_asked_and_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config_command, "is_terminal", lambda: True)
    done = init("referee", "--id", "R1", answers="office@league.test\nnonsense\notters@league.test\notters\n\n")
    assert done.exception is None, done.output
    assert "must be a mail address" in done.output
    settings = read_league_file(Path("league.yaml"), {})
    assert settings.manager_email == "office@league.test"
    assert (settings.roles[0].address, settings.roles[0].agent) == ("otters@league.test", "offline")
    assert "to do" not in done.stderr


def test_what_is_there_is_kept() -> None:
    Path("league.yaml").write_text("mine", "utf-8")
    Path(".env").write_text("OPENAI_API_KEY=mine", "utf-8")
    refused = init("player")
    assert "exists already" in str(refused.exception)
    assert Path("league.yaml").read_text("utf-8") == "mine"
    assert init("player", "--force").exception is None
    assert Path("league.yaml").read_text("utf-8") != "mine"
    assert Path(".env").read_text("utf-8") == "OPENAI_API_KEY=mine"


@pytest.mark.parametrize(
    ("kind", "name", "word"),
    [
        ("prices", "prices.yaml", "provider:model"),
        ("env", ".env", "LEAGUE_ID"),
        ("systemd", "league-agents.service", "WatchdogSec="),
    ],
)
def test_the_other_files_are_written_as_they_are_explained(kind: str, name: str, word: str) -> None:
    assert init(kind).exception is None
    assert word in Path(name).read_text("utf-8")
    assert "exists already" in str(init(kind).exception)


def test_an_option_of_another_role_is_refused() -> None:
    refused = init("player", "--season-id", "S1")
    assert "the league file of a player has no season id" in str(refused.exception)


def test_an_example_of_the_arena_is_written_to_be_played() -> None:
    done = init("arena", "--scenario", "market")
    assert done.stderr == "wrote market.yaml; next: league-agents arena play --scenario market.yaml\n"
    assert "market" in Path("market.yaml").read_text("utf-8")
    refused = init("arena", "--scenario", "chess")
    assert "choose guess_number, market" in str(refused.exception)
