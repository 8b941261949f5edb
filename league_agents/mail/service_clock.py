"""The mail service's time, by which the league decides whether a message is late.

Rule 1: the time comes from the ``Date`` header of the service's replies. Between replies this machine's monotonic clock
is used, so that changes of its wall clock have no effect.
Rule 2: the time shown has certainly passed at the service: a mail that it accepts afterwards has a later date.
Rule 3: a single reply does not change the time. A small correction needs three replies that allow it, and goes to the
time that most of the latest ones allow. A large one needs three consecutive replies that agree, which replace all
earlier ones.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from league_agents.kit.clock import Clock

LARGEST_ERROR = timedelta(seconds=10)
"""Largest error of this machine's clock without a warning."""

LARGEST_HOLD = timedelta(seconds=60)
"""A time that is ahead by at most this stands still until it is right; one further ahead is set back."""

_RESOLUTION_S = 1.0
"""A ``Date`` header names the second in which the reply was written."""

_TOLERANCE_S = 2.0
"""Largest small correction: the clocks of the service's own machines may differ by some seconds."""

_ENOUGH = 3
_KEPT = 15
_KEPT_FOR_S = 1_800.0
"""How many replies are compared, and for how long: over longer times this machine's clock drifts."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PLAUSIBLE = range(2020, 2201)
"""Plausible years; a date in any other year is ignored."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One reply: the service's time is this machine's monotonic clock plus ``low`` to ``high`` seconds."""

    low: float
    high: float
    heard_s: float

    def allows(self, offset_s: float, *, tolerance_s: float = 0.0) -> bool:
        return self.low - tolerance_s <= offset_s <= self.high + tolerance_s

    def overlaps(self, other: _Reading) -> bool:
        return self.low - _TOLERANCE_S <= other.high and other.low - _TOLERANCE_S <= self.high


class ServiceClock:
    """A ``Clock`` that shows the mail service's time. May be used from any thread.

    Until the first replies it starts from this machine's wall clock at the time of construction.
    """

    def __init__(self, base: Clock) -> None:
        """``base`` is this machine's clock."""
        self._base = base
        self._lock = threading.Lock()
        self._offset_s = (base.now() - _EPOCH).total_seconds() - base.monotonic_s()
        self._readings: deque[_Reading] = deque(maxlen=_KEPT)
        self._contrary: list[_Reading] = []
        """The latest consecutive replies that do not allow the time shown."""

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

    # -- the service's replies ------------------------------------------------------------------------------------

    @property
    def is_in_doubt(self) -> bool:
        """Whether the latest reply contradicts the time shown; the next replies decide which is wrong."""
        return bool(self._contrary)

    def machine_error(self) -> timedelta | None:
        """How far this machine's wall clock is ahead of the service's; ``None`` before the first replies.

        Accurate to about a second.
        """
        return self._base.now() - self.now() if self._readings else None

    def heard(self, date: str | None, *, asked_s: float) -> None:
        """Take in a reply that has just arrived to a request sent at ``asked_s`` of ``monotonic_s``.

        ``date`` is the reply's ``Date`` header. An implausible date is ignored.
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
                    self._latest = _EPOCH  # no decision was made by the time shown until now
                self._readings.clear()
            self._contrary = []
            self._readings.extend(agreed)
            while self._readings[0].heard_s < heard_s - _KEPT_FOR_S:
                self._readings.popleft()
            self._correct()

    def _correct(self) -> None:
        """Set the time to the earliest that most replies allow, which has passed for each of them."""
        allowed_by = {
            low: sum(each.allows(low) for each in self._readings) for low in (each.low for each in self._readings)
        }
        offset_s, most = max(allowed_by.items(), key=lambda item: (item[1], -item[0]))
        if most >= _ENOUGH:
            self._offset_s = offset_s


def _seconds(date: str | None) -> float | None:
    """Return the seconds since 1970 of a ``Date`` header; ``None`` if it is no plausible date."""
    try:
        instant = parsedate_to_datetime(date or "")
    except (ValueError, TypeError, OverflowError):
        return None
    if instant.tzinfo is None:  # "-0000": UTC without a local time zone
        instant = instant.replace(tzinfo=UTC)
    return (instant - _EPOCH).total_seconds() if instant.year in _PLAUSIBLE else None


def clock_trouble(error: timedelta | None) -> str | None:
    """Return a one-line warning, with the remedy, for a clock wrong by ``error``; ``None`` if none is needed."""
    if error is None or abs(error) <= LARGEST_ERROR:
        return None
    where = "ahead of" if error > timedelta(0) else "behind"
    return (
        f"this machine's clock is {abs(error.total_seconds()):,.0f} s {where} the mail service's; games go by the "
        "mail service's, but set this machine's, for example with 'timedatectl set-ntp true'"
    )
