"""Wake resting threads, from other threads and from signal handlers.

Rule: a signal handler runs between any two bytecodes of the main thread, so it takes no lock: it writes one byte to a
pipe. Everything else uses an event.
"""

from __future__ import annotations

import contextlib
import os
import select
import threading
from collections.abc import Callable
from datetime import timedelta

from league_agents.kit.clock import SystemClock


class Wakeup:
    """Ends the rest of a role early. A call that comes before the rest begins ends it at once."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self.stopping = threading.Event()
        """Set to end the role: it begins nothing more, not even the next call of the current step."""

        self._rung = threading.Event()
        self.hears_of_mail: Callable[[], bool] = lambda: False
        """Whether ``ring`` is called at the moment when mail arrives."""

        self._listener: Callable[[], object] = lambda: None

    def stop(self) -> None:
        """Ask the role to end. May be called from any thread."""
        self.stopping.set()
        self.wake()

    def wake(self) -> None:
        """End the rest. May be called from any thread."""
        self._event.set()
        self._listener()

    def ring(self) -> None:
        """Say that mail has arrived. May be called from any thread."""
        self._rung.set()
        self.wake()

    def was_rung(self) -> bool:
        """Whether mail has arrived since the last call."""
        found = self._rung.is_set()
        self._rung.clear()
        return found

    def listen(self, listener: Callable[[], object]) -> None:
        """Call ``listener`` for each ``wake``, on its thread."""
        self._listener = listener

    def rest(self, duration: timedelta) -> None:
        """Rest for ``duration`` or until woken."""
        if SystemClock().wait(self._event, duration):
            self._event.clear()


class StopRequest:
    """A request to end the process, to read its configuration again, or to check whether the roles can go on."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self.is_requested = False
        """Whether a person has asked the process to end."""

        self.is_reload_requested = False
        """Whether a person has asked it to read its configuration again. The caller of ``wait`` resets it."""

    def request(self) -> None:
        """Ask the process to end. May be called from a signal handler or any thread."""
        self.is_requested = True
        self.nudge()

    def request_reload(self) -> None:
        """Ask the process to read its configuration again. May be called from a signal handler or any thread."""
        self.is_reload_requested = True
        self.nudge()

    def nudge(self) -> None:
        """End the wait without a request to end the process."""
        # A full pipe wakes the reader anyway.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b".")

    def wait(self) -> None:
        """Wait for a call of ``request`` or ``nudge``."""
        select.select([self._reader], [], [])
        os.read(self._reader, 4096)

    def close(self) -> None:
        """Release the pipe."""
        os.close(self._reader)
        os.close(self._writer)
