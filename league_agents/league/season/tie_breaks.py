"""The table of the standings: the order of the teams and the values that decide it.

Rule 1: the season's tie-breaks decide, one after the other. Teams that are equal in all of them share a rank; the name
decides only the order of the lines within a rank.
Rule 2: every value that decided is in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from league_agents.games.q21.rules import RuleSet
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.league.season.pairings import survived
from league_agents.league.season.schedule import Pairing, Schedule, ScheduleKind, Team
from league_agents.league.season.standings import (
    NO_TALLY,
    MatchOutcome,
    Standings,
    StandingsTally,
    points_that_count,
)
from league_agents.league.wire.messages import StandingRow


class TieBreak(StrEnum):
    """A value by which teams are compared. More is better, except for the lot."""

    POINTS = "points"
    """League points."""

    WINS = "wins"
    """Games won."""

    PRIVATE_SCORE = "private_score"
    """The sum of the private scores."""

    HEAD_TO_HEAD = "head_to_head"
    """League points in the games between those who are equal so far."""

    ROUNDS_SURVIVED = "rounds_survived"
    """The rounds of a knockout season that a team survived, byes included."""

    LOT = "lot"
    """A place drawn by the season's seed; the first is best."""


LEAGUE_ORDER = (TieBreak.POINTS, TieBreak.PRIVATE_SCORE, TieBreak.WINS)
"""The default (protocol 7)."""

KNOCKOUT_ORDER = (TieBreak.ROUNDS_SURVIVED, *LEAGUE_ORDER)

Game = tuple[Pairing, MatchOutcome]


class RankedTeam(Struct, frozen=True, kw_only=True):
    """One line of the table."""

    rank: int
    """The rank; equal teams share one, and the next rank skips as many places: 1, 2, 2, 4."""

    team: Team
    tally: StandingsTally
    values: Mapping[str, float]
    """Values by tie-break, in the order of the season's list. Head-to-head and lot appear only where they decided."""

    @property
    def row(self) -> StandingRow:
        """The line as it is sent in messages."""
        return StandingRow(
            rank=self.rank,
            participant_id=self.team.group_id,
            group_id=self.team.group_id,
            email=self.team.player_email,
            display_name=self.team.name,
            total_points=self.tally.points,
            games_played=self.tally.played,
            games_won=self.tally.won,
        )


def check_tie_breaks(tie_breaks: Sequence[TieBreak], kind: ScheduleKind) -> None:
    """Raise ``ConfigError`` for tie-breaks that cannot be used in a season of this kind."""
    repeated = next((each for place, each in enumerate(tie_breaks) if each in tie_breaks[:place]), None)
    if not tie_breaks:
        raise ConfigError("tie_breaks", f"must name one of {', '.join(TieBreak)}")
    if repeated is not None:
        raise ConfigError("tie_breaks", f"{repeated} is named twice: a second time it decides nothing")
    if TieBreak.ROUNDS_SURVIVED in tie_breaks and kind is not ScheduleKind.KNOCKOUT:
        raise ConfigError("tie_breaks", f"{TieBreak.ROUNDS_SURVIVED} is for a knockout season, and this one is {kind}")
    if TieBreak.LOT in tie_breaks[:-1]:
        raise ConfigError("tie_breaks", f"{TieBreak.LOT} must be the last one: after it nobody is equal")


def usual_tie_breaks(kind: ScheduleKind) -> tuple[TieBreak, ...]:
    """The default tie-breaks for a kind of schedule."""
    return KNOCKOUT_ORDER if kind is ScheduleKind.KNOCKOUT else LEAGUE_ORDER


def ranking(
    teams: Sequence[Team],
    standings: Standings,
    *,
    tie_breaks: Sequence[TieBreak],
    rules: RuleSet,
    seed: str,
    games: Callable[[], Iterable[Game]],
    schedule: Schedule | None = None,
) -> tuple[RankedTeam, ...]:
    """The table of these teams. ``games`` returns the games that the standings count, and is called only if a tie-break
    needs them; ``schedule`` is needed for rounds survived."""
    tallies = {team.group_id: standings.players.get(team.group_id, NO_TALLY) for team in teams}
    values: dict[str, dict[str, float]] = {group: {} for group in tallies}
    groups = [sorted(teams, key=lambda team: (team.name.casefold(), team.group_id))]

    def measure(tie_break: TieBreak, group: Sequence[Team]) -> Mapping[str, float]:
        ids = [team.group_id for team in group]
        match tie_break:
            case TieBreak.POINTS:
                return {each: tallies[each].points for each in ids}
            case TieBreak.WINS:
                return {each: tallies[each].won for each in ids}
            case TieBreak.PRIVATE_SCORE:
                return {each: tallies[each].private_score for each in ids}
            case TieBreak.HEAD_TO_HEAD:
                return _between(set(ids), games(), rules) if len(ids) > 1 else {}
            case TieBreak.ROUNDS_SURVIVED:
                return _rounds_survived(schedule, games(), rules)
            case TieBreak.LOT:
                drawn = Draw(seed, "lot").shuffled(sorted(tallies))
                return {each: drawn.index(each) + 1 for each in ids} if len(ids) > 1 else {}

    for tie_break in tie_breaks:
        sign = 1 if tie_break is TieBreak.LOT else -1
        finer: list[list[Team]] = []
        for group in groups:
            measured = measure(tie_break, group)
            by_value: dict[float, list[Team]] = {}
            for team in group:
                value = measured.get(team.group_id)
                if value is not None:
                    values[team.group_id][tie_break.value] = value
                by_value.setdefault(sign * (value or 0), []).append(team)
            finer += [by_value[value] for value in sorted(by_value)]
        groups = finer
    rows: list[RankedTeam] = []
    for group in groups:
        rank = len(rows) + 1
        rows += [
            RankedTeam(rank=rank, team=team, tally=tallies[team.group_id], values=values[team.group_id])
            for team in group
        ]
    return tuple(rows)


def _between(group: set[str], games: Iterable[Game], rules: RuleSet) -> dict[str, float]:
    points: dict[str, float] = dict.fromkeys(sorted(group), 0)
    for pairing, outcome in games:
        ids = (pairing.player1.group_id, pairing.player2.group_id)
        if group.issuperset(ids):
            for each, counted in zip(ids, points_that_count(outcome, rules), strict=True):
                points[each] += counted
    return points


def _rounds_survived(schedule: Schedule | None, games: Iterable[Game], rules: RuleSet) -> Mapping[str, float]:
    if schedule is None or schedule.kind is not ScheduleKind.KNOCKOUT:
        return {}
    return survived(schedule, {pairing.game_id: outcome for pairing, outcome in games}, rules)
