"""The mails of a match, read from the journals of its participants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from league_agents.journal.port import Journal, OutboxState


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """One role of a match and its journal."""

    participant_id: str
    """The group id of a player or referee; ``LM001`` or similar for a league manager."""

    address: str
    journal: Journal


@dataclass(frozen=True, slots=True, kw_only=True)
class SentMessage:
    """One sent mail."""

    at: datetime
    sender: str
    to: tuple[str, ...]
    message_type: str
    message_id: str
    subject: str
    document: dict[str, object]


def sent_messages(participants: Sequence[Participant]) -> list[SentMessage]:
    """All sent mails, oldest first; at the same instant in the order of ``participants``."""
    found = [
        SentMessage(
            at=item.created_at,
            sender=participant.address,
            to=item.to,
            message_type=item.message_type,
            message_id=str(item.document.get("message_id", item.transaction_id)),
            subject=item.subject,
            document=dict(item.document),
        )
        for participant in participants
        for item in participant.journal.outbox()
        if item.state is OutboxState.SENT
    ]
    return sorted(found, key=lambda message: message.at)
