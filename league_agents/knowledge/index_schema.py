"""The tables of the index file, and the migration of older files.

Rule: nothing that a user added is lost. Data that can be computed from the passages, such as the full-text table, is
rebuilt; everything else is kept.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from league_agents.knowledge.search_words import searchable

APPLICATION_ID = 0x4C474B42  # in the file's header: another program's database is refused, not changed

# The full-text table keeps no copy of the text; deleting a row recomputes its words from the passage.
_SCRIPTS = (
    """
    CREATE TABLE books (
        id INTEGER PRIMARY KEY,
        title TEXT NOT NULL,
        title_key TEXT NOT NULL UNIQUE,
        author TEXT,
        language TEXT NOT NULL,
        source TEXT NOT NULL,
        content_hash TEXT NOT NULL UNIQUE,
        words INTEGER NOT NULL
    );
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        book_id INTEGER NOT NULL REFERENCES books (id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        chapter TEXT,
        text TEXT NOT NULL,
        opening_sentence TEXT NOT NULL,
        UNIQUE (book_id, position)
    );
    CREATE VIEW shelf AS
        SELECT b.title, b.author, b.language, b.source, b.words,
            (SELECT count(*) FROM passages p WHERE p.book_id = b.id) AS passages,
            coalesce((SELECT p.opening_sentence FROM passages p WHERE p.book_id = b.id AND p.position = 1), '')
                AS opening_sentence,
            b.id, b.title_key, b.content_hash
        FROM books b;
    CREATE VIRTUAL TABLE passage_words USING fts5 (
        words, content = '', tokenize = "porter unicode61 remove_diacritics 2"
    );
    """,
    # A book's beginning need not be a passage. Books added before this version have none, and their first passage
    # replaces it until the file is added again.
    """
    ALTER TABLE books ADD COLUMN opening_sentence TEXT;
    ALTER TABLE books ADD COLUMN opening_paragraph TEXT;
    DROP VIEW shelf;
    CREATE VIEW shelf AS
        SELECT b.title, b.author, b.language, b.source, b.words,
            (SELECT count(*) FROM passages p WHERE p.book_id = b.id) AS passages,
            coalesce(b.opening_sentence,
                (SELECT p.opening_sentence FROM passages p WHERE p.book_id = b.id AND p.position = 1), '')
                AS opening_sentence,
            b.id, b.title_key, b.content_hash
        FROM books b;
    """,
    # The files of a book, so that a known file is not read again and a changed file replaces its former book. Before
    # this version books came from plain text and Markdown only.
    """
    ALTER TABLE books ADD COLUMN format TEXT NOT NULL DEFAULT 'text';
    UPDATE books SET format = 'markdown'
        WHERE lower(source) LIKE '%.md' OR lower(source) LIKE '%.markdown' OR lower(source) LIKE '%.mdown'
            OR lower(source) LIKE '%.mkd';
    CREATE TABLE files (
        fingerprint TEXT PRIMARY KEY,
        path TEXT NOT NULL,
        book_id INTEGER NOT NULL REFERENCES books (id) ON DELETE CASCADE
    );
    CREATE INDEX files_by_path ON files (path);
    CREATE INDEX files_by_book ON files (book_id);
    """,
    # How a book was read, for its quality report, and the openings that people set: those outlive the book, because
    # the same file, added again, is to open as they said.
    """
    ALTER TABLE books ADD COLUMN reading TEXT;
    ALTER TABLE files ADD COLUMN digest TEXT;
    CREATE TABLE chosen_openings (
        text_id TEXT PRIMARY KEY,
        sentence TEXT NOT NULL,
        paragraph TEXT NOT NULL
    );
    """,
    # The words of a book's passages, computed when it is added; a book without them is read word by word when needed.
    """
    CREATE TABLE vocabularies (
        book_id INTEGER PRIMARY KEY REFERENCES books (id) ON DELETE CASCADE,
        version INTEGER NOT NULL,
        content BLOB NOT NULL
    );
    """,
)


def _index_words_anew(connection: sqlite3.Connection) -> None:
    """Version 3 divides more scripts and knows Hebrew forms: words stored before could not be found or deleted."""
    connection.execute("INSERT INTO passage_words (passage_words) VALUES ('delete-all')")
    rows = connection.execute("SELECT id, text FROM passages")
    connection.executemany(
        "INSERT INTO passage_words (rowid, words) VALUES (?, ?)", ((key, searchable(text)) for key, text in rows)
    )


_STEPS: dict[int, Callable[[sqlite3.Connection], None]] = {3: _index_words_anew}
SCHEMA_VERSION = len(_SCRIPTS)

# Words as the tokenizer writes them, and the number of passages with each; temporary, not stored in the file.
SCRATCH = (
    'CREATE VIRTUAL TABLE temp.asked USING fts5 (words, tokenize = "porter unicode61 remove_diacritics 2")',
    "CREATE VIRTUAL TABLE temp.asked_terms USING fts5vocab (temp, asked, instance)",
    "CREATE VIRTUAL TABLE temp.known_terms USING fts5vocab (main, passage_words, row)",
)


def migrate(connection: sqlite3.Connection) -> int:
    """Update the tables inside the caller's transaction and return the file's former version, 0 for a new file.

    A file with a version above ``SCHEMA_VERSION`` is not changed.
    """
    connection.execute("CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY)")
    done = int(connection.execute("SELECT coalesce(max(version), 0) FROM migrations").fetchone()[0])
    for version, script in enumerate(_SCRIPTS[done:], start=done + 1):
        for statement in script.split(";\n"):
            if statement.strip():
                connection.execute(statement)
        if version in _STEPS and done:
            _STEPS[version](connection)
        connection.execute("INSERT INTO migrations (version) VALUES (?)", (version,))
    return done
