"""Sending what the journal has waiting.

Rule: a message is sent once. One that may have been sent is looked for among the sent mails before it goes again, and
how every attempt ended is written to the journal.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from league_agents.errors import AuthorizationExpired, MailboxUnavailable, MailError, QuotaExhausted
from league_agents.journal.port import Journal, Note, OutboxItem, OutboxState
from league_agents.mail.port import AmbiguousSend, Mailbox, OutgoingMail
from league_agents.runner.commit import warning
from league_agents.values import maker

_new_outgoing_mail = maker(OutgoingMail)

SEND_BATCH = 20
FIRST_RETRY = timedelta(seconds=1)
LONGEST_RETRY = timedelta(seconds=64)
AMBIGUOUS_WAIT = timedelta(seconds=10)
"""A sent mail takes a moment until a search finds it."""

ODD_FAILURES = 5
"""After so many failures that nobody foresaw a message is put aside for a person."""


@dataclass(slots=True, kw_only=True)
class Flushed:
    """What came of one look into the outbox."""

    tried: int = 0
    """How many messages were due."""

    accepted: list[OutboxItem] = field(default_factory=list)
    """Those that the mail service took, now or before."""

    notes: list[Note] = field(default_factory=list)

    @property
    def may_have_more(self) -> bool:
        """Whether more messages may be due than were looked at."""
        return self.tried == SEND_BATCH


class Outbox:
    """The way out of one mailbox."""

    def __init__(self, mailbox: Mailbox, journal: Journal) -> None:
        self._mailbox = mailbox
        self._journal = journal

    def flush(self, now: datetime) -> Flushed:
        """Send what is due, a batch of it."""
        items = self._journal.claim_outbox(now, SEND_BATCH)
        flushed = Flushed(tried=len(items))
        try:
            flushed.accepted.extend(item for item in items if self._send(item, now, flushed.notes))
        finally:
            if flushed.accepted:
                self._journal.finish_sends([item.transaction_id for item in flushed.accepted], now)
        return flushed

    def _send(self, item: OutboxItem, now: datetime, notes: list[Note]) -> bool:
        """Whether the mail was accepted, now or before. Every other end is written to the journal."""
        try:
            if item.state is not OutboxState.QUEUED and self._mailbox.was_sent(item.transaction_id):
                return True
            self._mailbox.send(
                _new_outgoing_mail(
                    sender=self._mailbox.address,
                    to=item.to,
                    subject=item.subject,
                    document=item.document,
                    transaction_id=item.transaction_id,
                    sent_at=now,
                    file_name=item.file_name,
                )
            )
        except AmbiguousSend as error:
            self._postpone(item, now + AMBIGUOUS_WAIT, str(error), ambiguous=True)
        except (MailboxUnavailable, QuotaExhausted, AuthorizationExpired) as error:
            # Nothing was sent, unless an earlier attempt did.
            retry_at = _retry_at(now, item.attempts, error)
            self._postpone(item, retry_at, str(error), ambiguous=item.state is not OutboxState.QUEUED)
            if isinstance(error, QuotaExhausted):
                # It may be hours: whoever watches wonders why nothing is sent.
                told = f"{_what(item)} waits until {retry_at:%Y-%m-%d %H:%M} UTC: {error}"
                notes.append(warning(now, "send_postponed", told))
        except MailError as error:
            self._fail(item, now, str(error), notes)
        except Exception as error:
            # A failure that nobody foresaw: perhaps it was sent. It must not keep the others from being sent.
            text = f"{type(error).__name__}: {error}"
            if item.attempts + 1 < ODD_FAILURES:
                self._postpone(item, _retry_at(now, item.attempts, MailError()), text, ambiguous=True)
            else:
                self._fail(item, now, text, notes)
        else:
            return True
        return False

    def _postpone(self, item: OutboxItem, not_before: datetime, error: str, *, ambiguous: bool) -> None:
        self._journal.postpone_send(item.transaction_id, not_before=not_before, ambiguous=ambiguous, error=error)

    def _fail(self, item: OutboxItem, now: datetime, error: str, notes: list[Note]) -> None:
        self._journal.fail_send(item.transaction_id, now, error)
        notes.append(warning(now, "send_failed", f"{_what(item)}: {error}"))


def _what(item: OutboxItem) -> str:
    return f"{item.message_type} to {', '.join(item.to)}"


def _retry_at(now: datetime, attempts: int, error: MailError) -> datetime:
    if isinstance(error, QuotaExhausted) and error.resets_at is not None:
        return error.resets_at
    doublings: int = 2 ** min(attempts, 10)
    wait = min(FIRST_RETRY * doublings, LONGEST_RETRY)
    if isinstance(error, MailboxUnavailable) and error.retry_after is not None:
        wait = max(wait, error.retry_after)
    return now + wait
