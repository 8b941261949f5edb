"""What the hall keeps of one match besides what the service keeps: who plays, who listens, what is written down."""

from __future__ import annotations

import asyncio
import io
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from league_agents.arena.decisions import Decisions
from league_agents.arena.scenario import Scenario
from league_agents.arena.server.outbox import SocketOutbox
from league_agents.arena.session import Session
from league_agents.games.game import Action, ForfeitCause


@dataclass(slots=True, kw_only=True, eq=False)
class ServedMatch:
    """One match of a hall."""

    scenario: Scenario
    seed: int
    house_seed: int
    """What the house's agents draw from. It has nothing to do with the match's seed: what they do tells nobody what was
    dealt."""

    opener: str
    """The address that opened the match; ``""`` for the server itself."""

    pause: timedelta
    """What an agent of the house takes for each action."""

    agents: dict[str, object] = field(default_factory=dict)
    """The house's own, by seat."""

    session: Session | None = None
    """``None`` while seats are free."""

    running: asyncio.Task[None] | None = None
    readers: dict[str, set[SocketOutbox]] = field(default_factory=dict)
    """Agent or spectator to its connections."""

    lost: set[str] = field(default_factory=set)
    """Agents that had connections and have none now."""

    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, and replaced by a new one, whenever something was told."""

    transcript: io.StringIO | None = field(default_factory=io.StringIO)
    """``None`` once it is packed."""

    packed: bytes = b""

    def wake(self) -> None:
        """Whoever waits for news looks again."""
        self.moved.set()
        self.moved = asyncio.Event()

    @property
    def decisions(self) -> Decisions | None:
        """``None`` while seats are free."""
        return None if self.session is None else self.session.decisions

    @property
    def watching(self) -> int:
        """How many spectators are connected."""
        return sum(agent_id not in self.scenario.agent_ids for agent_id in self.readers)

    @property
    def size(self) -> int:
        """Of the transcript, in characters, or in bytes once it is packed."""
        return len(self.packed) if self.transcript is None else self.transcript.tell()

    def pack(self) -> None:
        """The match is over: keep its transcript small, and nothing of its agents."""
        if self.session is not None and self.session.decisions.is_over:
            self.session.end()
        self.agents.clear()
        if self.transcript is not None:
            self.packed = zlib.compress(self.transcript.getvalue().encode("utf-8", "backslashreplace"), 6)
            self.transcript = None
        if self.session is not None:
            self.session.release()

    def transcript_lines(self) -> list[str]:
        """The transcript of a match that is over."""
        # The last action may have come this moment, and the session not have run since.
        self.pack()
        return zlib.decompress(self.packed).decode().splitlines() if self.packed else []


class SessionDriver:
    """A session as the service moves it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def act(self, agent_id: str, action: Action, now: datetime, /) -> object:
        """Take an action. Raises ``IllegalAction``."""
        try:
            return self._session.submit(agent_id, action)
        finally:
            # Before anybody hears of it: whoever is next has its clock from now on.
            self._session.decisions.ask(now)

    def forfeit(self, agent_id: str, cause: ForfeitCause, now: datetime, /) -> object:
        """Go on without an action that is owed."""
        return self._session.decisions.forfeit(agent_id, cause, now)

    def deadline(self, agent_id: str, /) -> datetime | None:
        """Until when the agent owes its action; ``None`` without a clock."""
        return self._session.decisions.deadline(agent_id)
