"""A role's journal: opened for its mailbox and no other, and never begun anew unless a person wants it.

Rule 1: a mailbox that has been played from a journal has a marker beside its token: the journal's name, and its
fingerprint. A journal that is gone, empty or another one is refused, in one line that says what to do.
Rule 2: to begin anew is to name another file in the league file, or to remove the marker.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from league_agents.app.storage import STORAGE
from league_agents.config.league_settings import RoleSettings
from league_agents.journal.port import Dump, Journal, StoredJournal
from league_agents.kit.errors import ConfigError, JournalError, JournalUnusable
from league_agents.kit.private_file import replace_private
from league_agents.league.machines.machine import Machine

SEED = "seed"
"""Under this name a journal keeps its role's private seed. No two journals have the same."""

_LARGEST_MARKER = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """From which journal a mailbox has been played; a file beside its token."""

    journal: str
    """The name, as it is seen from the token's folder, so that both can be moved together."""

    fingerprint: str
    """Of the journal's seed."""

    since: str
    """The day on which it was first used."""


def marker_path(role: RoleSettings) -> Path:
    """Where the marker of a role's journal stands."""
    return role.token.with_name(f"{role.token.name}.journal")


def marker_of(role: RoleSettings) -> Marker | None:
    """The marker of a role's mailbox; ``None`` when there is none that can be read."""
    try:
        with marker_path(role).open("rb") as file:
            found = json.loads(file.read(_LARGEST_MARKER))
        return Marker(**{name: str(found[name]) for name in ("journal", "fingerprint", "since")})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None


def open_journal(role: RoleSettings, dump: Dump) -> StoredJournal:
    """The journal, made where there has been none. Raises ``JournalError`` and ``ConfigError``."""
    refuse_lost_journal(role)
    try:
        journal = STORAGE.journal(role.journal, role=role.role, address=role.address, dump=dump)
        return _checked(journal, role)
    except JournalUnusable as error:
        raise _wrong_key(role, error) from error


def look_at_journal(role: RoleSettings) -> StoredJournal | None:
    """The journal to look at; ``None`` where none has been made. Raises ``JournalError`` and ``ConfigError``."""
    refuse_lost_journal(role)
    if not is_begun(role):
        return None
    try:
        return _checked(STORAGE.look_at_journal(role.journal), role)
    except JournalUnusable as error:
        raise _wrong_key(role, error) from error


def is_begun(role: RoleSettings) -> bool:
    """Whether there is a file that is not empty: a process that dies early leaves an empty one."""
    try:
        return role.journal.stat().st_size > 0
    except OSError:
        return False


def _checked(journal: StoredJournal, role: RoleSettings) -> StoredJournal:
    """Read from its first page to its last. Raises ``JournalUnusable``."""
    try:
        journal.check_content()
        journal.check_owner(role.role, role.address)
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
    """Raises ``ConfigError`` when the journal is gone or empty, and the mailbox has been played from it."""
    marker = _marker_of_this_journal(role)
    if marker is not None and not is_begun(role):
        happened = "is empty" if role.journal.exists() else "is gone"
        raise _wrong_key(
            role,
            f"{role.journal}: {happened}, and {role.address} has been played from it since {marker.since};"
            f" put a copy back, or remove {marker_path(role)} to begin anew",
        )


def keep_marker(role: RoleSettings, journal: Journal, *, today: str) -> str | None:
    """Write down that this mailbox is played from this journal. What to tell a person when it was another one before.

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
    """The state that a journal's parts say. Raises ``ConfigError`` that names the key."""
    if not parts:
        return machine.initial()
    try:
        return machine.load(parts)
    except JournalError as error:
        raise _wrong_key(role, f"{role.journal}: {error}") from error


def fingerprint_of(journal: Journal) -> str | None:
    """The fingerprint of a journal; ``None`` for one in which nothing has begun."""
    seed = journal.kept(SEED)
    # Ids are derived from the seed, so it stays in the journal.
    return hashlib.sha256(f"journal {seed}".encode()).hexdigest()[:16] if isinstance(seed, str) else None


def _seen_from_token(role: RoleSettings) -> str:
    try:
        return os.path.relpath(role.journal.absolute(), role.token.absolute().parent)
    except ValueError:  # on another drive of Windows
        return str(role.journal.absolute())


def _wrong_key(role: RoleSettings, why: str | JournalError) -> ConfigError:
    return ConfigError(f"{role.where}.journal", str(why))
