"""Mails that Gmail named and then did not have.

Rule: a mail can be named by the history or a listing a moment before it can be read, so a 404 is asked again: a bounded
number of times, after growing pauses. A mail that was deleted costs that much and no more.
"""

from __future__ import annotations

from league_agents.kit.clock import Clock

PAUSES_S = (1, 2, 4, 8, 16, 32)
"""After the first 404, the second, and so on. The next one is believed."""


class Missing:
    """What is known of the mails of one account that were not there."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tries: dict[str, tuple[int, float]] = {}
        """Mail -> how often it was not there, and when it is asked for again."""

    def is_resting(self, mail_id: str) -> bool:
        """Whether it is too early to ask for this mail again."""
        found = self._tries.get(mail_id)
        return found is not None and self._clock.monotonic_s() < found[1]

    def missed(self, mail_id: str) -> bool:
        """The mail was not there. Whether to ask for it again."""
        tries, _ = self._tries.pop(mail_id, (0, 0.0))
        if tries == len(PAUSES_S):
            return False
        self._tries[mail_id] = (tries + 1, self._clock.monotonic_s() + PAUSES_S[tries])
        return True

    def forget(self, mail_id: str) -> None:
        """The mail is there, or nobody wants it any more."""
        self._tries.pop(mail_id, None)
