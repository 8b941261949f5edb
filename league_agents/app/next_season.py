"""The season after another one: its divisions follow from the last tables, and one table over all divisions.

Rule: the tables decide, in the order in which the league managers announced them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from msgspec import Struct

from league_agents.app.season import DivisionEnd, ends
from league_agents.app.season_plan import SeasonPlan, read_plan, season_id_of
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.values import evolve
from league_agents.league.season.divisions import DivisionPlace, Move, moves, next_divisions

T = TypeVar("T")


class OverallRow(Struct, frozen=True, kw_only=True):
    """One line of the table over all divisions."""

    place: int
    """Equal teams of a division share one, as they share their rank."""

    division: str
    rank: int
    """In the division."""

    group_id: str
    display_name: str
    total_points: int
    move: Move


def overall_table(names: Sequence[str], promoted: int, found: Sequence[DivisionEnd]) -> Iterator[OverallRow]:
    """The table over these divisions of a league of ``names``, the highest first."""
    above = 0
    for end in found:
        place = DivisionPlace(place=names.index(end.name), divisions=len(names), promoted=promoted)
        for row, move in zip(end.standings, moves(place, len(end.standings)), strict=True):
            rank = int(str(row["rank"]))
            yield OverallRow(
                place=above + rank,
                division=end.name,
                rank=rank,
                group_id=str(row["participant_id"]),
                display_name=str(row["display_name"]),
                total_points=int(str(row["total_points"])),
                move=move,
            )
        above += len(end.standings)


def ranked(end: DivisionEnd, teams: Mapping[str, T]) -> list[T]:
    """The teams of a division in the order of its table, then those that did not take part."""
    order = [str(row["participant_id"]) for row in end.standings]
    return [teams[group] for group in dict.fromkeys((*(each for each in order if each in teams), *teams))]


def next_season(folder: Path, seed: int) -> SeasonPlan:
    """The plan of the season after the one in a folder. Raises ``ConfigError``."""
    last = read_plan(folder)
    if last is None:
        raise ConfigError(f"--after {shortened(str(folder))}", "holds no season; name the folder of one")
    found = list(ends(last, folder))
    if len(found) < len(last.divisions):
        missing = f"{len(found)} of {len(last.divisions)} divisions are over"
        raise ConfigError(f"--after {shortened(str(folder))}", f"is not over ({missing}); play it to its end first")
    tables = [
        ranked(end, {team.group_id: team for team in division.teams})
        for division, end in zip(last.divisions, found, strict=True)
    ]
    return evolve(
        last,
        season=last.season + 1,
        season_id=season_id_of(last.season + 1),
        seed=seed,
        name=f"Offline season {seed}",
        divisions=tuple(
            evolve(division, teams=tuple(group))
            for division, group in zip(last.divisions, next_divisions(tables, last.promoted), strict=True)
        ),
    )
