"""The player's side of its games: events in, effects out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.games.q21.as_json import guess_as_json, question_as_json
from league_agents.games.q21.model import Answer, Brief, Choice, Scorecard, Termination
from league_agents.games.q21.reading_player import read_guess, read_questions
from league_agents.games.q21.rules import COURSE
from league_agents.kit.ids import GameId
from league_agents.kit.violation import Violation
from league_agents.league.machines.effects import Call, ReleaseAgent, Send, Warn
from league_agents.league.machines.events import CallbackReturned, DeadlinePassed, Failure, MessageArrived
from league_agents.league.machines.player.game_state import GamePhase, LeagueGame
from league_agents.league.machines.player.player import PlayerMachine
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import (
    AnswersBatch,
    AssignmentRole,
    BrokenPayload,
    GuessCall,
    GuessSubmission,
    Hints,
    Payload,
    PlayerReport,
    PlayerReportStatus,
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
    SEASON,
    START,
    Peer,
    assignments,
    end_round,
    failed,
    league_completed,
    new_round,
    obliging,
    pause,
    player,
    registration,
    reset,
    resume,
    start_season,
    table,
)

BRIEF = Brief(book_name="A book", book_hint="A hint that says little", association_domain="colour")
ANSWERS = tuple(Answer(number=i, choice=Choice.NOT_RELEVANT) for i in range(1, 21))
CARD = Scorecard(league_points=2, private_score=78.5, breakdown=None, feedback=None)
DEADLINE = START + timedelta(minutes=5)
REQUESTS: dict[MessageType, Payload] = {
    MessageType.Q21WARMUPCALL: WarmupCall(warmup_question="6 times 7?", deadline=DEADLINE, auth_token="tok_1"),
    MessageType.Q21ROUNDSTART: RoundStart(brief=BRIEF, deadline=DEADLINE, auth_token="tok_1"),
    MessageType.Q21ANSWERSBATCH: AnswersBatch(answers=ANSWERS, deadline=DEADLINE, auth_token="tok_1"),
    MessageType.Q21SCOREFEEDBACK: ScoreFeedback(scorecard=CARD),
}
WARMUP, ROUND, ANSWERED, SCORE = REQUESTS


class Desk:
    """One player and its referee's messages by hand."""

    def __init__(self, machine: PlayerMachine | None = None, *, opening: tuple[Envelope, ...] | None = None) -> None:
        self.peer = Peer(machine=machine or player(), email=PLAYER1)
        self.now = START
        self.mails = 0
        for envelope in (start_season(), registration(), table(), new_round()) if opening is None else opening:
            self.mail(envelope)

    def mail(self, envelope: Envelope) -> list[Any]:
        self.mails += 1
        event = MessageArrived(envelope=envelope, mail_id=f"m{self.mails}", arrived_at=self.now)
        return self.peer.step(event, self.now)

    def told(self, kind: MessageType, payload: Payload | None = None, **more: Any) -> list[Any]:
        envelope = Envelope(
            protocol=Protocol.GAME,
            message_type=kind,
            message_id=more.pop("message_id", f"{kind.value}-1"),
            timestamp=self.now,
            sender=Sender(
                email=more.pop("sender", REFEREE),
                role=more.pop("role", Role.REFEREE),
                logical_id=more.pop("logical_id", "REF-RAVENS"),
            ),
            recipient_id="falcons",
            payload=payload or REQUESTS[kind],
            game_id=more.pop("game_id", GAME),
        )
        return self.mail(envelope)

    def answer(self, reply: Any = None) -> list[Any]:
        call = self.peer.calls.popleft()
        if isinstance(reply, Failure):
            return self.peer.step(failed(call, reply), self.now)
        result = reply if reply is not None else obliging(call.callback, call.context)
        return self.peer.step(CallbackReturned(call_id=call.call_id, result=result), self.now)

    def played(self, *kinds: MessageType) -> Desk:
        for kind in kinds:
            self.told(kind)
            self.answer()
        return self

    def wait(self, seconds: float) -> list[Any]:
        end = self.now + timedelta(seconds=seconds)
        effects: list[Any] = []
        while due := [(at, name) for name, at in self.peer.deadlines.items() if at <= end]:
            self.now, name = min(due)
            del self.peer.deadlines[name]
            effects += self.peer.step(DeadlinePassed(name=name), self.now)
        self.now = end
        return effects

    @property
    def game(self) -> LeagueGame:
        game: LeagueGame = self.peer.state.games[GAME]
        return game

    def report(self) -> PlayerReport:
        (send,) = self.peer.sent(MessageType.MATCH_RESULT_REPORT)
        encode(send.envelope)
        assert isinstance(send.envelope.payload, PlayerReport)
        assert send.to == (MANAGER,)
        return send.envelope.payload


def sent(effects: list[Any]) -> list[Send]:
    return [each for each in effects if isinstance(each, Send)]


def codes(effects: list[Any]) -> list[str]:
    return [each.code for each in effects if isinstance(each, Warn)]


def calls(effects: list[Any]) -> list[Call]:
    return [each for each in effects if isinstance(each, Call)]


# The normal game.


def test_each_request_gets_its_reply_at_the_address_it_came_from() -> None:
    desk = Desk()
    for kind, reply, phase in (
        (WARMUP, MessageType.Q21WARMUPRESPONSE, GamePhase.WARMUP_COMPLETE),
        (ROUND, MessageType.Q21QUESTIONSBATCH, GamePhase.QUESTIONS_SENT),
        (ANSWERED, MessageType.Q21GUESSSUBMISSION, GamePhase.GUESS_SUBMITTED),
    ):
        desk.told(kind, sender=REFEREE.upper())
        (send,) = sent(desk.answer())
        envelope = send.envelope
        assert (envelope.message_type, send.to, envelope.correlation_id) == (
            reply,
            (REFEREE.upper(),),
            f"{kind.value}-1",
        )
        assert envelope.payload.auth_token == "tok_1"  # type: ignore[union-attr]
        assert (envelope.sender.logical_id, envelope.recipient_id, envelope.game_id) == ("falcons", "REF-RAVENS", GAME)
        assert desk.game.phase is phase
        encode(envelope)


@pytest.mark.parametrize("length", [200, 201, 254])
def test_a_referee_without_a_name_is_answered_however_long_its_address(length: int) -> None:
    address = f"r@{'x' * 60}.{'y' * 60}.{'z' * 60}."
    address += "w" * (length - len(address))
    desk = Desk(opening=(start_season(), table(rows=assignments(GAME, referee_email=address)), new_round()))
    desk.told(WARMUP, sender=address, logical_id=None)
    (send,) = sent(desk.answer())
    assert send.to == (address,)
    assert encode(send.envelope)["recipient_id"] == address[:200]


def test_the_score_ends_the_game_with_a_report_and_then_frees_the_agent() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    effects = desk.told(SCORE)
    assert [call.callback for call in calls(effects)] == ["on_score_received"]
    assert desk.peer.released() == []
    assert desk.answer({}) == [ReleaseAgent(game_id=GAME)]
    assert desk.report() == PlayerReport(
        status=desk.report().status,
        phase_at_termination="COMPLETED",
        last_actor="NONE",
        reason="GAME_COMPLETED",
        round_number=2,
        last_message_sent="Q21GUESSSUBMISSION",
        last_message_received="Q21SCOREFEEDBACK",
        reported_at=START,
        league_points=2,
        private_score=78.5,
    )
    (record,) = desk.peer.records()
    assert (record.kind, record.key, record.termination) == ("game", GAME, Termination.COMPLETED)


def test_a_player_may_be_told_to_send_no_reports() -> None:
    desk = Desk(player(sends_player_report=False)).played(WARMUP, ROUND, ANSWERED, SCORE)
    assert desk.peer.sent(MessageType.MATCH_RESULT_REPORT) == []


# Contexts (protocol 6.2).


def test_every_callback_is_told_everything_that_the_protocol_lists() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED, SCORE)
    told: dict[str, Any] = {call.callback: call.context for call in calls(desk.peer.effects)}
    shared = {
        "match_id": GAME,
        "game_id": GAME,
        "season_id": SEASON,
        "round_number": 2,
        "referee_email": REFEREE,
        "my_role": "PLAYER1",
        "opponent_email": PLAYER2,
    }
    for context in told.values():
        assert shared.items() <= context["dynamic"].items()
        assert {"name", "description", "required_output_fields", "deadline_seconds", "match_id", "game_id"} == set(
            context["service"]
        )
    own = {name: set(context["dynamic"]) - set(shared) - {"deadline", "auth_token"} for name, context in told.items()}
    book = {"book_name", "book_hint", "association_word"}
    assert own == {
        "get_warmup_answer": {"warmup_question"},
        "get_questions": book | {"questions_required"},
        "get_guess": book | {"answers", "questions_sent"},
        "on_score_received": {"league_points", "private_score", "breakdown", "feedback"},
    }
    guess = told["get_guess"]["dynamic"]
    assert guess["book_name"] == "A book", "filled from the stored round start"
    assert len(guess["questions_sent"]) == len(guess["answers"]) == 20
    assert guess["answers"][0] == {"question_number": 1, "answer": "Not Relevant"}
    assert guess["auth_token"] == "tok_1"
    assert told["on_score_received"]["dynamic"]["feedback"] == {}
    assert [context["service"]["name"] for context in told.values()] == [
        "warmup_answer",
        "questions",
        "guess",
        "score_notification",
    ]


@pytest.mark.parametrize(
    ("deadline", "timeout"),
    [
        (START + timedelta(minutes=5), 25.0),  # the callback's own limit
        (START + timedelta(seconds=15), 10.0),  # what is left, minus the margin for sending
        (START + timedelta(seconds=2), 1.0),
        (START - timedelta(hours=1), 1.0),  # overdue: answer anyway, and at once
        (None, 25.0),
    ],
)
def test_a_callback_never_gets_more_time_than_its_message_leaves(deadline: datetime | None, timeout: float) -> None:
    (call,) = calls(Desk().told(ROUND, RoundStart(brief=BRIEF, deadline=deadline)))
    assert call.timeout.total_seconds() == timeout
    service: Any = call.context["service"]
    assert service["deadline_seconds"] == int(timeout)


# The request decides (protocol 5.6).


@pytest.mark.parametrize("kind", [WARMUP, ROUND, ANSWERED])
@pytest.mark.parametrize("before", [(), (WARMUP,), (WARMUP, ROUND)])
def test_any_request_is_answered_in_any_open_phase(kind: MessageType, before: tuple[MessageType, ...]) -> None:
    desk = Desk().played(*before)
    desk.told(kind, message_id="again")
    if kind in before:
        assert not desk.peer.calls, "it was answered before; the stored reply went out"
    else:
        assert len(sent(desk.answer())) == 1


def test_requests_in_the_wrong_order_never_take_the_game_back() -> None:
    desk = Desk().played(ROUND)
    assert desk.game.phase is GamePhase.QUESTIONS_SENT
    desk.played(WARMUP)
    assert desk.game.phase is GamePhase.QUESTIONS_SENT
    desk.played(ANSWERED)
    assert desk.game.phase is GamePhase.GUESS_SUBMITTED


@pytest.mark.parametrize("before", [(), (WARMUP,), (WARMUP, ROUND), (WARMUP, ROUND, ANSWERED)])
def test_a_score_ends_the_game_in_any_open_phase(before: tuple[MessageType, ...]) -> None:
    desk = Desk().played(*before)
    desk.told(SCORE)
    assert desk.game.phase is GamePhase.COMPLETED


def test_a_score_that_cannot_be_read_ends_the_game_too() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    desk.told(SCORE, BrokenPayload(violations=(Violation(path="private_score", rule="a number", found="'x'"),)))
    assert desk.game.phase is GamePhase.COMPLETED
    assert desk.report().private_score is None


def test_a_score_while_the_guess_is_being_worked_out_makes_the_guess_void() -> None:
    desk = Desk().played(WARMUP, ROUND)
    desk.told(ANSWERED)
    desk.told(SCORE)
    assert codes(desk.answer()) == ["late_result"]
    assert desk.peer.sent(MessageType.Q21GUESSSUBMISSION) == []


def test_the_referee_decides_how_many_questions_it_wants() -> None:
    desk = Desk()
    desk.told(ROUND, RoundStart(brief=BRIEF, deadline=DEADLINE, questions_required=5))
    (send,) = sent(desk.answer())
    assert isinstance(send.envelope.payload, QuestionsBatch)
    assert len(send.envelope.payload.questions) == 5


# Repeats.


def test_a_repeated_request_gets_the_stored_reply_under_its_own_name() -> None:
    desk = Desk().played(WARMUP, ROUND)
    (first,) = desk.peer.sent(MessageType.Q21QUESTIONSBATCH)
    effects = desk.told(ROUND, RoundStart(brief=BRIEF, deadline=DEADLINE + timedelta(hours=1)), message_id="again")
    assert calls(effects) == []
    (repeat,) = sent(effects)
    assert repeat.is_repeat
    assert repeat.envelope == replace(first.envelope, correlation_id="again")


def test_a_request_that_comes_again_while_it_is_being_answered_is_answered_once() -> None:
    desk = Desk()
    desk.told(ROUND)
    assert codes(desk.told(ROUND, message_id="again")) == ["duplicate_message"]
    assert len(desk.peer.calls) == 1


def test_a_closed_game_still_repeats_its_replies_within_the_round() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED, SCORE)
    assert len(sent(desk.told(ANSWERED, message_id="again"))) == 1
    desk.mail(new_round(3))
    assert codes(desk.told(ANSWERED, message_id="once more")) == ["past_round"]


def test_a_closed_game_answers_nothing_new() -> None:
    desk = Desk().played(WARMUP)
    desk.mail(end_round())
    assert codes(desk.told(ROUND)) == ["closed_game"]
    assert codes(desk.told(SCORE)) == ["closed_game"]
    assert desk.game.phase is GamePhase.TERMINATED


def test_a_referee_that_repeats_itself_for_ever_is_not_answered_for_ever() -> None:
    desk = Desk(player(repeat_limit=2)).played(WARMUP)
    again = [len(sent(desk.told(WARMUP, message_id=f"w{i}"))) for i in range(5)]
    assert again == [1, 1, 0, 0, 0]


# The guess is sent again until the score comes (protocol 4.4.6).


def test_the_guess_goes_out_every_fifteen_seconds_at_most_ten_times() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    (first,) = desk.peer.sent(MessageType.Q21GUESSSUBMISSION)
    assert [send.envelope for send in sent(desk.wait(44))] == [first.envelope] * 2
    assert len(sent(desk.wait(10_000))) == 8
    assert desk.peer.deadlines == {}


def test_a_pause_takes_no_time_from_the_wait_for_the_next_guess() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    desk.wait(5)
    desk.mail(pause())
    assert sent(desk.wait(100)) == []
    desk.mail(resume())
    assert sent(desk.wait(9)) == []
    assert len(sent(desk.wait(1))) == 1


def test_the_guess_is_not_sent_again_after_its_deadline() -> None:
    desk = Desk().played(WARMUP, ROUND)
    desk.told(ANSWERED, AnswersBatch(answers=ANSWERS, deadline=START + timedelta(seconds=40)))
    desk.answer()
    assert len(sent(desk.wait(1000))) == 2


@pytest.mark.parametrize("ending", [new_round(3), end_round(), league_completed()])
def test_the_guess_is_not_sent_again_after_the_round(ending: Envelope) -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    desk.mail(ending)
    assert desk.peer.deadlines == {}
    assert sent(desk.wait(1000)) == []


# Failures are repaired (protocol 6.2).


@pytest.mark.parametrize("reply", [Failure.RAISED, Failure.TIMED_OUT, Failure.NOT_A_DICT, {}, {"questions": "none"}])
def test_questions_are_always_sent_and_always_valid(reply: Any) -> None:
    desk = Desk()
    desk.told(ROUND)
    (send,) = sent(desk.answer(reply))
    assert isinstance(send.envelope.payload, QuestionsBatch)
    questions = [question_as_json(question) for question in send.envelope.payload.questions]
    assert read_questions({"questions": questions}, COURSE).remarks == []


@pytest.mark.parametrize("reply", [Failure.RAISED, Failure.TIMED_OUT, {}, {"opening_sentence": 7, "confidence": 5}])
def test_a_guess_is_always_sent_and_always_valid(reply: Any) -> None:
    desk = Desk().played(WARMUP, ROUND)
    desk.told(ANSWERED)
    (send,) = sent(desk.answer(reply))
    assert isinstance(send.envelope.payload, GuessSubmission)
    assert read_guess(guess_as_json(send.envelope.payload.guess), COURSE).remarks == []


def test_placeholders_in_place_of_unusable_results_are_warned_of() -> None:
    desk = Desk()
    desk.told(ROUND)
    given = [{"question_number": 1, "question_text": "Is it raining there?"}, {"questiontext": "Is it?"}]
    effects = desk.answer({"questions": given})
    assert set(codes(effects)) == {"result_repaired"}
    assert "found 1 that can be used; 19 placeholders are asked" in str(effects)
    desk.told(ANSWERED)
    effects = desk.answer({"opening_sentence": "It rained.", "associative_word": "rain", "word_justification": "Wet."})
    assert codes(effects) == ["result_repaired", "result_repaired"]
    assert "sentence_justification: must be a text (protocol 6.2), found None" in str(effects)
    assert "word_justification: must be 20 to 30 words (protocol 6.2), found 1 words; it is lengthened" in str(effects)


def test_whole_results_are_not_warned_of() -> None:
    desk = Desk()
    desk.told(ROUND)
    asked = [f"Does the opening sentence have more than {number} words?" for number in range(20)]
    options = {"A": "Yes", "B": "No", "C": "In part", "D": "Unknown"}
    assert codes(desk.answer({"questions": [{"question_text": text, "options": options} for text in asked]})) == []


def test_a_result_of_which_nothing_can_be_used_is_a_failure() -> None:
    desk = Desk()
    desk.told(ROUND)
    effects = desk.answer({"question": "Is it raining there?"})
    assert codes(effects) == ["callback_failed"]
    assert "questions: must be a list of at most 200 items (protocol 6.2), found None" in str(effects)
    assert "placeholder questions are asked" in str(effects)


@pytest.mark.parametrize(("reply", "answer"), [(Failure.RAISED, "0"), ({}, "0"), ({"answer": 42}, "42")])
def test_a_warmup_call_is_always_answered(reply: Any, answer: str) -> None:
    desk = Desk()
    desk.told(WARMUP)
    (send,) = sent(desk.answer(reply))
    assert isinstance(send.envelope.payload, WarmupResponse)
    assert send.envelope.payload.answer == answer


def test_a_failing_last_callback_is_only_a_warning() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    desk.told(SCORE)
    effects = desk.answer(Failure.RAISED)
    assert codes(effects) == ["callback_failed"]
    assert effects[-1] == ReleaseAgent(game_id=GAME)


# Who may ask, and about which game (protocol 2.6 and 5.6).


@pytest.mark.parametrize(
    ("sender", "kind"),
    [
        ("stranger@example.com", WARMUP),
        (PLAYER2, ROUND),
        (MANAGER, SCORE),
    ],
)
@pytest.mark.parametrize("before", [(), (WARMUP,)])
def test_only_the_games_own_referee_is_obeyed(sender: str, kind: MessageType, before: tuple[MessageType, ...]) -> None:
    desk = Desk().played(*before)
    state = desk.peer.state
    effects = desk.told(kind, sender=sender)
    assert desk.peer.state is state
    assert len(effects) == 1
    assert codes(effects)[0] in ("wrong_sender", "unknown_game")


def test_types_that_referees_may_not_send_change_nothing() -> None:
    desk = Desk()
    state = desk.peer.state
    assert codes(desk.told(MessageType.Q21QUESTIONSBATCH, QuestionsBatch(questions=()))) == ["wrong_sender"]
    assert codes(desk.told(MessageType.GAME_INVITATION, BrokenPayload(violations=()))) == ["wrong_sender"]
    assert desk.peer.state is state


def test_a_game_of_the_table_opens_without_the_rounds_broadcast() -> None:
    desk = Desk(opening=(start_season(), table())).played(WARMUP)
    assert desk.game.own_role == "player1"
    desk.mail(new_round())
    assert desk.game.phase is GamePhase.WARMUP_COMPLETE, "the broadcast that comes late leaves it alone"


def test_a_game_that_the_table_does_not_know_is_ignored() -> None:
    desk = Desk()
    assert codes(desk.told(WARMUP, game_id=GameId("0302009"))) == ["unknown_game"]


def test_without_any_table_a_player_plays_with_who_says_that_it_is_a_referee() -> None:
    desk = Desk(opening=())
    assert codes(desk.told(WARMUP, role=Role.PLAYER)) == ["wrong_sender"]
    assert codes(desk.told(WARMUP, role=None)) == ["wrong_sender"]
    desk.played(WARMUP)
    assert codes(desk.told(ROUND, sender="another@example.com")) == ["wrong_sender"]
    desk.played(ROUND, ANSWERED, SCORE)
    assert desk.game.phase is GamePhase.COMPLETED


STRANGER = "evil@x.test"


@pytest.mark.parametrize("before", [(), (start_season(),), (start_season(), table(), new_round(), reset())], ids=len)
@pytest.mark.parametrize(
    "lure", [(WARMUP,), (ROUND,), (ANSWERED,), (WARMUP, SCORE)], ids=["warm-up", "round", "answers", "score"]
)
@pytest.mark.parametrize("is_answered", [True, False])
@pytest.mark.parametrize(
    "season",
    [(table(tag="new"), new_round(tag="new")), (new_round(tag="new"), table(tag="new"))],
    ids=["table first", "round first"],
)
def test_a_stranger_who_writes_before_the_table_takes_over_no_game(
    before: tuple[Envelope, ...], lure: tuple[MessageType, ...], is_answered: bool, season: tuple[Envelope, ...]
) -> None:
    desk = Desk(opening=before)
    for kind in lure:
        desk.told(kind, sender=STRANGER)
        if is_answered:
            desk.answer()
    for envelope in season:
        desk.mail(envelope)
    before_referee = len(desk.peer.effects)
    late = [desk.answer() for _ in list(desk.peer.calls)]
    assert not any(sent(effects) for effects in late), "what the stranger asked for is not sent any more"
    assert codes(desk.told(ROUND, sender=STRANGER)) == ["wrong_sender"]
    assert desk.peer.deadlines == {}
    desk.played(WARMUP, ROUND, ANSWERED, SCORE)
    told = sent(desk.peer.effects[before_referee:])
    assert [send.to for send in told] == [(REFEREE,)] * 3 + [(MANAGER,)]
    assert not any(send.is_repeat for send in told)
    assert (desk.game.phase, desk.game.referee_email, desk.game.own_role) == (
        GamePhase.COMPLETED,
        REFEREE,
        AssignmentRole.PLAYER1,
    )
    assert desk.report().status is PlayerReportStatus.COMPLETED


def test_a_stranger_who_says_what_the_referee_will_say_makes_no_reply_look_sent() -> None:
    desk = Desk(opening=(start_season(),))
    desk.told(WARMUP, sender=STRANGER)
    (to_stranger,) = sent(desk.answer())
    desk.mail(table())
    desk.told(WARMUP)
    (to_referee,) = sent(desk.answer())
    assert to_referee.envelope.message_id != to_stranger.envelope.message_id


def test_a_game_that_no_table_names_is_not_reported_to_the_league_manager() -> None:
    desk = Desk(opening=(start_season(),)).played(WARMUP, SCORE)
    assert desk.game.phase is GamePhase.COMPLETED
    assert desk.peer.sent(MessageType.MATCH_RESULT_REPORT) == []


def test_a_table_confirms_the_referee_who_wrote_before_it() -> None:
    desk = Desk(opening=(start_season(),)).played(WARMUP)
    desk.mail(table())
    desk.played(ROUND)
    assert [send.to for send in desk.peer.sent()[-2:]] == [(MANAGER,), (REFEREE,)]
    assert (desk.game.phase, desk.game.own_role) == (GamePhase.QUESTIONS_SENT, AssignmentRole.PLAYER1)
    assert (desk.game.opponent_email, desk.game.own_group) == (PLAYER2, "falcons")


def test_a_table_that_names_the_referee_at_last_ends_what_a_stranger_began_without_one() -> None:
    rows = tuple(row for row in assignments(GAME) if row.role is not AssignmentRole.REFEREE)
    desk = Desk(opening=(start_season(), table(rows=rows), new_round()))
    desk.told(WARMUP, sender=STRANGER)
    desk.answer()
    desk.mail(table(tag="2"))
    desk.played(WARMUP, ROUND)
    assert (desk.game.phase, desk.game.referee_email) == (GamePhase.QUESTIONS_SENT, REFEREE)


def test_strangers_cannot_open_games_without_end() -> None:
    desk = Desk(player(unassigned_limit=2), opening=())
    for i in range(1, 6):
        desk.told(WARMUP, game_id=GameId(f"010100{i}"), sender=f"s{i}@example.com")
    assert len(desk.peer.state.games) == 2


def test_a_message_that_names_no_game_belongs_to_the_referees_only_one() -> None:
    desk = Desk()
    desk.told(WARMUP, game_id=None)
    desk.answer()
    assert desk.game.phase is GamePhase.WARMUP_COMPLETE
    assert codes(desk.told(WARMUP, game_id=None, sender="stranger@example.com")) == ["unclear_game"]


def test_a_new_table_changes_the_referee_of_a_game_that_was_not_started() -> None:
    desk = Desk()
    desk.mail(table(tag="2", rows=assignments(GAME, referee_email="gavel@example.com")))
    assert codes(desk.told(WARMUP)) == ["wrong_sender"]
    desk.told(WARMUP, sender="gavel@example.com")
    assert desk.game.referee_email == "gavel@example.com"


def test_a_new_table_leaves_a_started_game_alone() -> None:
    desk = Desk().played(WARMUP)
    desk.mail(table(tag="2", rows=assignments(GAME, referee_email="gavel@example.com")))
    desk.played(ROUND)
    assert desk.game.phase is GamePhase.QUESTIONS_SENT


@pytest.mark.parametrize("ending", [new_round(3), league_completed()], ids=["new round", "end"])
def test_an_agent_that_hears_its_score_after_the_game_was_forgotten_is_no_oddity(ending: Envelope) -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    desk.told(SCORE)
    desk.mail(ending)  # as it is read first after a restart, when the mailbox is full and the callback runs again
    assert desk.answer({}) == []


def test_an_agent_that_fails_to_hear_its_score_after_the_game_was_forgotten_is_told_of() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    desk.told(SCORE)
    desk.mail(league_completed())
    assert codes(desk.answer(Failure.RAISED)) == ["callback_failed"]


# Endings that others decide.


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (new_round(3), "NEW_ROUND_STARTED"),
        (end_round(), "END_ROUND_RECEIVED"),
        (league_completed(), "LEAGUE_COMPLETED"),
    ],
)
@pytest.mark.parametrize(
    ("before", "phase", "actor"),
    [
        ((), "INITIALIZED", "NONE"),
        ((WARMUP,), "WARMUP_COMPLETE", "PLAYER"),
        ((WARMUP, ROUND), "QUESTIONS_SENT", "PLAYER"),
    ],
)
def test_a_game_that_is_cut_off_is_reported(
    ending: Envelope, reason: str, before: tuple[MessageType, ...], phase: str, actor: str
) -> None:
    desk = Desk().played(*before)
    desk.mail(ending)
    report = desk.report()
    assert (report.status, report.phase_at_termination, report.last_actor, report.reason) == (
        "TERMINATED",
        phase,
        actor,
        reason,
    )
    assert desk.peer.released() == [GAME]


def test_the_end_of_another_round_leaves_the_game_open() -> None:
    desk = Desk().played(WARMUP)
    desk.mail(end_round(1))
    assert desk.game.is_open


# Older messages (protocol 4.6).


def test_a_questions_call_repeats_the_round_start() -> None:
    desk = Desk()
    call = QuestionsCall(deadline=DEADLINE)
    assert codes(desk.told(MessageType.Q21_QUESTIONS_CALL, call)) == ["book_unknown"]
    desk.told(MessageType.Q21_HINTS, Hints(book_hint="a hint", association_domain="colour", book_name="A book"))
    desk.told(MessageType.Q21_QUESTIONS_CALL, call)
    assert len(sent(desk.answer())) == 1
    assert len(sent(desk.told(MessageType.Q21_QUESTIONS_CALL, call, message_id="again"))) == 1


def test_a_guess_call_gets_the_stored_guess_if_there_is_one() -> None:
    desk = Desk().played(WARMUP, ROUND)
    assert sent(desk.told(MessageType.Q21_GUESS_CALL, GuessCall(deadline=DEADLINE))) == []
    desk.played(ANSWERED)
    (send,) = sent(desk.told(MessageType.Q21_GUESS_CALL, GuessCall(deadline=DEADLINE)))
    assert send.is_repeat


def test_hints_fill_in_what_the_round_start_left_out() -> None:
    desk = Desk()
    desk.told(
        ROUND, RoundStart(brief=Brief(book_name="A book", book_hint="", association_domain=""), deadline=DEADLINE)
    )
    desk.answer()
    desk.told(MessageType.Q21_HINTS, Hints(book_hint="a hint", association_domain="colour"))
    assert desk.game.brief == Brief(book_name="A book", book_hint="a hint", association_domain="colour")
    desk.told(MessageType.Q21_HINTS, Hints(book_hint="another", association_domain="shape"))
    assert desk.game.brief == Brief(book_name="A book", book_hint="a hint", association_domain="colour")


def test_a_guess_result_is_a_score() -> None:
    desk = Desk().played(WARMUP, ROUND, ANSWERED)
    desk.told(MessageType.Q21_GUESS_RESULT, ScoreFeedback(scorecard=CARD))
    assert desk.game.phase is GamePhase.COMPLETED
