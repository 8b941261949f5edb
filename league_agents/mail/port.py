"""The mailbox as the runner uses it.

Rule 1: fetching changes nothing. A mail stays waiting until it is acknowledged, even if the process dies.
Rule 2: acknowledging is last and may be repeated.
Rule 3: a send that returns was accepted. One that raises ``AmbiguousSend`` may have been accepted; any other error
means that nothing was sent. A send returns or raises within ``LONGEST_SEND``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Protocol

import msgspec
from msgspec import Struct

from league_agents.kit.errors import MailboxUnavailable, MailError

LONGEST_SEND = timedelta(seconds=20)
"""Time limit of a send. Gmail usually accepts a mail within one or two seconds, seldom within ten. A longer wait would
delay new mail, and the result of the send can be seen among the sent mails."""


class AmbiguousSend(MailError):
    """The connection broke after the mail was handed over: it may have been sent. Look for it before sending again."""

    def __init__(self, message: str | None = None, *, was_answered: bool = False) -> None:
        super().__init__(message)
        self.was_answered = was_answered
        """Whether the service reported a failure: then the send is not under way any more."""


class Stopping(MailboxUnavailable):
    """The process is ending: no further call is made, and nothing was sent."""


class Peers(Struct, frozen=True, kw_only=True):
    """The participants that may write to a role now (protocol 2.6)."""

    addresses: frozenset[str]
    """As ``address_key`` spells them. Their mail is fetched before all other mail."""

    admits_others: bool = False
    """Whether mail of other senders may matter too, for example to a player whose referees are not known yet."""

    shortest_wait: timedelta | None = None
    """The shortest time limit of a peer that waits for this role; ``None`` if none waits. Mail that is missing from the
    service's history must be found well within it."""


class OutgoingMail(Struct, frozen=True, kw_only=True):
    """One outgoing protocol message: one JSON document in one mail."""

    sender: str
    to: tuple[str, ...]
    subject: str
    """Plain ASCII, five parts (protocol 2.2)."""

    document: Mapping[str, object]
    """The JSON document. Must not be modified."""

    transaction_id: str
    """Identifies this mail among all of its sender: the fourth part of the subject, by which it is found among the sent
    mails, because mail services rewrite the ``Message-ID`` header."""

    sent_at: datetime
    file_name: str = "payload.json"
    """Name of the attachment; ends in lower-case ``.json``."""


class Mail(Struct, frozen=True, kw_only=True):
    """One received mail, parsed but not judged."""

    mail_id: str
    """The mailbox's id of the mail: unique and never reused."""

    arrived_at: datetime
    """When the mail server accepted the mail."""

    from_header: str
    subject: str
    documents: Sequence[object]
    """The JSON values found, in the reading order of protocol 2.5. Untrusted until decoded."""

    headers: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Names in lower case; the first of each name."""

    problems: tuple[str, ...] = ()
    """The reasons why parts could not be read, one line each."""

    refusal: str = ""
    """Why the mail was rejected by its headers, unopened, in one line. Empty for an opened mail."""

    is_from_peer: bool = True
    """``False`` for mail of strangers, which a mailbox with known peers returns after all other mail."""


class Mailbox(Protocol):
    """One address. Used by one thread at a time."""

    @property
    def address(self) -> str:
        """The address, spelled as the mail service reports it."""
        ...

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        """Return waiting mails that may be protocol mail, oldest first over the whole backlog, at most ``limit``.

        Mails whose id is ``known`` are skipped: other mail stays unread and must not be fetched again and again.
        A mailbox that knows its owner's ``Peers`` returns their mail first, and of other mail only as much as its
        share of the quota allows: a list without a mail from a peer means that none waits.
        Raises ``MailboxUnavailable``, ``AuthorizationExpired``, ``QuotaExhausted``.
        """
        ...

    def acknowledge(self, mail_ids: Sequence[str]) -> None:
        """Mark these mails as done, so that they are not fetched again. Unknown and acknowledged ids are allowed."""
        ...

    def send(self, mail: OutgoingMail) -> None:
        """Send one mail. Raises ``AmbiguousSend`` or another ``MailError``."""
        ...

    def was_sent(self, transaction_id: str) -> bool:
        """Whether a mail with this transaction id is among the sent mails."""
        ...
