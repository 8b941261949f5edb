"""``league-agents status``: what a daemon does, read from its journals while it works."""

from __future__ import annotations

from pathlib import Path

import click

from league_agents.cli.options import CONFIG, ROLES

EPILOG = """\b
Examples:
  league-agents status
  league-agents status --role referee --json | jq '.roles[0].open_games'
"""


@click.command(name="status", short_help="What a running daemon does, and what it waits for.", epilog=EPILOG)
@CONFIG
@ROLES
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(*, config: Path | None, roles: tuple[str, ...], as_json: bool) -> int:
    """Last poll and send, who is missing at registration, open games with who owes what, the last match, the standings,
    the outbox, sends left, the token's age and errors.

    It only reads, so it works while the daemon runs and after it ended. The exit code is 3 when a journal cannot be
    used.
    """
    import os
    import sys

    from league_agents.app.looking import UNUSABLE_JOURNAL, role_status
    from league_agents.app.secret_files import secret_texts_of
    from league_agents.cli import Exit
    from league_agents.cli.screen import print_document
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file
    from league_agents.kit.clock import SystemClock
    from league_agents.report.status import status_lines

    path = find_league_file(config)
    settings = read_league_file(path, environment_of(path), only=roles)
    now = SystemClock().now()
    secrets = secret_texts_of(settings, os.environ)
    statuses = [role_status(settings, role, now=now, secrets=secrets) for role in settings.roles]
    if as_json:
        document = {"at": now.isoformat(), "roles": [status.to_json(now) for status in statuses]}
        print_document(document, sys.stdout)
    else:
        for line in status_lines(statuses, now):
            click.echo(line)
    is_unusable = any(status.state == UNUSABLE_JOURNAL for status in statuses)
    return Exit.CONFIGURATION if is_unusable else Exit.OK
