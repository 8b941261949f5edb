"""The referee's side of one match: events in, effects out."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from league_agents.games.q21.flow import SeatPhase
from league_agents.games.q21.model import Choice, Question, Termination
from league_agents.games.q21.rules import COURSE
from league_agents.kit.ids import GameId
from league_agents.kit.violation import Violation
from league_agents.league.machines.effects import Call, Record, ReleaseAgent, Send, SetDeadline, Warn
from league_agents.league.machines.events import CallbackReturned, DeadlinePassed, Failure, MessageArrived, SentLate
from league_agents.league.machines.referee.match_state import OpenMatch
from league_agents.league.machines.referee.referee import Referee
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import (
    AnswersBatch,
    BrokenPayload,
    GuessSubmission,
    MatchReport,
    Payload,
    QuestionsBatch,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
    WarmupResponse,
)
from tests.support.link import (
    GAME,
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
    referee,
    registration,
    start_season,
    table,
)

BROKEN = BrokenPayload(violations=(Violation(path="questions", rule="a list", found="7"),))
OPTIONS = ("Yes", "No", "Partly", "Unknown")
QUESTIONS = tuple(Question(number=i, text=f"Is it number {i}?", options=OPTIONS) for i in range(1, 21))


class Bench:
    """A referee with one open match, and the players' messages by hand."""

    def __init__(
        self, machine: Referee | None = None, lookup: tuple[str, ...] | None = None, **round_more: Any
    ) -> None:
        self.peer = Peer(machine=machine or referee(), email=REFEREE)
        self.now = START
        self.mails = 0
        for envelope in (start_season(), registration(), table()):
            self.mail(envelope)
        self.effects = self.mail(new_round(lookup=lookup, **round_more))

    def mail(self, envelope: Envelope, arrived_at: datetime | None = None) -> list[Any]:
        self.mails += 1
        event = MessageArrived(envelope=envelope, mail_id=f"m{self.mails}", arrived_at=arrived_at or self.now)
        return self.peer.step(event, self.now)

    def say(self, email: str, kind: MessageType, payload: Payload, message_id: str = "", **more: Any) -> list[Any]:
        arrived_at = more.pop("arrived_at", None)
        envelope = Envelope(
            protocol=Protocol.GAME,
            message_type=kind,
            message_id=message_id or f"{kind.value}-of-{email}",
            timestamp=self.now,
            sender=Sender(email=email, role=Role.PLAYER),
            recipient_id="REF-RAVENS",
            payload=payload,
            game_id=more.pop("game_id", GAME),
        )
        return self.mail(envelope, arrived_at)

    def warm_up(self, email: str, **more: Any) -> list[Any]:
        return self.say(email, MessageType.Q21WARMUPRESPONSE, WarmupResponse(answer="42"), **more)

    def ask(self, email: str, questions: tuple[Question, ...] = QUESTIONS, **more: Any) -> list[Any]:
        return self.say(email, MessageType.Q21QUESTIONSBATCH, QuestionsBatch(questions=questions), **more)

    def guess(self, email: str, **more: Any) -> list[Any]:
        from_agent = obliging("get_guess", {"dynamic": {}})
        assert not isinstance(from_agent, Failure)
        guess = GuessSubmission(guess=_guess(from_agent))
        return self.say(email, MessageType.Q21GUESSSUBMISSION, guess, **more)

    def answer(self, reply: Any = None) -> list[Any]:
        """The oldest callback returns ``reply``, or what an obliging agent says."""
        call = self.peer.calls.popleft()
        if isinstance(reply, Failure):
            return self.peer.step(failed(call, reply), self.now)
        result = reply if reply is not None else obliging(call.callback, call.context)
        return self.peer.step(CallbackReturned(call_id=call.call_id, result=result), self.now)

    def wait(self, seconds: float) -> list[Any]:
        """Time passes; due deadlines fire, earliest first."""
        end = self.now + timedelta(seconds=seconds)
        effects: list[Any] = []
        while due := [(at, name) for name, at in self.peer.deadlines.items() if at <= end]:
            self.now, name = min(due)
            del self.peer.deadlines[name]
            effects += self.peer.step(DeadlinePassed(name=name), self.now)
        self.now = end
        return effects

    def started(self) -> Bench:
        self.answer()
        self.warm_up(PLAYER1)
        self.warm_up(PLAYER2)
        self.answer()
        return self

    def answered(self, email: str) -> Bench:
        self.ask(email)
        self.answer()
        return self

    @property
    def match(self) -> OpenMatch | None:
        return self.peer.state.matches.get(GAME)

    def phases(self) -> tuple[SeatPhase, ...] | None:
        return None if self.match is None else tuple(seat.phase for seat in self.match.seats)

    def reports(self) -> list[MatchReport]:
        sends = self.peer.sent(MessageType.MATCH_RESULT_REPORT)
        return [send.envelope.payload for send in sends if isinstance(send.envelope.payload, MatchReport)]

    def report_document(self) -> Mapping[str, Any]:
        (send,) = self.peer.sent(MessageType.MATCH_RESULT_REPORT)
        payload = encode(send.envelope)["payload"]
        assert isinstance(payload, dict)
        return payload


def _guess(result: Mapping[str, Any]) -> Any:
    from league_agents.games.q21.model import Guess

    return Guess(**{key: result[key] for key in Guess.__struct_fields__})


def terminations(bench: Bench) -> list[object]:
    (record,) = bench.peer.records()
    players: Any = record.facts["players"]
    return [player["termination"] for player in players]


def sends(effects: list[Any]) -> list[tuple[MessageType, tuple[str, ...]]]:
    return [(each.envelope.message_type, each.to) for each in effects if isinstance(each, Send)]


def codes(effects: list[Any]) -> list[str]:
    return [each.code for each in effects if isinstance(each, Warn)]


def calls(effects: list[Any]) -> list[str]:
    return [each.callback for each in effects if isinstance(each, Call)]


# The normal match.


def test_a_round_begins_with_the_warmup_question_and_no_mail() -> None:
    bench = Bench()
    assert calls(bench.effects) == ["get_warmup_question"]
    assert sends(bench.effects) == []


def test_the_warmup_call_goes_to_both_with_a_deadline_of_its_own() -> None:
    bench = Bench()
    effects = bench.answer()
    assert sends(effects) == [(MessageType.Q21WARMUPCALL, (PLAYER1,)), (MessageType.Q21WARMUPCALL, (PLAYER2,))]
    one, two = (each.envelope for each in effects if isinstance(each, Send))
    assert isinstance(one.payload, WarmupCall)
    assert one.payload == two.payload, "the same question, deadline and token for both"
    assert one.payload.deadline == START + COURSE.warmup_wait
    assert one.message_id.startswith("warmup-0302001-falcons-")
    assert one.recipient_id == "falcons"
    waits = {each.name: each.at for each in effects if isinstance(each, SetDeadline) and each.name.startswith("wait")}
    assert set(waits.values()) == {START + COURSE.warmup_wait + COURSE.grace}


def test_only_the_round_start_waits_for_the_other_player() -> None:
    bench = Bench()
    bench.answer()
    assert calls(bench.warm_up(PLAYER1)) == []
    assert calls(bench.warm_up(PLAYER2)) == ["get_round_start_info"]
    bench.answer()
    assert calls(bench.ask(PLAYER2)) == ["get_answers"]
    assert sends(bench.answer()) == [(MessageType.Q21ANSWERSBATCH, (PLAYER2,))]
    assert calls(bench.guess(PLAYER2)) == ["get_score_feedback"]
    assert sends(bench.answer()) == [(MessageType.Q21SCOREFEEDBACK, (PLAYER2,))]
    assert bench.phases() == (SeatPhase.STARTED, SeatPhase.SCORED)


def test_a_match_ends_in_one_report_one_record_and_a_free_agent() -> None:
    bench = Bench().started()
    for email in (PLAYER1, PLAYER2):
        bench.answered(email)
        bench.guess(email)
        effects = bench.answer()
    assert bench.match is None
    assert [type(each) for each in effects][-2:] == [Record, ReleaseAgent]
    record = next(each for each in effects if isinstance(each, Record))
    assert record.termination is Termination.COMPLETED
    assert record.facts["target"] == {
        "book_name": "Lecture 4: Sorting",
        "opening_sentence": "A poor pivot turns quicksort into a slow algorithm.",
        "associative_word": "knife",
    }
    report = bench.report_document()
    assert set(report) == {"match_id", "status", "winner_id", "is_draw", "scores"}
    told = [encode(each.envelope)["payload"] for each in bench.peer.sent(MessageType.Q21SCOREFEEDBACK)]
    assert [row["feedback"] for row in report["scores"]] == [each["feedback"] for each in told]
    assert bench.peer.deadlines == {}


def test_answers_and_feedback_name_the_message_that_they_answer() -> None:
    bench = Bench().started()
    bench.ask(PLAYER1, message_id="q-1")
    (answers,) = [each for each in bench.answer() if isinstance(each, Send)]
    assert (answers.envelope.correlation_id, answers.game_id) == ("q-1", GAME)
    bench.guess(PLAYER1, message_id="g-1")
    (score,) = [each for each in bench.answer() if isinstance(each, Send)]
    assert score.envelope.correlation_id == "g-1"


@pytest.mark.parametrize(
    ("length", "round_id"), [(len(SEASON), f"{SEASON}_R2"), (196, "s" * 195 + "x_R2"), (198, ""), (200, "")]
)
def test_a_report_names_the_round_as_well_as_its_season_allows(length: int, round_id: str) -> None:
    season = SEASON if length == len(SEASON) else "s" * (length - 1) + "x"
    peer = Peer(machine=referee(), email=REFEREE)
    more = {"season_id": season}
    for envelope in (table(**more), new_round(round_id=None, **more), league_completed(**more)):
        peer.step(MessageArrived(envelope=envelope, mail_id=envelope.message_id, arrived_at=START), START)
    (send,) = peer.sent(MessageType.MATCH_RESULT_REPORT)
    document = encode(send.envelope)
    assert (document["season_id"], document["round_id"]) == (season, round_id)


@pytest.mark.parametrize("length", [200, 201, 254])
def test_a_player_without_a_group_is_written_to_however_long_its_address(length: int) -> None:
    address = f"p@{'x' * 60}.{'y' * 60}.{'z' * 60}."
    address += "w" * (length - len(address))
    rows = [replace(row, email=address, group_id="") if row.email == PLAYER1 else row for row in assignments(GAME)]
    peer = Peer(machine=referee(), email=REFEREE)
    for envelope in (table(rows=rows), new_round()):
        peer.step(MessageArrived(envelope=envelope, mail_id=envelope.message_id, arrived_at=START), START)
    call = peer.calls.popleft()
    result: Any = obliging(call.callback, call.context)
    peer.step(CallbackReturned(call_id=call.call_id, result=result), START)
    documents = [encode(send.envelope) for send in peer.sent(MessageType.Q21WARMUPCALL)]
    assert [document["recipient_id"] for document in documents] == [address[:200], "otters"]


def test_the_target_is_handed_back_to_the_agent_and_never_told() -> None:
    bench = Bench().started()
    effects = bench.ask(PLAYER1)
    (call,) = [each for each in effects if isinstance(each, Call)]
    dynamic: Any = call.context["dynamic"]
    assert dynamic["actual_associative_word"] == "knife"
    (start, _) = bench.peer.sent(MessageType.Q21ROUNDSTART)
    assert isinstance(start.envelope.payload, RoundStart)
    told = [each for each in bench.peer.effects if isinstance(each, Send | Warn | Record)]
    assert "quicksort" not in repr(told)


def test_a_configured_target_serves_an_agent_that_keeps_its_own() -> None:
    bench = Bench(referee(actual_opening_sentence="It was.", actual_associative_word="war"))
    bench.answer()
    bench.warm_up(PLAYER1)
    bench.warm_up(PLAYER2)
    bench.answer({"book_name": "A book", "book_hint": "A hint that is long enough", "association_word": "strife"})
    (call,) = [each for each in bench.ask(PLAYER1) if isinstance(each, Call)]
    dynamic: Any = call.context["dynamic"]
    assert (dynamic["actual_opening_sentence"], dynamic["actual_associative_word"]) == ("It was.", "war")


# Contexts (protocol 6.1).

COMMON = {
    "season_id": SEASON,
    "league_id": "LG-ALPHA",
    "game_id": GAME,
    "match_id": GAME,
    "referee_id": "REF-RAVENS",
    "round_number": 2,
    "round_id": f"{SEASON}_R2",
    "assignment_table_id": None,
}


def test_every_callback_is_told_what_the_protocol_lists_and_a_scorer_what_was_asked() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    told: dict[str, Any] = {each.callback: each.context for each in bench.peer.effects if isinstance(each, Call)}
    for context in told.values():
        assert set(context) == {"dynamic", "service"}
        assert set(context["service"]) == {"name", "description", "required_output_fields", "deadline_seconds"}
        assert COMMON.items() <= context["dynamic"].items()
    own = {name: set(context["dynamic"]) - set(COMMON) for name, context in told.items()}
    book = {"player_id", "player_email", "book_name", "book_hint", "association_word"}
    actual = {"actual_opening_sentence", "actual_associative_word"}
    assert own == {
        "get_warmup_question": {"player_a_id", "player_a_email", "player_b_id", "player_b_email"},
        "get_round_start_info": {"player_a", "player_b"},
        "get_answers": book | actual | {"questions"},
        # The questions and answers are more than the protocol promises: a restarted referee needs them to judge.
        "get_score_feedback": book | actual | {"player_guess", "questions", "answers"},
    }
    assert told["get_round_start_info"]["dynamic"]["player_a"] == {
        "id": "falcons",
        "email": PLAYER1,
        "warmup_answer": "42",
    }
    seconds = [context["service"]["deadline_seconds"] for context in told.values()]
    assert seconds == [30, 60, 120, 180]


# The order of checks (protocol 5.3.2).


@pytest.mark.parametrize(
    ("email", "game_id", "code"),
    [
        ("stranger@example.com", GAME, "wrong_sender"),
        ("stranger@example.com", None, "wrong_sender"),
        (REFEREE, GAME, "wrong_sender"),  # our own address is no player
        (PLAYER1, GameId("0302002"), "unknown_game"),
        (PLAYER1, GameId("0301001"), "unknown_game"),
    ],
)
def test_whoever_does_not_belong_changes_nothing(email: str, game_id: GameId | None, code: str) -> None:
    bench = Bench()
    bench.answer()
    before = bench.peer.state
    effects = bench.warm_up(email, game_id=game_id)
    assert bench.peer.state is before
    assert codes(effects) == [code]
    assert len(effects) == 1


def test_a_player_is_known_in_any_letter_case_and_answered_as_the_table_spells_it() -> None:
    bench = Bench()
    bench.answer()
    bench.warm_up(PLAYER1.upper())
    assert bench.phases() == (SeatPhase.WARMED_UP, SeatPhase.WARMUP_SENT)
    bench.warm_up(PLAYER2)
    assert {to for _, to in sends(bench.answer())} == {(PLAYER1,), (PLAYER2,)}


def test_a_message_that_names_no_game_belongs_to_the_only_open_one() -> None:
    bench = Bench()
    bench.answer()
    bench.warm_up(PLAYER1, game_id=None)
    assert bench.phases() == (SeatPhase.WARMED_UP, SeatPhase.WARMUP_SENT)


def test_a_message_before_its_step_is_dropped_and_welcome_later_with_the_same_id() -> None:
    bench = Bench().started()
    before = bench.peer.state
    assert codes(bench.guess(PLAYER1)) == ["early_message"]
    assert bench.peer.state is before
    bench.answered(PLAYER1)
    assert calls(bench.guess(PLAYER1)) == ["get_score_feedback"]


@pytest.mark.parametrize("kind", ["Q21ROUNDSTART", "MATCH_RESULT_REPORT", "HEARTBEAT", "GAME_JOIN_ACK"])
def test_types_that_players_may_not_send_change_nothing(kind: str) -> None:
    bench = Bench()
    bench.answer()
    before = bench.peer.state
    effects = bench.say(PLAYER1, MessageType(kind), BROKEN)
    assert bench.peer.state is before
    assert codes(effects) == ["wrong_sender"]


def test_a_wrong_token_is_worth_a_word_and_nothing_more() -> None:
    bench = Bench()
    bench.answer()
    effects = bench.say(PLAYER1, MessageType.Q21WARMUPRESPONSE, WarmupResponse(answer="1", auth_token="tok_wrong"))
    assert codes(effects) == ["wrong_token"]
    assert bench.phases() == (SeatPhase.WARMED_UP, SeatPhase.WARMUP_SENT)


# Unusable messages.


def test_the_third_unusable_message_of_a_kind_aborts_the_match() -> None:
    bench = Bench().started()
    for i in (1, 2):
        effects = bench.say(PLAYER1, MessageType.Q21QUESTIONSBATCH, BROKEN, message_id=f"b{i}")
        assert sends(effects) == []
    bench.say(PLAYER1, MessageType.Q21QUESTIONSBATCH, BROKEN, message_id="b2")
    assert bench.match is not None, "the same message twice is one message"
    bench.say(PLAYER1, MessageType.Q21QUESTIONSBATCH, QuestionsBatch(questions=()), message_id="b3")
    assert [report.abort_reason for report in bench.reports()] == [f"format_violation:{PLAYER1}"]


def test_a_usable_message_after_two_unusable_ones_is_accepted() -> None:
    bench = Bench().started()
    for i in (1, 2):
        bench.say(PLAYER1, MessageType.Q21QUESTIONSBATCH, BROKEN, message_id=f"b{i}")
    assert calls(bench.ask(PLAYER1)) == ["get_answers"]


def test_a_deadline_that_passes_after_an_unusable_message_is_a_format_violation() -> None:
    bench = Bench().started().answered(PLAYER2)
    bench.say(PLAYER1, MessageType.Q21QUESTIONSBATCH, BROKEN)
    bench.wait(10_000)
    assert [report.abort_reason for report in bench.reports()] == [f"format_violation:{PLAYER1}"]


def test_an_unusable_message_of_a_stranger_is_not_counted() -> None:
    bench = Bench().started()
    for i in range(5):
        bench.say("stranger@example.com", MessageType.Q21QUESTIONSBATCH, BROKEN, message_id=f"b{i}")
    assert bench.match is not None
    assert bench.match.player1.unusable == ()


def test_more_questions_than_the_rules_allow_earn_no_more_answers() -> None:
    bench = Bench().started()
    many = tuple(replace(QUESTIONS[0], number=i) for i in range(1, 41))
    assert codes(bench.ask(PLAYER1, many)) == ["surplus_questions"]
    (send,) = [each for each in bench.answer() if isinstance(each, Send)]
    assert isinstance(send.envelope.payload, AnswersBatch)
    assert [answer.number for answer in send.envelope.payload.answers] == list(range(1, 21))


# Repeats (protocol 2.7).


def test_a_reply_that_arrives_twice_is_answered_once_more_from_memory() -> None:
    bench = Bench().started()
    bench.ask(PLAYER1, message_id="q-1")
    assert sends(bench.ask(PLAYER1, message_id="q-1")) == [], "there is no answer yet"
    first = bench.answer()
    effects = bench.ask(PLAYER1, message_id="q-2")
    assert calls(effects) == []
    (original,) = [each for each in first if isinstance(each, Send)]
    (repeat,) = [each for each in effects if isinstance(each, Send)]
    assert repeat.is_repeat
    assert not original.is_repeat
    assert repeat.envelope == replace(original.envelope, correlation_id="q-2")


def test_a_peer_that_repeats_itself_for_ever_is_not_answered_for_ever() -> None:
    bench = Bench(referee(repeat_limit=3)).started().answered(PLAYER1)
    again = [sends(bench.ask(PLAYER1, message_id=f"q-{i}")) for i in range(6)]
    assert [len(each) for each in again] == [1, 1, 1, 0, 0, 0]


# Deadlines (protocol 5.3.4).


def test_mail_that_came_in_time_and_is_read_late_counts() -> None:
    bench = Bench()
    bench.answer()
    in_time = START + COURSE.warmup_wait + COURSE.grace
    bench.now = START + timedelta(hours=1)
    bench.warm_up(PLAYER1, arrived_at=in_time)
    assert bench.phases() == (SeatPhase.WARMED_UP, SeatPhase.WARMUP_SENT)


def test_mail_that_came_too_late_does_not_count() -> None:
    bench = Bench()
    bench.answer()
    bench.now = START + timedelta(hours=1)
    too_late = START + COURSE.warmup_wait + COURSE.grace + timedelta(seconds=1)
    assert codes(bench.warm_up(PLAYER1, arrived_at=too_late)) == ["late_message"]
    assert bench.phases() == (SeatPhase.WARMUP_SENT, SeatPhase.WARMUP_SENT)


def test_who_was_asked_late_has_as_long_as_everybody_else() -> None:
    bench = Bench()
    (call, other) = (send.envelope for send in bench.answer() if isinstance(send, Send))
    late = timedelta(seconds=100)
    bench.peer.step(SentLate(game_id=GAME, message_id=call.message_id, by=late), START + late)
    bench.peer.step(SentLate(game_id=GAME, message_id="another", by=late), START + late)
    asked = {name.rpartition(":")[2]: at for name, at in bench.peer.deadlines.items() if name.startswith("wait")}
    in_time = START + COURSE.warmup_wait + COURSE.grace
    assert asked == {"player1": in_time + late, "player2": in_time}
    bench.now = START + timedelta(hours=1)
    bench.warm_up(PLAYER1, arrived_at=in_time + late)
    assert codes(bench.warm_up(PLAYER2, arrived_at=in_time + late)) == ["late_message"]
    assert other.recipient_id != call.recipient_id


def test_a_message_that_is_repeated_after_it_was_late_names_the_deadline_in_force() -> None:
    bench = Bench()
    call, _ = (send.envelope for send in bench.answer() if isinstance(send, Send))
    late = timedelta(seconds=20)
    bench.peer.step(SentLate(game_id=GAME, message_id=call.message_id, by=late), START + late)
    repeats = [each.envelope for each in bench.wait(90) if isinstance(each, Send)]
    deadlines = {each.recipient_id: each.payload.deadline for each in repeats if isinstance(each.payload, WarmupCall)}
    in_time = START + COURSE.warmup_wait
    assert sorted(str(at) for at in deadlines.values()) == [str(in_time), str(in_time + late)]
    assert deadlines[call.recipient_id] == in_time + late


def test_if_both_are_late_the_report_names_player_1_whoever_is_looked_at_first() -> None:
    bench = Bench()
    bench.answer()
    bench.now = START + timedelta(hours=1)
    bench.peer.step(DeadlinePassed(name=f"wait:{GAME}:player2"), bench.now)
    bench.peer.step(DeadlinePassed(name=f"wait:{GAME}:player1"), bench.now)
    assert [report.abort_reason for report in bench.reports()] == [f"player_timeout:{PLAYER1}"]
    assert terminations(bench) == [Termination.PLAYER_TIMEOUT, Termination.PLAYER_TIMEOUT]


def test_the_referees_own_thinking_never_counts_against_a_player() -> None:
    bench = Bench().started()
    bench.ask(PLAYER1)
    bench.ask(PLAYER2)
    bench.wait(3600)
    assert bench.reports() == []


def test_an_accepted_answer_cancels_its_deadline() -> None:
    bench = Bench()
    bench.answer()
    bench.warm_up(PLAYER1)
    assert set(bench.peer.deadlines) == {f"wait:{GAME}:player2", f"repeat:{GAME}:player2"}


def test_only_the_warmup_call_is_repeated_and_only_once() -> None:
    bench = Bench()
    bench.answer()
    effects = bench.wait(60)
    assert sends(effects) == [(MessageType.Q21WARMUPCALL, (PLAYER1,)), (MessageType.Q21WARMUPCALL, (PLAYER2,))]
    assert sends(bench.wait(89)) == []
    silent = Bench(referee(replace(COURSE, repeats_warmup=False)))
    silent.answer()
    assert sends(silent.wait(60)) == []


def test_a_deadline_that_fires_too_early_is_set_again() -> None:
    bench = Bench()
    bench.answer()
    name = f"wait:{GAME}:player1"
    effects = bench.peer.step(DeadlinePassed(name=name), START)
    assert effects == [SetDeadline(name=name, at=START + COURSE.warmup_wait + COURSE.grace)]


# Aborts (protocol 5.3.5).


def test_the_report_of_an_abort_has_the_exact_keys_of_the_protocol() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    bench.answer()
    bench.wait(10_000)
    assert bench.report_document() == {
        "match_id": GAME,
        "status": "aborted",
        "winner_id": "falcons",
        "is_draw": False,
        "scores": [
            {"participant_id": "falcons", "email": PLAYER1, "league_points": 2, "private_score": 78.5},
            {"participant_id": "otters", "email": PLAYER2, "league_points": 0, "private_score": 0.0},
        ],
        "abort_reason": f"player_timeout:{PLAYER2}",
        "player_states": {
            "player1": {
                "email": PLAYER1,
                "participant_id": "falcons",
                "phase_reached": "scored",
                "scored": True,
                "last_actor": "referee",
            },
            "player2": {
                "email": PLAYER2,
                "participant_id": "otters",
                "phase_reached": "round_started",
                "scored": False,
                "last_actor": "referee",
            },
        },
    }


def test_only_the_player_who_was_late_is_recorded_as_late() -> None:
    bench = Bench().started()
    bench.wait(60)
    bench.answered(PLAYER1).wait(10_000)
    assert bench.reports()[0].abort_reason == f"player_timeout:{PLAYER2}"
    assert terminations(bench) == [Termination.CUT_OFF, Termination.PLAYER_TIMEOUT]


def test_a_player_who_was_scored_before_the_other_was_late_has_completed_its_game() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    bench.answer()
    bench.wait(10_000)
    assert terminations(bench) == [Termination.COMPLETED, Termination.PLAYER_TIMEOUT]


def test_only_the_player_who_sent_what_nobody_can_use_is_recorded_for_it() -> None:
    bench = Bench().started()
    for i in range(3):
        bench.say(PLAYER1, MessageType.Q21QUESTIONSBATCH, BROKEN, f"broken-{i}")
    assert terminations(bench) == [Termination.FORMAT_VIOLATION, Termination.CUT_OFF]


def test_what_no_player_caused_ended_the_match_for_both() -> None:
    bench = Bench().started()
    bench.mail(new_round(3))
    assert terminations(bench) == [Termination.NEW_ROUND_STARTED, Termination.NEW_ROUND_STARTED]


def test_a_pending_guess_is_scored_before_the_report_goes_out() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    effects = bench.mail(new_round(3))
    assert sends(effects) == [], "the report waits for the score"
    effects = bench.answer()
    assert [kind for kind, _ in sends(effects)] == [MessageType.Q21SCOREFEEDBACK, MessageType.MATCH_RESULT_REPORT]
    feedback = next(each.envelope for each in effects if isinstance(each, Send))
    assert feedback.correlation_id is None
    (report,) = bench.reports()
    assert (report.abort_reason, report.winner_id) == ("new_round_started", "falcons")
    assert report.player_states is not None
    assert report.player_states.player1.phase_reached == "guess_submitted", "the snapshot was taken before"
    assert not report.player_states.player1.scored
    assert report.scores[0].league_points == 2


def test_the_report_does_not_wait_for_a_score_for_ever() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    bench.mail(end_round())
    bench.wait(3600)
    (report,) = bench.reports()
    assert report.scores[0].league_points == 0
    assert codes(bench.answer()) == ["late_result"]
    assert len(bench.reports()) == 1


def test_a_failing_score_during_an_abort_is_asked_for_once_more_and_then_zero() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    bench.mail(league_completed())
    assert calls(bench.answer(Failure.RAISED)) == ["get_score_feedback"]
    bench.answer(Failure.RAISED)
    (report,) = bench.reports()
    assert (report.abort_reason, report.scores[0].private_score, report.is_draw) == ("league_completed", 0.0, True)


def test_the_first_reason_of_an_abort_stands() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    bench.mail(end_round())
    bench.mail(league_completed())
    assert codes(bench.ask(PLAYER2)) == ["closed_game"]
    bench.answer()
    assert [report.abort_reason for report in bench.reports()] == ["end_round_received"]


def test_the_end_of_another_round_is_ignored() -> None:
    bench = Bench().started()
    bench.mail(end_round(1))
    bench.mail(end_round(3))
    assert bench.match is not None
    assert bench.match.abort is None


# Presence (protocol 5.4).


def test_a_single_player_match_is_played_with_the_one_who_is_there() -> None:
    bench = Bench(lookup=(PLAYER1.upper(), REFEREE))
    assert [to for _, to in sends(bench.answer())] == [(PLAYER1,)]
    assert codes(bench.warm_up(PLAYER2)) == ["absent_player"]
    assert calls(bench.warm_up(PLAYER1)) == ["get_round_start_info"]
    dynamic: Any = bench.peer.calls[0].context["dynamic"]
    assert dynamic["player_b"] == {"id": "otters", "email": PLAYER2, "warmup_answer": "ABSENT_MALFUNCTION"}
    bench.answer()
    bench.answered(PLAYER1)
    bench.guess(PLAYER1)
    bench.answer()
    document = bench.report_document()
    assert document["scores"][1] == {
        "participant_id": "otters",
        "email": PLAYER2,
        "league_points": 1,
        "private_score": 0.0,
        "feedback": None,
        "score_reason": "TECHNICAL_LOSS_MALFUNCTION",
    }
    del document["scores"]
    assert document == {
        "match_id": GAME,
        "status": "COMPLETED_SINGLE_PLAYER",
        "winner_id": "falcons",
        "is_draw": False,
        "single_player_mode": True,
        "missing_player": "PLAYER_B",
        "missing_player_email": PLAYER2,
        "missing_reason": "MALFUNCTION",
    }


def test_an_absent_player_never_wins() -> None:
    bench = Bench(lookup=(PLAYER2,))
    bench.answer()
    bench.warm_up(PLAYER2)
    bench.answer()
    bench.answered(PLAYER2)
    bench.guess(PLAYER2)
    bench.answer(Failure.RAISED)
    bench.answer(Failure.RAISED)
    (report,) = bench.reports()
    assert (report.scores[0].league_points, report.scores[1].league_points) == (1, 0)
    assert (report.winner_id, report.is_draw) == (None, False)


def test_a_match_without_players_is_reported_at_once_and_counts_as_played() -> None:
    bench = Bench(lookup=())
    assert sends(bench.effects) == [(MessageType.MATCH_RESULT_REPORT, ("league-office@example.com",))]
    assert bench.report_document() == {
        "match_id": GAME,
        "status": "CANCELLED_ALL_PLAYERS_MALFUNCTION",
        "winner_id": None,
        "is_draw": True,
        "scores": [],
    }
    assert codes(bench.mail(new_round(2, tag="again"))) == ["round_known"]
    assert len(bench.reports()) == 1


def test_an_aborted_single_player_match_says_who_was_not_there() -> None:
    bench = Bench(lookup=(PLAYER1,))
    bench.answer()
    bench.wait(10_000)
    (report,) = bench.reports()
    assert report.abort_reason == f"player_timeout:{PLAYER1}"
    assert report.player_states is not None
    assert report.player_states.player2.phase_reached == "not_initialized"
    bench.report_document()


# Callbacks (protocol 6.1).


def test_without_a_warmup_question_a_fixed_one_is_asked() -> None:
    bench = Bench()
    effects = bench.answer(Failure.TIMED_OUT)
    assert codes(effects) == ["callback_failed"]
    assert len(sends(effects)) == 2


def test_a_round_start_that_cannot_be_used_is_asked_for_once_more() -> None:
    bench = Bench()
    bench.answer()
    bench.warm_up(PLAYER1)
    bench.warm_up(PLAYER2)
    first = bench.peer.calls[0].call_id
    assert calls(bench.answer({"book_name": "x", "book_hint": "short", "association_word": "y"})) == [
        "get_round_start_info"
    ]
    assert bench.peer.calls[0].call_id != first, "a retry is another call"
    bench.answer({"book_name": " ", "book_hint": "long enough, but no name", "association_word": "y"})
    assert [report.abort_reason for report in bench.reports()] == ["referee_failure:round_start_info"]


def test_without_answers_every_question_is_not_relevant() -> None:
    bench = Bench().started()
    bench.ask(PLAYER1)
    assert calls(bench.answer({"answers": [{"question_number": 1, "answer": "E"}]})) == ["get_answers"]
    (send,) = [each for each in bench.answer(Failure.RAISED) if isinstance(each, Send)]
    assert isinstance(send.envelope.payload, AnswersBatch)
    assert {answer.choice for answer in send.envelope.payload.answers} == {Choice.NOT_RELEVANT}
    assert len(send.envelope.payload.answers) == 20


def test_not_relevant_can_be_avoided_for_clients_that_cannot_store_it() -> None:
    bench = Bench(referee(avoid_not_relevant=True)).started()
    bench.ask(PLAYER1)
    (send,) = [each for each in bench.answer({"answers": [{"question_number": 1, "answer": "A"}]})
               if isinstance(each, Send)]  # fmt: skip
    assert isinstance(send.envelope.payload, AnswersBatch)
    assert [answer.choice for answer in send.envelope.payload.answers] == [Choice.A] + [Choice.D] * 19


def test_without_a_score_the_player_gets_zeros() -> None:
    bench = Bench().started().answered(PLAYER1)
    bench.guess(PLAYER1)
    bench.answer({"league_points": True})
    effects = bench.answer({"league_points": 4})
    (send,) = [each for each in effects if isinstance(each, Send)]
    assert isinstance(send.envelope.payload, ScoreFeedback)
    card = send.envelope.payload.scorecard
    assert (card.league_points, card.private_score, card.breakdown, card.feedback) == (0, 0.0, None, None)


def test_a_score_without_breakdown_and_feedback_counts() -> None:
    bench = Bench().started().answered(PLAYER1).answered(PLAYER2)
    bench.guess(PLAYER1)
    effects = bench.answer({"league_points": 3, "private_score": 90.0})
    assert codes(effects) == ["result_repaired", "result_repaired"]
    (send,) = [each for each in effects if isinstance(each, Send)]
    assert isinstance(send.envelope.payload, ScoreFeedback)
    card = send.envelope.payload.scorecard
    assert (card.league_points, card.private_score, card.breakdown, card.feedback) == (3, 90.0, None, None)
    bench.guess(PLAYER2)
    bench.answer(Failure.RAISED)
    (record,) = [each for each in bench.answer(Failure.TIMED_OUT) if isinstance(each, Record)]
    rows: Any = record.facts["players"]
    assert [(row["league_points"], row["scorecard"]["is_judged"]) for row in rows] == [(3, True), (0, False)]


def test_what_is_changed_in_a_referees_result_is_told() -> None:
    bench = Bench().started()
    bench.ask(PLAYER1)
    effects = bench.answer({"answers": [{"question_number": number, "answer": "A"} for number in range(2, 22)]})
    told = [effect.text for effect in effects if isinstance(effect, Warn)]
    assert codes(effects) == ["result_repaired", "result_repaired"]
    assert told[0].endswith("the number of a question that was asked, found 21; the answer is left out")
    assert told[1].endswith("found none to 1; the others are Not Relevant")


def test_a_result_that_nobody_awaits_is_ignored() -> None:
    bench = Bench()
    call = bench.peer.calls[0]
    bench.answer()
    before = bench.peer.state
    reply = obliging(call.callback, call.context)
    assert not isinstance(reply, Failure)
    effects = bench.peer.step(CallbackReturned(call_id=call.call_id, result=reply), START)
    assert codes(effects) == ["late_result"]
    assert bench.peer.state is before


def test_callbacks_for_both_players_run_independently() -> None:
    bench = Bench().started()
    bench.ask(PLAYER1)
    bench.ask(PLAYER2)
    bench.peer.calls.rotate(1)
    assert sends(bench.answer()) == [(MessageType.Q21ANSWERSBATCH, (PLAYER2,))]
    assert sends(bench.answer()) == [(MessageType.Q21ANSWERSBATCH, (PLAYER1,))]


# Several matches at once.


def test_several_matches_of_one_round_are_independent() -> None:
    peer = Peer(machine=referee(), email=REFEREE)
    games = ("0302001", "0302002", "0302003")
    for i, envelope in enumerate((start_season(), table(*games), new_round())):
        peer.step(MessageArrived(envelope=envelope, mail_id=str(i), arrived_at=START), START)
    assert sorted(peer.state.matches) == list(games)
    assert len({match.auth_token for match in peer.state.matches.values()}) == 3
    envelope = Envelope(
        protocol=Protocol.GAME,
        message_type=MessageType.Q21WARMUPRESPONSE,
        message_id="w",
        timestamp=START,
        sender=Sender(email=PLAYER1, role=Role.PLAYER),
        recipient_id="",
        payload=WarmupResponse(answer="1"),
    )
    effects = peer.step(MessageArrived(envelope=envelope, mail_id="x", arrived_at=START), START)
    assert codes(effects) == ["unclear_game"], "which of the three?"
