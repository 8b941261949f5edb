"""Durable storage: journals, ledgers of model calls, spending, the sends of a day.

Rule: storages are opened here only; all other modules use their ports. Another storage is one more ``Storage`` and its
scheme in ``config.storage_url``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from league_agents.config.storage_url import DEFAULT_SCHEME, SCHEMES
from league_agents.journal.port import Dump, StoredJournal
from league_agents.journal.sqlite import SqliteJournal, Synchronous
from league_agents.kit.clock import Clock
from league_agents.llm.calls import CallLedger
from league_agents.llm.limits import Planned, Spending, SpendingLimits
from league_agents.mail.send_counts import StoredSendCounts


class Storage(Protocol):
    """A kind of storage. Opening fails with ``JournalError`` that names the file."""

    def journal(
        self, path: Path, *, role: str, address: str, dump: Dump, outlives_power_cut: bool = True
    ) -> StoredJournal:
        """The journal of a role on an address, created if it is missing. Without ``outlives_power_cut`` a commit
        survives the death of the process only, and takes a tenth of the time."""
        ...

    def look_at_journal(self, path: Path) -> StoredJournal:
        """Open a journal read-only, possibly while a role works on it."""
        ...

    def calls(self, path: Path, *, in_journal: bool = False) -> CallLedger:
        """The model calls of a ledger, or of a role's journal; the file is created elsewhere."""
        ...

    def spending(self, path: Path, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock) -> Spending:
        """The spending in a ledger."""
        ...

    def sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts:
        """The sends of a mailbox. If the file cannot be opened, this is logged and only this process is counted."""
        ...

    def look_at_sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts | None:
        """The same, read only; ``None`` if there is no readable file."""
        ...


class SqliteStorage:
    """``Storage`` in SQLite files."""

    def journal(
        self, path: Path, *, role: str, address: str, dump: Dump, outlives_power_cut: bool = True
    ) -> StoredJournal:
        synchronous: Synchronous = "FULL" if outlives_power_cut else "NORMAL"
        return SqliteJournal(path, role=role, address=address, dump=dump, synchronous=synchronous)

    def look_at_journal(self, path: Path) -> StoredJournal:
        return SqliteJournal.to_look_at(path)

    def calls(self, path: Path, *, in_journal: bool = False) -> CallLedger:
        from league_agents.llm.ledger import Ledger

        return Ledger(path, in_journal=in_journal)

    def spending(self, path: Path, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock) -> Spending:
        from league_agents.llm.budget import Budget

        return Budget(path, limits, plan, clock=clock)

    def sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts:
        from league_agents.mail.send_book import SendBook

        return SendBook(path, endpoint=endpoint, address=address)

    def look_at_sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts | None:
        from league_agents.mail.send_book import SendBook

        return SendBook.to_look_at(path, endpoint=endpoint, address=address)


STORAGES: Mapping[str, Storage] = dict(zip(SCHEMES, (SqliteStorage(),), strict=True))
"""Scheme of the URL -> storage."""

STORAGE = STORAGES[DEFAULT_SCHEME]
"""The storage of files named without a scheme, and of the files in the data folder."""
