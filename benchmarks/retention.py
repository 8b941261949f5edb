"""``python -m benchmarks.retention``: the size of a referee's journal after 10,000 matches, and how fast it opens.

The rows are those of one match that offline agents play, with other ids; each match is archived.
"""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from league_agents.app.offline import play_single_game
from league_agents.games.q21.rules import PRD
from league_agents.journal.copying import COPIED
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import monotonic_s
from league_agents.kit.ids import game_id
from league_agents.knowledge.corpus import default_index_path

GAME = "0101001"
OF_A_MATCH = {"inbox": "game_id", "outbox": "game_id", "calls": "game_id", "notes": "key"}
"""The tables with rows of a match, and their column with its id."""

FAR = datetime(2100, 1, 1, tzinfo=UTC)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--matches", type=click.IntRange(100, 90_000), default=10_000, show_default=True)
def main(*, matches: int) -> None:
    """Fill a referee's journal with archived matches; print its size and how long it takes to open."""
    with tempfile.TemporaryDirectory(prefix="retention-") as folder:
        play_single_game(
            seed=7, rules=PRD, referee="offline", player_a="offline", player_b="offline",
            journal=Path(folder) / "match.db", index_path=default_index_path, watch=None, in_process=True,
        )  # fmt: skip
        (path,) = Path(folder).glob("match.referee*.db")
        rows = _rows_of_the_match(path)
        before = sum(len(str(value)) for table in rows.values() for row in table for value in row)
        for first in range(0, matches, 100):
            with closing(sqlite3.connect(path)) as db, db:
                for number in range(first, min(first + 100, matches)):
                    _write(db, rows, game_id(2 + number // 90_000, 1 + number % 90, 1 + number // 90))
            with closing(_opened(path)) as journal:
                journal.archive(FAR)
        opened_s = sorted(_time_to_open(path) for _ in range(9))[4]
        size = path.stat().st_size
        click.echo(f"{before / 1000:.1f} KB of rows a match; {matches} matches archived: {size / 1e6:.1f} MB")
        click.echo(
            f"{size / matches / 1000:.2f} KB a match; opened and checked in {1000 * opened_s:.0f} ms (median of 9)"
        )
        with closing(SqliteJournal.to_look_at(path)) as journal:
            began_s = monotonic_s()
            count = sum(1 for _ in journal.outbox(game="025"))
            click.echo(f"{count} messages of a tenth of the rounds read in {monotonic_s() - began_s:.2f} s")


def _rows_of_the_match(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        return {
            table: db.execute(f"SELECT {COPIED[table][1]} FROM {table} WHERE {column} = ?", (GAME,)).fetchall()
            for table, column in OF_A_MATCH.items()
        }


def _write(db: sqlite3.Connection, rows: dict[str, list[tuple[Any, ...]]], game: str) -> None:
    for table, found in rows.items():
        columns = COPIED[table][1].split(", ")
        keys = {"mail_id", "transaction_id", "call_id"}
        values = (
            tuple(_of(game, value, name in keys) for name, value in zip(columns, row, strict=True)) for row in found
        )
        places = ", ".join("?" * len(columns))
        db.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})", values)


def _of(game: str, value: object, is_key: bool) -> object:
    if not isinstance(value, str):
        return value
    return f"{value.replace(GAME, game)}-{game}" if is_key else value.replace(GAME, game)


def _opened(path: Path) -> SqliteJournal:
    with closing(SqliteJournal.to_look_at(path)) as seen:
        role, address = seen.owner
    return SqliteJournal(path, role=role, address=address, dump=lambda _name, _part: "", synchronous="NORMAL")


def _time_to_open(path: Path) -> float:
    began_s = monotonic_s()
    with closing(_opened(path)) as journal:
        journal.check_content()
    return monotonic_s() - began_s


if __name__ == "__main__":
    main()
