"""The plan of an offline season: its teams, their agents, and everything else that determines its bytes.

Rule: the plan is written before the first match, as ``season.json`` in the season's folder. A resumed season follows
that plan, and a different one is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Struct
from pydantic import Field

from league_agents.app.agents import OFFLINE, SCRIPTED, is_own
from league_agents.app.faults import NONE, FaultProfile
from league_agents.app.offline import START, team_of
from league_agents.app.season_files import MANIFEST
from league_agents.config.mapping_file import read_mapping
from league_agents.kit.errors import ConfigError, shortened
from league_agents.kit.values import evolve
from league_agents.kit.written import PRINTABLE, Line, WrittenMapping, one_line, read_written
from league_agents.league.season.divisions import check_promotion, deciding
from league_agents.league.season.pairings import drawn_up
from league_agents.league.season.schedule import MOST_SEASON, ScheduleKind, Team
from league_agents.league.season.tie_breaks import TieBreak, check_tie_breaks, usual_tie_breaks
from league_agents.league.wire.address import read_address

VERSION = 1

MOST_DIVISIONS = 3_333
"""As many as 10,000 teams fill with three each."""


class PlannedTeam(Struct, frozen=True, kw_only=True):
    """One team with its player and referee agents."""

    group_id: str
    name: str
    player: str
    """The agent's name, as ``app.agents.choose_agent`` reads it."""

    referee: str

    @property
    def team(self) -> Team:
        """The team with its offline addresses."""
        return evolve(team_of(self.group_id), display_name=self.name)


class PlannedDivision(Struct, frozen=True, kw_only=True):
    """Teams that play each other."""

    name: str
    """Empty in a season without divisions."""

    number: int
    """From 1. In a league with promotion the first one is the highest."""

    teams: tuple[PlannedTeam, ...]

    @property
    def season_number(self) -> int:
        """The first two digits of its game ids: unique within the season, as long as two digits can be."""
        return (self.number - 1) % MOST_SEASON + 1


class SeasonPlan(Struct, frozen=True, kw_only=True):
    """A whole season."""

    version: int = VERSION
    season_id: str
    name: str
    seed: int
    schedule: ScheduleKind
    rounds: int | None = None
    games_at_once: int = 1
    """How many games a team's player has in a round, and its referee at most."""

    tie_breaks: tuple[TieBreak, ...]
    rules: str
    """The name of a built-in rule set, or a file."""

    faults: FaultProfile = NONE
    in_process: bool = False
    promoted: int = 0
    """How many teams are promoted from each division after the season, and relegated into it."""

    season: int = 1
    """The season's place in its league: one more than that of the season whose tables it follows."""

    divisions: tuple[PlannedDivision, ...]

    @property
    def matches(self) -> int:
        """The number of matches."""
        return sum(map(self.matches_of, self.divisions))

    def matches_of(self, division: PlannedDivision) -> int:
        """The number of matches of a division."""
        return _matches(self.schedule, len(division.teams), self.rounds)


@cache
def _matches(kind: ScheduleKind, teams: int, rounds: int | None) -> int:
    match kind:
        case ScheduleKind.KNOCKOUT:
            return teams - 1
        case ScheduleKind.SWISS:
            some = [team_of(f"t{number}") for number in range(teams)]
            return drawn_up(kind, some, season=1, rounds=rounds).planned * (teams // 2)
        case ScheduleKind.ROUND_ROBIN | ScheduleKind.DOUBLE:
            return teams * (teams - 1) // (2 if kind is ScheduleKind.ROUND_ROBIN else 1)


class WrittenRosterTeam(WrittenMapping):
    """One team of a roster."""

    group_id: Line
    name: Line = ""
    player: Annotated[str, one_line(1_000), PRINTABLE] | None = None
    referee: Annotated[str, one_line(1_000), PRINTABLE] | None = None
    division: Line = ""


class WrittenRoster(WrittenMapping):
    """A file of teams."""

    teams: Annotated[list[WrittenRosterTeam], Field(max_length=10_000)] = Field(default_factory=list)


def roster_file(path: Path) -> list[WrittenRosterTeam]:
    """The teams of a YAML or JSON file. Raises ``ConfigError``."""
    return read_written(WrittenRoster, read_mapping(path), str(path)).teams


def numbered_roster(count: int) -> list[WrittenRosterTeam]:
    """Teams named ``team-01`` and so on."""
    width = max(2, len(str(count)))
    return [WrittenRosterTeam(group_id=f"team-{number:0{width}d}") for number in range(1, count + 1)]


def plan_of(
    roster: Sequence[WrittenRosterTeam],
    *,
    seed: int,
    schedule: ScheduleKind = ScheduleKind.ROUND_ROBIN,
    rounds: int | None = None,
    tie_breaks: Sequence[TieBreak] = (),
    divisions: int = 1,
    agents: Sequence[str] = (),
    referees: Sequence[str] = (),
    rules: str = "prd",
    faults: FaultProfile = NONE,
    in_process: bool = False,
    promoted: int = 0,
    games_at_once: int = 1,
) -> SeasonPlan:
    """The plan of these teams. ``agents`` play for the teams in turn, ``referees`` judge. With ``promoted`` teams a lot
    decides between equal teams in the end. Raises ``ConfigError``."""
    order = tuple(tie_breaks) or usual_tie_breaks(schedule)
    check_tie_breaks(order, schedule)
    order = deciding(order, promoted)
    agents = agents or (OFFLINE,)
    division_of = _divisions_of(roster, divisions)
    teams: dict[str, list[PlannedTeam]] = {}
    for place, each in enumerate(roster):
        if read_address(f"{each.group_id}@league.test") is None:
            raise ConfigError("roster", f"{each.group_id[:60]!a} cannot be a group_id: letters, digits, '.', '-', '_'")
        player = each.player or agents[place % len(agents)]
        referee = each.referee or (referees[place % len(referees)] if referees else _referee_beside(player))
        planned = PlannedTeam(
            group_id=each.group_id, name=each.name or team_of(each.group_id).name, player=player, referee=referee
        )
        teams.setdefault(division_of(each, place), []).append(planned)
    if len(teams) > MOST_DIVISIONS:
        raise ConfigError("divisions", f"must be at most {MOST_DIVISIONS}, found {len(teams)}")
    for name, group in teams.items():
        try:
            drawn_up(schedule, [each.team for each in group], season=1, rounds=rounds, games_at_once=games_at_once)
        except ConfigError as error:
            if not name:
                raise
            dealt = f"--divisions {divisions}: {name}" if divisions > 1 else f"division {name}"
            raise ConfigError(dealt, str(error)) from None
    repeated = {each.group_id for each in roster}
    if len(repeated) < len(roster):
        raise ConfigError("roster", "two teams have the same group_id: each needs its own")
    # With promotion the order of the roster is the order of the divisions.
    groups = list(teams.items()) if promoted else sorted(teams.items())
    check_promotion([len(group) for _, group in groups], promoted)
    return SeasonPlan(
        season_id=season_id_of(1),
        name=f"Offline season {seed}",
        seed=seed,
        schedule=schedule,
        rounds=rounds,
        games_at_once=games_at_once,
        tie_breaks=order,
        rules=rules,
        faults=faults,
        in_process=in_process,
        promoted=promoted,
        divisions=tuple(
            PlannedDivision(name=name, number=number, teams=tuple(group))
            for number, (name, group) in enumerate(groups, start=1)
        ),
    )


def season_id_of(season: int) -> str:
    """The id of a season of an offline league; each begins a year after the one before."""
    return f"SEASON_{START.replace(year=START.year + season - 1):%Y-%m-%d}"


def _divisions_of(roster: Sequence[WrittenRosterTeam], divisions: int) -> Callable[[WrittenRosterTeam, int], str]:
    """A function that returns the division of a team and its place in the roster. Raises ``ConfigError``."""
    is_named = any(each.division for each in roster)
    if is_named and divisions > 1:
        raise ConfigError("roster", "names divisions; leave out --divisions")
    width = len(str(divisions))

    def division_of(each: WrittenRosterTeam, place: int) -> str:
        if not is_named:
            return "" if divisions == 1 else f"division-{place % divisions + 1:0{width}d}"
        if not each.division:
            raise ConfigError("roster", f"{each.group_id} has no division, and others have one")
        if not each.division.replace("-", "").replace("_", "").isalnum():
            raise ConfigError("roster", f"division {each.division[:60]!a}: letters, digits, '-' and '_' only")
        return each.division

    return division_of


def _referee_beside(player: str) -> str:
    """The referee of a team that names none."""
    return SCRIPTED if not is_own(player) and player.partition(":")[0] == SCRIPTED else OFFLINE


def write_plan(plan: SeasonPlan, folder: Path) -> None:
    """Write the plan to the season's folder, unless it is there. Raises ``ConfigError`` when a different plan is."""
    known = read_plan(folder)
    if known is None:
        path = folder / MANIFEST
        beside = path.with_suffix(".new")
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(plan), indent=2) + b"\n")
        beside.replace(path)
    elif known != plan:
        raise ConfigError(
            shortened(str(folder)),
            f"holds another season ({shortened(_differences(known, plan), 400)}); name another folder with"
            " --out, or use the options of that season to go on with it",
        )


_OPTIONS: Mapping[str, Callable[[SeasonPlan], object]] = {
    "--teams or --roster": lambda plan: f"{len(_teams(plan, 'group_id'))} teams",
    "--divisions": lambda plan: len(plan.divisions),
    "--promote": lambda plan: plan.promoted or "none",
    "--after": lambda plan: f"season {plan.season}",
    "--schedule": lambda plan: plan.schedule.value,
    "--rounds": lambda plan: plan.rounds or "none",
    "--games-at-once": lambda plan: plan.games_at_once,
    "--tie-breaks": lambda plan: ", ".join(plan.tie_breaks),
    "--agents": lambda plan: ", ".join(dict.fromkeys(_teams(plan, "player"))),
    "--referees": lambda plan: ", ".join(dict.fromkeys(_teams(plan, "referee"))),
    "--rules": lambda plan: plan.rules,
    "--faults": lambda plan: plan.faults.name,
    "--seed": lambda plan: plan.seed,
    "--in-process": lambda plan: "on" if plan.in_process else "off",
}
"""What each option of the command decides in a plan."""


def _differences(there: SeasonPlan, here: SeasonPlan) -> str:
    """The options in which two plans differ, with the values of both."""
    values = {option: (value(there), value(here)) for option, value in _OPTIONS.items()}
    if here.schedule is not there.schedule and here.tie_breaks == usual_tie_breaks(here.schedule):
        del values["--tie-breaks"]  # follow from the schedule
    found = [f"{option}: {one} there, {other} here" for option, (one, other) in values.items() if one != other]
    return "; ".join(found) or "other teams, agents or faults, or a plan of another release"


def _teams(plan: SeasonPlan, field: str) -> list[str]:
    return [getattr(team, field) for division in plan.divisions for team in division.teams]


def read_plan(folder: Path) -> SeasonPlan | None:
    """The plan of a season's folder; ``None`` when there is none. Raises ``ConfigError``."""
    path = folder / MANIFEST
    try:
        if not path.is_file():
            if folder.exists() and any(folder.iterdir()):
                raise ConfigError(
                    shortened(str(folder)), f"holds other files and no {MANIFEST}; name a new folder with --out"
                )
            return None
        return msgspec.json.decode(path.read_bytes(), type=SeasonPlan)
    except OSError as error:
        raise ConfigError(shortened(str(path)), f"cannot be read: {error.strerror}; name another folder") from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ConfigError(shortened(str(path)), "is not the plan of a season; name another folder with --out") from None
