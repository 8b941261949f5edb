"""Has Gmail publish the changes of an inbox to a Cloud Pub/Sub topic (``users.watch``).

Rule: a watch that cannot be had is said once, tried again, and hinders nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from league_agents.kit.clock import Clock
from league_agents.kit.errors import MailError
from league_agents.mail.port import Stopping

RENEW_EVERY = timedelta(days=1)
"""Gmail ends a watch after seven days and asks for a renewal once a day."""

RETRY_AFTER = timedelta(minutes=5)


class InboxWatch:
    """The watch of one mailbox."""

    def __init__(
        self,
        topic: str,
        *,
        clock: Clock,
        is_wanted: Callable[[], bool] = lambda: True,
        tell: Callable[[str, bool], object] = lambda _text, _is_trouble: None,
    ) -> None:
        """``tell`` is called with one line when the watch begins to fail (``True``) and when it is had again."""
        self._topic = topic
        self._clock = clock
        self._is_wanted = is_wanted
        self._tell = tell
        self._next_s: float | None = None
        self._is_failing = False
        self.is_on = False
        """Whether Gmail has agreed to the last request."""

    def keep(self, call: Callable[[str], object]) -> None:
        """Ask with ``call`` if it is time. Raises ``Stopping``."""
        now_s = self._clock.monotonic_s()
        if not self._is_wanted() or (self._next_s is not None and now_s < self._next_s):
            return
        try:
            call(self._topic)
        except Stopping:
            raise
        except MailError as error:
            self.is_on = False
            self._next_s = now_s + RETRY_AFTER.total_seconds()
            if not self._is_failing:
                self._is_failing = True
                self._tell(f"Gmail does not publish to {self._topic}: {error}; new mail is found by polling", True)
            return
        self.is_on = True
        self._next_s = now_s + RENEW_EVERY.total_seconds()
        if self._is_failing:
            self._is_failing = False
            self._tell(f"Gmail publishes to {self._topic} again", False)
