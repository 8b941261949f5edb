"""A season's records as the values of its page and of its teams' pages.

Rule 1: pure functions from records to texts and numbers; every text has gone through ``shown``.
Rule 2: no match is read for it: a season of ten thousand matches is one page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from league_agents.report.pages.chart import IntervalChart, LineChart, interval_chart, line_chart
from league_agents.report.pages.shown import LONGEST_NAME, file_name, instant, name_shown, number, shown
from league_agents.report.records import ANNULLED, OVER, ScheduledMatch, SeasonRecord, StandingRow, TeamRecord, Viewer

MOST_CROSSED = 40
"""Teams of a cross table. A larger one is no table that anybody reads; the teams' pages have every result."""

MOST_LOG = 500
PUBLIC_LOG = frozenset({"settlement", "round", "season"})
"""Kinds of entries for everybody. A warning may quote an agent, and with it what is secret; orders are the organiser's.
"""

Kind = Literal["won", "drawn", "lost", "open", "annulled"]
WORDS: Mapping[Kind, str] = {
    "won": "won",
    "drawn": "drawn",
    "lost": "lost",
    "open": "not played yet",
    "annulled": "annulled",
}
LETTERS: Mapping[Kind, str] = {"won": "W", "drawn": "D", "lost": "L", "open": "·", "annulled": "×"}


class Link(Struct, frozen=True, kw_only=True):
    """A name, and the page behind it."""

    text: str
    href: str | None = None
    """``None``: there is no such page."""


class Rating(Struct, frozen=True, kw_only=True):
    """How strong a team is, and how sure that is."""

    participant_id: str
    value: float
    low: float
    high: float
    games: int


class Result(Struct, frozen=True, kw_only=True):
    """One match from one team's side."""

    round_number: int
    game: Link
    opponent: Link
    kind: Kind
    score: str
    """``3–1``; empty where the source does not say it."""

    referee: str


class Meeting(Struct, frozen=True, kw_only=True):
    """Everything between a team and one opponent."""

    opponent: Link
    wins: int
    draws: int
    losses: int
    results: tuple[Result, ...]


class Place(Struct, frozen=True, kw_only=True):
    """One row of the standings."""

    rank: int
    team: Link
    is_withdrawn: bool
    cells: tuple[str, ...]


class Played(Struct, frozen=True, kw_only=True):
    """One row of the schedule."""

    game: Link
    player1: Link
    player2: Link
    referee: str
    score: str
    status: str


class Round(Struct, frozen=True, kw_only=True):
    """One round of the schedule."""

    number: int
    matches: tuple[Played, ...]
    over: int


class Division(Struct, frozen=True, kw_only=True):
    """One table of the season, or the only one."""

    name: str
    anchor: str
    headings: tuple[str, ...]
    places: tuple[Place, ...]
    chart: LineChart | None
    rounds: tuple[int, ...]
    progress: tuple[tuple[Link, tuple[str, ...]], ...]
    """The numbers behind the chart: points after each round."""

    cross: tuple[tuple[Link, tuple[tuple[Result, ...] | None, ...]], ...]
    """Each team with its results against each team, in the order of the standings; ``None`` against itself."""

    ratings: IntervalChart | None
    rating_rows: tuple[tuple[Link, str, str, str], ...]
    schedule: tuple[Round, ...]


class SeasonPage(Struct, frozen=True, kw_only=True):
    """The page of a season."""

    title: str
    facts: tuple[tuple[str, str], ...]
    is_over: bool
    divisions: tuple[Division, ...]
    log: tuple[tuple[str, str, str], ...]
    """When, what kind, what happened; the latest first."""

    log_left_out: int


class TeamPage(Struct, frozen=True, kw_only=True):
    """The page of a team."""

    title: str
    season: str
    facts: tuple[tuple[str, str], ...]
    meetings: tuple[Meeting, ...]
    results: tuple[Result, ...]


HasPage = Callable[[str], bool]


class SeasonPages:
    """The values of a season's pages, from one record."""

    def __init__(
        self,
        season: SeasonRecord,
        *,
        has_page: HasPage = lambda _game_id: False,
        ratings: Sequence[Rating] = (),
        viewer: Viewer = "public",
    ) -> None:
        """``has_page``: whether a match has a page that can be linked to."""
        self._season = season
        self._log = [entry for entry in season.log if viewer != "public" or entry.kind in PUBLIC_LOG]
        self._has_page = has_page
        self._ratings = {rating.participant_id: rating for rating in ratings}
        rows = season.standings()
        self._rows = {row.participant_id: row for row in rows}
        self.teams = {team.participant_id: team for team in _teams(season, rows)}
        self._names = {identity: name_shown(team.display_name, identity) for identity, team in self.teams.items()}
        self._matches: dict[str, list[ScheduledMatch]] = defaultdict(list)
        for match in season.schedule:
            self._matches[match.player1].append(match)
            self._matches[match.player2].append(match)

    @property
    def title(self) -> str:
        """What the season is called."""
        season = self._season
        return shown(season.name, LONGEST_NAME) or shown(season.season_id, LONGEST_NAME) or "Season"

    def season_page(self) -> SeasonPage:
        """The values of the season's page."""
        season = self._season
        names = season.divisions or tuple(sorted({team.division for team in self.teams.values()}))
        log = tuple(
            (instant(entry.at), shown(entry.kind, 40), shown(entry.text, 600))
            for entry in sorted(self._log, key=lambda entry: entry.at, reverse=True)[:MOST_LOG]
        )
        return SeasonPage(
            title=self.title,
            facts=self._facts(),
            is_over=season.is_over,
            divisions=tuple(self._division(name, place) for place, name in enumerate(names or ("",))),
            log=log,
            log_left_out=max(0, len(self._log) - MOST_LOG),
        )

    def team_page(self, participant_id: str) -> TeamPage:
        """The values of a team's page. Raises ``KeyError`` for a team that is not in the season."""
        team, row = self.teams[participant_id], self._rows.get(participant_id)
        results = [self._result(match, participant_id, below="../") for match in self._matches[participant_id]]
        met: dict[str, list[Result]] = defaultdict(list)
        for match, result in zip(self._matches[participant_id], results, strict=True):
            met[_other(match, participant_id)].append(result)
        facts = [("Team", shown(participant_id, LONGEST_NAME))]
        if team.division:
            facts.append(("Division", shown(team.division, LONGEST_NAME)))
        if row is not None:
            facts += [("Rank", str(row.rank)), ("Points", number(row.points)), ("Played", str(row.played))]
        if (rating := self._ratings.get(participant_id)) is not None:
            facts.append(("Rating", f"{rating.value:.0f}, 95 % between {rating.low:.0f} and {rating.high:.0f}"))
        if team.withdrawn:
            facts.append(("State", "withdrawn"))
        return TeamPage(
            title=self._names[participant_id],
            season=self.title,
            facts=tuple(facts),
            meetings=tuple(
                Meeting(
                    opponent=self._team(opponent, below="../"),
                    wins=sum(result.kind == "won" for result in each),
                    draws=sum(result.kind == "drawn" for result in each),
                    losses=sum(result.kind == "lost" for result in each),
                    results=tuple(each),
                )
                for opponent, each in met.items()
            ),
            results=tuple(results),
        )

    def _facts(self) -> tuple[tuple[str, str], ...]:
        season = self._season
        over = sum(match.status in (OVER, ANNULLED) for match in season.schedule)
        facts = [
            ("League", shown(season.league_id, LONGEST_NAME)),
            ("Season", shown(season.season_id, LONGEST_NAME)),
            ("Rules", shown(season.rules, LONGEST_NAME)),
            ("Teams", str(len(self.teams))),
            ("Matches", f"{over} of {len(season.schedule)} played" if season.schedule else ""),
            ("Order of the table", ", ".join(_words(each) for each in season.tie_breaks)),
        ]
        return tuple((name, value) for name, value in facts if value)

    def _division(self, name: str, place: int) -> Division:
        season = self._season
        ids = {identity for identity, team in self.teams.items() if team.division == name or not season.divisions}
        rows = [row for row in season.standings() if row.participant_id in ids]
        order = [row.participant_id for row in rows]
        order += sorted(ids - set(order), key=lambda identity: self._names[identity].casefold())
        keys = tuple(dict.fromkeys(key for row in rows for key in row.tie_breaks))
        has_counts = any(row.draws is not None for row in rows)
        has_scores = any(row.private_score is not None for row in rows)
        headings = ["Played", "Won", *(("Drawn", "Lost") if has_counts else ()), "Points"]
        headings += ["Score"] if has_scores else []
        rounds = tuple(sorted(season.standings_after))
        points = self._points_after(rounds, order)
        matches = [match for match in season.schedule if match.player1 in ids]
        rated = sorted(
            (self._ratings[identity] for identity in order if identity in self._ratings), key=lambda each: -each.value
        )
        return Division(
            name=shown(name, LONGEST_NAME),
            anchor=f"d{place}",
            headings=(*headings, *(_words(key).capitalize() for key in keys)),
            places=tuple(self._place(row, keys, has_counts=has_counts, has_scores=has_scores) for row in rows),
            chart=line_chart(rounds, {self._names[identity]: points[identity] for identity in order}),
            rounds=rounds,
            progress=tuple(
                (self._team(identity), tuple(number(value) for value in points[identity])) for identity in order
            )
            if len(rounds) > 1
            else (),
            cross=self._cross(order) if 1 < len(order) <= MOST_CROSSED else (),
            ratings=interval_chart(
                [(self._names[each.participant_id], each.low, each.value, each.high) for each in rated]
            ),
            rating_rows=tuple(
                (
                    self._team(each.participant_id),
                    f"{each.value:.0f}",
                    f"{each.low:.0f} to {each.high:.0f}",
                    str(each.games),
                )
                for each in rated
            ),
            schedule=self._rounds(matches),
        )

    def _points_after(self, rounds: Sequence[int], order: Sequence[str]) -> dict[str, list[float]]:
        """Each team's points after each round. Before its first row a team has none."""
        found: dict[str, list[float]] = {identity: [] for identity in order}
        for each in rounds:
            told = {row.participant_id: row.points for row in self._season.standings_after[each]}
            for identity, values in found.items():
                values.append(told.get(identity, values[-1] if values else 0.0))
        return found

    def _place(self, row: StandingRow, keys: Sequence[str], *, has_counts: bool, has_scores: bool) -> Place:
        counted = [number(row.draws), number(row.losses)] if has_counts else []
        scored = [number(row.private_score)] if has_scores else []
        return Place(
            rank=row.rank,
            team=self._team(row.participant_id),
            is_withdrawn=self.teams[row.participant_id].withdrawn,
            cells=(
                *(str(row.played), str(row.wins), *counted, number(row.points), *scored),
                *(number(row.tie_breaks.get(key)) for key in keys),
            ),
        )

    def _cross(self, order: Sequence[str]) -> tuple[tuple[Link, tuple[tuple[Result, ...] | None, ...]], ...]:
        found = []
        for identity in order:
            met: dict[str, list[Result]] = defaultdict(list)
            for match in self._matches[identity]:
                met[_other(match, identity)].append(self._result(match, identity))
            cells = tuple(None if other == identity else tuple(met[other]) for other in order)
            found.append((self._team(identity), cells))
        return tuple(found)

    def _rounds(self, matches: Sequence[ScheduledMatch]) -> tuple[Round, ...]:
        rounds: dict[int, list[ScheduledMatch]] = defaultdict(list)
        for match in matches:
            rounds[match.round_number].append(match)
        return tuple(
            Round(
                number=each,
                matches=tuple(self._played(match) for match in rounds[each]),
                over=sum(match.status in (OVER, ANNULLED) for match in rounds[each]),
            )
            for each in sorted(rounds)
        )

    def _played(self, match: ScheduledMatch) -> Played:
        return Played(
            game=self._game(match.game_id),
            player1=self._team(match.player1),
            player2=self._team(match.player2),
            referee=self._names.get(match.referee) or shown(match.referee, LONGEST_NAME),
            score=_score(match, match.player1),
            status=shown(match.status, 40),
        )

    def _result(self, match: ScheduledMatch, participant_id: str, *, below: str = "") -> Result:
        return Result(
            round_number=match.round_number,
            game=self._game(match.game_id, below=below),
            opponent=self._team(_other(match, participant_id), below=below),
            kind=_kind(match, participant_id),
            score=_score(match, participant_id),
            referee=self._names.get(match.referee) or shown(match.referee, LONGEST_NAME),
        )

    def _team(self, participant_id: str, *, below: str = "") -> Link:
        known = self._names.get(participant_id)
        if known is None:
            return Link(text=shown(participant_id, LONGEST_NAME) or "?")
        return Link(text=known, href=below + file_name("teams", participant_id))

    def _game(self, game_id: str, *, below: str = "") -> Link:
        href = below + file_name("matches", game_id) if self._has_page(game_id) else None
        return Link(text=shown(game_id, 40), href=href)


def _teams(season: SeasonRecord, rows: Sequence[StandingRow]) -> list[TeamRecord]:
    """The teams of the season; of a source that names none, those of its table."""
    return list(season.teams) or [
        TeamRecord(participant_id=row.participant_id, display_name=row.display_name, division=row.division)
        for row in rows
    ]


def _other(match: ScheduledMatch, participant_id: str) -> str:
    return match.player2 if match.player1 == participant_id else match.player1


def _kind(match: ScheduledMatch, participant_id: str) -> Kind:
    if match.status == ANNULLED:
        return "annulled"
    if match.status != OVER:
        return "open"
    if match.winner_id is None:
        return "drawn" if match.is_draw else "lost"
    return "won" if match.winner_id == participant_id else "lost"


def _score(match: ScheduledMatch, participant_id: str) -> str:
    one, two = match.points if match.player1 == participant_id else match.points[::-1]
    return f"{number(one)}–{number(two)}" if one is not None and two is not None else ""


def _words(key: str) -> str:
    return shown(key, LONGEST_NAME).replace("_", " ").replace("-", " ")
