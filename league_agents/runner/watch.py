"""Run several roles in one process until a person stops it.

Rule 1: each role has its own thread, mailbox and journal. A failure of one role does not stop another, unless a person
must repair it by other means than a login: then the process ends with that error.
Rule 2: a stop finishes the current call or commit and begins no other, however many wait. It does not wait for running
agents: their calls are in the journal and run again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import timedelta

from league_agents.kit.errors import AuthorizationExpired
from league_agents.runner.live import LiveRole
from league_agents.runner.wakeup import StopRequest, Wakeup

LONGEST_STEP = timedelta(minutes=2)
"""How long the current call may take when the process is to end. The call's own time limit is well below."""


class _RoleThread:
    """Runs one role on its own thread."""

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
        """Ask the thread to end after the current call."""
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
                    self._stop.nudge()  # the main thread checks whether any role still has work
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
    """Run the roles until a person stops them, or none has anything left to do.

    Raises ``AuthorizationExpired`` if every remaining role waits for a login, and the error that ended a role's thread:
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
