"""The state of a match by mail and the letters that are due, without sending or receiving mail.

Rule 1: every change of the table is a record first (``Record``, JSON values), and the same records rebuild the same
table. A host that died reads them back and goes on.
Rule 2: an agent that owes an action gets a letter with its state and all events not yet sent to it. An agent that owes
none gets no letter for each event: its events are kept for its next letter.
Rule 3: an action counts at the time at which the mail server accepted it; a clock starts when the host asks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, cast

from league_agents.arena.by_mail.letters import ANSWER, INVITATION, MAIL_VERSION, OVER, YOUR_TURN
from league_agents.arena.by_mail.setup import MailSetup
from league_agents.arena.decisions import Decisions, SettledDecision
from league_agents.arena.protocol.access import Principal
from league_agents.arena.protocol.envelope import error
from league_agents.arena.protocol.hosting import Hosted, HostedSeat, MemoryStore, Status
from league_agents.arena.protocol.refusals import PROTOCOL_VERSION, Refused
from league_agents.arena.protocol.requests import RequestHeading
from league_agents.arena.protocol.service import MatchService, Outgoing
from league_agents.arena.session import Recorder, Session
from league_agents.games.game import Action, ForfeitCause, IllegalAction, LegalAction
from league_agents.kit.model_work import read_steps
from league_agents.turns.match import Match

Record = Mapping[str, Any]

ANSWERS_A_DAY: Final = 40
"""Daily limit of letters to one mailbox that announce neither its turn nor the end, so that one player's mistakes
cannot use up the host's sending quota."""

HUMAN: Final = "human"
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    """One letter to a seat."""

    agent_id: str
    kind: str
    document: Mapping[str, Any]


class MailTable:
    """One match, its clocks, and the events sent to each mailbox."""

    def __init__(self, setup: MailSetup, *, recorders: Sequence[Recorder] = ()) -> None:
        """``recorders`` record the match. Raises ``ConfigError``."""
        self.setup = setup
        self.match: Match[Any] = setup.scenario.new_match(setup.seed)
        self.decisions = Decisions(self.match, setup.scenario.clock, self)
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None
        self._recorders = tuple(recorders)
        self._store = MemoryStore()
        self._service = MatchService(self._store)
        self._hosted: Hosted | None = None
        self._settled = 0
        self._numbers = dict.fromkeys(self.match.agent_ids, 0)
        """Agent -> number of decisions that it was asked for."""

        self._refused: dict[str, dict[str, Any]] = {}
        """Agent -> why the last action of its open decision was refused."""

        self._asked: dict[str, tuple[int, int]] = {}
        """Agent -> (decision, refusals in it) of the last letter about it."""

        self._held: dict[str, list[Mapping[str, Any]]] = {agent: [] for agent in setup.addresses}
        self._told = dict.fromkeys(setup.addresses, 0)
        self._answered: dict[str, deque[datetime]] = {}
        self._is_over_told: set[str] = set()

    @property
    def status(self) -> str:
        """``waiting``, ``started``, ``ended`` or ``abandoned``."""
        return Status.WAITING.value if self._hosted is None else self._hosted.status.value

    @property
    def is_over(self) -> bool:
        return self.status in (Status.ENDED.value, Status.ABANDONED.value)

    # Events.

    def apply(self, record: Record) -> list[Letter]:
        """Apply a record; return the letters that follow. Raises ``ValueError`` for an invalid record."""
        kind, at = record["kind"], datetime.fromisoformat(record["at"])
        now = datetime.fromisoformat(record.get("now", record["at"]))
        answers: dict[str, list[Mapping[str, Any]]] = {}
        if kind == "start":
            self._start(at)
        elif kind == "mail":
            answers = self._mail(record, at, now)
        elif kind == "act":
            self._act(record, at)
        elif kind != "time":
            raise ValueError(f"no record is a {kind!r}")
        self._settle(now, expires_at=at)
        return self._letters(answers, now, is_start=kind == "start")

    def settled(self, settled: SettledDecision) -> None:
        """A decision has ended."""
        self._settled += 1
        self._refused.pop(settled.decision.agent_id, None)
        for recorder in self._recorders:
            recorder.settled(settled)

    def next_deadline(self) -> datetime | None:
        """The next instant at which time alone changes the table; ``None`` if there is none."""
        return None if self.is_over else self.decisions.next_deadline()

    # Questions to agents of the host.

    def asked(self) -> list[str]:
        """Agents without a mailbox that owe an action."""
        return [agent for agent in self.decisions.open_decisions if agent not in self.setup.addresses]

    def number_of(self, agent_id: str) -> str:
        """An id for the attempt at the agent's open decision."""
        refusals = len(self.decisions.open_decisions[agent_id].refusals)
        return f"{self._numbers[agent_id]}-{refusals}"

    def legal(self, agent_id: str) -> tuple[LegalAction, ...]:
        return self.match.legal(agent_id)

    def view_for(self, agent_id: str) -> dict[str, Any]:
        """The view of an agent of the host, without its memory."""
        return {
            **self.match.view(agent_id),
            "agent_id": agent_id,
            "game": self.match.game.code,
            "rules_text": self.match.game.rules_text(self.match.config, self.setup.scenario.lang),
            "refusal": self._refused.get(agent_id),
        }

    # The steps.

    def _start(self, at: datetime) -> None:
        seats = tuple(
            HostedSeat(agent_id=seat.id, name=seat.name, kind="human" if seat.agent == HUMAN else "ai", is_taken=True)
            for seat in self.setup.scenario.seats
        )
        # By mail there are no spectators and no list of matches.
        self._hosted = Hosted(
            match_id=self.setup.match_id, match=self.match, created_at=at, seats=seats, is_listed=False, is_open=False
        )
        self._store.add(self._hosted)
        self.started_at = at
        for recorder in self._recorders:
            recorder.begin(cast("Session", self))
        self._hold(self._service.start(self.setup.match_id, at, driver=self.decisions))

    def _mail(self, record: Record, at: datetime, now: datetime) -> dict[str, list[Mapping[str, Any]]]:
        """Handle the messages of one mail; return seat -> answers."""
        own = self.setup.seats_of(record["address"])
        if "refused" in record:
            code, message = record["refused"]
            return {
                own[0]: [error(Refused(code, message), RequestHeading(match_id=self.setup.match_id, agent_id=own[0]))]
            }
        principal = Principal(seats=frozenset((self.setup.match_id, seat) for seat in own))
        answers: dict[str, list[Mapping[str, Any]]] = {}
        self._settle(now, expires_at=at)
        for place, message in enumerate(record["messages"]):
            envelope, asker = dict(message), message.get("agent_id")
            if "request_id" not in envelope and envelope.get("type") == "perform_action":
                # A second copy of the mail must not act again.
                envelope["request_id"] = f"mail-{place}-{record['copy']}"
            seat = asker if asker in own else own[0]
            if asker in own:
                self.decisions.reconnected(seat)
            refusals = self._refusals(seat)
            (_, answer), *pushes = self._service.handle(envelope, principal, at)
            told = dict(answer)
            if "request_id" not in message:
                told.pop("request_id", None)
            inner = told.get("action_response", {})
            if inner and self._refusals(seat) > refusals:
                data = {key: value for key, value in inner["data"].items() if key != "code"}
                self._note_refusal(seat, inner["data"]["code"], inner["message"], data)
            if inner.get("status") == "success":
                self._held[seat].append(told)
            else:
                answers.setdefault(seat, []).append(told)
            self._hold(pushes)
            self._settle(now, expires_at=at)
        return answers

    def _act(self, record: Record, at: datetime) -> None:
        agent_id, told = record["agent"], record["action"]
        if told is None:
            self.decisions.forfeit(agent_id, ForfeitCause(record["cause"]), at)
            return
        refusals = self._refusals(agent_id)
        try:
            action = Action(type=told["type"], data=told["data"], version=told["version"])
            self.decisions.act(agent_id, action, at, record.get("raw"), read_steps(record.get("models")))
        except IllegalAction as refused:
            if self._refusals(agent_id) > refusals:
                self._note_refusal(agent_id, refused.code, refused.message, dict(refused.data))

    def _refusals(self, agent_id: str) -> int:
        decision = self.decisions.open_decisions.get(agent_id)
        return 0 if decision is None else len(decision.refusals)

    def _note_refusal(self, agent_id: str, code: str, message: str, data: dict[str, Any]) -> None:
        left = data.pop("attempts_left", 0)
        self._refused[agent_id] = {"code": code, "message": message, "data": data, "attempts_left": left}

    def _settle(self, now: datetime, *, expires_at: datetime) -> None:
        """Ask the agents that owe an action, and forfeit overdue decisions, until nothing changes.

        ``expires_at`` is the time of the record: mail that arrived in time and was not read yet is still in time.
        """
        hosted = self._hosted
        while hosted is not None:
            before = self._settled
            for decision in self.decisions.ask(now):
                self._numbers[decision.agent_id] += 1
                self._refused.pop(decision.agent_id, None)
            self.decisions.expire(expires_at)
            self._hold(self._service.deliver(self.setup.match_id, now))
            if self.decisions.is_abandoned and hosted.status is Status.STARTED:
                gone = "Nobody answers any more: the match is given up."
                self._hold(self._service.abandon(self.setup.match_id, now, gone))
            if self._settled == before:
                break
        if self.is_over and self.ended_at is None:
            self.ended_at = now
            for recorder in self._recorders:
                recorder.end(cast("Session", self))

    # Letters.

    def _hold(self, outgoing: Outgoing) -> None:
        for recipient, envelope in outgoing:
            if recipient in self._held:
                self._held[recipient].append(envelope)

    def _letters(
        self, answers: Mapping[str, list[Mapping[str, Any]]], now: datetime, *, is_start: bool
    ) -> list[Letter]:
        found = []
        for agent_id in self.setup.addresses:
            answer = answers.get(agent_id, [])
            decision = self.decisions.open_decisions.get(agent_id)
            asked = None if decision is None else (self._numbers[agent_id], len(decision.refusals))
            if is_start:
                kind = INVITATION
            elif asked is not None and asked != self._asked.get(agent_id):
                kind = YOUR_TURN
            elif self.is_over and agent_id not in self._is_over_told:
                kind = OVER
            elif answer and self._may_answer(agent_id, now):
                kind = ANSWER
            else:
                continue
            if asked is not None:
                self._asked[agent_id] = asked
            if self.is_over:
                self._is_over_told.add(agent_id)
            found.append(self._letter(agent_id, kind, answer))
        return found

    def _may_answer(self, agent_id: str, now: datetime) -> bool:
        recent = self._answered.setdefault(self.setup.addresses[agent_id].lower(), deque(maxlen=ANSWERS_A_DAY))
        if len(recent) == ANSWERS_A_DAY and now - recent[0] < _DAY:
            return False
        recent.append(now)
        return True

    def _letter(self, agent_id: str, kind: str, answer: Sequence[Mapping[str, Any]]) -> Letter:
        held, self._held[agent_id] = self._held[agent_id], []
        after = self._told[agent_id]
        numbers = [seq for message in held if (seq := _seq_of(message)) is not None]
        self._told[agent_id] = max([after, *numbers])
        state = self._state(agent_id)
        document = {
            "boardgame_mail": MAIL_VERSION,
            "kind": kind,
            "game": self.match.game.code,
            "match_id": self.setup.match_id,
            "agent_id": agent_id,
            "reply_to": self.setup.host_address,
            "decision": self._decision(agent_id),
            "after": after,
            "lines": [text for message in held if (text := _line_of(message))],
            "messages": [*answer, *held, state],
        }
        return Letter(agent_id=agent_id, kind=kind, document=document)

    def _state(self, agent_id: str) -> Mapping[str, Any]:
        request = {
            "version": PROTOCOL_VERSION,
            "type": "get_state",
            "game": self.match.game.code,
            "match_id": self.setup.match_id,
            "agent_id": agent_id,
            "state": {"version": self.match.game.version},
        }
        principal = Principal.of_seat(self.setup.match_id, agent_id)
        assert self.started_at is not None, "nobody is written to before the start"
        ((_, state),) = self._service.handle(request, principal, self.started_at)
        return state

    def _decision(self, agent_id: str) -> dict[str, Any] | None:
        """The decision that the agent owes, and the envelope to answer it with."""
        decision = self.decisions.open_decisions.get(agent_id)
        if decision is None:
            return None
        legal = self.match.legal(agent_id)
        return {
            "number": self._numbers[agent_id],
            "attempts_left": self.decisions.rules.max_invalid + 1 - len(decision.refusals),
            "reply_by": None if decision.deadline is None else decision.deadline.isoformat(),
            "refusal": self._refused.get(agent_id),
            "answer_with": {
                "version": PROTOCOL_VERSION,
                "type": "perform_action",
                "game": self.match.game.code,
                "match_id": self.setup.match_id,
                "agent_id": agent_id,
                "request_id": f"decision-{self.number_of(agent_id)}",
                "action": {"version": self.match.game.version, "type": legal[0].type if legal else "", "data": {}},
            },
        }


def rebuilt(
    setup: MailSetup, records: Sequence[Record], make: Callable[[MailSetup], MailTable] = MailTable
) -> MailTable:
    """Rebuild the table from its records."""
    table = make(setup)
    for record in records:
        table.apply(record)
    return table


def _seq_of(message: Mapping[str, Any]) -> int | None:
    seq = message.get("message_response", {}).get("data", {}).get("seq")
    return seq if isinstance(seq, int) else None


def _line_of(message: Mapping[str, Any]) -> str:
    return str(message.get("message_response", {}).get("message", ""))
