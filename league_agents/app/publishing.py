"""Write a season as a folder of pages that any browser opens, without a server.

Rule 1: matches are read and written one at a time, and the season's page links to written matches only.
Rule 2: a page is public unless the caller names a viewer: records are narrowed before they are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from msgspec import Struct

from league_agents.kit.errors import ConfigError
from league_agents.kit.values import evolve
from league_agents.report.pages.match_view import match_page
from league_agents.report.pages.render import SEASON_FILE, Renderer
from league_agents.report.pages.season_view import LARGE_SEASON, SeasonPages
from league_agents.report.pages.shown import file_name, in_division
from league_agents.report.records import (
    NOT_BEGUN,
    OVER,
    DisputeRecord,
    MatchRecord,
    ScheduledMatch,
    SeasonRecord,
    Viewer,
    visible,
)
from league_agents.report.sources import SeasonSource

MOST_MATCHES = 1000
"""Largest number of matches of a season whose pages are all written by default."""


class Published(Struct, frozen=True, kw_only=True):
    """The result of writing pages."""

    start: Path
    """The page to open first."""

    teams: int = 0
    matches: int = 0
    left_out: int = 0
    """Matches that were played and have no page."""


class MatchPages:
    """Draws matches of one season."""

    def __init__(self, source: SeasonSource, pages: SeasonPages, renderer: Renderer, *, viewer: Viewer) -> None:
        self._source, self._pages, self._renderer, self._viewer = source, pages, renderer, viewer
        self._teams = frozenset(pages.teams)

    def drawn(self, match: MatchRecord) -> Iterator[str]:
        """The page of a match, narrowed to the viewer."""
        seen = visible(match, self._viewer, self._source.team)
        referee = self._pages.name(seen.division, seen.referee_id) if seen.referee_id else ""
        page = match_page(seen, season=self._pages.title, referee=referee, has_team=self._teams)
        return self._renderer.match(page)


def publish_season(
    source: SeasonSource, folder: Path, *, with_matches: bool | None = None, viewer: Viewer = "public"
) -> Published:
    """Write the pages of a season. ``with_matches``: whether each match gets a page; ``None``: if the season has at
    most ``MOST_MATCHES``. Raises ``ConfigError`` if the folder cannot be written."""
    season, renderer = _scheduled(source), Renderer()
    pages = SeasonPages(season)
    begun = sum(match.status not in NOT_BEGUN for match in season.schedule)
    written: set[str] = set()
    if with_matches or (with_matches is None and begun <= MOST_MATCHES):
        matches = MatchPages(source, pages, renderer, viewer=viewer)
        for match in source.matches():
            if match.status not in NOT_BEGUN:
                key = in_division(match.division, match.game_id)
                _write(folder, file_name("matches", key), matches.drawn(match))
                written.add(key)
    _write_season(source, season, folder, renderer, written, viewer)
    return Published(
        start=folder / SEASON_FILE, teams=len(pages.teams), matches=len(written), left_out=begun - len(written)
    )


def publish_match(source: SeasonSource, game_id: str, folder: Path, *, viewer: Viewer = "public") -> Published:
    """Write the page of one match, and the season's page, which links to it. Raises ``ConfigError``."""
    match, season, renderer = source.match(game_id), _scheduled(source), Renderer()
    key = in_division(match.division, match.game_id)
    name = file_name("matches", key)
    matches = MatchPages(source, SeasonPages(season), renderer, viewer=viewer)
    _write(folder, name, matches.drawn(match))
    # Links to match pages of earlier commands are kept.
    keys = {in_division(each.division, each.game_id) for each in season.schedule}
    known = {each for each in keys if (folder / file_name("matches", each)).is_file()}
    teams = _write_season(source, season, folder, renderer, {*known, key}, viewer)
    return Published(start=folder / name, teams=teams, matches=1)


def disputes_in(source: SeasonSource, season: SeasonRecord, viewer: Viewer) -> Iterable[DisputeRecord]:
    """The disputes for the page of a season; none for a large one, as every report would have to be read."""
    return source.disputes(with_mails=viewer != "public") if len(season.schedule) <= LARGE_SEASON else ()


def _scheduled(source: SeasonSource) -> SeasonRecord:
    """The season; without a schedule, as for a comparison, the matches that were played become one."""
    season = source.season()
    if season.schedule:
        return season
    return evolve(season, schedule=tuple(map(_played, source.matches())))


def _played(match: MatchRecord) -> ScheduledMatch:
    one, two = (*match.players, None, None)[:2]
    return ScheduledMatch(
        round_number=match.round_number,
        game_id=match.game_id,
        player1=one.participant_id if one is not None else "",
        player2=two.participant_id if two is not None else "",
        referee=match.referee_id,
        division=match.division,
        status=OVER if match.is_over else match.status,
        winner_id=match.winner_id,
        is_draw=match.is_draw,
        is_walkover=match.is_walkover,
        points=(
            one.league_points if one is not None else None,
            two.league_points if two is not None else None,
        ),
    )


def _write_season(
    source: SeasonSource, season: SeasonRecord, folder: Path, renderer: Renderer, written: set[str], viewer: Viewer
) -> int:
    disputes = disputes_in(source, season, viewer)
    pages = SeasonPages(season, has_page=written.__contains__, viewer=viewer, disputes=disputes)
    for key in pages.teams:
        _write(folder, file_name("teams", key), renderer.team(pages.team_page(key)))
    _write(folder, SEASON_FILE, renderer.season(pages.season_page()))
    return len(pages.teams)


def _write(folder: Path, name: str, pieces: Iterable[str]) -> None:
    """Write a page atomically: a browser may be reading the one that it replaces."""
    path = folder / name
    unfinished = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.writelines(pieces)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True) if unfinished.parent.is_dir() else None
        raise ConfigError("--out", f"{path} cannot be written: {error.strerror}") from None
