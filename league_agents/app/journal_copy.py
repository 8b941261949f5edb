"""Move the journals of roles from one place to another, also in mid-season.

Rule 1: a copy is written whole or not at all, and every row is compared before it counts.
Rule 2: at no instant can both journals be worked on. The old one is marked as moved first; the mark goes if the copy
fails. If the process is killed in between, the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from league_agents.app.journals import moved_to
from league_agents.app.role_files import lock_journal
from league_agents.app.storage import STORAGE, owners_in, role_journals
from league_agents.config.storage_url import DatabaseUrl, JournalPlace
from league_agents.journal.port import MOVED, StoredJournal
from league_agents.kit.clock import Clock
from league_agents.kit.errors import JournalUnusable


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalMove:
    """One journal to be moved."""

    role: str
    address: str
    source: JournalPlace
    target: JournalPlace


@dataclass(frozen=True, slots=True, kw_only=True)
class MovedJournal:
    """One journal that was moved."""

    move: JournalMove
    rows: int
    """``0`` if an earlier run had moved it already."""


def moves(sources: Sequence[JournalPlace], target: JournalPlace, addresses: Sequence[str] = ()) -> list[JournalMove]:
    """What is to be moved: the journal of each file, and those of a database, or only those of some ``addresses``.

    A target that is a folder gets a file for each. Raises ``JournalError`` and ``ConfigError``.
    """
    wanted = {address.lower() for address in addresses}
    found = [
        (source, role, address)
        for source in sources
        for role, address in owners_of(source)
        if not wanted or address.lower() in wanted
    ]
    missing = wanted - {address.lower() for *_, address in found}
    if missing:
        raise JournalUnusable(f"there is no journal of {', '.join(sorted(missing))}")
    if isinstance(target, Path) and not target.is_dir() and len(found) > 1:
        raise JournalUnusable(
            f"{target}: is to take {len(found)} journals, but is no folder; make it, or use --address"
        )
    return [
        JournalMove(role=role, address=address, source=source, target=_file_in(target, role, address))
        for source, role, address in found
    ]


def move_journal(move: JournalMove, *, clock: Clock, told: Callable[[int], None] = lambda _rows: None) -> MovedJournal:
    """Move one journal. ``told`` is called with the number of rows so far.

    Raises ``JournalError`` while a process works on either, and if the target has a journal of this role already.
    """
    if str(move.source) == str(move.target):
        raise JournalUnusable(f"{move.source}: is to be moved to itself")
    opened = partial(worked_on, role=move.role, address=move.address)
    with opened(move.source) as source:
        earlier = moved_to(source)
        if earlier not in (None, str(move.target)):
            raise JournalUnusable(f"{move.source}: was moved to {earlier} already; copy that one")
        is_new = isinstance(move.target, Path) and not move.target.exists()
        try:
            with opened(move.target) as target:
                if not target.is_empty() and moved_to(target) is None:
                    if earlier is not None:
                        return MovedJournal(move=move, rows=0)
                    raise JournalUnusable(
                        f"{move.target}: has a journal of {move.role} {move.address} already; name another place"
                    )
                if earlier is None:
                    source.keep(MOVED, {"to": str(move.target), "at": clock.now().isoformat()})
                rows = target.replace_by(source, told)
                return MovedJournal(move=move, rows=rows)
        except BaseException:
            if earlier is None:
                source.forget(MOVED)
            if is_new and isinstance(move.target, Path):
                for ending in ("", "-wal", "-shm"):
                    move.target.with_name(f"{move.target.name}{ending}").unlink(missing_ok=True)
            raise


@contextmanager
def worked_on(place: JournalPlace, *, role: str, address: str) -> Iterator[StoredJournal]:
    """Open a journal while no other process may work on it. Raises ``JournalError``."""
    lock = lock_journal(place) if isinstance(place, Path) else None
    try:
        journals = role_journals(place, role=role, address=address)
        with closing(journals.open(lambda _name, _part: "", is_to_work=True)) as journal:
            yield journal
    finally:
        if lock is not None:
            lock.release()


def owners_of(place: JournalPlace) -> list[tuple[str, str]]:
    """The role and the address of each journal at a place. Raises ``JournalError`` and ``ConfigError``."""
    if isinstance(place, DatabaseUrl):
        return owners_in(place)
    if not place.is_file():
        raise JournalUnusable(f"{place}: there is no such journal")
    with closing(STORAGE.look_at_journal(place)) as journal:
        return [journal.owner]


def _file_in(target: JournalPlace, role: str, address: str) -> JournalPlace:
    if isinstance(target, Path) and target.is_dir():
        return target / f"{role}-{address.replace('/', '_')}.db"
    return target
