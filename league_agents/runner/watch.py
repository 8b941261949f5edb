"""Run several roles in one process until a person stops it.

Rule 1: each role has its own mailbox and journal. A failure of one role does not stop another, unless a person
must repair it by other means than a login: then the process ends with that error.
Rule 2: a stop finishes the current call or commit and begins no other, however many wait. It does not wait for running
agents: their calls are in the journal and run again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from league_agents.kit.errors import AuthorizationExpired
from league_agents.runner.live import LiveRole
from league_agents.runner.turns import Resident, TurnPool
from league_agents.runner.wakeup import StopRequest, Wakeup

LONGEST_STEP = timedelta(minutes=2)
"""How long the current call may take when the process is to end. The call's own time limit is well below."""


def watch(
    roles: Sequence[tuple[LiveRole, Wakeup]], stop: StopRequest, *, on_end: Callable[[], object] = lambda: None
) -> None:
    """Run the roles until a person stops them, or none has anything left to do. ``on_end`` is called as the end begins.

    Raises ``AuthorizationExpired`` if every remaining role waits for a login, and the error that ended a role:
    ``ConfigError``, ``JournalUnusable``, or a bug.
    """
    pool = TurnPool(on_change=stop.nudge)
    residents = [pool.add(role, wakeup) for role, wakeup in roles]
    try:
        while not stop.is_requested and not _is_over(residents):
            stop.wait()
    finally:
        on_end()
        pool.stop()
        pool.join(LONGEST_STEP)
    failure = next((resident.failure for resident in residents if resident.failure is not None), None)
    if failure is not None:
        raise failure
    stuck = [role.needs_authorization for role, _ in roles if role.needs_authorization]
    if stuck and not stop.is_requested:
        raise AuthorizationExpired(stuck[0])


def _is_over(residents: Sequence[Resident]) -> bool:
    return any(resident.failure is not None for resident in residents) or all(
        resident.is_stuck or resident.is_done for resident in residents
    )
