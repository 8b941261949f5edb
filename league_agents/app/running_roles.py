"""The roles of many mailboxes in one process, kept equal to its league files.

Rule 1: what a mailbox meets with is its own affair: a role that cannot be started or fails is set aside, says so under
its name, and tries again. No other role waits for it.
Rule 2: after a change of the files, what they still say goes on untouched. A role that they name no longer ends its
step and is closed; one that they describe differently is closed and begun again from its journal.
Rule 3: a file with an error changes nothing of what runs from it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path

from league_agents.app.live import Live, live_role
from league_agents.app.live_mailbox import MailboxMaker, SharedByMailboxes, gmail_mailbox
from league_agents.app.role_files import tighten_folders
from league_agents.config.league_folder import LeagueFiles
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.open_files import room_for_open_files
from league_agents.kit.values import evolve
from league_agents.runner.role import Observer
from league_agents.runner.turns import THREADS, Resident, TurnPool

Identity = tuple[str, str]

FILES_OF_A_ROLE = 9
"""Open files of one role: journal and count of sends, each with its log and its index, two locks, a connection."""

OTHER_FILES = 200
"""Open files of the process besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a reading of the league files changed, by the roles' names in the log."""

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [("added", self.added), ("changed", self.changed), ("removed", self.removed)]
        named = [f"{verb} {_some(labels)}" for verb, labels in parts if labels]
        return "; ".join(named) or "nothing has changed"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A role as its league file describes it."""

    settings: LeagueSettings
    """Without roles: another role of the file may change and leave this one as it is."""

    role: RoleSettings


@dataclass(slots=True)
class _Slot:
    """The place of one mailbox."""

    wanted: _Wanted | None
    """``None``: it is to end."""

    running: _Wanted | None = None
    live: Live | None = field(default=None, repr=False)


class RunningRoles:
    """Runs the roles of league files. ``apply`` and ``close`` are called from one thread."""

    def __init__(
        self,
        observer: Observer,
        *,
        on_start: Callable[[LeagueSettings, Live], object] = lambda _settings, _live: None,
        on_end: Callable[[RoleSettings, BaseException | None], object] = lambda _role, _failure: None,
        clock: Clock | None = None,
        mailbox_of: MailboxMaker | None = None,
        most_threads: int = THREADS,
    ) -> None:
        """``on_start`` is called before a role begins, ``on_end`` when it has ended, with the error that ended it: a
        bug. They are called from any thread."""
        self._shared = SharedByMailboxes()
        self._mailbox_of = mailbox_of or partial(gmail_mailbox, shared=self._shared)
        self._observer = observer
        self._on_start = on_start
        self._on_end = on_end
        self._clock = clock or SystemClock()
        self._lock = threading.RLock()
        self._slots: dict[Identity, _Slot] = {}
        self._of_resident: dict[Resident, Identity] = {}
        self._is_closing = False
        self._pool = TurnPool(most_threads=most_threads, on_end=self._ended)
        self.files: dict[Path, LeagueSettings] = {}
        """What runs, or is to, by league file."""

    def __len__(self) -> int:
        return len(self._slots)

    def apply(self, files: LeagueFiles) -> Changes:
        """Run what the files say. A file that could not be read, and of which something runs, stays as it was."""
        kept = {path: settings for path, settings in self.files.items() if path in files.wrong}
        for settings in files.read:
            tighten_folders(settings)
        self.files = {**kept, **{settings.path: settings for settings in files.read}}
        wanted = {
            role.identity: _Wanted(evolve(settings, roles=()), role)
            for settings in self.files.values()
            for role in settings.roles
        }
        added: list[str] = []
        changed: list[str] = []
        removed: list[str] = []
        with self._lock:
            for identity, slot in list(self._slots.items()):
                if identity not in wanted and slot.wanted is not None:
                    removed.append(slot.wanted.role.label)
                    slot.wanted = None
                    self._settle(identity, slot)
            for identity, each in wanted.items():
                known = self._slots.get(identity)
                if known is None:
                    added.append(each.role.label)
                    known = self._slots[identity] = _Slot(each)
                elif known.wanted != each:
                    (added if known.wanted is None else changed).append(each.role.label)
                    known.wanted = each
                self._settle(identity, known)
        return Changes(added=tuple(added), changed=tuple(changed), removed=tuple(removed))

    def room(self) -> str | None:
        """Make room for the files that so many roles keep open. Return a warning if there is too little."""
        needed = OTHER_FILES + FILES_OF_A_ROLE * len(self)
        allowed = room_for_open_files(needed)
        if allowed is None or allowed >= needed:
            return None
        return (
            f"{len(self)} mailboxes need about {needed} open files, and {allowed} are allowed; allow more (ulimit -Hn,"
            " LimitNOFILE of a systemd unit) or run a part of them in another process"
        )

    def close(self, patience: timedelta) -> None:
        """End every role after its current call or commit; wait at most so long."""
        with self._lock:
            self._is_closing = True
        self._pool.stop()
        self._pool.join(patience)
        self._shared.close()

    def _settle(self, identity: Identity, slot: _Slot) -> None:
        """Take the next step towards what is wanted of a mailbox. The caller holds the lock."""
        if slot.live is not None:
            if slot.running != slot.wanted:
                slot.live.wakeup.stop()  # goes on when it has ended
            return
        if slot.wanted is None or self._is_closing:
            self._slots.pop(identity, None)
            return
        wanted = slot.running = slot.wanted
        slot.live = live_role(
            wanted.settings,
            wanted.role,
            self._observer,
            self._clock,
            self._mailbox_of,
            is_one_of_many=True,
            shared=self._shared,
        )
        self._on_start(wanted.settings, slot.live)
        self._of_resident[self._pool.add(slot.live.role, slot.live.wakeup)] = identity

    def _ended(self, resident: Resident) -> None:
        with self._lock:
            identity = self._of_resident.pop(resident)
            slot = self._slots[identity]
            live, before, slot.live, slot.running = slot.live, slot.running, None, None
            assert live is not None
            live.release()
            self._on_end(live.settings, resident.failure)
            # A bug that ended it would end it again: it waits for the next reading of the files.
            if resident.failure is None or slot.wanted != before:
                self._settle(identity, slot)


def _some(labels: Iterable[str]) -> str:
    labels = list(labels)
    more = f" and {len(labels) - 3} more" if len(labels) > 3 else ""
    return ", ".join(labels[:3]) + more
