"""From a mail's JSON values to an envelope (protocol 2.5 steps 3 to 6, 2.6 and 3.4).

Rule 1: the sender is the authenticated ``From``; any other statement of a sender is a claim, and a differing claim is a
forgery.
Rule 2: a known type always gives an envelope. Unusable content becomes ``BrokenPayload``, because the sender and the
arrival of the message still count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_type_hints

from msgspec import Struct, convert, defstruct, structs

from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.ids import GameId, is_game_id, read_game_id
from league_agents.league.wire.address import read_mailbox, same_address
from league_agents.league.wire.catalogue import DECLARATIONS
from league_agents.league.wire.declare import Declaration
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import (
    BROADCAST_TYPES,
    MessageType,
    Role,
    canonical_role,
    canonical_type,
    protocol_of,
)
from league_agents.league.wire.messages import BrokenPayload, Legacy, Payload
from league_agents.league.wire.reading import (
    NOT_CANONICAL,
    Fields,
    bounded_json,
    broken,
    clean,
    id_of,
    instant_of,
    is_id,
    object_of,
)
from league_agents.league.wire.subject import Subject, parse_subject


class NotProtocolMail(RemoteProtocolError):
    """The mail holds no league message."""


class ForgedSender(RemoteProtocolError):
    """The message claims another sender than the mail has."""


def decode(*, subject: str, from_header: str, documents: Sequence[object], mail_id: str) -> Envelope:
    """The message of one mail.

    ``documents`` are the JSON values of the mail in reading order; the first object among them is the message.
    ``mail_id`` stands in for a message id when nothing states one.

    Raises ``NotProtocolMail`` when there is no object or no known type, ``ForgedSender`` when ``From`` names no single
    address or another one than the message claims. Nothing else, whatever the mail holds.
    """
    fields = _message_of(documents)
    if fields is None:
        raise NotProtocolMail("the mail holds no JSON object", raw=subject)
    return decode_canonical(fields, subject, from_header) or decode_any(fields, subject, from_header, mail_id)


def _as_written(kind: type[Struct], *, forbid_unknown_fields: bool = False, **others: Any) -> Any:
    """The class of the JSON that ``encode`` writes for a value: its fields, with ``others`` in their JSON types."""
    hints = get_type_hints(kind)
    return defstruct(
        f"Canonical{kind.__name__}",
        [
            (each.name, others.get(each.name, hints[each.name]), *(() if each.required else (each.default,)))
            for each in structs.fields(kind)
        ],
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=forbid_unknown_fields,
    )


# A key that is never written may mean something to the tolerant readers.
_CanonicalDocument = _as_written(
    Envelope, forbid_unknown_fields=True, timestamp=str, sender=_as_written(Sender, role=Role), payload=object
)
_ENVELOPE_KEYS = frozenset(_CanonicalDocument.__struct_fields__)


def decode_canonical(fields: Fields, subject: str, from_header: str) -> Envelope | None:
    """Decode in one pass a document in canonical spelling with a matching subject. The result is that of
    ``decode_any``; ``None`` for any other document."""
    try:
        document = convert(fields, _CanonicalDocument)
    except NOT_CANONICAL:
        return None
    kind, sender, payload = document.message_type, document.sender, document.payload
    email = read_mailbox(from_header)
    if email is None or email != sender.email or not isinstance(payload, dict):
        return None
    claims = "::".join((document.protocol, sender.role, email, ""))
    if not (subject.startswith(claims) and subject.endswith(f"::{kind.value}") and subject.count("::") == 4):
        return None
    ids = (
        document.message_id, document.recipient_id, document.correlation_id, document.broadcast_id, document.league_id,
        document.season_id, document.round_id, sender.logical_id,
    )  # fmt: skip
    for each in ids:
        if each is not None and not is_id(each):
            return None
    if document.game_id is not None and not is_game_id(document.game_id):
        return None
    broadcast_id = id_of(payload.get("broadcast_id")) or document.broadcast_id
    if broadcast_id is None and kind in BROADCAST_TYPES:
        return None
    return Envelope(
        protocol=protocol_of(kind),
        message_type=kind,
        message_id=document.message_id,
        timestamp=instant_of(document.timestamp),
        sender=Sender(email=email, role=sender.role, logical_id=sender.logical_id),
        recipient_id=document.recipient_id,
        payload=_read_payload(kind, payload, sender.role),
        correlation_id=document.correlation_id,
        league_id=document.league_id or id_of(payload.get("league_id")),
        season_id=document.season_id or id_of(payload.get("season_id")),
        round_id=document.round_id or id_of(payload.get("round_id")),
        game_id=_game_id_of(fields, payload, None),
        broadcast_id=broadcast_id,
    )


def decode_any(fields: Fields, subject: str, from_header: str, mail_id: str) -> Envelope:
    """The message of a document in any spelling. Raises as ``decode`` does."""
    claims = parse_subject(subject)
    stated = object_of(fields.get("payload"))
    payload = stated if stated is not None else _flat_payload(fields)

    kind = _type_of(fields, payload, claims)
    if kind is None:
        raise NotProtocolMail(_unknown(_stated_type(fields, payload)), raw=subject)
    sender = fields.get("sender")
    email = _authenticated(from_header, sender, claims)
    role = _role_of(sender, payload, claims)

    if stated is not None and not payload.get("deadline") and fields.get("deadline"):
        payload = {**payload, "deadline": fields["deadline"]}
    transaction_id = claims.transaction_id if claims is not None else None
    broadcast_id = _id_in(payload, fields, "broadcast_id")
    if broadcast_id is None and kind in BROADCAST_TYPES:
        broadcast_id = transaction_id
    return Envelope(
        protocol=protocol_of(kind),
        message_type=kind,
        message_id=id_of(fields.get("message_id")) or transaction_id or mail_id,
        timestamp=instant_of(fields.get("timestamp")),
        sender=Sender(
            email=email,
            role=role,
            logical_id=id_of(sender.get("logical_id")) if isinstance(sender, dict) else None,
        ),
        recipient_id=id_of(fields.get("recipient_id")) or "",
        payload=_read_payload(kind, payload, role),
        correlation_id=id_of(fields.get("correlation_id")),
        league_id=_id_in(fields, payload, "league_id") or id_of(fields.get("leagueid")),
        season_id=_id_in(fields, payload, "season_id"),
        round_id=_id_in(fields, payload, "round_id"),
        game_id=_game_id_of(fields, payload, claims),
        broadcast_id=broadcast_id,
    )


def _message_of(documents: Sequence[object]) -> Fields | None:
    for document in documents:
        if isinstance(document, dict):
            return document
    return None


def _id_in(first: Fields, second: Fields, key: str) -> str | None:
    """The id in ``first``, or else in ``second``."""
    return id_of(first.get(key)) or id_of(second.get(key))


def _flat_payload(fields: Fields) -> Fields:
    """A document without a payload of its own is its payload ([P1.0] registration)."""
    return {key: value for key, value in fields.items() if key not in _ENVELOPE_KEYS}


def _type_of(fields: Fields, payload: Fields, claims: Subject | None) -> MessageType | None:
    stated = _stated_type(fields, payload)
    if stated is not None:
        return canonical_type(stated)
    return claims.message_type if claims is not None else None


def _stated_type(fields: Fields, payload: Fields) -> str | None:
    for stated in (fields.get("message_type"), payload.get("message_type")):
        if isinstance(stated, str) and stated.strip():
            return stated
    return None


def _unknown(stated: str | None) -> str:
    return "the mail states no message type" if stated is None else f"the message type {stated[:80]!a} is not known"


def _authenticated(from_header: str, sender: object, claims: Subject | None) -> str:
    """The address of ``From``, when no claim contradicts it (protocol 2.6)."""
    email = read_mailbox(from_header)
    if email is None:
        raise ForgedSender(f"the From header {from_header[:80]!a} does not name one address", raw=from_header)
    _check_claim("the document", sender.get("email") if isinstance(sender, dict) else sender, email)
    if claims is not None:
        _check_claim("the subject", claims.email, email)
    return email


def _check_claim(where: str, claimed: object, email: str) -> None:
    if claimed == email or not isinstance(claimed, str) or not claimed.strip():
        return
    named = read_mailbox(claimed)
    if named is None or not same_address(named, email):
        raise ForgedSender(
            f"{where} claims to be from {claimed[:80]!a}, the mail is from {email}", raw=clean(claimed[:2000])
        )


def _role_of(sender: object, payload: Fields, claims: Subject | None) -> Role | None:
    for holder in (sender, payload.get("reporter")):
        role = canonical_role(holder.get("role")) if isinstance(holder, dict) else None
        if role is not None:
            return role
    return claims.role if claims is not None else None


def _game_id_of(fields: Fields, payload: Fields, claims: Subject | None) -> GameId | None:
    """The id of the first key that is present; a key whose value is no id does not hide the next one."""
    for holder, key in ((fields, "game_id"), (payload, "game_id"), (payload, "match_id"), (fields, "match_id")):
        found = read_game_id(holder.get(key))
        if found is not None:
            return found
    return claims.game_id if claims is not None else None


def _read_payload(kind: MessageType, payload: Fields, role: Role | None) -> Payload:
    declaration = DECLARATIONS.get(kind)
    if declaration is None:
        return _read_legacy(payload)
    return _LATEST.read(declaration, payload, role) if kind in BROADCAST_TYPES else declaration.read(payload, role)


class _LatestBroadcasts:
    """The broadcasts that were read last. Several roles of one process may be given the same document; a table of a
    whole season is then read once."""

    __slots__ = ("_latest",)

    _MOST = 8

    def __init__(self) -> None:
        self._latest: tuple[tuple[Declaration, Fields, Role | None, Payload], ...] = ()

    def read(self, declaration: Declaration, payload: Fields, role: Role | None) -> Payload:
        for known, document, sender, read in self._latest:
            # It is held, so that no other document can have its place in memory meanwhile.
            if document is payload and known is declaration and sender is role:
                return read
        found = declaration.read(payload, role)
        self._latest = ((declaration, payload, role, found), *self._latest[: self._MOST - 1])
        return found


_LATEST = _LatestBroadcasts()


def _read_legacy(payload: Fields) -> Legacy | BrokenPayload:
    try:
        fields = bounded_json(payload)
    except ValueError as error:
        return broken("", str(error), None)
    assert isinstance(fields, dict)
    return Legacy(fields=fields)
