"""A fake link: one referee, its players and whatever the league manager says, joined without mail, clock or threads.

Messages wait in one queue per receiver until the test delivers them, so a test chooses every order; callbacks are
answered by functions of the context, at once or when the test says so. Time moves when it is told to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from league_agents.games.q21.model import LETTERS
from league_agents.games.q21.rules import COURSE, RuleSet
from league_agents.kit.ids import GameId
from league_agents.kit.values import evolve
from league_agents.league.machines.config import PlayerConfig, RefereeConfig
from league_agents.league.machines.effects import (
    Call,
    ClearDeadline,
    Effect,
    Record,
    ReleaseAgent,
    Send,
    SetDeadline,
    Warn,
)
from league_agents.league.machines.events import (
    CallbackFailed,
    CallbackReturned,
    DeadlinePassed,
    Event,
    Failure,
    Identity,
    MessageArrived,
)
from league_agents.league.machines.machine import Machine
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.machines.referee.referee import Referee
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import BROADCAST_TYPES, MessageType, Role, protocol_of
from league_agents.league.wire.messages import (
    Assignment,
    AssignmentRole,
    AssignmentTable,
    CriticalContinue,
    CriticalPause,
    CriticalReset,
    EndRound,
    KeepAlive,
    LeagueCompleted,
    NewRound,
    Payload,
    RegistrationResponse,
    RegistrationStatus,
    StartSeason,
)

MANAGER = "league-office@example.com"
REFEREE = "whistle@example.com"
PLAYER1 = "falcon.player@example.com"
PLAYER2 = "otter.player@example.com"
SEASON = "SEASON_2031-05-02"
LEAGUE = "LG-ALPHA"
GAME = GameId("0302001")
START = datetime(2031, 5, 2, 10, 0, tzinfo=UTC)

Reply = Mapping[str, object] | Failure
Agent = Callable[[str, Mapping[str, Any]], Reply]
"""``(callback, context)`` to what comes back."""


def filler(words: int) -> str:
    """A text of so many words."""
    return " ".join(["word"] * words)


def obliging(callback: str, context: Mapping[str, Any]) -> Reply:
    """Keeps every contract with fixed texts."""
    dynamic = context["dynamic"]
    if callback == "get_warmup_question":
        return {"warmup_question": "How much is 6 times 7?"}
    if callback == "get_round_start_info":
        return {
            "book_name": "Lecture 4: Sorting",
            "book_hint": "Why choosing the middle element badly can ruin an ordering method",
            "association_word": "kitchen tool",
            "actual_opening_sentence": "A poor pivot turns quicksort into a slow algorithm.",
            "actual_associative_word": "knife",
        }
    if callback == "get_answers":
        return {"answers": [{"question_number": q["question_number"], "answer": "A"} for q in dynamic["questions"]]}
    if callback == "get_score_feedback":
        is_first = dynamic["player_email"].lower() == PLAYER1
        return {
            "league_points": 2 if is_first else 1,
            "private_score": 78.5 if is_first else 55.0,
            "breakdown": {
                "opening_sentence_score": 85.0,
                "sentence_justification_score": 70.0,
                "associative_word_score": 80.0,
                "word_justification_score": 60.0,
            },
            "feedback": {"opening_sentence": filler(160), "associative_word": filler(160)},
        }
    if callback == "get_warmup_answer":
        return {"answer": "42"}
    if callback == "get_questions":
        options = {letter: f"option {letter}" for letter in LETTERS}
        return {
            "questions": [
                {"question_number": i, "question_text": f"Is this question number {i}?", "options": options}
                for i in range(1, 21)
            ]
        }
    if callback == "get_guess":
        return {
            "opening_sentence": "A poor pivot turns quicksort into a slow algorithm.",
            "sentence_justification": filler(40),
            "associative_word": "knife",
            "word_justification": filler(25),
            "confidence": 0.7,
        }
    return {}


def identity(email: str, participant_id: str, group_id: str) -> Identity:
    """Who a machine of the link speaks for."""
    return Identity(
        email=email,
        participant_id=participant_id,
        group_id=group_id,
        display_name=f"{group_id}'s",
        seed=f"seed of {email}",
    )


def referee(rules: RuleSet = COURSE, **more: Any) -> Referee:
    """The referee of the link."""
    return Referee(
        config=RefereeConfig(
            identity=identity(REFEREE, "REF-RAVENS", "ravens"), manager_email=MANAGER, rules=rules, **more
        )
    )


def player(email: str = PLAYER1, group: str = "falcons", rules: RuleSet = COURSE, **more: Any) -> PlayerMachine:
    """A player of the link."""
    return PlayerMachine(
        config=PlayerConfig(
            identity=identity(email, f"user-{group}", group), manager_email=MANAGER, rules=rules, **more
        )
    )


def assignments(*game_ids: str, referee_email: str = REFEREE) -> tuple[Assignment, ...]:
    """The three rows of each game, always between the same two players."""
    return tuple(
        Assignment(role=role, email=email, game_id=GameId(game_id), group_id=group)
        for game_id in game_ids
        for role, email, group in (
            (AssignmentRole.PLAYER1, PLAYER1, "falcons"),
            (AssignmentRole.PLAYER2, PLAYER2, "otters"),
            (AssignmentRole.REFEREE, referee_email, "ravens"),
        )
    )


def from_manager(kind: MessageType, payload: Payload, tag: str = "1", **more: Any) -> Envelope:
    """A message of the league manager. ``tag`` tells broadcasts of one kind apart."""
    return Envelope(
        protocol=protocol_of(kind),
        message_type=kind,
        message_id=more.pop("message_id", f"lm-{kind.value}-{tag}"),
        timestamp=more.pop("timestamp", START),
        sender=Sender(email=more.pop("sender", MANAGER), role=Role.LEAGUEMANAGER, logical_id="LM001"),
        recipient_id="BROADCAST",
        payload=payload,
        league_id=more.pop("league_id", LEAGUE),
        season_id=more.pop("season_id", SEASON),
        broadcast_id=more.pop("broadcast_id", f"bc-{kind.value}-{tag}" if kind in BROADCAST_TYPES else None),
        **more,
    )


def start_season(tag: str = "1", **more: Any) -> Envelope:
    return from_manager(MessageType.BROADCAST_START_SEASON, StartSeason(season_name="Spring cup"), tag, **more)


def registration(status: RegistrationStatus = RegistrationStatus.ACCEPTED, reason: str | None = None) -> Envelope:
    payload = RegistrationResponse(status=status, reason=reason)
    return from_manager(MessageType.SEASON_REGISTRATION_RESPONSE, payload, f"{status}-{reason}")


def table(*game_ids: str, tag: str = "1", rows: Sequence[Assignment] | None = None, **more: Any) -> Envelope:
    payload = AssignmentTable(assignments=tuple(rows) if rows is not None else assignments(*(game_ids or (GAME,))))
    return from_manager(MessageType.BROADCAST_ASSIGNMENT_TABLE, payload, tag, **more)


def new_round(number: int = 2, lookup: Iterable[str] | None = None, **more: Any) -> Envelope:
    present = None if lookup is None else tuple(lookup)
    payload = NewRound(round_number=number, participant_lookup_table=present)
    tag = more.pop("tag", str(number))
    round_id = more.pop("round_id", f"{SEASON}_R{number}")
    return from_manager(MessageType.BROADCAST_NEW_LEAGUE_ROUND, payload, tag, round_id=round_id, **more)


def end_round(number: int = 2, **more: Any) -> Envelope:
    return from_manager(MessageType.BROADCAST_END_LEAGUE_ROUND, EndRound(round_number=number), str(number), **more)


def league_completed(**more: Any) -> Envelope:
    return from_manager(MessageType.LEAGUE_COMPLETED, LeagueCompleted(final_standings=()), **more)


def keep_alive(tag: str = "1", **more: Any) -> Envelope:
    return from_manager(MessageType.BROADCAST_KEEP_ALIVE, KeepAlive(), tag, **more)


def pause(tag: str = "1") -> Envelope:
    return from_manager(MessageType.BROADCAST_CRITICAL_PAUSE, CriticalPause(reason="mail outage"), tag)


def resume(tag: str = "1") -> Envelope:
    return from_manager(MessageType.BROADCAST_CRITICAL_CONTINUE, CriticalContinue(), tag)


def reset(tag: str = "1") -> Envelope:
    return from_manager(MessageType.BROADCAST_CRITICAL_RESET, CriticalReset(reason="season restarted"), tag)


def failed(call: Call, failure: Failure = Failure.RAISED) -> CallbackFailed:
    """The event of a callback that failed."""
    return CallbackFailed(call_id=call.call_id, failure=failure, detail=f"{call.callback} failed")


def check_storage(machine: Machine[Any], state: Any, former: Any) -> None:
    """Assert that a state can be stored, also by what changed since ``former`` was."""
    parts = machine.parts(state)
    dumped = {name: machine.dump_part(name, part) for name, part in parts.items()}
    assert machine.load(dumped) == state, "a state that is dumped and loaded is the same state"
    stored = {**machine.parts(former), **machine.parts(state, former)}
    kept = {name: part for name, part in stored.items() if part is not None}
    assert kept.keys() == parts.keys(), "the changes name what is new, and as None what is gone"
    assert all(machine.dump_part(name, kept[name]) == text for name, text in dumped.items()), "no change is left out"


@dataclass
class Peer:
    """One machine on the link, with everything that it ever wanted."""

    machine: Machine[Any]
    email: str
    agent: Agent = obliging
    state: Any = None
    effects: list[Effect] = field(default_factory=list)
    calls: deque[Call] = field(default_factory=deque)
    """Callbacks that were asked for and have not been answered."""

    deadlines: dict[str, datetime] = field(default_factory=dict)
    checks_storage: bool = True
    """Whether the state is dumped, loaded and compared after every step."""

    def __post_init__(self) -> None:
        if self.state is None:
            self.state = self.machine.initial()

    def step(self, event: Event, now: datetime) -> list[Effect]:
        """One step; deadlines and calls are kept, everything is returned."""
        former = self.state
        state, effects = self.machine.step(former, event, now)
        self.state = state
        if self.checks_storage:
            check_storage(self.machine, state, former)
        for effect in effects:
            if isinstance(effect, SetDeadline):
                self.deadlines[effect.name] = effect.at
            elif isinstance(effect, ClearDeadline):
                self.deadlines.pop(effect.name, None)
            elif isinstance(effect, Call):
                self.calls.append(effect)
        self.effects.extend(effects)
        return list(effects)

    def sent(self, kind: MessageType | None = None) -> list[Send]:
        """What was sent so far, repeats included."""
        sends = [effect for effect in self.effects if isinstance(effect, Send)]
        return [send for send in sends if kind is None or send.envelope.message_type is kind]

    def records(self) -> list[Record]:
        """What was recorded so far."""
        return [effect for effect in self.effects if isinstance(effect, Record)]

    def warnings(self) -> list[str]:
        """The codes of all warnings so far."""
        return [effect.code for effect in self.effects if isinstance(effect, Warn)]

    def released(self) -> list[str]:
        """The games whose agent was set free."""
        return [effect.game_id for effect in self.effects if isinstance(effect, ReleaseAgent)]


@dataclass
class Link:
    """The peers, the mail between them, and the time."""

    peers: dict[str, Peer] = field(default_factory=dict)
    now: datetime = START
    mail: dict[str, deque[Envelope]] = field(default_factory=dict)
    to_manager: list[Envelope] = field(default_factory=list)
    answers_at_once: bool = True
    """Whether callbacks return in the moment in which they are asked for."""

    after_each: Callable[[Link], None] | None = None
    """Called after every step; a place for invariants."""

    _mails: int = 0

    def add(self, machine: Machine[Any], email: str, agent: Agent = obliging) -> Peer:
        peer = self.peers[email.lower()] = Peer(machine=machine, email=email, agent=agent)
        self.mail[email.lower()] = deque()
        return peer

    def tell_all(self, *envelopes: Envelope) -> None:
        """The league manager says something to everybody, and it arrives at once."""
        for envelope in envelopes:
            for email in self.peers:
                self.tell(email, envelope)

    def tell(self, email: str, envelope: Envelope, arrived_at: datetime | None = None) -> list[Effect]:
        """Deliver one message."""
        self._mails += 1
        event = MessageArrived(envelope=envelope, mail_id=f"mail-{self._mails}", arrived_at=arrived_at or self.now)
        return self.step(email, event)

    def step(self, email: str, event: Event) -> list[Effect]:
        """One step of one peer; its mail goes into the queues, its callbacks are answered."""
        peer = self.peers[email.lower()]
        effects = peer.step(event, self.now)
        for effect in effects:
            if isinstance(effect, Send):
                for address in effect.to:
                    if address.lower() == MANAGER:
                        self.to_manager.append(effect.envelope)
                    elif address.lower() in self.mail:
                        self.mail[address.lower()].append(effect.envelope)
        if self.after_each is not None:
            self.after_each(self)
        if self.answers_at_once:
            self.answer_calls(email)
        return effects

    def answer_calls(self, email: str) -> None:
        """Run every callback that this peer waits for."""
        peer = self.peers[email.lower()]
        while peer.calls:
            self.answer(email, peer.calls.popleft())

    def answer(self, email: str, call: Call) -> list[Effect]:
        """Run one callback and hand its result in."""
        peer = self.peers[email.lower()]
        reply = peer.agent(call.callback, call.context)
        if isinstance(reply, Failure):
            return self.step(email, failed(call, reply))
        return self.step(email, CallbackReturned(call_id=call.call_id, result=reply))

    def deliver(self, email: str) -> Envelope | None:
        """Deliver the oldest message that waits for this peer."""
        queue = self.mail[email.lower()]
        if not queue:
            return None
        envelope = queue.popleft()
        self.tell(email, envelope)
        return envelope

    def run(self, limit: int = 500) -> None:
        """Deliver everything, oldest first and peer by peer, until nothing waits."""
        for _ in range(limit):
            if not any(list(map(self.deliver, self.peers))):
                return
        raise AssertionError("the peers answer each other for ever")

    def pass_time(self, duration: timedelta) -> None:
        """Let time pass; deadlines fire in their order, each after the mailbox was drained."""
        end = self.now + duration
        while True:
            due = [(at, name, email) for email, peer in self.peers.items() for name, at in peer.deadlines.items()]
            at, name, email = min(due, default=(None, "", ""))
            if at is None or at > end:
                break
            self.now = max(self.now, at)
            del self.peers[email].deadlines[name]
            self.step(email, DeadlinePassed(name=name))
        self.now = end


def open_link(rules: RuleSet = COURSE, *, game_ids: Sequence[str] = (GAME,), agent: Agent = obliging) -> Link:
    """A referee and both players, registered, with their assignments."""
    link = Link()
    link.add(referee(rules), REFEREE, agent)
    link.add(player(PLAYER1, "falcons", rules), PLAYER1, agent)
    link.add(player(PLAYER2, "otters", rules), PLAYER2, agent)
    link.tell_all(start_season(), registration(), table(*game_ids))
    return link


def again(envelope: Envelope, message_id: str) -> Envelope:
    """The same message under another id: a peer that repeats itself."""
    return evolve(envelope, message_id=message_id)


__all__ = [
    "GAME",
    "LEAGUE",
    "MANAGER",
    "PLAYER1",
    "PLAYER2",
    "REFEREE",
    "SEASON",
    "START",
    "Link",
    "Peer",
    "again",
    "assignments",
    "end_round",
    "failed",
    "filler",
    "from_manager",
    "keep_alive",
    "league_completed",
    "new_round",
    "obliging",
    "open_link",
    "pause",
    "player",
    "referee",
    "registration",
    "reset",
    "resume",
    "start_season",
    "table",
]
