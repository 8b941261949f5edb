"""The mailbox of a role that works on real mail, and the filter of its senders."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from league_agents.app.sends import book_of
from league_agents.config.league_settings import LeagueSettings, RoleSettings
from league_agents.journal.port import Journal
from league_agents.kit.errors import AuthorizationExpired, ConfigError
from league_agents.kit.printable import printable
from league_agents.league.wire.address import read_mailbox, same_address
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.gmail.connections import Connections
from league_agents.mail.gmail.inbox_watch import InboxWatch
from league_agents.mail.identity import Require, Result, authenticated, judge, not_delivered_to
from league_agents.mail.oauth import load_client_secret
from league_agents.mail.port import Mail, Mailbox, Peers
from league_agents.mail.quota import QuotaLedger
from league_agents.mail.service_clock import ServiceClock

if TYPE_CHECKING:
    from league_agents.app.models import SharedBackends

QUOTA, CURSOR, MAIL_FACTS = "quota", "mail_cursor", "mail"
"""Journal keys of data that belongs to no step."""

SPAM_EVERY = timedelta(minutes=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMailbox:
    """A mailbox and the functions that the daemon needs besides."""

    mailbox: Mailbox
    check: Callable[[], None] = lambda: None
    """Verifies after the start, once, that it is the right mailbox. Raises ``MailError``."""

    facts: Callable[[], Mapping[str, object]] = dict
    sends_left: Callable[[], int | None] = lambda: None
    """Returns how many mails may still be sent today; ``None`` if it is not known."""

    is_watched: Callable[[], bool] = lambda: False
    """Whether the service publishes what happens to the mailbox."""

    close: Callable[[], None] = lambda: None


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedMailbox:
    """The parameters for opening the mailbox of a role."""

    settings: LeagueSettings
    role: RoleSettings
    journal: Journal
    """Stores the mailbox's persistent data."""

    clock: ServiceClock
    """Receives the time of the mail service."""

    peers: Callable[[], Peers] | None = None
    """Returns the senders whose mail is read first."""

    stopping: threading.Event | None = None
    """Set when the process is to end."""

    hears_of_mail: Callable[[], bool] = lambda: False
    """Whether somebody listens to what the service publishes about the mailbox."""

    tell_of_push: Callable[[str, bool], object] = lambda _text, _is_trouble: None
    """Called with one line when the service begins to refuse to publish (``True``), and when it agrees again."""


class SharedByMailboxes:
    """What the mailboxes of one process have in common. ``close`` it after them."""

    def __init__(self) -> None:
        self.connections = Connections()

    @cached_property
    def backends(self) -> SharedBackends:
        """The connections to language models."""
        from league_agents.app.models import SharedBackends

        return SharedBackends()

    def close(self) -> None:
        """Close the connections."""
        self.connections.close()


MailboxMaker = Callable[[WantedMailbox], OpenMailbox]
"""Opens the mailbox of a role, without network access."""


def login_command(settings: LeagueSettings, role: RoleSettings) -> str:
    """The command that authorizes this role's mailbox."""
    which = ("--mailbox", role.address) if role.name else ()
    return settings.command("auth", "login", "--role", role.role, *which)


def missing_client(settings: LeagueSettings, role: RoleSettings) -> str | None:
    """Why this role's mailbox cannot be authorized yet; ``None`` with a token or with a valid client file."""
    if role.token.exists():
        return None
    try:
        load_client_secret(settings.gmail.credentials)
    except ConfigError as error:
        return f"{error}; then run '{login_command(settings, role)}'"
    return None


def refuse_missing_client(settings: LeagueSettings, role: RoleSettings) -> None:
    """Raises ``ConfigError`` when the mailbox is not authorized and cannot be."""
    no_client = missing_client(settings, role)
    if no_client is not None:
        raise ConfigError(f"{settings.path}.gmail.credentials", no_client)


def gmail_mailbox(wanted: WantedMailbox, *, shared: SharedByMailboxes | None = None) -> OpenMailbox:
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
    push = gmail.push
    watch = (
        None
        if push is None
        else InboxWatch(push.topic, clock=clock, is_wanted=wanted.hears_of_mail, tell=wanted.tell_of_push)
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
        connections=None if shared is None else shared.connections,
        stopping=wanted.stopping,
        watch=watch,
    )

    def check() -> None:
        found = default.profile().address
        if not same_address(found, role.address):
            raise AuthorizationExpired(
                f"{role.token}: belongs to {found}, and {role.section}.address is {role.address};"
                f" run '{login_command(settings, role)}' with the right account"
            )

    def facts() -> Mapping[str, object]:
        return {
            QUOTA: ledger.dump(),
            MAIL_FACTS: {
                "units_in_last_minute": ledger.units_in_last_minute(),
                "units_per_minute": ledger.limits.units_per_minute,
                "resyncs": default.resyncs,
                "spam_found": default.spam_found,
                "clock_error_s": None if (error := clock.machine_error()) is None else error.total_seconds(),
            },
        }

    def close() -> None:
        default.close()
        sends.close()

    return OpenMailbox(
        mailbox=default,
        check=check,
        facts=facts,
        sends_left=ledger.sends_left,
        is_watched=lambda: watch is not None and watch.is_on,
        close=close,
    )


@dataclass(frozen=True, slots=True)
class SenderCheck:
    """``Intake`` by our own mail server's verdict on the sender (protocol 2.6)."""

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
            return None  # forged: a warning would make a person correct an address that is right
        subject = printable(mail.subject, 120)
        if not failed:
            return f"a mail that was sent from {self.own_address} may not have arrived: {subject}"
        named = ", ".join(failed[:3]) + (f" and {len(failed) - 3} more" if len(failed) > 3 else "")
        return f"mail to {named} was not delivered: {subject}; look whether the address is right"


def sender_check(settings: LeagueSettings, role: RoleSettings) -> SenderCheck:
    """The filter of a role's senders by the mail server's verdict."""
    return SenderCheck(role.address, settings.gmail.mail_server, settings.gmail.sender_check)
