"""The envelope: the values that every league message carries.

Rule: ids that a message repeats inside its payload (``broadcast_id``, ``league_id``, ``season_id``, ``round_id``,
``match_id``) are owned by the envelope. Payload models do not have them; the codec writes them into the payload and
reads them from there.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from league_agents.kit.ids import GameId
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.payload import Payload


class Sender(Struct, frozen=True, kw_only=True):
    """Who sent a message."""

    email: str
    """Received: the authenticated ``From`` address, spelled as it came. Sent: the address of the account. Compared
    without letter case."""

    role: Role | None
    """``None`` when neither the document nor the subject states one. A claim: authority comes from the address."""

    logical_id: str | None = None
    """``LM001``, a referee's id or ``None``. Never used for decisions (protocol 1.2)."""


class Envelope(Struct, frozen=True, kw_only=True):
    """One protocol message (protocol 3.1)."""

    protocol: Protocol
    message_type: MessageType

    message_id: str
    """Unique per sender. Received without one: the subject's transaction id or the mailbox's id of the mail."""

    timestamp: datetime | None
    """``None`` when a received message states none or an unreadable one; messages of our own always carry one."""

    sender: Sender

    recipient_id: str
    """``BROADCAST``, ``LEAGUEMANAGER`` or the addressee's id. Informational; ``""`` when not stated."""

    payload: Payload
    """``BrokenPayload`` when the type is known and the content cannot be used."""

    correlation_id: str | None = None
    """The ``message_id`` that is answered, or the ``broadcast_id`` of an answered broadcast. May be foreign (4.1.3)."""

    league_id: str | None = None
    season_id: str | None = None
    round_id: str | None = None
    game_id: GameId | None = None

    broadcast_id: str | None = None
    """Of a broadcast: its own id. Of a reply (keep-alive, pause …): the id of the broadcast that it answers."""
