"""The journals of a season whose processes die: in memory, in SQLite files, or in one PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import Dump, Journal
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.ids import derive_hex


class CrashJournals(Protocol):
    """Where the journals of one season are kept."""

    def open(self, role: str, address: str, dump: Dump) -> Journal:
        """The journal as the next process opens it. The one before has died without closing it."""
        ...

    def close(self) -> None:
        """Release what the dead left behind."""
        ...


class InMemory:
    """They outlive their process as objects."""

    def __init__(self) -> None:
        self._journals: dict[str, MemoryJournal] = {}

    def open(self, role: str, address: str, dump: Dump) -> Journal:
        return self._journals.setdefault(address, MemoryJournal(dump=dump))

    def close(self) -> None:
        pass


class InFiles:
    """Each in a SQLite file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._opened: dict[str, SqliteJournal] = {}

    def open(self, role: str, address: str, dump: Dump) -> Journal:
        if (dead := self._opened.pop(address, None)) is not None:
            dead.close()
        path = self._folder / f"{derive_hex('journal', address)}.db"
        journal = SqliteJournal(path, role=role, address=address, dump=dump, synchronous="NORMAL")
        return self._opened.setdefault(address, journal)

    def close(self) -> None:
        for journal in self._opened.values():
            journal.close()


class InDatabase:
    """In one PostgreSQL database, with leases that end when their process dies. The dead keep what they had open."""

    def __init__(self, url: str) -> None:
        import psycopg

        self._url = url
        self._time = psycopg.connect(url, autocommit=True)

    def open(self, role: str, address: str, dump: Dump) -> Journal:
        from league_agents.journal.postgres import PostgresJournal

        if self._time.execute("SELECT to_regclass('league_agents.lease')").fetchone() != (None,):
            self._time.execute(
                "UPDATE league_agents.lease SET until = now() - interval '1 second'"
                " WHERE journal = (SELECT journal FROM league_agents.owner WHERE role = %s AND address = %s)",
                (role, address.lower()),
            )
        return PostgresJournal(self._url, role=role, address=address, dump=dump, is_to_work=True)

    def close(self) -> None:
        from league_agents.journal import postgres

        self._time.close()
        postgres._SHARED.pop(self._url).close()


MakeJournals = Callable[[], CrashJournals]
"""Makes the journals of a new season."""


@contextmanager
def without_renewal() -> Iterator[None]:
    """Let no process renew a lease, not even the dead, whose threads live on."""
    from league_agents.journal import postgres_lease

    usual: Any = postgres_lease.RENEW_SHARE
    postgres_lease.RENEW_SHARE = 3_600.0
    try:
        yield
    finally:
        postgres_lease.RENEW_SHARE = usual


@contextmanager
def journals_in(engine: str, folder: Path) -> Iterator[MakeJournals]:
    """Where the journals of many seasons are kept: ``memory``, ``sqlite`` or ``postgres``, which starts a server."""
    if engine == "memory":
        yield InMemory
        return
    if engine == "sqlite":
        yield lambda: InFiles(folder / f"season-{sum(1 for _ in folder.iterdir())}")
        return
    from tests.support.postgres import NEWEST, postgres_server

    with postgres_server(NEWEST) as server, without_renewal():
        names = iter(range(1_000_000))
        yield lambda: InDatabase(server.new_database(f"season-{next(names)}"))
