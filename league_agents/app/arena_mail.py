"""Set up a match by mail on a league file's Gmail account: its host, or one seat.

Rule: one process works on a mailbox. The locks of the league's roles apply here too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from league_agents.app.agent_wanted import Company
from league_agents.app.arena import arena_agent, memory_for
from league_agents.app.live import Live, MailProgram, MakeProgram, live_program
from league_agents.app.live_mailbox import MailboxMaker, gmail_mailbox
from league_agents.app.own_seat import close_agents
from league_agents.app.role_files import take_files
from league_agents.app.storage import RoleJournals, role_journals
from league_agents.arena.by_mail.agents import AskedAgent, SeatedAgents
from league_agents.arena.by_mail.host import (
    ROLE,
    HostMachine,
    HostMail,
    HostState,
    checked_setup,
    kept_setup,
)
from league_agents.arena.by_mail.letters import dump_part
from league_agents.arena.by_mail.seat import ROLE as SEAT_ROLE
from league_agents.arena.by_mail.seat import MailSeatState, SeatGame, SeatMachine, SeatMail
from league_agents.arena.by_mail.setup import MailSetup
from league_agents.arena.own_protocol import protocol_loader
from league_agents.arena.scenario import Scenario
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.config.storage_url import JournalPlace
from league_agents.journal.port import MODEL_WORK, StoredJournal
from league_agents.kit.clock import Clock
from league_agents.kit.errors import ConfigError, JournalUnusable
from league_agents.kit.ids import derive_hex
from league_agents.kit.model_work import ModelStep, read_steps
from league_agents.kit.values import evolve
from league_agents.mail.service_clock import ServiceClock
from league_agents.runner.role import Observer
from league_agents.runner.wakeup import Wakeup
from league_agents.runner.workers import Workers
from league_agents.turns.load import ClassLoader


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveHost:
    """A host that is assembled and not yet started."""

    live: Live
    machine: HostMachine

    @property
    def state(self) -> HostState:
        """The match as it was last committed."""
        state = self.live.role.state
        return state if isinstance(state, HostState) else self.machine.initial()


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSeat:
    """A seat that is assembled and not yet started."""

    live: Live
    journals: RoleJournals

    @property
    def game(self) -> SeatGame | None:
        """The current game; ``None`` before its first letter."""
        state = self.live.role.state
        return state.game if isinstance(state, MailSeatState) else None

    def model_steps(self) -> list[ModelStep]:
        """The outcome of the model's work in all answers of this match, also of an earlier process."""
        if self.game is None:
            return []
        with closing(self.journals.look()) as journal:
            notes = [note for note in journal.notes() if (note.kind, note.key) == (MODEL_WORK, self.game.match_id)]
        return [step for note in notes for step in read_steps(note.facts.get("steps"))]


def addresses_of(texts: tuple[str, ...]) -> dict[str, str]:
    """Seats and mailboxes from ``agent_1=a@example.com,agent_2=…``. Raises ``ConfigError``."""
    found: dict[str, str] = {}
    for each in (part.strip() for text in texts for part in text.split(",")):
        seat, equals, address = each.partition("=")
        if not equals or not seat or not address:
            raise ConfigError(f"--seats {each[:80]}", "must be SEAT=ADDRESS, for example agent_1=ann@example.com")
        if seat in found:
            raise ConfigError(f"--seats {seat}", "is there twice; a seat has one mailbox")
        found[seat] = address
    return found


@contextmanager
def host_by_mail(
    settings: LeagueSettings,
    role: RoleSettings,
    place: JournalPlace,
    *,
    scenario: Scenario | None,
    addresses: Mapping[str, str],
    seed: int | None,
    company: Company,
    observer: Observer | None,
    clock: ServiceClock,
    mailbox_of: MailboxMaker = gmail_mailbox,
) -> Iterator[LiveHost]:
    """The host of the match in the journal at ``place``, or of a new one. Raises ``ConfigError``, ``JournalError`` and,
    when another process works on the mailbox, ``MailboxUnavailable``."""
    role = evolve(role, journal=place)
    journals = role_journals(place, role=ROLE, address=role.address)
    with _locked(role, place if isinstance(place, Path) else None):
        kept = _kept(journals, place, protocol_loader(in_process=company.in_process))
        setup = checked_setup(kept, _setup(kept, scenario, addresses, seed, role.address), role.address)
        machine = HostMachine(setup)
        ids = setup.scenario.agent_ids

        def agent_of(seat_id: str) -> object:
            own = int(derive_hex(str(setup.seed), seat_id, digits=12), 16)
            seat = setup.scenario.seats[ids.index(seat_id)]
            is_first = seat_id == ids[0]
            return arena_agent(seat, setup.scenario, company, seed=own, match_id=setup.match_id, is_first=is_first)

        codec = HostMail(setup)

        def program(_told: Observer, wakeup: Wakeup, state: Callable[[], HostState]) -> MailProgram:
            agents = {seat_id: agent_of(seat_id) for seat_id in ids if seat_id not in setup.addresses}
            return MailProgram(
                machine=machine,
                codec=codec,
                journal=_opened(journals),
                host=_seated(agents.__getitem__, agents.values(), machine, state, setup.scenario.game, wakeup, clock),
                peers=lambda: codec.peers(is_over=machine.is_over(state())),
            )

        with _live(settings, role, program, machine, clock, mailbox_of, observer) as live:
            yield LiveHost(live=live, machine=machine)


def _kept(journals: RoleJournals, place: JournalPlace, load_class: ClassLoader) -> MailSetup | None:
    """The setup of the match in a journal, after checking every row. Raises ``JournalUnusable`` that names the file."""
    journal = _opened(journals)
    try:
        return kept_setup(journal, load_class)
    except JournalUnusable as error:
        raise JournalUnusable(f"{place}: {error}; put a copy in its place, or name another file") from error
    finally:
        journal.close()


def _setup(
    kept: MailSetup | None,
    scenario: Scenario | None,
    addresses: Mapping[str, str],
    seed: int | None,
    host_address: str,
) -> MailSetup | None:
    if scenario is None:
        return None  # the setup in the journal is used; a journal without one is refused
    before = scenario.seed if kept is None else kept.seed
    given = before if seed is None else seed
    return MailSetup(
        scenario=scenario,
        seed=secrets.randbits(63) if given is None else given,
        match_id=f"m-{secrets.token_hex(5)}" if kept is None else kept.match_id,
        host_address=host_address,
        addresses=addresses if addresses or kept is None else kept.addresses,
    )


@contextmanager
def seat_by_mail(
    settings: LeagueSettings,
    role: RoleSettings,
    *,
    host_address: str,
    make_agent: Callable[[], object],
    game: str,
    match_id: str | None,
    agent_id: str | None,
    observer: Observer | None,
    clock: ServiceClock,
    mailbox_of: MailboxMaker = gmail_mailbox,
) -> Iterator[LiveSeat]:
    """A seat of a match that another mailbox hosts. Its messages and answers are kept beside the account's journal, or
    in the same database. Raises as ``host_by_mail`` does, and ``JournalHeld``."""
    place = role.journal
    if isinstance(place, Path):
        place = place.with_name(f"{place.stem}.arena-seat{place.suffix}")
    journals = role_journals(place, role=SEAT_ROLE, address=role.address)
    with _locked(role, place if isinstance(place, Path) else None):
        machine = SeatMachine(role.address, host_address, match_id=match_id, agent_id=agent_id)
        codec = SeatMail(host_address)

        def program(_told: Observer, wakeup: Wakeup, state: Callable[[], MailSeatState]) -> MailProgram:
            agent = make_agent()
            return MailProgram(
                machine=machine,
                codec=codec,
                journal=_opened(journals),
                host=_seated(lambda _seat: agent, [agent], machine, state, game, wakeup, clock),
                peers=codec.peers,
            )

        with _live(settings, evolve(role, journal=place), program, machine, clock, mailbox_of, observer) as live:
            yield LiveSeat(live=live, journals=journals)


@contextmanager
def _locked(role: RoleSettings, journal: Path | None) -> Iterator[None]:
    locks = take_files(role, journal)
    try:
        yield
    finally:
        for lock in locks:
            lock.release()


def _opened(journals: RoleJournals) -> StoredJournal:
    journal = journals.open(dump_part, is_to_work=True)
    try:
        journal.check_content()
    except BaseException:
        journal.close()
        raise
    return journal


def _seated(
    agent_of: Callable[[str], object],
    agents: Collection[object],
    machine: HostMachine | SeatMachine,
    state: Callable[[], Any],
    game: str,
    wakeup: Wakeup,
    clock: Clock,
) -> SeatedAgents:
    workers = Workers(lambda: AskedAgent(agent_of, clock.now), one_game_each=True, clock=clock, notify=wakeup.wake)
    return SeatedAgents(
        workers,
        agent_of,
        lambda context, after: machine.heard(state(), context, after),
        memory_of=lambda _seat: memory_for(game),
        close_agents=lambda: close_agents(agents),
    )


@contextmanager
def _live(
    settings: LeagueSettings,
    role: RoleSettings,
    program: MakeProgram,
    machine: HostMachine | SeatMachine,
    clock: ServiceClock,
    mailbox_of: MailboxMaker,
    observer: Observer | None,
) -> Iterator[Live]:
    is_over: Callable[[Any], bool] = machine.is_over
    live = live_program(
        settings,
        role,
        program,
        name=machine.role,
        clock=clock,
        mailbox_of=mailbox_of,
        observer=observer,
        is_game_open=lambda state: not is_over(state),
        has_ended=lambda runner: is_over(runner.state) and runner.is_idle,
    )
    try:
        _ = live.role.wired
        yield live
    finally:
        live.role.close()
