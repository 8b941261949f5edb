"""Sending what the journal has waiting.

Rule 1: a message is sent once. The journal says that an attempt begins before it does, and how it ended.
Rule 2: a message that may have been sent is looked for among the sent mails, again and again, until no attempt can be
under way any more. Only then does it go again. All other messages go on meanwhile, except those that keep their order.
Rule 3: how long that takes is measured on a clock that nobody sets.
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

SEND_BATCH = 200
SEND_FOR = timedelta(seconds=5)
"""After so long a flush begins no further message: whatever was not sent yet waits until new mail was looked at."""

MOST_WAITING = 1_000
_NEVER = datetime.max.replace(tzinfo=UTC)
"""By then everything that was postponed is due."""

ON_TIME = timedelta(seconds=2)
"""After it was queued. A message that the service took later is a late one."""

FIRST_RETRY = timedelta(seconds=1)
LONGEST_RETRY = timedelta(seconds=64)

UNDER_WAY = timedelta(seconds=60)
"""How long a mail service may go on with a send whose client has left it."""

SHOWS_UP = timedelta(seconds=15)
"""How long a mail that was taken may be missing among the sent ones."""

LONGEST_DOUBT = timedelta(minutes=10)
"""However late mails have shown up, nobody waits longer for one."""

LATENESS = "late_sends"
"""The name under which the journal keeps the longest time that a mail in doubt took to show up."""

LATENESS_COUNTS_FOR = timedelta(hours=24)
FIRST_LOOK = timedelta(seconds=2)
LONGEST_PAUSE = timedelta(seconds=15)
"""Between two looks for one mail. The pauses double from ``FIRST_LOOK`` up to this."""

LOOKS_AT_ONCE = 3
"""A look is some calls to the mail service: new mail and other messages are not kept waiting for many."""

ODD_FAILURES = 5
"""After so many failures that nobody foresaw a message is put aside for a person."""


@dataclass(slots=True, kw_only=True)
class Flushed:
    """What came of one look into the outbox."""

    tried: int = 0
    """How many messages were due, to be sent or to be looked for."""

    accepted: list[OutboxItem] = field(default_factory=list)
    """Those that the mail service took, now or before."""

    notes: list[Note] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class _Doubt:
    """A message that may have been sent. Instants are seconds of the monotonic clock."""

    item: OutboxItem
    left_s: float
    """Whoever tried to send it had left by then."""

    ends_s: float
    """From then on no attempt is under way: if it cannot be found then, it goes again."""

    next_look_s: float
    looks: int = 0
    """After which it was not found."""

    failures: int = 0
    """Looks in a row that could not be made."""


class Outbox:
    """The way out of one mailbox."""

    def __init__(
        self,
        mailbox: Mailbox,
        journal: Journal,
        clock: Clock,
        *,
        keeps_order: Callable[[OutboxItem], bool],
        on_late: Callable[[OutboxItem, timedelta], object] = lambda _item, _by: None,
    ) -> None:
        """Of messages that ``keeps_order`` names none overtakes another. ``on_late`` is told of each message that the
        service took a good while after it was queued, and of how much later: before that is in the journal, so that a
        process which dies here tells it again.
        """
        self._mailbox = mailbox
        self._journal = journal
        self._clock = clock
        self._keeps_order = keeps_order
        self._on_late = on_late
        self._doubts: dict[str, _Doubt] | None = None
        """By transaction id. ``None`` before the journal was asked for what an earlier process left."""

        self._may_have_more = True

    def queued(self) -> None:
        """Messages were added to the journal."""
        self._may_have_more = True

    def is_due(self, wake: datetime | None) -> bool:
        """Whether there may be something to send or to look for. ``wake`` is the journal's ``next_wake``."""
        if self._may_have_more:
            return True
        now = self._clock.now()
        return any(at is not None and at <= now for at in (wake, self.next_look()))

    def next_look(self) -> datetime | None:
        """When a message in doubt is to be looked for; ``None`` when none is in doubt."""
        doubts = self._doubts or {}
        soonest_s = min((doubt.next_look_s for doubt in doubts.values()), default=None)
        if soonest_s is None:
            return None
        # An instant has microseconds: rounded up, so that it is not before the moment on the other clock.
        wait = timedelta(seconds=soonest_s - self._clock.monotonic_s()) + timedelta.resolution
        return self._clock.now() + wait

    def waiting(self) -> list[OutboxItem]:
        """Messages that were not sent yet, or may not have been."""
        return [*self._journal.sends_in_doubt(), *self._journal.due_sends(_NEVER, MOST_WAITING)]

    def flush(self) -> Flushed:
        """Look for what may have been sent, and send what is due, as long as that takes little time."""
        flushed = Flushed()
        doubts = self._doubts
        if doubts is None:
            doubts = self._doubts = self._left_behind(flushed)
        self._look(doubts, flushed)
        ends_s = self._clock.monotonic_s() + SEND_FOR.total_seconds()
        items = self._journal.due_sends(self._clock.now(), SEND_BATCH)
        self._may_have_more = len(items) == SEND_BATCH
        for item in items:
            if self._keeps_order(item) and not self._is_next_in_order(item, doubts):
                continue
            flushed.tried += 1
            self._attempt(item, doubts, flushed)
            # A service with which one message took too long may be slow with everything.
            if item.transaction_id in doubts or self._clock.monotonic_s() >= ends_s:
                self._may_have_more = True
                break
        return flushed

    # -- sending ----------------------------------------------------------------------------------------------------

    def _is_next_in_order(self, item: OutboxItem, doubts: dict[str, _Doubt]) -> bool:
        """Whether no earlier one of those that keep their order is still to be sent."""
        if any(self._keeps_order(doubt.item) for doubt in doubts.values()):
            return False
        waiting = self._journal.due_sends(_NEVER, MOST_WAITING)
        first = next((each for each in waiting if self._keeps_order(each)), item)
        return first.transaction_id == item.transaction_id

    def _attempt(self, item: OutboxItem, doubts: dict[str, _Doubt], flushed: Flushed) -> None:
        """Try to send one message. However that ends is in the journal and in ``doubts``."""
        now = self._clock.now()
        begun = self._journal.begin_send(item, at=now, monotonic_s=self._clock.monotonic_s())
        if begun is None:
            doubts.pop(item.transaction_id, None)
            return
        try:
            self._mailbox.send(
                OutgoingMail(
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
            self._doubt(begun, str(error), doubts, flushed, was_answered=error.was_answered)
        except (MailboxUnavailable, QuotaExhausted, AuthorizationExpired) as error:
            self._postpone(begun, error, doubts, flushed)
        except MailError as error:
            self._fail(begun, str(error), doubts, flushed)
        except Exception as error:
            # A failure that nobody foresaw: perhaps it was sent. It must not keep the others from being sent.
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
        """This attempt sent nothing."""
        now = self._clock.now()
        wait = _wait(item.attempts, error, now)
        doubt = doubts.get(item.transaction_id)
        if doubt is None:
            self._journal.postpone_send(item.transaction_id, not_before=now + wait, error=str(error))
        else:
            # An earlier attempt may still show up: the mail is looked for before each later one.
            self._journal.doubt_send(item.transaction_id, error=str(error))
            doubt.item = item
            doubt.next_look_s = self._clock.monotonic_s() + wait.total_seconds()
        if isinstance(error, QuotaExhausted):
            # It may be hours: whoever watches wonders why nothing is sent.
            text = f"{_what(item)} waits until {now + wait:%Y-%m-%d %H:%M} UTC: {error}"
            flushed.notes.append(warning(now, "send_postponed", text))

    def _fail(self, item: OutboxItem, error: str, doubts: dict[str, _Doubt], flushed: Flushed) -> None:
        now = self._clock.now()
        self._journal.fail_send(item.transaction_id, now, error)
        doubts.pop(item.transaction_id, None)
        flushed.notes.append(warning(now, "send_failed", f"{_what(item)}: {error}"))

    # -- what may have been sent ------------------------------------------------------------------------------------

    def _doubt(
        self,
        item: OutboxItem,
        error: str,
        doubts: dict[str, _Doubt],
        flushed: Flushed,
        *,
        was_answered: bool = False,
    ) -> None:
        """This attempt may have sent the mail."""
        self._journal.doubt_send(item.transaction_id, error=error)
        doubt = self._new_doubt(
            item, left_s=self._clock.monotonic_s(), first_look=FIRST_LOOK, was_answered=was_answered
        )
        doubts[item.transaction_id] = doubt
        self._warn_of_doubt(doubt, error, flushed)

    def _left_behind(self, flushed: Flushed) -> dict[str, _Doubt]:
        """What an earlier process left in doubt."""
        doubts = {}
        now, now_s = self._clock.now(), self._clock.monotonic_s()
        for item in self._journal.sends_in_doubt():
            # Its sender has left: it had ended before this process began, and no attempt takes longer than
            # ``LONGEST_SEND``. The time since is counted only as far as both clocks show it: the wall clock may have
            # been set, and the monotonic one is that of another machine when the journal was moved.
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
        """Look for messages whose time has come. One that is not found when its doubt has ended goes again."""
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
                # Nothing is known, so nothing is sent; the others would hear the same.
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

    # -- what was observed ------------------------------------------------------------------------------------------

    def _lateness(self) -> timedelta:
        """The longest time, of those of the last day, that a mail in doubt took to show up."""
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
    """How long to wait after a failure; ``attempts`` have been made."""
    if isinstance(error, QuotaExhausted) and error.resets_at is not None:
        return max(error.resets_at - now, timedelta(0))
    doublings: int = 2 ** min(max(attempts - 1, 0), 10)
    wait = min(FIRST_RETRY * doublings, LONGEST_RETRY)
    if isinstance(error, MailboxUnavailable) and error.retry_after is not None:
        wait = max(wait, error.retry_after)
    return wait
