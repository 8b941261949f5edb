"""Connections to a PostgreSQL server that may stop answering, and how long each wait on it may last.

Rule 1: every wait is bounded by this process itself. Timeouts of the server and of TCP do not help against a server
whose machine is alive while its processes are stopped.
Rule 2: all waits are shorter than a lease, so a process notices the loss of its database before others may take over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar
from urllib.parse import unquote

import psycopg
from psycopg.abc import PQGen

from league_agents.kit.clock import real_monotonic_s
from league_agents.kit.errors import JournalUnusable

LEASE_OPTION: Final = "lease_seconds"
"""The option of an address that sets the length of a lease."""

LEASE_S: Final = 24.0
"""Default seconds after which the lease of a silent process may be taken."""

_SHORTEST_LEASE_S, _LONGEST_LEASE_S = 2.0, 3_600.0
_OPTION: Final = re.compile(rf"([?&]){LEASE_OPTION}=([^&]*)(&|$)")

SILENCE_SHARE: Final = 5 / 8
"""Part of a lease after which a silent server is given up."""

FAREWELL_SHARE = 1 / 12
"""Part of a lease that giving it back, and closing the connections, may take."""

_CONNECT_SHARE: Final = 5 / 12
_LOCK_SHARE: Final = 1 / 3
_IDLE_SHARE: Final = 1 / 2

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ServerPatience:
    """The waits that follow from the length of a lease."""

    lease_s: float = LEASE_S

    @property
    def connect_s(self) -> float:
        """Seconds until a connection must be made."""
        return self.lease_s * _CONNECT_SHARE

    @property
    def silence_s(self) -> float:
        """Seconds after which a silent server is given up."""
        return self.lease_s * SILENCE_SHARE

    @property
    def farewell_s(self) -> float:
        """Seconds that giving back a lease, and closing the connections, may take each."""
        return self.lease_s * FAREWELL_SHARE

    @property
    def lock_ms(self) -> int:
        """Longest wait for a row that another process has locked."""
        return round(1_000 * self.lease_s * _LOCK_SHARE)

    @property
    def idle_ms(self) -> int:
        """A process that is stopped in the middle of a transaction must not keep its locks longer than its lease."""
        return round(1_000 * self.lease_s * _IDLE_SHARE)

    @property
    def network(self) -> dict[str, Any]:
        """Options of libpq: a machine that vanishes from the network is noticed within the time of a lease."""
        return {
            "autocommit": True,
            "client_encoding": "utf8",
            "connect_timeout": max(2, round(self.connect_s)),
            "keepalives_idle": max(1, round(self.connect_s)),
            "keepalives_interval": max(1, round(self.connect_s / 2)),
            "keepalives_count": 2,
            "tcp_user_timeout": round(1_000 * self.lease_s * 5 / 6),
        }


def patience_of(url: str) -> tuple[str, ServerPatience]:
    """Return the address without the option that only this program knows, and the waits that it asks for.

    Raises ``JournalUnusable``.
    """
    found = _OPTION.search(url)
    if found is None:
        return url, ServerPatience()
    before, written, after = found.groups()
    try:
        lease_s = float(unquote(written))
    except ValueError:
        lease_s = 0.0
    if not _SHORTEST_LEASE_S <= lease_s <= _LONGEST_LEASE_S:
        allowed = f"{_SHORTEST_LEASE_S:g} to {_LONGEST_LEASE_S:g} seconds"
        raise JournalUnusable(f"{LEASE_OPTION} in the journal's address must be {allowed}")
    return url[: found.start()] + (before if after else "") + url[found.end() :], ServerPatience(lease_s)


class ServerSilent(psycopg.OperationalError):
    """The server has not answered in time. The connection is closed."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection on which no statement waits for a silent server longer than ``silence_s``."""

    silence_s: float = LEASE_S * SILENCE_SHARE
    on_silence: Callable[[psycopg.Error], object] = staticmethod(lambda _error: None)
    """Called with the error when the server is given up."""

    @contextmanager
    def waiting(self, silence_s: float) -> Iterator[None]:
        """Use another limit for a while."""
        usual_s, self.silence_s = self.silence_s, silence_s
        try:
            yield
        finally:
            self.silence_s = usual_s

    def wait(self, gen: PQGen[T], *args: Any, **named: Any) -> T:
        try:
            return super().wait(_until_silent(gen, self.silence_s), *args, **named)
        except ServerSilent as error:
            # The reply may still come, and would be taken for that of the next statement.
            self.close()
            self.on_silence(error)
            raise


def _until_silent(gen: PQGen[T], limit_s: float) -> PQGen[T]:
    """The same steps. Raises ``ServerSilent`` if the socket was not ready for so long."""
    try:
        wanted = next(gen)
        heard_s = real_monotonic_s()
        while True:
            # psycopg reports a few times a second that nothing is ready.
            ready = yield wanted
            now_s = real_monotonic_s()
            if ready:
                heard_s = now_s
            elif now_s - heard_s >= limit_s:
                gen.close()
                raise ServerSilent(f"the server has not answered for {limit_s:.3g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        result: T = end.value
        return result
