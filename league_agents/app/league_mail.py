"""The mail of the league's roles: envelopes of ``league.v2`` and ``Q21G.v1``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from league_agents.journal.port import OutboxItem
from league_agents.kit.ids import derive_hex
from league_agents.league.machines.effects import Send
from league_agents.league.machines.events import MessageArrived
from league_agents.league.machines.manager.broadcasts import EVERYBODY
from league_agents.league.wire.decode import NotProtocolMail, decode
from league_agents.league.wire.encode import encode
from league_agents.league.wire.kinds import Role
from league_agents.league.wire.subject import format_subject
from league_agents.mail.port import Mail
from league_agents.runner.codec import DecodedMail, ForeignMail


class LeagueMail:
    """``MailCodec`` of referees, players and the league manager."""

    def is_own(self, mail: Mail) -> bool:
        return True

    def decode(self, mail: Mail) -> DecodedMail:
        try:
            envelope = decode(
                subject=mail.subject,
                from_header=mail.from_header,
                documents=mail.documents,
                mail_id=mail.mail_id,
            )
        except NotProtocolMail as error:
            raise ForeignMail(str(error)) from error
        return DecodedMail(
            event=MessageArrived(envelope=envelope, mail_id=mail.mail_id, arrived_at=mail.arrived_at),
            sender=envelope.sender.email,
            message_type=envelope.message_type,
            message_id=envelope.message_id,
            game_id=envelope.game_id,
            document=_document(mail),
        )

    def encode(self, effect: object, *, at: datetime, occasion: str) -> OutboxItem:
        if not isinstance(effect, Send):
            raise TypeError(f"{type(effect).__name__} is no effect of the league's machines")
        envelope = effect.envelope
        # A repeat is a mail of its own: it must be sent although its message was sent before, and only once.
        transaction_id = envelope.message_id
        if effect.is_repeat:
            # The key includes the time: successive deadlines may have the same name.
            digits = derive_hex(occasion, envelope.message_id, at.isoformat())
            transaction_id = f"{envelope.message_id}-r{digits}"
        # Deployed league managers name the file after the type, all other clients send payload.json (protocol 2.3).
        is_manager = envelope.sender.role is Role.LEAGUEMANAGER
        return OutboxItem(
            transaction_id=transaction_id,
            message_type=envelope.message_type,
            to=effect.to,
            subject=format_subject(envelope, transaction_id=transaction_id),
            document=encode(envelope),
            file_name=f"{envelope.message_type}.json" if is_manager else "payload.json",
            game_id=effect.game_id,
            created_at=at,
        )

    def keeps_order(self, item: OutboxItem) -> bool:
        # No role learns of a round before the assignment table.
        return item.document.get("recipient_id") == EVERYBODY


LEAGUE_MAIL = LeagueMail()


def _document(mail: Mail) -> Mapping[str, object] | None:
    """The parsed JSON object (protocol 2.5: the first candidate that is one)."""
    for value in mail.documents:
        if isinstance(value, dict):
            return value
    return None
