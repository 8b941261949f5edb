"""``league-agents status``: what a daemon does, read from its journals while it works."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from league_agents.cli.options import CONFIGS, MAILBOXES, ROLES

EPILOG = """\b
Examples:
  league-agents status
  league-agents status --role referee --json | jq '.roles[0].open_games'
  league-agents status --all --config leagues/
"""


@click.command(name="status", short_help="What a running daemon does, and what it waits for.", epilog=EPILOG)
@CONFIGS
@ROLES
@MAILBOXES
@click.option("--all", "as_table", is_flag=True, help="Every mailbox of the league files, one line each.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    *, config: tuple[Path, ...], roles: tuple[str, ...], mailboxes: tuple[str, ...], as_table: bool, as_json: bool
) -> int:
    """Last poll and send, who is missing at registration, open games with who owes what, the last match, the standings,
    the outbox, sends left, the token's age and errors.

    It only reads, so it works while the daemon runs and after it ended. The exit code is 3 when a journal or a league
    file cannot be used.
    """
    import os
    import sys

    from league_agents.app.journals import DatabasesAway
    from league_agents.app.looking import UNUSABLE_JOURNAL, role_status
    from league_agents.app.secret_files import secret_texts_of
    from league_agents.cli import Exit
    from league_agents.cli.screen import print_document, print_whole
    from league_agents.config.league_file import environment_of, read_league_file
    from league_agents.config.league_folder import are_many, league_files, read_league_files
    from league_agents.config.league_settings import LeagueSettings
    from league_agents.kit.clock import SystemClock
    from league_agents.report.mailboxes import MAILBOXES as COLUMNS
    from league_agents.report.mailboxes import MailboxLine, count_words, trouble_lines
    from league_agents.report.status import RoleStatus, status_lines
    from league_agents.report.tables import text_table

    is_many = are_many(config)

    def read(path: Path) -> LeagueSettings:
        chosen: Sequence[str] = () if is_many else mailboxes
        return read_league_file(path, environment_of(path), only=roles, mailboxes=chosen, is_one_of_many=is_many)

    if is_many and mailboxes:
        raise click.UsageError("--mailbox is for one league file; name it with --config")
    files = read_league_files(league_files(config), read)
    if not is_many and files.wrong:
        raise next(iter(files.wrong.values()))
    found: list[tuple[LeagueSettings, RoleStatus]] = []
    away = DatabasesAway()
    for settings in files.read:
        secrets = secret_texts_of(settings, os.environ)
        for role in settings.roles:
            status = role_status(settings, role, now=SystemClock().now(), secrets=secrets, away=away)
            found.append((settings, status))
    now = SystemClock().now()
    statuses = [status for _, status in found]
    if as_table:
        lines = [
            MailboxLine(status=status, file=str(settings.path), now=now - status.clock_error)
            for settings, status in found
        ]
        if as_json:
            wrong = [{"file": str(path), "error": str(error)} for path, error in files.wrong.items()]
            document = {"at": now.isoformat(), "mailboxes": [line.to_json() for line in lines], "wrong_files": wrong}
            print_document(document, sys.stdout)
        else:
            if lines:
                print_whole(text_table(COLUMNS, lines), sys.stdout)
            click.echo(count_words(lines))
            for trouble in trouble_lines(lines):
                click.echo(trouble)
    elif as_json:
        print_document({"at": now.isoformat(), "roles": [status.to_json(now) for status in statuses]}, sys.stdout)
    else:
        for line in status_lines(statuses, now):
            click.echo(line)
    for error in files.wrong.values():
        click.echo(f"league-agents: {error}", err=True)
    is_unusable = bool(files.wrong) or any(status.state == UNUSABLE_JOURNAL for status in statuses)
    return Exit.CONFIGURATION if is_unusable else Exit.OK
