"""The teams and divisions of the league managers of a file.

Rule 1: one manager plays with ``season.teams``; of several each has the teams of its division, the highest first.
Rule 2: a team has one division.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from league_agents.config.league_settings import RoleSettings
from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.league.season.divisions import DivisionPlace, check_promotion
from league_agents.league.season.schedule import Team
from league_agents.league.wire.address import address_key

if TYPE_CHECKING:
    from league_agents.config.league_keys import WrittenSeason, WrittenTeam


def with_teams(season: WrittenSeason, path: Path, roles: Sequence[RoleSettings]) -> tuple[RoleSettings, ...]:
    """The roles, the managers among them with their teams and their divisions. Raises ``ConfigError``."""
    managers = [role for role in roles if role.role == "manager"]
    is_divided = len(managers) > 1
    for role in managers:
        if season.teams and (role.teams or is_divided):
            raise ConfigError(
                f"{path}.season.teams",
                "does not go with teams of a manager or with several managers: write each division's under its manager",
            )
        if is_divided and not role.teams:
            raise ConfigError(f"{role.where}.teams", "is missing: each of several managers has the teams of a division")
    if season.teams:
        managers = [evolve(managers[0], teams=teams_of(season.teams))]
    try:
        check_promotion([len(role.teams) for role in managers], season.promoted)
    except ConfigError as error:
        raise ConfigError(f"{path}.season.{error.path}", str(error).removeprefix(f"{error.path}: ")) from None
    if is_divided:
        _refuse_shared_teams(managers)
        managers = [
            evolve(role, division=DivisionPlace(place=place, divisions=len(managers), promoted=season.promoted))
            for place, role in enumerate(managers)
        ]
    left = iter(managers)
    return tuple(next(left) if role.role == "manager" else role for role in roles)


def _refuse_shared_teams(managers: Sequence[RoleSettings]) -> None:
    taken: dict[tuple[str, str], str] = {}
    for role in managers:
        for team in role.teams:
            addresses = (address_key(team.player_email), address_key(team.referee_email))
            for claim in (("group_id", team.group_id), *(("mailbox", each) for each in addresses)):
                other = taken.setdefault(claim, role.section)
                if other != role.section:
                    raise ConfigError(
                        f"{role.where}.teams", f"{claim[0]} {claim[1]} is in {other}.teams too: a team has one division"
                    )


def teams_of(written: Sequence[WrittenTeam]) -> tuple[Team, ...]:
    """The teams as the league manager knows them."""
    return tuple(
        Team(group_id=team.group_id, player_email=team.player, referee_email=team.referee, display_name=team.name)
        for team in written
    )
