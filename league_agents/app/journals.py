"""The journal of a role: opened for its own mailbox only, and never started afresh unless a person requests it.

Rule 1: a mailbox that has been played from a journal has a marker beside its token, with the journal's name and its
fingerprint. A journal that is missing, empty or different is refused, with a one-line remedy.
Rule 2: to start afresh, name another file in the league file, or remove the marker.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from league_agents.app.storage import RoleJournals, role_journals
from league_agents.config.league_settings import RoleSettings
from league_agents.config.storage_url import DatabaseUrl, JournalPlace
from league_agents.journal.port import MOVED, Dump, Journal, StoredJournal
from league_agents.kit.errors import ConfigError, JournalError, JournalHeld, JournalUnusable
from league_agents.kit.private_file import replace_private
from league_agents.league.machines.machine import Machine

SEED = "seed"
"""The key of a role's private seed in its journal. No two journals have the same seed."""

_LARGEST_MARKER = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """The journal from which a mailbox has been played; a file beside its token."""

    journal: str
    """The name, relative to the token's folder, so that both can be moved together."""

    fingerprint: str
    """The fingerprint of the journal's seed."""

    since: str
    """The day of its first use."""


class DatabasesAway:
    """The databases that were found to be away during one command: each of their journals would take seconds to ask."""

    def __init__(self) -> None:
        self._errors: dict[DatabaseUrl, JournalError] = {}

    def __contains__(self, place: JournalPlace) -> bool:
        return place in self._errors

    @contextmanager
    def asked(self, role: RoleSettings) -> Iterator[None]:
        """Ask for the journal of a role. Raises the earlier error, without asking, if its database was away."""
        place = role.journal
        if not isinstance(place, DatabaseUrl):
            yield
            return
        if place in self._errors:
            raise self._errors[place]
        try:
            yield
        except (JournalUnusable, JournalHeld):
            raise
        except JournalError as error:
            self._errors[place] = error
            raise


def marker_path(role: RoleSettings) -> Path:
    """The path of the marker of a role's journal."""
    return role.token.with_name(f"{role.token.name}.journal")


def marker_of(role: RoleSettings) -> Marker | None:
    """The marker of a role's mailbox; ``None`` when there is none or it is unreadable."""
    try:
        with marker_path(role).open("rb") as file:
            found = json.loads(file.read(_LARGEST_MARKER))
        return Marker(**{name: str(found[name]) for name in ("journal", "fingerprint", "since")})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def journals_of(role: RoleSettings) -> RoleJournals:
    """Where the role's journal is kept. Raises ``ConfigError``."""
    return role_journals(role.journal, role=role.role, address=role.address)


def open_journal(role: RoleSettings, dump: Dump, *, is_to_work: bool = False) -> StoredJournal:
    """Open the journal, and create it if there has been none. ``is_to_work``: this process will work on it.

    Raises ``JournalError``, as ``JournalHeld`` while another process works on a journal in a database, and
    ``ConfigError``.
    """
    try:
        refuse_lost_journal(role)
        return _checked(journals_of(role).open(dump, is_to_work=is_to_work), role)
    except JournalUnusable as error:
        raise _wrong_key(role, error) from error


def look_at_journal(role: RoleSettings) -> StoredJournal | None:
    """Open the journal read-only; ``None`` if it has not been created. Raises ``JournalError`` and ``ConfigError``."""
    try:
        refuse_lost_journal(role)
        if not is_begun(role):
            return None
        return _checked(journals_of(role).look(), role)
    except JournalUnusable as error:
        raise _wrong_key(role, error) from error


def is_begun(role: RoleSettings) -> bool:
    """Whether the journal exists and is not empty. Raises ``JournalError`` if its database cannot be asked."""
    return journals_of(role).is_begun()


def _checked(journal: StoredJournal, role: RoleSettings) -> StoredJournal:
    """Check all pages of a journal. Raises ``JournalUnusable``."""
    try:
        journal.check_content()
        journal.check_owner(role.role, role.address)
        moved = moved_to(journal)
        if moved is not None:
            raise JournalUnusable(f"{role.journal}: was moved to {moved}; name that place instead")
        marker = _marker_of_this_journal(role)
        if marker is not None and marker.fingerprint != fingerprint_of(journal):
            raise JournalUnusable(
                f"{role.journal}: is not the journal that {role.address} has been played from since {marker.since};"
                f" put that one back, name another file, or remove {marker_path(role)} to go on with this one"
            )
    except BaseException:
        journal.close()
        raise
    return journal


def _marker_of_this_journal(role: RoleSettings) -> Marker | None:
    marker = marker_of(role)
    return marker if marker is not None and marker.journal == _seen_from_token(role) else None


def refuse_lost_journal(role: RoleSettings) -> None:
    """Raises ``ConfigError`` when the journal is missing or empty, and the mailbox has been played from it, or from one
    that was moved elsewhere."""
    marker = marker_of(role)
    if marker is not None and marker.journal != _seen_from_token(role):
        _refuse_moved_journal(role, marker)
    elif marker is not None and not is_begun(role):
        happened = "is empty" if isinstance(role.journal, Path) and role.journal.exists() else "is gone"
        raise _wrong_key(
            role,
            f"{role.journal}: {happened}, and {role.address} has been played from it since {marker.since};"
            f" put a copy back, or remove {marker_path(role)} to begin anew",
        )


def _refuse_moved_journal(role: RoleSettings, marker: Marker) -> None:
    """Raises ``ConfigError`` when a new journal would begin beside one that was moved."""
    before = role.token.parent / marker.journal
    if not before.is_file() or is_begun(role):
        return  # a person who wants a new journal names another file
    try:
        with closing(role_journals(before, role=role.role, address=role.address).look()) as journal:
            moved = moved_to(journal)
    except JournalError:
        return
    if moved is None:
        return
    was_interrupted = moved == str(role.journal)
    remedy = "run the same 'journal copy' again, which was interrupted" if was_interrupted else "name that place"
    raise _wrong_key(
        role,
        f"{role.journal}: is not begun, and the journal of {role.address} was moved to {moved}; {remedy},"
        f" or remove {marker_path(role)} to begin anew",
    )


def keep_marker(role: RoleSettings, journal: Journal, *, today: str) -> str | None:
    """Record that this mailbox is played from this journal. Return a message when it was another one before.

    Raises ``ConfigError``.
    """
    before = marker_of(role)
    name, fingerprint = _seen_from_token(role), fingerprint_of(journal)
    if fingerprint is None or (before is not None and (before.journal, before.fingerprint) == (name, fingerprint)):
        return None
    marker = {"journal": name, "fingerprint": fingerprint, "since": today, "address": role.address}
    try:
        replace_private(marker_path(role), json.dumps(marker, indent=1) + "\n")
    except OSError as error:
        raise ConfigError(str(marker_path(role)), f"cannot be written: {error.strerror}") from None
    if before is None or before.journal == name:
        return None
    return f"{role.address} is played from {role.journal} from now on; until now it was {before.journal}"


def state_in(role: RoleSettings, machine: Machine[Any], parts: Mapping[str, str]) -> Any:
    """The state in a journal's parts. Raises ``ConfigError`` that names the key."""
    if not parts:
        return machine.initial()
    try:
        return machine.load(parts)
    except JournalError as error:
        raise _wrong_key(role, f"{role.journal}: {error}") from error


def moved_to(journal: Journal) -> str | None:
    """Where 'journal copy' moved a journal to; ``None`` if it is still the one to work on."""
    moved = journal.kept(MOVED)
    return None if not isinstance(moved, Mapping) else str(moved.get("to", "another place"))


def fingerprint_of(journal: Journal) -> str | None:
    """The fingerprint of a journal; ``None`` for a journal without a seed."""
    seed = journal.kept(SEED)
    # Ids are derived from the seed, so it must not leave the journal.
    return hashlib.sha256(f"journal {seed}".encode()).hexdigest()[:16] if isinstance(seed, str) else None


def _seen_from_token(role: RoleSettings) -> str:
    if not isinstance(role.journal, Path):
        return str(role.journal)
    try:
        return os.path.relpath(role.journal.absolute(), role.token.absolute().parent)
    except ValueError:  # on another drive of Windows
        return str(role.journal.absolute())


def _wrong_key(role: RoleSettings, why: str | JournalError) -> ConfigError:
    return ConfigError(f"{role.where}.journal", str(why))
