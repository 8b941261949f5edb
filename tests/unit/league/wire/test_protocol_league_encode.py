"""What is sent is canonical or it is not sent."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from league_agents.games.q21.model import Answer, Breakdown, Brief, Choice, Feedback, Guess, Question, Scorecard
from league_agents.kit.errors import LocalProtocolError
from league_agents.kit.ids import GameId
from league_agents.league.wire.catalogue import CANONICAL_TYPES
from league_agents.league.wire.decode import decode
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import (
    AnswersBatch,
    Assignment,
    AssignmentRole,
    AssignmentTable,
    BrokenPayload,
    FreeText,
    GuessSubmission,
    Hints,
    KeepAliveReply,
    LeagueCompleted,
    Legacy,
    MatchReport,
    MissingPlayer,
    NewRound,
    Payload,
    PlayerReport,
    PlayerReportStatus,
    PlayerStates,
    QuestionsBatch,
    RegistrationRequest,
    RegistrationResponse,
    RegistrationStatus,
    ReportedPlayerState,
    ReportStatus,
    RoundStart,
    ScoreFeedback,
    ScoreRow,
    WarmupCall,
    WarmupResponse,
)
from league_agents.league.wire.subject import format_subject

NOW = datetime(2031, 5, 2, 10, 0, 5, 100000, UTC)
REFEREE = Sender(email="whistle@example.com", role=Role.REFEREE, logical_id="REF-RAVENS")
PLAYER = Sender(email="falcon.player@example.com", role=Role.PLAYER, logical_id="falcons")
MANAGER = Sender(email="league-office@example.com", role=Role.LEAGUEMANAGER, logical_id="LM001")
GAME = GameId("0302001")
STATE = ReportedPlayerState(
    email="a@b.c", participant_id="falcons", phase_reached="scored", scored=True, last_actor="referee"
)
ROWS = (
    ScoreRow(participant_id="falcons", email="f@example.com", league_points=2, private_score=78.5),
    ScoreRow(participant_id="otters", email="o@example.com", league_points=0, private_score=0.0),
)
COMPLETED = MatchReport(status=ReportStatus.COMPLETED, winner_id="falcons", is_draw=False, scores=ROWS)
GUESS = Guess(
    opening_sentence="It was.",
    sentence_justification="",
    associative_word="knife",
    word_justification="",
    confidence=None,
)
CARD = Scorecard(league_points=2, private_score=78.5, breakdown=None, feedback=None)


def game(payload: Payload, sender: Sender = REFEREE) -> Envelope:
    return Envelope(
        protocol=Protocol.GAME,
        message_type=CANONICAL_TYPES[type(payload)],
        message_id="m-1",
        timestamp=NOW,
        sender=sender,
        recipient_id="falcons",
        payload=payload,
        game_id=GAME,
    )


def league(payload: Payload, sender: Sender = REFEREE) -> Envelope:
    return Envelope(
        protocol=Protocol.LEAGUE,
        message_type=CANONICAL_TYPES[type(payload)],
        message_id="m-1",
        timestamp=NOW,
        sender=sender,
        recipient_id="LEAGUEMANAGER",
        payload=payload,
        league_id="LG",
        season_id="S",
        round_id="S_R2",
        game_id=GAME,
        broadcast_id="bc-1",
    )


def payload_of(envelope: Envelope) -> dict[str, object]:
    payload = encode(envelope)["payload"]
    assert isinstance(payload, dict)
    return payload


def test_instants_are_written_in_utc_with_microseconds() -> None:
    local = datetime(2031, 5, 2, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    document = encode(replace(game(WarmupResponse(answer="42"), PLAYER), timestamp=local))
    assert document["timestamp"] == "2031-05-02T10:00:00.000000+00:00"


def test_the_ids_of_a_broadcast_stand_in_both_places() -> None:
    envelope = league(NewRound(round_number=2, participant_lookup_table=()), MANAGER)
    document = encode(envelope)
    assert (document["broadcast_id"], document["league_id"], document["season_id"]) == ("bc-1", "LG", "S")
    payload = payload_of(envelope)
    assert payload["broadcast_id"] == "bc-1"
    assert (payload["round_number"], payload["round_starting"], payload["round_id"]) == (2, 2, "S_R2")
    assert payload["participant_lookup_table"] == []
    assert "round_id" not in document


def test_a_reply_names_its_broadcast_in_the_payload_only() -> None:
    document = encode(league(KeepAliveReply(referee_id="REF-RAVENS")))
    assert "broadcast_id" not in document
    assert payload_of(league(KeepAliveReply()))["broadcast_id"] == "bc-1"


def test_the_round_start_serves_the_older_player_client() -> None:
    brief = Brief(book_name="B" * 300, book_hint="H" * 190, association_domain="D" * 60)
    payload = payload_of(game(RoundStart(brief=brief, deadline=NOW)))
    assert payload["book_name"] == "B" * 255
    assert payload["book_hint"] == payload["book_description"] == "H" * 190
    assert payload["association_word"] == "D" * 60
    assert payload["associative_domain"] == "D" * 50


def test_every_report_has_exactly_the_keys_of_its_status() -> None:
    always = {"match_id", "status", "winner_id", "is_draw", "scores"}
    assert set(payload_of(league(COMPLETED))) == always
    aborted = replace(
        COMPLETED,
        status=ReportStatus.ABORTED,
        abort_reason="end_round_received",
        player_states=PlayerStates(player1=STATE, player2=STATE),
    )
    assert set(payload_of(league(aborted))) == always | {"abort_reason", "player_states"}
    single = replace(
        COMPLETED,
        status=ReportStatus.COMPLETED_SINGLE_PLAYER,
        missing=MissingPlayer(role=AssignmentRole.PLAYER2, email="o@example.com"),
    )
    assert set(payload_of(league(single))) == always | {
        "single_player_mode",
        "missing_player",
        "missing_player_email",
        "missing_reason",
    }
    cancelled = MatchReport(
        status=ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION, winner_id=None, is_draw=True, scores=()
    )
    assert set(payload_of(league(cancelled))) == always


def test_only_finished_games_mention_their_feedback() -> None:
    row = payload_of(league(COMPLETED))["scores"][0]  # type: ignore[index]
    assert row["feedback"] is None
    aborted = replace(
        COMPLETED,
        status=ReportStatus.ABORTED,
        abort_reason="end_round_received",
        player_states=PlayerStates(player1=STATE, player2=STATE),
    )
    assert "feedback" not in payload_of(league(aborted))["scores"][0]  # type: ignore[index]


def test_a_result_is_reported_to_a_league_that_never_said_its_name() -> None:
    document = encode(replace(league(COMPLETED), league_id=None, season_id="", round_id=None))
    assert (document["league_id"], document["season_id"], document["round_id"]) == ("", "", "")
    nameless = replace(league(KeepAliveReply()), league_id="", season_id=None)
    assert {"league_id", "season_id"}.isdisjoint(encode(nameless))


def test_a_player_reports_who_it_is() -> None:
    report = PlayerReport(
        status=PlayerReportStatus.COMPLETED,
        phase_at_termination="COMPLETED",
        last_actor="NONE",
        reason="GAME_COMPLETED",
    )
    payload = payload_of(league(report, PLAYER))
    assert payload["reporter"] == {"email": "falcon.player@example.com", "role": "PLAYER"}
    assert "league_points" not in payload


def test_texts_of_agents_never_fail() -> None:
    payload = payload_of(game(WarmupResponse(answer="a\ud800\x00\n"), PLAYER))
    assert payload["answer"] == "a\ufffd\x00\n"


def test_a_type_of_no_consequence_can_be_sent_as_it_is() -> None:
    envelope = replace(
        league(FreeText(message_text="")),
        message_type=MessageType.QUERY_STANDINGS_RESPONSE,
        payload=Legacy(fields={"standings": [{"rank": 1}]}),
    )
    assert encode(envelope)["payload"] == {"standings": [{"rank": 1}]}
    with pytest.raises(LocalProtocolError):
        encode(replace(envelope, payload=Legacy(fields={"standings": {1, 2}})))


QUESTION = Question(number=1, text="Why?", options=("a", "b", "c", "d"))
ROW = Assignment(role=AssignmentRole.REFEREE, email="r@example.com", game_id=GAME, group_id="ravens")


@pytest.mark.parametrize(
    "payload",
    [
        WarmupCall(warmup_question="1+1?", deadline=None),
        WarmupCall(warmup_question=" ", deadline=NOW),
        WarmupCall(warmup_question="1+1?", deadline=NOW.replace(tzinfo=None)),
        RoundStart(brief=Brief(book_name="B", book_hint="", association_domain="D"), deadline=NOW),
        RoundStart(brief=Brief(book_name="B", book_hint="H", association_domain="D"), deadline=None),
        QuestionsBatch(questions=()),
        QuestionsBatch(questions=(QUESTION, QUESTION)),
        QuestionsBatch(questions=(replace(QUESTION, number=0),)),
        QuestionsBatch(questions=(replace(QUESTION, text=" "),)),
        AnswersBatch(answers=(), deadline=NOW),
        AnswersBatch(answers=(Answer(number=1, choice=Choice.A),), deadline=None),
        GuessSubmission(guess=replace(GUESS, opening_sentence="")),
        GuessSubmission(guess=replace(GUESS, associative_word=" ")),
        GuessSubmission(guess=replace(GUESS, confidence=1.5)),
        GuessSubmission(guess=replace(GUESS, confidence=math.nan)),
        ScoreFeedback(scorecard=replace(CARD, league_points=4)),
        ScoreFeedback(scorecard=replace(CARD, league_points=True)),
        ScoreFeedback(scorecard=replace(CARD, private_score=math.nan)),
        ScoreFeedback(scorecard=replace(CARD, private_score=100.5)),
    ],
)
def test_a_game_message_that_breaks_the_protocol_is_not_sent(payload: Payload) -> None:
    with pytest.raises(LocalProtocolError):
        encode(game(payload))


@pytest.mark.parametrize(
    "payload",
    [
        RegistrationRequest(display_name="", participant_role=Role.PLAYER),
        RegistrationRequest(display_name="F", participant_role=None),
        RegistrationResponse(status=RegistrationStatus.REJECTED),
        AssignmentTable(assignments=()),
        AssignmentTable(assignments=(replace(ROW, group_id=""),)),
        AssignmentTable(assignments=(replace(ROW, game_id=GameId("R1M1")),)),
        AssignmentTable(assignments=(replace(ROW, email="Ref <r@example.com>"),)),
        NewRound(round_number=0),
        LeagueCompleted(final_standings=()),
        replace(COMPLETED, scores=ROWS[:1]),
        replace(COMPLETED, abort_reason="end_round_received"),
        replace(COMPLETED, status=ReportStatus.ABORTED),
        replace(COMPLETED, status=ReportStatus.COMPLETED_SINGLE_PLAYER),
        replace(COMPLETED, status=ReportStatus.CANCELLED_ALL_PLAYERS_MALFUNCTION),
        replace(COMPLETED, is_draw=True),
        replace(COMPLETED, winner_id="ravens"),
        replace(COMPLETED, scores=(replace(ROWS[0], league_points=5), ROWS[1])),
    ],
)
def test_a_league_message_that_breaks_the_protocol_is_not_sent(payload: Payload) -> None:
    with pytest.raises(LocalProtocolError):
        encode(league(payload))


@pytest.mark.parametrize("payload", [BrokenPayload(violations=()), Hints(book_hint=None, association_domain=None)])
def test_what_is_only_received_is_never_sent(payload: Payload) -> None:
    for kind in (MessageType.Q21_HINTS, MessageType.Q21WARMUPRESPONSE):
        with pytest.raises(LocalProtocolError):
            encode(replace(game(WarmupResponse(answer="42"), PLAYER), message_type=kind, payload=payload))


def test_an_envelope_that_breaks_the_protocol_is_not_sent() -> None:
    good = game(WarmupResponse(answer="42"), PLAYER)
    encode(good)
    for bad in (
        replace(good, game_id=None),
        replace(good, game_id=GameId("R1M1")),
        replace(good, protocol=Protocol.LEAGUE),
        replace(good, timestamp=None),
        replace(good, message_type=MessageType.Q21WARMUPCALL),
        replace(good, message_id=""),
        replace(good, message_id="a\nb"),
        replace(good, recipient_id=""),
        replace(good, correlation_id=" padded "),
        replace(good, sender=replace(PLAYER, email="Falcon <falcon.player@example.com>")),
        replace(good, sender=replace(PLAYER, role=None)),
        replace(good, payload=Legacy(fields={"answer": "42"})),
        replace(league(FreeText(message_text="hello"), MANAGER), broadcast_id=None),
        replace(league(NewRound(round_number=2), MANAGER), season_id=None),
        replace(league(NewRound(round_number=2), MANAGER), league_id=""),
        replace(league(NewRound(round_number=2), MANAGER), round_id=None),
    ):
        with pytest.raises(LocalProtocolError):
            encode(bad)


# Whatever is sent is read as the same thing.

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
filled = texts.filter(lambda text: bool(text.strip()))
names = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=20)
tokens = st.none() | names
instants = st.integers(0, 10**15).map(lambda microseconds: NOW + timedelta(microseconds=microseconds))
scores = st.floats(0, 100)
feedback = st.none() | st.builds(Feedback, opening_sentence=texts, associative_word=texts)
breakdowns = st.builds(
    Breakdown,
    opening_sentence_score=scores,
    sentence_justification_score=scores,
    associative_word_score=scores,
    word_justification_score=scores,
)
questions = st.lists(st.tuples(filled, st.tuples(texts, texts, texts, texts)), min_size=1, max_size=5).map(
    lambda rows: tuple(
        Question(number=number, text=text, options=options) for number, (text, options) in enumerate(rows, start=1)
    )
)
answers = st.lists(st.sampled_from(Choice), min_size=1, max_size=21).map(
    lambda choices: tuple(Answer(number=number, choice=choice) for number, choice in enumerate(choices, start=1))
)
game_payloads = st.one_of(
    st.builds(WarmupCall, warmup_question=filled, deadline=instants, auth_token=tokens),
    st.builds(WarmupResponse, answer=texts, auth_token=tokens),
    st.builds(
        RoundStart,
        brief=st.builds(Brief, book_name=filled, book_hint=filled, association_domain=filled),
        deadline=instants,
        questions_required=st.integers(1, 100),
        auth_token=tokens,
    ),
    st.builds(QuestionsBatch, questions=questions, auth_token=tokens),
    st.builds(AnswersBatch, answers=answers, deadline=instants, auth_token=tokens),
    st.builds(
        GuessSubmission,
        guess=st.builds(
            Guess,
            opening_sentence=filled,
            sentence_justification=texts,
            associative_word=filled,
            word_justification=texts,
            confidence=st.none() | st.floats(0, 1),
        ),
        auth_token=tokens,
    ),
    st.builds(
        ScoreFeedback,
        scorecard=st.builds(
            Scorecard,
            league_points=st.integers(0, 3),
            private_score=scores,
            breakdown=st.none() | breakdowns,
            feedback=feedback,
        ),
    ),
)


@settings(max_examples=200, deadline=None)
@given(game_payloads, names.filter(lambda name: "::" not in name and name[0] not in ":[" and name[-1] not in ":]"))
def test_a_game_message_is_read_as_it_was_meant(payload: Payload, message_id: str) -> None:
    sent = replace(game(payload), message_id=message_id, correlation_id=message_id)
    document = json.loads(json.dumps(encode(sent)))
    received = decode(
        subject=format_subject(sent), from_header=f"Whistle <{REFEREE.email}>", documents=[document], mail_id="mail-1"
    )
    assert received == sent
    assert encode(received) == encode(sent)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(names, st.integers(0, 3), scores, feedback), min_size=2, max_size=2, unique_by=lambda row: row[0]
    )
)
def test_a_report_is_read_as_it_was_meant(rows: list[tuple[str, int, float, Feedback | None]]) -> None:
    report = replace(
        COMPLETED,
        winner_id=rows[0][0],
        scores=tuple(
            ScoreRow(
                participant_id=name, email="f@example.com", league_points=points, private_score=score, feedback=said
            )
            for name, points, score, said in rows
        ),
    )
    sent = replace(league(report), broadcast_id=None)
    document = json.loads(json.dumps(encode(sent)))
    assert decode(subject="", from_header=REFEREE.email, documents=[document], mail_id="mail-1") == sent
