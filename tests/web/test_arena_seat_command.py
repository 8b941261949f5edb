"""A seat of a server, one turn a command."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from league_agents.app.arena_server import arena_server
from league_agents.arena.server.limits import ServerLimits
from league_agents.cli import command_line


@pytest.fixture
def url() -> Iterator[str]:
    with arena_server(limits=ServerLimits(house_pause=timedelta(0))) as server:
        yield server.url


def seat(*arguments: object) -> Result:
    return CliRunner().invoke(command_line, ["arena", "seat", *map(str, arguments)])


def test_a_match_is_played_one_command_at_a_time_and_the_token_stays_in_its_file(url: str, tmp_path: Path) -> None:
    key = tmp_path / "my.seat"
    taken = seat("take", url, "--game", "market", "--turn-timeout", 600, "--key", key)
    assert taken.exit_code == 0, taken.output
    token = json.loads(key.read_text())["token"]
    assert token not in taken.output
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    turns, output = 0, taken.output
    while True:
        looked = seat("look", key, "--wait", 60)
        assert looked.exit_code == 0, looked.output
        state = json.loads(looked.output)
        if state["status"] != "started":
            break
        (action,) = state["legal"]
        assert action["type"] == "submit_price"
        wrong = seat("act", key, "submit_price", '{"price": 1}')
        assert (wrong.exit_code, wrong.output.count("\n")) == (1, 1)
        acted = seat("act", key, action["type"], '{"price": 40}')
        assert acted.exit_code == 0, acted.output
        output += looked.output + acted.output + wrong.output
        turns += 1
    assert (state["status"], state["legal"]) == ("ended", [])
    assert turns > 1
    assert token not in output
    assert seat("leave", key).output == "left\n"


def test_what_cannot_be_is_one_line(url: str, tmp_path: Path) -> None:
    other = tmp_path / "notes.txt"
    other.write_text("mine")
    key = tmp_path / "k"
    assert seat("take", url, "--game", "market", "--turn-timeout", 600, "--key", key).exit_code == 0
    for arguments, line in (
        (("take", url, "--key", tmp_path / "x"), "give --game or --match"),
        (("take", url, "--game", "market", "--key", other), "is another file"),
        (("take", "http://127.0.0.1:1", "--game", "market", "--key", tmp_path / "x"), "cannot be reached"),
        (("look", other), "is no key of a seat"),
        (("look", tmp_path / "none"), "cannot be read"),
        (("act", key, "submit_price", "{"), "JSON is no JSON"),
        (("act", key, "submit_price", "[]"), "JSON must be an object"),
        (("act", key, "fly", "{}"), "fly"),
    ):
        refused = seat(*arguments)
        assert refused.exit_code != 0, arguments
        assert line in refused.output
        assert refused.output.count("\n") == 1, refused.output
