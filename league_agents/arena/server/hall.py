"""The matches of one server while they wait, run and can still be read.

Rule 1: everything here happens on one event loop, so a match is handled one message at a time.
Rule 2: what a seat or a spectator is told goes to its own connections only, in the order in which it happened.
Rule 3: a match that fails ends as abandoned, with an incident in the log; the others go on.
"""

from __future__ import annotations

import asyncio
import io
import logging
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from league_agents.arena.scenario import Scenario
from league_agents.arena.scenario import Seat as ScenarioSeat
from league_agents.arena.server.limits import ServerLimits
from league_agents.arena.server.outbox import Outbox
from league_agents.arena.server.tokens import Tokens
from league_agents.arena.session import Memory, Session, wall_clock
from league_agents.arena.transcript import Line, TranscriptWriter, read_transcript, redact
from league_agents.core.game import Action, Cause
from league_agents.core.printable import line_of
from league_agents.errors import LimitExceeded
from league_agents.protocol.boardgame.access import Principal
from league_agents.protocol.boardgame.envelope import Envelope
from league_agents.protocol.boardgame.hosting import Hosted, MemoryStore, NoSeat, Profile, Seat, Status
from league_agents.protocol.boardgame.requests import CreateMatch
from league_agents.protocol.boardgame.service import MatchService, Outgoing

LOG = logging.getLogger(__name__)

OPEN = "open"
"""The agent of a scenario's seat that somebody else is to take."""

AgentMaker = Callable[[ScenarioSeat, Scenario, int, str, bool], object]
"""Makes the agent of a house seat: seat, scenario, seed, match id, whether it is the first seat. Raises
``ConfigError``."""


@dataclass(slots=True, kw_only=True, eq=False)
class _Table:
    """What the hall keeps of a match besides what the service keeps."""

    scenario: Scenario
    seed: int
    session: Session | None = None
    """``None`` while seats are free."""

    running: asyncio.Task[None] | None = None
    transcript: io.StringIO = field(default_factory=io.StringIO)
    readers: dict[str, set[Outbox]] = field(default_factory=dict)
    """Agent or spectator to its connections."""

    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set, and replaced by a new one, whenever something was told."""


class _SessionDriver:
    """A session as the service moves it."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def act(self, agent_id: str, action: Action, now: datetime, /) -> object:
        return self._session.submit(agent_id, action)

    def forfeit(self, agent_id: str, cause: Cause, now: datetime, /) -> object:
        return self._session.decisions.forfeit(agent_id, cause, now)

    def deadline(self, agent_id: str, /) -> datetime | None:
        decision = self._session.decisions.open_decisions.get(agent_id)
        return None if decision is None else decision.deadline


class Hall:
    """Opens, runs and closes matches, and knows who listens to them."""

    def __init__(
        self,
        *,
        make_agent: AgentMaker,
        scenario_of: Callable[[CreateMatch], Scenario] | None = None,
        memory_for: Callable[[str], Memory | None] = lambda _game: None,
        limits: ServerLimits | None = None,
        now: Callable[[], datetime] = wall_clock,
        profile: Profile = Profile.SEED,
    ) -> None:
        """``scenario_of`` makes what a ``create_match`` asks for; ``None``: matches are opened in the lobby only."""
        self.limits = limits or ServerLimits()
        self.tokens = Tokens()
        self.store = MemoryStore()
        self.now = now
        self._scenario_of = scenario_of
        self._make_agent = make_agent
        self._memory_for = memory_for
        self._profile = profile
        self._tables: dict[str, _Table] = {}
        self.service = MatchService(
            self.store, create=None if scenario_of is None else self._created, profile=profile
        )

    # The lobby.

    def open_match(self, scenario: Scenario, *, is_listed: bool = True) -> Hosted:
        """A new match; it starts when its last open seat is taken. Raises ``ConfigError`` or ``LimitExceeded``."""
        hosted = self._prepared(scenario, is_listed=is_listed)
        self.store.add(hosted)
        self._start_if_full(hosted.match_id)
        return hosted

    def join(
        self, match_id: str, *, name: str = "", kind: Literal["human", "ai"] = "ai", agent_id: str | None = None
    ) -> tuple[str, str]:
        """Take a free seat: the agent's id and its token. Raises ``NoSeat`` or ``Refused``."""
        seat = self.service.join(match_id, name=name, kind=kind, agent_id=agent_id)
        token = self.tokens.issue(match_id, seat)
        self._start_if_full(match_id)
        return seat, token

    def watch(self, match_id: str) -> tuple[str, str]:
        """A spectator's id and token. Raises ``Refused`` or ``NoSeat``."""
        hosted = self.store.get(match_id)
        if hosted is not None and len(hosted.spectators) >= self.limits.spectators:
            raise NoSeat(f"the match {match_id} has as many spectators as this server bears")
        spectator = self.service.watch(match_id)
        return spectator, self.tokens.issue(match_id, spectator)

    def leave(self, match_id: str, agent_id: str) -> None:
        """Somebody goes for good. Raises ``Refused`` or ``NoSeat``."""
        table = self._tables.get(match_id)
        if agent_id.startswith("spectator-"):
            self.service.unwatch(match_id, agent_id)
        elif table is None or table.session is None:
            self.service.vacate(match_id, agent_id)
        else:
            table.session.decisions.leave(agent_id)
            table.session.wake()

    def transcript(self, match_id: str, viewer: str) -> list[Line] | None:
        """The transcript of an ended match as ``viewer`` may have it; ``None`` before the end."""
        hosted, table = self.store.get(match_id), self._tables.get(match_id)
        if hosted is None or table is None or hosted.status not in (Status.ENDED, Status.ABANDONED):
            return None
        text = table.transcript.getvalue()
        return list(redact(read_transcript(text.splitlines()), viewer)) if text else []

    # Messages.

    def handle(self, text: str | bytes, principal: Principal | None, answer: Callable[[Envelope], None]) -> None:
        """Answer a request, then tell those whom it concerns what it caused (arena 5.3)."""
        (_, first), *pushes = self.service.handle(text, principal, self.now())
        answer(first)
        match_id = first.get("match_id", "")
        if first["type"] == "create_match_response":
            self._start_if_full(match_id)
        self._dispatch(match_id, pushes)

    def attach(self, match_id: str, agent_id: str, outbox: Outbox) -> None:
        """A connection of a seat or a spectator: it gets what is told from now on."""
        table = self._tables.get(match_id)
        if table is None:
            return
        table.readers.setdefault(agent_id, set()).add(outbox)
        if table.session is not None and agent_id in table.session.match.agent_ids:
            table.session.decisions.reconnected(agent_id)
            table.session.wake()

    def detach(self, match_id: str, agent_id: str, outbox: Outbox) -> None:
        """The connection is gone. A seat without any has a time of grace."""
        table = self._tables.get(match_id)
        if table is None:
            return
        readers = table.readers.get(agent_id, set())
        readers.discard(outbox)
        if readers:
            return
        table.readers.pop(agent_id, None)
        if agent_id.startswith("spectator-"):
            self.service.unwatch(match_id, agent_id)
        elif table.session is not None:
            table.session.decisions.disconnected(agent_id, self.now())
            table.session.wake()

    async def moved(self, match_id: str, timeout_s: float) -> None:
        """Wait until something is told in the match, at most ``timeout_s``."""
        table = self._tables.get(match_id)
        if table is not None:
            try:
                await asyncio.wait_for(table.moved.wait(), timeout_s)
            except TimeoutError:
                return

    # Time.

    def sweep(self) -> None:
        """Forget matches that nobody came to, and those that have been over for long."""
        now = self.now()
        for hosted in self.store.all():
            if hosted.status is Status.WAITING:
                is_old = now - hosted.created_at > self.limits.waiting_kept
            else:
                is_old = hosted.ended_at is not None and now - hosted.ended_at > self.limits.ended_kept
            if is_old:
                self._forget(hosted.match_id)

    async def close(self) -> None:
        """Stop every match where it is."""
        running = [table.running for table in self._tables.values() if table.running is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def _created(self, request: CreateMatch, now: datetime) -> Hosted:
        assert self._scenario_of is not None, "the service creates only where scenarios can be made"
        scenario = self._scenario_of(request)
        return self._prepared(scenario, is_listed=True)

    def _prepared(self, scenario: Scenario, *, is_listed: bool) -> Hosted:
        if len(self._tables) >= self.limits.matches:
            self._make_room()
        seed = secrets.randbits(63) if scenario.seed is None else scenario.seed
        match_id = f"m-{secrets.token_hex(6)}"
        for place, seat in enumerate(scenario.seats):
            if seat.agent != OPEN:
                # Made once for nothing: whoever opens the match learns now what cannot play.
                self._make_agent(seat, scenario, seed, match_id, place == 0)
        hosted = Hosted(
            match_id=match_id,
            match=scenario.new_match(seed),
            created_at=self.now(),
            seats=tuple(
                Seat(agent_id=seat.id, name=seat.name, is_taken=True)
                if seat.agent != OPEN
                else Seat(agent_id=seat.id)
                for seat in scenario.seats
            ),
            profile=self._profile,
            is_listed=is_listed,
        )
        self._tables[match_id] = _Table(scenario=scenario, seed=seed)
        return hosted

    def _make_room(self) -> None:
        self.sweep()
        if len(self._tables) < self.limits.matches:
            return
        ended = [hosted for hosted in self.store.all() if hosted.ended_at is not None]
        if not ended:
            raise LimitExceeded("the number of matches", len(self._tables) + 1, self.limits.matches)
        self._forget(min(ended, key=lambda hosted: hosted.ended_at or hosted.created_at).match_id)

    def _forget(self, match_id: str) -> None:
        self.store.remove(match_id)
        self.tokens.forget(match_id)
        table = self._tables.pop(match_id, None)
        if table is not None and table.running is not None:
            table.running.cancel()

    def _start_if_full(self, match_id: str) -> None:
        hosted, table = self.store.get(match_id), self._tables[match_id]
        if hosted is None or hosted.open_seats or table.session is not None:
            return
        scenario = table.scenario
        match = scenario.new_match(table.seed)
        agents = {
            seat.id: self._make_agent(seat, scenario, table.seed, match_id, place == 0)
            for place, seat in enumerate(scenario.seats)
            if seat.agent != OPEN
        }
        plays = {seat.agent_id: seat.name for seat in hosted.seats}
        session = table.session = Session(
            match,
            agents,
            clock_rules=scenario.clock,
            now=self.now,
            recorders=[TranscriptWriter(table.transcript, protocol=scenario.interaction, names=plays)],
            memory_of=lambda agent: self._memory_for(scenario.game) if agent in agents else None,
            lang=scenario.lang,
            on_change=lambda _session: self._dispatch(match_id, self.service.deliver(match_id, self.now())),
        )
        # The decisions are open before the first message can come.
        opening = self.service.start(match_id, self.now(), match=match, driver=_SessionDriver(session))
        session.decisions.ask(self.now())
        self._dispatch(match_id, opening)
        table.running = asyncio.get_running_loop().create_task(self._run(match_id, session))

    async def _run(self, match_id: str, session: Session) -> None:
        reason = "Everybody has left."
        try:
            await session.run()
        except Exception as error:  # whatever fails, it is this match only
            incident = secrets.token_hex(4)
            LOG.exception("match %s failed, incident %s: %s", match_id, incident, line_of(error))
            session.decisions.abandon()
            reason = f"The server failed; incident {incident}."
        if session.decisions.is_abandoned and self.store.get(match_id) is not None:
            self._dispatch(match_id, self.service.abandon(match_id, self.now(), reason))

    def _dispatch(self, match_id: str, outgoing: Outgoing) -> None:
        table = self._tables.get(match_id)
        if table is None or not outgoing:
            return
        for recipient, envelope in outgoing:
            for outbox in table.readers.get(recipient, ()):
                outbox.put(envelope.text)
        table.moved.set()
        table.moved = asyncio.Event()

