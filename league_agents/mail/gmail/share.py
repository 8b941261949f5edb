"""The share of the quota for reading strangers' mail."""

from __future__ import annotations

from league_agents.kit.clock import Clock
from league_agents.mail.quota import MINUTE


class Share:
    """A token bucket: units accrue evenly, and a few may be saved up to read some mails at once."""

    def __init__(self, clock: Clock, *, units_per_minute: int, most_saved: int) -> None:
        self._clock = clock
        self._units_per_s = units_per_minute / MINUTE.total_seconds()
        self._most_saved = most_saved
        self._saved: float = most_saved
        self._counted_at_s = clock.monotonic_s()

    def take(self, units: int) -> bool:
        """Take so many units, or none and ``False`` when there are fewer."""
        now_s = self._clock.monotonic_s()
        self._saved = min(self._most_saved, self._saved + (now_s - self._counted_at_s) * self._units_per_s)
        self._counted_at_s = now_s
        if units > self._saved:
            return False
        self._saved -= units
        return True

    def owe(self, units: int) -> None:
        """Take so many units, whether they are there or not."""
        self._saved -= units
