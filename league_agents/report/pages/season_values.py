"""What the templates of a season's page and of its teams' pages show: texts that have gone through ``shown``, and
numbers."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from league_agents.report.pages.chart import IntervalChart, LineChart
from league_agents.report.records import ResultKind

WORDS: Mapping[ResultKind, str] = {
    "won": "won",
    "drawn": "drawn",
    "lost": "lost",
    "nobody": "no result",
    "open": "not played yet",
    "unplayed": "not played",
    "annulled": "annulled",
    "replayed": "played again",
}
LETTERS: Mapping[ResultKind, str] = {
    "won": "W",
    "drawn": "D",
    "lost": "L",
    "nobody": "–",
    "open": "·",
    "unplayed": "·",
    "annulled": "–×",
    "replayed": "–×",
}


class Link(Struct, frozen=True, kw_only=True):
    """A name, and a link to its page."""

    text: str
    href: str | None = None
    """``None`` if there is no such page."""


class TeamResult(Struct, frozen=True, kw_only=True):
    """One match from one team's side."""

    round_number: int
    game: Link
    opponent: Link
    kind: ResultKind
    score: str
    """``3–1``; empty if the source does not have it."""

    words: str
    """The whole result in words: ``won against Ada, 3–1, round 2``."""

    referee: str


class Meeting(Struct, frozen=True, kw_only=True):
    """All matches between a team and one opponent."""

    opponent: Link
    wins: int
    draws: int
    losses: int
    results: tuple[TeamResult, ...]


class Place(Struct, frozen=True, kw_only=True):
    """One row of the standings."""

    rank: int
    team: Link
    is_withdrawn: bool
    move: str
    """``promoted`` or ``relegated``, or that it would be; empty for a team that stays."""

    cells: tuple[str, ...]


class ScheduleRow(Struct, frozen=True, kw_only=True):
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
    matches: tuple[ScheduleRow, ...]
    over: int


class DivisionSection(Struct, frozen=True, kw_only=True):
    """One table of the season, or the only one."""

    name: str
    anchor: str
    headings: tuple[str, ...]
    places: tuple[Place, ...]
    chart: LineChart | None
    rounds: tuple[int, ...]
    progress: tuple[tuple[Link, tuple[str, ...]], ...]
    """The data of the chart: points after each round."""

    cross: tuple[tuple[Link, tuple[tuple[TeamResult, ...] | None, ...]], ...]
    """Each team with its results against each team, in the order of the standings; ``None`` against itself."""

    ratings: IntervalChart | None
    rating_rows: tuple[tuple[Link, str, str, str], ...]
    schedule: tuple[Round, ...]


class DisputeView(Struct, frozen=True, kw_only=True):
    """Something for the organiser to settle."""

    game: Link
    kind: str
    text: str
    counts: str
    settled: str
    evidence: tuple[tuple[str, str, str], ...]
    """(instant, sender or journal, text); empty on public pages."""


class SeasonPage(Struct, frozen=True, kw_only=True):
    """The page of a season."""

    title: str
    facts: tuple[tuple[str, str], ...]
    is_over: bool
    divisions: tuple[DivisionSection, ...]
    disputes: tuple[DisputeView, ...]
    disputes_left_out: int
    log: tuple[tuple[str, str, str], ...]
    """(instant, kind, text) of each entry, the latest first."""

    log_left_out: int


class TeamPage(Struct, frozen=True, kw_only=True):
    """The page of a team."""

    title: str
    season: str
    facts: tuple[tuple[str, str], ...]
    meetings: tuple[Meeting, ...]
    results: tuple[TeamResult, ...]
