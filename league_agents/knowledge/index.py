"""The books that an agent knows, in one SQLite file with full-text search.

Rule 1: a book is in the index completely or not at all: one transaction adds, replaces or removes it.
Rule 2: adding the same text twice is a no-op, and the report says so.
Rule 3: a query is words. The search engine's syntax cannot be injected.

A ``KnowledgeIndex`` may be used from several threads: a lock serializes the use of its connection. Several
processes may open the same file: readers do not wait for a writer (WAL), a second writer waits up to five seconds.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from league_agents.kit.private_file import make_private_folder
from league_agents.kit.values import evolve
from league_agents.kit.write_ahead import use_write_ahead_log
from league_agents.knowledge import vocabulary
from league_agents.knowledge.documents import Document
from league_agents.knowledge.failures import DocumentRefused, IndexUnusable, UnknownBook
from league_agents.knowledge.full_text import FullText
from league_agents.knowledge.index_records import AddOutcome as AddOutcome  # re-exported: part of the interface
from league_agents.knowledge.index_records import AddReport as AddReport
from league_agents.knowledge.index_records import Book as Book
from league_agents.knowledge.index_records import Hit as Hit
from league_agents.knowledge.index_records import Origin as Origin
from league_agents.knowledge.index_records import ReadingReport as ReadingReport
from league_agents.knowledge.index_records import Statistics as Statistics
from league_agents.knowledge.index_schema import APPLICATION_ID, SCHEMA_VERSION, SCRATCH, migrate
from league_agents.knowledge.namesakes import describe_anew, under_its_own_title
from league_agents.knowledge.openings import choose_opening, chosen_opening, report_of, stored_report
from league_agents.knowledge.passages import (
    DIVISION_VERSION,
    MIN_SENTENCES,
    MIN_WORDS,
    Passage,
    count_words,
    read_parts,
)
from league_agents.knowledge.search_words import searchable
from league_agents.knowledge.titles import best_title, near_titles, same_author, title_key
from league_agents.knowledge.vocabulary import BookVocabulary, vocabulary_of

_BUSY_MS = 5_000


class KnowledgeIndex:
    """Books, their passages and full-text search; ``":memory:"`` makes an index that is lost on closing."""

    def __init__(self, path: Path | str = ":memory:") -> None:
        """Open or create. Raises IndexUnusable for a file that is not an index, damaged, newer, or not accessible."""
        self._name = str(path)
        self._lock = threading.RLock()
        self._changes = 0
        """Transactions of this connection: counts cached before the last one may be out of date."""
        try:
            if self._name != ":memory:":
                make_private_folder(Path(self._name).parent)
            self._connection = sqlite3.connect(self._name, isolation_level=None, check_same_thread=False)
        except (OSError, sqlite3.Error) as error:
            raise IndexUnusable(self._name, f"cannot be opened: {error}") from error
        self._words = FullText(self._connection)
        try:
            with self._errors():
                self._set_up()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closing twice is harmless."""
        with self._lock:
            self._connection.close()

    def add(
        self,
        document: Document,
        *,
        min_words: int = MIN_WORDS,
        min_sentences: int = MIN_SENTENCES,
        origin: Origin | None = None,
    ) -> AddReport:
        """Add the passages of ``document``. It replaces a book with the same title and author, and the book read from
        the same file before; another file's book with the same title stays (``namesakes``).

        Raises DocumentRefused if it has no passage, or if another author's book has the same title.
        """
        content_hash = _content_hash(document, min_words, min_sentences)
        reading = read_parts(document)
        opening = reading.opening()
        start = (opening.opening_sentence, opening.text) if opening is not None else (None, None)
        with self._errors(), self._transaction() as connection:
            row = _same_text(connection, content_hash, start, origin)
        if row:
            return _unchanged(_book(row))
        if not title_key(document.title):
            raise DocumentRefused(document.source, "has no title; give one with --title")
        found = reading.passages(min_words=min_words, min_sentences=min_sentences)
        if not found:
            raise DocumentRefused(document.source, _nothing_to_play_with(document, min_words, min_sentences))
        words = count_words(document.text)
        words_of_passages = _vocabulary(found).to_bytes()
        format_ = origin.format if origin else "markdown" if document.markup == "markdown" else "text"
        with self._errors(), self._transaction() as connection:
            # Another process may have added the same text while this one was parsed.
            row = _same_text(connection, content_hash, start, origin)
            if row:
                return _unchanged(_book(row))
            start = chosen_opening(connection, origin.digest if origin else "", content_hash) or start
            document = under_its_own_title(connection, document, found, origin)
            key = title_key(document.title)
            old = connection.execute("SELECT id, title, author FROM books WHERE title_key = ?", (key,)).fetchone()
            if old and not same_author(old[2], document.author):
                raise DocumentRefused(
                    document.source, f"{old[1]} by {old[2]} has the same title; add this one under another title"
                )
            former = {row[0] for row in (old, _former(connection, origin)) if row}
            for book_id in former:
                self._delete(connection, book_id)
            cursor = connection.execute(
                "INSERT INTO books (title, title_key, author, language, source, content_hash, words, "
                "opening_sentence, opening_paragraph, format, reading) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    *(document.title, key, document.author, document.language, document.source, content_hash, words),
                    *(*start, format_, stored_report(reading, len(found))),
                ),
            )
            book_id = cursor.lastrowid
            first = connection.execute("SELECT coalesce(max(id), 0) + 1 FROM passages").fetchone()[0]
            connection.executemany(
                "INSERT INTO passages (id, book_id, position, chapter, text, opening_sentence) "
                "VALUES (?, ?, ?, ?, ?, ?)",
                [(first + i, book_id, p.position, p.chapter, p.text, p.opening_sentence) for i, p in enumerate(found)],
            )
            connection.executemany(
                "INSERT INTO passage_words (rowid, words) VALUES (?, ?)",
                [(first + i, searchable(p.text)) for i, p in enumerate(found)],
            )
            connection.execute(
                "INSERT INTO vocabularies (book_id, version, content) VALUES (?, ?, ?)",
                (book_id, vocabulary.VERSION, words_of_passages),
            )
            _remember(connection, book_id, origin)
        return AddReport(
            outcome=AddOutcome.REPLACED if former else AddOutcome.ADDED,
            title=document.title,
            words=words,
            passages=len(found),
            opening_sentence=start[0] or "",
        )

    def known_file(self, fingerprint: str) -> AddReport | None:
        """Return the report on a file with exactly these bytes that was added before; ``None`` if there is none."""
        with self._errors():
            row = self._connection.execute(
                "SELECT * FROM shelf WHERE id = (SELECT book_id FROM files WHERE fingerprint = ?)", (fingerprint,)
            ).fetchone()
        return _unchanged(_book(row)) if row else None

    def describe_anew(
        self, known: AddReport, *, source: str, title: str | None, author: str | None, language: str | None
    ) -> AddReport:
        """Change the metadata of a known text to the caller's. Raises DocumentRefused for another book's title."""
        with self._errors(), self._transaction() as connection:
            key = title_key(known.title)
            row = connection.execute("SELECT * FROM shelf WHERE title_key = ?", (key,)).fetchone()
            if row is None:  # removed by another process in the meantime
                return known
            old = _book(row)
            new = describe_anew(connection, old, source=source, title=title, author=author, language=language)
        return known if new == old else evolve(known, outcome=AddOutcome.UPDATED, title=new.title)

    def statistics(self) -> Statistics:
        """Return the size of the index by kind."""
        with self._errors():
            connection = self._connection
            books, words = connection.execute("SELECT count(*), coalesce(sum(words), 0) FROM books").fetchone()
            counts = {
                column: dict(
                    connection.execute(
                        f"SELECT {column}, count(*) FROM books GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608 - our names
                    ).fetchall()
                )
                for column in ("language", "format")
            }
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            page_bytes = connection.execute("PRAGMA page_size").fetchone()[0]
        return Statistics(
            books=books,
            passages=self.size,
            words=words,
            languages=counts["language"],
            formats=counts["format"],
            size_bytes=pages * page_bytes,
            schema=SCHEMA_VERSION,
        )

    def remove(self, title: str) -> Book:
        """Remove the book with exactly this title (ignoring case, accents and punctuation). Raises UnknownBook."""
        with self._errors(), self._transaction() as connection:
            row = connection.execute("SELECT * FROM shelf WHERE title_key = ?", (title_key(title),)).fetchone()
            if row is None:
                raise UnknownBook(title, near_titles(title, self._titles()))
            self._delete(connection, row[_ID])
        return _book(row)

    def books(self) -> list[Book]:
        """Return all books by title."""
        with self._errors():
            rows = self._connection.execute("SELECT * FROM shelf ORDER BY title_key").fetchall()
        return [_book(row) for row in rows]

    def book(self, title: str) -> Book | None:
        """Return the one book that ``title`` names, allowing typos and short forms (see ``titles``), or ``None``."""
        known = self.books()
        found = best_title(title, [book.title for book in known])
        return None if found is None else known[found]

    def passages(self, book: Book | str) -> list[Passage]:
        """Return the book's passages in the order of the text; empty for an unknown book."""
        title = book.title if isinstance(book, Book) else book
        with self._errors():
            rows = self._connection.execute(
                "SELECT b.title, p.chapter, p.position, p.text, p.opening_sentence FROM books b "
                "JOIN passages p ON p.book_id = b.id WHERE b.title_key = ? ORDER BY p.position",
                (title_key(title),),
            ).fetchall()
        return [Passage(*row) for row in rows]

    def vocabulary(self, book: Book | str) -> BookVocabulary:
        """Return the words of the book's passages; for a book that was added by an older version they are read anew."""
        title = book.title if isinstance(book, Book) else book
        with self._errors():
            row = self._connection.execute(
                "SELECT v.content FROM vocabularies v JOIN books b ON b.id = v.book_id "
                "WHERE b.title_key = ? AND v.version = ?",
                (title_key(title), vocabulary.VERSION),
            ).fetchone()
        return _vocabulary(self.passages(title)) if row is None else BookVocabulary.from_bytes(row[0])

    def opening(self, book: Book | str) -> Passage | None:
        """Return the book's first paragraph, however short; ``None`` for an unknown book."""
        title = book.title if isinstance(book, Book) else book
        with self._errors():
            row = self._connection.execute(
                "SELECT title, NULL, 0, coalesce(opening_paragraph, opening_sentence), opening_sentence "
                "FROM books WHERE title_key = ? AND opening_sentence IS NOT NULL",
                (title_key(title),),
            ).fetchone()
        return Passage(*row) if row is not None else next(iter(self.passages(title)), None)

    def reading_report(self, book: Book) -> ReadingReport | None:
        """Return how the book was read; ``None`` for one that was added by an older version."""
        with self._errors():
            return report_of(self._connection, title_key(book.title))

    def set_opening(self, book: Book, which: str | None) -> Book:
        """Set the opening of a book (see ``corpus.set_opening``). Raises OpeningUnknown."""
        with self._errors(), self._transaction() as connection:
            choose_opening(connection, title_key(book.title), book.title, which)
            row = connection.execute("SELECT * FROM shelf WHERE title_key = ?", (title_key(book.title),)).fetchone()
        return _book(row)

    def search(self, query: str, limit: int = 10, *, book: Book | str | None = None) -> list[Hit]:
        """Return passages that share words with ``query``, best first, from all books or one.

        The query is plain words without syntax. It is cut at 2,000 characters and 64 words.
        """
        if limit < 1:
            return []
        title = book.title if isinstance(book, Book) else book
        with self._errors():
            ids = self._ids_of(title) if title is not None else None
            if title is not None and ids is None:
                return []
            found = self._words.find(query, limit, ids, self._changes)
        return [Hit(passage=passage, score=score) for passage, score in found]

    def _ids_of(self, title: str) -> tuple[int, int] | None:
        """Return the first and last id of a book's passages, which are consecutive; ``None`` for an unknown title."""
        row = self._connection.execute(
            "SELECT min(p.id), max(p.id) FROM passages p JOIN books b ON b.id = p.book_id WHERE b.title_key = ?",
            (title_key(title),),
        ).fetchone()
        return None if row[0] is None else (row[0], row[1])

    def passages_at(self, book: Book | str, positions: Sequence[int]) -> list[Passage]:
        """Return the book's passages at ``positions``, in the order of the text; unknown positions are left out."""
        title = book.title if isinstance(book, Book) else book
        with self._errors():
            rows = self._connection.execute(
                "SELECT b.title, p.chapter, p.position, p.text, p.opening_sentence FROM books b "
                "JOIN passages p ON p.book_id = b.id JOIN json_each(?) wanted ON wanted.value = p.position "
                "WHERE b.title_key = ? ORDER BY p.position",
                (json.dumps(sorted(set(positions))), title_key(title)),
            ).fetchall()
        return [Passage(*row) for row in rows]

    @property
    def size(self) -> int:
        """Return the number of passages of all books."""
        with self._errors():
            return self._words.size(self._changes)

    def frequencies(self, words: Sequence[str]) -> list[int]:
        """Count for each word the passages with any form of it; of several words in one, the rarest counts."""
        with self._errors():
            return self._words.frequencies(words, self._changes)

    def _titles(self) -> list[str]:
        return [row[0] for row in self._connection.execute("SELECT title FROM books")]

    @staticmethod
    def _delete(connection: sqlite3.Connection, book_id: int) -> None:
        rows = connection.execute("SELECT id, text FROM passages WHERE book_id = ?", (book_id,)).fetchall()
        connection.executemany(
            "INSERT INTO passage_words (passage_words, rowid, words) VALUES ('delete', ?, ?)",
            [(passage_id, searchable(text)) for passage_id, text in rows],
        )
        connection.execute("DELETE FROM books WHERE id = ?", (book_id,))

    def _set_up(self) -> None:
        connection = self._connection
        connection.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        is_empty = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if owner != APPLICATION_ID and not is_empty:
            raise IndexUnusable(self._name, "is another program's database; choose another file")
        use_write_ahead_log(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        with self._transaction():
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            done = migrate(connection)
            if done > SCHEMA_VERSION:
                raise IndexUnusable(self._name, f"was made by a newer version (schema {done}); update league-agents")
        for statement in SCRATCH:
            connection.execute(statement)

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")
            self._changes += 1

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Serialize threads, and convert SQLite errors to IndexUnusable with a remedy."""
        with self._lock:
            try:
                yield
            except sqlite3.ProgrammingError as error:
                raise IndexUnusable(self._name, "is closed") from error
            except sqlite3.Error as error:
                text = str(error).partition(" with text ")[0]  # the omitted part may quote a target
                if "locked" in text:
                    raise IndexUnusable(self._name, "is in use by another program; try again") from error
                if "fts5" in text:
                    raise IndexUnusable(self._name, "this Python's SQLite has no full-text search (FTS5)") from error
                if "readonly" in text or "unable to open" in text:
                    raise IndexUnusable(self._name, f"cannot be written: {text}") from error
                raise IndexUnusable(
                    self._name, f"is damaged or no index ({text}); remove it and add the books again"
                ) from error


_ID = 7
"""The column of the view ``shelf`` that follows the fields of Book."""


def _book(row: tuple[Any, ...]) -> Book:
    title, author, language, source, words, count, opening = row[:_ID]
    return Book(
        title=title,
        author=author,
        language=language,
        source=source,
        words=words,
        passages=count,
        opening_sentence=opening,
    )


def _unchanged(book: Book) -> AddReport:
    return AddReport(
        outcome=AddOutcome.UNCHANGED,
        title=book.title,
        words=book.words,
        passages=book.passages,
        opening_sentence=book.opening_sentence,
    )


def _content_hash(document: Document, min_words: int, min_sentences: int) -> str:
    kinds = "" if document.parts is None else "".join(part.kind[0] for part in document.parts) + "\n"
    fingerprint = f"{DIVISION_VERSION}\n{min_words}\n{min_sentences}\n{document.markup}\n{kinds}{document.text}"
    return hashlib.sha256(fingerprint.encode("utf-8", "surrogatepass")).hexdigest()


def _nothing_to_play_with(document: Document, min_words: int, min_sentences: int) -> str:
    needs = (
        f"has no paragraph to play with: it needs paragraphs of {min_words} words or more and {min_sentences} sentences"
    )
    return needs if document.parts is not None else f"{needs}, with empty lines between them"


def _same_text(
    connection: sqlite3.Connection,
    content_hash: str,
    start: tuple[str | None, str | None],
    origin: Origin | None,
) -> tuple[Any, ...] | None:
    """Return the book with exactly this text, adding fields that an older index lacks; ``None`` if there is none."""
    row: tuple[Any, ...] | None = connection.execute(
        "SELECT * FROM shelf WHERE content_hash = ?", (content_hash,)
    ).fetchone()
    if row is not None:
        connection.execute(
            "UPDATE books SET opening_sentence = ?, opening_paragraph = ? "
            "WHERE content_hash = ? AND opening_sentence IS NULL",
            (*start, content_hash),
        )
        _remember(connection, row[_ID], origin)
    return row


def _former(connection: sqlite3.Connection, origin: Origin | None) -> tuple[int] | None:
    """Return the book that this file held before it was changed, unless another file holds that book as well."""
    if origin is None:
        return None
    row: tuple[int] | None = connection.execute(
        "SELECT f.book_id FROM files f WHERE f.path = ? "
        "AND NOT EXISTS (SELECT 1 FROM files o WHERE o.book_id = f.book_id AND o.path <> f.path)",
        (origin.path,),
    ).fetchone()
    return row


def _remember(connection: sqlite3.Connection, book_id: int | None, origin: Origin | None) -> None:
    """Record the file of the book; an earlier book of the same file is forgotten."""
    if origin is not None:
        connection.execute("DELETE FROM files WHERE path = ? AND fingerprint <> ?", (origin.path, origin.fingerprint))
        connection.execute(
            "INSERT OR REPLACE INTO files (fingerprint, path, book_id, digest) VALUES (?, ?, ?, ?)",
            (origin.fingerprint, origin.path, book_id, origin.digest),
        )


def _vocabulary(found: Sequence[Passage]) -> BookVocabulary:
    return BookVocabulary.of([vocabulary_of(passage.text) for passage in found])
