"""The matches that a server has in memory, and their eviction.

Rule: the memory that clients can make it use is bounded, and the matches that ended first are removed first.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from datetime import datetime

from league_agents.arena.protocol.hosting import Hosted, MemoryStore, Status
from league_agents.arena.protocol.refusals import rate_limited
from league_agents.arena.server.keep import MatchKeep
from league_agents.arena.server.limits import Buckets, ServerLimits
from league_agents.arena.server.table import ServedMatch
from league_agents.arena.server.tokens import Tokens
from league_agents.kit.errors import LimitExceeded


class Tables:
    """The matches of one hall, with their tokens."""

    def __init__(
        self,
        limits: ServerLimits,
        now: Callable[[], datetime],
        *,
        keep: MatchKeep,
        give_up: Callable[[str, str], None],
    ) -> None:
        """``give_up`` abandons a match; its text is the reason."""
        self.store = MemoryStore()
        self.tokens = Tokens(keep.key(secrets.token_bytes(32)))
        self._keep = keep
        self._limits = limits
        self._now = now
        self._give_up = give_up
        self._tables: dict[str, ServedMatch] = {}
        self._new_matches = Buckets(limits.new_matches_per_s, limits.new_matches_burst)

    def get(self, match_id: str) -> ServedMatch | None:
        """The match; ``None`` if it is not stored."""
        return self._tables.get(match_id)

    def put(self, match_id: str, table: ServedMatch) -> None:
        """Store a new match."""
        self._tables[match_id] = table

    def all(self) -> Collection[ServedMatch]:
        """All stored matches."""
        return self._tables.values()

    def check_room(self, opener: str) -> None:
        """Make room for one more match. Raises ``LimitExceeded``, and ``Refused`` for an address that opens too many in
        a short time. ``opener=""`` is the server itself, which is not counted."""
        if opener:
            wait_s = self._new_matches.take(opener, self._now().timestamp())
            if wait_s:
                raise rate_limited(round(wait_s, 3))
            running = sum(
                table.opener == opener and (hosted := self.store.get(match_id)) is not None and hosted.ended_at is None
                for match_id, table in self._tables.items()
            )
            if running >= self._limits.tables_of_address:
                raise LimitExceeded("matches that you opened and that are not over", running + 1, running)
        if len(self._tables) < self._limits.matches:
            return
        self.sweep()
        if len(self._tables) < self._limits.matches:
            return
        ended = self._ended()
        if not ended:
            raise LimitExceeded("matches at this server", len(self._tables) + 1, self._limits.matches)
        self.forget(ended[0].match_id)

    def forget(self, match_id: str) -> None:
        """Remove a match with its tokens and everything else that belongs to it."""
        self.store.remove(match_id)
        self.tokens.forget(match_id)
        self._keep.let_go(match_id)
        table = self._tables.pop(match_id, None)
        if table is not None:
            table.wake()
            if table.running is not None:
                table.running.cancel()
            if table.session is not None:
                table.session.release()

    def sweep(self) -> None:
        """Abandon matches that did not fill in time or grow too long; forget those that ended long ago or lack room."""
        now = self._now()
        for hosted in self.store.all():
            if hosted.status is Status.WAITING and now - hosted.created_at > self._limits.waiting_kept:
                self._give_up(hosted.match_id, "Not everybody came.")
            elif hosted.ended_at is not None and now - hosted.ended_at > self._limits.ended_kept:
                self.forget(hosted.match_id)
        kept = sum(table.size for table in self._tables.values())
        for hosted in self._ended():
            if kept <= self._limits.transcripts:
                break
            kept -= self._tables[hosted.match_id].size
            self.forget(hosted.match_id)
        running = [(self._tables[each.match_id].size, each) for each in self.store.all() if each.ended_at is None]
        for size, hosted in sorted(running, key=lambda each: each[0], reverse=True):
            if kept <= self._limits.transcripts and size <= self._limits.transcript:
                break
            kept -= size
            self._give_up(hosted.match_id, "The match is too long for this server.")

    def _ended(self) -> list[Hosted]:
        """The ended matches, in order of their end."""
        over = [(hosted.ended_at, hosted) for hosted in self.store.all() if hosted.ended_at is not None]
        return [hosted for _, hosted in sorted(over, key=lambda each: each[0])]
