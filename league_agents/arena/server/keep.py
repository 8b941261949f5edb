"""The matches of a server in one SQLite file, so that a restart goes on with them.

Rule 1: a match is its scenario, its seed and its decisions: the lines of its transcript. What else is kept (the clocks,
the seats, the answers to repeated requests) is written in the same transaction as the line that it belongs to.
Rule 2: nothing leaves the server before ``commit``. A killed process loses nothing that somebody was told; a power cut
may cost the last moments.
Rule 3: of a token its digest is kept. Tokens that are signed need the server's key, so the file is private.
Rule 4: a file that cannot be written ends no match: one line says so, and the server goes on in memory.
"""

from __future__ import annotations

import io
import json
import logging
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from league_agents.arena.decisions import ClockState
from league_agents.arena.protocol.hosting import MOST_ANSWERS_KEPT
from league_agents.arena.server.kept import (
    NO_CLOCKS,
    KeptMatch,
    MatchInPlay,
    OpenedMatch,
    SeatResult,
    written_blob,
)
from league_agents.kit.errors import ConfigError
from league_agents.kit.private_file import make_private_database, make_private_folder, tighten_database
from league_agents.kit.write_ahead import use_write_ahead_log

LOG = logging.getLogger(__name__)

APPLICATION_ID = 0x4C414152
"""SQLite's ``application_id`` of such a file, which distinguishes it from other databases."""

SHAPE = 2
"""SQLite's ``user_version``."""

MOST_FINISHED = 10_000
"""Finished matches that are kept by default; the oldest are removed first."""

_TABLES = """
    CREATE TABLE server (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE matches (
        number INTEGER PRIMARY KEY, match_id TEXT NOT NULL UNIQUE, opened BLOB NOT NULL, play BLOB NOT NULL,
        clocks BLOB, ended_at TEXT, packed BLOB, told BLOB, listed_as TEXT
    );
    CREATE INDEX matches_by_end ON matches (ended_at);
    CREATE INDEX matches_by_game ON matches (listed_as, ended_at);
    CREATE TABLE tokens (
        match_id TEXT NOT NULL, agent_id TEXT NOT NULL, name TEXT NOT NULL, digest BLOB NOT NULL,
        PRIMARY KEY (match_id, agent_id)
    ) WITHOUT ROWID;
    CREATE TABLE lines (
        match_id TEXT NOT NULL, number INTEGER NOT NULL, line BLOB NOT NULL, PRIMARY KEY (match_id, number)
    ) WITHOUT ROWID;
    CREATE TABLE answers (
        number INTEGER PRIMARY KEY, match_id TEXT NOT NULL, agent_id TEXT NOT NULL, request_id TEXT NOT NULL,
        answer BLOB NOT NULL, UNIQUE (match_id, agent_id, request_id)
    );
    CREATE TABLE results (
        match_id TEXT NOT NULL, agent_id TEXT NOT NULL, game TEXT NOT NULL, contender TEXT NOT NULL,
        is_winner INTEGER NOT NULL, PRIMARY KEY (match_id, agent_id)
    ) WITHOUT ROWID;
"""


class MatchKeep:
    """The kept matches of one server. Used by one thread at a time; ``close`` it."""

    def __init__(self, path: Path | None = None, *, most_finished: int = MOST_FINISHED) -> None:
        """``path=None`` keeps what the gallery shows in memory, and nothing for a restart. Raises ``ConfigError``."""
        self.path = path
        self._most_finished = most_finished
        self._numbers: dict[str, int] = {}
        """Match -> number of its last line."""

        self._is_open = False
        self._is_broken = False
        self.revision = 0
        """Incremented whenever a finished match is added or removed."""

        try:
            self._db = _opened(path)
        except (OSError, sqlite3.Error) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise ConfigError("--keep", f"{path} cannot be used: {why}; name another file, or none") from None

    @property
    def is_lasting(self) -> bool:
        """Whether a restart finds the matches again."""
        return self.path is not None

    def close(self) -> None:
        """Release the file. What was not committed is dropped."""
        self._db.close()

    # The server.

    def key(self, drawn: bytes) -> bytes:
        """The key that signs tokens; ``drawn`` if the file has none."""
        row = self._one("SELECT value FROM server WHERE name = 'key'")
        if row is None:
            self._write("INSERT INTO server VALUES ('key', ?)", drawn)
        return drawn if row is None else bytes(row[0])

    def alive_at(self) -> datetime | None:
        """When the file was last written; ``None`` for a new file."""
        row = self._one("SELECT value FROM server WHERE name = 'alive'")
        return None if row is None else datetime.fromisoformat(bytes(row[0]).decode())

    def commit(self, now: datetime, *, beat: bool = False) -> None:
        """Make everything written so far lasting. ``beat`` notes the time also if there is nothing else to write."""
        if self._is_open or (beat and self.is_lasting):
            self._write("INSERT OR REPLACE INTO server VALUES ('alive', ?)", now.isoformat().encode())
        if self._is_open:
            self._is_open = False
            try:
                self._db.execute("COMMIT")
            except sqlite3.Error as error:
                self._fail(error)

    # Matches.

    def open(self, match_id: str, opened: OpenedMatch, play: MatchInPlay) -> None:
        """Keep a new match."""
        if self.is_lasting:
            self._write(
                "INSERT INTO matches (match_id, opened, play) VALUES (?, ?, ?)",
                match_id,
                written_blob(opened),
                written_blob(play),
            )

    def play(self, match_id: str, play: MatchInPlay) -> None:
        """Keep how far a match is."""
        self._write("UPDATE matches SET play = ? WHERE match_id = ?", written_blob(play), match_id)

    def clocks(self, match_id: str, clocks: ClockState) -> None:
        """Keep the clocks of a running match."""
        self._write("UPDATE matches SET clocks = ? WHERE match_id = ?", written_blob(clocks), match_id)

    def add_line(self, match_id: str, line: str) -> None:
        """Keep the next line of a transcript."""
        if self.is_lasting:
            number = self._numbers[match_id] = self._numbers.get(match_id, 0) + 1
            self._write("INSERT INTO lines VALUES (?, ?, ?)", match_id, number, _bytes(line))

    def token(self, match_id: str, agent_id: str, name: str, digest: bytes) -> None:
        """Keep the digest of a seat's token in place of a former one."""
        if self.is_lasting:
            self._write("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?, ?)", match_id, agent_id, name, digest)

    def revoke(self, match_id: str, agent_id: str) -> None:
        """Remove the token of a seat."""
        self._write("DELETE FROM tokens WHERE match_id = ? AND agent_id = ?", match_id, agent_id)

    def answer(self, match_id: str, agent_id: str, request_id: str, answer: str) -> None:
        """Keep an answer, to be repeated for the same ``request_id``; of each agent the last ones are kept."""
        known = "SELECT 1 FROM answers WHERE match_id = ? AND agent_id = ? AND request_id = ?"
        if not self.is_lasting or self._one(known, match_id, agent_id, request_id) is not None:
            return
        self._write(
            "INSERT INTO answers (match_id, agent_id, request_id, answer) VALUES (?, ?, ?, ?)",
            *(match_id, agent_id, request_id, _bytes(answer)),
        )
        self._write(
            "DELETE FROM answers WHERE match_id = ?1 AND agent_id = ?2 AND number <= (SELECT number FROM answers WHERE"
            " match_id = ?1 AND agent_id = ?2 ORDER BY number DESC LIMIT 1 OFFSET ?3)",
            *(match_id, agent_id, MOST_ANSWERS_KEPT),
        )

    def finish(
        self, match_id: str, *, game: str, ended_at: datetime, told: Mapping[str, Any], results: Sequence[SeatResult],
        packed: bytes,
    ) -> None:  # fmt: skip
        """Keep the transcript of a match that is over in place of its lines, and what the gallery says of it.

        ``packed``: the transcript, compressed; in memory it is left to the caller.
        """
        if not self.is_lasting:
            self._write("INSERT OR IGNORE INTO matches (match_id, opened, play) VALUES (?, '', '')", match_id)
            packed = b""
        self._write(
            "UPDATE matches SET ended_at = ?, told = ?, packed = ?, listed_as = ?, clocks = NULL WHERE match_id = ?",
            *(_sortable(ended_at), _bytes(json.dumps(told, ensure_ascii=False)), packed),
            *(game if told["listed"] else None, match_id),
        )
        for each in results:
            row = (match_id, each.agent_id, game, each.contender, each.is_winner)
            self._write("INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)", *row)
        self._write("DELETE FROM lines WHERE match_id = ?", match_id)
        self._write("DELETE FROM answers WHERE match_id = ?", match_id)
        self._numbers.pop(match_id, None)
        old = self._read(
            "SELECT match_id FROM matches WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, number DESC"
            " LIMIT -1 OFFSET ?",
            self._most_finished,
        )
        for (oldest,) in old:
            self.remove(oldest)
        self.revision += 1

    def let_go(self, match_id: str) -> None:
        """The server forgets the match: its tokens end. One that was played stays in the gallery of a lasting file."""
        if self.is_lasting and self.transcript(match_id):
            self._write("DELETE FROM tokens WHERE match_id = ?", match_id)
        else:
            self.remove(match_id)

    def remove(self, match_id: str) -> None:
        """Remove everything about a match."""
        for name in ("matches", "tokens", "lines", "answers", "results"):
            self._write(f"DELETE FROM {name} WHERE match_id = ?", match_id)  # noqa: S608 - our own names
        self._numbers.pop(match_id, None)
        self.revision += 1

    def unfinished(self, since: datetime) -> Iterator[KeptMatch]:
        """The matches to go on with, oldest first, and those that ended after ``since``."""
        rows = self._read(
            "SELECT match_id, opened, play, clocks, packed FROM matches WHERE ended_at IS NULL OR ended_at > ?"
            " ORDER BY number",
            _sortable(since),
        )
        for match_id, opened, play, clocks, packed in rows:
            try:
                yield self._kept(match_id, opened, play, clocks, packed)
            except (msgspec.MsgspecError, ValueError, zlib.error) as error:
                LOG.error("%s: match %s cannot be read and is left out: %s", self.path, match_id, error)

    # The gallery.

    def transcript(self, match_id: str) -> list[str]:
        """The lines of a finished match's transcript; none if it is not kept."""
        row = self._one("SELECT packed FROM matches WHERE match_id = ? AND ended_at IS NOT NULL", match_id)
        return zlib.decompress(row[0]).decode().split("\n")[:-1] if row is not None and row[0] else []

    def told(self, match_id: str) -> dict[str, Any] | None:
        """What the gallery says of a finished match; ``None`` if it is not kept."""
        row = self._one("SELECT told FROM matches WHERE match_id = ? AND told IS NOT NULL", match_id)
        return None if row is None else dict(json.loads(row[0]))

    def gallery(self, game: str, before: str, most: int) -> tuple[list[dict[str, Any]], str]:
        """Listed matches, newest first, and where the next ones begin. ``before`` is ``""`` or such a place."""
        rows = self._read(
            f"SELECT ended_at, told FROM matches WHERE listed_as {'= ?' if game else 'IS NOT NULL'} AND ended_at < ?"  # noqa: S608
            " ORDER BY ended_at DESC, number DESC LIMIT ?",
            *((game,) if game else ()),
            *(before or "~", most),  # which sorts behind every instant
        )
        return [dict(json.loads(told)) for _, told in rows], rows[-1][0] if rows else before

    def results(self) -> list[tuple[str, str, str, int, int]]:
        """(game, match, contender, seats that won, seats) of every finished match."""
        return self._read(
            "SELECT game, match_id, contender, sum(is_winner), count(*) FROM results"
            " GROUP BY game, match_id, contender ORDER BY game, match_id, contender"
        )

    # Inside.

    def _kept(self, match_id: str, opened: bytes, play: bytes, clocks: bytes | None, packed: bytes | None) -> KeptMatch:
        lines = self.transcript(match_id)
        if packed is None:
            rows = self._read("SELECT line FROM lines WHERE match_id = ? ORDER BY number", match_id)
            lines = [bytes(line).decode().removesuffix("\n") for (line,) in rows]
            self._numbers[match_id] = len(lines)
        answers = self._read(
            "SELECT agent_id, request_id, answer FROM answers WHERE match_id = ? ORDER BY number", match_id
        )
        return KeptMatch(
            match_id=match_id,
            opened=msgspec.json.decode(opened, type=OpenedMatch),
            play=msgspec.json.decode(play, type=MatchInPlay),
            clocks=NO_CLOCKS if clocks is None else msgspec.json.decode(clocks, type=ClockState),
            is_finished=packed is not None,
            lines=lines,
            tokens=self._read("SELECT agent_id, name, digest FROM tokens WHERE match_id = ?", match_id),
            answers=[(agent_id, request_id, bytes(answer).decode()) for agent_id, request_id, answer in answers],
        )

    def _one(self, query: str, *values: object) -> Any:
        return next(iter(self._read(query, *values)), None)

    def _read(self, query: str, *values: object) -> list[Any]:
        return self._db.execute(query, values).fetchall()

    def _write(self, statement: str, *values: object) -> None:
        if self._is_broken:
            return
        try:
            if not self._is_open:
                self._db.execute("BEGIN IMMEDIATE")
                self._is_open = True
            self._db.execute(statement, values)
        except sqlite3.Error as error:
            self._fail(error)

    def _fail(self, error: sqlite3.Error) -> None:
        self._is_broken, self._is_open = True, False
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")
        LOG.error("%s cannot be written: %s; nothing more is kept, and a restart goes back to here", self.path, error)


class KeptTranscript(io.StringIO):
    """The transcript of a running match, whose lines are kept as they are written."""

    def __init__(self, keep: MatchKeep, match_id: str, written: str = "") -> None:
        """``written``: the lines that are kept already."""
        super().__init__()
        super().write(written)
        self._keep = keep
        self._match_id = match_id

    def write(self, line: str) -> int:
        self._keep.add_line(self._match_id, line)
        return super().write(line)


def _opened(path: Path | None) -> sqlite3.Connection:
    if path is not None:
        make_private_folder(path.parent)
        make_private_database(path)
    db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=10, check_same_thread=False)
    try:
        if path is not None:
            use_write_ahead_log(db)
            tighten_database(path)
        db.execute("PRAGMA synchronous = NORMAL")
        (found,), (shape,) = (db.execute(f"PRAGMA {name}").fetchone() for name in ("application_id", "user_version"))
        if (found, shape) != (APPLICATION_ID, SHAPE):
            if found == APPLICATION_ID:
                raise sqlite3.DatabaseError("it was written by another version of league-agents")
            if db.execute("SELECT count(*) FROM sqlite_master").fetchone() != (0,):
                raise sqlite3.DatabaseError("it is another program's database")
            head = f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SHAPE};"
            db.executescript(f"BEGIN IMMEDIATE; {_TABLES} {head} COMMIT;")
    except BaseException:
        db.close()
        raise
    return db


def _sortable(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _bytes(text: str) -> bytes:
    # Half a surrogate pair, which an agent of the server may write, becomes its escape in JSON.
    return text.encode("utf-8", "backslashreplace")
