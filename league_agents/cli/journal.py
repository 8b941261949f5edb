"""``league-agents journal``: the journals of roles, as files and rows."""

from __future__ import annotations

import sys
from pathlib import Path

import click

EPILOG = """\b
Examples:
  league-agents journal copy player.db postgresql://league@db.example/league
  league-agents journal copy referee.db player.db postgresql://league@db.example/league
  league-agents journal copy postgresql://league@db.example/league journals/

Stop the daemon first: 'journal copy' refuses a journal that is worked on. Afterwards name the new place in the league
file. The old journal is kept; nobody can work on it any more. A password is better kept out of the command line:
PGPASSWORD and ~/.pgpass work.
"""


@click.group(name="journal", short_help="Move and look after the journals of roles.", epilog=EPILOG)
def command() -> None:
    """Move the journals of roles between SQLite files and PostgreSQL."""


@command.command(short_help="Move journals to another place, also in mid-season.", epilog=EPILOG)
@click.argument("sources", metavar="FROM...", nargs=-1, required=True)
@click.argument("target", metavar="TO")
@click.option("--address", "addresses", multiple=True, metavar="ADDRESS", help="Of a database only this mailbox's.")
def copy(*, sources: tuple[str, ...], target: str, addresses: tuple[str, ...]) -> None:
    """Copy journals, compare every row, and mark the old ones as moved. FROM and TO are a file, sqlite:///FILE or
    postgresql://USER@HOST/DATABASE; TO may be a folder. All of a journal is moved or nothing; a copy that was
    interrupted goes on with the same command."""
    from league_agents.app.journal_copy import move_journal, moves
    from league_agents.config.storage_url import journal_place
    from league_agents.kit.clock import SystemClock

    here = Path()
    wanted = moves(
        [journal_place(each, "FROM", here) for each in sources], journal_place(target, "TO", here), addresses
    )
    is_shown = sys.stderr.isatty()
    for move in wanted:
        name = f"{move.role} {move.address}"

        def tell(rows: int, name: str = name) -> None:
            if is_shown and rows % 5_000 == 0:
                click.echo(f"\r{name}: {rows:,} rows", nl=False, err=True)

        moved = move_journal(move, clock=SystemClock(), told=tell)
        if is_shown:
            click.echo("\r", nl=False, err=True)
        done = f"{moved.rows:,} rows, each compared" if moved.rows else "was moved before"
        click.echo(f"{name}: {done}; {move.source} is not used any more")
    for place in dict.fromkeys(str(move.target) for move in wanted):
        click.echo(f"name the new place in the league file, or in LEAGUE_JOURNAL_URL: {place}")
