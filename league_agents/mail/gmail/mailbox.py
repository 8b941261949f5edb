"""``Mailbox`` of a Gmail account.

Rule 1: new mail is found in the history, at two units a look; a listing of all unread mail, at the start and every few
minutes, finds mail missing there. The position in the history only moves forward, and a position given to
``keep_cursor`` has no waiting mail before it.
Rule 2: only protocol mail is ever changed. Acknowledging protocol mail removes ``UNREAD`` and nothing else.
Rule 3: a send is made once. Whether it was accepted is found out from the sent mails, by our transaction id, because
Gmail writes its own ``Message-ID``.
Rule 4: a mailbox that knows its owner's peers reads their mail before any other (``inbox``).
"""

from __future__ import annotations

import base64
import os
import threading
import urllib.parse
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import (
    AuthorizationExpired,
    ConfigError,
    LocalProtocolError,
    MailboxUnavailable,
    MailError,
    QuotaExhausted,
)
from league_agents.league.wire.address import same_address
from league_agents.mail import mime
from league_agents.mail.gmail.calls import PATIENCE, SHORT_PATIENCE, Calls
from league_agents.mail.gmail.connections import Connections
from league_agents.mail.gmail.failures import Gone
from league_agents.mail.gmail.inbox import Inbox
from league_agents.mail.gmail.inbox_watch import InboxWatch
from league_agents.mail.gmail.queries import QUERY
from league_agents.mail.gmail.received import arrived_at, headers_of, labels_of
from league_agents.mail.gmail.sent import SentMail
from league_agents.mail.oauth import LOGIN_COMMAND, Authorization
from league_agents.mail.port import Mail, OutgoingMail, Peers
from league_agents.mail.quota import LIST_EVERY, QuotaLedger, kind_of
from league_agents.mail.service_clock import ServiceClock

T = TypeVar("T")

GMAIL_ENDPOINT = "https://gmail.googleapis.com"
ENDPOINT_VARIABLE = "LEAGUE_GMAIL_ENDPOINT"
LARGEST_SEND = 35_000_000
"""Bytes of a mail, as Gmail counts them."""

SELF_TEST_PATIENCE = timedelta(seconds=30)
"""How long to wait for a mail to oneself."""

FEW = 10
"""Most mails that are cheaper to mark one by one."""

MOST_AT_ONCE = 1_000
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class GmailProfile:
    """Gmail's facts about the account."""

    address: str
    messages: int
    history_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """The result of a mail sent from the account to itself."""

    round_trip: timedelta
    """From before it was sent until it was seen in the inbox or the spam folder."""

    date_error: timedelta
    """The date that Gmail gave the mail, minus the time that it was by Gmail's replies: a second or so if Gmail agrees
    with itself."""

    machine_error: timedelta
    """How far this machine's wall clock is ahead of the date that Gmail gave the mail."""

    was_spam: bool = False
    """Whether Gmail put it into the spam folder."""


class GmailMailbox:
    """One account. Used by one thread at a time; ``close`` it."""

    def __init__(
        self,
        authorization: Authorization | Path,
        *,
        endpoint: str | None = None,
        address: str | None = None,
        clock: Clock | None = None,
        ledger: QuotaLedger | None = None,
        query: str = QUERY,
        cursor: str | None = None,
        keep_cursor: Callable[[str], object] | None = None,
        list_every: timedelta = LIST_EVERY,
        spam_every: timedelta | None = timedelta(minutes=10),
        timeout: timedelta = timedelta(seconds=30),
        login_command: str = LOGIN_COMMAND,
        peers: Callable[[], Peers] | None = None,
        refuse: Callable[[Mail], str | None] = lambda _mail: None,
        connections: Connections | None = None,
        stopping: threading.Event | None = None,
        watch: InboxWatch | None = None,
    ) -> None:
        """``authorization`` may be the path of a token file, read with the first call; ``login_command`` is the
        command that its errors name. If ``address`` is ``None``, Gmail is asked for it.

        ``cursor`` is the last value given to ``keep_cursor`` by an earlier process: with it, mail is found even if a
        person has read it meanwhile. ``spam_every=None`` ignores the spam folder. ``timeout`` is for each network wait.
        ``clock`` is this machine's, or already a ``ServiceClock``; either way ``self.clock`` is one.

        ``peers`` is called with every look; without it every sender counts as a peer. ``refuse`` returns the reason to
        reject a mail by its headers, or ``None``. ``connections`` are shared by many mailboxes, and closed by whoever
        made them; calls are then retried for a shorter time. Once ``stopping`` is set no call is made: methods raise
        ``Stopping``. ``watch`` has Gmail publish what happens to the inbox.
        """
        self._watch = watch
        self.clock = clock if isinstance(clock, ServiceClock) else ServiceClock(clock or SystemClock())
        self.ledger = ledger or QuotaLedger(self.clock)
        self._calls = Calls(
            (lambda: Authorization(authorization, login_command=login_command))
            if isinstance(authorization, Path)
            else (lambda: authorization),
            endpoint_of(endpoint),
            self.clock,
            self.ledger,
            timeout=timeout,
            patience=PATIENCE if connections is None else SHORT_PATIENCE,
            connections=connections,
            stopping=stopping,
        )
        self._address = address
        self._keep_cursor = keep_cursor
        self._kept_cursor = cursor
        self._unacknowledged: dict[str, None] = {}
        self._sent = SentMail(self._calls)
        self._inbox = Inbox(
            self._calls,
            self.ledger,
            self.clock,
            query=query,
            cursor=cursor,
            list_every=list_every,
            spam_every=spam_every,
            history_id=lambda: self.profile().history_id,
            sent=self._sent.noticed,
            peers=peers,
            refuse=refuse,
        )

    # -- the port ---------------------------------------------------------------------------------------------------

    @property
    def address(self) -> str:
        if self._address is None:
            self._address = self.profile().address
        return self._address

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        self._mark_as_read()
        self._inbox.look()
        if self._watch is not None:
            self._watch.keep(self._calls.watch)
        mails = self._inbox.mails(limit, known)
        if self._inbox.is_read:
            self._hand_out_cursor()
        return mails

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        for mail_id in mail_ids:
            self._inbox.done(mail_id)
            self._unacknowledged[mail_id] = None
        # If this fails the mails are remembered and marked with the next fetch.
        self._mark_as_read()

    def send(self, mail: OutgoingMail) -> None:
        if not same_address(mail.sender, self.address):
            raise MailError(f"{self.address} cannot send in the name of {mail.sender}")
        kind = kind_of(mail.subject)
        resets_at = self.ledger.resets_at(kind)
        if resets_at is not None:
            raise QuotaExhausted(
                f"{self.address} may send no more mail for now ({kind.replace('_', ' ')}, "
                f"{self.ledger.sends_left()} sends left)",
                resets_at=resets_at,
            )
        try:
            raw = mime.build(mail)
        except LocalProtocolError as error:
            raise MailError(f"a mail that cannot be written: {error}") from error
        if len(raw) > LARGEST_SEND:
            raise MailError(f"the mail has {len(raw)} bytes, Gmail takes at most {LARGEST_SEND}")
        sent_id = self._calls.send(base64.urlsafe_b64encode(raw).decode("ascii"))
        self._sent.remember(sent_id, frozenset({mail.transaction_id}))

    def was_sent(self, transaction_id: str) -> bool:
        if self._sent.is_known(transaction_id):
            return True
        self._inbox.read_history()
        return self._sent.find(transaction_id)

    # -- for the daemon ---------------------------------------------------------------------------------------------

    @property
    def waiting_count(self) -> int:
        """Number of waiting mails as of the last fetch, including some that may not be protocol mail."""
        return len(self._inbox)

    @property
    def cursor(self) -> str | None:
        """The position in the history: everything before it was seen."""
        return self._inbox.cursor

    @property
    def resyncs(self) -> int:
        """How often Gmail's history no longer reached back to the last look."""
        return self._inbox.resyncs

    @property
    def spam_found(self) -> int:
        """Number of possible protocol mails found in the spam folder."""
        return self._inbox.spam_found

    @property
    def failures_in_a_row(self) -> int:
        """Number of consecutive failed calls."""
        return self._calls.breaker.failures

    def profile(self) -> GmailProfile:
        """Ask Gmail for the account's profile. The cheapest call, also used to test the authorization."""
        answer = self._calls.profile()
        address, history_id, messages = (answer.get(name) for name in ("emailAddress", "historyId", "messagesTotal"))
        if not isinstance(address, str) or not isinstance(history_id, str | int):
            raise MailboxUnavailable("Gmail's answer names no address")
        return GmailProfile(
            address=address, messages=messages if isinstance(messages, int) else 0, history_id=str(history_id)
        )

    def self_test_send(self, test_id: str, *, patience: timedelta = SELF_TEST_PATIENCE) -> SelfTest:
        """Send a mail to oneself, wait for it, and put it away read. ``test_id`` is new for each test, plain ASCII.

        It costs one of the day's sends. Raises ``MailError`` when it does not come back.
        """
        profile = self.profile()
        self._address = profile.address
        cursor = profile.history_id
        subject = f"league-agents connectivity test {test_id}"
        text = (
            f"From: {profile.address}\r\nTo: {profile.address}\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n"
            "Auto-Submitted: auto-generated\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
            "This account can send and receive. The mail can be deleted.\r\n"
        )
        started_s, started_at = self.clock.monotonic_s(), self.clock.now()
        sent_id = self._calls.send(base64.urlsafe_b64encode(text.encode("ascii", "replace")).decode("ascii"))
        # It was taken between these two instants.
        taken_at = started_at + (self.clock.now() - started_at) / 2
        self._sent.remember(sent_id, frozenset())
        looked_at: set[str] = set()
        while True:
            for mail_id in self._inbox.arrivals_since(cursor):
                if mail_id in looked_at:
                    continue
                looked_at.add(mail_id)
                with suppress(Gone):
                    answer = self._calls.message(mail_id, form="metadata", headers=["Subject"])
                    if ("subject", subject) not in headers_of(answer):
                        continue
                    round_trip = timedelta(seconds=self.clock.monotonic_s() - started_s)
                    self._calls.unlabel(mail_id, ["UNREAD", "INBOX"])
                    self._inbox.done(mail_id)
                    date_error = arrived_at(answer) - taken_at
                    return SelfTest(
                        round_trip=round_trip,
                        date_error=date_error,
                        machine_error=(self.clock.machine_error() or timedelta(0)) - date_error,
                        was_spam="SPAM" in labels_of(answer),
                    )
            if self.clock.monotonic_s() - started_s > patience.total_seconds():
                raise MailError(
                    f"a mail that {profile.address} sent to itself did not arrive within "
                    f"{patience.total_seconds():.0f} s, neither in the inbox nor in the spam folder:"
                    " look at the account's filters"
                )
            self.clock.sleep(timedelta(seconds=0.5))

    def close(self) -> None:
        """Close the connections."""
        self._calls.close()

    def _hand_out_cursor(self) -> None:
        cursor = self._inbox.cursor
        if self._keep_cursor is not None and cursor is not None and cursor != self._kept_cursor:
            self._keep_cursor(cursor)
            self._kept_cursor = cursor

    # -- done with mail ---------------------------------------------------------------------------------------------

    def _mark_as_read(self) -> None:
        while self._unacknowledged:
            batch = list(self._unacknowledged)[:MOST_AT_ONCE]
            if len(batch) > FEW and self._unmark(self._calls.unlabel_all, batch):
                for mail_id in batch:
                    del self._unacknowledged[mail_id]
                continue
            for mail_id in batch:
                self._unmark(self._calls.unlabel, mail_id)
                del self._unacknowledged[mail_id]

    def _unmark(self, unlabel: Callable[[T, Sequence[str]], None], what: T) -> bool:
        """Remove ``UNREAD``. Return ``False`` if a mail was deleted meanwhile or an id is invalid."""
        try:
            unlabel(what, ["UNREAD"])
        except (MailboxUnavailable, AuthorizationExpired, QuotaExhausted):
            raise
        except MailError:
            return False
        return True


def endpoint_of(endpoint: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Return the server to use: ``endpoint``, or that of the environment, or Gmail. Raises ``ConfigError``."""
    chosen = endpoint or environment.get(ENDPOINT_VARIABLE) or GMAIL_ENDPOINT
    address = urllib.parse.urlsplit(chosen)
    if address.scheme == "https" or (address.scheme == "http" and address.hostname in _LOOPBACK):
        return chosen.rstrip("/")
    name = "gmail.endpoint" if endpoint else ENDPOINT_VARIABLE
    raise ConfigError(name, f"{chosen[:100]!a} must be an https address, or an http one of this machine")
