"""How commands that serve until they are interrupted hear of it."""

from __future__ import annotations

import signal
import threading


def stop_asked() -> threading.Event:
    """The event that Ctrl-C and SIGTERM set from now on. Call it on the main thread."""
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: stopping.set())
    return stopping
