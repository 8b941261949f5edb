"""A user's own books: what ``league-agents corpus`` does, without the words it prints.

Every function opens the index at ``index_path``, does one thing and closes it. Nothing is created by looking.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from league_agents.errors import ConfigError, LeagueError
from league_agents.knowledge.documents import read_document
from league_agents.knowledge.failures import UnknownBook
from league_agents.knowledge.index import AddReport, Book, KnowledgeIndex
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.titles import near_titles

FOLDER_VARIABLE = "LEAGUE_AGENTS_DATA"
INDEX_NAME = "knowledge.db"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileReport:
    """What became of one file: exactly one of ``added`` and ``error`` is set."""

    path: Path

    added: AddReport | None
    """``None`` when the file was refused."""

    error: LeagueError | None
    """Why it was refused; its text is one line for a person."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChapterReport:
    """One chapter of a book."""

    heading: str | None
    """``None`` for what stands before the first heading."""

    passages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BookReport:
    """One book with its parts."""

    book: Book
    chapters: tuple[ChapterReport, ...]
    first_passages: tuple[Passage, ...]


def default_index_path() -> Path:
    """``knowledge.db`` in ``$LEAGUE_AGENTS_DATA``, or in the platform's folder for a user's data."""
    named = os.environ.get(FOLDER_VARIABLE)
    folder = Path(named).expanduser() if named else platformdirs.user_data_path("league-agents")
    if folder.exists() and not folder.is_dir():
        raise ConfigError(FOLDER_VARIABLE, f"{folder} is a file; name a folder")
    return folder / INDEX_NAME


def add_files(
    paths: Sequence[Path | str],
    index_path: Path | str | None = None,
    *,
    title: str | None = None,
    author: str | None = None,
    language: str | None = None,
) -> list[FileReport]:
    """Add text or Markdown files, each on its own: one that is refused does not keep the others out.

    ``title`` is for a single file (ConfigError otherwise). Raises IndexUnusable when the index itself cannot be used.
    """
    if title is not None and len(paths) != 1:
        raise ConfigError("title", "can be given for one file at a time")
    reports = []
    with KnowledgeIndex(index_path or default_index_path()) as index:
        for path in map(Path, paths):
            try:
                document = read_document(path, title=title, author=author, language=language)
                reports.append(FileReport(path=path, added=index.add(document), error=None))
            except LeagueError as error:
                reports.append(FileReport(path=path, added=None, error=error))
    return reports


def list_books(index_path: Path | str | None = None) -> list[Book]:
    """The user's books by title; none when there is no index yet."""
    path = Path(index_path or default_index_path())
    if not path.exists():
        return []
    with KnowledgeIndex(path) as index:
        return index.books()


def show_book(name: str, index_path: Path | str | None = None, *, first: int = 5) -> BookReport:
    """A book, its chapters, and its ``first`` passages. Raises UnknownBook, which suggests near titles."""
    path = Path(index_path or default_index_path())
    if not path.exists():
        raise UnknownBook(name, ())
    with KnowledgeIndex(path) as index:
        book = index.book(name)
        if book is None:
            raise UnknownBook(name, near_titles(name, [book.title for book in index.books()]))
        found = index.passages(book)
    counts: dict[str | None, int] = {}
    for passage in found:
        counts[passage.chapter] = counts.get(passage.chapter, 0) + 1
    chapters = tuple(ChapterReport(heading=heading, passages=count) for heading, count in counts.items())
    return BookReport(book=book, chapters=chapters, first_passages=tuple(found[: max(0, first)]))


def remove_book(name: str, index_path: Path | str | None = None) -> Book:
    """Take out the book of exactly this title (case and punctuation aside): a near miss must not delete another.

    Raises UnknownBook, which suggests near titles.
    """
    path = Path(index_path or default_index_path())
    if not path.exists():
        raise UnknownBook(name, ())
    with KnowledgeIndex(path) as index:
        return index.remove(name)
