"""The sandbox's time: the machine's clock or a manual one, plus the time by which it was advanced.

Rule: everything that expires (tokens, history, quotas, mail in transit) uses this clock only, so that a week can pass
in one call.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from league_agents.kit.clock import Clock
from league_agents.sandbox.refusal import invalid
from league_agents.sandbox.state import SandboxState

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
LONGEST_ADVANCE_S = 400 * 86_400.0


class SandboxClock:
    """A clock that never goes back."""

    def __init__(self, base: Clock, state: SandboxState) -> None:
        self._base = base
        self._state = state
        stored = state.load("clock").get("advanced_s", 0.0)
        self._advanced = timedelta(seconds=float(stored) if isinstance(stored, (int, float)) else 0.0)

    def now(self) -> datetime:
        return self._base.now() + self._advanced

    def now_ms(self) -> int:
        """Milliseconds since 1970, as ``internalDate`` counts."""
        return (self.now() - _EPOCH) // _MILLISECOND

    def wait(self, event: threading.Event, seconds: float) -> None:
        """Let ``seconds`` pass, or less if ``event`` is set before."""
        self._base.wait(event, timedelta(seconds=seconds))

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass at once. Raises ``Refused``."""
        if not 0 <= seconds <= LONGEST_ADVANCE_S:
            raise invalid(f"advance_s must be from 0 to {LONGEST_ADVANCE_S:g} seconds")
        self._advanced += timedelta(seconds=seconds)
        self._state.put("clock", "advanced_s", self._advanced.total_seconds())


def instant(milliseconds: int) -> datetime:
    """The instant that ``internalDate`` names."""
    return _EPOCH + milliseconds * _MILLISECOND
