"""Send the messages that wait in the journal.

Rule 1: a message is sent once. The journal records each attempt before it begins, and how it ended.
Rule 2: a message that may have been sent is searched for among the sent mails repeatedly until no attempt can be under
way any more. Only then is it sent again. Other messages are sent meanwhile, except those that must keep their order.
Rule 3: these durations are measured on the monotonic clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from league_agents.journal.port import Journal, Note, OutboxItem
from league_agents.kit.clock import Clock
from league_agents.kit.errors import AuthorizationExpired, MailboxUnavailable, MailError, QuotaExhausted
from league_agents.mail.port import LONGEST_SEND, AmbiguousSend, Mailbox, OutgoingMail
from league_agents.runner.commit import warning
from league_agents.runner.probe import NO_PROBE, Probe

SEND_BATCH = 200
SEND_FOR = timedelta(seconds=5)
"""How long a flush may begin to send messages; the others wait until new mail was looked for."""

MOST_WAITING = 1_000
_NEVER = datetime.max.replace(tzinfo=UTC)
"""An instant at which every postponed message is due."""

ON_TIME = timedelta(seconds=2)
"""Longest time from queueing a message to its acceptance; a message accepted later counts as late."""

FIRST_RETRY = timedelta(seconds=1)
LONGEST_RETRY = timedelta(seconds=64)

UNDER_WAY = timedelta(seconds=60)
"""How long a mail service may continue a send after the client has given it up."""

SHOWS_UP = timedelta(seconds=15)
"""How long an accepted mail may be missing among the sent mails."""

LONGEST_DOUBT = timedelta(minutes=10)
"""Upper limit of the wait for a mail in doubt, however late earlier mails showed up."""

LATENESS = "late_sends"
"""The name under which the journal keeps the longest time that a mail in doubt took to show up."""

LATENESS_COUNTS_FOR = timedelta(hours=24)
FIRST_LOOK = timedelta(seconds=2)
LONGEST_PAUSE = timedelta(seconds=15)
"""Longest pause between two searches for one mail. The pauses double from ``FIRST_LOOK`` up to this."""

LOOKS_AT_ONCE = 3
"""Searches per flush. A search takes several calls, and many would delay new mail and other messages."""

ODD_FAILURES = 5
"""Number of unexpected failures after which a message is set aside for a person."""


@dataclass(slots=True, kw_only=True)
class Flushed:
    """The result of one flush."""

    tried: int = 0
    """Number of messages that were due, to be sent or to be searched for."""

    accepted: list[OutboxItem] = field(default_factory=list)
    """The messages that the mail service accepted, in this flush or in an earlier attempt."""

    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Doubt:
    """A message that may have been sent. Times are seconds of the monotonic clock."""

    item: OutboxItem
    left_s: float
    """When the client had given up the attempt."""

    ends_s: float
    """When no attempt can be under way any more: a message that is not found then is sent again."""

    next_look_s: float
    looks: int = 0
    """Number of searches that did not find the message."""

    failures: int = 0
    """Number of consecutive searches that failed."""


class Outbox:
    """Sends the queued messages of one mailbox."""

    def __init__(
        self,
        mailbox: Mailbox,
        journal: Journal,
        clock: Clock,
        *,
        keeps_order: Callable[[OutboxItem], bool],
        on_late: Callable[[OutboxItem, timedelta], object] = lambda _item, _by: None,
        probe: Probe = NO_PROBE,
    ) -> None:
        """Messages for which ``keeps_order`` is true are sent in order. ``on_late`` is called for each message that the
        service accepted late, with the delay. It is called before the journal records the acceptance, so that it is
        called again if the process dies in between.
        """
        self._mailbox = mailbox
        self._journal = journal
        self._clock = clock
        self._keeps_order = keeps_order
        self._on_late = on_late
        self._probe = probe
        self._doubts: dict[str, _Doubt] | None = None
        """By transaction id. ``None`` before the doubts of an earlier process were read from the journal."""

        self._may_have_more = True

    def queued(self) -> None:
        """Note that messages were added to the journal."""
        self._may_have_more = True

    def is_due(self, wake: datetime | None) -> bool:
        """Whether there may be a message to send or to search for. ``wake`` is the journal's ``next_wake``."""
        if self._may_have_more:
            return True
        now = self._clock.now()
        return any(at is not None and at <= now for at in (wake, self.next_look()))

    def next_look(self) -> datetime | None:
        """When to search next for a message in doubt; ``None`` if none is in doubt."""
        doubts = self._doubts or {}
        soonest_s = min((doubt.next_look_s for doubt in doubts.values()), default=None)
        if soonest_s is None:
            return None
        # Round up to the next microsecond, so that the instant is not before the time on the monotonic clock.
        wait = timedelta(seconds=soonest_s - self._clock.monotonic_s()) + timedelta.resolution
        return self._clock.now() + wait

    def waiting(self) -> list[OutboxItem]:
        """Queued messages, and those that may have been sent."""
        return [*self._journal.sends_in_doubt(), *self._journal.due_sends(_NEVER, MOST_WAITING)]

    def flush(self) -> Flushed:
        """Search for messages in doubt, and send due messages for at most ``SEND_FOR``."""
        flushed = Flushed()
        doubts = self._doubts
        if doubts is None:
            doubts = self._doubts = self._left_behind(flushed)
        self._look(doubts, flushed)
        ends_s = self._clock.monotonic_s() + SEND_FOR.total_seconds()
        items = self._journal.due_sends(self._clock.now(), SEND_BATCH)
        self._may_have_more = len(items) == SEND_BATCH
        ordered: list[str] = []
        """Ids of waiting messages that keep their order, the next one last; empty until they are needed."""
        for item in items:
            keeps_order = self._keeps_order(item)
            if keeps_order:
                ordered = ordered or self._in_order(doubts)
                if ordered[-1:] not in ([], [item.transaction_id]):
                    continue
            flushed.tried += 1
            accepted = len(flushed.accepted)
            self._attempt(item, doubts, flushed)
            if keeps_order:
                # One that was not accepted may have failed for good: then the one after it is the next.
                ordered = ordered[:-1] if len(flushed.accepted) > accepted else []
            # Stop early: a service that was slow with one message may be slow with all.
            if item.transaction_id in doubts or self._clock.monotonic_s() >= ends_s:
                self._may_have_more = True
                break
        return flushed

    # -- sending ----------------------------------------------------------------------------------------------------

    def _in_order(self, doubts: dict[str, _Doubt]) -> list[str]:
        """The ids of the messages that keep their order and are not known to be sent, the first one last."""
        doubtful = [doubt.item.transaction_id for doubt in doubts.values() if self._keeps_order(doubt.item)]
        waiting = self._journal.due_sends(_NEVER, MOST_WAITING)
        return [*reversed([each.transaction_id for each in waiting if self._keeps_order(each)]), *doubtful]

    def _attempt(self, item: OutboxItem, doubts: dict[str, _Doubt], flushed: Flushed) -> None:
        """Try to send one message. Record the result in the journal and in ``doubts``."""
        now = self._clock.now()
        begun = self._journal.begin_send(item, at=now, monotonic_s=self._clock.monotonic_s())
        if begun is None:
            doubts.pop(item.transaction_id, None)
            return
        mail = OutgoingMail(
            sender=self._mailbox.address,
            to=item.to,
            subject=item.subject,
            document=item.document,
            transaction_id=item.transaction_id,
            sent_at=now,
            file_name=item.file_name,
        )
        try:
            with self._probe.span("send", item.transaction_id):
                self._mailbox.send(mail)
        except AmbiguousSend as error:
            self._doubt(begun, str(error), doubts, flushed, was_answered=error.was_answered)
        except (MailboxUnavailable, QuotaExhausted, AuthorizationExpired) as error:
            self._postpone(begun, error, doubts, flushed)
        except MailError as error:
            self._fail(begun, str(error), doubts, flushed)
        except Exception as error:
            # After an unexpected failure the message may have been sent. It must not block the other messages.
            text = f"{type(error).__name__}: {error}"
            if begun.attempts < ODD_FAILURES:
                self._doubt(begun, text, doubts, flushed)
            else:
                self._fail(begun, text, doubts, flushed)
        else:
            self._accept(begun, doubts, flushed)

    def _accept(self, item: OutboxItem, doubts: dict[str, _Doubt], flushed: Flushed) -> None:
        waited = self._clock.now() - item.created_at
        if waited > ON_TIME:
            self._on_late(item, waited)
        self._journal.finish_sends([item.transaction_id], self._clock.now())
        doubts.pop(item.transaction_id, None)
        flushed.accepted.append(item)

    def _postpone(
        self,
        item: OutboxItem,
        error: MailboxUnavailable | QuotaExhausted | AuthorizationExpired,
        doubts: dict[str, _Doubt],
        flushed: Flushed,
    ) -> None:
        """Record that this attempt sent nothing."""
        now = self._clock.now()
        wait = _wait(item.attempts, error, now)
        doubt = doubts.get(item.transaction_id)
        if doubt is None:
            self._journal.postpone_send(item.transaction_id, not_before=now + wait, error=str(error))
        else:
            # The mail of an earlier attempt may still show up: search for it before each further attempt.
            self._journal.doubt_send(item.transaction_id, error=str(error))
            doubt.item = item
            doubt.next_look_s = self._clock.monotonic_s() + wait.total_seconds()
        if isinstance(error, QuotaExhausted):
            # The wait may be hours, so tell the user why nothing is sent.
            text = f"{_what(item)} waits until {now + wait:%Y-%m-%d %H:%M} UTC: {error}"
            flushed.notes.append(warning(now, "send_postponed", text))

    def _fail(self, item: OutboxItem, error: str, doubts: dict[str, _Doubt], flushed: Flushed) -> None:
        now = self._clock.now()
        self._journal.fail_send(item.transaction_id, now, error)
        doubts.pop(item.transaction_id, None)
        flushed.notes.append(warning(now, "send_failed", f"{_what(item)}: {error}"))

    # -- messages in doubt ------------------------------------------------------------------------------------------

    def _doubt(
        self,
        item: OutboxItem,
        error: str,
        doubts: dict[str, _Doubt],
        flushed: Flushed,
        *,
        was_answered: bool = False,
    ) -> None:
        """Record that this attempt may have sent the mail."""
        self._journal.doubt_send(item.transaction_id, error=error)
        doubt = self._new_doubt(
            item, left_s=self._clock.monotonic_s(), first_look=FIRST_LOOK, was_answered=was_answered
        )
        doubts[item.transaction_id] = doubt
        self._warn_of_doubt(doubt, error, flushed)

    def _left_behind(self, flushed: Flushed) -> dict[str, _Doubt]:
        """Return the messages that an earlier process left in doubt, by transaction id."""
        doubts = {}
        now, now_s = self._clock.now(), self._clock.monotonic_s()
        for item in self._journal.sends_in_doubt():
            # The attempt is over: its process ended before this one began, and no attempt takes longer than
            # ``LONGEST_SEND``. The time since counts only as far as both clocks agree: the wall clock may have been
            # set, and the monotonic clock is another machine's if the journal was moved.
            since_s = 0.0
            if item.began_at is not None and item.began_s is not None:
                since_s = min(now_s - item.began_s, (now - item.began_at).total_seconds())
            left_s = now_s - max(0.0, since_s - LONGEST_SEND.total_seconds())
            doubt = self._new_doubt(item, left_s=left_s, first_look=timedelta(0))
            doubts[item.transaction_id] = doubt
            error = "the process ended while it was being sent"
            self._journal.doubt_send(item.transaction_id, error=error)
            self._warn_of_doubt(doubt, error, flushed)
        return doubts

    def _new_doubt(
        self, item: OutboxItem, *, left_s: float, first_look: timedelta, was_answered: bool = False
    ) -> _Doubt:
        known = self._lateness()
        wait = max(SHOWS_UP, known) if was_answered else max(UNDER_WAY + SHOWS_UP, 2 * known)
        return _Doubt(
            item=item,
            left_s=left_s,
            ends_s=left_s + min(wait, LONGEST_DOUBT).total_seconds(),
            next_look_s=self._clock.monotonic_s() + first_look.total_seconds(),
        )

    def _warn_of_doubt(self, doubt: _Doubt, error: str, flushed: Flushed) -> None:
        left_s = max(0.0, doubt.ends_s - self._clock.monotonic_s())
        text = f"{_what(doubt.item)} may have been sent ({error}); it is looked for among the sent mails for"
        flushed.notes.append(warning(self._clock.now(), "send_in_doubt", f"{text} {left_s:.0f} s before it goes again"))

    def _look(self, doubts: dict[str, _Doubt], flushed: Flushed) -> None:
        """Search for messages in doubt that are due. One that is not found when its doubt has ended is sent again."""
        now_s = self._clock.monotonic_s()
        due = sorted(
            (doubt for doubt in doubts.values() if doubt.next_look_s <= now_s), key=lambda doubt: doubt.next_look_s
        )
        for doubt in due[:LOOKS_AT_ONCE]:
            flushed.tried += 1
            looked_s = self._clock.monotonic_s()
            try:
                is_there = self._mailbox.was_sent(doubt.item.transaction_id)
            except Exception as error:
                # The result is unknown, so nothing is sent; further searches would fail in the same way.
                now = self._clock.now()
                if not isinstance(error, MailError):
                    text = f"{_what(doubt.item)}: the sent mails cannot be searched ({type(error).__name__}: {error})"
                    flushed.notes.append(warning(now, "send_in_doubt", text))
                doubt.failures += 1
                doubt.next_look_s = self._clock.monotonic_s() + _wait(doubt.failures, error, now).total_seconds()
                return
            doubt.failures = 0
            now_s = self._clock.monotonic_s()
            if is_there:
                if doubt.looks:
                    self._learn(timedelta(seconds=now_s - doubt.left_s))
                self._accept(doubt.item, doubts, flushed)
            elif looked_s >= doubt.ends_s:
                self._attempt(doubt.item, doubts, flushed)
            else:
                pause_s = min(FIRST_LOOK * 2 ** min(doubt.looks, 10), LONGEST_PAUSE).total_seconds()
                doubt.looks += 1
                doubt.next_look_s = min(now_s + pause_s, max(doubt.ends_s, now_s))

    # -- observed lateness ------------------------------------------------------------------------------------------

    def _lateness(self) -> timedelta:
        """The longest time within the last day that a mail in doubt took to show up."""
        kept = self._journal.kept(LATENESS)
        if not isinstance(kept, Mapping):
            return timedelta(0)
        at, seconds = kept.get("at"), kept.get("seconds")
        if not isinstance(at, str) or not isinstance(seconds, int | float):
            return timedelta(0)
        if self._clock.now() - datetime.fromisoformat(at) > LATENESS_COUNTS_FOR:
            return timedelta(0)
        return min(timedelta(seconds=seconds), LONGEST_DOUBT)

    def _learn(self, lateness: timedelta) -> None:
        if lateness > self._lateness():
            self._journal.keep(
                LATENESS, {"at": self._clock.now().isoformat(), "seconds": round(lateness.total_seconds(), 3)}
            )


def _what(item: OutboxItem) -> str:
    return f"{item.message_type} to {', '.join(item.to)}"


def _wait(attempts: int, error: Exception, now: datetime) -> timedelta:
    """Return how long to wait after a failure; ``attempts`` is the number of attempts made."""
    if isinstance(error, QuotaExhausted) and error.resets_at is not None:
        return max(error.resets_at - now, timedelta(0))
    doublings: int = 2 ** min(max(attempts - 1, 0), 10)
    wait = min(FIRST_RETRY * doublings, LONGEST_RETRY)
    if isinstance(error, MailboxUnavailable) and error.retry_after is not None:
        wait = max(wait, error.retry_after)
    return wait
