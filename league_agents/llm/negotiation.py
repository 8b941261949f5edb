"""Finding out which parameters a server accepts, for SDKs that send them as they are told.

Rule: what was refused once is not tried again, by this request or a later one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from league_agents.kit.clock import monotonic_s
from league_agents.llm.exchange import Rejected, Reply, Request, Unanswered

D = TypeVar("D", bound=Hashable)
"""The parameters that are used, a value of the adapter's own."""


class RefusedParameter(Exception):
    """The server does not accept a parameter, or the request at all."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said
        self.usage: object = None


class Negotiation(Generic[D]):
    """The dialect of one model at one server. Any thread may use it."""

    def __init__(self, first: D) -> None:
        self._dialect = first
        self._lock = threading.Lock()

    def exchange(
        self, request: Request, name: str, ask: Callable[[D, float], Reply], other: Callable[[D, str], D | None]
    ) -> Reply:
        """Ask in the dialect known so far, and in others while they are refused.

        ``ask`` gets a dialect and the seconds that are left, and may raise ``RefusedParameter``; ``other`` gets the
        refused dialect and what the server said, and returns the next one. Raises ``Rejected`` if none is left,
        ``Unanswered`` if no time is, and what ``ask`` raises.
        """
        ends_s = monotonic_s() + request.timeout.total_seconds()
        dialect = self._dialect
        tried = set[D]()
        while True:
            tried.add(dialect)
            left_s = ends_s - monotonic_s()
            if left_s <= 0:
                raise Unanswered(f"{name}: no time is left")
            try:
                reply = ask(dialect, left_s)
            except RefusedParameter as refused:
                following = other(dialect, refused.said)
                if following is None or following in tried:
                    raise Rejected(f"{name}: refuses the request: {refused.said}") from None
                dialect = following
                continue
            if dialect != self._dialect:
                with self._lock:
                    self._dialect = dialect
            return reply
