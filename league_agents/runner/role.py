"""Drive one role on one mailbox: fetch, commit, call, send, acknowledge last.

If the process dies at any line, the next start resumes from the journal: a mail that was taken in is not taken in
again, a callback without a committed result runs again, and a message that may have been sent is searched for before it
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
    CallbackFailed,
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
from league_agents.runner.commit import belief, commit_of, model_work, warning
from league_agents.runner.outbox import Outbox
from league_agents.runner.probe import NO_PROBE, Probe

S = TypeVar("S")

FETCH_BATCH = 100
"""Mails per fetch. At most this many can be committed and not yet acknowledged when the process dies."""


HELD_FOR = timedelta(seconds=15)
"""Pause between two checks of a passed deadline that waits for a message to be sent."""


class Observer(Protocol):
    """A progress display or a log. It is called only for committed events."""

    def received(self, role: str, row: InboxRow) -> None:
        """Called when a mail was taken in."""
        ...

    def sent(self, role: str, item: OutboxItem) -> None:
        """Called when the mail service accepted a message."""
        ...

    def noted(self, role: str, note: Note) -> None:
        """Called for each note of a machine."""
        ...


class Intake(Protocol):
    """Filters incoming mail before a machine sees it."""

    def refuse(self, mail: Mail) -> str | None:
        """Return the reason to reject this mail, in one line; ``None`` to accept it."""
        ...

    def came_back(self, mail: Mail) -> str | None:
        """Describe a failed delivery in one line if this mail is a mail server's notice of it; else ``None``."""
        ...


class RoleRunner(Generic[S]):
    """Drives one machine. All methods must be called from one thread."""

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
        probe: Probe = NO_PROBE,
    ) -> None:
        """``codec`` reads and writes the machine's mail. ``host`` is ``None`` for a machine without callbacks (the
        league manager); without an ``intake`` every sender is accepted.

        ``clock`` is the one by which the mailbox dates its mails. The mailbox shows a mail at most ``shown_within``
        after its date, so a deadline counts as passed once the mailbox was drained that much later.

        Once ``stopping`` is set no further mail is taken in; the rest stays in the mailbox.
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
        self._probe = probe
        self._is_watched = probe is not NO_PROBE
        self._state = machine.initial()
        self._is_stored = False
        """Whether the journal holds the state. A new one does not, so the first step writes all of it."""
        self._next_wake: datetime | None = None
        self._outbox = Outbox(
            mailbox, journal, clock, keeps_order=codec.keeps_order, on_late=self._sent_late, probe=probe
        )
        self._unacknowledged: list[str] = []
        """Protocol mails that are committed and may still be marked as unread."""
        self._left: set[str] = set()
        """Ids of mails left for another process on this mailbox."""

        self._waiting: list[Callable[[], None]] | None = None
        """Actions to run once the steps of a batch are durable; ``None`` outside of a batch."""

        self._calls: dict[str, PendingCall] = {}
        """Calls submitted to the host and not collected yet."""

    @property
    def state(self) -> S:
        """The machine's state as last committed."""
        return self._state

    @property
    def role(self) -> str:
        """The machine's role."""
        return self._machine.role

    def start(self) -> None:
        """Resume the work from the journal. Must be called once, before any other method.

        Raises the errors of ``Mailbox.acknowledge``; then nothing has begun and the method may be called again.
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
        """Do all work that is due. Return whether there was any.

        With ``fetches=False`` the mailbox is not read: agents' results are collected and mail is sent, but no deadline
        fires, because mail that arrived before it may be unread. If the mailbox cannot be read to its end, the same is
        done before the error is raised.
        """
        now = self._clock.now()
        try:
            busy = self._receive() if fetches else False
        except MailError:
            self._work_off()
            raise
        busy = self._collect() or busy
        if fetches:
            # The mailbox was drained at or after ``now``, so all mail that arrived before these deadlines is taken in.
            busy = self._fire_deadlines(now) or busy
        return self._flush() or busy

    def command(self, command: OperatorCommand) -> bool:
        """Carry out a person's command. Return ``False`` if this command was carried out before."""
        return self._step(command, StepCause.COMMAND, command.nonce)

    def obey(self) -> bool:
        """Carry out the open orders of the journal. Return whether there were any."""
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
        """The earliest instant at which work becomes due without mail; ``None`` if there is none."""
        from_host = self._host.next_wake() if self._host is not None else None
        wakes = (self._next_wake, from_host, self._outbox.next_look())
        return min((at for at in wakes if at is not None), default=None)

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do until a mail arrives."""
        return not self._calls and self.next_wake() is None and not self._outbox.is_due(None)

    def close(self) -> None:
        """Stop the agent's host and release the journal."""
        try:
            if self._host is not None:
                self._host.close()
        finally:
            self._journal.close()

    # -- taking in mail ---------------------------------------------------------------------------------------------

    def _receive(self) -> bool:
        """Read all mail of peers. A batch below the limit is not necessarily the last: large mails come in small
        batches."""
        busy = False
        self._acknowledge()
        while mails := self._mailbox.fetch(FETCH_BATCH, self._is_known):
            if busy:
                # Answer the mail read so far before reading the rest of a long backlog.
                self._work_off()
            busy = True
            taken_in: list[str] = []
            is_cut_short = False
            with self._together(mails):
                for mail in mails:
                    is_cut_short = self._stopping.is_set()
                    if is_cut_short:
                        break
                    if self._take_in(mail) if not self._is_watched else self._take_in_watched(mail):
                        taken_in.append(mail.mail_id)
            # Acknowledge last. If we die before this line the mail is fetched again and the inbox key makes the second
            # copy a no-op; the other order loses the match.
            self._unacknowledged += taken_in
            if is_cut_short:
                raise Stopping
            self._acknowledge()
            if not any(mail.is_from_peer for mail in mails):
                break  # strangers' mail may never end, and deadlines must not wait for it
        return busy

    def _is_known(self, mail_id: str) -> bool:
        return mail_id in self._left or self._journal.has_mail(mail_id)

    def _work_off(self) -> None:
        """Collect the agents' results and send the messages that are due."""
        self._collect()
        self._flush()

    def _acknowledge(self) -> None:
        if self._unacknowledged:
            self._mailbox.acknowledge(self._unacknowledged)
            self._unacknowledged = []

    def _take_in(self, mail: Mail) -> bool:
        """Commit one mail and the step it causes. Return whether it is protocol mail, to be marked as read."""
        if mail.refusal:
            return self._turn_away(mail)
        try:
            decoded = self._codec.decode(mail) if not self._is_watched else self._decode_watched(mail)
        except ForeignMail as error:
            self._put_aside(mail, InboxVerdict.IGNORED, str(error))
            return False
        except RemoteProtocolError as error:
            self._put_aside(mail, InboxVerdict.REJECTED, str(error))
            return True
        except Exception as error:
            # A mail that raises an unexpected error must neither stop the league nor be read again and again.
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

    # Apart from their plain forms, which cost nothing where nobody watches.

    def _take_in_watched(self, mail: Mail) -> bool:
        with self._probe.span("mail", mail.mail_id, began=mail.arrived_at):
            return self._take_in(mail)

    def _decode_watched(self, mail: Mail) -> DecodedMail:
        with self._probe.span("decode", mail.mail_id):
            return self._codec.decode(mail)

    def _commit_watched(self, commit: StepCommit) -> bool:
        with self._probe.span("commit", commit.key):
            is_new = self._journal.commit(commit)
        if is_new:
            self._probe.caused(commit)
        return is_new

    def _turn_away(self, mail: Mail) -> bool:
        """Record a mail that was not opened. A mail server's notice stays unread, for a person to read."""
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
        """Take and commit one step, then submit its calls. Return ``False`` if the cause was committed before."""
        now = self._clock.now()
        if self._is_watched:
            with self._probe.span("dispatch", key):
                state, effects = self._machine.step(self._state, event, now)
        else:
            state, effects = self._machine.step(self._state, event, now)
        parts = self._machine.parts(state, self._state if self._is_stored else None)
        commit = commit_of(
            effects, cause=cause, key=key, at=now, codec=self._codec, inbox=row, parts=parts, first=notes
        )
        if not (self._commit_watched(commit) if self._is_watched else self._journal.commit(commit)):
            return False
        self._state, self._is_stored = state, True
        if commit.sends:
            self._outbox.queued()
        if commit.deadlines or commit.cleared or cause is StepCause.DEADLINE:
            self._next_wake = self._journal.next_wake()
        self._once_durable(lambda: self._perform(commit, effects))
        return True

    def _perform(self, commit: StepCommit, effects: Sequence[object]) -> None:
        """Perform the effects of a durable step."""
        for call in commit.calls:
            self._submit(call)
        if self._host is not None:
            for effect in effects:
                if isinstance(effect, ReleaseAgent):
                    self._host.release(effect.game_id)
        self._tell(commit.inbox, commit.notes)

    @contextmanager
    def _together(self, causes: Sequence[object]) -> Iterator[None]:
        """Context manager for one step per cause, made durable together. Calls are submitted and observers notified at
        its end; if it fails, none of the steps was taken."""
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
        """Take a step whose cause is not a mail. If the machine has a bug, the cause is used up with a warning."""
        try:
            self._step(event, cause, key, notes=notes)
        except JournalError:
            raise
        except Exception as error:
            self._use_up(cause, key, "step_failed", f"{cause} {key}: {type(error).__name__}: {error}")

    def _use_up(self, cause: StepCause, key: str, code: str, text: str) -> None:
        now = self._clock.now()
        note = warning(now, code, text, nonce=key if cause is StepCause.COMMAND else "")
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
                if call is not None:
                    self._probe.answered(call, outcome.failure if isinstance(outcome, CallbackFailed) else "")
                now = self._clock.now()
                notes = [] if call is None else [*model_work(now, call, outcome), *belief(now, call, outcome)]
                self._safe_step(outcome, StepCause.CALL, outcome.call_id, notes)
        return bool(outcomes)

    def _fire_deadlines(self, now: datetime) -> bool:
        if self._next_wake is None or self._next_wake > now:
            return False
        passed = self._journal.due_deadlines(now)
        drained = [deadline for deadline in passed if deadline.at + self._shown_within <= now]
        # A peer whose request may not have been sent yet is not late.
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
