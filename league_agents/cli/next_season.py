"""``league-agents manage next-season``: the final tables, and the season that follows from them."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from league_agents.cli.screen import print_whole

if TYPE_CHECKING:
    from league_agents.app.turnover import Turnover
    from league_agents.config.league_settings import LeagueSettings

LONGEST_NAME = 200
LOOK_EVERY_S = 0.2


def turn_over(config: Path | None, *, season_id: str, name: str, wait: float) -> int:
    """Show who rises and falls; with a ``season_id`` write the next season into the league file and begin it."""
    from league_agents.app.finished import check_file
    from league_agents.app.reload import ask_to_reload, processes_of
    from league_agents.app.turnover import begun_by, turnover_of, values_of
    from league_agents.cli import Exit
    from league_agents.config.league_file import environment_of, find_league_file, read_league_file
    from league_agents.config.next_season_file import write_next_season
    from league_agents.kit.clock import SystemClock
    from league_agents.league.wire.reading import id_of

    for what, words in (("ABOUT", season_id), ("--text", name)):
        if words and (id_of(words) != words or len(words) > LONGEST_NAME):
            raise click.UsageError(f"{what} must be one line of at most {LONGEST_NAME} visible characters")
    path = find_league_file(config)

    def read() -> LeagueSettings:
        return read_league_file(path, environment_of(path), only=("manager",))

    settings, clock = read(), SystemClock()
    assert settings.season is not None
    for _ in check_file(settings, now=clock.now()):
        pass
    # The same command after a crash, or after a manager was not there: the file has the season already.
    if season_id != settings.season.season_id or not settings.season.follows:
        turnover = turnover_of(settings)
        _print(settings, turnover)
        if not season_id:
            click.echo("to begin the next season: league-agents manage next-season ID", err=True)
            return Exit.OK
        former = write_next_season(path, values_of(settings, season_id, name, turnover))
        settings = read()
        click.echo(f"{path} has season {season_id} now; {former.name} is what it said before", err=True)
    processes = processes_of([settings])
    for pid in processes:
        ask_to_reload(pid)
    ends_at_s = clock.monotonic_s() + (wait if processes else 0)
    while (left := [role.label for role, is_begun in begun_by(settings) if not is_begun]) and (
        clock.monotonic_s() < ends_at_s
    ):
        clock.sleep(timedelta(seconds=LOOK_EVERY_S))
    if not left:
        click.echo(f"season {season_id} has begun", err=True)
    elif settings.season is not None and not settings.season.opens_by_itself:
        click.echo(f"{', '.join(left)}: restart it, then say 'manage new-season'", err=True)
    else:
        click.echo(f"{', '.join(left)}: begins season {season_id} when it is started again with this file", err=True)
    return Exit.OK


def _print(settings: LeagueSettings, turnover: Turnover) -> None:
    from league_agents.kit.printable import of
    from league_agents.league.season.divisions import Move
    from league_agents.report.tables import Column, text_table

    columns = (
        Column(key="place", title="", value=lambda row: row.place, is_number=True),
        Column(key="division", title="Division", value=lambda row: of(row.division, 60)),
        Column(key="team", title="Team", value=lambda row: of(row.display_name, 60)),
        Column(key="points", title="Points", value=lambda row: row.total_points, is_number=True),
        Column(key="move", title="Next season", value=lambda row: "" if row.move is Move.STAYS else row.move.value),
    )
    print_whole(text_table(columns, turnover.table), sys.stdout)
    offices = {
        team.group_id: role for role, teams in zip(settings.roles, turnover.divisions, strict=True) for team in teams
    }
    for row in turnover.table:
        if row.move is not Move.STAYS:
            role = offices[row.group_id]
            team, division = of(row.display_name, 60), of(role.name, 60)
            click.echo(f"{team} plays in {division}: its league.manager_email is {role.address} then", err=True)
