"""Whether the roles of a process do their work: what a monitor and the service manager are told.

Rule: only a turn that ended, or a mail that was taken in or sent, counts as progress. No thread of its own says that
all is well.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.runner.live import LiveRole
from league_agents.runner.probe import Probe

STUCK_AFTER = timedelta(minutes=5)
"""A role that has neither ended a turn nor taken in or sent a mail for so long after it should have is stuck. Calls to
the mail service and to the journal have time limits well below."""


@dataclass(slots=True)
class _Vital:
    """What is known of one role."""

    due_s: float
    """When its next turn is due, or when its latest mail was handled: the later of the two."""

    hindrance: str = ""
    is_polled: bool = False
    """Whether its mailbox was read to its end once, or another process reads it."""


class Vitals(Probe):
    """``Observer`` and ``Probe`` that know which role is stuck. Thread-safe."""

    def __init__(self, monotonic_s: Callable[[], float], *, names: Callable[[str], str] = lambda name: name) -> None:
        """``names`` turns a role's name into the one that is shown."""
        self._monotonic_s = monotonic_s
        self._names = names
        self._lock = threading.Lock()
        self._roles: dict[str, _Vital] = {}
        self._has_begun = False

    def of_role(self, name: str) -> Probe:
        # Called when the role is assembled: from now on its first turn is awaited.
        with self._lock:
            self._roles.setdefault(name, _Vital(due_s=self._monotonic_s()))
        return self

    def turned(self, role: LiveRole, rest: timedelta) -> timedelta:
        with self._lock:
            self._has_begun = True
            self._roles[role.name] = _Vital(
                due_s=self._monotonic_s() + rest.total_seconds(),
                hindrance=role.hindrance,
                is_polled=role.polled_at is not None or role.is_standing_by,
            )
        return rest

    def closed(self, role: LiveRole) -> None:
        with self._lock:
            self._roles.pop(role.name, None)

    def received(self, role: str, row: InboxRow) -> None:
        self._progressed(role)

    def sent(self, role: str, item: OutboxItem) -> None:
        self._progressed(role)

    def noted(self, role: str, note: Note) -> None:
        """No progress: a role that fails again and again makes notes."""

    def stuck(self, patience: timedelta = STUCK_AFTER) -> str:
        """A line on a role that makes no progress; empty if there is none."""
        now_s = self._monotonic_s()
        with self._lock:
            for name, vital in self._roles.items():
                late_s = now_s - vital.due_s
                if late_s > patience.total_seconds():
                    return f"{self._names(name)}: no progress for {late_s:.0f} s"
        return ""

    def trouble(self) -> str:
        """Why not all roles do their work, in one line; empty if they do."""
        stuck = self.stuck()
        if stuck:
            return stuck
        with self._lock:
            if not self._has_begun:
                return "no role has begun yet"
            for name, vital in self._roles.items():
                if vital.hindrance:
                    return f"{self._names(name)}: {vital.hindrance}"
                if not vital.is_polled:
                    return f"{self._names(name)}: its mailbox was not read yet"
        return ""

    def __len__(self) -> int:
        """The number of roles that run."""
        with self._lock:
            return len(self._roles)

    def _progressed(self, role: str) -> None:
        with self._lock:
            vital = self._roles.get(role)
            if vital is not None:
                vital.due_s = max(vital.due_s, self._monotonic_s())
