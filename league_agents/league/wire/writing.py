"""Strict functions that the writers of payloads share.

Rule: a value that the protocol forbids is a bug of this program and raises ``LocalProtocolError``; it is neither sent
nor repaired.
"""

from __future__ import annotations

from datetime import UTC, datetime

from league_agents.kit.errors import LocalProtocolError
from league_agents.league.wire.envelope import Envelope

Document = dict[str, object]


def refuse(envelope: Envelope, why: str) -> LocalProtocolError:
    """The error for a message of our own that would break the protocol."""
    return LocalProtocolError(f"{envelope.message_type} {envelope.message_id[:60]!a} cannot be sent: {why}")


def stamp(instant: datetime) -> str:
    """The canonical spelling of an instant (protocol 3.1): UTC with microseconds."""
    if instant.tzinfo is None:
        raise LocalProtocolError(f"{instant.isoformat()} has no time zone")
    if instant.tzinfo is not UTC:
        instant = instant.astimezone(UTC)
    return instant.isoformat(timespec="microseconds")


def whole(number: float | None) -> float | int | None:
    """``2.0`` as ``2``: points are whole numbers on the wire."""
    return int(number) if isinstance(number, float) and number.is_integer() else number
