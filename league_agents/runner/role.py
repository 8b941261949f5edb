"""One role on one mailbox, driven: fetch, commit, call, send, acknowledge last.

Whatever line the process dies at, the next start goes on from the journal: a mail that was taken in is not taken in
again, a callback without a committed result runs again, and a message that may have been sent is looked for before it
is sent again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar

from league_agents.journal.port import (
    InboxRow,
    InboxVerdict,
    Journal,
    Note,
    OutboxItem,
    PendingCall,
    StepCause,
    StepCommit,
)
from league_agents.kit.clock import Clock
from league_agents.kit.errors import JournalError, MailError, RemoteProtocolError
from league_agents.league.machines.effects import ReleaseAgent
from league_agents.league.machines.events import (
    Command,
    DeadlinePassed,
    OperatorCommand,
    SentLate,
    Started,
)
from league_agents.league.machines.machine import Machine
from league_agents.mail.port import Mail, Mailbox, Stopping
from league_agents.runner.calls import AgentHost
from league_agents.runner.codec import DecodedMail, ForeignMail, LeftForOthers, MailCodec
from league_agents.runner.commit import commit_of, model_work, warning
from league_agents.runner.outbox import Outbox

S = TypeVar("S")

FETCH_BATCH = 100
"""Mails per fetch. At most this many can be committed and not yet acknowledged when the process dies."""


HELD_FOR = timedelta(seconds=15)
"""Between two looks at a deadline that is over and must wait for a message to leave."""


class Observer(Protocol):
    """Who watches: a progress display, a log. What it is told has been committed."""

    def received(self, role: str, row: InboxRow) -> None:
        """A mail was taken in."""
        ...

    def sent(self, role: str, item: OutboxItem) -> None:
        """A message was accepted by the mail service."""
        ...

    def noted(self, role: str, note: Note) -> None:
        """A machine recorded or warned."""
        ...


class Intake(Protocol):
    """Who may be listened to at all, judged before a machine hears of the mail."""

    def refuse(self, mail: Mail) -> str | None:
        """Why this mail is turned away, in one line; ``None`` for a mail that is welcome."""
        ...

    def came_back(self, mail: Mail) -> str | None:
        """What did not reach whom, in one line, when this mail is a mail server's notice of it; else ``None``."""
        ...


class RoleRunner(Generic[S]):
    """Drives one machine. One thread calls its methods."""

    def __init__(
        self,
        machine: Machine[S],
        mailbox: Mailbox,
        journal: Journal,
        host: AgentHost | None,
        clock: Clock,
        *,
        codec: MailCodec,
        observer: Observer | None = None,
        intake: Intake | None = None,
        shown_within: timedelta = timedelta(0),
        stopping: threading.Event | None = None,
    ) -> None:
        """``codec`` reads and writes the machine's mail. ``host`` is ``None`` for a machine that calls nobody (the
        league manager); without an ``intake`` the mailbox
        is taken to vouch for every sender.

        ``clock`` is the one by which the mailbox dates its mails. It shows a mail ``shown_within`` that time at the
        latest: a deadline is over when the mailbox was drained so much later.

        Once ``stopping`` is set no further mail is taken in, and what was not taken in yet still waits.
        """
        self._machine = machine
        self._mailbox = mailbox
        self._journal = journal
        self._host = host
        self._clock = clock
        self._codec = codec
        self._observer = observer
        self._intake = intake
        self._shown_within = shown_within
        self._stopping = stopping or threading.Event()
        self._state = machine.initial()
        self._is_stored = False
        """Whether the journal has the state. A new one has none, so that its first step writes all."""
        self._next_wake: datetime | None = None
        self._outbox = Outbox(mailbox, journal, clock, keeps_order=codec.keeps_order, on_late=self._sent_late)
        self._unacknowledged: list[str] = []
        """Protocol mails that are committed and may still be marked as unread."""
        self._left: set[str] = set()
        """Mails that are left for another process on this mailbox."""

        self._waiting: list[Callable[[], None]] | None = None
        """What is to be done once the steps of a batch are durable; ``None`` outside of a batch."""

        self._calls: dict[str, PendingCall] = {}
        """What the host was handed and has not given back."""

    @property
    def state(self) -> S:
        """The machine's state as it was last committed."""
        return self._state

    @property
    def role(self) -> str:
        """The machine's role."""
        return self._machine.role

    def start(self) -> None:
        """Take up the work where the journal says it stands. Once, before anything else.

        Raises what ``Mailbox.acknowledge`` does; then nothing is begun and it can be called again.
        """
        parts = self._journal.load_parts()
        if parts:
            self._state = self._machine.load(parts)
            self._is_stored = True
        self._next_wake = self._journal.next_wake()
        self._unacknowledged = self._journal.latest_mail_ids(FETCH_BATCH)
        self._acknowledge()
        for call in self._journal.pending_calls():
            self._submit(call)
        self._step(Started(), StepCause.START, "start")

    def tick(self, *, fetches: bool = True) -> bool:
        """Do everything that can be done now. Whether there was anything to do.

        ``fetches=False`` leaves the mailbox alone: agents' results are taken and mail is sent, and no deadline is
        declared over, because what arrived before it has perhaps not been heard. The same is done, and then the
        failure raised, when the mailbox cannot be read to its end.
        """
        now = self._clock.now()
        try:
            busy = self._receive() if fetches else False
        except MailError:
            self._work_off()
            raise
        busy = self._collect() or busy
        if fetches:
            # The mailbox was drained at or after ``now``, so whatever arrived before these deadlines has been heard.
            busy = self._fire_deadlines(now) or busy
        return self._flush() or busy

    def command(self, command: OperatorCommand) -> bool:
        """Pass on what a person wants. ``False`` when this very command was carried out before."""
        return self._step(command, StepCause.COMMAND, command.nonce)

    def obey(self) -> bool:
        """Carry out what people have ordered by way of the journal. Whether there was anything."""
        orders = self._journal.open_orders()
        for order in orders:
            try:
                command = OperatorCommand(command=Command(order.command), nonce=order.nonce, text=order.text)
            except ValueError:
                self._use_up(StepCause.COMMAND, order.nonce, "order_refused", f"{order.command[:80]!a} is no command")
                continue
            self._safe_step(command, StepCause.COMMAND, order.nonce)
        return bool(orders)

    def next_wake(self) -> datetime | None:
        """The earliest instant at which time alone gives this role something to do."""
        from_host = self._host.next_wake() if self._host is not None else None
        wakes = (self._next_wake, from_host, self._outbox.next_look())
        return min((at for at in wakes if at is not None), default=None)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to be done unless a mail comes."""
        return not self._calls and self.next_wake() is None and not self._outbox.is_due(None)

    def close(self) -> None:
        """Stop the agent's host and release the journal."""
        if self._host is not None:
            self._host.close()
        self._journal.close()

    # -- taking in mail ---------------------------------------------------------------------------------------------

    def _receive(self) -> bool:
        """Drain the mailbox of the peers' mail. A short batch is no sign of the end: heavy mails come in small
        numbers."""
        busy = False
        self._acknowledge()
        while mails := self._mailbox.fetch(FETCH_BATCH, self._is_known):
            if busy:
                # Whoever wrote first is answered before the rest of a long backlog is read.
                self._work_off()
            busy = True
            taken_in: list[str] = []
            is_cut_short = False
            with self._together(mails):
                for mail in mails:
                    is_cut_short = self._stopping.is_set()
                    if is_cut_short:
                        break
                    if self._take_in(mail):
                        taken_in.append(mail.mail_id)
            # Acknowledge last. If we die before this line the mail is fetched again and the inbox key makes the second
            # copy a no-op; the other order loses the match.
            self._unacknowledged += taken_in
            if is_cut_short:
                raise Stopping
            self._acknowledge()
            if not any(mail.is_from_peer for mail in mails):
                break  # strangers may write for ever: deadlines do not wait for them
        return busy

    def _is_known(self, mail_id: str) -> bool:
        return mail_id in self._left or self._journal.has_mail(mail_id)

    def _work_off(self) -> None:
        """Take the agents' results and send what there is to send."""
        self._collect()
        self._flush()

    def _acknowledge(self) -> None:
        if self._unacknowledged:
            self._mailbox.acknowledge(self._unacknowledged)
            self._unacknowledged = []

    def _take_in(self, mail: Mail) -> bool:
        """Commit one mail and what follows from it. Whether it is protocol mail, which is then ours to mark as read."""
        if mail.refusal:
            return self._turn_away(mail)
        try:
            decoded = self._codec.decode(mail)
        except ForeignMail as error:
            self._put_aside(mail, InboxVerdict.IGNORED, str(error))
            return False
        except RemoteProtocolError as error:
            self._put_aside(mail, InboxVerdict.REJECTED, str(error))
            return True
        except Exception as error:
            # A mail that nobody foresaw must not stop the league, nor be read again for ever.
            self._put_aside(mail, InboxVerdict.PARKED, f"{type(error).__name__}: {error}")
            return True
        refusal = self._intake.refuse(mail) if self._intake is not None else None
        if refusal is not None:
            self._put_aside(mail, InboxVerdict.REJECTED, refusal, decoded)
            return True
        row = InboxRow(
            mail_id=mail.mail_id,
            arrived_at=mail.arrived_at,
            sender=decoded.sender,
            subject=mail.subject,
            message_type=decoded.message_type,
            message_id=decoded.message_id,
            game_id=decoded.game_id,
            verdict=InboxVerdict.PROCESSED,
            reason="; ".join(mail.problems)[:1000] if mail.problems else "",
            document=decoded.document,
        )
        try:
            self._step(decoded.event, StepCause.MAIL, mail.mail_id, row)
        except LeftForOthers:
            self._left.add(mail.mail_id)
            return False
        except RemoteProtocolError as error:
            self._put_aside(mail, InboxVerdict.REJECTED, str(error), decoded)
        except JournalError:
            raise
        except Exception as error:
            # A bug in a machine must not stop the league: the state is unchanged, the mail is kept for a person.
            self._put_aside(mail, InboxVerdict.PARKED, f"{type(error).__name__}: {error}", decoded)
        return True

    def _turn_away(self, mail: Mail) -> bool:
        """Record a mail that was not opened. A mail server's notice is a person's to read, so it stays as it is."""
        is_notice = self._intake is not None and self._intake.came_back(mail) is not None
        is_ours = not is_notice and self._codec.is_own(mail)
        self._put_aside(mail, InboxVerdict.REJECTED if is_ours else InboxVerdict.IGNORED, mail.refusal)
        return is_ours

    def _put_aside(self, mail: Mail, verdict: InboxVerdict, reason: str, decoded: DecodedMail | None = None) -> None:
        now = self._clock.now()
        row = InboxRow(
            mail_id=mail.mail_id,
            arrived_at=mail.arrived_at,
            sender=mail.from_header[:320],
            subject=mail.subject[:500],
            message_type=decoded.message_type if decoded is not None else "",
            message_id=decoded.message_id if decoded is not None else "",
            game_id=decoded.game_id if decoded is not None else None,
            verdict=verdict,
            reason="; ".join((reason, *mail.problems))[:1000],
            document=decoded.document if decoded is not None else None,
        )
        notes = [] if verdict is InboxVerdict.IGNORED else [warning(now, f"mail_{verdict}", row.reason)]
        came_back = self._intake.came_back(mail) if self._intake is not None else None
        if came_back is not None:
            notes.append(warning(now, "bounced", came_back))
        if self._journal.commit(StepCommit(cause=StepCause.MAIL, key=mail.mail_id, at=now, inbox=row, notes=notes)):
            self._once_durable(lambda: self._tell(row, notes))

    # -- the machine ------------------------------------------------------------------------------------------------

    def _step(
        self, event: object, cause: StepCause, key: str, row: InboxRow | None = None, notes: Sequence[Note] = ()
    ) -> bool:
        """One step, committed; its calls are then submitted. ``False`` when the cause was dealt with before."""
        now = self._clock.now()
        state, effects = self._machine.step(self._state, event, now)
        parts = self._machine.parts(state, self._state if self._is_stored else None)
        commit = commit_of(
            effects, cause=cause, key=key, at=now, codec=self._codec, inbox=row, parts=parts, first=notes
        )
        if not self._journal.commit(commit):
            return False
        self._state, self._is_stored = state, True
        if commit.sends:
            self._outbox.queued()
        if commit.deadlines or commit.cleared or cause is StepCause.DEADLINE:
            self._next_wake = self._journal.next_wake()
        self._once_durable(lambda: self._perform(commit, effects))
        return True

    def _perform(self, commit: StepCommit, effects: Sequence[object]) -> None:
        """What follows from a step that is durable."""
        for call in commit.calls:
            self._submit(call)
        if self._host is not None:
            for effect in effects:
                if isinstance(effect, ReleaseAgent):
                    self._host.release(effect.game_id)
        self._tell(commit.inbox, commit.notes)

    @contextmanager
    def _together(self, causes: Sequence[object]) -> Iterator[None]:
        """A block of one step for each of ``causes``, which become durable together. Calls are begun and observers told
        at its end; when it fails, the steps were not taken."""
        if len(causes) < 2:
            yield
            return
        before = self._state, self._is_stored, self._next_wake
        waiting: list[Callable[[], None]] = []
        self._waiting = waiting
        try:
            with self._journal.together():
                yield
        except BaseException:
            self._state, self._is_stored, self._next_wake = before
            raise
        finally:
            self._waiting = None
        for action in waiting:
            action()

    def _once_durable(self, action: Callable[[], None]) -> None:
        if self._waiting is None:
            action()
        else:
            self._waiting.append(action)

    def _safe_step(self, event: object, cause: StepCause, key: str, notes: Sequence[Note] = ()) -> None:
        """A step for something other than a mail. If the machine has a bug, the cause is used up and a person told."""
        try:
            self._step(event, cause, key, notes=notes)
        except JournalError:
            raise
        except Exception as error:
            self._use_up(cause, key, "step_failed", f"{cause} {key}: {type(error).__name__}: {error}")

    def _use_up(self, cause: StepCause, key: str, code: str, text: str) -> None:
        now = self._clock.now()
        note = warning(now, code, text)
        self._journal.commit(StepCommit(cause=cause, key=key, at=now, notes=[note]))
        self._next_wake = self._journal.next_wake()
        self._once_durable(lambda: self._tell(None, [note]))

    def _submit(self, call: PendingCall) -> None:
        if self._host is None:
            raise JournalError(f"{self._mailbox.address}: a {self.role} has no agent to run {call.callback}")
        self._calls[call.call_id] = call
        self._host.submit(call)

    def _collect(self) -> bool:
        outcomes = self._host.collect() if self._host is not None else ()
        with self._together(outcomes):
            for outcome in outcomes:
                call = self._calls.pop(outcome.call_id, None)
                notes = [] if call is None else model_work(self._clock.now(), call, outcome)
                self._safe_step(outcome, StepCause.CALL, outcome.call_id, notes)
        return bool(outcomes)

    def _fire_deadlines(self, now: datetime) -> bool:
        if self._next_wake is None or self._next_wake > now:
            return False
        passed = self._journal.due_deadlines(now)
        drained = [deadline for deadline in passed if deadline.at + self._shown_within <= now]
        # Who was perhaps not asked yet is not late.
        unsent = self._outbox.waiting() if drained else []
        games = {item.game_id for item in unsent}
        due = [deadline for deadline in drained if games.isdisjoint(deadline.name.split(":"))]
        with self._together(due):
            for deadline in due:
                # One deadline's step may clear the next one: its commit then finds no deadline and changes nothing.
                self._safe_step(DeadlinePassed(name=deadline.name), StepCause.DEADLINE, deadline.name)
        self._next_wake = self._journal.next_wake()
        if len(due) < len(passed) and self._next_wake is not None:
            self._next_wake += self._shown_within
            if len(due) < len(drained):
                queued = (item.not_before for item in unsent if not item.is_in_doubt)
                self._next_wake = min([now + HELD_FOR, *(at for at in queued if at is not None)])
        return bool(due)

    def _sent_late(self, item: OutboxItem, by: timedelta) -> None:
        if item.game_id is not None:
            event = SentLate(game_id=item.game_id, message_id=item.transaction_id, by=by)
            self._safe_step(event, StepCause.SENT, item.transaction_id)

    # -- sending ----------------------------------------------------------------------------------------------------

    def _flush(self) -> bool:
        if not self._outbox.is_due(self._next_wake):
            return False
        flushed = self._outbox.flush()
        if len(flushed.accepted) < flushed.tried:
            self._next_wake = self._journal.next_wake()
        self._tell(None, flushed.notes)
        if self._observer is not None:
            for item in flushed.accepted:
                self._observer.sent(self.role, item)
        return flushed.tried > 0

    def _tell(self, row: InboxRow | None, notes: Sequence[Note]) -> None:
        if self._observer is None:
            return
        if row is not None:
            self._observer.received(self.role, row)
        for note in notes:
            self._observer.noted(self.role, note)
