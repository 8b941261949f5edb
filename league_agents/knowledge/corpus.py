"""Manage a user's own books: the operations behind ``league-agents corpus``, without its output.

Every function opens the index at ``index_path``, does one thing and closes it. Reading never creates an index.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from league_agents.kit.errors import ConfigError, LeagueError
from league_agents.knowledge.failures import IndexUnusable, UnknownBook
from league_agents.knowledge.files import absolute, content_of, files_in, read_file
from league_agents.knowledge.formats.reader import IsolatedReader
from league_agents.knowledge.index import AddOutcome, AddReport, Book, Hit, KnowledgeIndex, Origin, Statistics
from league_agents.knowledge.index_records import ReadingReport
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.titles import near_titles
from league_agents.knowledge.watching import AddingWatcher

FOLDER_VARIABLE = "LEAGUE_AGENTS_DATA"
INDEX_NAME = "knowledge.db"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileReport:
    """The result for one file: exactly one of ``added`` and ``error`` is set."""

    path: Path

    added: AddReport | None
    """``None`` if the file was refused."""

    error: LeagueError | None
    """Why the file was refused; its text is one line for a person."""

    format: str | None = None
    """As in ``Origin.format``; ``None`` for a file that was not read."""

    pages: int | None = None
    """``None`` for a format without pages."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChapterReport:
    """One chapter of a book."""

    heading: str | None
    """``None`` for the text before the first heading."""

    passages: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BookReport:
    """One book with its parts."""

    book: Book
    chapters: tuple[ChapterReport, ...]
    first_passages: tuple[Passage, ...]

    reading: ReadingReport | None
    """``None`` for a book that was added by a version that kept no report; adding the file again makes one."""


def default_index_path() -> Path:
    """Return ``knowledge.db`` in the folder for user data."""
    return data_folder() / INDEX_NAME


def data_folder() -> Path:
    """Return ``$LEAGUE_AGENTS_DATA``, or the platform's folder for user data. Raises ``ConfigError`` for a file."""
    named = os.environ.get(FOLDER_VARIABLE)
    folder = Path(named).expanduser() if named else platformdirs.user_data_path("league-agents")
    if folder.exists() and not folder.is_dir():
        raise ConfigError(FOLDER_VARIABLE, f"{folder} is a file; name a folder")
    return folder


def add_files(
    paths: Sequence[Path | str],
    index_path: Path | str | None = None,
    *,
    title: str | None = None,
    author: str | None = None,
    language: str | None = None,
) -> list[FileReport]:
    """Add files and folders, each file separately: a refused file does not affect the others.

    ``title`` requires a single file (ConfigError otherwise). Raises IndexUnusable if the index cannot be used.
    """
    return list(add_each(paths, index_path, title=title, author=author, language=language))


def add_each(
    paths: Sequence[Path | str],
    index_path: Path | str | None = None,
    *,
    title: str | None = None,
    author: str | None = None,
    language: str | None = None,
    watcher: AddingWatcher | None = None,
) -> Iterator[FileReport]:
    """Yield the reports of ``add_files`` one by one. A file is in the index before its report is yielded."""
    found = list(files_in(map(Path, paths)))
    files = [each for each in found if isinstance(each, Path)]
    if title is not None and (len(paths) != 1 or files != [Path(paths[0])]):
        raise ConfigError("title", "can be given for one file at a time")
    watcher = watcher or AddingWatcher()
    watcher.begins(len(files))
    with KnowledgeIndex(index_path or default_index_path()) as index, IsolatedReader() as reader:
        for each in found:
            if isinstance(each, Path):
                watcher.opens(each)
                yield _add(index, reader, each, title, author, language, watcher.reads)
                watcher.is_done_with(each)
            else:
                yield FileReport(path=Path(each.source), added=None, error=each)


def _add(
    index: KnowledgeIndex,
    reader: IsolatedReader,
    path: Path,
    title: str | None,
    author: str | None,
    language: str | None,
    progress: Callable[[int], None],
) -> FileReport:
    try:
        file = content_of(path)
        said = {"title": title, "author": author, "language": language}
        if known := index.known_file(file.fingerprint):
            known = index.describe_anew(known, source=file.source, **said)
            return FileReport(path=path, added=known, error=None)
        read = read_file(file, reader, **said, progress=progress)
        origin = Origin(fingerprint=file.fingerprint, path=absolute(path), format=read.kind, digest=file.digest)
        added = index.add(read.document, origin=origin)
        if added.outcome is AddOutcome.UNCHANGED:
            added = index.describe_anew(added, source=file.source, **said)
        return FileReport(path=path, added=added, error=None, format=read.kind, pages=read.pages)
    except IndexUnusable:
        raise
    except LeagueError as error:
        return FileReport(path=path, added=None, error=error)


def search_books(
    query: str, index_path: Path | str | None = None, *, limit: int = 10, book: str | None = None
) -> list[Hit]:
    """Return the user's passages that share words with ``query``, best first; empty if there is no index yet.

    Raises UnknownBook if no book is called ``book``.
    """
    path = Path(index_path or default_index_path())
    if not path.exists():
        if book is not None:
            raise UnknownBook(book, ())
        return []
    with KnowledgeIndex(path) as index:
        chosen = _book(index, book) if book is not None else None
        return index.search(query, limit, book=chosen)


def corpus_statistics(index_path: Path | str | None = None) -> Statistics | None:
    """Return the size of the index; ``None`` if there is no index yet."""
    path = Path(index_path or default_index_path())
    if not path.exists():
        return None
    with KnowledgeIndex(path) as index:
        return index.statistics()


def _book(index: KnowledgeIndex, name: str) -> Book:
    book = index.book(name) or _of_file(index, name)
    if book is None:
        raise UnknownBook(name, near_titles(name, [known.title for known in index.books()]))
    return book


def _of_file(index: KnowledgeIndex, name: str) -> Book | None:
    """Return the one book read from a file of exactly this name, with or without its suffix."""
    sources = [(Path(book.source), book) for book in index.books()]
    found = [book for source, book in sources if name in (source.name, source.stem)]
    return found[0] if len(found) == 1 else None


def list_books(index_path: Path | str | None = None) -> list[Book]:
    """Return the user's books by title; empty if there is no index yet."""
    path = Path(index_path or default_index_path())
    if not path.exists():
        return []
    with KnowledgeIndex(path) as index:
        return index.books()


def show_book(name: str, index_path: Path | str | None = None, *, first: int = 5) -> BookReport:
    """Return a book, its chapters, and its ``first`` passages. Raises UnknownBook, which suggests near titles."""
    path = Path(index_path or default_index_path())
    if not path.exists():
        raise UnknownBook(name, ())
    with KnowledgeIndex(path) as index:
        book = _book(index, name)
        found = index.passages(book)
        reading = index.reading_report(book)
    counts: dict[str | None, int] = {}
    for passage in found:
        counts[passage.chapter] = counts.get(passage.chapter, 0) + 1
    chapters = tuple(ChapterReport(heading=heading, passages=count) for heading, count in counts.items())
    return BookReport(book=book, chapters=chapters, first_passages=tuple(found[: max(0, first)]), reading=reading)


def set_opening(name: str, which: str | None, index_path: Path | str | None = None) -> Book:
    """Set where a book opens: the number of one of its parts, the first words of a sentence, or ``None`` for what was
    found. The same file keeps it when it is added again, also after the book was removed.

    Raises UnknownBook, and OpeningUnknown if the book has no such sentence.
    """
    path = Path(index_path or default_index_path())
    if not path.exists():
        raise UnknownBook(name, ())
    with KnowledgeIndex(path) as index:
        return index.set_opening(_book(index, name), which)


def remove_book(name: str, index_path: Path | str | None = None) -> Book:
    """Remove the book with exactly this title (ignoring case and punctuation) or file name: a near miss must not
    delete another book.

    Raises UnknownBook, which suggests near titles.
    """
    path = Path(index_path or default_index_path())
    if not path.exists():
        raise UnknownBook(name, ())
    with KnowledgeIndex(path) as index:
        try:
            return index.remove(name)
        except UnknownBook:
            book = _of_file(index, name)
            if book is None:
                raise
            return index.remove(book.title)
