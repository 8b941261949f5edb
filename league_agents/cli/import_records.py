"""``league-agents import``: check a file of match records, and keep it."""

from __future__ import annotations

from pathlib import Path

import click

from league_agents.cli.record_file import FileToWrite

EPILOG = """\b
Examples:
  league-agents import spring.jsonl
  league-agents import from-a-stranger.jsonl --out spring.jsonl
  league-agents show standings --from spring.jsonl

The file may come from anybody: its size, its depth, its encoding, every value and the chain of hashes are checked. The
exit code is 3 when something is wrong; the first wrong line is named, with its match.
"""


@click.command(name="import", short_help="Check a file of match records, and keep it.", epilog=EPILOG)
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--out", type=FileToWrite(), metavar="FILE", help="Keep what could be read here, as 'export' writes it.")
def command(*, file: Path, out: Path | None) -> int:
    """Check a file that 'export' wrote, and say what it holds.

    With --out the records are written anew, without anything that this version does not know; every command that takes
    --from reads that file.
    """
    from league_agents.app.records import imported, write_lines
    from league_agents.kit.printable import printable
    from league_agents.report.records_file import record_lines

    found = imported(file)
    season, count = found.season(), found.check()
    if out is not None:
        write_lines(out, record_lines(season, found.matches(), viewer=found.viewer, team=found.team))
    name = printable(season.name or season.season_id or "a season without a name", 200)
    kept = "" if out is None else f"; kept in {out}"
    plural = "match" if count == 1 else "matches"
    click.echo(f"{name}: {count} {plural}, nothing was changed since it was written{kept}", err=True)
    return 0
