"""What one server bears, and how it tells who asks too often.

Rule: every number that a stranger could drive up has a bound here.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLimits:
    """The bounds of one server."""

    matches: int = 2000
    """At the same time, ended ones that are still kept included."""

    transcripts: int = 256 * 1024 * 1024
    """Characters of all transcripts. Above it the matches that ended first are forgotten, and when that is not enough
    the longest that still run are given up."""

    transcript: int = 32 * 1024 * 1024
    """Characters of one match's transcript; a match that comes to more is given up."""

    tables_of_address: int = 100
    """Matches that wait or run, of one address that opened them."""

    sockets: int = 5000
    sockets_of_address: int = 500
    http_of_address: int = 256
    """Connections that are no WebSockets."""

    seats_of_socket: int = 256
    """Seats and places to watch from that one connection may serve."""

    spectators: int = 200
    """Connections that watch one match."""

    polls_of_address: int = 100
    """Requests that wait for events at the same time."""

    outbox: int = 512
    """Messages that wait for one slow reader before its connection is closed."""

    requests_per_s: float = 50.0
    """Of one connection or address, on average."""

    burst: float = 200.0
    """Requests that may come at once."""

    patience: int = 50
    """Requests in a row that are refused as too many before the connection is closed."""

    new_matches_per_s: float = 2.0
    """Of one address, on average."""

    new_matches_burst: float = 20.0

    token_wait: timedelta = timedelta(seconds=10)
    """How long a connection may be open without a valid token (arena 5.3)."""

    token_tries: int = 10
    """Wrong tokens that one connection may send."""

    request_wait: timedelta = timedelta(seconds=10)
    """How long a request may take to arrive in full."""

    ping_every: timedelta = timedelta(seconds=20)
    """Of an open connection (arena 5.3); one that does not answer as long again is gone."""

    farewell: timedelta = timedelta(seconds=3)
    """How long a peer that is closed on has to take what was said last; after twice as long it is cut off."""

    waiting_kept: timedelta = timedelta(hours=1)
    """How long a match waits for its seats to be taken."""

    ended_kept: timedelta = timedelta(minutes=30)
    """How long an ended match can be read."""

    house_pause: timedelta = timedelta(milliseconds=10)
    """What an agent of the server takes for each action at least, so that many of them leave time for everybody."""

    house_actions_per_s: float = 500.0
    """Of all agents of the server together, for the same reason."""

    thinkers: int = 2
    """Agents of the server that may compute at the same time; the others wait for their turn."""

    longest_turn: timedelta = timedelta(hours=1)
    """That a stranger may give a decision; a match that never ends is nobody's."""


class Bucket:
    """Lets requests through at an average rate, with bursts."""

    __slots__ = ("_burst", "_filled_at", "_level", "_rate")

    def __init__(self, rate_per_s: float, burst: float, now_s: float) -> None:
        self._rate = rate_per_s
        self._burst = burst
        self._level = burst
        self._filled_at = now_s

    def take(self, now_s: float) -> float:
        """Seconds to wait; 0 when the request is let through."""
        self._level = min(self._burst, self._level + (now_s - self._filled_at) * self._rate)
        self._filled_at = now_s
        if self._level >= 1:
            self._level -= 1
            return 0.0
        return (1 - self._level) / self._rate

    def charge(self, cost: float) -> None:
        """A request that was let through was more work than others: the next ones wait for it."""
        self._level -= cost


class Buckets:
    """One bucket for each address; the least recent ones are forgotten."""

    def __init__(self, rate_per_s: float, burst: float, most: int = 10_000) -> None:
        self._rate = rate_per_s
        self._burst = burst
        self._most = most
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, key: str, now_s: float) -> float:
        """Seconds that ``key`` has to wait; 0 when the request is let through."""
        bucket = self._of.get(key)
        if bucket is None:
            bucket = self._of[key] = Bucket(self._rate, self._burst, now_s)
            if len(self._of) > self._most:
                self._of.popitem(last=False)
        self._of.move_to_end(key)
        return bucket.take(now_s)

    def charge(self, key: str, cost: float) -> None:
        """A request of ``key`` was more work than others."""
        bucket = self._of.get(key)
        if bucket is not None:
            bucket.charge(cost)


PUSHES_OF_ONE_REQUEST = 50
"""Told again after the fact, they are as much work as one request."""


class RateLimiter:
    """Lets one after the other go, at no more than a rate."""

    def __init__(self, rate_per_s: float) -> None:
        self._step_s = 1 / rate_per_s
        self._next_s = 0.0

    def wait_s(self, now_s: float) -> float:
        """How long whoever asks now waits for its turn."""
        self._next_s = max(now_s, self._next_s + self._step_s)
        return self._next_s - now_s
