"""A league file that a person has not finished, or that fits no journal, is refused with the key that is wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from league_agents.app.finished import EXAMPLE_ADDRESSES, refuse_unfinished, season_warnings
from league_agents.app.live_mailbox import missing_client
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.config.migrate import import_settings
from league_agents.kit.errors import ConfigError

EXAMPLE = Path(__file__).parents[3] / "config" / "league.example.yaml"
PLAYER = """\
league: {manager_email: office@league.test}
roles:
  player: {address: p@league.test, group_id: falcons}
"""


def read(tmp_path: Path, text: str) -> LeagueSettings:
    path = tmp_path / "league.yaml"
    path.write_text(text, "utf-8")
    return read_league_file(path, {})


def test_the_unedited_example_is_refused_until_each_mailbox_is_changed(tmp_path: Path) -> None:
    text = EXAMPLE.read_text("utf-8")
    for role in ("referee", "player"):
        with pytest.raises(ConfigError, match=rf"roles\.{role}\.address: still says the example's address falcons\."):
            refuse_unfinished(read(tmp_path, text))
        text = text.replace(f"falcons.{role}@gmail.com", f"{role}@league.test")
    with pytest.raises(ConfigError, match=r"league\.manager_email: still says the example's address league-office@"):
        refuse_unfinished(read(tmp_path, text))
    refuse_unfinished(read(tmp_path, text.replace("league-office@example.com", "office@league.test")))


@pytest.mark.parametrize(
    ("season", "warned"),
    [
        ("round_seconds: 60", True),
        ("round_seconds: 300", False),
        ("registration_seconds: 60", False),
        ("round_seconds: 60, is_automatic: false", False),
    ],
)
def test_a_round_that_is_shorter_than_one_step_is_warned_of(tmp_path: Path, season: str, warned: bool) -> None:
    teams = [{"group_id": name, "player": f"{name}.p@x.test", "referee": f"{name}.r@x.test"} for name in "abc"]
    text = f"""\
league: {{manager_email: office@league.test}}
season: {{id: S1, teams: {json.dumps(teams)}, {season}}}
roles:
  manager: {{address: office@league.test}}
"""
    told = list(season_warnings(read(tmp_path, text)))
    assert [".season.round_seconds: 60 s is less than a player has for one step (300 s" in line for line in told] == [
        True
    ] * warned


def test_every_address_of_the_example_is_refused() -> None:
    found = re.findall(r"[\w.-]+@[\w.-]+\w", EXAMPLE.read_text("utf-8"))
    assert {*found, "fill.in@example.com"} == set(EXAMPLE_ADDRESSES)


def test_an_imported_file_is_refused_until_everything_to_do_is_done(tmp_path: Path) -> None:
    old = tmp_path / "config.json"
    old.write_text(json.dumps({"app": {}, "gmail": {}}), "utf-8")
    text = import_settings(old).text(old.name)
    for key, before, after in (
        (r"roles\.player\.address: still", "address: fill.in@example.com", "address: p@league.test"),
        (r"league\.manager_email: still", "manager_email: fill.in@example.com", "manager_email: office@league.test"),
        (r"roles\.player\.group_id: is empty", "group_id: ''", "group_id: falcons"),
    ):
        with pytest.raises(ConfigError, match=key):
            refuse_unfinished(read(tmp_path, text))
        assert before in text
        text = text.replace(before, after)
    refuse_unfinished(read(tmp_path, text))


def test_another_address_at_example_com_is_nobodys_placeholder(tmp_path: Path) -> None:
    refuse_unfinished(read(tmp_path, PLAYER.replace("p@league.test", "p@example.com")))


def test_a_missing_client_file_is_named_only_while_it_is_needed(tmp_path: Path) -> None:
    settings = read(tmp_path, PLAYER)
    role = settings.role("player")
    said = missing_client(settings, role)
    assert said is not None
    assert "client_secret.json: there is no such file" in said
    command = f"league-agents auth login --role player --config {settings.path}"
    assert said.endswith(f"(docs/how-to/gmail.md, steps 1-3); then run '{command}'")
    role.token.write_text("{}")
    assert missing_client(settings, role) is None
    role.token.unlink()
    settings.gmail.credentials.write_text('{"web": {}}')
    said = missing_client(settings, role)
    assert said is not None
    assert 'is of type "Web application"' in said
    client = dict.fromkeys(("client_id", "client_secret", "auth_uri", "token_uri"), "https://x")
    settings.gmail.credentials.write_text(json.dumps({"installed": client}))
    assert missing_client(settings, role) is None
