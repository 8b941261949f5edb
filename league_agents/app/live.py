"""Assemble the roles of a league file to work on real mail.

Rule: errors in files, agents and journals are found when the roles are assembled, not when the first game begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from league_agents.app.journals import DatabasesAway, keep_marker
from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.live_machine import journal_and_machine
from league_agents.app.live_mailbox import (
    MailboxMaker,
    OpenMailbox,
    SharedByMailboxes,
    WantedMailbox,
    gmail_mailbox,
    sender_check,
)
from league_agents.app.outages import Outages
from league_agents.app.peers import is_game_open, peers_of
from league_agents.app.role_files import take_files, tighten_folders
from league_agents.app.storage import bytes_of
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import WARNING, Journal, Note, StoredJournal
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import JournalError, JournalHeld
from league_agents.league.machines.events import Command, OperatorCommand
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.league.machines.referee.referee import RefereeState
from league_agents.llm.calls import ModelCall
from league_agents.mail.port import Mailbox, Peers
from league_agents.mail.service_clock import ServiceClock, clock_trouble
from league_agents.runner.calls import AgentHost
from league_agents.runner.codec import MailCodec
from league_agents.runner.live import DAEMON, LiveRole, WiredRole
from league_agents.runner.lock import FileLock
from league_agents.runner.probe import NO_PROBE, Probe, probe_of
from league_agents.runner.role import Observer, RoleRunner
from league_agents.runner.wakeup import Wakeup
from league_agents.runner.workers import Workers

TIDIED_AT_ONCE = 20
"""Matches that an idle role archives before it looks for mail again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """A role that is ready to run, and its wakeup."""

    role: LiveRole
    wakeup: Wakeup
    settings: RoleSettings
    secret_texts: Callable[[], Sequence[str]] = field(repr=False)
    """Targets that must not appear in the log at this moment."""

    release: Callable[[], None] = lambda: None
    """Gives back the files that the role has locked itself. Call it after the role was closed."""


@contextmanager
def live_roles(
    settings: LeagueSettings,
    *,
    observer: Observer | None = None,
    clock: Clock | None = None,
    mailbox_of: MailboxMaker = gmail_mailbox,
) -> Iterator[list[Live]]:
    """The roles of a league file, assembled and locked against a second process.

    Raises ``ConfigError`` for the file's settings, ``JournalError`` for a journal, except one in a database that is
    away, and ``MailboxUnavailable`` for a mailbox that another process works on.
    """
    clock = clock or SystemClock()
    locks: list[FileLock] = []
    made: list[Live] = []
    try:
        for role in settings.roles:
            # A database keeps who works on a journal itself.
            locks += take_files(role, role.journal if isinstance(role.journal, Path) else None)
        tighten_folders(settings)
        made = [live_role(settings, role, observer, clock, mailbox_of) for role in settings.roles]
        _find_errors(made)
        yield made
    finally:
        for live in made:
            live.role.close()
        for lock in locks:
            lock.release()


def _find_errors(made: Sequence[Live]) -> None:
    """Assemble the roles. A role waits for its journal while another process works on it or its database is away.

    Raises the other errors of ``LiveRole.wired``.
    """
    away = DatabasesAway()
    for live in made:
        try:
            with away.asked(live.settings):
                _ = live.role.wired
        except JournalHeld:
            pass
        except JournalError:
            if live.settings.journal not in away:
                raise


@dataclass(frozen=True, slots=True, kw_only=True)
class MailProgram:
    """A program for one mailbox: a machine and its surroundings."""

    machine: Machine[Any]
    codec: MailCodec
    journal: Journal
    host: AgentHost | None
    peers: Callable[[], Peers]
    """The addresses that may write at the moment."""

    tidy: Callable[[], bool] = lambda: False
    """See ``WiredRole.tidy``."""

    behind: Callable[[Mailbox], Mailbox] = lambda mailbox: mailbox
    """Wraps the mailbox with the behaviour of the machine's agent."""


MakeProgram = Callable[[Observer, Wakeup, Callable[[], Any]], MailProgram]
"""Makes a program that notifies the observer; the third argument returns the state of its machine while it runs."""


def live_program(
    settings: LeagueSettings,
    role: RoleSettings,
    program: MakeProgram,
    *,
    name: str,
    clock: ServiceClock,
    mailbox_of: MailboxMaker,
    observer: Observer | None,
    is_game_open: Callable[[Any], bool],
    has_ended: Callable[[RoleRunner[Any]], bool] = lambda _runner: False,
    on_start: Callable[[RoleRunner[Any]], None] = lambda _runner: None,
    is_one_of_many: bool = False,
) -> Live:
    """A program on the mailbox of a role, named ``name`` in logs. ``program`` is called again at each restart."""
    wakeup = Wakeup()
    opened: list[OpenMailbox] = []

    def make(told: Observer) -> WiredRole:
        def tell_of_push(text: str, is_trouble: bool) -> None:
            kind, key = (WARNING, "push_failed") if is_trouble else (DAEMON, "push_recovered")
            told.noted(name, Note(at=clock.now(), kind=kind, key=key, facts={"text": text}))

        # The runner is made below, before the mailbox is first read.
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
                    hears_of_mail=lambda: wakeup.hears_of_mail(),
                    tell_of_push=tell_of_push,
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
                probe=probe_of(observer).of_role(name),
            )
        except BaseException:
            if made.host is not None:
                made.host.close()
            made.journal.close()
            raise
        return WiredRole(
            runner=runner,
            journal=made.journal,
            facts=box.facts,
            tidy=made.tidy,
            close=box.close,
            journal_bytes=lambda: bytes_of(role.journal),
            sends_left=box.sends_left,
        )

    live = LiveRole(
        name=name,
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
        is_one_of_many=is_one_of_many,
        hears_of_mail=lambda: wakeup.hears_of_mail() and bool(opened) and opened[0].is_watched(),
        was_rung=wakeup.was_rung,
        clock_trouble=lambda: clock_trouble(clock.machine_error()),
    )
    return Live(role=live, wakeup=wakeup, settings=role, secret_texts=lambda: _targets(role, live.state))


def live_role(
    settings: LeagueSettings,
    role: RoleSettings,
    observer: Observer | None,
    base: Clock,
    mailbox_of: MailboxMaker,
    *,
    is_one_of_many: bool = False,
    shared: SharedByMailboxes | None = None,
) -> Live:
    """A role of the league. ``is_one_of_many``: it locks its files itself when it begins, and no error ends it."""
    clock = ServiceClock(base)
    locks: list[FileLock] = []

    def release() -> None:
        while locks:
            locks.pop().release()

    def program(told: Observer, wakeup: Wakeup, state: Callable[[], Any]) -> MailProgram:
        if is_one_of_many and not locks:
            locks.extend(take_files(role, role.journal if isinstance(role.journal, Path) else None))
        outages = outages_told(told, role, clock, probe_of(observer))
        journal, machine, agent = journal_and_machine(settings, role, outages, shared)
        try:
            changed = keep_marker(role, journal, today=f"{clock.now():%Y-%m-%d}")
            if changed is not None:
                told.noted(
                    role.label, Note(at=clock.now(), kind=DAEMON, key="journal_changed", facts={"text": changed})
                )
            host = None
            if agent is not None:
                if agent.own is not None:
                    agent.own.try_making()
                host = Workers(
                    agent.instances,
                    one_game_each=role.role == "referee",
                    clock=clock,
                    notify=wakeup.wake,
                    name=role.label,
                )
        except BaseException:
            journal.close()
            raise
        return MailProgram(
            machine=machine,
            codec=LEAGUE_MAIL,
            journal=journal,
            host=host,
            peers=lambda: peers_of(machine, state()),
            tidy=partial(_archive, journal, settings.archive_after, clock),
            behind=(lambda mailbox: mailbox) if agent is None else agent.behind,
        )

    def on_start(runner: RoleRunner[Any]) -> None:
        season = settings.season
        if role.role != "manager" or season is None or not season.opens_by_itself:
            return
        now = runner.state.season
        if now.phase is SeasonPhase.SETUP:
            runner.command(OperatorCommand(command=Command.OPEN_SEASON, nonce=f"open {season.season_id}"))
        # The end of a season stays visible: the next one begins with an order, or by a file that says what it follows.
        elif now.phase is SeasonPhase.FINISHED and season.follows and now.season_id == season.follows:
            runner.command(OperatorCommand(command=Command.NEW_SEASON, nonce=f"open {season.season_id}"))

    made = live_program(
        settings,
        role,
        program,
        name=role.label,
        clock=clock,
        mailbox_of=mailbox_of,
        observer=observer,
        is_game_open=is_game_open,
        on_start=on_start,
        is_one_of_many=is_one_of_many,
    )
    return replace(made, release=release)


def outages_told(observer: Observer, role: RoleSettings, clock: Clock, probe: Probe = NO_PROBE) -> Outages:
    """Report silent language models to an observer: every game would continue without them, unnoticed."""
    watching = probe.of_role(role.label)

    def tell(kind: str, key: str) -> Callable[[str], None]:
        return lambda text: observer.noted(role.label, Note(at=clock.now(), kind=kind, key=key, facts={"text": text}))

    def called(call: ModelCall) -> None:
        watching.asked_model(
            game_id=call.purpose.match_id,
            callback=call.purpose.callback,
            model=call.model,
            outcome=call.outcome,
            took_s=call.took_s,
            cost_usd=call.cost_usd,
        )

    return Outages(failed=tell(WARNING, "model_failed"), recovered=tell(DAEMON, "model_recovered"), called=called)


def _archive(journal: StoredJournal, age: timedelta | None, clock: Clock) -> bool:
    """Archive some closed matches. Return whether there may be more."""
    return age is not None and journal.archive(clock.now() - age, limit=TIDIED_AT_ONCE) == TIDIED_AT_ONCE


def _targets(role: RoleSettings, state: object) -> list[str]:
    """The targets that a referee keeps secret until the score is sent."""
    found = [role.opening_sentence, role.associative_word]
    if isinstance(state, RefereeState):
        for match in state.matches.values():
            if match.target is not None:
                found += [match.target.opening_sentence, match.target.associative_word]
    return [text for text in found if text]


def _stamp(path: Path) -> object:
    """A value that changes when a person has logged in again."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino, found.st_size
