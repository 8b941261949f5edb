"""The commands that the pages of docs/ and the README show are run, page by page, in their order.

Real: each line as it stands, through the command line in this process. Not real: numbers of games and teams are smaller
(``SMALLER``), and what needs a mail service, a model, a database or a server is run by the tests that
``tests.support.shown_commands.ELSEWHERE`` names. The tutorial has a test of its own.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.local_league.patience import LIMIT_S
from tests.support.shown_commands import PAGES, ROOT, run_here

SMALLER: Mapping[str, str] = {
    r"--games \d+": "--games 2",
    r"evaluate \w+ (?!.*--games)(\S+)": r"\g<0> --games 2",
    r"--teams 1000 --divisions 90": "--teams 6 --divisions 2",
    r"--teams 60 --divisions 3 --promote 2": "--teams 6 --divisions 2 --promote 1",
    r"--teams (20|8|6) (?!--divisions)": "--teams 3 --agents scripted ",
    r"--workers 8": "--workers 2",
}


def program(page: str, name: str) -> str:
    text = (ROOT / "docs" / page).read_text("utf-8")
    (source,) = re.findall(rf"```python\n# {name}\.py\n(.*?)```", text, flags=re.DOTALL)
    return str(source)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the pages take for granted: an agent under its names, books, the repository's examples, a played season."""
    player = program("tutorial/first-agent.md", "my_player")
    (tmp_path / "my_player.py").write_text(player, "utf-8")
    for name in ("old", "new"):
        (tmp_path / f"{name}.py").write_text(f"{player}\n\nclass Me(MyPlayerAI):\n    pass\n", "utf-8")
    (tmp_path / "teams.yaml").write_text("teams:\n" + "".join(f"  - {{group_id: g{n}}}\n" for n in range(6)), "utf-8")
    (tmp_path / "config").symlink_to(ROOT / "config")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ran(line: str) -> str:
    for pattern, shorter in SMALLER.items():
        line = re.sub(pattern, shorter, line)
    line, _, target = line.partition(" > ")
    name, *words = shlex.split(line.partition(" | ")[0])
    assert name == "league-agents"
    result = CliRunner().invoke(command_line, words)
    assert result.exit_code == 0, f"{line}\n{result.output[-2000:]}\n{result.exception!r}"
    if target:
        Path(target).write_text(result.stdout, "utf-8")
    return result.stdout


@pytest.mark.timeout(LIMIT_S)  # a command that serves until it is stopped belongs into ELSEWHERE
@pytest.mark.parametrize("page", [page for page in PAGES if run_here(page)])
def test_every_command_of_a_page_runs(page: str, folder: Path) -> None:
    if page == "docs/how-to/books.md":
        (folder / "lectures").mkdir()
        words = " ".join(f"The captain hunts whale number {n} across the sea." for n in range(40))
        for place in ("lectures/one.md", "notes.md", "novel.txt"):
            (folder / place).write_text(f"# {place}\n\n" + f"{words}\n\n" * 8, "utf-8")
    if page == "docs/reference/records.md":
        ran("league-agents season --teams 4 --agents scripted --seed 7 --out season")
        ran("league-agents export --from season --out spring.jsonl")
    for line in run_here(page):
        ran(line.replace("novel.epub", "novel.txt"))
