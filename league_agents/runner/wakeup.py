"""How threads and signals rouse whoever rests.

Rule: a signal's handler runs between any two steps of the main thread, so it takes no lock: it writes one byte to a
pipe. Everything else uses an event.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from datetime import timedelta

from league_agents.kit.clock import SystemClock


class Wakeup:
    """Ends a rest early. A call that comes before the rest begins ends it at once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.stopping = threading.Event()
        """Set when whoever rests is to end: nothing more is begun, not even the next call of a step in hand."""

    def stop(self) -> None:
        """Ask for the end. From any thread."""
        self.stopping.set()
        self.wake()

    def wake(self) -> None:
        """End the rest. From any thread."""
        self._event.set()

    def rest(self, duration: timedelta) -> None:
        """Rest for ``duration`` or until woken."""
        if SystemClock().wait(self._event, duration):
            self._event.clear()


class StopRequest:
    """Somebody wants the process to end, or a role wants it looked at whether it still can go on."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self.is_requested = False
        """Whether a person asked for the end."""

    def request(self) -> None:
        """Ask for the end. From a signal's handler or any thread."""
        self.is_requested = True
        self.nudge()

    def nudge(self) -> None:
        """End the wait, without asking for anything."""
        # A full pipe says that thousands asked before.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b".")

    def wait(self) -> None:
        """Wait until somebody asks or nudges."""
        select.select([self._reader], [], [])
        os.read(self._reader, 4096)

    def close(self) -> None:
        """Release the pipe."""
        os.close(self._reader)
        os.close(self._writer)
