"""``league-agents report``: a season as a folder of pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.options import CONFIG, FROM, SEASON
from league_agents.cli.season_source import VIEWERS, opened

if TYPE_CHECKING:
    from league_agents.report.records import Viewer

EPILOG = """\b
Examples:
  league-agents report --out pages                     the season of the league file's journals
  league-agents report --from season --out pages       a season's folder, a journal, a recorded match or an export
  league-agents report 0201001 --from season --out pages

Open pages/index.html in a browser. The folder can be copied to any web server: its links are relative, and no page asks
anybody for anything.
"""


@click.command(name="report", short_help="A season as pages for a browser.", epilog=EPILOG)
@click.argument("game_id", metavar="[MATCH]", required=False)
@click.option("--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Where the pages go.")
@FROM
@CONFIG
@SEASON
@click.option(
    "--matches/--no-matches",
    "with_matches",
    default=None,
    help="Write a page for each match, or none.  [default: in a season of up to 1,000 matches]",
)
@click.option(
    "--as",
    "viewer",
    type=click.Choice(VIEWERS),
    default="public",
    show_default=True,
    help="Whom the pages are for. Pages for others than the public hold warnings, and of open matches what that reader "
    "may see.",
)
def command(
    *,
    game_id: str | None,
    out: Path,
    source: Path | None,
    config: Path | None,
    season: str | None,
    with_matches: bool | None,
    viewer: Viewer,
) -> None:
    """Write the pages of a season, or of one match and its season: standings over time, cross table, schedule, ratings
    with intervals, head-to-head, and of each match questions, answers, scores, clocks and cost.

    Nothing on them is secret any more, unless --as says otherwise, and no mail address is. The path of the page to open
    first is printed.
    """
    from league_agents.app.publishing import publish_match, publish_season

    with opened(source, config, season) as found:
        if game_id is not None:
            published = publish_match(found, game_id, out, viewer=viewer)
        else:
            published = publish_season(found, out, with_matches=with_matches, viewer=viewer)
    if published.left_out:
        counted = "1 match has" if published.left_out == 1 else f"{published.left_out:,} matches have"
        click.echo(f"{counted} no page; --matches writes them all", err=True)
    click.echo(published.start)
