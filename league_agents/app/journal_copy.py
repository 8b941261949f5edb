"""Move the journals of roles from one place to another, also in mid-season.

Rule 1: a copy is written whole or not at all, and every row is compared before it counts.
Rule 2: at no instant can both journals be worked on. The old one is marked as moved first; the mark goes if the copy
has certainly failed. If that is unknown, or the process is killed in between, the same command goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from league_agents.app.journals import fingerprint_of, moved_to
from league_agents.app.role_files import lock_journal
from league_agents.app.storage import STORAGE, owners_in, role_journals
from league_agents.config.storage_url import DatabaseUrl, JournalPlace
from league_agents.journal.port import MOVED, StoredJournal
from league_agents.kit.clock import Clock
from league_agents.kit.errors import JournalError, JournalUnusable


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

    A target that is a folder gets a file for each, with the name of its source if that is a file. Raises
    ``JournalError`` and ``ConfigError``.
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
    wanted_moves = [
        JournalMove(role=role, address=address, source=source, target=_place_in(target, source, role, address))
        for source, role, address in found
    ]
    taken: dict[object, JournalMove] = {}
    for move in wanted_moves:
        place = move.target if isinstance(move.target, Path) else (move.target, move.role, move.address)
        other = taken.setdefault(place, move)
        if other is not move:
            raise JournalUnusable(f"{move.target}: is to take {other.source} and {move.source}; move one elsewhere")
    return wanted_moves


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
        is_marked = False
        try:
            with opened(move.target) as target:
                if _is_in_use(target):
                    if earlier is not None and fingerprint_of(source) == fingerprint_of(target):
                        return MovedJournal(move=move, rows=0)
                    raise JournalUnusable(
                        f"{move.target}: has a journal of {move.role} {move.address} already; name another place"
                    )
                if earlier is None:
                    is_marked = True
                    source.keep(MOVED, {"to": str(move.target), "at": clock.now().isoformat()})
                rows = target.replace_by(source, told)
                return MovedJournal(move=move, rows=rows)
        except BaseException as error:
            if is_new and isinstance(move.target, Path):
                for ending in ("", "-wal", "-shm"):
                    move.target.with_name(f"{move.target.name}{ending}").unlink(missing_ok=True)
            if is_marked and (is_new or not _may_be_in_use(partial(opened, move.target))):
                source.forget(MOVED)
            elif is_marked and isinstance(error, JournalError):
                raise JournalError(f"{error}; the same command goes on when that has passed") from error
            raise


def _is_in_use(journal: StoredJournal) -> bool:
    """Whether it is neither empty nor moved."""
    return not journal.is_empty() and moved_to(journal) is None


def _may_be_in_use(open_it: Callable[[], AbstractContextManager[StoredJournal]]) -> bool:
    """Whether a copy was written after all: an error while a transaction ends does not say so."""
    try:
        with open_it() as target:
            return _is_in_use(target)
    except JournalError:
        return True


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


def _place_in(target: JournalPlace, source: JournalPlace, role: str, address: str) -> JournalPlace:
    if isinstance(target, Path) and target.is_dir():
        return target / (source.name if isinstance(source, Path) else f"{role}-{address.replace('/', '_')}.db")
    return target
