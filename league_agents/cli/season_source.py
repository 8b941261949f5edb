"""What commands that read a season open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from league_agents.report.sources import SeasonSource

VIEWERS = ("player", "referee", "public")


def opener(source: Path | None, config: Path | None, season: str | None) -> Callable[[], SeasonSource]:
    """Opens what ``--from`` names, or the journals of the league file, each time that it is called."""
    from league_agents.app.records import open_configured, open_season
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file

    if source is not None and config is not None:
        raise click.UsageError("--from and --config each name where to read from; give one of them")
    if source is not None:
        return lambda: open_season(source, season_id=season)
    path = find_league_file(config)
    settings = read_league_file(path, environment_of(path))
    return lambda: open_configured(settings, season_id=season)


@contextmanager
def opened(source: Path | None, config: Path | None, season: str | None) -> Iterator[SeasonSource]:
    """The same, once, and closed at the end. Tells on stderr what is missing of a season that is not over."""
    from league_agents.app.records import unfinished_words

    with closing(opener(source, config, season)()) as found:
        if source is not None and (words := unfinished_words(source)):
            click.echo(words, err=True)
        yield found
