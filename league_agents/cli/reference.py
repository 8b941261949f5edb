"""The reference page of the commands, written from their declarations: ``docs/reference/commands.md``."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from league_agents.cli import EXIT_MEANINGS, PROGRAM, command_line
from league_agents.report.markdown import table

_HEADER = f"""\
# Commands

Written by `scripts/docs` from the commands themselves; `{PROGRAM} COMMAND --help` says the same. Output for people
goes to stdout and errors to stderr; where a command has `--json`, stdout holds JSON and nothing else.

Settings come from the league file and from the environment or a `.env` file; `league-agents config init` writes
both, with comments. Outside the working directory two folders are used: `~/.local/share/league-agents` for your books,
ledgers and the count of each mailbox's sends (`LEAGUE_AGENTS_DATA` names another), and `~/.cache/league-agents` for the
novels that tests read (`LEAGUE_AGENTS_CACHE`).
"""


def command_page() -> str:
    """The page as Markdown: every command with its arguments and options, and the exit codes."""
    lines = [_HEADER]
    for path, command in commands():
        if isinstance(command, click.Group):
            continue
        lines += [f"## {path}", "", *_command(path, command)]
    codes = ((str(code.value), meaning) for code, meaning in EXIT_MEANINGS.items())
    lines += ["## Exit codes", "", *table(("code", "meaning"), codes), ""]
    return "\n".join(lines)


def commands() -> Iterator[tuple[str, click.Command]]:
    """Every command and group with the words that name it, in the order of the help."""
    yield from _below(PROGRAM, command_line)


def _below(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _below(f"{path} {name}", found)


def _command(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield from ("```", " ".join([path, *command.collect_usage_pieces(context)]), "```", "")
    yield from (_text(command.help), "")
    # Not ``get_params``: it adds --help, spelled as it was when the command was last used in this process.
    records = [each.get_help_record(context) for each in command.params]
    # An argument is explained in the text.
    rows = [record for record in records if record is not None and record[1]]
    if rows:
        yield from table(("option", "meaning"), ((f"`{name}`", meaning) for name, meaning in rows))
        yield ""
    if command.epilog:
        yield from (_text(command.epilog), "")


def _text(text: str | None) -> str:
    """Click's help as Markdown: what follows ``\\b`` keeps its lines."""
    blocks = inspect.cleandoc(text or "").split("\n\n")
    shown = [
        "```\n" + block.split("\n", 1)[1] + "\n```" if block.startswith("\b\n") else " ".join(block.split())
        for block in blocks
    ]
    return "\n\n".join(shown)
