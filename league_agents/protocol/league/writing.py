"""What the writers of payloads share: strict pieces of the canonical document.

Rule: a value that the protocol forbids is our own mistake and raises ``LocalProtocolError``; it is never sent and never
mended.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime

from league_agents.errors import LocalProtocolError
from league_agents.protocol.league.envelope import Envelope

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


def stamp_or_none(instant: datetime | None) -> str | None:
    """``stamp``, or ``None``."""
    return None if instant is None else stamp(instant)


def due(envelope: Envelope, deadline: datetime | None) -> str:
    """The deadline of a request, which the protocol demands."""
    if deadline is None:
        raise refuse(envelope, "it needs a deadline")
    return stamp(deadline)


def present(**values: object) -> Document:
    """The keys whose value is not ``None``, in the order given."""
    return {key: value for key, value in values.items() if value is not None}


def whole(number: float | None) -> float | int | None:
    """``2.0`` as ``2``: points are whole numbers on the wire."""
    return int(number) if isinstance(number, float) and number.is_integer() else number


def check_range(envelope: Envelope, name: str, value: float, least: float, most: float) -> None:
    """Raises when ``value`` is no number from ``least`` to ``most``."""
    if isinstance(value, bool) or not math.isfinite(value) or not least <= value <= most:
        raise refuse(envelope, f"{name} must be from {least:g} to {most:g}, not {value!r}")
