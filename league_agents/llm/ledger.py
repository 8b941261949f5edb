"""Records of model exchanges in an SQL database: one row per exchange.

Rule 1: a role's calls are stored in its journal, beside the callbacks that made them; calls without a journal are
stored in a separate ledger. A call is stored in one of the two.
Rule 2: a row is written before its reply is used. If the process dies before using it, the reply is returned to the
same request of the same callback.
Rule 3: unknown values are NULL: tokens that a service did not count, a price that is not on the list.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC
from pathlib import Path
from typing import Any, Literal, Protocol

from league_agents.journal import migrations, rows
from league_agents.journal.database import ID, KEY, Database
from league_agents.journal.file import SqliteDatabase, check_pages, journal_error
from league_agents.kit.errors import JournalUnusable
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.kit.private_file import make_private_database, tighten_database
from league_agents.kit.write_ahead import use_write_ahead_log
from league_agents.llm.calls import ANSWERED, ModelCall
from league_agents.llm.exchange import Finish, Reply
from league_agents.llm.port import Purpose, Usage

LEDGER_ID = 0x4C414C31
"""Marks a SQLite file as a ledger."""

LEDGER_SCRIPTS = (
    migrations.MODEL_CALLS,
    """
    CREATE TABLE spending (
        seq INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        day TEXT NOT NULL,
        season TEXT NOT NULL,
        game TEXT NOT NULL,
        nano_usd INTEGER,
        tokens INTEGER NOT NULL,
        calls INTEGER NOT NULL
    );
    CREATE INDEX spending_of_game ON spending (game);
    CREATE INDEX spending_of_day ON spending (day);
    CREATE INDEX spending_of_season ON spending (season);
    CREATE TABLE reserved (
        game TEXT NOT NULL,
        place INTEGER NOT NULL,
        stage INTEGER NOT NULL,
        season TEXT NOT NULL,
        touched_at TEXT NOT NULL,
        awaited INTEGER NOT NULL,
        nano_usd INTEGER NOT NULL,
        tokens INTEGER NOT NULL,
        calls INTEGER NOT NULL,
        PRIMARY KEY (game, place)
    ) WITHOUT ROWID;
    """,
    migrations.MODEL_WORK,
)
"""The migrations of a ledger; a published script never changes."""

Mode = Literal["ro", "rw", "rwc"]
"""SQLite's open modes: read, write an existing file, create if missing."""

_FINISHES = {each.value: each for each in Finish} | {ANSWERED: Finish.COMPLETE}


class CallPlace(Protocol):
    """A place of model calls, and of what is spent on them. Any thread may use it."""

    def is_there(self) -> bool:
        """Whether anything was written to it."""
        ...

    def opened(self, *, alone: bool = False) -> AbstractContextManager[Database]:
        """Open it for one access, ``alone`` for one transaction that no other process can interleave with. Raises
        ``JournalError``, also for failures of the database inside the context."""
        ...


class SqlLedger:
    """``CallLedger`` in a place."""

    def __init__(self, place: CallPlace) -> None:
        self._place = place
        self._lock = threading.Lock()
        self._before: int | None = None
        self._given: Counter[tuple[str, str, str, str]] = Counter()

    def record(self, call: ModelCall) -> int:
        self._remember_what_was_there()
        usage = call.usage
        purpose = call.purpose
        row = (
            call.at.astimezone(UTC).isoformat(timespec="microseconds"),
            *map(_utf8, (call.scope, purpose.season_id, purpose.match_id, purpose.callback, purpose.step)),
            *(_utf8(call.model), call.prompt_digest, None if call.reply is None else _utf8(call.reply), call.outcome),
            None if usage is None else usage.input_tokens,
            None if usage is None else usage.output_tokens,
            None if usage is None else usage.cached_tokens,
            *(call.cost_usd, int(call.is_cached), call.took_s),
        )
        values = f"({KEY}{_COLUMNS}) VALUES ({ID}{', '.join('?' * len(row))})"
        with self._place.opened() as db:
            (stored,) = db.run(f"INSERT INTO model_calls {values} RETURNING seq", row).fetchall()
            return int(stored[0])

    def judge(self, row: int, work: ModelWorkUse, why: Why | None) -> None:
        with self._place.opened() as db:
            judged = (work.value, None if why is None else why.value, row)
            db.run("UPDATE model_calls SET work = ?, why = ? WHERE {mine}seq = ?", judged)

    def earlier(self, scope: str, purpose: Purpose, prompt_digest: str) -> Reply | None:
        before = self._remember_what_was_there()
        if not before or not purpose.match_id:
            return None
        key = (scope, purpose.match_id, purpose.callback, prompt_digest)
        with self._lock:
            given = self._given[key]
            self._given[key] += 1
        with self._place.opened() as db:
            row = db.run(
                "SELECT model, reply, outcome FROM model_calls WHERE {mine}match_id = ? AND callback = ?"
                " AND prompt_digest = ? AND scope = ? AND seq <= ?"
                " AND reply IS NOT NULL AND is_cached = 0 ORDER BY seq LIMIT 1 OFFSET ?",
                (_utf8(purpose.match_id), _utf8(purpose.callback), prompt_digest, _utf8(scope), before, given),
            ).fetchone()
        if row is None or row[2] not in _FINISHES:
            return None
        return Reply(text=row[1], finish=_FINISHES[row[2]], usage=Usage(), model=row[0])

    def calls(self) -> Iterator[ModelCall]:
        with self._place.opened() as db:
            yield from _JUDGED.read(db, order="seq")

    def _remember_what_was_there(self) -> int:
        """Return the number of the last row of earlier processes."""
        with self._lock:
            if self._before is None:
                if not self._place.is_there():
                    self._before = 0
                else:
                    with self._place.opened() as db:
                        (last,) = db.run("SELECT max(seq) FROM model_calls WHERE {mine}TRUE").fetchone()
                    self._before = last or 0
            return self._before


class FilePlace:
    """``CallPlace`` in one SQLite file. Every access opens its own connection, so any process may use it."""

    def __init__(self, path: Path, *, in_journal: bool = False) -> None:
        """``in_journal`` marks the file as a role's journal, which is created elsewhere."""
        self.path = path
        self._mode: Mode = "rw" if in_journal else "rwc"

    def is_there(self) -> bool:
        return self.path.exists()

    @contextmanager
    def opened(self, *, alone: bool = False) -> Iterator[Database]:
        with connected(self.path, self._mode) as connection:
            if alone:
                connection.execute("BEGIN IMMEDIATE")
            yield SqliteDatabase(connection, str(self.path))


class Ledger(SqlLedger):
    """``CallLedger`` in one SQLite file: an existing journal, or a ledger that is created on the first write."""

    def __init__(self, path: Path, *, in_journal: bool = False) -> None:
        """``in_journal`` marks the file as a role's journal, which is created elsewhere."""
        super().__init__(FilePlace(path, in_journal=in_journal))
        self.path = path

    def calls(self) -> Iterator[ModelCall]:
        """Yield all rows in order; none if the file is missing, is empty or predates model calls.

        Raises ``JournalError`` if it is damaged, or neither a journal nor a ledger.
        """
        if not self.path.exists() or not self.path.stat().st_size:
            return
        with connected(self.path, "ro") as db:
            check_pages(db, str(self.path))
            (application,) = db.execute("PRAGMA application_id").fetchone()
            if application not in (migrations.APPLICATION_ID, LEDGER_ID):
                raise JournalUnusable(f"{self.path}: is neither a journal nor a ledger; name another file")
            columns = {str(row[1]) for row in db.execute("PRAGMA table_info(model_calls)")}
            if columns:
                # Reading does not migrate the file.
                stored = _JUDGED if "work" in columns else _UNJUDGED
                yield from stored.read(SqliteDatabase(db, str(self.path), is_read_only=True), order="seq")


@contextmanager
def connected(path: Path, mode: Mode = "rwc") -> Iterator[sqlite3.Connection]:
    """Connect to a journal or a ledger, migrated to the newest schema. Raises ``JournalError``, also for SQLite errors
    inside the context."""
    try:
        if mode == "rwc":
            make_private_database(path)
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=10)
    except (OSError, sqlite3.Error) as error:
        raise journal_error(str(path), error) from None
    try:
        if mode != "ro":
            _make(db, path)
            tighten_database(path)
        yield db
        if db.in_transaction:
            db.execute("COMMIT")
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter for names in a damaged schema
        raise journal_error(str(path), error) from error
    finally:
        db.close()  # this rolls back uncommitted changes


def _make(db: sqlite3.Connection, path: Path) -> None:
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (seen,) = db.execute("PRAGMA user_version").fetchone()
    (application,) = db.execute("PRAGMA application_id").fetchone()
    if application == migrations.APPLICATION_ID:
        if seen < migrations.WITH_MODEL_WORK:
            raise JournalUnusable(f"{path}: was written by an older version; run league-agents on it once")
        return
    if application != LEDGER_ID and (tables or application or seen):
        raise JournalUnusable(f"{path}: is a database of another program; name another file")
    if seen > len(LEDGER_SCRIPTS):
        raise JournalUnusable(f"{path}: was written by a newer version of league-agents; upgrade, or name another file")
    if seen == len(LEDGER_SCRIPTS):
        return
    use_write_ahead_log(db)
    db.execute("BEGIN IMMEDIATE")
    (seen,) = db.execute("PRAGMA user_version").fetchone()
    for script in LEDGER_SCRIPTS[seen:]:
        for statement in script.split(";"):
            db.execute(statement)
    db.execute(f"PRAGMA application_id = {LEDGER_ID}")
    db.execute(f"PRAGMA user_version = {len(LEDGER_SCRIPTS)}")
    db.execute("COMMIT")


def _call(
    *,
    season_id: str,
    match_id: str,
    callback: str,
    step: str,
    input_tokens: int | None,
    output_tokens: int | None,
    cached_tokens: int | None,
    is_cached: int,
    **others: Any,
) -> ModelCall:
    usage = None
    if input_tokens is not None and output_tokens is not None:
        usage = Usage(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cached_tokens=cached_tokens or 0,
            requests=0 if is_cached else 1,
        )
    purpose = Purpose(match_id=match_id, callback=callback, step=step, season_id=season_id)
    return ModelCall(purpose=purpose, usage=usage, is_cached=bool(is_cached), **others)


_WRITTEN: Mapping[str, rows.Reader] = {
    "at": rows.instant,
    **dict.fromkeys(("scope", "season_id", "match_id", "callback", "step", "model", "prompt_digest"), rows.text),
    "reply": rows.optional(rows.text),
    "outcome": rows.text,
    **dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens"), rows.optional(rows.whole)),
    "cost_usd": rows.optional(rows.real),
    "is_cached": rows.whole,
    "took_s": rows.real,
}
"""The columns of a row before its reply is judged."""

_COLUMNS = ", ".join(_WRITTEN)
_UNJUDGED = rows.Stored("model_calls", _call, _WRITTEN)
_JUDGED = rows.Stored(
    "model_calls",
    _call,
    {**_WRITTEN, "work": rows.optional(rows.one_of(ModelWorkUse)), "why": rows.optional(rows.one_of(Why))},
)


def _utf8(text: str) -> str:
    # Half of a surrogate pair cannot be stored in a column.
    return text.encode("utf-8", "replace").decode()
