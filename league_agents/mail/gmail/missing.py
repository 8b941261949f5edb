"""Mails that Gmail listed but could not return.

Rule: the history or a listing may show a mail a moment before it can be read, so it is requested again after a 404, a
bounded number of times and after growing pauses.
"""

from __future__ import annotations

from league_agents.kit.clock import Clock

PAUSES_S = (1, 2, 4, 8, 16, 32)
"""Seconds to wait after the first 404, the second, and so on. A further 404 is final."""


class Missing:
    """The mails of one account that were not found."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries: dict[str, tuple[int, float]] = {}
        """Mail -> how often it was not there, and when it is asked for again."""

    def is_resting(self, mail_id: str) -> bool:
        """Whether it is too early to ask for this mail again."""
        found = self._tries.get(mail_id)
        return found is not None and self._clock.monotonic_s() < found[1]

    def missed(self, mail_id: str) -> bool:
        """Record that the mail was not found. Return whether to request it again."""
        tries, _ = self._tries.pop(mail_id, (0, 0.0))
        if tries == len(PAUSES_S):
            return False
        self._tries[mail_id] = (tries + 1, self._clock.monotonic_s() + PAUSES_S[tries])
        return True

    def forget(self, mail_id: str) -> None:
        """Forget a mail that was found or is no longer wanted."""
        self._tries.pop(mail_id, None)
