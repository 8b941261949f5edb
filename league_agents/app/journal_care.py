"""Look after the journals of roles: check them, count what is in them, archive, prune, and give room back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from league_agents.app.journal_copy import owners_of, worked_on
from league_agents.app.journals import moved_to
from league_agents.app.storage import STORAGE, bytes_of, role_journals
from league_agents.config.league_settings import RoleSettings
from league_agents.config.storage_url import JournalPlace
from league_agents.journal.port import StoredJournal
from league_agents.kit.clock import Clock
from league_agents.kit.errors import JournalUnusable

ARCHIVED_AT_ONCE = 100
"""Matches in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptJournal:
    """A journal that exists."""

    role: str
    address: str
    place: JournalPlace

    @property
    def name(self) -> str:
        """What a person calls it; without a password."""
        return f"{self.role} {self.address} ({self.place})"

    @contextmanager
    def looked_at(self) -> Iterator[StoredJournal]:
        """Open it read-only, also while a process works on it. Raises ``JournalError``."""
        with closing(role_journals(self.place, role=self.role, address=self.address).look()) as journal:
            yield journal

    def worked_on(self) -> AbstractContextManager[StoredJournal]:
        """Open it while no other process may work on it. Raises ``JournalError``."""
        return worked_on(self.place, role=self.role, address=self.address)


def kept_journals(places: Sequence[JournalPlace], roles: Sequence[RoleSettings]) -> list[KeptJournal]:
    """The journals in ``places``, or without places those of a league file that exist. Raises ``JournalError`` if there
    is none."""
    if places:
        return [
            KeptJournal(role=role, address=address, place=place)
            for place in places
            for role, address in owners_of(place)
        ]
    found = [
        KeptJournal(role=each.role, address=each.address, place=each.journal)
        for each in roles
        if role_journals(each.journal, role=each.role, address=each.address).is_begun()
    ]
    if not found:
        raise JournalUnusable("there is no journal yet; name one, or start a role")
    return found


def check_journal(kept: KeptJournal) -> str | None:
    """Read every page, row and archived match. Return where the journal was moved to; ``None`` if it was not.

    Raises ``JournalUnusable`` if something is damaged.
    """
    with kept.looked_at() as journal:
        journal.check_content()
        journal.check_archive()
        return moved_to(journal)


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalStats:
    """How much is in a journal."""

    counts: Mapping[str, int]
    """The number of rows of each table, of archived matches, and of bytes if the journal is a file."""

    moved_to: str | None
    """Where the journal was moved to; ``None`` if it was not."""


def journal_stats(kept: KeptJournal) -> JournalStats:
    """Count what is in a journal. Raises ``JournalError``."""
    with kept.looked_at() as journal:
        counts, moved = dict(journal.row_counts()), moved_to(journal)
    size = bytes_of(kept.place)
    return JournalStats(counts=counts if size is None else {**counts, "bytes": size}, moved_to=moved)


def archive_old(kept: KeptJournal, age: timedelta, *, clock: Clock, told: Callable[[int], None]) -> int:
    """Archive all matches whose last mail is older than ``age``, and return their number. ``told`` is called with the
    number so far."""
    before, done = clock.now() - age, 0
    with kept.worked_on() as journal:
        while archived := journal.archive(before, limit=ARCHIVED_AT_ONCE):
            done += archived
            told(done)
    return done


def prune_journal(kept: KeptJournal, keep: int) -> tuple[str, ...]:
    """Delete the matches of all seasons but the last ``keep``. Return the numbers of the deleted ones."""
    with kept.worked_on() as journal:
        return journal.prune(keep)


def vacuum_journal(kept: KeptJournal) -> tuple[int, int] | None:
    """Give unused room of a file back. Return its bytes before and after; ``None`` for a database, which does it by
    itself."""
    before = bytes_of(kept.place)
    if before is None or not isinstance(kept.place, Path):
        return None
    with kept.worked_on():
        STORAGE.vacuum(kept.place)
    return before, bytes_of(kept.place) or 0
