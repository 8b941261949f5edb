"""The limits of one server, and its rate limiters.

Rule: every quantity that a client could drive up has a bound here.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The bounds of one server."""

    matches: int = 2000
    """Matches kept at the same time, including ended ones."""

    transcripts: int = 256 * 1024 * 1024
    """Characters of all transcripts. Above it the matches that ended first are forgotten; if that is not enough, the
    longest running ones are abandoned."""

    transcript: int = 32 * 1024 * 1024
    """Characters of one match's transcript; a match that exceeds it is abandoned."""

    tables_of_address: int = 100
    """Waiting or running matches that one address has opened."""

    sockets: int = 5000
    sockets_of_address: int = 500
    http_of_address: int = 256
    """Connections of one address that are not WebSockets."""

    seats_of_socket: int = 256
    """Seats and spectators that one connection may serve."""

    spectators: int = 200
    """Spectator connections of one match."""

    polls_of_address: int = 100
    """Long polls of one address at the same time."""

    outbox: int = 512
    """Messages queued for one slow reader before its connection is closed."""

    requests_per_s: float = 50.0
    """Average rate for one connection or address."""

    burst: float = 200.0
    """Requests that may arrive at once."""

    patience: int = 50
    """Consecutive rate-limited requests before the connection is closed."""

    new_matches_per_s: float = 2.0
    """Average rate for one address."""

    new_matches_burst: float = 20.0

    token_wait: timedelta = timedelta(seconds=10)
    """How long a connection may be open without a valid token (arena 5.3)."""

    token_tries: int = 10
    """Wrong tokens that one connection may send."""

    request_wait: timedelta = timedelta(seconds=10)
    """How long a request may take to arrive in full."""

    ping_every: timedelta = timedelta(seconds=20)
    """Ping interval of an open connection (arena 5.3); one that does not answer within the same time is closed."""

    farewell: timedelta = timedelta(seconds=3)
    """How long a peer has to read the last messages when its connection is closed; after twice this it is cut off."""

    waiting_kept: timedelta = timedelta(hours=1)
    """How long a match waits for its seats to be taken."""

    ended_kept: timedelta = timedelta(minutes=30)
    """How long an ended match can be read."""

    house_pause: timedelta = timedelta(milliseconds=10)
    """Minimum time that an agent of the server takes for each action, so that many of them leave time for others."""

    house_actions_per_s: float = 500.0
    """Rate for all agents of the server together, for the same reason."""

    own_agents: int = 32
    """Seats of agents that the operator has added, in all matches that are not over."""

    thinkers: int = 2
    """Agents of the server that may compute at the same time; the others wait."""

    longest_turn: timedelta = timedelta(hours=1)
    """The longest turn time-out that a client may set, so that every match ends."""


class Bucket:
    """A token bucket: an average rate, with bursts."""

    __slots__ = ("_burst", "_filled_at", "_level", "_rate")

    def __init__(self, rate_per_s: float, burst: float, now_s: float) -> None:
        self._rate = rate_per_s
        self._burst = burst
        self._level = burst
        self._filled_at = now_s

    def take(self, now_s: float) -> float:
        """Seconds to wait; 0 if the request is accepted."""
        self._level = min(self._burst, self._level + (now_s - self._filled_at) * self._rate)
        self._filled_at = now_s
        if self._level >= 1:
            self._level -= 1
            return 0.0
        return (1 - self._level) / self._rate

    def charge(self, cost: float) -> None:
        """Charge an accepted request that was more work than others; later requests wait for it."""
        self._level -= cost


class Buckets:
    """One bucket for each address; the least recent ones are forgotten."""

    def __init__(self, rate_per_s: float, burst: float, most: int = 10_000) -> None:
        self._rate = rate_per_s
        self._burst = burst
        self._most = most
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str, now_s: float) -> float:
        """Seconds that ``key`` has to wait; 0 if the request is accepted."""
        bucket = self._of.get(key)
        if bucket is None:
            bucket = self._of[key] = Bucket(self._rate, self._burst, now_s)
            if len(self._of) > self._most:
                self._of.popitem(last=False)
        self._of.move_to_end(key)
        return bucket.take(now_s)

    def charge(self, key: str, cost: float) -> None:
        """Charge ``key`` for a request that was more work than others."""
        bucket = self._of.get(key)
        if bucket is not None:
            bucket.charge(cost)


PUSHES_OF_ONE_REQUEST = 50
"""Sending this many missed pushes is as much work as one request."""


class RateLimiter:
    """Spaces callers out to a maximum rate."""

    def __init__(self, rate_per_s: float) -> None:
        self._step_s = 1 / rate_per_s
        self._next_s = 0.0

    def wait_s(self, now_s: float) -> float:
        """Reserve the next turn; return the seconds until then."""
        self._next_s = max(now_s, self._next_s + self._step_s)
        return self._next_s - now_s
