"""Where each command that a page shows is run: in ``tests/scenarios/test_shown_commands.py``, or by another test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OWN_TESTS = {
    "docs/tutorial/": "tests/scenarios/test_tutorial.py",
    "docs/how-to/operations.md": "tests/scenarios/test_operations.py",
}
"""Pages that have a test of their own, which reads their commands."""

PAGES = {
    name: path.read_text("utf-8")
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    if not (name := path.relative_to(ROOT).as_posix()).startswith(tuple(OWN_TESTS))
}

HERE = (
    r"league-agents (--help|check|run --single-game|season|compare|evaluate|corpus|rules|import|mcp --list"
    r"|config init env|arena (games|protocols|play|replay|redact)|(export|show|report) .*--from)"
)
"""Commands that need nothing but files and end by themselves."""

ELSEWHERE: Mapping[str, str] = {
    r"scripts/(play|league|setup|lint|test)": ".ci/run",
    r"\. \.venv/bin/activate": ".ci/run",
    r"pip install \./nim-game|league-agents arena \w+ nim": "tests/scenarios/test_installed_game.py",
    r"pip install ": "tests/scenarios/test_wheel.py",
    r".*\ba2a:": "tests/unit/a2a/test_remote_seats.py",
    r".*--dask|dask ": "tests/scenarios/test_cluster.py",
    r"createdb|LEAGUE_JOURNAL_URL|league-agents journal copy": "tests/scenarios/test_postgres_league.py",
    r".*\bllm\b": "tests/llm/test_llm_games.py",
    r".*--config try|TEAMS=|REFEREES=|kill %|league-agents sandbox": "tests/scenarios/test_recipe.py",
    r"league-agents arena serve": "tests/scenarios/test_arena_serve.py",
    r"league-agents a2a serve": "tests/unit/a2a/test_assessing_agent.py",
    r"league-agents arena play .*human": "tests/unit/cli/test_arena_command.py",
    r"league-agents arena join": "tests/scenarios/test_arena_join.py",
    r"league-agents arena seat": "tests/web/test_arena_seat_command.py",
    r"vf-eval": "tests/unit/app/test_verifiers_environment.py",
    r"inspect eval": "tests/unit/app/test_inspect_tasks.py",
    r"league-agents mcp --read-only": "tests/scenarios/test_docs.py",
    r"league-agents (config (init (player|manager)|check|import)|auth)": "tests/unit/cli/test_config_init.py",
    r"league-agents (run --watch|run --test|status|dashboard)": "tests/scenarios/test_daemon_commands.py",
    r"league-agents report (?!.*--from)": "tests/unit/cli/test_report_command.py",
    r"league-agents manage": "tests/scenarios/test_manage.py",
    r"league-agents show (?!.*--from)|league-agents export (?!.*--from)": "tests/scenarios/test_four_processes.py",
    r"league-agents costs": "tests/unit/cli/test_costs_command.py",
}
"""The beginning of a line to the test that runs such commands."""


def lines_of(page: str) -> list[str]:
    """The commands in a page's blocks, without their comments."""
    blocks = re.findall(r"```sh\n(.*?)```", PAGES[page], flags=re.DOTALL)
    return [found for block in blocks for line in block.splitlines() if (found := line.partition(" #")[0].strip())]


def is_elsewhere(line: str) -> bool:
    """Whether another test runs it."""
    return any(re.match(begin, line) for begin in ELSEWHERE)


def run_here(page: str) -> list[str]:
    """The commands of a page that need nothing but files."""
    return [line for line in lines_of(page) if re.match(HERE, line) and not is_elsewhere(line)]
