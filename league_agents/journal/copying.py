"""Copy a journal from one database engine to another, row by row, and compare the two.

Rule: the rows are those of the tables, not of the port, so nothing is lost that only the engine knows. Numbers of rows
are given anew; their order stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final

from league_agents.journal.database import ID, KEY, MINE, Database
from league_agents.journal.port import MOVED
from league_agents.kit.errors import JournalError

_COLUMNS: Final = {
    "parts": "name value",
    "inbox": "mail_id arrived_at sender subject message_type message_id game_id verdict reason document",
    "outbox": """transaction_id message_type recipients subject document file_name game_id created_at state attempts
        not_before began_at began_s finished_at error""",
    "calls": "call_id callback context timeout_s game_id created_at finished_at",
    "deadlines": "name at",
    "commands": "nonce at",
    "notes": "at kind key facts",
    "kept": "name value",
    "orders": "nonce command text at",
    "archive": "game_id types record",
    "archived_keys": "key",
    "model_calls": """at scope season_id match_id callback step model prompt_digest reply outcome
        input_tokens output_tokens cached_tokens cost_usd is_cached took_s work why""",
}
_KEYS: Final = {
    "parts": "name",
    "deadlines": "name",
    "commands": "nonce",
    "kept": "name",
    "archive": "game_id",
    "archived_keys": "key",
}

COPIED: Final = {table: (_KEYS.get(table, "seq"), ", ".join(columns.split())) for table, columns in _COLUMNS.items()}
"""Table -> the column that orders its rows, and all columns but the numbers of journals and rows."""

_PAGE: Final = 500

Row = tuple[Any, ...]


def is_empty(db: Database) -> bool:
    """Whether the journal has no rows yet. Raises ``db.failures``."""
    return all(db.run(f"SELECT 1 FROM {table} WHERE {MINE}TRUE LIMIT 1").fetchone() is None for table in COPIED)  # noqa: S608


def row_counts(db: Database) -> dict[str, int]:
    """The number of rows of each table. Raises ``db.failures``."""
    queries = {table: f"SELECT count(*) FROM {table} WHERE {MINE}TRUE" for table in COPIED}  # noqa: S608
    return {table: int(db.run(query).fetchone()[0]) for table, query in queries.items()}


def copy_rows(source: Database, target: Database, told: Callable[[int], None]) -> int:
    """Replace the rows of ``target`` by those of ``source``, within a transaction of the target, and compare them.

    ``told`` is called with the number of rows written so far. Return the number of rows. Raises ``JournalError`` if the
    copy differs, and the failures of both.
    """
    written = 0

    def counted(rows: Iterator[Row]) -> Iterator[Row]:
        nonlocal written
        for row in rows:
            written += 1
            if written % _PAGE == 0:
                told(written)
            yield row

    for table, (_, columns) in COPIED.items():
        target.run(f"DELETE FROM {table} WHERE {MINE}TRUE")  # noqa: S608
        places = ", ".join("?" * len(columns.split(",")))
        statement = f"INSERT INTO {table} ({KEY}{columns}) VALUES ({ID}{places})"  # noqa: S608
        target.run_many(statement, counted(_rows(source, table)))
    (steps,) = source.run("SELECT steps FROM version WHERE {mine}TRUE").fetchone()
    target.run("UPDATE version SET steps = ? WHERE {mine}TRUE", (steps + 1,))
    _compare(source, target)
    return written


def _compare(source: Database, target: Database) -> None:
    for table in COPIED:
        rows = enumerate(zip_longest(_rows(source, table), _rows(target, table)), start=1)
        for number, (had, has) in rows:
            if had != has:
                raise JournalError(f"{target.name}: row {number} of {table} differs from that of {source.name}")


def _rows(db: Database, table: str) -> Iterator[Row]:
    """The rows in order, a page at a time: the target's are read within its transaction."""
    key, columns = COPIED[table]
    query = f"SELECT {key}, {columns} FROM {table} WHERE {MINE}{{}} ORDER BY {key} LIMIT {_PAGE}"  # noqa: S608
    page = db.run(query.replace("{}", "TRUE")).fetchall()
    while page:
        yield from (_comparable(row[1:]) for row in page if table != "kept" or row[1] != MOVED)
        page = db.run(query.replace("{}", f"{key} > ?"), (page[-1][0],)).fetchall()


def _comparable(row: Sequence[Any]) -> Row:
    # PostgreSQL has no text for a NUL character.
    return tuple(value.replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value for value in row)
