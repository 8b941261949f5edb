"""The files of a role, checked and locked for one process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.kit.errors import ConfigError, JournalError, MailboxUnavailable
from league_agents.kit.private_file import tighten, tighten_folder
from league_agents.runner.lock import FileLock, Locked


def take_files(role: RoleSettings, journal: Path | None) -> list[FileLock]:
    """Lock a role's mailbox, and the journal if there is one, against a second process.

    Raises ``ConfigError`` for a missing folder, ``JournalError`` and ``MailboxUnavailable`` for a file that
    another process has locked.
    """
    for path in (path for path in (journal, role.token) if path is not None):
        refuse_missing_folder(path)
    tighten(role.token)
    taken: list[FileLock] = []
    if journal is not None:
        taken.append(lock_journal(journal))
    try:
        # The token represents the mailbox: a copy of the league file with another journal is refused too.
        taken.append(FileLock(role.token))
    except Locked as error:
        for lock in taken:
            lock.release()
        raise MailboxUnavailable(f"{role.address}: {error} works on this mailbox already; stop it first") from None
    return taken


def lock_journal(path: Path) -> FileLock:
    """Lock a journal against a second process. Raises ``JournalError`` if another one has locked it."""
    refuse_missing_folder(path)
    try:
        return FileLock(path)
    except Locked as error:
        raise JournalError(f"{path}: {error} works on this journal already; stop it first") from None


def refuse_missing_folder(path: Path) -> None:
    """Raises ``ConfigError`` when the folder of a private file is missing. It is not created: a misspelled name would
    start a new journal."""
    if not path.parent.is_dir():
        raise ConfigError(str(path), f"there is no folder {path.parent}; make it first: mkdir -m 700 '{path.parent}'")


def tighten_folders(settings: LeagueSettings) -> None:
    """Make the folders private that hold only files of this league."""
    names: defaultdict[Path, set[str]] = defaultdict(set)
    for path in _files_of(settings):
        names[path.parent].add(path.name)
    for folder, own in names.items():
        tighten_folder(folder, own)


def _files_of(settings: LeagueSettings) -> Iterable[Path]:
    yield settings.gmail.credentials
    if settings.log.file is not None:
        yield settings.log.file
    for role in settings.roles:
        yield from (path for path in (role.journal, role.token) if isinstance(path, Path))
