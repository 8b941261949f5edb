"""Answers to the warm-up question, which is not scored: the result of a sum, or a fixed word."""

from __future__ import annotations

import re

_SUM = re.compile(
    r"(-?\d{1,9})\s*(\+|-|−|\*|×|x|/|÷|plus|minus|times|multiplied by|divided by)\s*(-?\d{1,9})", re.IGNORECASE
)
_LONGEST = 1000


def warmup_answer(question: str) -> str:
    """Return the result of the first sum of two numbers in the question, else ``ready``."""
    found = _SUM.search(question[:_LONGEST])
    return _reckoned(found) if found else "ready"


def _reckoned(found: re.Match[str]) -> str:
    a, b = int(found[1]), int(found[3])
    sign = found[2].casefold()
    if sign in {"+", "plus"}:
        return str(a + b)
    if sign in {"-", "−", "minus"}:
        return str(a - b)
    if sign in {"/", "÷", "divided by"}:
        return str(a // b if b and a % b == 0 else round(a / b, 4) if b else 0)
    return str(a * b)
