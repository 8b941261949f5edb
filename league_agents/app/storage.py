"""Durable storage: journals, ledgers of model calls, spending, the sends of a day.

Rule: storages are opened here only; all other modules use their ports. The journal of a role lies where its league file
says, in a file or in a database (``RoleJournals``), and so do its model calls; everything else lies in files
(``STORAGE``).
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from league_agents.config.storage_url import DatabaseUrl, JournalPlace
from league_agents.journal.port import Dump, StoredJournal
from league_agents.journal.sqlite import SqliteJournal, Synchronous
from league_agents.kit.clock import Clock
from league_agents.kit.errors import ConfigError
from league_agents.llm.calls import CallLedger
from league_agents.llm.limits import Planned, Spending, SpendingLimits
from league_agents.mail.send_counts import StoredSendCounts
from league_agents.runner.lock import is_locked

if TYPE_CHECKING:
    from league_agents.llm.ledger import CallPlace


class RoleJournals(Protocol):
    """Where the journal of one role on one address is kept. All methods fail with ``JournalError``."""

    def open(self, dump: Dump, *, is_to_work: bool) -> StoredJournal:
        """Open the journal, created if it is missing. ``is_to_work``: this process will work on it, and raises
        ``JournalHeld`` while another one does."""
        ...

    def look(self) -> StoredJournal:
        """Open it read-only, possibly while a process works on it."""
        ...

    def is_begun(self) -> bool:
        """Whether it exists and is not empty."""
        ...

    def is_worked_on(self) -> bool:
        """Whether a process works on it."""
        ...

    def calls(self) -> CallLedger:
        """The calls of models that its role made. The journal is created elsewhere."""
        ...

    def spending(self, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock) -> Spending | None:
        """What was spent by all who share the place; ``None`` if that is counted in the ledger of the machine."""
        ...


class SqliteStorage:
    """Everything durable, in SQLite files. Opening fails with ``JournalError`` that names the file."""

    def journal(
        self, path: Path, *, role: str, address: str, dump: Dump, outlives_power_cut: bool = True
    ) -> StoredJournal:
        """The journal of a role on an address, created if it is missing. Without ``outlives_power_cut`` a commit
        survives the death of the process only, and takes a tenth of the time."""
        synchronous: Synchronous = "FULL" if outlives_power_cut else "NORMAL"
        return SqliteJournal(path, role=role, address=address, dump=dump, synchronous=synchronous)

    def look_at_journal(self, path: Path) -> StoredJournal:
        """Open a journal read-only, possibly while a role works on it."""
        return SqliteJournal.to_look_at(path)

    def vacuum(self, path: Path) -> None:
        """Write a journal anew without unused room. Nobody may work on it."""
        from league_agents.journal.sqlite import vacuum

        vacuum(path)

    def calls(self, path: Path, *, in_journal: bool = False) -> CallLedger:
        """The model calls of a ledger, or of a role's journal; the file is created elsewhere."""
        from league_agents.llm.ledger import Ledger

        return Ledger(path, in_journal=in_journal)

    def spending(self, path: Path, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock) -> Spending:
        """The spending in a ledger."""
        from league_agents.llm.budget import Budget

        return Budget(path, limits, plan, clock=clock)

    def sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts:
        """The sends of a mailbox. If the file cannot be opened, this is logged and only this process is counted."""
        from league_agents.mail.send_book import SendBook

        return SendBook(path, endpoint=endpoint, address=address)

    def look_at_sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts | None:
        """The same, read only; ``None`` if there is no readable file."""
        from league_agents.mail.send_book import SendBook

        return SendBook.to_look_at(path, endpoint=endpoint, address=address)


STORAGE = SqliteStorage()
"""The storage of everything in files."""


def role_journals(place: JournalPlace, *, role: str, address: str) -> RoleJournals:
    """The journal of a role at a place. Raises ``ConfigError`` if what the place needs is not installed."""
    if isinstance(place, DatabaseUrl):
        return _InDatabase(place, role, address)
    return _InFile(place, role, address)


def bytes_of(place: JournalPlace) -> int | None:
    """The bytes of a journal's file and its write-ahead log; ``None`` for one in a database."""
    if not isinstance(place, Path):
        return None
    found = 0
    for path in (place, place.with_name(f"{place.name}-wal")):
        with suppress(OSError):
            found += path.stat().st_size
    return found


def owners_in(place: DatabaseUrl) -> list[tuple[str, str]]:
    """The role and the address of each journal in a database. Raises ``ConfigError`` and ``JournalError``."""
    _check_installed(place)
    from league_agents.journal.postgres import owners

    return owners(place.url)


def _check_installed(place: DatabaseUrl) -> None:
    for name in ("psycopg", "psycopg_pool"):
        if find_spec(name) is None:
            remedy = "pip install 'league-agents[postgres]'"
            raise ConfigError(str(place), f"needs {name}, which is not installed; {remedy}")


class _InFile:
    """``RoleJournals`` in a SQLite file. Its lock is held by whoever runs the role (``app.role_files``)."""

    def __init__(self, path: Path, role: str, address: str) -> None:
        self._path = path
        self._role = role
        self._address = address

    def open(self, dump: Dump, *, is_to_work: bool) -> StoredJournal:
        return STORAGE.journal(self._path, role=self._role, address=self._address, dump=dump)

    def look(self) -> StoredJournal:
        return STORAGE.look_at_journal(self._path)

    def is_begun(self) -> bool:
        try:
            return self._path.stat().st_size > 0  # a process that dies early leaves an empty one
        except OSError:
            return False

    def is_worked_on(self) -> bool:
        return is_locked(self._path)

    def calls(self) -> CallLedger:
        return STORAGE.calls(self._path, in_journal=True)

    def spending(self, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock) -> Spending | None:
        return None


class _InDatabase:
    """``RoleJournals`` in PostgreSQL."""

    def __init__(self, place: DatabaseUrl, role: str, address: str) -> None:
        _check_installed(place)
        self._url = place.url
        self._role = role
        self._address = address

    def open(self, dump: Dump, *, is_to_work: bool) -> StoredJournal:
        from league_agents.journal.postgres import PostgresJournal

        return PostgresJournal(self._url, role=self._role, address=self._address, dump=dump, is_to_work=is_to_work)

    def look(self) -> StoredJournal:
        from league_agents.journal.postgres import PostgresJournal

        return PostgresJournal.to_look_at(self._url, role=self._role, address=self._address)

    def is_begun(self) -> bool:
        from league_agents.journal.postgres import is_begun

        return is_begun(self._url, role=self._role, address=self._address)

    def is_worked_on(self) -> bool:
        from league_agents.journal.postgres import is_worked_on

        return is_worked_on(self._url, role=self._role, address=self._address)

    def calls(self) -> CallLedger:
        from league_agents.llm.ledger import SqlLedger

        return SqlLedger(self._calls())

    def spending(self, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock) -> Spending | None:
        from league_agents.llm.budget import Budget

        return Budget(self._calls(), limits, plan, clock=clock)

    def _calls(self) -> CallPlace:
        from league_agents.journal.postgres import PostgresCalls

        return PostgresCalls(self._url, role=self._role, address=self._address)
