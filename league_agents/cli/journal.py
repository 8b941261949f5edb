"""``league-agents journal``: the journals of roles, as files and rows."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.numbers import WholeRange
from league_agents.cli.options import CONFIG
from league_agents.cli.screen import console, counter

if TYPE_CHECKING:
    from league_agents.app.journal_care import KeptJournal

EPILOG = """\b
Examples:
  league-agents journal copy player.db postgresql://league@db.example/league
  league-agents journal copy referee.db player.db postgresql://league@db.example/league
  league-agents journal copy postgresql://league@db.example/league journals/

Stop the daemon first: 'journal copy' refuses a journal that is worked on. Afterwards name the new place in the league
file. The old journal is kept; nobody can work on it any more. A password is better kept out of the command line:
PGPASSWORD and ~/.pgpass work.
"""

PLACES = click.argument("places", metavar="[JOURNAL]...", nargs=-1)


@click.group(name="journal", short_help="Move and look after the journals of roles.")
def command() -> None:
    """Move the journals of roles between SQLite files and PostgreSQL, check them, and keep them small.

    A JOURNAL is a file, sqlite:///FILE or postgresql://USER@HOST/DATABASE; without one the journals of the league file
    are meant.
    """


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
    from league_agents.kit.errors import ConfigError

    here = Path.cwd()  # what is printed and marked is read in other folders
    places = [journal_place(each, "FROM", here) for each in sources]
    into = journal_place(target, "TO", here)
    if target.endswith("/") and isinstance(into, Path) and not into.exists():
        raise ConfigError("TO", f"there is no folder {into}; make it first: mkdir {into}")
    wanted = moves(places, into, addresses)
    for move in wanted:
        name = f"{move.role} {move.address}"
        with counter(console(sys.stderr), f"{name}: rows", every=5_000) as told:
            moved = move_journal(move, clock=SystemClock(), told=told)
        done = f"{moved.rows:,} rows, each compared" if moved.rows else "was moved before"
        click.echo(f"{name}: {done}; {move.source} is not used any more")
    for place in dict.fromkeys(str(move.target) for move in wanted):
        click.echo(f"name the new place in the league file, or in LEAGUE_JOURNAL_URL: {place}")


@command.command(short_help="Read every page and row, and name what is damaged.")
@PLACES
@CONFIG
def check(*, places: tuple[str, ...], config: Path | None) -> None:
    """Read every page, every row and every archived match of journals, also while they are worked on."""
    from league_agents.app.journal_care import check_journal

    for kept in _chosen(places, config):
        moved = check_journal(kept)
        click.echo(f"{kept.name}: whole" + ("" if moved is None else f", moved to {moved}"))


@command.command(short_help="How much is in journals.")
@PLACES
@CONFIG
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def stats(*, places: tuple[str, ...], config: Path | None, as_json: bool) -> None:
    """Count the rows of each table, the archived matches, and the bytes of a file."""
    from league_agents.app.journal_care import journal_stats
    from league_agents.cli.screen import print_document

    found = [(kept, journal_stats(kept)) for kept in _chosen(places, config)]
    if as_json:
        document = [
            {
                "role": kept.role,
                "address": kept.address,
                "journal": str(kept.place),
                "moved_to": counted.moved_to,
                **counted.counts,
            }
            for kept, counted in found
        ]
        print_document({"journals": document}, sys.stdout)
        return
    for kept, counted in found:
        moved = [] if counted.moved_to is None else [f"moved to {counted.moved_to}"]
        counts = [f"{name} {count:,}" for name, count in counted.counts.items() if count]
        click.echo(f"{kept.name}: {', '.join([*moved, *counts])}")


@command.command(short_help="Put closed matches into one compressed record each.")
@PLACES
@CONFIG
@click.option(
    "--after", "days", type=WholeRange(1, 3_650), required=True, metavar="DAYS", help="Without a mail for so long."
)
def archive(*, places: tuple[str, ...], config: Path | None, days: int) -> None:
    """Archive matches that are over. All commands show them as before; the contexts of their callbacks are dropped. A
    daemon does the same where the league file has 'archive_after_days'; stop it before this command."""
    from league_agents.app.journal_care import archive_old
    from league_agents.kit.clock import SystemClock

    for kept in _chosen(places, config):
        with counter(console(sys.stderr), f"{kept.name}: matches", every=100) as told:
            done = archive_old(kept, timedelta(days=days), clock=SystemClock(), told=told)
        click.echo(f"{kept.name}: {done:,} matches archived")


@command.command(short_help="Delete the matches of old seasons.")
@PLACES
@CONFIG
@click.option("--keep", type=WholeRange(1, 99), required=True, metavar="N", help="The last N seasons stay.")
def prune(*, places: tuple[str, ...], config: Path | None, keep: int) -> None:
    """Delete everything about the matches of old seasons but the ids of their mails, which are still recognized. A
    season with an open match stays. Stop the daemon first."""
    from league_agents.app.journal_care import prune_journal

    for kept in _chosen(places, config):
        seasons = prune_journal(kept, keep)
        what = f"matches of season {', '.join(map(str, map(int, seasons)))} deleted" if seasons else "nothing to delete"
        click.echo(f"{kept.name}: {what}")


@command.command(short_help="Give unused room of files back.")
@PLACES
@CONFIG
def vacuum(*, places: tuple[str, ...], config: Path | None) -> None:
    """Write the files of journals anew without the room of deleted rows. Stop the daemon first. PostgreSQL does this by
    itself."""
    from league_agents.app.journal_care import vacuum_journal

    for kept in _chosen(places, config):
        sizes = vacuum_journal(kept)
        what = "PostgreSQL gives room back by itself" if sizes is None else f"{sizes[0]:,} bytes, now {sizes[1]:,}"
        click.echo(f"{kept.name}: {what}")


def _chosen(places: tuple[str, ...], config: Path | None) -> list[KeptJournal]:
    from league_agents.app.journal_care import kept_journals
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file
    from league_agents.config.storage_url import journal_place

    if places:
        return kept_journals([journal_place(each, "JOURNAL", Path()) for each in places], ())
    path = find_league_file(config)
    return kept_journals((), read_league_file(path, environment_of(path)).roles)
