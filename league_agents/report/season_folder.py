"""A season's folder: divisions with their journals, and the records that were derived from them.

Rule 1: the journals are authoritative. The records are read in their place only if they hold every match of the season
as the league managers' journals have it: a running season, and one that was settled later, is read from its journals.
Rule 2: one division is open at a time, and for tables its league manager's journal only: a large season has more
journals than a process may open files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property

from league_agents.kit.errors import ConfigError
from league_agents.kit.json_values import mappings, whole
from league_agents.kit.printable import of, printable
from league_agents.kit.values import evolve
from league_agents.league.season.divisions import DivisionPlace, Move, moves
from league_agents.report.records import DisputeRecord, MatchRecord, SeasonRecord, StandingRecord, Viewer
from league_agents.report.records_file import RecordsFile
from league_agents.report.sources import SeasonSource, division_meant


@dataclass(frozen=True, slots=True)
class Division:
    """One division: its name, and a function that opens all its journals or the league manager's only."""

    name: str
    open: Callable[[bool], SeasonSource]


class SeasonFolder:
    """``SeasonSource`` on a folder."""

    viewer: Viewer = "referee"
    team = ""

    def __init__(
        self, divisions: Sequence[Division], manifest: Mapping[str, object], records: RecordsFile | None = None
    ) -> None:
        self._divisions = divisions
        self._manifest = manifest
        self._records = records if records is not None and records.is_complete else None

    def season(self) -> SeasonRecord:
        """All divisions as one season."""
        return self._season

    @cached_property
    def _season(self) -> SeasonRecord:
        found: list[SeasonRecord] = []
        planned = self._manifest.get("divisions")
        for division in self._divisions:
            with closing(division.open(False)) as source:
                found.append(source.season())
        told = self._manifest
        if promoted := whole(told.get("promoted")) or 0:
            found = list(_with_moves(found, [of(each.get("name"), 200) for each in mappings(planned)], promoted))
        # Divisions need not have the same number of rounds, nor play them at the same time.
        numbers = sorted({number for season in found for number in season.standings_after})
        tables = {number: tuple(row for season in found for row in _table_at(season, number)) for number in numbers}
        is_whole = not isinstance(planned, list) or len(found) >= len(planned)
        first = found[0]
        return SeasonRecord(
            season_id=of(told.get("season_id"), 200) or first.season_id,
            name=of(told.get("name"), 200) or first.name,
            league_id=of(told.get("league_id"), 200) or first.league_id,
            rules=_name_of(told.get("rules")) or first.rules,
            tie_breaks=_texts(told.get("tie_breaks")) or first.tie_breaks,
            divisions=tuple(division.name for division in self._divisions if division.name),
            teams=tuple(team for season in found for team in season.teams),
            schedule=tuple(match for season in found for match in season.schedule),
            standings_after=tables,
            is_over=is_whole and all(season.is_over for season in found),
            log=tuple(sorted((entry for season in found for entry in season.log), key=lambda entry: entry.at)),
        )

    def matches(self, *, round_number: int | None = None, team: str | None = None) -> Iterator[MatchRecord]:
        """The matches, division by division."""
        if self._records is not None and self._records.season() == self._season:
            yield from self._records.matches(round_number=round_number, team=team)
            return
        for division in self._divisions:
            with closing(division.open(True)) as source:
                yield from source.matches(round_number=round_number, team=team)

    def match(self, game_id: str) -> MatchRecord:
        """One match: ``0101001``, or ``north/0101001`` if several divisions have one with this id."""
        written, slash, wanted = game_id.rpartition("/")
        name = division_meant(written, (division.name for division in self._divisions))
        found: dict[str, MatchRecord] = {}
        for division in self._divisions:
            if slash and division.name != name:
                continue
            # The tables tell which division has the match, so that few divisions are opened in full.
            with closing(division.open(False)) as source:
                try:
                    source.match(wanted)
                except ConfigError:
                    continue
            with closing(division.open(True)) as source:
                found[division.name] = source.match(wanted)
        if len(found) > 1:
            known = printable(", ".join(f"{name}/{wanted}" for name in found), 300)
            raise ConfigError(f"match {of(game_id, 60)}", f"is in several divisions; write one of {known}")
        if not found:
            raise ConfigError(f"match {of(game_id, 60)}", "is not in this season; 'show matches' lists those that are")
        return next(iter(found.values()))

    @property
    def has_reports(self) -> bool:
        """Whether the journal of a league manager is in the folder."""
        for division in self._divisions:
            with closing(division.open(False)) as source:
                if source.has_reports:
                    return True
        return False

    def disputes(self, *, with_mails: bool = True) -> Iterator[DisputeRecord]:
        """The disputes, division by division."""
        for division in self._divisions:
            with closing(division.open(with_mails)) as source:
                yield from source.disputes(with_mails=with_mails)

    def close(self) -> None:
        """No-op: no file is open between two calls."""


def _table_at(season: SeasonRecord, number: int) -> tuple[StandingRecord, ...]:
    """The table of one division when the league is after a round: its own latest one by then."""
    return season.standings(max((each for each in season.standings_after if each <= number), default=number))


def _with_moves(found: Sequence[SeasonRecord], names: Sequence[str], promoted: int) -> Iterator[SeasonRecord]:
    """The divisions, their latest tables with who is promoted and relegated if they end so. ``names``: of all of them,
    the highest first."""
    for season in found:
        rows, name = season.standings(), next(iter(season.divisions), "")
        if not rows or name not in names:
            yield season
            continue
        place = DivisionPlace(place=names.index(name), divisions=len(names), promoted=promoted)
        moved = tuple(
            row if move is Move.STAYS else evolve(row, move=move.value)
            for row, move in zip(rows, moves(place, len(rows)), strict=True)
        )
        yield evolve(season, standings_after={**season.standings_after, max(season.standings_after): moved})


def _name_of(value: object) -> str:
    return of(value.get("name") if isinstance(value, Mapping) else value, 100)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(of(each, 60) for each in value[:20]) if isinstance(value, list) else ()
