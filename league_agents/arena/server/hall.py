"""The matches of one server while they wait, run and remain readable.

Rule 1: everything here happens on one event loop, so a match is handled one message at a time.
Rule 2: messages for a seat or a spectator go to its own connections only, in the order in which they were caused.
Rule 3: a match that fails ends as abandoned, with an incident in the log; the others go on.
Rule 4: no secret of a match can be derived from what its agents, or strangers, are sent.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Literal

from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import OutgoingFrame, error
from league_agents.arena.protocol.hosting import Hosted, HostedSeat, Profile, Status, is_spectator
from league_agents.arena.protocol.json_text import read_object
from league_agents.arena.protocol.refusals import Refused, internal
from league_agents.arena.protocol.requests import CreateMatch, RequestHeading, heading_of
from league_agents.arena.protocol.service import MatchService, Outgoing
from league_agents.arena.scenario import Scenario, match_of
from league_agents.arena.server.house import OPEN, House, HouseAgent
from league_agents.arena.server.keep import KeptTranscript, MatchKeep
from league_agents.arena.server.keeping import HallKeeping
from league_agents.arena.server.kept import KeptMatch
from league_agents.arena.server.limits import RateLimiter, ServerLimits
from league_agents.arena.server.lobby import scenario_asked_for
from league_agents.arena.server.names import free_name
from league_agents.arena.server.outbox import SocketOutbox
from league_agents.arena.server.table import ServedMatch, SessionDriver
from league_agents.arena.server.tables import Tables
from league_agents.arena.session import Session, wall_clock
from league_agents.arena.transcript import Line, TranscriptWriter, begun, follow, outcome_dict, read_transcript, redact
from league_agents.games.registry import game_of
from league_agents.kit.errors import ConfigError, LeagueError, LimitExceeded
from league_agents.kit.printable import line_of
from league_agents.kit.values import evolve
from league_agents.turns.match import Match

LOG = logging.getLogger(__name__)


class Hall:
    """Opens, runs and closes matches, and keeps their connections. Create it on the event loop that it runs on."""

    def __init__(
        self,
        house: House,
        *,
        limits: ServerLimits | None = None,
        now: Callable[[], datetime] = wall_clock,
        profile: Profile = Profile.SEED,
        keep: MatchKeep | None = None,
    ) -> None:
        """``keep``: where matches outlive the process; ``None`` keeps them in memory. ``reopen`` goes on with them."""
        self.house = house
        self.limits = limits or ServerLimits()
        self.now = now
        self.keep = keep or MatchKeep()
        self.tables = Tables(self.limits, now, keep=self.keep, give_up=self._give_up)
        self.store, self.tokens = self.tables.store, self.tables.tokens
        self.keeping = HallKeeping(self.keep, self.tables, now)
        self.profile = profile
        self.is_closing = False
        self._pace = RateLimiter(self.limits.house_actions_per_s)
        self._thinkers = asyncio.Semaphore(self.limits.thinkers)
        self._asking = ""
        """The address of the client being answered."""

        self.service = MatchService(self.store, create=self._created, profile=profile)

    # The lobby.

    def open_match(
        self,
        scenario: Scenario,
        *,
        opener: str = "",
        pause: timedelta = timedelta(0),
        is_listed: bool = True,
        is_open: bool = True,
    ) -> Hosted:
        """Open a match; it starts when its last open seat is taken.

        Raises ``ConfigError`` for a match that cannot be played, ``LimitExceeded`` if there is no room, ``Refused``
        (``rate_limited``) for an ``opener`` that opens too many.
        """
        hosted = self._prepared(scenario, opener=opener, pause=pause, is_listed=is_listed, is_open=is_open)
        self.store.add(hosted)
        self._start_if_full(hosted.match_id)
        self.keeping.save(hosted.match_id)
        return hosted

    def join(
        self, match_id: str, *, name: str = "", kind: Literal["human", "ai"] = "ai", agent_id: str | None = None
    ) -> tuple[str, str]:
        """Take a free seat; return the agent's id and its token. Raises ``NoSeat`` or ``Refused``."""
        hosted = self.store.get(match_id)
        seat = self.service.join(match_id, name="", kind=kind, agent_id=agent_id)
        assert hosted is not None, "the service found it"
        others = [each for each in hosted.seats if each.agent_id != seat]
        taken = [name for each in others for name in (each.name, each.agent_id) if name]
        own = hosted.seat_of(seat)
        assert own is not None, "it was just taken"
        hosted.take(evolve(own, name=free_name(name, seat, taken)))
        token = self.tokens.issue(match_id, seat)
        self.keep.token(match_id, seat, *self.tokens.kept(match_id, seat))
        self._start_if_full(match_id)
        self.keeping.save(match_id)
        return seat, token

    def watch(self, match_id: str) -> tuple[str, str]:
        """Add a spectator; return its id and token. Raises ``Refused``."""
        spectator = self.service.watch(match_id)
        # A spectator gets pushes only once it is connected.
        self.service.unwatch(match_id, spectator)
        self.keeping.save(match_id)
        return spectator, self.tokens.to_watch(match_id, spectator)

    def leave(self, match_id: str, agent_id: str) -> None:
        """Leave the match permanently. Raises ``Refused`` or ``NoSeat``."""
        table = self.tables.get(match_id)
        if is_spectator(agent_id):
            return
        if table is None or table.session is None:
            self.service.vacate(match_id, agent_id)
            self.tokens.revoke(match_id, agent_id)
            self.keep.revoke(match_id, agent_id)
            if table is not None:
                table.readers.pop(agent_id, None)
                table.lost.discard(agent_id)
        else:
            table.session.decisions.leave(agent_id)
            table.session.wake()
        self.keeping.save(match_id)

    def transcript(self, match_id: str, viewer: str) -> list[Line] | None:
        """The transcript of an ended match, redacted for ``viewer``; ``None`` before the end."""
        hosted, table = self.store.get(match_id), self.tables.get(match_id)
        if hosted is None or table is None:
            lines = self.keep.transcript(match_id)
        elif hosted.status not in (Status.ENDED, Status.ABANDONED):
            return None
        else:
            lines = table.transcript_lines()
        return list(redact(read_transcript(lines), viewer)) if lines else []

    def table_told(self, match_id: str) -> tuple[Hosted, Scenario, int] | None:
        """A match, its scenario and its number of spectators; ``None`` for an unknown match."""
        hosted, table = self.store.get(match_id), self.tables.get(match_id)
        return None if hosted is None or table is None else (hosted, table.scenario, table.watching)

    # Messages.

    def handle(
        self,
        text: str | bytes | bytearray,
        principal: Principal,
        answer: Callable[[OutgoingFrame], None],
        address: str = "",
    ) -> None:
        """Answer a request, then send the pushes that it caused (arena 5.3)."""
        self._asking = address
        try:
            (asker, first), *pushes = self.service.handle(text, principal, self.now())
        except Exception as failed:  # one request must not end a connection, still less the server
            answer(error(internal(self._incident("a request", failed)), _heading(text)))
            return
        match_id = first.get("match_id", "")
        is_new = first["type"] == "create_match_response"
        if asker and (is_new or first["type"] == "perform_action_response"):
            if "request_id" in first:
                self.keep.answer(match_id, asker, first["request_id"], first.text)
            self.keeping.save(match_id)
        answer(first)
        if is_new:
            self._start_if_full(match_id)
        self._dispatch(match_id, pushes)
        if asker:
            self.seen(match_id, asker, acts=first["type"] == "perform_action_response")

    def seen(self, match_id: str, agent_id: str, *, acts: bool = False) -> None:
        """Note that a seat sent a request, so it counts as present, connected or not. ``acts`` also ends its absence.

        A request alone does not end an absence: a page left open sends requests too, and the match would wait for it at
        every turn.
        """
        table = self.tables.get(match_id)
        if table is None or table.decisions is None or agent_id not in table.scenario.agent_ids:
            return
        is_absent = agent_id in table.decisions.absent()
        if acts if is_absent else agent_id in table.lost:
            table.lost.discard(agent_id)
            table.decisions.reconnected(agent_id)
            table.session.wake()  # type: ignore[union-attr]  # there are decisions, so there is a session

    def attach(self, match_id: str, agent_id: str, outbox: SocketOutbox) -> None:
        """Send the pushes of a seat or a spectator to this connection from now on. Raises ``Refused``."""
        table, hosted = self.tables.get(match_id), self.store.get(match_id)
        if table is None or hosted is None:
            raise Refused("unknown_match", "the match is over for so long that it was forgotten")
        if is_spectator(agent_id):
            if agent_id not in table.readers and table.watching >= self.limits.spectators:
                raise Refused("rate_limited", "as many watch this match as the server bears; come back later")
            hosted.spectators[agent_id] = None
        table.readers.setdefault(agent_id, set()).add(outbox)
        table.lost.discard(agent_id)
        if table.session is not None and agent_id in table.scenario.agent_ids:
            table.session.decisions.reconnected(agent_id)
            table.session.wake()

    def detach(self, match_id: str, agent_id: str, outbox: SocketOutbox) -> None:
        """Remove a closed connection. A seat without any connection has a grace period."""
        table = self.tables.get(match_id)
        if table is None:
            return
        readers = table.readers.get(agent_id)
        if readers is None or outbox not in readers:
            return
        readers.discard(outbox)
        if readers:
            return
        del table.readers[agent_id]
        if is_spectator(agent_id):
            self.service.unwatch(match_id, agent_id)
            return
        table.lost.add(agent_id)
        if table.session is not None:
            table.session.decisions.disconnected(agent_id, self.now())
            table.session.wake()

    async def moved(self, match_id: str, timeout_s: float) -> None:
        """Wait until the match has news, at most ``timeout_s``."""
        table = self.tables.get(match_id)
        if table is not None and not self.is_closing:
            try:
                await asyncio.wait_for(table.moved.wait(), timeout_s)
            except TimeoutError:
                return

    # Time.

    def sweep(self) -> None:
        """Abandon matches that did not fill in time and those that grow too long; forget those that ended long ago."""
        self.tables.sweep()
        self.keep.commit(self.now(), beat=True)

    def hang_up(self) -> None:
        """Wake all waiting requests, as the server is about to stop."""
        self.is_closing = True
        for table in self.tables.all():
            table.wake()

    async def close(self) -> None:
        """Stop every match in its present state."""
        self.hang_up()
        running = [table.running for table in self.tables.all() if table.running is not None]
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        self.keep.commit(self.now(), beat=True)

    def reopen(self) -> int:
        """Go on with the kept matches; return how many are open. One that cannot go on is abandoned.

        The time since the last commit is nobody's: deadlines move by it. Clients ask for what they missed.
        """
        now, alive_at = self.now(), self.keep.alive_at()
        stood = timedelta(0) if alive_at is None else max(timedelta(0), now - alive_at)
        for kept in list(self.keep.unfinished(now - self.limits.ended_kept)):
            try:
                self._reopen(kept, stood)
            except Exception as failed:  # one match must not keep the others from going on
                incident = self._incident(f"match {kept.match_id}, kept from before the restart,", failed)
                self._set_aside(kept, f"The server was restarted and cannot go on; incident {incident}.")
        self.keep.commit(now, beat=True)
        return sum(hosted.ended_at is None for hosted in self.store.all())

    # Inside.

    def _reopen(self, kept: KeptMatch, stood: timedelta) -> None:
        match_id, opened, play = kept.match_id, kept.opened, kept.play
        scenario = opened.scenario
        table = ServedMatch(
            scenario=scenario,
            seed=opened.seed,
            house_seed=opened.house_seed,
            opener=opened.opener,
            pause=timedelta(seconds=opened.pause_s),
            kept_play=play,
            kept_clocks=kept.clocks,
        )
        self.tables.put(match_id, table)
        lines = read_transcript(kept.lines) if kept.lines else []
        match = (
            begun(lines[0], table.seed, game_of(scenario.game), match_of) if lines else scenario.new_match(table.seed)
        )
        hosted = opened.hosted(match_id, match, play)
        hosted.rules = match.game.rules_text(match.config, scenario.lang)
        self.store.add(hosted)
        for agent_id, name, digest in kept.tokens:
            self.tokens.restore(match_id, agent_id, name, digest)
        for agent_id, request_id, answer in kept.answers:
            self.service.answered_before(agent_id, request_id, OutgoingFrame(json.loads(answer), answer))
        is_closed = bool(lines) and lines[-1]["line"] == "outcome"
        moves, difference = follow(match, lines[1 : -1 if is_closed else None]) if lines else (0, None)
        if difference is not None:
            raise LeagueError(f"its decisions lead elsewhere in this version: {difference}")
        self.service.carry_on(match_id, play.reason)
        if kept.is_finished:
            table.pack(kept.text)
            return
        table.agents = self._house_agents(match_id, table, moves)
        if not lines:
            self._start_if_full(match_id)
            return
        table.transcript = KeptTranscript(self.keep, match_id, kept.text)
        session = self._session(hosted, table, match)
        assert play.started_at is not None
        session.carry_on(play.started_at, kept.clocks, stood)
        if is_closed:
            session.ended_at = self.now()  # its record is complete
        if play.status == Status.ABANDONED or (is_closed and not match.is_over):
            session.decisions.abandon()
        hosted.driver = SessionDriver(session)
        table.running = asyncio.get_running_loop().create_task(self._run(match_id, table, session))

    def _set_aside(self, kept: KeptMatch, reason: str) -> None:
        """Abandon a match that cannot go on. What was played of it stays in the gallery."""
        table, hosted = self.tables.get(kept.match_id), self.store.get(kept.match_id)
        if table is None or hosted is None or kept.is_finished:
            return  # it stays in the file as it is: its game may be back after the next start
        if kept.lines:
            at = self.now().isoformat()
            line = {"line": "outcome", "status": "abandoned", **outcome_dict(None), "seed": table.seed, "ended_at": at}
            table.pack(kept.text + json.dumps(line, separators=(",", ":")) + "\n")
        self._give_up(kept.match_id, reason)
        self.keeping.finish(kept.match_id)

    def _created(self, request: CreateMatch, now: datetime) -> Hosted:
        """Make the match that ``create_match`` describes; the service keeps it."""
        scenario = scenario_asked_for(request, self.house, self.limits)
        try:
            return self._prepared(scenario, opener=self._asking)
        except LimitExceeded as full:
            raise Refused("rate_limited", f"{full}; come back later") from None

    def _prepared(
        self,
        scenario: Scenario,
        *,
        opener: str,
        pause: timedelta = timedelta(0),
        is_listed: bool = True,
        is_open: bool = True,
    ) -> Hosted:
        self.tables.check_room(opener)
        own = self.house.own
        seats = [seat.agent for table in self.tables.all() if table.agents for seat in table.scenario.seats]
        wanted = sum(seat.agent in own for seat in scenario.seats)
        taken = sum(agent in own for agent in seats) if wanted else 0
        if wanted and taken + wanted > self.limits.own_agents:
            raise LimitExceeded("seats of this server's own agents", taken + wanted, self.limits.own_agents)
        seed = secrets.randbits(63) if scenario.seed is None else scenario.seed
        match_id = f"m-{secrets.token_hex(6)}"
        table = ServedMatch(
            scenario=scenario,
            seed=seed,
            house_seed=secrets.randbits(63),
            opener=opener,
            pause=max(pause, self.limits.house_pause),
        )
        # Made now and not at the start, so that the opener learns which agents cannot play.
        table.agents = self._house_agents(match_id, table)
        hosted = Hosted(
            match_id=match_id,
            match=scenario.new_match(seed),
            created_at=self.now(),
            seats=tuple(
                HostedSeat(agent_id=seat.id, name=seat.name, is_taken=True)
                if seat.agent != OPEN
                else HostedSeat(agent_id=seat.id)
                for seat in scenario.seats
            ),
            profile=self.profile,
            is_listed=is_listed,
            is_open=is_open,
        )
        hosted.rules = hosted.match.game.rules_text(hosted.match.config, scenario.lang)
        self.tables.put(match_id, table)
        return hosted

    def _house_agents(self, match_id: str, table: ServedMatch, moves: int = 0) -> dict[str, object]:
        """``moves``: decisions that the match has. Agents made again draw on from there, not the same once more."""
        agents: dict[str, object] = {}
        for place, seat in enumerate(table.scenario.seats):
            if seat.agent != OPEN:
                agent = self.house.make_agent(
                    seat, table.scenario, seed=table.house_seed + moves, match_id=match_id, is_first=place == 0
                )
                agents[seat.id] = HouseAgent(
                    agent, pause_s=table.pause.total_seconds(), pace=self._pace, thinkers=self._thinkers
                )
        return agents

    def _give_up(self, match_id: str, reason: str) -> None:
        table = self.tables.get(match_id)
        if table is not None and table.session is not None:
            table.session.decisions.abandon()
            table.session.wake()
        self._dispatch(match_id, self.service.abandon(match_id, self.now(), reason))
        if table is None or table.size == 0:
            self.keep.remove(match_id)  # it was never played
            self.keep.commit(self.now())

    def _start_if_full(self, match_id: str) -> None:
        hosted, table = self.store.get(match_id), self.tables.get(match_id)
        if hosted is None or table is None or hosted.open_seats or hosted.status is not Status.WAITING:
            return
        try:
            self._start(hosted, table)
        except Exception as failed:
            incident = self._incident(f"match {match_id}", failed)
            self._give_up(match_id, f"The server failed; incident {incident}.")

    def _start(self, hosted: Hosted, table: ServedMatch) -> None:
        match_id, now = hosted.match_id, self.now()
        match = self._named_match(hosted, table)
        table.transcript = KeptTranscript(self.keep, match_id)
        session = self._session(hosted, table, match)
        opening = self.service.start(match_id, now, match=match, driver=SessionDriver(session))
        hosted.rules = session.rules_text
        # The clocks and the transcript must be running before the first message can arrive.
        session.begin()
        session.decisions.ask(now)
        for agent_id in table.lost:
            session.decisions.disconnected(agent_id, now)
        self._dispatch(match_id, opening)
        table.running = asyncio.get_running_loop().create_task(self._run(match_id, table, session))

    def _session(self, hosted: Hosted, table: ServedMatch, match: Match[Any]) -> Session:
        match_id, scenario, agents = hosted.match_id, table.scenario, table.agents
        assert table.transcript is not None, "it is packed at the end"
        plays = {seat.id: seat.agent for seat in scenario.seats}
        table.session = Session(
            match,
            agents,
            clock_rules=scenario.clock,
            now=self.now,
            recorders=[TranscriptWriter(table.transcript, protocol=scenario.interaction, names=plays)],
            memory_of=lambda agent: self.house.memory_for(scenario.game) if agent in agents else None,
            lang=scenario.lang,
            on_change=lambda _session: self._dispatch(match_id, self.service.deliver(match_id, self.now())),
        )
        return table.session

    def _named_match(self, hosted: Hosted, table: ServedMatch) -> Match[Any]:
        """The match with the names of the players who joined."""
        scenario = table.scenario
        names = {seat.agent_id: seat.name for seat in hosted.seats if seat.name and seat.name != seat.agent_id}
        named = evolve(scenario, config={**scenario.config, "names": names})
        try:
            return named.new_match(table.seed)
        except ConfigError as odd:
            LOG.warning("match %s: its names cannot be used: %s", hosted.match_id, odd)
            return scenario.new_match(table.seed)

    async def _run(self, match_id: str, table: ServedMatch, session: Session) -> None:
        reason = "Everybody has left."
        try:
            await session.run()
        except asyncio.CancelledError:
            table.release_agents()
            raise
        except Exception as failed:  # a failure ends this match only
            reason = f"The server failed; incident {self._incident(f'match {match_id}', failed)}."
            session.decisions.abandon()
        if session.decisions.is_abandoned and self.store.get(match_id) is not None:
            self._give_up(match_id, reason)
        table.pack()
        table.running = None
        self.keeping.finish(match_id)

    def _incident(self, what: str, failed: Exception) -> str:
        incident = secrets.token_hex(4)
        LOG.error("%s failed, incident %s: %s", what, incident, line_of(failed), exc_info=failed)
        return incident

    def _dispatch(self, match_id: str, outgoing: Outgoing) -> None:
        self.keeping.save(match_id)
        table = self.tables.get(match_id)
        if table is None or not outgoing:
            return
        for recipient, envelope in outgoing:
            for outbox in table.readers.get(recipient, ()):
                outbox.put(envelope.text)
        table.wake()


def _heading(text: str | bytes | bytearray) -> RequestHeading:
    try:
        return heading_of(read_object(text))
    except Refused:
        return RequestHeading()
