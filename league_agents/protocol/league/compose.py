"""Envelopes of our own, with the type and the protocol that their payload implies."""

from __future__ import annotations

from datetime import datetime

from league_agents.errors import LocalProtocolError
from league_agents.ids import GameId
from league_agents.protocol.league.encode import CANONICAL_TYPES
from league_agents.protocol.league.envelope import Envelope, Sender
from league_agents.protocol.league.kinds import GAME_TYPES, MessageType, protocol_of
from league_agents.protocol.league.messages import Payload

BROADCAST = "BROADCAST"
LEAGUEMANAGER = "LEAGUEMANAGER"


def type_of(payload: Payload) -> MessageType:
    """The type as which a payload is sent. Raises ``LocalProtocolError`` for one that is only ever received."""
    kind = CANONICAL_TYPES.get(type(payload))
    if kind is None:
        raise LocalProtocolError(f"a {type(payload).__name__} is never sent")
    return kind


def game_message(
    payload: Payload,
    *,
    sender: Sender,
    recipient_id: str,
    game_id: GameId,
    message_id: str,
    now: datetime,
    correlation_id: str | None = None,
) -> Envelope:
    """A message between a referee and a player (``Q21G.v1``)."""
    kind = type_of(payload)
    if kind not in GAME_TYPES:
        raise LocalProtocolError(f"{kind} is no game message")
    return Envelope(
        protocol=protocol_of(kind),
        message_type=kind,
        message_id=message_id,
        timestamp=now,
        sender=sender,
        recipient_id=recipient_id,
        payload=payload,
        correlation_id=correlation_id,
        game_id=game_id,
    )


def league_message(
    payload: Payload,
    *,
    sender: Sender,
    message_id: str,
    now: datetime,
    recipient_id: str = LEAGUEMANAGER,
    correlation_id: str | None = None,
    league_id: str | None = None,
    season_id: str | None = None,
    round_id: str | None = None,
    game_id: GameId | None = None,
    broadcast_id: str | None = None,
) -> Envelope:
    """A message between the league manager and a participant (``league.v2``).

    ``broadcast_id`` of a reply is the id of the broadcast that is answered; ``season_id``, ``round_id`` and ``game_id``
    are written where the type carries them.
    """
    kind = type_of(payload)
    if kind in GAME_TYPES:
        raise LocalProtocolError(f"{kind} is no league message")
    return Envelope(
        protocol=protocol_of(kind),
        message_type=kind,
        message_id=message_id,
        timestamp=now,
        sender=sender,
        recipient_id=recipient_id,
        payload=payload,
        correlation_id=correlation_id,
        league_id=league_id,
        season_id=season_id,
        round_id=round_id,
        game_id=game_id,
        broadcast_id=broadcast_id,
    )


def broadcast(
    payload: Payload,
    *,
    sender: Sender,
    broadcast_id: str,
    message_id: str,
    now: datetime,
    league_id: str | None,
    season_id: str | None = None,
    round_id: str | None = None,
) -> Envelope:
    """A message of the league manager to everybody."""
    return league_message(
        payload,
        sender=sender,
        message_id=message_id,
        now=now,
        recipient_id=BROADCAST,
        league_id=league_id,
        season_id=season_id,
        round_id=round_id,
        broadcast_id=broadcast_id,
    )
