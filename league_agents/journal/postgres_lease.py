"""Which process works on which journals of a database.

Rule 1: whoever works on a journal holds its lease, which it renews as long as it lives. A process that ends gives its
leases back; those of one that was killed or stopped run out, by the clock of the database.
Rule 2: taking a lease counts as a step of the journal, so an earlier holder that wakes up again can neither commit nor
begin to send anything.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
from typing import Any, NamedTuple

import psycopg
from psycopg_pool import PoolClosed

from league_agents.journal.postgres_connection import ServerPatience
from league_agents.journal.postgres_pool import BoundedPool
from league_agents.kit.errors import JournalHeld

LOG = logging.getLogger(__name__)

RENEW_SHARE = 1 / 4
"""Part of a lease after which it is renewed."""

_Connection = psycopg.Connection[tuple[Any, ...]]
_TAKE = """
    INSERT INTO lease (journal, holder, until) VALUES (%s, %s, now() + %s * interval '1 second')
    ON CONFLICT (journal) DO UPDATE SET holder = excluded.holder, until = excluded.until
    WHERE lease.until < now() OR lease.holder = ANY(%s)
    """
_NOT_GIVEN_BACK: set[str] = set()
"""The former leases of this process that the database does not know to be given back: it was away at that moment."""


class Lease(NamedTuple):
    """A lease that was taken."""

    holder: str
    """Who holds it, to give it back."""

    steps: int
    """The number of steps of the journal at that moment."""


class Leases:
    """The leases of this process in one database. Any thread may use it."""

    def __init__(self, pool: BoundedPool, patience: ServerPatience) -> None:
        self._pool = pool
        self._lease_s = patience.lease_s
        self._farewell_s = patience.farewell_s
        self._held: set[str] = set()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def take(self, journal: int, name: str) -> Lease:
        """Take the lease of a journal, called ``name`` in errors. Raises ``JournalHeld``, and ``psycopg.Error``."""
        holder = f"{socket.gethostname()}, process {os.getpid()} ({secrets.token_hex(4)})"
        with self._pool.connection() as connection:
            try:
                with connection.transaction():
                    values = (journal, holder, self._lease_s, list(_NOT_GIVEN_BACK))
                    if connection.execute(_TAKE, values).rowcount != 1:
                        row = connection.execute("SELECT holder FROM lease WHERE journal = %s", (journal,)).fetchone()
                        raise JournalHeld(f"{name}: {row[0] if row else 'another process'} works on this journal")
                    query = "UPDATE version SET steps = steps + 1 WHERE journal = %s RETURNING steps"
                    counted = connection.execute(query, (journal,)).fetchone()
            except psycopg.Error:
                # The lease may have been written all the same.
                _NOT_GIVEN_BACK.add(holder)
                raise
        with self._lock:
            self._held.add(holder)
            if self._thread is None:
                self._thread = threading.Thread(target=self._renew_until_closed, name="journal leases", daemon=True)
                self._thread.start()
        return Lease(holder=holder, steps=0 if counted is None else int(counted[0]))

    def give_back(self, holder: str) -> None:
        """Let others take the journal at once. If the database is away, the lease runs out for other processes; this
        one may take it again."""
        with self._lock:
            self._held.discard(holder)
        try:
            with self._pool.connection(timeout=self._farewell_s) as connection, connection.waiting(self._farewell_s):
                connection.execute("DELETE FROM lease WHERE holder = %s", (holder,))
        except (psycopg.Error, PoolClosed):
            _NOT_GIVEN_BACK.add(holder)

    def renew(self) -> None:
        """Prolong all leases of this process that nobody else has taken. Raises ``psycopg.Error``."""
        with self._lock:
            held = list(self._held)
        with self._pool.connection() as connection:
            query = "UPDATE lease SET until = now() + %s * interval '1 second' WHERE holder = ANY(%s)"
            connection.execute(query, (self._lease_s, held))

    def close(self) -> None:
        """Stop renewing."""
        self._closed.set()

    def _renew_until_closed(self) -> None:
        while not self._closed.wait(self._lease_s * RENEW_SHARE):
            try:
                self.renew()
            except (psycopg.Error, PoolClosed) as error:
                LOG.debug("the leases of journals were not renewed: %s", type(error).__name__)


def is_held(connection: _Connection, journal: int) -> bool:
    """Whether a living process holds the lease of a journal. Raises ``psycopg.Error``."""
    query = "SELECT 1 FROM lease WHERE journal = %s AND until >= now()"
    return connection.execute(query, (journal,)).fetchone() is not None
