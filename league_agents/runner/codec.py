"""What the runner needs to know of the mail that a machine exchanges.

Rule: the runner fetches, commits and sends. What a mail says, and how a message is written, is declared by the kind of
machine: one codec for the league's roles, others for the seats of the arena.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from league_agents.journal.port import OutboxItem
from league_agents.kit.errors import RemoteProtocolError
from league_agents.mail.port import Mail


class ForeignMail(RemoteProtocolError):
    """The mail is none of this machine's: it is left unread for whoever it is for."""


class LeftForOthers(ForeignMail):
    """Another process on this mailbox may want the mail: not even the journal remembers it."""


class DecodedMail(Struct, frozen=True, kw_only=True):
    """A mail that a machine can be stepped with."""

    event: object
    """What the machine is told."""

    sender: str
    message_type: str
    message_id: str
    game_id: str | None = None
    document: Mapping[str, object] | None = None
    """What the journal keeps of the mail; ``None`` if the machine's state keeps it."""


class MailCodec(Protocol):
    """One kind of mail."""

    def is_own(self, mail: Mail) -> bool:
        """Whether the headers alone show that the mail is for this machine. A mail that was not opened is turned away
        if so, and otherwise left unread."""
        ...

    def decode(self, mail: Mail) -> DecodedMail:
        """Raises ``ForeignMail``, or another ``RemoteProtocolError`` for mail of this kind that cannot be used."""
        ...

    def encode(self, effect: object, *, at: datetime, occasion: str) -> OutboxItem:
        """The mail of an effect that is none of the general ones. ``occasion`` is different for every step.

        Raises ``LocalProtocolError``.
        """
        ...

    def keeps_order(self, item: OutboxItem) -> bool:
        """Whether a message must not overtake the others for which this is so."""
        ...
