"""Pools of connections to PostgreSQL servers that may be away.

Rule: while a server is away one caller at a time waits for it, and it is away for all others at once. Otherwise the
roles of one database would keep all threads of a process waiting, and the roles of others with them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
from psycopg_pool import ConnectionPool, PoolTimeout

from league_agents.journal.postgres_connection import BoundedConnection, ServerPatience


class ServersAway:
    """The servers that have not answered. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._away: dict[str, psycopg.Error] = {}
        self._awaited: set[str] = set()
        """Servers that are away and for which somebody waits."""

    def found(self, server: str, error: psycopg.Error) -> None:
        """Note that a server has not answered."""
        with self._lock:
            self._away[server] = error

    @contextmanager
    def waiting(self, server: str, *, may_wait: bool = True) -> Iterator[bool]:
        """Enclose a wait for an answer; yield whether the server was away. It is not any more if the block succeeds.

        Raises the error that was found if somebody else waits already, or nobody ``may_wait``.
        """
        with self._lock:
            known = self._away.get(server)
            if known is not None:
                if not may_wait or server in self._awaited:
                    raise type(known)(str(known))
                self._awaited.add(server)
        try:
            yield known is not None
            if known is not None:
                with self._lock:
                    self._away.pop(server, None)
        finally:
            if known is not None:
                with self._lock:
                    self._awaited.discard(server)


AWAY: Final = ServersAway()
"""Those of this process."""


class BoundedPool(ConnectionPool[BoundedConnection]):
    """Lends connections to one server."""

    server: str
    """Its address, as a key of ``AWAY``."""

    patience: ServerPatience

    def getconn(self, timeout: float | None = None) -> BoundedConnection:
        """Raises ``psycopg.Error`` with the server's own answer, if there is one."""
        with AWAY.waiting(self.server, may_wait=timeout is None) as was_away:
            try:
                connection = super().getconn(timeout)
            except PoolTimeout:
                if timeout is None:
                    connect(self.server, self.patience, within_s=2).close()
                raise  # the server answers, and all connections are lent
            if was_away:
                try:
                    connection.execute("SELECT 1")  # one from before may be dead
                except BaseException:
                    self.putconn(connection)
                    raise
            return connection


def connect(server: str, patience: ServerPatience, *, within_s: int | None = None) -> BoundedConnection:
    """A connection of its own. Raises ``psycopg.Error``."""
    options = patience.network if within_s is None else {**patience.network, "connect_timeout": within_s}
    try:
        connection = BoundedConnection.connect(server, **options)
    except psycopg.Error as error:
        AWAY.found(server, error)
        raise
    connection.silence_s = patience.silence_s
    return connection
