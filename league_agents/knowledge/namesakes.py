"""Choose a title for a book if another book with that title is in the index: two files that both begin with
``Chapter 1`` or ``Introduction`` are two books.

Rule: a book is replaced by its own newer text only. A text that shares passages with it is the same book in another
format or version; a text from another file without shared passages gets the file's name appended to its title.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from league_agents.kit.values import evolve
from league_agents.knowledge.documents import Document, one_line, title_of_name
from league_agents.knowledge.failures import DocumentRefused
from league_agents.knowledge.index_records import Book, Origin
from league_agents.knowledge.passages import Passage
from league_agents.knowledge.titles import title_key

SAME_BOOK = 0.2
"""Share of the shorter book's passages whose openings must occur in the other book: a rewritten lecture keeps more,
a line repeated in every lecture of a course is less."""


def under_its_own_title(
    connection: sqlite3.Connection, document: Document, found: Sequence[Passage], origin: Origin | None
) -> Document:
    """Return ``document`` under a title that no other book has. Without a file (``origin``) the title is kept."""
    if origin is None or not _is_anothers(connection, document.title, found, origin):
        return document
    name = title_of_name(Path(origin.path))
    for number in count(1):
        title = f"{document.title} ({name})" if number == 1 else f"{document.title} ({name} {number})"
        if not _is_anothers(connection, title, found, origin):
            break
    return evolve(document, title=title)


def describe_anew(
    connection: sqlite3.Connection,
    book: Book,
    *,
    source: str,
    title: str | None,
    author: str | None,
    language: str | None,
) -> Book:
    """Update ``book`` with the caller's values. Raises DocumentRefused for a title that another book has."""
    said = evolve(
        book,
        title=one_line(title or "") or book.title,
        author=one_line(author or "") or book.author,
        language=language or book.language,
    )
    old_key, key = title_key(book.title), title_key(said.title)
    if not key:
        raise DocumentRefused(source, "has no title; give one with --title")
    if key != old_key and connection.execute("SELECT 1 FROM books WHERE title_key = ?", (key,)).fetchone():
        raise DocumentRefused(source, f"is known as {book.title}, and another book has the title {said.title}")
    connection.execute(
        "UPDATE books SET title = ?, title_key = ?, author = ?, language = ? WHERE title_key = ?",
        (said.title, key, said.author, said.language, old_key),
    )
    return said


def _is_anothers(connection: sqlite3.Connection, title: str, found: Sequence[Passage], origin: Origin) -> bool:
    row = connection.execute("SELECT id FROM books WHERE title_key = ?", (title_key(title),)).fetchone()
    if row is None:
        return False
    paths = {path for (path,) in connection.execute("SELECT path FROM files WHERE book_id = ?", row)}
    # Books added before paths were stored have none; then the title decides.
    if not paths or origin.path in paths:
        return False
    theirs = {
        title_key(opening)
        for (opening,) in connection.execute("SELECT opening_sentence FROM passages WHERE book_id = ?", row)
    }
    ours = {title_key(passage.opening_sentence) for passage in found}
    return len(ours & theirs) < SAME_BOOK * min(len(ours), len(theirs))
