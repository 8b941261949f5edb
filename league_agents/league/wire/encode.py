"""From an envelope to the canonical JSON document (protocol 3.1 and section 4).

Rule: each message has one spelling that the protocol allows. An outgoing message that breaks the protocol raises
``LocalProtocolError`` and is not sent. Agents' texts are never the cause: lone surrogates in them are replaced.
"""

from __future__ import annotations

import math

from league_agents.kit.ids import is_game_id
from league_agents.league.wire.address import read_address
from league_agents.league.wire.catalogue import CANONICAL_TYPES, DECLARED
from league_agents.league.wire.declare import write_fields
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import BROADCAST_TYPES, GAME_TYPES, MessageType, protocol_of
from league_agents.league.wire.messages import Legacy, MatchReport
from league_agents.league.wire.reading import clean, is_id
from league_agents.league.wire.writing import Document, refuse, stamp

_OF_A_SEASON = frozenset(item.sent_as for item in DECLARED if item.names_season)
_TYPED = frozenset(CANONICAL_TYPES.values())


def encode(envelope: Envelope) -> Document:
    """The canonical document of a message of our own: JSON values only, keys in the order of protocol 3.1.

    Raises ``LocalProtocolError`` when the message would break the protocol.
    """
    context = _context(envelope)
    _check(envelope, context)
    sender = envelope.sender
    assert sender.role is not None
    assert envelope.timestamp is not None
    document: Document = {
        "protocol": envelope.protocol.value,
        "message_type": envelope.message_type.value,
        "message_id": envelope.message_id,
        "timestamp": stamp(envelope.timestamp),
        "sender": {"email": sender.email, "role": sender.role.value, "logical_id": sender.logical_id},
        "recipient_id": envelope.recipient_id,
    }
    for key, value in context:
        if value is not None:
            document[key] = value
    document["payload"] = _sendable(_write_payload(envelope), envelope, "payload")
    return document


def _check(envelope: Envelope, context: Context) -> None:
    sender = envelope.sender
    if sender.role is None:
        raise refuse(envelope, "the sender has no role")
    if read_address(sender.email) != sender.email:
        raise refuse(envelope, f"{sender.email[:60]!a} is no address")
    if envelope.timestamp is None:
        raise refuse(envelope, "it needs a timestamp")
    if envelope.protocol is not protocol_of(envelope.message_type):
        raise refuse(envelope, f"its protocol is {protocol_of(envelope.message_type)}, not {envelope.protocol}")
    kind = CANONICAL_TYPES.get(type(envelope.payload))
    is_legacy = isinstance(envelope.payload, Legacy) and envelope.message_type not in _TYPED
    if kind is not envelope.message_type and not is_legacy:
        raise refuse(envelope, f"a {type(envelope.payload).__name__} is no payload of it")
    if envelope.message_type in BROADCAST_TYPES and envelope.broadcast_id is None:
        raise refuse(envelope, "a broadcast needs a broadcast_id")
    if envelope.message_type in GAME_TYPES and envelope.game_id is None:
        raise refuse(envelope, "it needs a game_id")
    if envelope.game_id is not None and not is_game_id(envelope.game_id):
        raise refuse(envelope, f"its game_id must be seven digits, not {envelope.game_id[:20]!a}")
    if not envelope.message_id or not envelope.recipient_id:
        raise refuse(envelope, "it needs a message_id and a recipient_id")
    if envelope.message_type in _OF_A_SEASON and not (envelope.league_id and envelope.season_id):
        raise refuse(envelope, "it needs a league_id and a season_id")
    ids = [value for _, value in context]
    ids += (envelope.message_id, envelope.recipient_id, sender.logical_id)
    for value in ids:
        if value and not is_id(value):
            raise refuse(envelope, f"{value[:60]!a} is no id: it must be one line of 1 to 200 visible characters")


Context = tuple[tuple[str, str | None], ...]


def _context(envelope: Envelope) -> Context:
    """The optional keys of the envelope that this type carries at the top, in order. ``None``: the key is left out."""
    kind = envelope.message_type
    # A league manager that never names its league is no reason to keep a result from it: the report's keys are then
    # there and empty, as the deployed referee writes them (protocol 3.2).
    unknown = "" if isinstance(envelope.payload, MatchReport) else None
    return (
        ("correlation_id", envelope.correlation_id),
        # A reply names its broadcast in the payload and as correlation_id; only broadcasts have it here (protocol 3.1).
        ("broadcast_id", envelope.broadcast_id if kind in BROADCAST_TYPES else None),
        ("league_id", envelope.league_id or unknown),
        # The season is what is asked for: it stands in the payload only (protocol 4.1.2).
        ("season_id", None if kind is MessageType.SEASON_REGISTRATION_REQUEST else envelope.season_id or unknown),
        ("round_id", envelope.round_id or unknown if kind is MessageType.MATCH_RESULT_REPORT else None),
        ("game_id", envelope.game_id),
    )


def _write_payload(envelope: Envelope) -> Document:
    payload = envelope.payload
    if isinstance(payload, Legacy):
        return dict(payload.fields)
    if type(payload) not in CANONICAL_TYPES:
        raise refuse(envelope, f"a {type(payload).__name__} is only ever received")
    return write_fields(payload, envelope)


def _sendable(value: object, envelope: Envelope, path: str) -> object:
    """``value`` as JSON values that any reader can take."""
    # Most values are short ASCII texts, and there are a hundred of them in a batch of questions.
    if type(value) is dict:
        sendable: Document = {}
        for key, item in value.items():
            kind = type(item)
            is_plain = kind is int or (kind is str and item.isascii())
            sendable[key] = item if is_plain else _sendable(item, envelope, key)
        return sendable
    if type(value) is list or isinstance(value, (list, tuple)):
        return [_sendable(item, envelope, path) for item in value]
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise refuse(envelope, f"{path} is {value}")
        return value
    if isinstance(value, dict):
        return _sendable(dict(value), envelope, path)
    raise refuse(envelope, f"{path} is a {type(value).__name__}")
