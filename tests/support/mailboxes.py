"""League files with many mailboxes on a sandbox, and their roles in this process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from league_agents.app.looking import role_status
from league_agents.app.push import PushListener
from league_agents.app.running_roles import Changes, RunningRoles
from league_agents.app.secret_files import secret_texts_of
from league_agents.config.league_file import read_league_file
from league_agents.config.league_folder import LeagueFiles, league_files, read_league_files
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.kit.clock import SystemClock
from league_agents.local_league.league import DOMAIN, MANAGER
from league_agents.report.status import RoleStatus
from league_agents.runner.watch import LONGEST_STEP
from league_agents.sandbox.server import Sandbox


class Heard:
    """An observer that keeps what was noted under each name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: list[tuple[str, Note]] = []
        self.received_by: Counter[str] = Counter()

    def received(self, role: str, row: InboxRow) -> None:
        with self._lock:
            self.received_by[role] += 1

    def sent(self, role: str, item: OutboxItem) -> None: ...

    def noted(self, role: str, note: Note) -> None:
        with self._lock:
            self._notes.append((role, note))

    def codes(self, role: str) -> list[str]:
        """The codes of what was noted under a name, in order."""
        with self._lock:
            return [note.key for name, note in self._notes if name == role]

    def kinds(self, role: str) -> set[str]:
        """The kinds of what was noted under a name."""
        with self._lock:
            return {note.kind for name, note in self._notes if name == role}


def write_file(path: Path, sandbox: Sandbox, roles: Mapping[str, Any], **more: Any) -> Path:
    """Write a league file, with a token for each of its mailboxes that the sandbox serves and that has none."""
    path.parent.mkdir(exist_ok=True)
    document = {
        "league": {"manager_email": MANAGER},
        "gmail": {"endpoint": sandbox.url, "credentials": str(sandbox.client_secret_file(path.parent))},
        "poll": {"active_seconds": 0.2, "idle_seconds": 0.2},
        "roles": roles,
        **more,
    }
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    for role in read(path).roles:
        if role.address in sandbox.accounts and not role.token.exists():
            sandbox.token_file(role.address, path.parent).replace(role.token)
    return path


def entry(name: str, agent: str = "scripted", **more: Any) -> dict[str, Any]:
    """A listed role with the mailbox NAME@league.test."""
    return {"name": name, "address": f"{name}@{DOMAIN}", "group_id": name, "id": name, "agent": agent, **more}


def read(path: Path) -> LeagueSettings:
    """Read one of the files that one process runs."""
    return read_league_file(path, {}, is_one_of_many=True)


def files_in(folder: Path, before: Mapping[Path, LeagueSettings] | None = None) -> LeagueFiles:
    """Read a folder."""
    return read_league_files(league_files([folder]), read, before=before)


def reload(roles: RunningRoles, folder: Path) -> Changes:
    """Make what runs equal to the folder."""
    return roles.apply(files_in(folder, roles.files))


@contextmanager
def running(
    folder: Path,
    heard: Heard,
    *,
    most_threads: int = 8,
    tell_of_push: Callable[[str, bool], object] = lambda _text, _is_trouble: None,
) -> Iterator[RunningRoles]:
    """Run the league files of a folder."""
    listener = PushListener(tell_of_push)
    roles = RunningRoles(
        heard,
        on_start=lambda settings, live: listener.begin(settings, live.settings, live.wakeup),
        on_end=lambda role, _failure: listener.end(role),
        most_threads=most_threads,
    )
    try:
        reload(roles, folder)
        yield roles
    finally:
        roles.close(LONGEST_STEP)
        listener.close()


def status_of(settings: LeagueSettings, role: RoleSettings) -> RoleStatus:
    """The status of a role."""
    return role_status(settings, role, now=SystemClock().now(), secrets=secret_texts_of(settings, {}))


def role_at(files: Sequence[LeagueSettings], name: str) -> tuple[LeagueSettings, RoleSettings]:
    """The role of this name."""
    return next((settings, role) for settings in files for role in settings.roles if role.name == name)
