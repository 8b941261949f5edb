"""Whatever happens to a machine: it raises nothing undeclared, and a state that is stored is the same state."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from league_agents.games.q21.model import Answer, Brief, Choice, Guess, Question, Scorecard
from league_agents.kit.errors import RemoteProtocolError
from league_agents.kit.ids import GameId
from league_agents.kit.violation import Violation
from league_agents.league.machines.effects import Call, ClearDeadline, Send, SetDeadline, Warn
from league_agents.league.machines.events import (
    CallbackReturned,
    Command,
    DeadlinePassed,
    Event,
    MessageArrived,
    OperatorCommand,
    Started,
)
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Role, protocol_of
from league_agents.league.wire.messages import (
    AnswersBatch,
    BrokenPayload,
    GuessCall,
    GuessSubmission,
    Hints,
    Legacy,
    Payload,
    QuestionsBatch,
    QuestionsCall,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
    WarmupResponse,
)
from tests.support.link import (
    GAME,
    MANAGER,
    PLAYER1,
    PLAYER2,
    REFEREE,
    START,
    Peer,
    assignments,
    end_round,
    failed,
    keep_alive,
    league_completed,
    new_round,
    obliging,
    pause,
    player,
    referee,
    registration,
    reset,
    resume,
    start_season,
    table,
)

SECRET = "A poor pivot turns quicksort into a slow algorithm."
QUESTION = Question(number=1, text="Is it?", options=("Yes", "No", "", "Unknown"))
GUESS = Guess(
    opening_sentence="It was.", sentence_justification="", associative_word="x", word_justification="", confidence=None
)
BRIEF = Brief(book_name="", book_hint="h", association_domain="")
GAME_PAYLOADS: tuple[tuple[MessageType, Payload], ...] = (
    (MessageType.Q21WARMUPRESPONSE, WarmupResponse(answer="42", auth_token="wrong")),
    (MessageType.Q21QUESTIONSBATCH, QuestionsBatch(questions=(QUESTION, QUESTION))),
    (MessageType.Q21QUESTIONSBATCH, QuestionsBatch(questions=())),
    (MessageType.Q21GUESSSUBMISSION, GuessSubmission(guess=GUESS)),
    (MessageType.Q21WARMUPCALL, WarmupCall(warmup_question="?", deadline=START)),
    (
        MessageType.Q21ROUNDSTART,
        RoundStart(brief=Brief(book_name="", book_hint="h", association_domain=""), deadline=None),
    ),
    (MessageType.Q21ANSWERSBATCH, AnswersBatch(answers=(Answer(number=1, choice=Choice.NOT_RELEVANT),), deadline=None)),
    (
        MessageType.Q21SCOREFEEDBACK,
        ScoreFeedback(scorecard=Scorecard(league_points=0, private_score=0.0, breakdown=None, feedback=None)),
    ),
    (MessageType.Q21_QUESTIONS_CALL, QuestionsCall(deadline=None)),
    (MessageType.Q21_GUESS_CALL, GuessCall(deadline=None)),
    (MessageType.Q21_HINTS, Hints(book_hint="a hint", association_domain=None)),
)
BROKEN = BrokenPayload(violations=(Violation(path="x", rule="y", found="z"),))
OTHER_ROWS = assignments("0302001", "0303001", referee_email="new.referee@example.com")
LEAGUE_MESSAGES: tuple[Envelope, ...] = (
    start_season(),
    start_season("2", season_id="OTHER"),
    start_season("3", season_id=None, league_id=None),
    registration(),
    table(),
    table("0302001", "0303001", "0303002", tag="2"),
    table(tag="3", rows=OTHER_ROWS),
    table(tag="4", rows=OTHER_ROWS[:2]),
    new_round(2),
    new_round(2, lookup=(PLAYER1,), tag="lookup"),
    new_round(3, lookup=()),
    new_round(3, tag="again", round_id=None, timestamp=None),
    end_round(2),
    end_round(3),
    league_completed(),
    keep_alive(),
    pause(),
    pause("2"),
    resume(),
    resume("2"),
    reset(),
)

addresses = st.sampled_from([MANAGER, REFEREE, PLAYER1, PLAYER2, PLAYER1.upper(), "stranger@example.com"])


@st.composite
def game_messages(draw: st.DrawFn) -> Envelope:
    kind, payload = draw(st.sampled_from(GAME_PAYLOADS))
    number = draw(st.integers(1, 4))
    return Envelope(
        protocol=protocol_of(kind),
        message_type=kind,
        message_id=f"{kind.value}-{number}",
        timestamp=None,
        sender=Sender(email=draw(addresses), role=draw(st.sampled_from([None, *Role]))),
        recipient_id="",
        payload=draw(st.sampled_from([payload, payload, payload, BROKEN, Legacy(fields={"x": 1})])),
        game_id=draw(st.sampled_from([GAME, GAME, GAME, None, GameId("0303001"), GameId("0101001")])),
    )


@st.composite
def league_messages(draw: st.DrawFn) -> Envelope:
    envelope = draw(st.sampled_from(LEAGUE_MESSAGES))
    change = draw(st.integers(0, 9))
    if change == 0:
        envelope = replace(envelope, payload=BROKEN)
    elif change == 1:
        envelope = replace(envelope, sender=Sender(email=draw(addresses), role=None))
    elif change == 2:
        envelope = replace(envelope, message_type=draw(st.sampled_from(MessageType)), payload=Legacy(fields={}))
    return envelope


RUBBISH: tuple[Any, ...] = (
    {},
    {"warmup_question": "     "},
    {"book_name": "", "book_hint": " " * 20, "association_word": ""},
    {"answers": [{"question_number": True, "answer": "A"}], "questions": [{}], "answer": 10**400},
    {"league_points": 9, "private_score": float("nan"), "opening_sentence": "\ud800"},
    {1: {2: 3}, "questions": {4, 5}},
)


class Machinery:
    """One machine, what it waits for, and what must hold after every step."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self.now = START
        self.mails = 0

    def happen(self, what: tuple[str, Any]) -> None:
        kind, value = what
        self.now += timedelta(seconds=7)
        before = self.peer.state
        try:
            effects = [effect for event in self.events(kind, value) for effect in self.peer.step(event, self.now)]
        except RemoteProtocolError:
            assert self.peer.state is before
            return
        for effect in effects:
            if isinstance(effect, Send):
                encode(effect.envelope)
            if self.peer.machine.role == "referee" and isinstance(effect, Send | Warn | SetDeadline | ClearDeadline):
                assert SECRET not in repr(effect), "the target leaves only in the record of a match that is over"

    def events(self, kind: str, value: Any) -> list[Event]:
        if kind == "mail":
            self.mails += 1
            envelope, late = value
            arrived_at = self.now - timedelta(seconds=late)
            return [MessageArrived(envelope=envelope, mail_id=f"m{self.mails}", arrived_at=arrived_at)]
        if kind == "call" and self.peer.calls:
            call = self.peer.calls.popleft()
            if value is None:
                return [failed(call)]
            if value == "good":
                reply: Any = obliging(call.callback, call.context)
                return [CallbackReturned(call_id=call.call_id, result=reply)] * 2
            return [CallbackReturned(call_id=call.call_id, result=value)]
        if kind == "deadline" and self.peer.deadlines:
            name = min(self.peer.deadlines, key=lambda each: (self.peer.deadlines[each], each))
            self.now = max(self.now, self.peer.deadlines.pop(name))
            return [DeadlinePassed(name=name)]
        if kind == "odd":
            return [value]
        return []


odd_events = st.sampled_from(
    [
        Started(),
        OperatorCommand(command=Command.START_ROUND, nonce="1"),
        DeadlinePassed(name="wait:0302001:player1"),
        DeadlinePassed(name="nonsense"),
        DeadlinePassed(name="wait:0302001:nobody"),
        CallbackReturned(call_id="0302001:x:get_answers:player1:1", result={}),
        CallbackReturned(call_id="", result={}),
    ]
)
happenings = st.lists(
    st.one_of(
        st.tuples(st.just("mail"), st.tuples(game_messages(), st.integers(0, 3))),
        st.tuples(st.just("mail"), st.tuples(league_messages(), st.just(0))),
        st.tuples(st.just("call"), st.one_of(st.just("good"), st.none(), st.sampled_from(RUBBISH))),
        st.tuples(st.just("call"), st.just("good")),
        st.tuples(st.just("deadline"), st.none()),
        st.tuples(st.just("odd"), odd_events),
    ),
    max_size=40,
)

OPENING = (start_season(), registration(), table(), new_round(2))
relaxed = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def opened(peer: Peer) -> Machinery:
    machinery = Machinery(peer)
    for envelope in OPENING:
        machinery.happen(("mail", (envelope, 0)))
    return machinery


@relaxed
@given(happenings)
def test_a_referee_survives_any_sequence_of_events(events: list[tuple[str, Any]]) -> None:
    machinery = opened(Peer(machine=referee(), email=REFEREE))
    for event in events:
        machinery.happen(event)
    reported = [send.envelope.message_id for send in machinery.peer.sent(MessageType.MATCH_RESULT_REPORT)]
    assert len(reported) == len(set(reported)), "one report of each match"


@relaxed
@given(happenings)
def test_a_player_survives_any_sequence_of_events(events: list[tuple[str, Any]]) -> None:
    machinery = opened(Peer(machine=player(), email=PLAYER1))
    for event in events:
        machinery.happen(event)
    reported = [send.envelope.message_id for send in machinery.peer.sent(MessageType.MATCH_RESULT_REPORT)]
    assert len(reported) == len(set(reported)), "one report of each game"


@relaxed
@given(happenings)
def test_a_machine_that_was_never_told_anything_survives_too(events: list[tuple[str, Any]]) -> None:
    for machinery in (
        Machinery(Peer(machine=referee(), email=REFEREE)),
        Machinery(Peer(machine=player(), email=PLAYER1)),
    ):
        for event in events:
            machinery.happen(event)


def test_a_step_is_a_function_of_its_arguments() -> None:
    def played() -> list[Mapping[str, str] | list[str]]:
        peer = Peer(machine=referee(), email=REFEREE)
        machinery = opened(peer)
        machinery.happen(("call", "good"))
        dumped = {name: peer.machine.dump_part(name, part) for name, part in peer.machine.parts(peer.state).items()}
        return [dumped, [repr(effect) for effect in peer.effects]]

    assert played() == played()


def test_a_step_leaves_untouched_parts_the_same_objects() -> None:
    peer = Peer(machine=referee(), email=REFEREE)
    machinery = opened(peer)
    before = peer.machine.parts(peer.state)
    call = next(effect for effect in peer.effects if isinstance(effect, Call))
    machinery.happen(("odd", CallbackReturned(call_id=call.call_id, result=obliging(call.callback, call.context))))  # type: ignore[arg-type]
    after = peer.machine.parts(peer.state)
    assert before["league"] is after["league"]
    assert before["held"] is after["held"]
    assert before[f"game/{GAME}"] is not after[f"game/{GAME}"]
