"""An assistant's side of ``league-agents mcp``: the SDK's own client, and the server as a real process."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, Tool

from league_agents.local_league.patience import LIMIT_S

SECRET = "correct-horse-battery-staple"


def with_server(folder: Path, use: Callable[[Client], Awaitable[None]], *options: str) -> None:
    """Start the server in a folder, let ``use`` talk with it, and stop it."""

    async def talk() -> None:
        environment = {"LEAGUE_AGENTS_DATA": str(folder / "data"), "OPENAI_API_KEY": SECRET}
        if (root := os.environ.get("PYTHONPATH")) is not None:
            environment["PYTHONPATH"] = root
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "league_agents", "mcp", *options], cwd=folder, env=environment
        )
        with anyio.fail_after(LIMIT_S):
            async with Client(server) as client:
                await use(client)

    anyio.run(talk)


def said(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def output(result: CallToolResult) -> str:
    """What stands between the two marks."""
    opening, text, closing = (part.text for part in result.content[:3] if part.type == "text")
    mark = opening.removeprefix("<<output ")
    assert closing == f"{mark}>>"
    assert mark not in text
    return text


def test_an_assistant_plays_looks_up_and_is_refused_in_one_line_each(tmp_path: Path) -> None:
    listed: dict[str, Tool] = {}
    found: dict[str, CallToolResult] = {}

    async def use(client: Client) -> None:
        listed.update({tool.name: tool for tool in (await client.list_tools()).tools})
        match = {"single_game": True, "demo": True, "seed": "7", "json": True, "journal": "match.db"}
        found["match"] = await client.call_tool("run", match)
        found["shown"] = await client.call_tool("show_match", {"from": "match.league-office.db", "game_id": "0101001"})
        found["rules"] = await client.call_tool("rules", {"name": "course", "json": True})
        found["option"] = await client.call_tool("run", {"single_game": True, "sed": 7})
        found["value"] = await client.call_tool("rules", {"name": {"a": 1}})
        found["usage"] = await client.call_tool("season", {"teams": 1})
        found["file"] = await client.call_tool("show_standings", {"from": "nowhere.db"})
        found["order"] = await client.call_tool("manage", {"order": "start-round"})
        found["secret"] = await client.call_tool("rules", {"name": SECRET})

    with_server(tmp_path, use)
    assert {"run", "season", "manage", "arena_play", "corpus_search", "status", "export"} <= set(listed)
    assert {"mcp", "arena_serve", "dashboard", "auth_login"} & set(listed) == set()
    notes = {name: tool.annotations for name, tool in listed.items()}
    for name, is_reading in [("show_match", True), ("rules", True), ("run", False), ("manage", False)]:
        note = notes[name]
        assert note is not None
        assert (note.read_only_hint, note.destructive_hint) == (is_reading, not is_reading)
    assert not found["match"].is_error
    document = json.loads(output(found["match"]))
    assert [player["termination"] for player in document["players"]] == ["completed", "completed"]
    assert "player-a" in said(found["shown"])
    assert json.loads(output(found["rules"]))["name"] == "course"
    refused = {name: found[name] for name in ("option", "value", "usage", "file", "order", "secret")}
    assert [name for name, result in refused.items() if not result.is_error or "\n" in said(result)] == []
    assert said(refused["option"]).startswith("'sed': is no argument of run; it has single_game, seed, rules")
    assert "--teams" in said(refused["usage"])
    assert "nowhere.db" in said(refused["file"])
    assert SECRET not in said(refused["secret"])
    assert "[hidden]" in said(refused["secret"])


def test_a_server_that_only_reads_offers_nothing_else_and_a_long_command_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nwhile True:\n    time.sleep(60)\n", encoding="utf-8")
    names: set[str] = set()

    async def look(client: Client) -> None:
        names.update(tool.name for tool in (await client.list_tools()).tools)
        refused = await client.call_tool("run", {"single_game": True})
        assert (refused.is_error, said(refused)) == (True, "run: is no tool of this server")

    with_server(tmp_path, look, "--read-only")
    assert {"show_match", "rules"} <= names
    assert {"run", "season", "manage", "export", "check"} & names == set()

    async def play(client: Client) -> None:
        stopped = await client.call_tool("check", {"spec": "slow.py:Agent", "role": "player", "in_process": True})
        assert stopped.is_error
        assert "check was stopped after 1 s, the limit of this server" in said(stopped)

    with_server(tmp_path, play, "--time-limit", "1")


@pytest.mark.parametrize("line", [b"not json\n", b'{"jsonrpc": "2.0", "id": 1, "method": "nothing/there"}\n'])
def test_nothing_but_the_protocol_is_on_stdout(line: bytes, tmp_path: Path) -> None:
    import subprocess

    ran = subprocess.run(
        [sys.executable, "-m", "league_agents", "mcp"],
        input=line,
        capture_output=True,
        cwd=tmp_path,
        timeout=LIMIT_S,
        check=False,
    )
    assert ran.returncode == 0
    assert all(json.loads(each)["jsonrpc"] == "2.0" for each in ran.stdout.splitlines())
