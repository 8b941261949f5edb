"""What the runner needs of a mailbox.

Rule 1: fetching alters nothing. A mail stays waiting until it is acknowledged, whatever happens to the process.
Rule 2: acknowledging is last and may be repeated.
Rule 3: a send that returns was accepted. One that raises ``AmbiguousSend`` may or may not have been; any other error
means that nothing was sent. It does one of the three within ``LONGEST_SEND``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec
from msgspec import Struct

from league_agents.kit.errors import MailboxUnavailable, MailError

LONGEST_SEND = timedelta(seconds=20)
"""After so long a client leaves a send. Gmail takes a mail within one or two seconds, seldom within ten; whoever waits
longer keeps new mail waiting, and what becomes of the send can be seen among the sent mails."""


class AmbiguousSend(MailError):
    """The connection broke after the mail was handed over: it may have been sent. Look for it before sending again."""

    def __init__(self, message: str | None = None, *, was_answered: bool = False) -> None:
        super().__init__(message)
        self.was_answered = was_answered
        """Whether the service said that it failed: then the send is not under way any more."""


class Stopping(MailboxUnavailable):
    """The process is to end: the mail service is asked nothing more, and nothing was sent."""


class Peers(Struct, frozen=True, kw_only=True):
    """Who may write to a role at the moment (protocol 2.6)."""

    addresses: frozenset[str]
    """As ``address_key`` spells them. Their mail comes before everybody else's."""

    admits_others: bool = False
    """Whether mail of anybody else can mean something, as to a player whose referees no table has named yet."""

    shortest_wait: timedelta | None = None
    """The shortest time that somebody waits for this role; ``None`` when nobody does. A mail that the service withholds
    from its history must be found well within it."""


class OutgoingMail(Struct, frozen=True, kw_only=True):
    """One protocol message on its way out: one JSON document in one mail."""

    sender: str
    to: tuple[str, ...]
    subject: str
    """Plain ASCII, five parts (protocol 2.2)."""

    document: Mapping[str, object]
    """The JSON document. Not to be changed by anybody who gets hold of it."""

    transaction_id: str
    """Identifies this mail among all that its sender ever sends: the fourth part of the subject, by which it is found
    again among the sent ones. Mail services rewrite the ``Message-ID`` header."""

    sent_at: datetime
    file_name: str = "payload.json"
    """Of the attachment; ends in lower-case ``.json``."""


class Mail(Struct, frozen=True, kw_only=True):
    """One received mail, taken apart but not judged."""

    mail_id: str
    """The mailbox's own id: unique in it, never used again."""

    arrived_at: datetime
    """When the mail server took it."""

    from_header: str
    subject: str
    documents: Sequence[object]
    """The JSON values found in it, in the reading order of protocol 2.5. Hostile until decoded."""

    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Names in lower case; the first of each name."""

    problems: tuple[str, ...] = ()
    """Why parts of it could not be read, one line each."""

    refusal: str = ""
    """What its headers disqualify it by, in one line: its body was not opened. Empty for an opened mail."""

    is_from_peer: bool = True
    """``False`` for mail of strangers, which a mailbox that knows its owner's peers hands out behind all other."""


class Mailbox(Protocol):
    """One address. Used by one thread at a time."""

    @property
    def address(self) -> str:
        """The address, spelled as the mail service reports it."""
        ...

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        """Waiting mails that may be protocol mail, oldest first over the whole backlog, at most ``limit``.

        Mails whose id is ``known`` are passed over: other people's mail stays unread and must not be fetched for ever.
        A mailbox that knows its owner's ``Peers`` hands out their mail first, and of other mail only as much as its
        share of the quota allows: a list without a mail from a peer means that none waits.
        Raises ``MailboxUnavailable``, ``AuthorizationExpired``, ``QuotaExhausted``.
        """
        ...

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        """These mails need not be fetched again. Ids that are unknown or already acknowledged are allowed."""
        ...

    def send(self, mail: OutgoingMail) -> None:
        """Hand over one mail. Raises ``AmbiguousSend`` or another ``MailError``."""
        ...

    def was_sent(self, transaction_id: str) -> bool:
        """Whether a mail with this transaction id stands among the sent ones."""
        ...
