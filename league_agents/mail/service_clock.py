"""What time it is at the mail service, by whose clock the league judges who is late.

Rule 1: the service's replies say what time it is (their ``Date`` header). Between them the monotonic clock of this
machine counts on, so nobody notices when somebody sets its wall clock.
Rule 2: the time that is shown is certainly over at the service: a mail that it takes afterwards has a later date.
Rule 3: one reply is evidence, not the truth. A small correction needs three replies that allow it, and goes to what
most of the latest ones allow. A large one needs three in a row that agree; they count against all that came before.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from league_agents.kit.clock import Clock

LARGEST_ERROR = timedelta(seconds=10)
"""Of this machine's clock, before a person is told."""

LARGEST_HOLD = timedelta(seconds=60)
"""Up to this, a time that was ahead stands still until it is right. What was further ahead is set back."""

_RESOLUTION_S = 1.0
"""A ``Date`` header names the second in which the reply was written."""

_TOLERANCE_S = 2.0
"""The service's own machines need not agree to the second: up to this, a correction is a small one."""

_ENOUGH = 3
_KEPT = 15
_KEPT_FOR_S = 1_800.0
"""How many replies are compared, and for how long: later, the drift of this machine's clock would show."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLAUSIBLE = range(2020, 2201)
"""Years. Any other one is no time but a fault."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a reply said: the service's time is the monotonic clock of this machine plus ``low`` to ``high`` seconds."""

    low: float
    high: float
    heard_s: float

    def allows(self, offset_s: float, *, tolerance_s: float = 0.0) -> bool:
        return self.low - tolerance_s <= offset_s <= self.high + tolerance_s

    def overlaps(self, other: _Reading) -> bool:
        return self.low - _TOLERANCE_S <= other.high and other.low - _TOLERANCE_S <= self.high


class ServiceClock:
    """A ``Clock`` that shows the mail service's time. Any thread may use it.

    Until the service has said what time it is, that is what this machine's wall clock said when this one was made.
    """

    def __init__(self, base: Clock) -> None:
        """``base`` is this machine's clock."""
        self._base = base
        self._lock = threading.Lock()
        self._offset_s = (base.now() - _EPOCH).total_seconds() - base.monotonic_s()
        self._readings: deque[_Reading] = deque(maxlen=_KEPT)
        self._contrary: list[_Reading] = []
        """The latest in a row that do not allow the time that is shown."""

        self._latest = _EPOCH

    # -- the clock ------------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        with self._lock:
            shown = _EPOCH + timedelta(seconds=self._base.monotonic_s() + self._offset_s)
            if self._latest - shown <= LARGEST_HOLD:
                shown = max(shown, self._latest)
            self._latest = shown
            return shown

    def monotonic_s(self) -> float:
        return self._base.monotonic_s()

    def sleep(self, duration: timedelta) -> None:
        self._base.sleep(duration)

    def wait(self, event: threading.Event, duration: timedelta) -> bool:
        return self._base.wait(event, duration)

    # -- what the service says ------------------------------------------------------------------------------------

    @property
    def is_in_doubt(self) -> bool:
        """Whether the latest reply contradicts the time that is shown: the next ones will tell which is wrong."""
        return bool(self._contrary)

    def machine_error(self) -> timedelta | None:
        """What this machine's wall clock shows more than the service's; ``None`` while the service has said nothing.

        It is known to about a second.
        """
        return self._base.now() - self.now() if self._readings else None

    def heard(self, date: str | None, *, asked_s: float) -> None:
        """The service has just replied, to something that was asked at ``asked_s`` of ``monotonic_s``.

        ``date`` is the reply's ``Date`` header. What is no plausible date is passed over.
        """
        second = _seconds(date)
        if second is None:
            return
        heard_s = self._base.monotonic_s()
        reading = _Reading(low=second - heard_s, high=second + _RESOLUTION_S - asked_s, heard_s=heard_s)
        with self._lock:
            agreed = [reading]
            if not reading.allows(self._offset_s, tolerance_s=_TOLERANCE_S):
                self._contrary = agreed = [each for each in self._contrary if each.overlaps(reading)] + [reading]
                if len(agreed) < _ENOUGH:
                    return
                if not self._readings:
                    self._latest = _EPOCH  # nothing was judged by the time that was shown until now
                self._readings.clear()
            self._contrary = []
            self._readings.extend(agreed)
            while self._readings[0].heard_s < heard_s - _KEPT_FOR_S:
                self._readings.popleft()
            self._correct()

    def _correct(self) -> None:
        """Show the earliest time that most replies allow, which is over for each of them."""
        allowed_by = {
            low: sum(each.allows(low) for each in self._readings) for low in (each.low for each in self._readings)
        }
        offset_s, most = max(allowed_by.items(), key=lambda item: (item[1], -item[0]))
        if most >= _ENOUGH:
            self._offset_s = offset_s


def _seconds(date: str | None) -> float | None:
    """The second since 1970 that a ``Date`` header names."""
    try:
        instant = parsedate_to_datetime(date or "")
    except (ValueError, TypeError, OverflowError):
        return None
    if instant.tzinfo is None:  # "-0000": UTC, from somebody who does not tell where it is
        instant = instant.replace(tzinfo=UTC)
    return (instant - _EPOCH).total_seconds() if instant.year in _PLAUSIBLE else None


def clock_trouble(error: timedelta | None) -> str | None:
    """One line, with the remedy, about a machine whose clock is off by ``error``; ``None`` if that is no trouble."""
    if error is None or abs(error) <= LARGEST_ERROR:
        return None
    where = "ahead of" if error > timedelta(0) else "behind"
    return (
        f"this machine's clock is {abs(error.total_seconds()):,.0f} s {where} the mail service's; games go by the "
        "mail service's, but set this machine's, for example with 'timedatectl set-ntp true'"
    )
