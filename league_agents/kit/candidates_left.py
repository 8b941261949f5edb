"""The number of candidates that a player's agent still has after each answer.

Rule: nothing in a game depends on it. A reply may come from an untrusted agent, so reading refuses anything but a
bounded list of numbers.
"""

from __future__ import annotations

import math

CANDIDATES_LEFT = "candidates_left"
"""The key of ``get_guess``'s reply that holds the numbers, in the order of the questions."""

_MOST = 200


def read_candidates_left(value: object) -> tuple[float, ...]:
    """The numbers in a value; empty if it is not such a list."""
    if not isinstance(value, list | tuple) or len(value) > _MOST:
        return ()
    numbers = tuple(
        float(each)
        for each in value
        if isinstance(each, float) or (type(each) is int and abs(each) < 10**15)  # no bool, and no overflow
    )
    is_sound = len(numbers) == len(value) and all(math.isfinite(each) and each >= 0 for each in numbers)
    return numbers if is_sound else ()
