"""The subject line: read in every deployed form, written in one (protocol 2.2).

Rule: a written subject is one line of ASCII in five parts, and no id can add a part or a line.
"""

from __future__ import annotations

import re

from msgspec import Struct

from league_agents.kit.errors import LocalProtocolError
from league_agents.kit.ids import GameId, read_game_id
from league_agents.league.wire.address import read_address
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import (
    MessageType,
    Protocol,
    Role,
    canonical_protocol,
    canonical_role,
    canonical_type,
)
from league_agents.league.wire.reading import id_of

_LONGEST = 2_000
_PREFIX = re.compile(
    r"\s*(?:(?:re|fwd?|aw|wg|antw|sv|vs|tr|rv)\s?(?:\[[0-9]{1,3}\])?\s?:(?!:)\s*){1,20}", re.IGNORECASE | re.ASCII
)
_BRACKETED = re.compile(r"\[([^\[\]]*)\]\s*\[([^\[\]]*)\]\s*\[([^\[\]]*)\]\s*\[([^\[\]]*)\]\s*")
_CANONICAL = tuple(f"{protocol}::" for protocol in Protocol)
_TRANSACTION_ID = re.compile(r"[\x21-\x7e]{1,200}", re.ASCII)


class Subject(Struct, frozen=True, kw_only=True):
    """The parts of a subject. Every part is a claim of the sender and may be missing."""

    protocol: Protocol
    role: Role | None
    email: str | None
    """The address as it is spelled, unchecked."""

    transaction_id: str | None
    """The transaction id, without the square brackets that the league manager adds."""

    message_type: MessageType | None
    """``None`` when the type is unknown."""

    game_id: GameId | None = None
    """Only the bracketed and the eight-part form carry it."""


def parse_subject(text: str) -> Subject | None:
    """The subject's parts, or ``None`` when it has none of the forms of protocol 2.2."""
    if len(text) > _LONGEST:
        return None
    if not text.startswith(_CANONICAL):
        prefix = _PREFIX.match(text)
        text = text[prefix.end() :] if prefix else text.strip()
    if text.startswith("["):
        return _parse_bracketed(text)
    parts = text.split("::")
    if len(parts) < 5:
        return None
    protocol = canonical_protocol(parts[0])
    if protocol is None:
        return None
    transaction_id = parts[3].strip()
    if transaction_id.startswith("[") and transaction_id.endswith("]"):
        transaction_id = transaction_id[1:-1]
    return Subject(
        protocol=protocol,
        role=canonical_role(parts[1]),
        email=id_of(parts[2]),
        transaction_id=id_of(transaction_id),
        message_type=canonical_type(parts[4]),
        game_id=read_game_id(parts[7]) if len(parts) > 7 else None,
    )


def _parse_bracketed(text: str) -> Subject | None:
    found = _BRACKETED.match(text)
    protocol = canonical_protocol(found[1]) if found else None
    if found is None or protocol is None:
        return None
    return Subject(
        protocol=protocol,
        role=canonical_role(found[2]),
        email=None,
        transaction_id=None,
        message_type=canonical_type(found[4]),
        game_id=read_game_id(found[3]),
    )


def format_subject(envelope: Envelope, *, transaction_id: str | None = None) -> str:
    """The canonical subject of a message of our own.

    The fourth part is ``transaction_id``, by default the message id; a mail that repeats a message has one of its own.

    Raises ``LocalProtocolError`` when a part does not fit: the role is missing, the address is none, the id has other
    than visible ASCII characters or could be taken for two parts.
    """
    sender = envelope.sender
    if sender.role is None:
        raise LocalProtocolError(f"{envelope.message_type} {envelope.message_id[:60]!a} states no role of its sender")
    if read_address(sender.email) != sender.email:
        raise LocalProtocolError(f"{sender.email[:60]!a} is no address to send {envelope.message_type} from")
    identity = envelope.message_id if transaction_id is None else transaction_id
    if _TRANSACTION_ID.fullmatch(identity) is None or "::" in identity or identity[0] in ":[" or identity[-1] in ":]":
        raise LocalProtocolError(
            f"message id {identity[:60]!a} cannot stand in a subject: use letters, digits, '-' and '_'"
        )
    return "::".join((envelope.protocol, sender.role, sender.email, identity, envelope.message_type))
