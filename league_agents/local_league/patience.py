"""Waiting for events in other threads and processes.

Rule: a wait ends with its event. The limit only keeps a test from hanging if the event never happens. It is the only
limit, far above the need of the slowest machine, so that no test result depends on a machine's speed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from league_agents.kit.clock import real_monotonic_s
from league_agents.kit.errors import LimitExceeded

T = TypeVar("T")

LIMIT_S = 600.0
"""Real seconds. The limit of pytest for a whole test is 1.5 times this (``timeout`` in ``pyproject.toml``)."""

LOOK_EVERY_S = 0.05


def until(look: Callable[[], T], event: str, *, story: Callable[[], str] = str, limit_s: float = LIMIT_S) -> T:
    """Call ``look`` until it returns a true value, and return that value.

    Raises ``LimitExceeded``, with the text of ``story`` in a note, if ``event`` does not happen in time.
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
