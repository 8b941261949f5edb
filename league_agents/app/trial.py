"""Call a single agent as in a match, with the same hosts and time limits."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from league_agents.journal.port import PendingCall
from league_agents.runner.workers import Workers
from league_agents.user_code.called import Called
from league_agents.user_code.instances import InstanceMaker


class TrialRun:
    """A ``Caller`` with one instance, replaced only after a call that hung or ended its process."""

    def __init__(self, make: InstanceMaker) -> None:
        self._workers = Workers(make, one_game_each=False, waits=True)

    def __call__(self, callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        call = PendingCall(call_id="trial", callback=callback, context=context, timeout=timeout, game_id="trial")
        self._workers.submit(call)
        ((_, called),) = self._workers.ended()
        return called

    def close(self) -> None:
        """End the agent's process; a hanging thread of this process ends with the program."""
        self._workers.close()
