"""The player's side of a match by mail: an agent behind a mailbox.

Rule 1: a letter is acknowledged when its answer is in the journal. Whoever dies before that reads it again; an answer
that is in the journal leaves once, by the outbox that the league's messages leave by.
Rule 2: letters come twice, late and in a wrong order. What was told is told to the agent once and in order; only the
newest decision is answered, and each attempt once.
Rule 3: what is not from the host is not read.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from league_agents.arena.answers import steps_of
from league_agents.arena.by_mail.host import LetterIntake
from league_agents.arena.by_mail.letters import FILE_NAME, LetterHeading, format_subject, read_subject
from league_agents.arena.session import Memory, ask_alone, failure_line
from league_agents.games.game import ALL, Event, LegalAction
from league_agents.games.game import ForfeitCause as Forfeit
from league_agents.journal.port import MODEL_WORK, Journal, Note, OutboxItem, StepCause, StepCommit
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.ids import derive_hex
from league_agents.kit.model_work import ModelStep, read_steps
from league_agents.kit.violation import shown as shown_value
from league_agents.league.wire.address import read_mailbox, same_address
from league_agents.mail.port import Mail, Mailbox
from league_agents.runner.outbox import Outbox

ROLE: Final = "arena-seat"
"""Whose journal it is."""

LOG = logging.getLogger(__name__)

_BATCH: Final = 100
_MOST_WAITING: Final = 1000
_KEPT_FIELDS: Final = frozenset({"seq", "event"})


class MailSeat:
    """One seat of one match. One thread calls its methods."""

    def __init__(
        self,
        agent: object,
        mailbox: Mailbox,
        journal: Journal,
        host_address: str,
        *,
        clock: Clock | None = None,
        match_id: str | None = None,
        agent_id: str | None = None,
        memory: Memory | None = None,
        intake: LetterIntake | None = None,
    ) -> None:
        """``agent`` is asked as in a session: anything with ``act``. ``journal`` keeps the answers of all seats of this
        mailbox. ``match_id`` and ``agent_id`` are needed where a
        mailbox has several seats; else the first letter says them. ``intake`` checks senders; ``None`` takes the
        mailbox to vouch for them."""
        self._agent = agent
        self._mailbox = mailbox
        self._journal = journal
        self._host = host_address
        self._clock = clock or SystemClock()
        self._intake = intake
        self._memory = memory
        self.match_id = match_id
        self.agent_id = agent_id
        self.state: Mapping[str, Any] | None = None
        """The newest ``get_state_response``; ``None`` before the invitation."""

        self._seen: set[str] = set()
        """Mails that are somebody else's."""

        self._told = 0
        self._waiting: dict[int, tuple[int, list[Event]]] = {}
        """Events that came before earlier ones, by the number after which they follow."""

        self._newest = (0, 0)
        """The newest decision, and how often an action was refused in it."""

        self._models: tuple[ModelStep, ...] = ()
        """What became of a model's work in the last answer."""

        self._outbox = Outbox(mailbox, journal, self._clock)
        self._answered = {item.transaction_id for item in journal.outbox()}

    @property
    def is_over(self) -> bool:
        return self.state is not None and self.state.get("status") in ("ended", "abandoned")

    @property
    def winners(self) -> list[str]:
        """Who won; empty before the end."""
        return [] if self.state is None else list(self.state.get("winners", []))

    def model_steps(self) -> list[ModelStep]:
        """What became of a model's work in all answers of this match, also of an earlier process."""
        notes = [note for note in self._journal.notes() if note.kind == MODEL_WORK and note.key == self.match_id]
        return [step for note in notes for step in read_steps(note.facts.get("steps"))]

    def tick(self) -> bool:
        """Read what has come and answer it. Whether there was anything.

        Raises ``MailError`` if the mailbox cannot be read; the same letters are then read with the next tick.
        """
        mails = self._mailbox.fetch(_BATCH, self._seen.__contains__)
        ours: list[tuple[str, Mapping[str, Any]]] = []
        for mail in mails:
            letter = self._letter(mail)
            if letter is None:
                self._seen.add(mail.mail_id)
            else:
                ours.append((mail.mail_id, letter))
        for _, letter in ours:
            self._take_in(letter)
        # All of the batch is read before anything is answered: the newest letter may not be the last one.
        for _, letter in ours:
            self._answer(letter)
        if ours:
            self._mailbox.acknowledge([mail_id for mail_id, _ in ours])
        return self._flush() or bool(ours)

    def next_wake(self) -> datetime | None:
        """When time alone gives the seat something to do."""
        wakes = (self._journal.next_wake(), self._outbox.next_look())
        return min((at for at in wakes if at is not None), default=None)

    # Reading.

    def _letter(self, mail: Mail) -> Mapping[str, Any] | None:
        """The letter that a mail is, when it is the host's and for this seat."""
        heading = read_subject(mail.subject)
        sender = read_mailbox(mail.from_header)
        if heading is None or sender is None or not same_address(sender, self._host):
            return None
        if self._intake is not None and (why := self._intake.refuse(mail)) is not None:
            LOG.warning("a letter is not read: %s", why)
            return None
        for document in mail.documents:
            if isinstance(document, Mapping) and _is_letter(document):
                if self.match_id in (None, document["match_id"]) and self.agent_id in (None, document["agent_id"]):
                    self.match_id, self.agent_id = document["match_id"], document["agent_id"]
                    return document
                return None
        return None

    def _take_in(self, letter: Mapping[str, Any]) -> None:
        events = []
        for message in letter["messages"]:
            if not isinstance(message, Mapping):
                continue
            if message.get("type") == "get_state_response":
                self._newer_state(message)
            elif (event := _event_of(message)) is not None:
                events.append(event)
        decision = letter.get("decision")
        if isinstance(decision, Mapping):
            self._newest = max(self._newest, _attempt_of(decision))
        if events and len(self._waiting) < _MOST_WAITING:
            self._waiting.setdefault(letter["after"], (max(event.seq for event in events), events))
        self._drain()

    def _drain(self) -> None:
        """Tell the agent what follows what it was told."""
        while self._told in self._waiting:
            last, ready = self._waiting.pop(self._told)
            for event in ready:
                self._observe(event)
            if last <= self._told:
                break
            self._told = last
        for after in [after for after in self._waiting if after < self._told]:
            del self._waiting[after]

    def _newer_state(self, state: Mapping[str, Any]) -> None:
        if self.state is None or _order(state) >= _order(self.state):
            self.state = state

    def _observe(self, event: Event) -> None:
        if self._memory is not None:
            self._memory.observe(event)
        observe = getattr(self._agent, "observe", None)
        if callable(observe):
            try:
                observe(event)
            except Exception as error:  # an agent's own code may raise anything
                LOG.warning("%s", failure_line(str(self.agent_id), "", error, method="observe"))

    # Answering.

    def _answer(self, letter: Mapping[str, Any]) -> None:
        decision = letter.get("decision")
        if not isinstance(decision, Mapping) or _attempt_of(decision) != self._newest:
            return
        template = decision.get("answer_with")
        if not isinstance(template, Mapping) or not isinstance(template.get("request_id"), str):
            return
        digits = derive_hex(self._mailbox.address, self.match_id, self.agent_id, template["request_id"], digits=16)
        transaction_id = f"a-{digits}"
        if transaction_id in self._answered:
            return
        if self._told == 0:
            # Started anew in the middle of a match: what was told before is in the view.
            self._told = letter["after"]
            self._drain()
        answer = self._asked(letter, decision, template)
        if answer is not None:
            self._keep(transaction_id, answer)

    def _asked(
        self, letter: Mapping[str, Any], decision: Mapping[str, Any], template: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """The envelope that the agent wants to send; ``None`` when it failed: the host's clock then decides."""
        own = [each for each in letter["messages"] if isinstance(each, Mapping) and "state" in each]
        inner = own[-1]["state"].get("data") if own and isinstance(own[-1]["state"], Mapping) else None
        told = inner if isinstance(inner, Mapping) else {}
        legal, shown = _legal_of(told.get("legal")), told.get("view")
        view = {
            **(shown if isinstance(shown, Mapping) else {}),
            "agent_id": self.agent_id,
            "game": letter.get("game"),
            "rules_text": told.get("rules", ""),
            "refusal": decision.get("refusal"),
            **({} if self._memory is None else {"memory": self._memory.as_json()}),
        }
        try:
            deadline = decision.get("reply_by")
            until = None if deadline is None else datetime.fromisoformat(deadline)
        except (TypeError, ValueError):
            LOG.warning("a letter is not answered: it asks for a reply by %s", shown_value(deadline))
            return None
        action = ask_alone(str(self.agent_id), self._agent, view, legal, until, self._clock.now())
        if isinstance(action, Forfeit):
            return None
        self._models = steps_of(self._agent)
        return {**template, "action": {"version": action.version, "type": action.type, "data": dict(action.data)}}

    def _keep(self, transaction_id: str, answer: Mapping[str, Any]) -> None:
        """Commit an answer, to be sent."""
        now = self._clock.now()
        heading = LetterHeading(game=str(answer.get("game")), match_id=str(self.match_id), agent_id=str(self.agent_id))
        item = OutboxItem(
            transaction_id=transaction_id,
            message_type=str(answer.get("type"))[:60],
            to=(self._host,),
            subject=format_subject(heading, transaction_id),
            document=answer,
            file_name=FILE_NAME,
            game_id=None,
            created_at=now,
        )
        facts = {"player": self.agent_id, "steps": [step.to_json() for step in self._models]}
        notes = [Note(at=now, kind=MODEL_WORK, key=str(self.match_id), facts=facts)] if self._models else []
        self._journal.commit(StepCommit(cause=StepCause.COMMAND, key=transaction_id, at=now, sends=[item], notes=notes))
        self._answered.add(transaction_id)
        self._outbox.queued()

    def _flush(self) -> bool:
        if not self._outbox.is_due(self._journal.next_wake()):
            return False
        flushed = self._outbox.flush()
        for note in flushed.notes:
            LOG.warning("%s", note.facts.get("text", note.key))
        return flushed.tried > 0


def _is_letter(document: Mapping[str, Any]) -> bool:
    return (
        "boardgame_mail" in document
        and isinstance(document.get("match_id"), str)
        and isinstance(document.get("agent_id"), str)
        and isinstance(document.get("messages"), list)
        and type(document.get("after")) is int
    )


def _attempt_of(decision: Mapping[str, Any]) -> tuple[int, int]:
    """Which decision, and which attempt at it: more is newer."""
    number, left = decision.get("number"), decision.get("attempts_left")
    return (number, -left) if type(number) is int and type(left) is int else (0, 0)


def _order(state: Mapping[str, Any]) -> tuple[bool, int]:
    inner = state.get("state")
    told = inner.get("data") if isinstance(inner, Mapping) else None
    seq = told.get("seq") if isinstance(told, Mapping) else None
    return state.get("status") in ("ended", "abandoned"), seq if type(seq) is int else -1


def _event_of(message: Mapping[str, Any]) -> Event | None:
    inner = message.get("message_response")
    told = inner.get("data") if isinstance(inner, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(told, Mapping) or type(told.get("seq")) is not int:
        return None
    return Event(
        kind=str(told.get("event", "")),
        visible_to=ALL,
        text=str(inner.get("message", "")),
        data={key: value for key, value in told.items() if key not in _KEPT_FIELDS},
        seq=told["seq"],
    )


def _legal_of(listed: object) -> tuple[LegalAction, ...]:
    found = []
    for each in listed if isinstance(listed, Sequence) else ():
        if isinstance(each, Mapping) and isinstance(each.get("schema"), Mapping):
            choices = each.get("choices")
            several = tuple(choices) if isinstance(choices, list) else None
            found.append(LegalAction(type=str(each.get("type")), schema=each["schema"], choices=several))
    return tuple(found)
