"""Connections to mail services that the mailboxes of a process share.

Rule: there are as many connections as calls at the same time, not as mailboxes: each request names its account.
"""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from league_agents.mail.gmail.transport import GmailServer


class Connections:
    """The servers that were called, with their open connections. Used by any thread; ``close`` it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._servers: dict[tuple[str, timedelta], GmailServer] = {}

    def to(self, endpoint: str, *, timeout: timedelta) -> GmailServer:
        """Return the server at an address. Imports Google's library with the first call."""
        from league_agents.mail.gmail.transport import GmailServer

        with self._lock:
            server = self._servers.get((endpoint, timeout))
            if server is None:
                server = self._servers[endpoint, timeout] = GmailServer(endpoint, timeout)
            return server

    def close(self) -> None:
        """Close the connections. No call may be under way."""
        with self._lock:
            servers, self._servers = list(self._servers.values()), {}
        for server in servers:
            server.close()
