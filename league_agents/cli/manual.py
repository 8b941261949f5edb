"""``league-agents manual``: the manual page, written from the commands' declarations."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from league_agents.cli import EXIT_MEANINGS, HELP, PROGRAM
from league_agents.cli.reference import commands

EPILOG = f"""\b
Examples:
  {PROGRAM} manual | man -l -
  {PROGRAM} manual > ~/.local/share/man/man1/{PROGRAM}.1     then: man {PROGRAM}
"""


@click.command(name="manual", short_help="All of the help as one page for man.", epilog=EPILOG)
def command() -> None:
    """Print the manual page of every command, with its options and the exit codes, as 'man' reads it."""
    click.echo(man_page(), nl=False)


def man_page() -> str:
    """The page as troff source with the ``man`` macros: every command with its options, and the exit codes."""
    lines = [
        rf'.TH "{PROGRAM.upper()}" "1" "" "{PROGRAM}" "User commands"',
        ".SH NAME",
        _escaped(f"{PROGRAM} - {HELP.partition('.')[0][3:]}"),
        ".SH SYNOPSIS",
        rf".B {PROGRAM}",
        r"\fICOMMAND\fR [\fIOPTIONS\fR]",
        ".SH DESCRIPTION",
        *_paragraphs(HELP),
        ".SH COMMANDS",
    ]
    for path, command in commands():
        if not isinstance(command, click.Group):
            lines += _command(path, command)
    lines.append(".SH EXIT STATUS")
    for code, meaning in EXIT_MEANINGS.items():
        lines += [".TP", rf"\fB{code.value}\fR", _escaped(meaning)]
    return "\n".join(lines) + "\n"


def _command(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield f".SS {_escaped(' '.join([path.removeprefix(PROGRAM).strip(), *command.collect_usage_pieces(context)]))}"
    yield from _paragraphs(command.help)
    for each in command.params:
        record = each.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", rf"\fB{_escaped(record[0])}\fR", _escaped(record[1]))
    yield from _paragraphs(command.epilog)


def _paragraphs(text: str | None) -> Iterator[str]:
    """Click's help: what follows ``\\b`` keeps its lines."""
    for block in inspect.cleandoc(text or "").split("\n\n"):
        if not block:
            continue
        if block.startswith("\b\n"):
            yield from (".PP", ".nf", *(_escaped(line) for line in block.splitlines()[1:]), ".fi")
        else:
            yield from (".PP", _escaped(" ".join(block.split())))


def _escaped(text: str) -> str:
    """Without what troff reads as commands, and in ASCII: a backslash, a hyphen, a dot or quote that begins a line."""
    text = " ".join(text.splitlines()).replace("\\", r"\e").replace("-", r"\-")
    text = "".join(each if each.isascii() else rf"\[u{ord(each):04X}]" for each in text)
    return rf"\&{text}" if text[:1] in (".", "'") else text
