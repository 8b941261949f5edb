"""Open any source of a season: journals, a season's folder, a recorded match, an export.

Rule: nothing is written, and files from others are read with size limits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import get_args

from league_agents.app.costs import calls_in
from league_agents.app.journals import journals_of, look_at_journal
from league_agents.app.season_files import JOURNALS, MANIFEST, RECORDS
from league_agents.app.storage import STORAGE, role_journals
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.config.storage_url import JournalPlace
from league_agents.journal.port import StoredJournal
from league_agents.kit.errors import ConfigError, JournalError, JournalUnusable, shortened
from league_agents.kit.printable import of
from league_agents.kit.private_file import replace_private
from league_agents.llm.calls import ModelCall
from league_agents.report.journal_source import JournalSource, Spent
from league_agents.report.recorded_match import RecordedMatch
from league_agents.report.records import MatchRecord, SeasonRecord, Viewer, visible, visible_season
from league_agents.report.records_file import HEAD, RecordsFile
from league_agents.report.season_folder import Division, SeasonFolder
from league_agents.report.season_frame import RoleJournal, RoleName
from league_agents.report.sources import SeasonSource

LARGEST_DOCUMENT = 50_000_000
"""Maximal size of a recorded match or a manifest, in bytes."""

MOST_JOURNALS = 5_000
_JOURNAL = b"SQLite format 3\0"


class NotOverYet(ConfigError):
    """A season has nothing to show yet. The message may be shown to everybody."""


def open_season(path: Path, *, season_id: str | None = None) -> SeasonSource:
    """Open a journal, a folder, a recorded match or an export.

    ``season_id`` names one of several seasons of a journal, by default the latest; any other source has one season.
    Raises ``ConfigError`` and ``JournalError`` that name the file.
    """
    source = _opened(path, season_id)
    if season_id is not None and not isinstance(source, JournalSource):
        only = source.season().season_id
        if only != season_id:
            source.close()
            held = f"it holds {of(only, 60)}" if only else "its season has no id; leave out --season"
            raise ConfigError(f"season {of(season_id, 60)}", f"is not in {shortened(str(path))}; {held}")
    return source


def _opened(path: Path, season_id: str | None) -> SeasonSource:
    try:
        if path.is_dir():
            return _folder(path, season_id)
        with path.open("rb") as file:
            beginning = file.read(max(len(_JOURNAL), len(HEAD)))
    except OSError as error:
        remedy = "name a journal, a season's folder, a recorded match or an export"
        raise ConfigError(shortened(str(path)), f"cannot be read: {error.strerror}; {remedy}") from None
    if beginning.startswith(_JOURNAL):
        return _league([path], season_id=season_id)
    if beginning.startswith(HEAD):
        return RecordsFile(path)
    return RecordedMatch(_document(path), str(path))


def open_configured(settings: LeagueSettings, *, season_id: str | None = None) -> SeasonSource:
    """Open the journals of a league file's roles; of several league managers as a season of divisions.

    Raises ``ConfigError`` when all of them are empty.
    """
    managers = [role for role in settings.roles if role.division is not None]
    begun = [role for role in managers if journals_of(role).is_begun()]
    if begun and settings.season is not None:
        divisions = [Division(role.name, partial(_open_role, role, season_id)) for role in begun]
        planned = {"promoted": settings.season.promoted, "divisions": [{"name": role.name} for role in managers]}
        return SeasonFolder(divisions, planned)
    found: list[tuple[JournalPlace, StoredJournal]] = [
        (role.journal, journal) for role in settings.roles if (journal := look_at_journal(role)) is not None
    ]
    if not found:
        raise ConfigError(
            str(settings.path), "none of its roles has a journal yet; start the daemon first: run --watch"
        )
    return _source(found, season_id=season_id)


def _open_role(role: RoleSettings, season_id: str | None, _is_whole: bool) -> SeasonSource:
    """Open the journal of a division's manager, which is all that its league file knows of it."""
    journal = look_at_journal(role)
    if journal is None:
        raise ConfigError(role.label, "its journal is gone; put a copy in its place")
    return _source([(role.journal, journal)], division=role.name, season_id=season_id)


def _folder(path: Path, season_id: str | None) -> SeasonSource:
    records, journals, manifest = path / RECORDS, path / JOURNALS, path / MANIFEST
    told = _document(manifest) if manifest.is_file() else {}
    if journals.is_dir():
        places = sorted(place for place in journals.iterdir() if place.is_dir())
        divisions = [Division(place.name, _opener(_journals_in(place), place.name)) for place in places]
        if alone := _journals_in(journals):
            divisions.insert(0, Division("", _opener(alone, "")))
        if divisions:
            return SeasonFolder(divisions, told, RecordsFile(records) if records.is_file() else None)
    if records.is_file():
        return RecordsFile(records)
    found = _journals_in(path)
    if not found and told and (words := unfinished_words(path)):
        raise NotOverYet(shortened(str(path)), words)
    if not found:
        raise ConfigError(shortened(str(path)), "holds neither journals nor records of a season; name another folder")
    return _league(found, season_id=season_id)


def unfinished_words(folder: Path) -> str:
    """How far the offline season in a folder is; empty if all its divisions are over, and for any other folder."""
    if (folder / RECORDS).is_file() or not (folder / MANIFEST).is_file():
        return ""
    # Reading a plan loads the agents, which no finished season needs.
    from league_agents.app.season_progress import progress_of

    return progress_of(folder)


def open_division(folder: Path, division: str) -> JournalSource:
    """Open the journals of one division together."""
    return _league(_journals_in(folder), division=division)


def _opener(paths: Sequence[Path], division: str) -> Callable[[bool], SeasonSource]:
    """A function that opens a division's journals, or those of its league manager alone."""
    managers = [path for path in paths if path.name.startswith("manager.")]
    return lambda is_whole: _league(paths if is_whole else managers or paths, division=division)


def _journals_in(folder: Path) -> list[Path]:
    found = sorted(place for place in folder.glob("*.db") if place.is_file() and _is_journal(place))
    if len(found) > MOST_JOURNALS:
        raise ConfigError(shortened(str(folder)), f"holds {len(found)} journals, at most {MOST_JOURNALS} are read")
    return found


def _is_journal(path: Path) -> bool:
    """Whether it may be a journal. Ledgers and indexes are SQLite files too, and are skipped when they are opened."""
    with path.open("rb") as file:
        return file.read(len(_JOURNAL)) == _JOURNAL


def _league(paths: Sequence[Path], *, division: str = "", season_id: str | None = None) -> JournalSource:
    found: list[tuple[Path, StoredJournal]] = []
    try:
        for path in paths:
            try:
                found.append((path, STORAGE.look_at_journal(path)))
            except JournalUnusable:
                if len(paths) == 1:
                    raise
        if not found:
            raise ConfigError(shortened(str(paths[0].parent)), "holds no journal of a league")
        return _source(found, division=division, season_id=season_id)
    except BaseException:
        for _, journal in found:
            journal.close()
        raise


def _source(
    found: Sequence[tuple[JournalPlace, StoredJournal]], *, division: str = "", season_id: str | None = None
) -> JournalSource:
    journals = []
    for path, journal in found:
        role, address = journal.owner
        name = next((name for name in get_args(RoleName) if name == role), None)
        if name is None:
            raise JournalError(f"{path}: is the journal of a {of(role, 40)}, which takes part in no league")
        journals.append(RoleJournal(role=name, address=address, journal=journal))
    return JournalSource(
        journals, division=division, season_id=season_id, spent=lambda: _spent(chain(*map(_calls_beside, found)))
    )


def _calls_beside(found: tuple[JournalPlace, StoredJournal]) -> Iterator[ModelCall]:
    """The calls of models in a journal."""
    place, journal = found
    if isinstance(place, Path):
        return calls_in([place])
    role, address = journal.owner
    return role_journals(place, role=role, address=address).calls().calls()


def _spent(calls: Iterable[ModelCall]) -> Spent:
    """Tokens and dollars of each match, from the books in the journals. An unknown part makes the sum unknown."""
    tokens: dict[str, int | None] = {}
    dollars: dict[str, float | None] = {}
    for call in calls:
        game_id = call.purpose.match_id
        if not game_id or call.is_cached:
            continue
        usage, so_far = call.usage, tokens.get(game_id, 0)
        known = None if usage is None or so_far is None else so_far + usage.input_tokens + usage.output_tokens
        tokens[game_id] = known
        cost, spent = call.cost_usd, dollars.get(game_id, 0.0)
        dollars[game_id] = None if cost is None or spent is None else spent + cost
    return {game_id: (tokens[game_id], dollars[game_id]) for game_id in tokens}


def _document(path: Path) -> Mapping[str, object]:
    """Read a JSON object. Raises ``ConfigError``."""
    named = shortened(str(path))
    try:
        if path.stat().st_size > LARGEST_DOCUMENT:
            raise ConfigError(named, f"is larger than {LARGEST_DOCUMENT} bytes")
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigError(named, f"cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise ConfigError(named, "is neither a journal nor records of a league; name another file") from None
    if not isinstance(found, dict):
        raise ConfigError(named, "is neither a journal nor records of a league; name another file")
    return found


def exported(source: SeasonSource, viewer: Viewer | None) -> tuple[SeasonRecord, Iterator[MatchRecord]]:
    """The season and its matches, narrowed to the viewer."""
    season, matches = source.season(), source.matches()
    if viewer is None:
        return season, matches
    return visible_season(season, viewer), (visible(match, viewer, source.team) for match in matches)


def imported(path: Path) -> RecordsFile:
    """Open a file written by ``export``. Raises ``ConfigError`` for any other."""
    return RecordsFile(path)


def write_lines(path: Path, lines: Iterable[bytes], *, is_table: bool = False) -> None:
    """Write a private file atomically; an earlier file of this kind is replaced, any other file is kept.

    Raises ``ConfigError``.
    """
    named = shortened(str(path))
    try:
        if path.exists() and not is_table:
            with path.open("rb") as file:
                if path.stat().st_size and file.read(len(HEAD)) != HEAD:
                    raise ConfigError(f"--out {named}", "exists and is no export; name another file or remove this one")
        elif path.exists():
            raise ConfigError(f"--out {named}", "exists already; name another file or remove this one")
        replace_private(path, lines)
    except OSError as error:
        raise ConfigError(f"--out {named}", f"cannot be written: {error.strerror}") from None
