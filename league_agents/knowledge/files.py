"""Read documents of any format from paths, and list the files of folders.

Rule 1: a file is read once and judged by the bytes read; nothing is looked up again that may have changed since.
Rule 2: links to folders are not followed, so loops cannot occur.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from league_agents.kit.values import evolve
from league_agents.knowledge.documents import Document, document_of_parts, one_line, text_document, title_of_name
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.formats.kinds import ENDINGS, HEAD_BYTES, OFFICE_ENDINGS, BookFormat, kind_of
from league_agents.knowledge.formats.reader import IsolatedReader
from league_agents.knowledge.passages import DIVISION_VERSION
from league_agents.knowledge.reading import read_bytes

READERS_VERSION = 2
"""Increase this if a reader's text for the same file changes: the file is then read again when it is added again."""

_TAKEN = ENDINGS.keys() | OFFICE_ENDINGS.keys()

MAX_FILES = 100_000
MAX_DEPTH = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Content:
    """The bytes of a file."""

    path: Path
    content: bytes

    fingerprint: str
    """Equal for equal bytes and the same version of the readers."""

    digest: str
    """Equal for equal bytes."""

    @property
    def source(self) -> str:
        """Return the path for display and storage; undecodable characters are replaced."""
        return os.fsencode(self.path).decode("utf-8", "replace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Read:
    """A file that was read into a document."""

    document: Document
    kind: BookFormat

    pages: int | None
    """``None`` for a format without pages."""


def content_of(path: Path) -> Content:
    """Read the file's bytes. Raises the errors of ``read_bytes``."""
    content = read_bytes(path)
    digest = hashlib.sha256(content).hexdigest()
    fingerprint = hashlib.sha256(f"{READERS_VERSION}.{DIVISION_VERSION}\n{digest}".encode()).hexdigest()
    return Content(path=path, content=content, fingerprint=fingerprint, digest=digest)


def read_file(
    file: Content,
    reader: IsolatedReader,
    *,
    title: str | None = None,
    author: str | None = None,
    language: str | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> Read:
    """Read a file of any known format into a document. Raises DocumentRefused or LimitExceeded."""
    kind = kind_of(file.source, file.content[:HEAD_BYTES])
    if kind in (BookFormat.TEXT, BookFormat.MARKDOWN):
        document = text_document(file.content, path=Path(file.source), title=title, author=author, language=language)
        return Read(document=document, kind=kind, pages=None)
    extract = reader.extract(kind, file.content, file.source, progress)
    document = document_of_parts(
        extract.parts,
        source=file.source,
        title=extract.title or title_of_name(Path(file.source)),
        author=author or extract.author,
        language=language,
        stated_language=extract.language,
    )
    if title is not None:
        document = evolve(document, title=one_line(title) or document.title)
    return Read(document=document, kind=kind, pages=extract.pages)


def files_in(paths: Iterable[Path]) -> Iterator[Path | DocumentRefused]:
    """Yield the named files, and the files of known formats in the named folders, sorted by name.

    Office files are included, so that they are refused by name. For a folder that cannot be read, or holds no book, the
    reason is yielded.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        count = 0
        for found in _walk(path):
            count += isinstance(found, Path)
            if count > MAX_FILES:
                yield DocumentRefused(_shown(path), f"holds more than {MAX_FILES:,} files; name its folders one by one")
                return
            yield found
        if not count:
            endings = " ".join(sorted(ENDINGS))
            yield DocumentRefused(_shown(path), f"holds no file that could be a book (by its ending: {endings})")


def absolute(path: Path) -> str:
    """Return the path that identifies a file whatever the current folder."""
    return _shown(path.absolute())


def _walk(folder: Path) -> Iterator[Path | DocumentRefused]:
    failures: list[OSError] = []
    for place, folders, names in os.walk(folder, onerror=failures.append, followlinks=False):
        while failures:
            yield _unreadable(failures.pop())
        depth = len(Path(place).parts) - len(folder.parts)
        folders[:] = sorted(name for name in folders if not name.startswith(".")) if depth < MAX_DEPTH else []
        for name in sorted(names):
            # "~$" begins the name of an office program's lock file.
            if not name.startswith((".", "~$")) and Path(name).suffix.lower() in _TAKEN:
                yield Path(place) / name
    while failures:
        yield _unreadable(failures.pop())


def _unreadable(error: OSError) -> DocumentRefused:
    return DocumentRefused(_shown(error.filename or "?"), f"cannot be read: {(error.strerror or 'unknown').lower()}")


def _shown(path: Path | str) -> str:
    return os.fsencode(path).decode("utf-8", "replace")
