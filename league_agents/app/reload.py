"""Ask the processes that run league files to read them again."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Sequence

from league_agents.config.league_settings import LeagueSettings
from league_agents.kit.errors import ConfigError, MailboxUnavailable
from league_agents.runner.lock import holder_of


def processes_of(files: Iterable[LeagueSettings]) -> list[int]:
    """The processes of this machine that work on mailboxes of these files."""
    holders = (holder_of(role.token) for settings in files for role in settings.roles)
    return sorted({pid for pid in holders if pid is not None and pid != os.getpid()})


def refuse_second(files: Sequence[LeagueSettings]) -> None:
    """Raises ``MailboxUnavailable`` if one other process of this machine works on all mailboxes of these files."""
    holders = {holder_of(role.token) for settings in files for role in settings.roles}
    if len(holders) == 1 and (pid := holders.pop()) is not None and pid != os.getpid():
        raise MailboxUnavailable(f"process {pid} works on these mailboxes already; stop it first")


def ask_to_reload(pid: int) -> None:
    """Ask a process to read its league files again. Raises ``ConfigError`` if it cannot be asked."""
    if not hasattr(signal, "SIGHUP"):
        raise ConfigError("reload", "this system has no SIGHUP; start the process again")
    try:
        os.kill(pid, signal.SIGHUP)
    except OSError as error:
        raise ConfigError("reload", f"process {pid} cannot be asked: {error.strerror}") from None
