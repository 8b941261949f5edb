"""The host of a match by mail: reads letters, lets the table act, writes letters; everything by way of its journal.

Rule 1: what a mail changes is committed with the letters that follow from it, in one transaction, and the mail is
acknowledged last. Whatever line the process dies at, the next host goes on from the records.
Rule 2: a mail counts only when its sender is shown to be a seat's mailbox. Mail that is not this match's is left alone.
Rule 3: a letter is sent once: by the journal's outbox, which looks for one that may have left before it sends again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, Protocol

from league_agents.arena.answers import raw_of, steps_of
from league_agents.arena.by_mail.letters import (
    FILE_NAME,
    Letter,
    LetterHeading,
    NoMessages,
    copy_id,
    format_subject,
    messages_in,
    read_subject,
)
from league_agents.arena.by_mail.setup import MailSetup, setup_from, setup_to
from league_agents.arena.by_mail.table import MailTable, Record, rebuilt
from league_agents.arena.session import Memory, Recorder, ask_alone, failure_line
from league_agents.games.game import ALL, HOST, Event
from league_agents.games.game import ForfeitCause as Forfeit
from league_agents.journal.port import (
    Deadline,
    InboxRow,
    InboxVerdict,
    Journal,
    Note,
    OutboxItem,
    StepCause,
    StepCommit,
)
from league_agents.kit.clock import Clock
from league_agents.kit.errors import ConfigError, JournalError, JournalUnusable
from league_agents.kit.ids import derive_hex
from league_agents.kit.printable import line_of
from league_agents.league.wire.address import read_mailbox
from league_agents.mail.port import Mail, Mailbox
from league_agents.runner.outbox import Outbox
from league_agents.turns import ClassLoader

LOG = logging.getLogger(__name__)

FETCH_BATCH: Final = 100
ROLE: Final = "arena-host"
"""Whose journal it is."""

_SETUP, _STEP, _CLOCK = "setup", "step-", "turn"


class LetterIntake(Protocol):
    """Who may be listened to at all."""

    def refuse(self, mail: Mail) -> str | None:
        """Why this mail is turned away, in one line; ``None`` for one whose sender is who it says."""
        ...


def dump_part(_name: str, part: object) -> str:
    """A part of the host's state as the journal keeps it."""
    return json.dumps(part, ensure_ascii=True, separators=(",", ":"))


def kept_setup(journal: Journal, load_class: ClassLoader | None = None) -> MailSetup | None:
    """The match that a journal holds; ``None`` for a new journal. Raises ``JournalError``."""
    return _read(journal, load_class)[0]


class MailHost:
    """One match on one mailbox. One thread calls its methods."""

    def __init__(
        self,
        mailbox: Mailbox,
        journal: Journal,
        clock: Clock,
        *,
        intake: LetterIntake | None,
        setup: MailSetup | None = None,
        agent_of: Callable[[MailSetup, str], object] | None = None,
        memory_for: Callable[[str], Memory | None] = lambda _game: None,
        load_class: ClassLoader | None = None,
        observer: Callable[[str], None] = lambda _line: None,
    ) -> None:
        """``setup`` is needed for a new journal; an old one must hold the same match, or ``None`` is given.

        ``intake=None`` takes the mailbox to vouch for every sender. ``agent_of`` makes the agents of seats without a
        mailbox; ``load_class`` finds an interaction protocol of the host's own. ``observer`` is told one line for each
        thing that happens. Raises ``ConfigError`` and ``JournalError``.
        """
        self._mailbox = mailbox
        self._journal = journal
        self._clock = clock
        self._intake = intake
        self._agent_of = agent_of
        self._memory_for = memory_for
        self._load_class = load_class
        self._tell = observer
        self._outbox = Outbox(mailbox, journal, clock)
        kept, records = _read(journal, load_class)
        if kept is None and setup is None:
            raise ConfigError("journal", "is new: say which match is to be played in it")
        if kept is not None and setup is not None and setup_to(kept) != setup_to(setup):
            held = f"{kept.scenario.game} {kept.match_id}"
            raise ConfigError("journal", f"holds another match ({held}); name a new journal for this one")
        chosen = kept or setup
        assert chosen is not None, "one of the two was given"
        if chosen.host_address.lower() != mailbox.address.lower():
            raise ConfigError("journal", f"is of {chosen.host_address}, and this mailbox is {mailbox.address}")
        self.setup: MailSetup = chosen
        self._is_new = kept is None
        for seat in chosen.scenario.agent_ids:
            if seat not in chosen.addresses and agent_of is None:
                raise ConfigError(f"seats.{seat}", "has no address and no agent; give it one")
        self._agents: dict[str, object] = {}
        self._memories: dict[str, Memory] = {}
        self._observed = 0
        self._unacknowledged: list[str] = []
        self.table = MailTable(chosen)
        self._rebuild(records)

    @property
    def is_over(self) -> bool:
        return self.table.is_over

    @property
    def is_done(self) -> bool:
        """Whether the match is over and every letter has left, or never can."""
        return self.is_over and self.next_wake() is None and not self._outbox.is_due(None)

    def start(self) -> None:
        """Take up the match where it stands, or invite everybody. Once, before anything else."""
        self._unacknowledged = self._journal.latest_mail_ids(FETCH_BATCH)
        self._acknowledge()
        if self._is_new:
            at = self._clock.now()
            parts = {_SETUP: setup_to(self.setup)}
            self._commit({"kind": "start", "at": at.isoformat()}, StepCause.COMMAND, "start", at, parts=parts)
            self._is_new = False

    def tick(self) -> bool:
        """Do everything that can be done now. Whether there was anything to do."""
        now = self._clock.now()
        busy = self._receive()
        # The mailbox was drained at or after ``now``: what arrived before a deadline has been heard.
        busy = self._expire(now) or busy
        while self._ask_one():
            busy = True
        return self._flush() or busy

    def next_wake(self) -> datetime | None:
        """When time alone gives the host something to do."""
        wakes = (self._journal.next_wake(), self._outbox.next_look())
        return min((at for at in wakes if at is not None), default=None)

    # Taking in mail.

    def _receive(self) -> bool:
        busy = False
        self._acknowledge()
        while mails := self._mailbox.fetch(FETCH_BATCH, self._journal.has_mail):
            busy = True
            # Acknowledge last: a mail that was committed and not acknowledged comes again and is a no-op.
            self._unacknowledged += [mail.mail_id for mail in mails if self._take_in(mail)]
            self._acknowledge()
        return busy

    def _acknowledge(self) -> None:
        if self._unacknowledged:
            self._mailbox.acknowledge(self._unacknowledged)
            self._unacknowledged = []

    def _take_in(self, mail: Mail) -> bool:
        """Commit one mail and what follows from it. Whether it is this match's, and so ours to mark as read."""
        heading = read_subject(mail.subject)
        if heading is None or heading.match_id != self.setup.match_id:
            self._put_aside(mail, InboxVerdict.IGNORED, "is no letter of this match")
            return False
        refusal = None if self._intake is None else self._intake.refuse(mail)
        address = read_mailbox(mail.from_header)
        if refusal is None and (address is None or not self.setup.seats_of(address)):
            refusal = f"{mail.from_header[:100]!a} has no seat in this match"
        if refusal is not None or address is None:
            self._put_aside(mail, InboxVerdict.REJECTED, refusal or "")
            return True
        now = self._clock.now()
        record: dict[str, Any] = {
            "kind": "mail",
            "at": min(mail.arrived_at, now).isoformat(),
            "now": now.isoformat(),
            "address": address,
            "copy": derive_hex(self.setup.match_id, address, copy_id(mail), digits=24),
        }
        try:
            record["messages"] = messages_in(mail)
        except NoMessages as none:
            record["refused"] = [none.code, none.message]
        try:
            self._commit(record, StepCause.MAIL, mail.mail_id, now, inbox=_row(mail, address, heading))
        except JournalError:
            raise
        except Exception as error:  # a mail that nobody foresaw must not stop the match
            LOG.warning("a letter of %s is put aside: %s", address, line_of(error), exc_info=error)
            self._rebuild(_read(self._journal, self._load_class)[1])
            self._put_aside(mail, InboxVerdict.PARKED, f"{type(error).__name__}: {error}")
        return True

    def _put_aside(self, mail: Mail, verdict: InboxVerdict, reason: str) -> None:
        now = self._clock.now()
        row = InboxRow(
            mail_id=mail.mail_id,
            arrived_at=mail.arrived_at,
            sender=mail.from_header[:320],
            subject=mail.subject[:500],
            message_type="",
            message_id="",
            game_id=None,
            verdict=verdict,
            reason=reason[:1000],
            document=None,
        )
        notes = []
        if verdict is not InboxVerdict.IGNORED:
            notes = [Note(at=now, kind="warning", key=f"mail_{verdict}", facts={"text": row.reason})]
            self._tell(f"turned away: {row.reason}")
        self._journal.commit(StepCommit(cause=StepCause.MAIL, key=mail.mail_id, at=now, inbox=row, notes=notes))

    # Time and the host's own agents.

    def _expire(self, now: datetime) -> bool:
        if not any(due.name == _CLOCK for due in self._journal.due_deadlines(now)):
            return False
        self._commit({"kind": "time", "at": now.isoformat()}, StepCause.DEADLINE, _CLOCK, now)
        return True

    def _ask_one(self) -> bool:
        """Ask one agent of the host that owes an action."""
        waiting = self.table.asked()
        if not waiting:
            return False
        agent_id = waiting[0]
        nonce = f"act {agent_id} {self.table.number_of(agent_id)}"
        decision = self.table.decisions.open_decisions[agent_id]
        view = self.table.view_for(agent_id)
        memory = self._memories.get(agent_id)
        if memory is not None:
            view["memory"] = memory.as_json()
        agent = self._agents[agent_id]
        record: dict[str, Any] = {"kind": "act", "agent": agent_id, "action": None}
        action = ask_alone(agent_id, agent, view, self.table.legal(agent_id), decision.deadline, self._clock.now())
        if isinstance(action, Forfeit):
            record["cause"] = str(action)
        else:
            record["action"] = {"type": action.type, "data": dict(action.data), "version": action.version}
            record["raw"] = raw_of(agent)
            record["models"] = [step.to_json() for step in steps_of(agent)]
        now = self._clock.now()
        self._commit({**record, "at": now.isoformat()}, StepCause.COMMAND, nonce, now)
        return True

    # What happens, committed.

    def _commit(
        self,
        record: Record,
        cause: StepCause,
        key: str,
        at: datetime,
        *,
        inbox: InboxRow | None = None,
        parts: Mapping[str, object] | None = None,
    ) -> None:
        number = self.table.records
        letters = self.table.apply(record)
        deadline = self.table.next_deadline()
        step = StepCommit(
            cause=cause,
            key=key,
            at=at,
            inbox=inbox,
            parts={**(parts or {}), f"{_STEP}{number:08d}": record},
            sends=[self._item(letter, f"{cause} {key}", number, at) for letter in letters],
            deadlines=[] if deadline is None else [Deadline(name=_CLOCK, at=deadline)],
            cleared=[_CLOCK] if deadline is None else [],
        )
        if not self._journal.commit(step):
            # This very thing happened before. The table in memory is ahead of what is true.
            self._rebuild(_read(self._journal, self._load_class)[1])
            return
        if letters:
            self._outbox.queued()
        self._observe()

    def _item(self, letter: Letter, occasion: str, number: int, at: datetime) -> OutboxItem:
        digits = derive_hex(str(self.setup.seed), self.setup.match_id, letter.agent_id, occasion, number, digits=16)
        transaction_id = f"t-{digits}"
        heading = LetterHeading(game=self.setup.scenario.game, match_id=self.setup.match_id, agent_id=letter.agent_id)
        return OutboxItem(
            transaction_id=transaction_id,
            message_type=letter.kind,
            to=(self.setup.addresses[letter.agent_id],),
            subject=format_subject(heading, transaction_id),
            document=letter.document,
            file_name=FILE_NAME,
            game_id=None,
            created_at=at,
        )

    def _rebuild(self, records: list[Record]) -> None:
        """The table as the journal has it, and the host's agents as if they had seen it all."""
        self.table = rebuilt(self.setup, records)
        seats = [seat for seat in self.setup.scenario.agent_ids if seat not in self.setup.addresses]
        game = self.setup.scenario.game
        self._memories = {seat: memory for seat in seats if (memory := self._memory_for(game)) is not None}
        if self._agent_of is not None:
            self._agents = {seat: self._agent_of(self.setup, seat) for seat in seats}
        self._observed = 0
        if records:
            self._observe()

    def _observe(self) -> None:
        told = self.table.match.events_for(HOST, after=self._observed)
        self._observed += len(told)
        for event in told:
            if event.visible_to == ALL:
                self._tell(event.text)
        for seat, agent in self._agents.items():
            for event in self.table.match.events_for(seat, after=self._observed - len(told)):
                if seat in self._memories:
                    self._memories[seat].observe(event)
                _observed(seat, agent, event)

    def _flush(self) -> bool:
        if not self._outbox.is_due(self._journal.next_wake()):
            return False
        flushed = self._outbox.flush()
        for note in flushed.notes:
            self._tell(str(note.facts.get("text", note.key)))
        for item in flushed.accepted:
            self._tell(f"sent {item.message_type} to {', '.join(item.to)}")
        return flushed.tried > 0


def write_down(journal: Journal, recorder: Recorder, load_class: ClassLoader | None = None) -> None:
    """Tell a recorder the whole match that a journal holds. Raises ``JournalError``."""
    setup, records = _read(journal, load_class)
    if setup is not None:
        rebuilt(setup, records, lambda found: MailTable(found, recorders=(recorder,)))


def _read(journal: Journal, load_class: ClassLoader | None) -> tuple[MailSetup | None, list[Record]]:
    parts = journal.load_parts()
    if _SETUP not in parts:
        return None, []
    try:
        setup = setup_from(json.loads(parts[_SETUP]), load_class)
        records = [json.loads(parts[name]) for name in sorted(parts) if name.startswith(_STEP)]
    except (ValueError, TypeError, ConfigError) as error:
        raise JournalUnusable(f"the journal holds no match by mail: {error}") from None
    return setup, records


def _row(mail: Mail, address: str, heading: LetterHeading) -> InboxRow:
    return InboxRow(
        mail_id=mail.mail_id,
        arrived_at=mail.arrived_at,
        sender=address,
        subject=mail.subject[:500],
        message_type=f"boardgame {heading.game}"[:60],
        message_id=copy_id(mail)[:200],
        game_id=None,
        verdict=InboxVerdict.PROCESSED,
        reason="; ".join(mail.problems)[:1000],
        document=None,  # what it said is in the step
    )


def _observed(seat: str, agent: object, event: Event) -> None:
    observe = getattr(agent, "observe", None)
    if callable(observe):
        try:
            observe(event)
        except Exception as error:  # an agent's own code may raise anything
            LOG.warning("%s", failure_line(seat, "", error, method="observe"))
