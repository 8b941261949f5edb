"""The port by which the runner decodes and encodes the mail of a machine.

Rule: the runner fetches, commits and sends. Each kind of machine has its own codec to read and write messages: one for
the league's roles, others for the seats of the arena.
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
    """The mail is not for this machine and is left unread for its recipient."""


class LeftForOthers(ForeignMail):
    """The mail may be for another process on this mailbox, so it is not recorded in the journal."""


class DecodedMail(Struct, frozen=True, kw_only=True):
    """A mail decoded into an event of a machine."""

    event: object
    """The event to step the machine with."""

    sender: str
    message_type: str
    message_id: str
    game_id: str | None = None
    document: Mapping[str, object] | None = None
    """The document to store in the journal; ``None`` if the machine's state holds it."""


class MailCodec(Protocol):
    """Reads and writes one kind of mail."""

    def is_own(self, mail: Mail) -> bool:
        """Whether the headers alone show that the mail is for this machine. An unopened mail is rejected if so, and
        left unread otherwise."""
        ...

    def decode(self, mail: Mail) -> DecodedMail:
        """Raises ``ForeignMail``, or another ``RemoteProtocolError`` for mail of this kind that cannot be used."""
        ...

    def encode(self, effect: object, *, at: datetime, occasion: str) -> OutboxItem:
        """Return the mail of an effect that is specific to this kind of machine. ``occasion`` differs for every step.

        Raises ``LocalProtocolError``.
        """
        ...

    def keeps_order(self, item: OutboxItem) -> bool:
        """Whether a message must be sent in order with the other messages for which this returns ``True``."""
        ...
