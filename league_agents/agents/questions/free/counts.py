"""Counts and amounts with three values: a count that is known only within bounds may settle a comparison or not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CountBounds:
    """How often something occurs: at least ``low``, at most ``high``."""

    low: int
    high: int | None
    """``None`` if there is no bound."""

    @staticmethod
    def exactly(number: int) -> CountBounds:
        return CountBounds(number, number)

    @property
    def open(self) -> CountBounds:
        """The same count in a text of which only a part is known."""
        return CountBounds(self.low, None)

    def plus(self, other: CountBounds) -> CountBounds:
        high = None if self.high is None or other.high is None else self.high + other.high
        return CountBounds(self.low + other.low, high)

    def is_more_than(self, other: CountBounds) -> bool | None:
        if other.high is not None and self.low > other.high:
            return True
        return False if self.high is not None and self.high <= other.low else None


UNKNOWN_COUNT = CountBounds(0, None)
NONE, SOME = CountBounds.exactly(0), CountBounds(1, None)


@dataclass(frozen=True, slots=True)
class CountLimits:
    """A claim about a count: at least ``least`` and at most ``most``."""

    least: int
    most: int | None
    is_loose: bool = False
    """Whether "two commas" may mean "at least two", so that readers differ about more."""

    def holds(self, count: CountBounds) -> bool | None:
        """Whether the count fulfils the claim; ``None`` if its bounds do not settle it."""
        if self.is_loose and self.most is not None and (count.high is None or count.high > self.most):
            return None
        if count.low >= self.least and (self.most is None or (count.high is not None and count.high <= self.most)):
            return True
        too_few = count.high is not None and count.high < self.least
        return False if too_few or (self.most is not None and count.low > self.most) else None


AT_LEAST_ONE, NONE_AT_ALL = CountLimits(1, None), CountLimits(0, 0)
