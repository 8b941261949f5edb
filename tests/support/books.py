"""Real novels for tests and benchmarks, out of a cache that ``scripts/books`` fills.

Nothing here reaches the network: what is not in the cache is a BooksMissing that names the command to run.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from league_agents.kit.errors import LeagueError
from league_agents.knowledge.documents import Document

CACHE_VARIABLE = "LEAGUE_AGENTS_CACHE"
UNAVAILABLE_NAME = "unavailable.json"


class BooksMissing(LeagueError):
    """The test books are not in the cache: run scripts/books."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CachedBook:
    """One text in the cache, next to it a manifest with the other fields."""

    title: str
    author: str
    package: str
    version: str
    language: str
    path: Path

    @property
    def origin(self) -> str:
        """``package version``, as the catalogue records where an opening was found."""
        return f"{self.package} {self.version}"

    def document(self) -> Document:
        return Document(
            title=self.title,
            author=self.author,
            language=self.language,
            text=self.path.read_text(encoding="utf-8"),
            source=self.origin,
        )


def cache_folder() -> Path:
    """``$LEAGUE_AGENTS_CACHE``, or the platform's cache folder for this program."""
    named = os.environ.get(CACHE_VARIABLE)
    return (Path(named).expanduser() if named else platformdirs.user_cache_path("league-agents")) / "books"


def cached_entries(folder: Path | None = None) -> list[CachedBook]:
    """What the cache holds, by title. Raises BooksMissing when it is empty."""
    folder = folder or cache_folder()
    entries = []
    for manifest in sorted(folder.glob("*.json")):
        if manifest.name == UNAVAILABLE_NAME:
            continue
        text = manifest.with_suffix(".txt")
        try:
            fields = json.loads(manifest.read_text(encoding="utf-8"))
            entry = CachedBook(**{key: str(fields[key]) for key in _FIELDS}, path=text)
        except (ValueError, KeyError, TypeError) as error:
            raise BooksMissing(f"{manifest} is damaged: remove it and run scripts/books") from error
        if not text.is_file():
            raise BooksMissing(f"{text} is missing: run scripts/books")
        entries.append(entry)
    if not entries:
        raise BooksMissing(f"no test books in {folder}: run scripts/books")
    return entries


_FIELDS = ("title", "author", "package", "version", "language")


def cached_books(titles: list[str] | None = None, folder: Path | None = None) -> list[Document]:
    """The cached books as documents, all or those named. Raises BooksMissing for one that is not there."""
    entries = cached_entries(folder)
    if titles is None:
        return [entry.document() for entry in entries]
    by_title = {entry.title: entry for entry in entries}
    missing = [title for title in titles if title not in by_title]
    if missing:
        raise BooksMissing(
            f"not in the cache: {', '.join(missing)}; run scripts/books, which says what it cannot fetch"
        )
    return [by_title[title].document() for title in titles]


def unavailable_packages(folder: Path | None = None) -> dict[str, str]:
    """``package version`` -> why this machine could not fetch it, as the last run of ``scripts/books`` noted."""
    note = (folder or cache_folder()) / UNAVAILABLE_NAME
    try:
        reasons = json.loads(note.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(origin): str(reason) for origin, reason in reasons.items()}
