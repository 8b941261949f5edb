"""Waiting for what other threads and processes do.

Rule: a wait ends with its event. The limit only keeps a test from hanging when the event never comes. It is the only
one, far above what the slowest machine needs, so that no verdict depends on a machine's speed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from league_agents.kit.clock import real_monotonic_s
from league_agents.kit.errors import LimitExceeded

T = TypeVar("T")

LIMIT_S = 600.0
"""Real seconds. pytest gives a whole test half as much again (``timeout`` in ``pyproject.toml``)."""

LOOK_EVERY_S = 0.05


def until(look: Callable[[], T], event: str, *, story: Callable[[], str] = str, limit_s: float = LIMIT_S) -> T:
    """Look until there is something (a true value), and return it.

    Raises ``LimitExceeded``, with ``story`` in a note, if ``event`` does not happen.
    """
    pause = threading.Event()
    ends_at_s = real_monotonic_s() + limit_s
    while not (found := look()):
        if real_monotonic_s() > ends_at_s:
            error = LimitExceeded(f"seconds of waiting until {event}", limit_s, limit_s)
            error.add_note(story())
            raise error
        pause.wait(LOOK_EVERY_S)  # real time, whatever a test's clock says
    return found
