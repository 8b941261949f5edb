"""Compares journals in PostgreSQL with those in SQLite: ``.venv/bin/python -m benchmarks.postgres``.

Both are at full durability (SQLite ``synchronous=FULL``, PostgreSQL ``fsync=on``), on the disk of the temporary folder,
with scripted matches in one process, in turns: each line is one turn, and its ratio does not depend on the machine's
hour.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.instructions import scripted_season
from league_agents.app.offline import JournalMaker
from league_agents.app.storage import STORAGE, role_journals
from league_agents.config.storage_url import DatabaseUrl
from league_agents.journal.port import Journal
from league_agents.kit.clock import monotonic_s
from tests.support.postgres import VERSIONS, binaries, postgres_server

Dump = Callable[[str, object], str]


def matches_per_second(journals: JournalMaker, matches: int) -> float:
    """Play a season of one referee and two players."""
    began_s = monotonic_s()
    league = scripted_season(matches, journals, through_mime=False, seed=0)
    league.play()
    league.close()
    return matches / (monotonic_s() - began_s)


def in_sqlite(folder: Path) -> JournalMaker:
    def make(*, role: str, address: str, dump: Dump) -> Journal:
        path = folder / f"{address.partition('@')[0]}.db"
        return STORAGE.journal(path, role=role, address=address, dump=dump)

    return make


def in_postgres(url: str) -> JournalMaker:
    def make(*, role: str, address: str, dump: Dump) -> Journal:
        return role_journals(DatabaseUrl(url), role=role, address=address).open(dump, is_to_work=True)

    return make


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=40, help="matches of a turn")
    parser.add_argument("--turns", type=int, default=3)
    chosen = parser.parse_args(arguments)
    for version in VERSIONS:
        if binaries(version) is None:
            print(f"PostgreSQL ({version}): not measured, its programs are not on this machine", file=sys.stderr)
            continue
        with postgres_server(version, is_durable=True) as server:
            for turn in range(chosen.turns):
                with tempfile.TemporaryDirectory() as folder:
                    files = matches_per_second(in_sqlite(Path(folder)), chosen.matches)
                database = matches_per_second(in_postgres(server.new_database(f"turn{turn}")), chosen.matches)
                print(
                    f"PostgreSQL ({version}): {database:.1f} matches a second, SQLite {files:.1f},"
                    f" ratio {database / files:.2f}",
                    flush=True,
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
