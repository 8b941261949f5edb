"""The values of a season's page and of its teams' pages, from its records.

Rule 1: pure functions from records to texts and numbers; every text has gone through ``shown``.
Rule 2: no match is read: a season of ten thousand matches is one page.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from league_agents.league.season.ratings import RatedGame, Rating, rate
from league_agents.report.pages.chart import interval_chart, line_chart
from league_agents.report.pages.season_values import (
    WORDS,
    DisputeView,
    DivisionSection,
    Link,
    Meeting,
    Place,
    Round,
    ScheduleRow,
    SeasonPage,
    TeamPage,
    TeamResult,
)
from league_agents.report.pages.shown import (
    LONGEST_NAME,
    file_name,
    in_division,
    instant,
    label,
    name_shown,
    number,
    shown,
    whole,
)
from league_agents.report.records import (
    ANNULLED,
    OVER,
    REPLAYED,
    DisputeKind,
    DisputeRecord,
    ScheduledMatch,
    SeasonRecord,
    StandingRecord,
    TeamRecord,
    Viewer,
)

MOST_CROSSED = 40
"""Maximal number of teams in a cross table, for legibility; the teams' pages have every result."""

LARGE_SEASON = 2000
"""Number of matches above which intervals, narrow by then, are computed from fewer resamples."""

MOST_LOG, MOST_DISPUTES = 500, 200
PUBLIC_LOG = frozenset({"settlement", "round", "season"})
"""Kinds of public entries. A warning may quote an agent, and with it a secret; orders are the organiser's."""

_COLUMNS = frozenset({"points", "wins", "private_score"})
"""Tie-breaks that have a column in every table."""

HasPage = Callable[[str], bool]


class SeasonPages:
    """The values of a season's pages, from one record."""

    def __init__(
        self,
        season: SeasonRecord,
        *,
        has_page: HasPage = lambda _match: False,
        viewer: Viewer = "public",
        disputes: Iterable[DisputeRecord] = (),
    ) -> None:
        """``has_page``: whether the match with this key (``in_division``) has a page that can be linked."""
        self._season = season
        self._log = [entry for entry in season.log if viewer != "public" or entry.kind in PUBLIC_LOG]
        self._has_page = has_page
        self._disputes = list(disputes)
        self._is_public = viewer == "public"
        rows = season.standings()
        self._rows = {in_division(row.division, row.participant_id): row for row in rows}
        self.teams = {in_division(team.division, team.participant_id): team for team in _teams(season, rows)}
        """By ``in_division``: two divisions may use the same ids."""

        self._names = {key: name_shown(team.display_name, team.participant_id) for key, team in self.teams.items()}
        self._matches: dict[str, list[ScheduledMatch]] = defaultdict(list)
        for match in season.schedule:
            for player in (match.player1, match.player2):
                self._matches[in_division(match.division, player)].append(match)

    @cached_property
    def _ratings(self) -> Mapping[str, Rating]:
        """Ratings by team. A division whose matches do not connect all of its teams has none yet."""
        divisions: dict[str, list[RatedGame]] = defaultdict(list)
        for match in self._season.schedule:
            if match.status == OVER and not match.is_walkover and (match.is_draw or match.winner_id is not None):
                score = 0.5 if match.winner_id is None else float(match.winner_id == match.player1)
                divisions[match.division].append(
                    RatedGame(first=match.player1, second=match.player2, score=score, cluster=match.game_id)
                )
        found: dict[str, Rating] = {}
        resamples = 400 if len(self._season.schedule) <= LARGE_SEASON else 100
        for division, games in divisions.items():
            rows = rate(games, resamples=resamples).rows
            if all(row.group == 0 for row in rows):
                found |= {in_division(division, row.participant_id): row for row in rows}
        return found

    @property
    def title(self) -> str:
        """The name of the season."""
        season = self._season
        return shown(season.name, LONGEST_NAME) or shown(season.season_id, LONGEST_NAME) or "Season"

    def name(self, division: str, participant_id: str) -> str:
        """The name of a team."""
        return self._team(in_division(division, participant_id)).text

    def season_page(self) -> SeasonPage:
        """The values of the season's page."""
        season = self._season
        held = {team.division for team in self.teams.values()} | {match.division for match in season.schedule}
        names = (*season.divisions, *sorted(held - set(season.divisions)))
        log = tuple(
            (instant(entry.at), shown(entry.kind, 40), shown(entry.text, 600))
            for entry in sorted(self._log, key=lambda entry: entry.at)[-MOST_LOG:][::-1]
        )
        return SeasonPage(
            title=self.title,
            facts=self._facts(),
            is_over=season.is_over,
            divisions=tuple(self._division(name, place) for place, name in enumerate(names or ("",))),
            disputes=tuple(self._disputed()),
            disputes_left_out=max(0, len(self._disputes) - MOST_DISPUTES),
            log=log,
            log_left_out=max(0, len(self._log) - MOST_LOG),
        )

    def team_page(self, key: str) -> TeamPage:
        """The values of a team's page. Raises ``KeyError`` for a team that is not in the season."""
        team, row = self.teams[key], self._rows.get(key)
        participant_id = team.participant_id
        results = [self._result(match, participant_id, below="../") for match in self._matches[key]]
        met: dict[str, list[TeamResult]] = defaultdict(list)
        for match, result in zip(self._matches[key], results, strict=True):
            met[_other(match, participant_id)].append(result)
        facts = [("Team", shown(participant_id, LONGEST_NAME))]
        if team.division:
            facts.append(("Division", shown(team.division, LONGEST_NAME)))
        if row is not None:
            facts += [("Rank", str(row.rank)), ("Points", number(row.points)), ("Played", str(row.played))]
        if (rating := self._ratings.get(key)) is not None:
            facts.append(("Rating", f"{whole(rating.elo)}, 95 % between {whole(rating.low)} and {whole(rating.high)}"))
        if team.withdrawn:
            facts.append(("State", "withdrawn"))
        return TeamPage(
            title=self._names[key],
            season=self.title,
            facts=tuple(facts),
            meetings=tuple(
                Meeting(
                    opponent=self._team(in_division(team.division, opponent), below="../"),
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
        over = sum(match.status == OVER for match in season.schedule)
        removed = sum(match.status in (ANNULLED, REPLAYED) for match in season.schedule)
        played = f"{over} of {len(season.schedule) - removed} played"
        played += f"; {removed} annulled or played again" if removed else ""
        facts = [
            ("League", shown(season.league_id, LONGEST_NAME)),
            ("Season", shown(season.season_id, LONGEST_NAME)),
            ("Rules", shown(season.rules, LONGEST_NAME)),
            ("Teams", str(len(self.teams))),
            ("Matches", played if season.schedule else ""),
            ("Order of the table", ", ".join(_words(each) for each in season.tie_breaks)),
        ]
        return tuple((name, value) for name, value in facts if value)

    def _division(self, name: str, place: int) -> DivisionSection:
        season = self._season
        keys = {key for key, team in self.teams.items() if team.division == name}
        rows = [row for row in season.standings() if row.division == name]
        order = [in_division(name, row.participant_id) for row in rows]
        order += sorted(keys - set(order), key=lambda key: (self._names[key].casefold(), key))
        tie_breaks = tuple(dict.fromkeys(key for row in rows for key in row.tie_breaks if key not in _COLUMNS))
        has_counts = any(row.draws is not None for row in rows)
        has_scores = any(row.private_score is not None for row in rows)
        has_unresolved = any(row.without_result for row in rows)
        headings = ["Points", "Played", "Won", *(("Drawn", "Lost") if has_counts else ())]
        headings += ["No result"] if has_unresolved else []
        headings += ["Score"] if has_scores else []
        rounds = tuple(sorted(season.standings_after))
        points = self._points_after(rounds, order)
        matches = [match for match in season.schedule if match.division == name]
        rated = sorted(
            ((key, self._ratings[key]) for key in order if key in self._ratings), key=lambda each: -each[1].elo
        )
        return DivisionSection(
            name=shown(name, LONGEST_NAME),
            anchor=f"d{place}",
            headings=(*headings, *(_words(key).capitalize() for key in tie_breaks)),
            places=tuple(
                self._place(
                    row, tie_breaks, has_counts=has_counts, has_unresolved=has_unresolved, has_scores=has_scores
                )
                for row in rows
            ),
            chart=line_chart(rounds, [(self._names[key], points[key]) for key in order]),
            rounds=rounds,
            progress=tuple((self._team(key), tuple(number(value) for value in points[key])) for key in order)
            if len(rounds) > 1
            else (),
            cross=self._cross(order) if 1 < len(order) <= MOST_CROSSED else (),
            ratings=interval_chart([(self._names[key], each.low, each.elo, each.high) for key, each in rated]),
            rating_rows=tuple(
                (
                    self._team(key),
                    whole(each.elo),
                    f"{whole(each.low)} to {whole(each.high)}",
                    str(each.games),
                )
                for key, each in rated
            ),
            schedule=self._rounds(matches),
        )

    def _disputed(self) -> Iterator[DisputeView]:
        over = {
            in_division(each.division, each.game_id)
            for each in self._season.schedule
            if each.status in (OVER, ANNULLED, REPLAYED)
        }
        for each in self._disputes[:MOST_DISPUTES]:
            key = in_division(each.division, each.game_id)
            # Reports of an open match are secret, and what members wrote is for the organiser.
            if self._is_public and (key not in over or each.kind is DisputeKind.OBJECTION):
                continue
            href = file_name("matches", key) if self._has_page(key) else None
            yield DisputeView(
                game=Link(text=label(each.game_id), href=href),
                kind=each.kind.value.replace("-", " "),
                text=shown(each.text, 600),
                counts=shown(each.counts, 100),
                settled=shown(each.settled, 60) or "open",
                evidence=()
                if self._is_public
                else tuple((instant(item.at), shown(item.by, 200), shown(item.text, 400)) for item in each.evidence),
            )

    def _points_after(self, rounds: Sequence[int], order: Sequence[str]) -> dict[str, list[float]]:
        """Each team's points after each round, 0 before its first row."""
        found: dict[str, list[float]] = {key: [] for key in order}
        for each in rounds:
            rows = self._season.standings_after[each]
            told = {in_division(row.division, row.participant_id): row.points for row in rows}
            for key, values in found.items():
                values.append(told.get(key, values[-1] if values else 0.0))
        return found

    def _place(
        self, row: StandingRecord, keys: Sequence[str], *, has_counts: bool, has_unresolved: bool, has_scores: bool
    ) -> Place:
        counted = [number(row.draws), number(row.losses)] if has_counts else []
        counted += [str(row.without_result)] if has_unresolved else []
        scored = [number(row.private_score)] if has_scores else []
        return Place(
            rank=row.rank,
            team=self._team(in_division(row.division, row.participant_id)),
            is_withdrawn=self.teams[in_division(row.division, row.participant_id)].withdrawn,
            move=shown(row.move if self._season.is_over or not row.move else f"would be {row.move}", LONGEST_NAME),
            cells=(
                *(number(row.points), str(row.played), str(row.wins), *counted, *scored),
                *(number(row.tie_breaks.get(key)) for key in keys),
            ),
        )

    def _cross(self, order: Sequence[str]) -> tuple[tuple[Link, tuple[tuple[TeamResult, ...] | None, ...]], ...]:
        found = []
        for key in order:
            own = self.teams[key].participant_id
            met: dict[str, list[TeamResult]] = defaultdict(list)
            for match in self._matches[key]:
                met[in_division(match.division, _other(match, own))].append(self._result(match, own))
            cells = tuple(None if other == key else tuple(met[other]) for other in order)
            found.append((self._team(key), cells))
        return tuple(found)

    def _rounds(self, matches: Sequence[ScheduledMatch]) -> tuple[Round, ...]:
        rounds: dict[int, list[ScheduledMatch]] = defaultdict(list)
        for match in matches:
            rounds[match.round_number].append(match)
        return tuple(
            Round(
                number=each,
                matches=tuple(self._played(match) for match in rounds[each]),
                over=sum(match.status == OVER for match in rounds[each]),
            )
            for each in sorted(rounds)
        )

    def _played(self, match: ScheduledMatch) -> ScheduleRow:
        return ScheduleRow(
            game=self._game(match),
            player1=self._team(in_division(match.division, match.player1)),
            player2=self._team(in_division(match.division, match.player2)),
            referee=self.name(match.division, match.referee),
            score=_score(match, match.player1),
            status=label("walkover" if match.is_walkover and match.status == OVER else match.status.replace("_", " ")),
        )

    def _result(self, match: ScheduledMatch, participant_id: str, *, below: str = "") -> TeamResult:
        opponent = self._team(in_division(match.division, _other(match, participant_id)), below=below)
        kind, score = match.result_of(participant_id), _score(match, participant_id)
        how = f"{WORDS[kind]} by walkover" if match.is_walkover and kind == "won" else WORDS[kind]
        told = f"{how} against {opponent.text}{f', {score}' if score else ''}, round {match.round_number}"
        return TeamResult(
            round_number=match.round_number,
            game=self._game(match, below=below),
            opponent=opponent,
            kind=kind,
            score=score,
            words=told,
            referee=self.name(match.division, match.referee),
        )

    def _team(self, key: str, *, below: str = "") -> Link:
        known = self._names.get(key)
        if known is None:
            return Link(text=label(key) or "?")
        return Link(text=known, href=below + file_name("teams", key))

    def _game(self, match: ScheduledMatch, *, below: str = "") -> Link:
        key = in_division(match.division, match.game_id)
        href = below + file_name("matches", key) if self._has_page(key) else None
        return Link(text=label(match.game_id), href=href)


def _teams(season: SeasonRecord, rows: Sequence[StandingRecord]) -> list[TeamRecord]:
    """The teams of the season, and those that only its table names."""
    known = {(team.division, team.participant_id) for team in season.teams}
    return [
        *season.teams,
        *(
            TeamRecord(participant_id=row.participant_id, display_name=row.display_name, division=row.division)
            for row in rows
            if (row.division, row.participant_id) not in known
        ),
    ]


def _other(match: ScheduledMatch, participant_id: str) -> str:
    return match.player2 if match.player1 == participant_id else match.player1


def _score(match: ScheduledMatch, participant_id: str) -> str:
    """The points with the team's first; empty for a match that counts for nobody, which is no 0–0."""
    if match.status in (ANNULLED, REPLAYED):
        return ""
    one, two = match.points if match.player1 == participant_id else match.points[::-1]
    return f"{number(one)}–{number(two)}" if one is not None and two is not None else ""


def _words(key: str) -> str:
    return shown(key, LONGEST_NAME).replace("_", " ").replace("-", " ")
