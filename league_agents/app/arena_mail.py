"""From a league file's Gmail account to a match by mail: its host, or one seat.

Rule: one process works on a mailbox. The locks of the league's roles are taken here too.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from league_agents.app.arena import Company, arena_agent, memory_for
from league_agents.app.live import MailboxMaker, OpenMailbox, SenderCheck, WantedMailbox, gmail_mailbox
from league_agents.app.own_seat import close_agents
from league_agents.app.role_files import take_files
from league_agents.app.storage import STORAGE
from league_agents.arena.by_mail.host import ROLE, MailHost, dump_part, kept_setup
from league_agents.arena.by_mail.seat import ROLE as SEAT_ROLE
from league_agents.arena.by_mail.seat import MailSeat
from league_agents.arena.by_mail.setup import MailSetup
from league_agents.arena.own_protocol import protocol_loader
from league_agents.arena.scenario import Scenario
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import Journal, StoredJournal
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import AuthorizationExpired, ConfigError, JournalUnusable, MailError
from league_agents.kit.ids import derive_hex
from league_agents.kit.values import evolve
from league_agents.mail.service_clock import ServiceClock
from league_agents.runner.pace import Backoff
from league_agents.runner.scan import SEND_PATIENCE
from league_agents.turns.load import ClassLoader

FACTS_EVERY = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostAtWork:
    """A host that is put together and not yet started."""

    host: MailHost
    journal: Journal
    mailbox: OpenMailbox


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
    path: Path,
    *,
    scenario: Scenario | None,
    addresses: Mapping[str, str],
    seed: int | None,
    company: Company,
    observer: Callable[[str], None],
    clock: ServiceClock | None = None,
    mailbox_of: MailboxMaker = gmail_mailbox,
) -> Iterator[HostAtWork]:
    """The host of the match in the journal at ``path``, or of a new one. Raises ``ConfigError``, ``JournalError`` and,
    when another process works on the mailbox, ``MailboxUnavailable``."""
    clock = clock or ServiceClock(SystemClock())
    with ExitStack() as stack:
        _lock(stack, path, role)
        journal = STORAGE.journal(path, role=ROLE, address=role.address, dump=dump_part)
        stack.callback(journal.close)
        load_class = protocol_loader(in_process=company.in_process)
        setup = _setup(_kept(journal, path, load_class), scenario, addresses, seed, role.address)
        opened = mailbox_of(
            WantedMailbox(settings=settings, role=evolve(role, journal=path), journal=journal, clock=clock)
        )
        stack.callback(opened.close)

        agents: dict[str, object] = {}
        stack.callback(lambda: close_agents(agents.values()))

        def agent_of(made: MailSetup, seat_id: str) -> object:
            close_agents(filter(None, [agents.pop(seat_id, None)]))
            ids = made.scenario.agent_ids
            seat = made.scenario.seats[ids.index(seat_id)]
            own = int(derive_hex(str(made.seed), seat_id, digits=12), 16)
            agents[seat_id] = arena_agent(
                seat, made.scenario, company, seed=own, match_id=made.match_id, is_first=seat_id == ids[0]
            )
            return agents[seat_id]

        host = MailHost(
            opened.mailbox,
            journal,
            clock,
            intake=SenderCheck(role.address, settings.gmail.mail_server, settings.gmail.sender_check),
            setup=setup,
            agent_of=agent_of,
            memory_for=memory_for,
            load_class=load_class,
            observer=observer,
        )
        yield HostAtWork(host=host, journal=journal, mailbox=opened)


def _kept(journal: StoredJournal, path: Path, load_class: ClassLoader) -> MailSetup | None:
    """The match that a journal holds, after a look at every row. Raises ``JournalUnusable`` that names the file."""
    journal.check_content()
    try:
        return kept_setup(journal, load_class)
    except JournalUnusable as error:
        raise JournalUnusable(f"{path}: {error}; put a copy in its place, or name another file") from error


def _setup(
    kept: MailSetup | None,
    scenario: Scenario | None,
    addresses: Mapping[str, str],
    seed: int | None,
    host_address: str,
) -> MailSetup | None:
    if scenario is None:
        return None  # what the journal holds; the host says so when it holds nothing
    if kept is not None:
        wanted = kept.seed if seed is None else seed
        return MailSetup(
            scenario=scenario,
            seed=wanted,
            match_id=kept.match_id,
            host_address=host_address,
            addresses=addresses or kept.addresses,
        )
    drawn = seed if seed is not None else scenario.seed if scenario.seed is not None else secrets.randbits(63)
    return MailSetup(
        scenario=scenario,
        seed=drawn,
        match_id=f"m-{secrets.token_hex(5)}",
        host_address=host_address,
        addresses=addresses,
    )


@contextmanager
def seat_by_mail(
    settings: LeagueSettings,
    role: RoleSettings,
    *,
    host_address: str,
    agent: object,
    game: str,
    match_id: str | None,
    agent_id: str | None,
    clock: ServiceClock | None = None,
    mailbox_of: MailboxMaker = gmail_mailbox,
) -> Iterator[tuple[MailSeat, OpenMailbox]]:
    """A seat of a match that somebody else hosts. Its answers are kept beside the account's journal. Raises as
    ``host_by_mail`` does."""
    clock = clock or ServiceClock(SystemClock())
    path = role.journal.with_name(f"{role.journal.stem}.arena-seat{role.journal.suffix}")
    with ExitStack() as stack:
        _lock(stack, path, role)
        journal = STORAGE.journal(path, role=SEAT_ROLE, address=role.address, dump=dump_part)
        stack.callback(journal.close)
        journal.check_content()
        opened = mailbox_of(WantedMailbox(settings=settings, role=role, journal=journal, clock=clock))
        stack.callback(opened.close)
        seat = MailSeat(
            agent,
            opened.mailbox,
            journal,
            host_address,
            clock=clock,
            match_id=match_id,
            agent_id=agent_id,
            memory=memory_for(game),
            intake=SenderCheck(role.address, settings.gmail.mail_server, settings.gmail.sender_check),
        )
        yield seat, opened


def _lock(stack: ExitStack, journal: Path | None, role: RoleSettings) -> None:
    for lock in take_files(role, journal):
        stack.callback(lock.release)


def work(
    start: Callable[[], object],
    tick: Callable[[], bool],
    is_done: Callable[[], bool],
    *,
    pause: timedelta,
    clock: Clock,
    observer: Callable[[str], None],
    next_wake: Callable[[], datetime | None] = lambda: None,
    keep: Callable[[], object] = lambda: None,
    once: bool = False,
) -> None:
    """Tick until it is done, or, with ``once``, until nothing is to be done soon: a letter that may have been sent is
    looked for, and sent again if need be.

    A mailbox that fails is left alone for a while. Raises ``AuthorizationExpired``: a person has to log in.
    """
    backoff, is_started = Backoff(), False
    patience_ends_s = clock.monotonic_s() + SEND_PATIENCE.total_seconds()
    kept_s: float | None = None
    while not is_done() or not is_started:
        try:
            if not is_started:
                start()
                is_started = True
            busy = tick()
            backoff.succeeded()
        except AuthorizationExpired:
            raise
        except MailError as error:
            if once:
                raise
            wait = backoff.failed(error, clock.now())
            observer(f"{error}; next look in {wait.total_seconds():.0f} s")
            clock.sleep(wait)
            continue
        now_s = clock.monotonic_s()
        if kept_s is None or now_s - kept_s >= FACTS_EVERY.total_seconds():
            keep()
            kept_s = now_s
        if busy:
            continue
        wake = next_wake()
        if once and (wake is None or (wake - clock.now()).total_seconds() > patience_ends_s - clock.monotonic_s()):
            break
        rest = pause if wake is None else min(pause, max(wake - clock.now(), timedelta(milliseconds=100)))
        clock.sleep(rest)
    keep()


__all__ = ["HostAtWork", "addresses_of", "host_by_mail", "seat_by_mail", "work"]
