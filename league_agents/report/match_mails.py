"""The mails of one match in the journals of its participants: contents and times.

Rule: a mail is reported once, from the sender's copy if that is available.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from league_agents.games.q21.as_json import (
    answers_as_json,
    breakdown_as_json,
    brief_as_json,
    feedback_as_json,
    guess_as_json,
    question_as_json,
)
from league_agents.games.q21.model import Scorecard
from league_agents.journal.port import InboxRow, OutboxItem, OutboxState
from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.json_values import mapping
from league_agents.kit.values import evolve
from league_agents.league.wire.address import address_key
from league_agents.league.wire.decode import decode
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    AnswersBatch,
    GuessSubmission,
    MatchReport,
    QuestionsBatch,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
    WarmupResponse,
)
from league_agents.league.wire.payload import Payload
from league_agents.league.wire.reading import instant_of
from league_agents.report.records import JsonObject, MessageRecord

Sent = tuple[str, OutboxItem]
"""(Sender's address, mail)."""

Received = tuple[str, InboxRow]
"""(Address of the journal, mail)."""

_REPLY_TO = {
    MessageType.Q21WARMUPRESPONSE.value: MessageType.Q21WARMUPCALL.value,
    MessageType.Q21QUESTIONSBATCH.value: MessageType.Q21ROUNDSTART.value,
    MessageType.Q21GUESSSUBMISSION.value: MessageType.Q21ANSWERSBATCH.value,
}


@dataclass(slots=True, kw_only=True)
class MatchWords:
    """The moves of a match, as far as mails show them."""

    warmup_question: str | None = None
    brief: JsonObject | None = None
    runs: dict[str, dict[str, object]] = field(default_factory=dict)
    """Fields of a ``PlayerRecord`` by the ``address_key`` of the player."""


def words_of(sent: Sequence[Sent], received: Sequence[Received], owners: Iterable[str]) -> MatchWords:
    """The moves in the mails. The sender's copy of a mail is preferred."""
    words = MatchWords()
    own = {address_key(address) for address in owners}
    for sender, item in sent:
        if item.state is OutboxState.SENT:
            _hear(words, item.subject, sender, item.to, item.document, item.transaction_id)
    for owner, row in received:
        if address_key(row.sender) not in own and row.document is not None:
            _hear(words, row.subject, row.sender, (owner,), row.document, row.mail_id)
    return words


def _hear(
    words: MatchWords, subject: str, sender: str, to: Sequence[str], document: Mapping[str, object], mail_id: str
) -> None:
    try:
        payload: Payload = decode(subject=subject, from_header=sender, documents=[document], mail_id=mail_id).payload
    except RemoteProtocolError:
        return
    found: dict[str, object] = {}
    player = next(iter(to), "")
    match payload:
        case WarmupCall():
            words.warmup_question = payload.warmup_question
        case RoundStart():
            words.brief = brief_as_json(payload.brief)
        case WarmupResponse():
            player, found = sender, {"warmup_answer": payload.answer}
        case QuestionsBatch():
            player, found = sender, {"questions": [question_as_json(question) for question in payload.questions]}
        case AnswersBatch():
            found = {"answers": answers_as_json(payload.answers)}
        case GuessSubmission():
            player, found = sender, {"guess": guess_as_json(payload.guess)}
        case ScoreFeedback():
            found = {"scorecard": _card(payload.scorecard)}
        case MatchReport():
            for row in payload.scores:
                if row.feedback is not None:
                    card: dict[str, object] = {"league_points": row.league_points, "private_score": row.private_score}
                    card["feedback"] = feedback_as_json(row.feedback)
                    words.runs.setdefault(address_key(row.email), {}).setdefault("scorecard", card)
    if found:
        words.runs.setdefault(address_key(player), {}).update(found)


def _card(card: Scorecard) -> dict[str, object]:
    return {
        "league_points": card.league_points,
        "private_score": card.private_score,
        "breakdown": {} if card.breakdown is None else breakdown_as_json(card.breakdown),
        "feedback": {} if card.feedback is None else feedback_as_json(card.feedback),
    }


def messages_of(sent: Sequence[Sent], received: Sequence[Received]) -> list[MessageRecord]:
    """Each mail once, oldest first, with the delay of a late answer."""
    arrived = {(address_key(row.sender), row.message_id): row.arrived_at for _, row in received}
    found: dict[tuple[str, str, tuple[str, ...]], MessageRecord] = {}
    known = {(address_key(sender), str(item.document.get("message_id", item.transaction_id))) for sender, item in sent}
    # A mail that arrived at an instant precedes one sent at the same instant: its answer.
    for owner, row in received:
        if (address_key(row.sender), row.message_id) not in known:
            found[address_key(row.sender), row.mail_id, (owner,)] = MessageRecord(
                at=row.arrived_at,
                sender=row.sender,
                to=(owner,),
                message_type=row.message_type,
                message_id=row.message_id,
                deadline=_deadline(row.document or {}),
            )
    for sender, item in sent:
        if item.state is OutboxState.SENT:
            found[address_key(sender), item.transaction_id, item.to] = MessageRecord(
                at=item.created_at,
                sender=sender,
                to=item.to,
                message_type=item.message_type,
                message_id=str(item.document.get("message_id", item.transaction_id)),
                deadline=_deadline(item.document),
            )
    ordered = sorted(found.values(), key=lambda message: message.at)
    return [_with_lateness(message, ordered, arrived) for message in ordered]


def _with_lateness(
    message: MessageRecord, ordered: Sequence[MessageRecord], arrived: Mapping[tuple[str, str], datetime]
) -> MessageRecord:
    asked = _REPLY_TO.get(message.message_type)
    if asked is None:
        return message
    at = arrived.get((address_key(message.sender), message.message_id), message.at)
    due = [
        each.deadline
        for each in ordered
        if each.message_type == asked
        and each.deadline is not None
        and any(address_key(to) == address_key(message.sender) for to in each.to)
    ]
    if not due or at <= max(due):
        return message
    return evolve(message, late_by_s=(at - max(due)).total_seconds())


def _deadline(document: Mapping[str, object]) -> datetime | None:
    return instant_of(mapping(document.get("payload")).get("deadline"))
