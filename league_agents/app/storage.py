"""Where durable things are kept: journals, ledgers of model calls, what is spent, the sends of a day.

Rule: they are opened here and nowhere else; everybody else knows their ports. Another storage is one more ``Storage``
and its word in ``config.storage_url``.
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
    """One way to keep things. Whatever cannot be opened is a ``JournalError`` that names it."""

    def journal(
        self, path: Path, *, role: str, address: str, dump: Dump, outlives_power_cut: bool = True
    ) -> StoredJournal:
        """The journal of a role on an address, made where there is none. Without ``outlives_power_cut`` a commit
        outlives the process only, and takes a tenth of the time."""
        ...

    def look_at_journal(self, path: Path) -> StoredJournal:
        """A journal on which a role may be working at this moment: everything can be read and nothing written."""
        ...

    def calls(self, path: Path, *, in_journal: bool = False) -> CallLedger:
        """The model calls of a ledger, or of a role's journal, which somebody else makes."""
        ...

    def spending(self, path: Path, limits: SpendingLimits, plan: Mapping[str, Planned], *, clock: Clock) -> Spending:
        """What is spent, in a ledger."""
        ...

    def sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts:
        """The sends of a mailbox. What cannot be opened is told in the log, and counted by this process alone."""
        ...

    def look_at_sends(self, path: Path, *, endpoint: str, address: str) -> StoredSendCounts | None:
        """The same, not to be written; ``None`` if there are none that can be read."""
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
"""By the scheme of their URLs."""

STORAGE = STORAGES[DEFAULT_SCHEME]
"""The storage of files that a person names without a scheme, and of the files in the data folder."""
