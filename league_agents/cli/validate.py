"""``league-agents validate``: is a message, or each message of a log, what its protocol allows?"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from league_agents.cli.numbers import WholeRange
from league_agents.kit.errors import ConfigError, shortened

if TYPE_CHECKING:
    from league_agents.games.guess_number.findings import MessageFinding, MessageReport
    from league_agents.games.guess_number.log import LogEntry

LARGEST = 16 * 1024 * 1024
"""Bytes of a file that are read."""

EPILOG = """\b
Examples:
  league-agents validate guess-number message.json
  league-agents validate guess-number message.json --num-choices 100 --agents a,b,c --step 2
  my-model | league-agents validate guess-number --lenient -
  league-agents validate guess-number message.json --json
  league-agents validate guess-number log.jsonl        (a message a line, or a JSON array of messages)

\b
Exit codes: 0 every message is valid (there may be warnings), 1 one is not,
            2 the command line is wrong, 3 the file cannot be read.
"""


@click.group(name="validate", short_help="Check a game's messages and see everything that is wrong.")
def command() -> None:
    """Check messages against the protocol of their game."""


@command.command(name="guess-number", short_help="A state_report, a proposal, or a log of them.", epilog=EPILOG)
@click.argument("file", metavar="FILE|-")
@click.option(
    "--num-choices",
    type=WholeRange(2, 1_000_000),
    default=10,
    show_default=True,
    metavar="N",
    help="Guesses are 0 to N - 1.",
)
@click.option("--agents", default="agent_0,agent_1", show_default=True, metavar="A,B,…", help="Who may be the sender.")
@click.option("--step", type=WholeRange(0), metavar="STEP", help="The step that the timestamp must name.")
@click.option("--sender", metavar="AGENT", help="Who must be the sender.")
@click.option("--lenient", is_flag=True, help="Find and repair the message in what a language model wrote; show it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def guess_number(
    *, file: str, num_choices: int, agents: str, step: int | None, sender: str | None, lenient: bool, as_json: bool
) -> int:
    """Check messages of GuessNumberGameProtocol and print every error with its place, a JSON Pointer.

    FILE holds one message, or a log of many: one a line (JSON Lines) or a JSON array. What is wrong in a log is told
    with its line. - reads standard input.
    """
    from league_agents.cli import Exit
    from league_agents.cli.screen import print_document
    from league_agents.games.guess_number.log import entries_of
    from league_agents.games.guess_number.messages import validate

    agent_ids = _agent_ids(agents)
    if sender is not None and sender not in agent_ids:
        raise click.BadParameter(
            f"must be one of the agents ({shortened(', '.join(agent_ids))})", param_hint="--sender"
        )
    check = partial(
        validate,
        num_choices=num_choices,
        agent_ids=agent_ids,
        step=step,
        sender=sender,
        mode="lenient" if lenient else "strict",
    )
    text = _text_of(file)
    _refuse_records(text, "standard input" if file == "-" else file)
    entries = entries_of(text, is_lenient=lenient)
    if entries is None:
        report = check(text)
        is_ok, document = report.ok, _document(report)
    else:
        judged = [(each, check(each.text) if each.fault is None else _unread(each.fault)) for each in entries]
        is_ok = bool(judged) and all(report.ok for _, report in judged)
        told = [{"line": entry.line, "path": entry.path, **_document(report)} for entry, report in judged]
        document = {"ok": is_ok, "messages": told}
    if as_json:
        print_document({"mode": check.keywords["mode"], **document}, sys.stdout)
    elif entries is None:
        _print(report, is_lenient=lenient)
    else:
        _print_log(judged, is_lenient=lenient)
    return Exit.OK if is_ok else Exit.FAILED


def _agent_ids(listed: str) -> tuple[str, ...]:
    from league_agents.games.entry import check_agent_ids
    from league_agents.games.guess_number.config import MAX_AGENTS

    try:
        return check_agent_ids([each.strip() for each in listed.split(",")], 1, MAX_AGENTS)
    except ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--agents") from None


def _text_of(file: str) -> str:
    try:
        if file == "-":
            raw = b"" if sys.stdin is None else sys.stdin.buffer.read(LARGEST + 1)
        else:
            with Path(file).open("rb") as opened:
                raw = opened.read(LARGEST + 1)
    except OSError as error:
        raise ConfigError(file, f"cannot be read: {error.strerror or error}") from None
    except ValueError:  # a name with a null character
        raise ConfigError(file, "cannot be the name of a file") from None
    name = "standard input" if file == "-" else file
    if len(raw) > LARGEST:
        raise ConfigError(name, f"is larger than {LARGEST // 1024**2} MiB; give it in parts")
    try:
        return raw.decode("utf-8-sig")  # editors on Windows begin a file with a byte order mark
    except UnicodeDecodeError as error:
        raise ConfigError(name, f"is not UTF-8 text (byte {error.start}); save it as UTF-8") from None


_RECORDS = (
    (re.compile(r'\s*\{\s*"line"\s*:\s*"header"'), "is a match's transcript, which 'league-agents arena replay' shows"),
    (re.compile(r'\s*\{\s*"seed"\s*:[^{]*"match"\s*:\s*\{'), "is the record of a league match, which 'run' wrote"),
)


def _refuse_records(text: str, name: str) -> None:
    """Raises ``ConfigError`` for files that this program writes and people take for messages."""
    for begins, what in _RECORDS:
        if begins.match(text):
            raise ConfigError(name, f"{what}; give a message of guess-number, or a log of them")


def _unread(fault: MessageFinding) -> MessageReport:
    from league_agents.games.guess_number.findings import MessageReport

    return MessageReport(errors=(fault,), warnings=(), message=None)


def _document(report: MessageReport) -> dict[str, Any]:
    return {
        "ok": report.ok,
        "errors": [each.as_json() for each in report.errors],
        "warnings": [each.as_json() for each in report.warnings],
        "message": report.message,
    }


def _print(report: MessageReport, *, is_lenient: bool) -> None:
    _print_findings(report)
    warned = f", {_counted(len(report.warnings), 'warning')}" if report.warnings else ""
    if report.ok:
        click.echo(f"valid{warned}")
    else:
        click.echo(f"invalid: {_counted(len(report.errors), 'error')}{warned}")
    if is_lenient and report.message is not None:
        click.echo(_shown(report.message, indent=2))


def _print_log(judged: Sequence[tuple[LogEntry, MessageReport]], *, is_lenient: bool) -> None:
    for entry, report in judged:
        _print_findings(report, f"line {entry.line}: ", entry.path)
        if is_lenient and report.message is not None and report.warnings:
            click.echo(f"line {entry.line}: {_shown(report.message, indent=None)}")
    reports = [report for _, report in judged]
    invalid = sum(not report.ok for report in reports)
    told = [f"{len(reports) - invalid} valid", f"{invalid} invalid"]
    errors = sum(len(report.errors) for report in reports)
    warnings = sum(len(report.warnings) for report in reports)
    told += [_counted(count, noun) for count, noun in ((errors, "error"), (warnings, "warning")) if count]
    click.echo(f"{_counted(len(reports), 'message')}: {', '.join(told)}")


def _print_findings(report: MessageReport, start: str = "", path: str = "") -> None:
    from league_agents.kit.printable import printable

    for word, found in (("error", report.errors), ("warning", report.warnings)):
        for each in found:
            # An empty pointer is the message as a whole.
            line = f"{start}{word} {path + each.path or '(message)'} {each.code}: {each.message}"
            click.echo(printable(line, 400))


def _shown(message: object, indent: int | None) -> str:
    """The message as JSON text in which whatever could move a cursor or turn the writing around is escaped."""
    text = json.dumps(message, ensure_ascii=False, indent=indent, allow_nan=False)
    return "".join([each if each.isprintable() or each == "\n" else json.dumps(each)[1:-1] for each in text])


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
