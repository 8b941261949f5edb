"""The command line as a whole: help, errors, exit codes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from league_agents import __version__
from league_agents.cli import COMMANDS, Exit, command_line, exit_code_of
from league_agents.kit import errors
from league_agents.knowledge.failures import UnknownBook
from league_agents.local_league.patience import LIMIT_S


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.delenv("LEAGUE_AGENTS_DEBUG", raising=False)
    return CliRunner()


def test_help_names_every_command_and_every_exit_code(runner: CliRunner) -> None:
    shown = runner.invoke(command_line, ["--help"])
    assert shown.exit_code == 0
    for word in [*COMMANDS, *(str(code.value) for code in Exit)]:
        assert f"  {word} " in shown.output


@pytest.mark.parametrize(
    "arguments", [["run"], ["check"], ["corpus"], ["corpus", "add"], ["corpus", "list"], ["rules"]]
)
def test_every_command_explains_itself(runner: CliRunner, arguments: list[str]) -> None:
    shown = runner.invoke(command_line, [*arguments, "--help"])
    assert shown.exit_code == 0
    assert shown.output.startswith("Usage: ")
    assert max(map(len, shown.output.splitlines())) <= 100


def test_help_imports_no_command() -> None:
    asked = (
        "import sys; from league_agents.cli import command_line\n"
        "try: command_line.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([n for n in sys.modules if n.split('.')[0] in ('rich', 'yaml', 'numpy', 'sqlite3')"
        " or n.startswith('league_agents.cli.')], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.stderr.strip() == "[]"


def test_a_dotenv_file_says_where_books_lie_unless_the_environment_does(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"LEAGUE_AGENTS_DATA={tmp_path / 'mine'}\nOPENAI_API_KEY=x\n")
    (tmp_path / "a.md").write_text(
        "# Boats\n\nThe boat lay on the sand with its keel in the air. Nobody had sailed it since the winter, and the "
        "children used it as a house, a castle and a shop.\n"
    )
    command = [sys.executable, "-m", "league_agents", "corpus", "add", "a.md"]
    alone = {name: value for name, value in os.environ.items() if name != "LEAGUE_AGENTS_DATA"}
    for environment in (alone, {**alone, "LEAGUE_AGENTS_DATA": str(tmp_path / "other")}):
        subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, timeout=LIMIT_S)
    assert (tmp_path / "mine" / "knowledge.db").is_file()
    assert (tmp_path / "other" / "knowledge.db").is_file()


def test_a_command_that_a_group_lacks_is_answered_with_those_it_has(runner: CliRunner) -> None:
    shown = runner.invoke(command_line, ["evaluate", "offline"])
    assert shown.exit_code == Exit.USAGE
    assert "No such command 'offline'; choose player, referee; see 'league-agents evaluate --help'" in shown.stderr


def test_the_versions_are_the_packages_and_its_protocols(runner: CliRunner) -> None:
    program, protocols = runner.invoke(command_line, ["--version"]).output.splitlines()
    assert program == f"league-agents {__version__}"
    assert "league.v2, Q21G.v1, Boardgame 1.0.0" in protocols


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, runner: CliRunner) -> None:
    assert f"_LEAGUE_AGENTS_COMPLETE={shell}_complete" in runner.invoke(command_line, ["completion", shell]).output

    def completed(words: str, position: int) -> str:
        asked = {"_LEAGUE_AGENTS_COMPLETE": f"{shell}_complete", "COMP_WORDS": words}
        # fish sends the word that is being completed, the others its place.
        asked["COMP_CWORD"] = words.split()[-1] if shell == "fish" else str(position)
        return runner.invoke(command_line, [], prog_name="league-agents", env=asked).output

    assert {"season", "show", "status"} <= set(re.split(r"[\s,]+", completed("league-agents s", 1)))
    assert "--single-game" in completed("league-agents run --sing", 2)
    assert "replay" in completed("league-agents manage re", 2)


def test_no_command_at_all_shows_the_help_and_is_a_usage_error(runner: CliRunner) -> None:
    shown = runner.invoke(command_line, [])
    assert shown.exit_code == Exit.USAGE
    assert shown.stdout == ""
    assert "corpus" in shown.stderr


def test_a_usage_error_is_one_line_that_names_the_help(runner: CliRunner) -> None:
    shown = runner.invoke(command_line, ["runn"])
    assert shown.exit_code == Exit.USAGE
    assert len(shown.stderr.splitlines()) == 1
    assert "runn" in shown.stderr
    assert "league-agents --help" in shown.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.LeagueError("x"), Exit.FAILED),
        (errors.LimitExceeded("days", 500, 400), Exit.FAILED),
        (errors.ConfigError("rules", "x"), Exit.CONFIGURATION),
        (UnknownBook("x", ()), Exit.CONFIGURATION),
        (errors.JournalError("x"), Exit.UNAVAILABLE),
        (errors.MailboxUnavailable("x", retry_after=timedelta(seconds=3)), Exit.UNAVAILABLE),
        (errors.AuthorizationExpired(), Exit.AUTHORIZATION),
        (errors.QuotaExhausted(), Exit.UNAVAILABLE),
        (errors.WorkerLost(), Exit.UNAVAILABLE),
    ],
)
def test_an_error_has_one_exit_code(error: errors.LeagueError, code: Exit) -> None:
    assert exit_code_of(error) is code


def failing(error: BaseException) -> click.Group:
    """A command line of the same kind whose one command fails."""
    group = type(command_line)(name="league-agents")

    @click.command(name="fail")
    def fail() -> None:
        raise error

    group.get_command = lambda ctx, name: fail  # type: ignore[method-assign]
    return group


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (errors.ConfigError("a.yaml.seed", "must be a number\n\x1b[31mred"), 3, "a.yaml.seed: must be a number red"),
        (errors.JournalError("the journal is locked"), 4, "the journal is locked"),
        (OSError(28, "No space left on device"), 4, "No space left on device"),
        (FileNotFoundError(2, "No such file or directory", "x.db"), 4, "x.db: No such file"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ZeroDivisionError("division by zero"), 70, "this is a bug"),
    ],
)  # fmt: skip
def test_a_failure_is_one_line_without_a_traceback(
    runner: CliRunner, error: BaseException, code: int, words: str
) -> None:
    shown = runner.invoke(failing(error), ["fail"])
    assert shown.exit_code == code
    assert words in shown.stderr
    assert len(shown.stderr.strip().splitlines()) == 1
    assert "\x1b" not in shown.stderr


def test_a_bug_shows_its_traceback_to_those_who_ask(runner: CliRunner) -> None:
    hidden = runner.invoke(failing(ZeroDivisionError("x")), ["fail"])
    assert "LEAGUE_AGENTS_DEBUG=1" in hidden.stderr
    shown = runner.invoke(failing(ZeroDivisionError("x")), ["fail"], env={"LEAGUE_AGENTS_DEBUG": "1"})
    assert "Traceback" in shown.stderr
    assert shown.exit_code == 70
