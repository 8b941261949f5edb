"""The README and docs/ are true: their programs run, their commands exist, and so do the places that they name."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import get_args

import anyio
import click
import pytest
from click.testing import CliRunner
from mcp import Client, StdioServerParameters

from league_agents.app.a2a_assessor import ServedReferee
from league_agents.app.a2a_player import ServedPlayer
from league_agents.app.a2a_server import A2aServer
from league_agents.app.agents import choose_agent
from league_agents.app.arena_server import arena_server
from league_agents.arena.server.limits import ServerLimits
from league_agents.cli import command_line
from league_agents.cli.options import ROLE_NAMES
from league_agents.cli.reference import command_page, commands
from league_agents.config.league_settings import RoleName
from league_agents.games.q21.rules import PRD
from league_agents.local_league.patience import LIMIT_S
from tests.support import shown_commands
from tests.support.docs_pages import PAGES as GENERATED

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path: path.read_text("utf-8") for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]}
COMMANDS = dict(commands())
LINES = sorted(
    {
        line.strip()
        for text in PAGES.values()
        for block in re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
        for line in block.splitlines()
        if line.startswith("league-agents ")
    }
    | {line for text in PAGES.values() for line in re.findall(r"`(league-agents [^`]+)`", text)}
)


def program(page: str, name: str) -> str:
    (source,) = re.findall(rf"```python\n# {name}\.py\n(.*?)```", PAGES[ROOT / page], flags=re.DOTALL)
    return str(source)


def league_agents(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "league_agents", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_the_example_program_sits_down_at_a_server_and_plays_to_the_end(tmp_path: Path) -> None:
    source = program("docs/how-to/arena.md", "join_in")
    with arena_server(limits=ServerLimits(house_pause=timedelta(0))) as server:
        path = tmp_path / "join_in.py"
        path.write_text(source.replace("http://127.0.0.1:8765", server.url), encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, str(path)], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path
        )
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"winners: [\[(].*agent_.*\n", ran.stdout)


def test_the_example_agent_of_the_arena_plays_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "my_agent.py").write_text(program("docs/how-to/arena.md", "my_agent"), encoding="utf-8")
    (line,) = re.findall(r"`(league-agents arena play .*my_agent.*)`", PAGES[ROOT / "docs/how-to/arena.md"])
    ran = league_agents(*shlex.split(line)[1:], "--seed", "3", cwd=tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "agent_1 votes for" in ran.stdout
    assert "forfeits none" in ran.stdout


def test_the_example_of_an_environment_plays_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "random_play.py").write_text(program("docs/how-to/research.md", "random_play"), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "random_play.py"],
        capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert re.fullmatch(r"\{('player_\d': \d\.\d(, )?){6}\}\n", ran.stdout)


def test_the_settings_of_assistants_start_a_server_that_has_tools(tmp_path: Path) -> None:
    blocks = re.findall(r"```json\n(.*?)```", PAGES[ROOT / "docs/how-to/assistants.md"], flags=re.DOTALL)
    servers = [server for block in blocks for one in json.loads(block).values() for server in one.values()]
    assert [server["command"] for server in servers] == ["league-agents", "league-agents"]

    async def tools_of(arguments: list[str]) -> int:
        async with Client(
            StdioServerParameters(command=sys.executable, args=["-m", "league_agents", *arguments], cwd=tmp_path)
        ) as client:
            return len((await client.list_tools()).tools)

    all_of_them, reading = (anyio.run(tools_of, server["args"]) for server in servers)
    assert all_of_them > reading > 10


def test_the_example_client_gets_an_assessment_of_two_players(tmp_path: Path) -> None:
    source = program("docs/how-to/assistants.md", "assess")
    served = ServedPlayer(choose_agent("scripted", "player", rules=PRD, seed=0), PRD)
    with A2aServer(ServedReferee()) as referee, A2aServer(served) as player:
        source = source.replace("http://127.0.0.1:9009", referee.url).replace(
            '"referee": "offline"', '"referee": "scripted"'
        )
        for address in ("http://127.0.0.1:9019", "http://127.0.0.1:9029"):
            assert address in source
            source = source.replace(address, player.url)
        (tmp_path / "assess.py").write_text(source, encoding="utf-8")
        ran = subprocess.run(
            [sys.executable, "assess.py"], capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=tmp_path
        )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [line.partition(":")[0] for line in ran.stdout.splitlines()] == [
        *("game 1 of 2", "game 2 of 2", "winner"),
    ]


@pytest.mark.parametrize("page", sorted(PAGES), ids=lambda page: page.name)
def test_the_places_that_a_page_names_exist(page: Path) -> None:
    folders = "league_agents|scripts|config|tests|docs"
    named = {ROOT / name for name in re.findall(rf"`((?:{folders})/[\w./-]+)`", PAGES[page])}
    linked = {page.parent / link for link in re.findall(r"\]\(([\w./-]+)\)", PAGES[page])}
    assert [str(place) for place in sorted(named | linked) if not place.exists()] == []


def test_every_page_is_in_the_navigation_once() -> None:
    def named(item: object) -> Iterator[str]:
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            yield from (each for inner in item.values() for each in named(inner))
        elif isinstance(item, list):
            yield from (each for inner in item for each in named(inner))

    project = tomllib.loads((ROOT / "zensical.toml").read_text("utf-8"))["project"]
    assert sorted(named(project["nav"])) == sorted(
        path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")
    )


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_up_to_date(name: str) -> None:
    CliRunner().invoke(command_line, ["rules", "--json"])  # a command that was used before has the same page
    assert PAGES[ROOT / "docs" / "reference" / f"{name}.md"] == GENERATED[name](), "run scripts/docs"


def test_the_pages_show_commands() -> None:
    assert len(LINES) > 40


@pytest.mark.parametrize("line", LINES)
def test_a_command_that_a_page_shows_exists_with_its_options(line: str) -> None:
    words = shlex.split(line.split("|")[0].split(" > ")[0], comments=True)
    depth = max(depth for depth in range(1, len(words) + 1) if " ".join(words[:depth]) in COMMANDS)
    command = COMMANDS[" ".join(words[:depth])]
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
    assert {word for word in words[depth:] if word.startswith("-")} - known == set()
    if isinstance(command, click.Group):
        assert all(word.isupper() or word.startswith("-") or word == "…" for word in words[depth:]), words[depth:]


def test_every_command_in_a_block_is_run_by_a_test() -> None:
    """If it fails: let HERE of ``tests.support.shown_commands`` match the line, or name its test in ELSEWHERE."""
    lines = [line for page in shown_commands.PAGES for line in shown_commands.lines_of(page)]
    elsewhere = shown_commands.ELSEWHERE
    assert [
        line for line in lines if not re.match(shown_commands.HERE, line) and not shown_commands.is_elsewhere(line)
    ] == []
    tests = {*elsewhere.values(), *shown_commands.OWN_TESTS.values()}
    assert [test for test in tests if not (ROOT / test).exists()] == []
    assert [begin for begin in elsewhere if not any(re.match(begin, line) for line in lines)] == []


def test_every_command_and_option_is_described() -> None:
    assert [path for path, command in COMMANDS.items() if not command.help] == []
    options = [(path, each) for path, command in COMMANDS.items() for each in command.params]
    assert [(path, each.name) for path, each in options if isinstance(each, click.Option) and not each.help] == []


def test_the_page_of_commands_is_in_words() -> None:
    page = command_page()
    assert re.findall(r"RANGE|<=x|x>=|\|  \|", page) == []
    assert "[default: 8765; 0 to 65535]" in page
    assert "  close-registration   go on without" in page


def test_the_manual_page_has_every_command_and_is_plain() -> None:
    source = CliRunner().invoke(command_line, ["manual"]).output
    assert source.isascii()
    known = {".TH", ".SH", ".SS", ".PP", ".TP", ".B", ".nf", ".fi"}
    assert {line.split()[0] for line in source.splitlines() if line.startswith((".", "'"))} == known
    for path, command in COMMANDS.items():
        if not isinstance(command, click.Group):
            assert f".SS {path.removeprefix('league-agents ')} ".replace("-", r"\-") in source


def test_the_roles_on_the_command_line_are_those_of_a_league_file() -> None:
    assert get_args(RoleName) == ROLE_NAMES
