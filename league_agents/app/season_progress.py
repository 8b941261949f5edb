"""How far an offline season is: which divisions are over, and how many matches of the others.

Rule: the matches of a running division are in memory until it is over; only their number is in the folder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from league_agents.app.season_files import JOURNALS, MATCHES, UNFINISHED
from league_agents.app.season_plan import PlannedDivision, SeasonPlan, read_plan
from league_agents.kit.errors import ConfigError


def unfinished(folder: Path, division: int) -> Path:
    """The folder of a division until it is over."""
    return folder / UNFINISHED / str(division)


def place_of(division: PlannedDivision, folder: Path) -> Path:
    """The folder of a finished division's journals."""
    return folder / JOURNALS / division.name if division.name else folder / JOURNALS


def played_in(plan: SeasonPlan, folder: Path, divisions: Sequence[PlannedDivision]) -> int:
    """The number of finished matches of these divisions."""
    count = 0
    for division in divisions:
        try:
            count += (unfinished(folder, division.number) / MATCHES).stat().st_size
        except FileNotFoundError:
            count += plan.matches_of(division) if place_of(division, folder).is_dir() else 0
    return count


def progress_of(folder: Path) -> str:
    """How far the season in a folder is; empty if all its divisions are over, and without a plan that can be read."""
    try:
        plan = read_plan(folder)
    except ConfigError:
        return ""
    if plan is None or all(place_of(division, folder).is_dir() for division in plan.divisions):
        return ""
    part = "a division is" if len(plan.divisions) > 1 else "it is"
    return (
        f"this season is not over: {played_in(plan, folder, plan.divisions)} of {plan.matches} matches were played;"
        f" tables can be shown as soon as {part} over (after an interruption the same 'season' command goes on)"
    )
