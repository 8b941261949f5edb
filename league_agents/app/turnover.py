"""From one season of a live league to the next: its divisions follow from the final tables of their managers.

Rule 1: the tables are those of the managers' journals, and the rule is that of simulated leagues.
Rule 2: the league file is the only thing that is changed, and at once. Whoever starts a manager on it goes on from
there: the manager of a season that is over begins the one that follows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

from msgspec import Struct

from league_agents.app.journals import SEED, journals_of, look_at_journal, state_in
from league_agents.app.live_machine import machine_of
from league_agents.app.next_season import OverallRow, overall_table, ranked
from league_agents.app.season import DivisionEnd
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.config.next_season_file import SeasonValues
from league_agents.kit.errors import ConfigError
from league_agents.kit.json_values import mappings
from league_agents.kit.printable import of
from league_agents.kit.values import evolve
from league_agents.league.machines.manager.state import ManagerState, SeasonPhase
from league_agents.league.season.divisions import DivisionPlace, Move, next_divisions
from league_agents.league.season.schedule import MOST_SEASON, Team


class Turnover(Struct, frozen=True, kw_only=True):
    """The end of a season, and the divisions of the next one."""

    table: tuple[OverallRow, ...]
    divisions: tuple[tuple[Team, ...], ...]
    """By manager, in the order of the league file."""


def turnover_of(settings: LeagueSettings) -> Turnover:
    """The turnover after the season of a league file. Raises ``ConfigError`` while one of its divisions is not over."""
    season = settings.season
    assert season is not None
    ends: list[DivisionEnd] = []
    waiting: list[str] = []
    for role in settings.roles:
        end = _end_of(settings, role)
        if isinstance(end, str):
            waiting.append(f"{role.label} {end}")
        else:
            ends.append(end)
    if waiting:
        raise ConfigError(f"season {of(season.season_id, 60)}", f"is not over: {'; '.join(waiting)}")
    tables = [
        ranked(end, {team.group_id: team for team in role.teams})
        for role, end in zip(settings.roles, ends, strict=True)
    ]
    names = [end.name for end in ends]
    return Turnover(
        table=tuple(overall_table(names, season.promoted, ends)),
        divisions=tuple(map(tuple, next_divisions(tables, season.promoted))),
    )


def values_of(settings: LeagueSettings, season_id: str, name: str, turnover: Turnover) -> SeasonValues:
    """The values of the next season. Raises ``ConfigError`` if it is impossible."""
    season = settings.season
    assert season is not None
    if season_id == season.season_id:
        raise ConfigError(f"season {of(season_id, 60)}", "is the season that is over; the next one needs another id")
    number = season.number % MOST_SEASON + 1
    is_divided = len(settings.roles) > 1
    changed = evolve(settings, season=evolve(season, season_id=season_id, name=name or season_id, number=number))
    for role, teams in zip(settings.roles, turnover.divisions, strict=True):
        machine_of(changed, evolve(role, teams=teams) if is_divided else role, "check")
    return SeasonValues(
        season_id=season_id,
        name=name or season_id,
        number=number,
        follows=season.season_id,
        divisions=turnover.divisions if is_divided else (),
    )


def begun_by(settings: LeagueSettings) -> Iterator[tuple[RoleSettings, bool]]:
    """Each manager, and whether it has begun the season of the league file."""
    assert settings.season is not None
    for role in settings.roles:
        state = _state_of(settings, role)
        is_begun = state is not None and state.season.season_id == settings.season.season_id
        yield role, is_begun and state is not None and state.season.phase is not SeasonPhase.SETUP


def move_words(place: DivisionPlace | None, names: Sequence[str]) -> str:
    """Who is promoted and relegated by a table with these names; empty where nobody is."""
    if place is None or not place.promoted:
        return ""
    up = names[: place.promoted] if place.place > 0 else ()
    down = names[len(names) - place.promoted :] if place.place < place.divisions - 1 else ()
    parts = [f"{Move.PROMOTED}: {', '.join(up)}" if up else "", f"{Move.RELEGATED}: {', '.join(down)}" if down else ""]
    return "; ".join(filter(None, parts))


def _end_of(settings: LeagueSettings, role: RoleSettings) -> DivisionEnd | str:
    """The final table of a manager, or what it is still at."""
    assert settings.season is not None
    season_id = settings.season.season_id
    state = _state_of(settings, role)
    if state is None:
        return "has not begun"
    if state.season.season_id != season_id:
        return f"has not begun it after {of(state.season.season_id, 60)}; start it, or say 'manage new-season'"
    if state.season.phase is not SeasonPhase.FINISHED or state.season.replays:
        return f"is at {state.season.label}"
    with closing(journals_of(role).look()) as journal:
        ended: Mapping[str, object] = {}
        for note in journal.notes(kinds=("season",)):
            if note.key == season_id:
                ended = note.facts
    return DivisionEnd(name=role.name, standings=tuple(mappings(ended.get("standings"))), terminations={})


def _state_of(settings: LeagueSettings, role: RoleSettings) -> ManagerState | None:
    journal = look_at_journal(role)
    if journal is None:
        return None
    with closing(journal):
        state = state_in(role, machine_of(settings, role, str(journal.kept(SEED))), journal.load_parts())
    assert isinstance(state, ManagerState)
    return state
