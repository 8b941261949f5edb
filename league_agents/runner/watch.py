"""Several roles in one process until somebody stops it.

Rule 1: each role has its own thread, mailbox and journal; what befalls one does not stop another, unless it is for a
person to mend and no authorization: then the process ends, and says so.
Rule 2: to stop is to finish the call or the commit in hand and to begin no other, however much waits. Agents that are
thinking are not waited for: their calls are in the journal and run again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta

from league_agents.kit.errors import AuthorizationExpired
from league_agents.runner.live import LiveRole
from league_agents.runner.wakeup import StopRequest, Wakeup

LONGEST_STEP = timedelta(minutes=2)
"""How long the call in hand may take when the process is to end; it has its own time limit well below."""


class _RoleThread:
    """One role on its thread."""

    def __init__(self, role: LiveRole, wakeup: Wakeup, stop: StopRequest) -> None:
        self._role = role
        self._wakeup = wakeup
        self._stop = stop
        self.is_stuck = False
        self.is_done = False
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name=role.name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Ask it to end after the call in hand."""
        self._wakeup.stop()

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            stopping = self._wakeup.stopping
            while not stopping.is_set():
                rest = self._role.turn()
                if self._role.is_done:
                    self.is_done = True
                    self._stop.nudge()
                    break
                is_stuck = bool(self._role.needs_authorization)
                if is_stuck and not self.is_stuck:
                    self.is_stuck = True
                    self._stop.nudge()  # the others decide whether there is anything left to do
                self.is_stuck = is_stuck
                if not stopping.is_set():
                    self._wakeup.rest(rest)
        except BaseException as failure:
            self.failure = failure
            self._stop.nudge()
        finally:
            try:
                self._role.close()
            except Exception as failure:
                self.failure = self.failure or failure


def watch(roles: Sequence[tuple[LiveRole, Wakeup]], stop: StopRequest) -> None:
    """Run the roles until a person asks for the end, or all have nothing left to do.

    Raises ``AuthorizationExpired`` when every other role waits for a person to log in, and what ended a role's thread:
    ``ConfigError``, ``JournalUnusable``, or a bug.
    """
    threads = [_RoleThread(role, wakeup, stop) for role, wakeup in roles]
    for thread in threads:
        thread.start()
    try:
        while not stop.is_requested and not _is_over(threads):
            stop.wait()
    finally:
        for thread in threads:
            thread.finish()
        for thread in threads:
            thread.join(LONGEST_STEP.total_seconds())
    failure = next((thread.failure for thread in threads if thread.failure is not None), None)
    if failure is not None:
        raise failure
    stuck = [role.needs_authorization for role, _ in roles if role.needs_authorization]
    if stuck and not stop.is_requested:
        raise AuthorizationExpired(stuck[0])


def _is_over(threads: Sequence[_RoleThread]) -> bool:
    return any(thread.failure is not None for thread in threads) or all(
        thread.is_stuck or thread.is_done for thread in threads
    )
