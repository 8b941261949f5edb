"""``league-agents arena serve`` as a process: it says where it is, plays, and ends when it is told to."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest

from league_agents.app.arena_server import arena_house
from league_agents.arena.client import Client
from league_agents.arena.server.serving import ArenaServer
from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "league_agents", "arena", "serve", *arguments]


def refused(*arguments: str) -> str:
    ran = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert ran.returncode == 3
    assert ran.stdout == ""
    (line,) = ran.stderr.splitlines()
    return line


def test_it_prints_its_address_serves_and_ends_cleanly() -> None:
    with subprocess.Popen(command("--port", "0"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        try:
            with Client(url) as client:
                end = client.join(game="guess_number", name="Ann").play(
                    lambda state: (state.legal[0].type, _any_data(state.legal[0].schema))
                )
            assert end.is_over
        finally:
            process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=LIMIT_S)[1]
    assert process.returncode == 0
    first, kept, last = told.splitlines()
    assert (first, last) == ("serving this machine only; stop it with Ctrl-C", "stopped")
    assert kept.endswith("arena.db")


def _any_data(schema: object) -> dict[str, object]:
    from league_agents.arena.agents.random_agent import instance_of
    from league_agents.kit.draw import Draw

    assert isinstance(schema, dict)
    found: dict[str, object] = instance_of(schema, Draw(1, "any"))
    return found


def test_a_port_in_use_is_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"{port} is in use" in refused("--port", str(port))


def test_a_place_that_others_reach_must_be_asked_for() -> None:
    assert "add --public" in refused("--host", "0.0.0.0", "--port", "0")


def test_a_place_that_is_none_is_one_line() -> None:
    assert "is no address of this machine" in refused("--host", "no.such.host.invalid")
    assert "cannot listen at" in refused("--host", "192.0.2.1", "--public", "--port", "0")


def test_a_public_server_is_found_at_loopback_too() -> None:
    with ArenaServer(arena_house(), host="0.0.0.0", port=0, is_public=True) as server, Client(server.url) as client:
        assert len(client.games()) == 4


def test_without_the_extra_there_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from league_agents.arena.server import web_server

    monkeypatch.setattr(web_server, "find_spec", lambda name: None if name == "uvicorn" else object())
    with pytest.raises(ConfigError, match=r"uvicorn, which is not installed; pip install 'league-agents\[web\]'"):
        ArenaServer(arena_house(), port=0)
