"""Letters: the format of the mails of a match by mail, and how to recognise them.

Rule 1: a subject of the arena begins with ``Boardgame/`` and has single spaces between its parts. No subject of the
league has that form, and none of the league's forms is read here.
Rule 2: a letter holds envelopes of the Boardgame Protocol, in one attached document or as the body. Incoming letters
are untrusted: their number of messages and their size are checked before anything else reads them.

A letter to a seat::

    {"boardgame_mail": "1.0.0", "kind": "your_turn", "game": …, "match_id": …, "agent_id": …, "reply_to": …,
     "decision": {"number": 3, "attempts_left": 3, "reply_by": …, "answer_with": {…}}, "after": 12, "lines": […],
     "messages": [envelopes]}

``answer_with`` is the envelope to send back, with its action filled in. A letter from a seat is one envelope, or
``{"messages": [envelopes]}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import Struct

from league_agents.arena.protocol.json_text import LARGEST
from league_agents.arena.protocol.refusals import PROTOCOL_VERSION
from league_agents.journal.port import OutboxItem
from league_agents.league.machines.effects import Effect
from league_agents.mail.port import Mail

MAIL_VERSION: Final = "1.0.0"
FILE_NAME: Final = "boardgame.json"
MOST_MESSAGES: Final = 20
"""Envelopes in one letter from a seat."""

INVITATION, YOUR_TURN, ANSWER, OVER = "invitation", "your_turn", "answer", "over"

_NAME = r"[A-Za-z0-9_.:-]{1,64}"
_SUBJECT = re.compile(
    rf"\s*(?:(?:re|fwd?|aw|wg|antw|sv|vs)\s?:\s*){{0,20}}Boardgame/[0-9]{{1,3}}\.[0-9]{{1,3}}\.[0-9]{{1,3}} "
    rf"([a-z0-9_]{{1,40}}) ({_NAME}) ({_NAME})(?: [\x21-\x7e]{{1,200}})?\s*",
    re.IGNORECASE | re.ASCII,
)
_LONGEST_SUBJECT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterHeading:
    """The fields of a subject, as the sender claims them."""

    game: str
    match_id: str
    agent_id: str


class SendLetter(Struct, frozen=True, kw_only=True):
    """An effect: send one letter. The same ``transaction_id`` is queued once."""

    transaction_id: str
    kind: str
    to: str
    heading: LetterHeading
    document: Mapping[str, Any]


LetterEffect = Effect | SendLetter
"""The effects of the machines of a match by mail."""


class LetterCodec:
    """The base of the mail codecs of host and seat."""

    def encode(self, effect: object, *, at: datetime, occasion: str) -> OutboxItem:
        if not isinstance(effect, SendLetter):
            raise TypeError(f"{type(effect).__name__} is no effect of a match by mail")
        return OutboxItem(
            transaction_id=effect.transaction_id,
            message_type=effect.kind,
            to=(effect.to,),
            subject=format_subject(effect.heading, effect.transaction_id),
            document=effect.document,
            file_name=FILE_NAME,
            game_id=None,
            created_at=at,
        )

    def keeps_order(self, item: OutboxItem) -> bool:
        return False


class NoMessages(Exception):
    """The mail holds no possible message; ``code`` is one of the protocol's."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def dump_part(_name: str, part: object) -> str:
    """Serialise a part of the state of a host or a seat for the journal."""
    # msgspec cannot encode a lone surrogate, which an untrusted text may hold.
    return json.dumps(msgspec.to_builtins(part), ensure_ascii=True, separators=(",", ":"))


def format_subject(heading: LetterHeading, transaction_id: str) -> str:
    """The subject of a mail about a seat."""
    return f"Boardgame/{PROTOCOL_VERSION} {heading.game} {heading.match_id} {heading.agent_id} {transaction_id}"


def is_name(text: object) -> bool:
    """Whether the text is a valid match or seat id in a subject."""
    return isinstance(text, str) and re.fullmatch(_NAME, text, re.ASCII) is not None


def read_subject(text: str) -> LetterHeading | None:
    """Parse a subject, also with the ``Re:`` of a reply; ``None`` for mail that is not the arena's."""
    found = _SUBJECT.fullmatch(text) if len(text) <= _LONGEST_SUBJECT else None
    return None if found is None else LetterHeading(game=found[1], match_id=found[2], agent_id=found[3])


def messages_in(mail: Mail) -> list[dict[str, Any]]:
    """The envelopes of a letter from a seat, not yet checked. Raises ``NoMessages``."""
    found: list[Any] = []
    for document in mail.documents:
        if isinstance(document, Mapping) and isinstance(document.get("messages"), Sequence):
            found += document["messages"]
        else:
            found.append(document)
    if not found:
        why = mail.problems[0] if mail.problems else "it has no JSON document"
        raise NoMessages("malformed_json", f"the mail holds no message: {why}")
    if len(found) > MOST_MESSAGES:
        raise NoMessages("too_large", f"a mail holds at most {MOST_MESSAGES} messages, found {len(found)}")
    for each in found:
        if not isinstance(each, Mapping):
            raise NoMessages("not_an_object", "a message is a JSON object, found another value")
        try:
            size = len(json.dumps(each, ensure_ascii=False))
        except (TypeError, ValueError, RecursionError):
            raise NoMessages("malformed_json", "a message cannot be written as JSON") from None
        if size > LARGEST:
            raise NoMessages("too_large", f"a message has at most {LARGEST} bytes")
    return [dict(each) for each in found]


def copy_id(mail: Mail) -> str:
    """An id that is the same for all copies of one mail."""
    for name in ("x-league-message-id", "message-id"):
        if mail.headers.get(name):
            return mail.headers[name]
    return mail.mail_id
