"""A host and seats of a match by mail, put together as the application does it, on any mailbox and journal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from league_agents.arena.by_mail.agents import AskedAgent, SeatedAgents
from league_agents.arena.by_mail.host import HostMachine, HostMail, HostState
from league_agents.arena.by_mail.seat import MailSeatState, SeatGame, SeatMachine, SeatMail
from league_agents.arena.by_mail.setup import MailSetup
from league_agents.arena.by_mail.table import MailTable
from league_agents.arena.session import Memory
from league_agents.journal.port import Journal
from league_agents.kit.clock import Clock
from league_agents.mail.port import Mailbox
from league_agents.runner.role import Intake, RoleRunner
from league_agents.runner.workers import Workers


class RunningHost:
    """The host of one match."""

    def __init__(
        self,
        mailbox: Mailbox,
        journal: Journal,
        clock: Clock,
        *,
        setup: MailSetup,
        intake: Intake | None = None,
        agent_of: Callable[[MailSetup, str], object] | None = None,
        memory_for: Callable[[str], Memory | None] = lambda _game: None,
    ) -> None:
        self.setup = setup
        self.machine = HostMachine(setup)
        own = [seat for seat in setup.scenario.agent_ids if seat not in setup.addresses]
        agents = {seat: agent_of(setup, seat) for seat in own} if agent_of is not None else {}
        host = SeatedAgents(
            Workers(lambda: AskedAgent(agents.__getitem__, clock.now), one_game_each=True, waits=True),
            agents.__getitem__,
            lambda context, after: self.machine.heard(self.state, context, after),
            memory_of=lambda _seat: memory_for(setup.scenario.game),
        )
        self.runner: RoleRunner[HostState] = RoleRunner(
            self.machine, mailbox, journal, host, clock, codec=HostMail(setup), intake=intake
        )

    @property
    def state(self) -> HostState:
        return self.runner.state

    @property
    def table(self) -> MailTable:
        return self.machine.table(self.state)

    @property
    def is_over(self) -> bool:
        return self.machine.is_over(self.state)

    @property
    def is_done(self) -> bool:
        return self.is_over and self.runner.is_idle

    def start(self) -> None:
        """Once, before the first ``tick``."""
        self.runner.start()

    def tick(self) -> bool:
        """Do everything that can be done now."""
        return _worked(self.runner)

    def next_wake(self) -> datetime | None:
        return self.runner.next_wake()


class RunningSeat:
    """One seat."""

    def __init__(
        self,
        agent: object,
        mailbox: Mailbox,
        journal: Journal,
        host: str,
        *,
        clock: Clock,
        match_id: str | None = None,
        agent_id: str | None = None,
        memory: Memory | None = None,
        intake: Intake | None = None,
    ) -> None:
        self.mailbox: Any = mailbox
        self.machine = SeatMachine(mailbox.address, host, match_id=match_id, agent_id=agent_id)
        self.agents = SeatedAgents(
            Workers(lambda: AskedAgent(lambda _seat: agent, clock.now), one_game_each=False, waits=True),
            lambda _seat: agent,
            lambda context, after: self.machine.heard(self.runner.state, context, after),
            memory_of=lambda _seat: memory,
        )
        self.runner: RoleRunner[MailSeatState] = RoleRunner(
            self.machine, mailbox, journal, self.agents, clock, codec=SeatMail(host), intake=intake
        )
        self._is_started = False

    @property
    def game(self) -> SeatGame | None:
        return self.runner.state.game

    @property
    def is_over(self) -> bool:
        return self.machine.is_over(self.runner.state)

    @property
    def winners(self) -> list[str]:
        return [] if self.game is None else self.game.winners

    def tick(self) -> bool:
        """Do everything that can be done now."""
        if not self._is_started:
            self.runner.start()
            self._is_started = True
        return _worked(self.runner)

    def next_wake(self) -> datetime | None:
        return self.runner.next_wake()


def _worked(runner: RoleRunner[Any]) -> bool:
    is_busy = False
    while runner.tick():
        is_busy = True
    return is_busy
