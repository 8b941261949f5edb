"""The service manager's notify protocol (sd_notify): readiness, status, watchdog.

Rule: the watchdog is fed by the roles' own progress. If one of them makes none, it starves, and the service manager
starts the process anew.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, MutableMapping
from contextlib import suppress
from datetime import timedelta

from league_agents.app.vitals import Vitals
from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.runner.live import LiveRole
from league_agents.runner.probe import Probe

SOCKET_VARIABLE, WATCHDOG_VARIABLE, PROCESS_VARIABLE = "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"

FEEDS_A_PERIOD = 4
"""How often the watchdog is fed within its period."""


class ServiceManager(Probe):
    """Tells the service manager how the process is. Thread-safe."""

    def __init__(
        self, address: str, *, watchdog: timedelta | None, vitals: Vitals, monotonic_s: Callable[[], float]
    ) -> None:
        """``address`` is a path, or a name in the abstract namespace, which begins with ``@``."""
        self._address = b"\0" + os.fsencode(address[1:]) if address.startswith("@") else os.fsencode(address)
        self._watchdog = watchdog
        self._vitals = vitals
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._status = ""
        self._fed_s: float | None = None
        self._is_ready = False

    def turned(self, role: LiveRole, rest: timedelta) -> timedelta:
        with self._lock:
            if not self._is_ready:
                self._is_ready = True
                self._tell("READY=1")
            self._show()
        self._feed()
        return rest if self._watchdog is None else min(rest, self._watchdog / FEEDS_A_PERIOD)

    def received(self, role: str, row: InboxRow) -> None:
        self._feed()

    def sent(self, role: str, item: OutboxItem) -> None:
        self._feed()

    def noted(self, role: str, note: Note) -> None:
        """No progress."""

    def reloading(self) -> None:
        """Say that the configuration is read again; ``reloaded`` must follow."""
        self._tell(f"RELOADING=1\nMONOTONIC_USEC={int(self._monotonic_s() * 1e6)}")

    def reloaded(self) -> None:
        """Say that the configuration was read."""
        self._tell("READY=1")

    def stopping(self) -> None:
        """Say that the process ends."""
        self._tell("STOPPING=1\nSTATUS=ends after the current step")

    def close(self) -> None:
        """Release the socket."""
        self._socket.close()

    def _show(self) -> None:
        count = len(self._vitals)
        status = self._vitals.trouble() or f"{count} {'mailbox' if count == 1 else 'mailboxes'} watched"
        if status != self._status:
            self._status = status
            self._tell(f"STATUS={status}")

    def _feed(self) -> None:
        if self._watchdog is None:
            return
        now_s = self._monotonic_s()
        with self._lock:
            is_hungry = self._fed_s is None or now_s - self._fed_s >= self._watchdog.total_seconds() / FEEDS_A_PERIOD
            if is_hungry and not self._vitals.stuck(self._watchdog):
                self._fed_s = now_s
                self._tell("WATCHDOG=1")

    def _tell(self, text: str) -> None:
        # A manager that does not listen must not stop the league; a watchdog that is not fed has the last word.
        with suppress(OSError):
            self._socket.sendto(text.encode(), self._address)


def service_manager(
    environment: MutableMapping[str, str], vitals: Vitals, monotonic_s: Callable[[], float]
) -> ServiceManager | None:
    """The manager that started this process; ``None`` without one. Its variables are removed: children have none."""
    address = environment.pop(SOCKET_VARIABLE, "")
    period, process = environment.pop(WATCHDOG_VARIABLE, ""), environment.pop(PROCESS_VARIABLE, "")
    if not address.startswith(("/", "@")) or not hasattr(socket, "AF_UNIX"):
        return None
    is_ours = process in ("", str(os.getpid()))
    usec = int(period) if is_ours and period.isascii() and period.isdecimal() and len(period) < 16 else 0
    watchdog = timedelta(microseconds=usec) if usec else None
    return ServiceManager(address, watchdog=watchdog, vitals=vitals, monotonic_s=monotonic_s)
