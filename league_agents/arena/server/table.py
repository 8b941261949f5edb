"""The hall's own record of one match: its agents, connections and transcript."""

from __future__ import annotations

import asyncio
import io
import zlib
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from league_agents.arena.decisions import ClockState, Decisions
from league_agents.arena.protocol.hosting import Hosted
from league_agents.arena.scenario import Scenario
from league_agents.arena.server.kept import MatchInPlay, OpenedMatch
from league_agents.arena.server.outbox import SocketOutbox
from league_agents.arena.session import Session
from league_agents.games.game import Action, ForfeitCause


@dataclass(slots=True, kw_only=True, eq=False)
class ServedMatch:
    """One match of a hall."""

    scenario: Scenario
    seed: int
    house_seed: int
    """The seed of the house's agents. It is independent of the match's seed, so their actions reveal nothing about
    hidden roles."""

    opener: str
    """The address that opened the match; ``""`` for the server itself."""

    pause: timedelta
    """Time that an agent of the house takes for each action."""

    agents: dict[str, object] = field(default_factory=dict)
    """Seat -> agent of the house."""

    session: Session | None = None
    """``None`` while seats are free."""

    running: asyncio.Task[None] | None = None
    readers: dict[str, set[SocketOutbox]] = field(default_factory=dict)
    """Agent or spectator -> its connections."""

    lost: set[str] = field(default_factory=set)
    """Agents that have lost all their connections."""

    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, and replaced by a new event, whenever the match has news."""

    transcript: io.StringIO | None = field(default_factory=io.StringIO)
    """``None`` once it is packed."""

    packed: bytes = b""
    kept_play: MatchInPlay | None = None
    kept_clocks: ClockState | None = None
    """What the keep was last told."""

    def wake(self) -> None:
        """Wake everything that waits for news of the match."""
        self.moved.set()
        self.moved = asyncio.Event()

    def opened(self, hosted: Hosted) -> OpenedMatch:
        """How the match was opened."""
        scenario = self.scenario
        return OpenedMatch(
            game=scenario.game,
            config=dict(scenario.config),
            agents=scenario.seats,
            lang=scenario.lang,
            clock=scenario.clock,
            interaction=None if scenario.interaction is None else dict(scenario.interaction),
            seed=self.seed,
            house_seed=self.house_seed,
            opener=self.opener,
            pause_s=self.pause.total_seconds(),
            profile=hosted.profile.value,
            is_listed=hosted.is_listed,
            is_open=hosted.is_open,
            created_at=hosted.created_at,
        )

    @property
    def decisions(self) -> Decisions | None:
        """``None`` while seats are free."""
        return None if self.session is None else self.session.decisions

    @property
    def watching(self) -> int:
        """The number of connected spectators."""
        return sum(agent_id not in self.scenario.agent_ids for agent_id in self.readers)

    @property
    def size(self) -> int:
        """The size of the transcript in characters, or in bytes once it is packed."""
        return len(self.packed) if self.transcript is None else self.transcript.tell()

    def pack(self, written: str | None = None) -> None:
        """Compress the transcript and drop the agents of a match that is over. ``written`` is its transcript."""
        if self.session is not None and self.session.decisions.is_over:
            self.session.end()
        self.release_agents()
        if self.transcript is not None:
            text = self.transcript.getvalue() if written is None else written
            self.packed = zlib.compress(text.encode("utf-8", "backslashreplace"), 6)
            self.transcript = None
        if self.session is not None:
            self.session.release()

    def release_agents(self) -> None:
        """Release the agents of the house, whose match is over."""
        for agent in self.agents.values():
            close = getattr(agent, "close", None)
            if callable(close):
                close()
        self.agents.clear()

    def transcript_lines(self) -> list[str]:
        """The transcript of a match that is over."""
        # The last action may have just arrived, before the session could run again.
        self.pack()
        return zlib.decompress(self.packed).decode().split("\n")[:-1] if self.packed else []


class SessionDriver:
    """The ``Driver`` of a match that a session runs."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def act(self, agent_id: str, action: Action, now: datetime, /) -> object:
        """Take an action. Raises ``IllegalAction``."""
        try:
            return self._session.submit(agent_id, action)
        finally:
            # Before the pushes go out: the clock of the next agent starts now.
            self._session.decisions.ask(now)

    def forfeit(self, agent_id: str, cause: ForfeitCause, now: datetime, /) -> object:
        """Forfeit an action that is owed."""
        return self._session.decisions.forfeit(agent_id, cause, now)

    def deadline(self, agent_id: str, /) -> datetime | None:
        """The deadline of the action that the agent owes; ``None`` without a clock."""
        return self._session.decisions.deadline(agent_id)
