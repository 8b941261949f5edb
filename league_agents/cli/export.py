"""``league-agents export``: the matches of a season as a file that anybody can check, or as a table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.options import CONFIG, FROM, SEASON
from league_agents.cli.record_file import FileToWrite
from league_agents.cli.season_source import VIEWERS, opened

if TYPE_CHECKING:
    from league_agents.report.records import Viewer

EPILOG = """\b
Examples:
  league-agents export --out spring.jsonl
  league-agents export --from season/ --as public --out public.jsonl
  league-agents export --csv > matches.csv

Each line of the file carries a hash over itself and the line before, so a changed match is named by 'import' and by
every reader (docs/reference/records.md). What is secret when the file is written is not in it; --as public leaves out
mail addresses and warnings too.
"""


@click.command(name="export", short_help="Write the matches of a season to a file.", epilog=EPILOG)
@click.option("--out", type=FileToWrite(), metavar="FILE", help="An earlier export is replaced.  [default: stdout]")
@click.option("--as", "viewer", type=click.Choice(VIEWERS), help="Write no more than this reader may see.")
@click.option("--csv", "as_csv", is_flag=True, help="A table for spreadsheets, one line a match.")
@FROM
@CONFIG
@SEASON
def command(
    *,
    out: Path | None,
    viewer: Viewer | None,
    as_csv: bool,
    source: Path | None,
    config: Path | None,
    season: str | None,
) -> int:
    """Write every match of a season: JSON Lines with a hash chain, or CSV."""
    from league_agents.app.records import exported, write_lines
    from league_agents.report.tables import MATCHES, csv_lines

    with opened(source, config, season) as found:
        season_record, matches = exported(found, viewer)
        if as_csv:
            lines: Iterator[bytes] = (line.encode() for line in csv_lines(MATCHES, matches))
        else:
            from league_agents.report.records_file import record_lines

            lines = record_lines(season_record, matches, viewer=viewer or found.viewer, team=found.team)
        if out is not None:
            write_lines(out, lines, is_table=as_csv)
            return 0
        stream = getattr(sys.stdout, "buffer", None)
        for line in lines:
            if stream is None:
                sys.stdout.write(line.decode())
            else:
                stream.write(line)
    return 0
