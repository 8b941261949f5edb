"""From a league file to roles that work on real mail.

Rule 1: whatever can be wrong with files, agents and journals is found when the roles are put together, not when the
first game begins.
Rule 2: a role's private seed is drawn once and lives in its journal: ids derived from it must be the same after every
restart.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from league_agents.app.agents import SCRIPTED, AgentRole, ChosenAgent, choose_agent
from league_agents.app.journals import SEED, keep_marker, open_journal, state_in
from league_agents.app.outages import Outages
from league_agents.app.role_files import take_files, tighten_folders
from league_agents.app.sends import book_of
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import WARNING, Journal, Note
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import AuthorizationExpired, ConfigError
from league_agents.kit.printable import printable
from league_agents.kit.values import evolve
from league_agents.knowledge.corpus import default_index_path
from league_agents.league.machines.config import PlayerConfig, RefereeConfig
from league_agents.league.machines.events import Command, Identity, OperatorCommand
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.config import ManagerConfig
from league_agents.league.machines.manager.manager import Manager
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.machines.referee.referee import Referee, RefereeState
from league_agents.league.wire.address import read_mailbox, same_address
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.identity import Require, Result, authenticated, judge, not_delivered_to
from league_agents.mail.oauth import load_client_secret
from league_agents.mail.port import Mail, Mailbox, Peers
from league_agents.mail.quota import QuotaLedger
from league_agents.mail.service_clock import ServiceClock, clock_trouble
from league_agents.runner.calls import AgentHost
from league_agents.runner.codec import MailCodec
from league_agents.runner.league_mail import LEAGUE_MAIL
from league_agents.runner.live import DAEMON, LiveRole, WiredRole
from league_agents.runner.lock import FileLock
from league_agents.runner.peers import is_game_open, peers_of
from league_agents.runner.role import Observer, RoleRunner
from league_agents.runner.wakeup import Wakeup
from league_agents.runner.workers import Workers

if TYPE_CHECKING:
    from league_agents.app.models import Models

QUOTA, CURSOR, MAIL_FACTS = "quota", "mail_cursor", "mail"
"""Names under which a journal keeps what belongs to no step."""

SPAM_EVERY = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMailbox:
    """A mailbox and what the daemon wants to know of it besides."""

    mailbox: Mailbox
    check: Callable[[], None] = lambda: None
    """Asks once after the start whether it is the right mailbox. Raises ``MailError``."""

    facts: Callable[[], Mapping[str, object]] = dict
    close: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedMailbox:
    """What is known when the mailbox of a role is opened."""

    settings: LeagueSettings
    role: RoleSettings
    journal: Journal
    """Keeps what the mailbox wants to know again."""

    clock: ServiceClock
    """Is told what time it is at the mail service."""

    peers: Callable[[], Peers] | None = None
    """Says at any moment whose mail comes first."""

    stopping: threading.Event | None = None
    """Is set when the process is to end."""


MailboxMaker = Callable[[WantedMailbox], OpenMailbox]
"""Opens the mailbox of a role. Nothing is asked over the network yet."""


def login_command(settings: LeagueSettings, role: RoleSettings) -> str:
    """What a person types to authorize this role's mailbox."""
    return settings.command("auth", "login", "--role", role.role)


def missing_client(settings: LeagueSettings, role: RoleSettings) -> str | None:
    """Why nobody could authorize this role's mailbox yet; ``None`` with a token or with a right client file."""
    if role.token.exists():
        return None
    try:
        load_client_secret(settings.gmail.credentials)
    except ConfigError as error:
        return f"{error}; then run '{login_command(settings, role)}'"
    return None


def refuse_missing_client(settings: LeagueSettings, role: RoleSettings) -> None:
    """Raises ``ConfigError`` when the mailbox is not authorized and nobody could authorize it."""
    no_client = missing_client(settings, role)
    if no_client is not None:
        raise ConfigError(f"{settings.path}.gmail.credentials", no_client)


def gmail_mailbox(wanted: WantedMailbox) -> OpenMailbox:
    """The role's Gmail account. Raises ``ConfigError``."""
    settings, role, journal, clock = wanted.settings, wanted.role, wanted.journal, wanted.clock
    refuse_missing_client(settings, role)
    gmail = settings.gmail
    spent = journal.kept(QUOTA)
    cursor = journal.kept(CURSOR)
    sends = book_of(settings, role)
    ledger = QuotaLedger(
        clock, limits=gmail.limits, prices=gmail.prices, sends=sends, state=spent if isinstance(spent, dict) else None
    )
    default = GmailMailbox(
        role.token,
        endpoint=gmail.endpoint,
        address=role.address,
        clock=clock,
        ledger=ledger,
        cursor=cursor if isinstance(cursor, str) else None,
        keep_cursor=lambda position: journal.keep(CURSOR, position),
        timeout=gmail.timeout,
        spam_every=SPAM_EVERY if gmail.looks_into_spam else None,
        login_command=login_command(settings, role),
        peers=wanted.peers,
        refuse=sender_check(settings, role).refuse,
        stopping=wanted.stopping,
    )

    def check() -> None:
        found = default.profile().address
        if not same_address(found, role.address):
            raise AuthorizationExpired(
                f"{role.token}: belongs to {found}, and roles.{role.role}.address is {role.address};"
                f" run '{login_command(settings, role)}' with the right account"
            )

    def facts() -> Mapping[str, object]:
        return {
            QUOTA: ledger.dump(),
            MAIL_FACTS: {
                "units_in_last_minute": ledger.units_in_last_minute(),
                "resyncs": default.resyncs,
                "spam_found": default.spam_found,
                "clock_error_s": None if (error := clock.machine_error()) is None else error.total_seconds(),
            },
        }

    def close() -> None:
        default.close()
        sends.close()

    return OpenMailbox(mailbox=default, check=check, facts=facts, close=close)


@dataclass(frozen=True, slots=True)
class SenderCheck:
    """``Intake`` by what our own mail server says about the sender (protocol 2.6)."""

    own_address: str
    mail_server: str
    require: Require

    def refuse(self, mail: Mail) -> str | None:
        verdict = judge(
            mail.headers,
            mail.from_header,
            own_address=self.own_address,
            authserv_id=self.mail_server,
            require=self.require,
        )
        return None if verdict.accepted else verdict.reason

    def came_back(self, mail: Mail) -> str | None:
        failed = not_delivered_to(mail.headers, mail.from_header, mail.subject)
        if failed is None:
            return None
        sender = read_mailbox(mail.from_header)
        results = mail.headers.get("authentication-results", "")
        if (
            self.require is not Require.NOTHING
            and sender is not None
            and authenticated(results, sender, authserv_id=self.mail_server) is Result.FAIL
        ):
            return None  # forged: it would send a person after an address that is right
        subject = printable(mail.subject, 120)
        if not failed:
            return f"a mail that was sent from {self.own_address} may not have arrived: {subject}"
        named = ", ".join(failed[:3]) + (f" and {len(failed) - 3} more" if len(failed) > 3 else "")
        return f"mail to {named} was not delivered: {subject}; look whether the address is right"


def sender_check(settings: LeagueSettings, role: RoleSettings) -> SenderCheck:
    """Whose mail a role listens to, as far as the mail server's verdict goes."""
    return SenderCheck(role.address, settings.gmail.mail_server, settings.gmail.sender_check)


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A role that can be run, and what wakes it."""

    role: LiveRole
    wakeup: Wakeup
    settings: RoleSettings
    secret_texts: Callable[[], Sequence[str]] = field(repr=False)
    """Targets that no log may show at this moment."""


@contextmanager
def live_roles(
    settings: LeagueSettings,
    *,
    observer: Observer | None = None,
    clock: Clock | None = None,
    mailbox_of: MailboxMaker = gmail_mailbox,
) -> Iterator[list[Live]]:
    """The roles of a league file, put together and locked against a second process.

    Raises ``ConfigError`` for what the file says, ``JournalError`` for a journal and ``MailboxUnavailable`` for a
    mailbox that another process works on.
    """
    clock = clock or SystemClock()
    locks: list[FileLock] = []
    made: list[Live] = []
    try:
        for role in settings.roles:
            locks += take_files(role, role.journal)
        tighten_folders(settings)
        made = [_live_role(settings, role, observer, clock, mailbox_of) for role in settings.roles]
        for live in made:
            _ = live.role.wired
        yield made
    finally:
        for live in made:
            live.role.close()
        for lock in locks:
            lock.release()


@dataclass(frozen=True, slots=True, kw_only=True)
class MailProgram:
    """What works on one mailbox: a machine and what surrounds it."""

    machine: Machine[Any]
    codec: MailCodec
    journal: Journal
    host: AgentHost | None
    peers: Callable[[], Peers]
    """Who may write at the moment."""

    behind: Callable[[Mailbox], Mailbox] = lambda mailbox: mailbox
    """The mailbox as the machine's agent wants it to behave."""


MakeProgram = Callable[[Observer, Wakeup, Callable[[], Any]], MailProgram]
"""Puts a program together, telling this observer; the third is the state of its machine, once it is run."""


def live_program(
    settings: LeagueSettings,
    role: RoleSettings,
    program: MakeProgram,
    *,
    clock: ServiceClock,
    mailbox_of: MailboxMaker,
    observer: Observer | None,
    is_game_open: Callable[[Any], bool],
    has_ended: Callable[[RoleRunner[Any]], bool] = lambda _runner: False,
    on_start: Callable[[RoleRunner[Any]], None] = lambda _runner: None,
) -> Live:
    """A program on the mailbox of a role. ``program`` is called again when it has to start anew."""
    wakeup = Wakeup()
    opened: list[OpenMailbox] = []

    def make(told: Observer) -> WiredRole:
        # The runner is made below, before anybody looks into the mailbox.
        made = program(told, wakeup, lambda: runner.state)
        try:
            box = mailbox_of(
                WantedMailbox(
                    settings=settings,
                    role=role,
                    journal=made.journal,
                    clock=clock,
                    peers=made.peers,
                    stopping=wakeup.stopping,
                )
            )
            opened[:] = [box]
            runner = RoleRunner(
                made.machine,
                made.behind(box.mailbox),
                made.journal,
                made.host,
                clock,
                codec=made.codec,
                observer=told,
                intake=sender_check(settings, role),
                shown_within=settings.pace.shown_within,
                stopping=wakeup.stopping,
            )
        except BaseException:
            if made.host is not None:
                made.host.close()
            made.journal.close()
            raise
        return WiredRole(runner=runner, journal=made.journal, facts=box.facts, close=box.close)

    live = LiveRole(
        name=role.role,
        make=make,
        clock=clock,
        pace=settings.pace,
        pid=os.getpid(),
        observer=observer,
        is_game_open=is_game_open,
        authorization=lambda: _stamp(role.token),
        check=lambda: opened[0].check(),
        has_ended=has_ended,
        on_start=on_start,
        clock_trouble=lambda: clock_trouble(clock.machine_error()),
    )
    return Live(role=live, wakeup=wakeup, settings=role, secret_texts=lambda: _targets(role, live.state))


def _live_role(
    settings: LeagueSettings, role: RoleSettings, observer: Observer | None, base: Clock, mailbox_of: MailboxMaker
) -> Live:
    clock = ServiceClock(base)

    def program(told: Observer, wakeup: Wakeup, state: Callable[[], Any]) -> MailProgram:
        journal, machine, agent = journal_and_machine(settings, role, outages_told(told, role, clock))
        try:
            changed = keep_marker(role, journal, today=f"{clock.now():%Y-%m-%d}")
            if changed is not None:
                told.noted(role.role, Note(at=clock.now(), kind=DAEMON, key="journal_changed", facts={"text": changed}))
            host = None
            if agent is not None:
                if agent.own is not None:
                    agent.own.try_making()
                host = Workers(agent.instances, one_game_each=role.role == "referee", clock=clock, notify=wakeup.wake)
        except BaseException:
            journal.close()
            raise
        return MailProgram(
            machine=machine,
            codec=LEAGUE_MAIL,
            journal=journal,
            host=host,
            peers=lambda: peers_of(machine, state()),
            behind=(lambda mailbox: mailbox) if agent is None else agent.behind,
        )

    def on_start(runner: RoleRunner[Any]) -> None:
        season = settings.season
        if role.role == "manager" and season is not None and season.opens_by_itself:
            runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce=f"open {season.season_id}"))

    return live_program(
        settings,
        role,
        program,
        clock=clock,
        mailbox_of=mailbox_of,
        observer=observer,
        is_game_open=is_game_open,
        on_start=on_start,
    )


def outages_told(observer: Observer, role: RoleSettings, clock: Clock) -> Outages:
    """An observer hears of language models that fall silent: every game would go on without them, and nobody know."""

    def tell(kind: str, key: str) -> Callable[[str], None]:
        return lambda text: observer.noted(role.role, Note(at=clock.now(), kind=kind, key=key, facts={"text": text}))

    return Outages(failed=tell(WARNING, "model_failed"), recovered=tell(DAEMON, "model_recovered"))


def _targets(role: RoleSettings, state: object) -> list[str]:
    """What a referee keeps secret until the score is sent."""
    found = [role.opening_sentence, role.associative_word]
    if isinstance(state, RefereeState):
        for match in state.matches.values():
            if match.target is not None:
                found += [match.target.opening_sentence, match.target.associative_word]
    return [text for text in found if text]


def _stamp(path: Path) -> object:
    """Changes when a person has logged in again."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size


def journal_and_machine(
    settings: LeagueSettings, role: RoleSettings, outages: Outages
) -> tuple[Journal, Machine[Any], ChosenAgent | None]:
    """A role's journal and the machine that goes with it, and its agent.

    Raises ``ConfigError`` and ``JournalError``.
    """
    machines: list[Machine[Any]] = []
    journal = open_journal(role, lambda name, part: machines[0].dump_part(name, part))
    try:
        seed = journal.kept(SEED)
        if not isinstance(seed, str):
            seed = secrets.token_hex(16)
            journal.keep(SEED, seed)
        machines.append(machine_of(settings, role, seed))
        state_in(role, machines[0], journal.load_parts())
        agent = None if role.role == "manager" else agent_of(settings, role, seed, outages)
    except BaseException:
        journal.close()
        raise
    return journal, machines[0], agent


def agent_of(settings: LeagueSettings, role: RoleSettings, seed: str, outages: Outages | None = None) -> ChosenAgent:
    """The agent that a referee or player runs; ``outages`` hears of its models. Raises ``ConfigError``."""
    spec = SCRIPTED if settings.is_demo else role.agent
    kind: AgentRole = "referee" if role.role == "referee" else "player"

    def models() -> Models:
        from league_agents.app.models import Books, chat_models

        books = Books(league=settings.league_id, scope=f"{role.role} {role.address}", journal=role.journal)
        if outages is None:
            return chat_models(settings.models, role=role.role, books=books)
        return chat_models(settings.models, role=role.role, books=books, watched=outages.watched)

    return choose_agent(
        spec,
        kind,
        rules=settings.rules,
        seed=seed,
        index_path=default_index_path,
        models=models,
        in_process=settings.in_process,
    )


def machine_of(settings: LeagueSettings, role: RoleSettings, seed: str) -> Machine[Any]:
    """The machine of a role. Raises ``ConfigError``."""
    me = Identity(
        email=role.address,
        participant_id=role.participant_id,
        group_id=role.group_id,
        display_name=role.display_name,
        seed=seed,
    )
    if role.role == "manager":
        return Manager(config=manager_config(settings, me))
    if role.role == "player":
        return PlayerMachine(
            config=PlayerConfig(identity=me, manager_email=settings.manager_email, rules=settings.rules)
        )
    return Referee(
        config=RefereeConfig(
            identity=me,
            manager_email=settings.manager_email,
            rules=settings.rules,
            actual_opening_sentence=role.opening_sentence,
            actual_associative_word=role.associative_word,
            assignment_table_id=role.assignment_table_id,
            avoid_not_relevant=role.avoid_not_relevant,
        )
    )


def manager_config(settings: LeagueSettings, me: Identity) -> ManagerConfig:
    """What the league manager is told. Raises ``ConfigError`` that names the key."""
    season = settings.season
    if season is None:
        raise ConfigError(f"{settings.path}.season", "is missing: a league manager needs a season with its teams")
    try:
        config = ManagerConfig(
            identity=evolve(me, display_name="League office"),
            season_id=season.season_id,
            season_name=season.name,
            league_id=settings.league_id,
            season_number=season.number,
            teams=season.teams,
            rules=settings.rules,
            schedule_kind=season.schedule_kind,
            rounds=season.rounds,
            tie_breaks=season.tie_breaks,
            lot_seed=season.lot_seed,
            is_automatic=season.is_automatic,
            results_broadcast=season.results_broadcast,
            lookup_table=season.lookup_table,
            core_only=frozenset(season.core_only),
        )
        waits: dict[str, Any] = dict(season.waits)
        return evolve(config, **waits)
    except ConfigError as error:
        message = str(error).removeprefix(f"{error.path}: ")
        raise ConfigError(f"{settings.path}.season.{error.path}", message) from None
