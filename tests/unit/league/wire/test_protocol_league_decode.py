"""What a message may look like, what makes it unusable, and what makes it a forgery."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from league_agents.games.q21.model import Answer, Breakdown, Choice, Feedback, Guess
from league_agents.league.wire.decode import ForgedSender, NotProtocolMail, decode
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import (
    AnswersBatch,
    AssignmentRole,
    AssignmentTable,
    BrokenPayload,
    ErrorResponse,
    FreeText,
    GuessSubmission,
    Legacy,
    MatchReport,
    NewRound,
    Payload,
    PlayerReport,
    QuestionsBatch,
    RegistrationRequest,
    RegistrationResponse,
    ReportStatus,
    RoundResults,
    RoundStart,
    ScoreFeedback,
    StartSeason,
    WarmupCall,
    WarmupResponse,
)
from league_agents.league.wire.reading import LONGEST_TEXT, instant_of, number_of

FROM = "Falcon One <falcon.player@example.com>"


def read(
    document: object, *, subject: str = "", sender: str = FROM, others: Sequence[object] = (), mail_id: str = "mail-1"
) -> Envelope:
    return decode(subject=subject, from_header=sender, documents=[*others, document], mail_id=mail_id)


def payload_of(kind: str, **payload: object) -> Payload:
    return read({"message_type": kind, "payload": payload}).payload


# Which document, and whose.


@pytest.mark.parametrize("document", [5, [1], "Q21WARMUPCALL", None, True, [{"message_type": "Q21WARMUPCALL"}]])
def test_a_document_that_is_no_object_is_no_message(document: object) -> None:
    with pytest.raises(NotProtocolMail):
        read(document, subject="Q21G.v1::REFEREE::falcon.player@example.com::t::Q21WARMUPCALL")


@pytest.mark.parametrize("document", [{}, {"message_type": "NEWSLETTER"}, {"message_type": 5}, {"payload": {"a": 1}}])
def test_an_object_without_a_known_type_is_no_message(document: object) -> None:
    with pytest.raises(NotProtocolMail):
        read(document, subject="Your weekly letter")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "the mail states no message type"),
        ({"message_type": "  ", "payload": {"message_type": None}}, "the mail states no message type"),
        ({"message_type": ["NEWSLETTER"]}, "the mail states no message type"),
        ({"message_type": "NEWSLETTER"}, "the message type 'NEWSLETTER' is not known"),
        ({"payload": {"message_type": "x" * 150}}, f"the message type '{'x' * 80}' is not known"),
        ({"message_type": "x" * 5_000}, f"the message type '{'x' * 80}' is not known"),
    ],
)
def test_a_mail_that_is_no_message_is_told_by_what_it_states(document: object, said: str) -> None:
    with pytest.raises(NotProtocolMail) as refused:
        read(document, subject="Your weekly letter")
    assert str(refused.value) == said


def test_a_mail_without_documents_is_no_message() -> None:
    with pytest.raises(NotProtocolMail):
        decode(subject="Q21G.v1::PLAYER::a@b.c::t::Q21WARMUPCALL", from_header="a@b.c", documents=[], mail_id="m")


def test_the_first_object_is_the_message() -> None:
    envelope = read(
        {"message_type": "HEARTBEAT"}, others=[5, [1], {"message_type": "Q21WARMUPRESPONSE", "answer": "x"}]
    )
    assert envelope.message_type is MessageType.Q21WARMUPRESPONSE


@pytest.mark.parametrize(
    ("claim", "subject_address"),
    [
        ("otter.player@example.com", None),
        ("falcon.player@example.com, otter.player@example.com", None),
        ("falcon.player@example.com.evil.org", None),
        ("not an address", None),
        (None, "otter.player@example.com"),
        ("falcon.player@example.com", "otter.player@example.com"),
        ("fal\u212aon.player@example.com", None),
    ],
)
def test_a_claim_that_differs_from_the_mail_is_a_forgery(claim: str | None, subject_address: str | None) -> None:
    subject = f"Q21G.v1::PLAYER::{subject_address}::t::Q21WARMUPRESPONSE" if subject_address else ""
    document = {"message_type": "Q21WARMUPRESPONSE", "sender": {"email": claim}, "payload": {"answer": "1"}}
    with pytest.raises(ForgedSender):
        read(document, subject=subject)


@pytest.mark.parametrize("sender", ["", "nobody", "a@example.com, falcon.player@example.com", "team: a@example.com;"])
def test_a_mail_that_is_from_nobody_in_particular_is_refused(sender: str) -> None:
    with pytest.raises(ForgedSender):
        read({"message_type": "HEARTBEAT", "payload": {}}, sender=sender)


@pytest.mark.parametrize(
    "sender",
    [
        None,
        {},
        {"email": None},
        {"email": ""},
        {"email": "FALCON.player@Example.com"},
        "falcon.player@example.com",
        5,
        [],
    ],
)
def test_an_absent_or_equal_claim_is_fine(sender: object) -> None:
    envelope = read({"message_type": "HEARTBEAT", "sender": sender, "payload": {}})
    assert envelope.sender.email == "falcon.player@example.com"


def test_a_display_name_is_no_sender() -> None:
    envelope = read({"message_type": "HEARTBEAT"}, sender='"league-office@example.com" <evil@example.org>')
    assert envelope.sender.email == "evil@example.org"


def test_addresses_inside_a_payload_are_no_claims() -> None:
    payload = {"email": "other@example.com", "reporter": {"email": "other@example.com", "role": "PLAYER"}}
    envelope = read({"message_type": "HEARTBEAT", "payload": payload})
    assert envelope.sender.email == "falcon.player@example.com"
    assert envelope.sender.role is Role.PLAYER


# The envelope.


def test_the_message_id_comes_from_the_document_then_the_subject_then_the_mail() -> None:
    subject = "league.v2::PLAYER::falcon.player@example.com::[tx-1]::HEARTBEAT"
    assert read({"message_id": "m-1", "payload": {}}, subject=subject).message_id == "m-1"
    assert read({"message_id": "", "payload": {}}, subject=subject).message_id == "tx-1"
    assert read({"message_id": "x" * 5000, "payload": {}}, subject=subject).message_id == "tx-1"
    assert read({"message_type": "HEARTBEAT"}, mail_id="mail-9").message_id == "mail-9"


@pytest.mark.parametrize(
    ("document", "game_id"),
    [
        ({"game_id": "0302001", "payload": {"match_id": "0302002"}}, "0302001"),
        ({"payload": {"game_id": "0302003", "match_id": "0302002"}}, "0302003"),
        ({"payload": {"match_id": "TRAIN_2031-05-02_0900_0302001"}}, "0302001"),
        ({"match_id": "0302004", "payload": {}}, "0302004"),
        ({"game_id": "R1M1", "payload": {"match_id": "0302002"}}, "0302002"),
        ({"game_id": 302001, "payload": {}}, None),
        ({"game_id": "٠٣٠٢٠٠١", "payload": {}}, None),
    ],
)
def test_the_game_id_is_seven_digits_at_the_end_of_the_first_that_has_them(
    document: dict[str, object], game_id: str | None
) -> None:
    assert read({"message_type": "HEARTBEAT", **document}).game_id == game_id


def test_ids_are_looked_for_in_the_envelope_and_in_the_payload() -> None:
    flat = read({"message_type": "HEARTBEAT", "leagueid": "OLD", "season_id": "S", "payload": {"round_id": "R"}})
    assert (flat.league_id, flat.season_id, flat.round_id) == ("OLD", "S", "R")
    inner = read({"message_type": "HEARTBEAT", "league_id": "", "payload": {"league_id": "L", "season_id": "S2"}})
    assert (inner.league_id, inner.season_id) == ("L", "S2")


def test_only_a_broadcast_takes_its_id_from_the_subject() -> None:
    subject = "league.v2::LEAGUEMANAGER::falcon.player@example.com::[tx-1]::{}"
    broadcast = read({"payload": {"round_number": 1}}, subject=subject.format("BROADCAST_NEW_LEAGUE_ROUND"))
    assert broadcast.broadcast_id == "tx-1"
    completed = read({"payload": {}}, subject=subject.format("LEAGUE_COMPLETED"))
    assert completed.broadcast_id == "tx-1"
    reply = read({"payload": {"status": "alive"}}, subject=subject.format("RESPONSE_KEEP_ALIVE"))
    assert reply.broadcast_id is None


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2031-05-02T08:00:07.120000+00:00", datetime(2031, 5, 2, 8, 0, 7, 120000, UTC)),
        ("2031-05-02T08:00:07Z", datetime(2031, 5, 2, 8, 0, 7, tzinfo=UTC)),
        ("2031-05-02t08:00:07z", datetime(2031, 5, 2, 8, 0, 7, tzinfo=UTC)),
        ("2031-05-02T10:00:07+02:00", datetime(2031, 5, 2, 8, 0, 7, tzinfo=UTC)),
        ("2031-05-02 08:00:07", datetime(2031, 5, 2, 8, 0, 7, tzinfo=UTC)),
        ("2031-05-02T08:00:07.1234567Z", datetime(2031, 5, 2, 8, 0, 7, 123456, UTC)),
        ("", None),
        (None, None),
        ("soon", None),
        ("2031-05-02", None),
        ("2031-13-02T08:00:07Z", None),
        ("0001-01-01T00:00:00+14:00", None),
        (1935475207, None),
        ("2031-05-02T08:00:07" + "0" * 500, None),
    ],
)
def test_instants_are_read_in_every_spelling(text: object, instant: datetime | None) -> None:
    assert instant_of(text) == instant


def test_a_deadline_beside_the_payload_counts() -> None:
    envelope = read(
        {"message_type": "Q21WARMUPCALL", "deadline": "2031-05-02T08:00:00Z", "payload": {"question": "1+1?"}}
    )
    assert envelope.payload == WarmupCall(
        warmup_question="1+1?", deadline=datetime(2031, 5, 2, 8, tzinfo=UTC), auth_token=None
    )


def test_a_payload_that_is_no_object_is_replaced_by_the_document() -> None:
    envelope = read({"message_type": "Q21WARMUPRESPONSE", "payload": "text", "answer": "42"})
    assert envelope.payload == WarmupResponse(answer="42")


# Payloads: what is tolerated.


@pytest.mark.parametrize("answer", ["42", 42, "", None, ["4", "2"], True, math.nan])
def test_any_warmup_answer_will_do_as_long_as_there_is_one(answer: object) -> None:
    assert isinstance(payload_of("Q21WARMUPRESPONSE", answer=answer), WarmupResponse)
    assert isinstance(payload_of("Q21WARMUPRESPONSE", auth_token="tok_1"), BrokenPayload)


@pytest.mark.parametrize("answer", [None, math.nan, math.inf, -math.inf])
def test_a_warmup_answer_that_is_no_value_is_an_empty_text(answer: object) -> None:
    assert payload_of("Q21WARMUPRESPONSE", answer=answer) == WarmupResponse(answer="")


@pytest.mark.parametrize(
    "item",
    [
        {"question_number": 3, "question_text": "Why?", "options": {"A": "a", "B": "b", "C": "c", "D": "d"}},
        {"number": "3", "text": "Why?", "choices": {"a": "a", "b": "b", "c": "c", "d": "d"}},
        {"id": 3.0, "question": "Why?", "options": ["a", "b", "c", "d", "e"]},
        {"question_number": True, "number": 3, "question_text": "", "text": "Why?", "choices": ["a", "b", "c", "d"]},
    ],
)
def test_a_question_is_the_same_in_every_spelling(item: object) -> None:
    payload = payload_of("Q21QUESTIONSBATCH", questions=[item])
    assert isinstance(payload, QuestionsBatch)
    (question,) = payload.questions
    assert (question.number, question.text, question.options) == (3, "Why?", ("a", "b", "c", "d"))


def test_a_question_without_a_number_has_its_position_and_missing_options_are_empty() -> None:
    payload = payload_of("Q21QUESTIONSBATCH", questions=[{"text": "x"}, {"text": "y", "options": {"B": 7}}])
    assert isinstance(payload, QuestionsBatch)
    assert [question.number for question in payload.questions] == [1, 2]
    assert [question.options for question in payload.questions] == [("", "", "", ""), ("", "7", "", "")]


@pytest.mark.parametrize(
    ("questions", "path"),
    [
        (None, "questions"),
        ("20 questions", "questions"),
        ({"1": "Why?"}, "questions"),
        ([{"text": "x"}] * 1001, "questions"),
        ([{"text": "x"}, "Why?"], "questions[1]"),
        ([{"options": ["a", "b", "c", "d"]}], "questions[0].question_text"),
    ],
)
def test_a_batch_that_is_no_list_of_questions_is_unusable(questions: object, path: str) -> None:
    payload = payload_of("Q21QUESTIONSBATCH", questions=questions)
    assert isinstance(payload, BrokenPayload)
    assert payload.violations[0].path == path


def test_a_flood_of_violations_is_shortened() -> None:
    payload = payload_of("Q21QUESTIONSBATCH", questions=[None] * 900)
    assert isinstance(payload, BrokenPayload)
    assert len(payload.violations) == 20


@pytest.mark.parametrize(
    "answers",
    [
        [{"question_number": 1, "answer": "A"}, {"question_number": 2, "answer": "Not Relevant"}],
        [{"question_id": "1", "selected_option": "a"}, {"number": 2, "choice": "NOT_RELEVANT"}],
        [{"selected": " A "}, {"answer": "not relevant"}],
        ["A", "not-relevant"],
        ["A", {"question_number": 2, "answer": "NotRelevant"}, "E", None, {"answer": ["A"]}],
    ],
)
def test_answers_are_the_same_in_every_spelling_and_unreadable_ones_are_left_out(answers: list[object]) -> None:
    expected = (Answer(number=1, choice=Choice.A), Answer(number=2, choice=Choice.NOT_RELEVANT))
    for key in ("answers", "opponent_answers"):
        payload = payload_of("Q21ANSWERSBATCH", **{key: answers})
        assert isinstance(payload, AnswersBatch)
        assert payload.answers == expected


def test_an_answer_batch_without_a_list_is_unusable_and_an_empty_one_is_not() -> None:
    assert isinstance(payload_of("Q21ANSWERSBATCH"), BrokenPayload)
    assert isinstance(payload_of("Q21ANSWERSBATCH", answers=[]), AnswersBatch)


@pytest.mark.parametrize(
    "payload",
    [
        {"opening_sentence": "It was.", "associative_word": "knife", "confidence": 0.7},
        {"guess": {"opening_sentence": "It was.", "associative_word": "knife", "confidence": "0.7"}},
        {"opening_sentence_guess": "It was.", "associative_word_guess": "knife", "confidence": 0.7},
        {"opening_sentence": "It was.", "association_word": "knife", "confidence": 0.7},
    ],
)
def test_a_guess_is_the_same_in_every_spelling(payload: dict[str, object]) -> None:
    assert payload_of("Q21_GUESS_SUBMISSION", **payload) == GuessSubmission(
        guess=Guess(
            opening_sentence="It was.",
            sentence_justification="",
            associative_word="knife",
            word_justification="",
            confidence=0.7,
        )
    )


@pytest.mark.parametrize("confidence", [math.nan, math.inf, -0.1, 1.1, True, "high", None, [], 10**400])
def test_a_confidence_that_is_none_is_left_out(confidence: object) -> None:
    payload = payload_of("Q21GUESSSUBMISSION", opening_sentence="It was.", confidence=confidence)
    assert isinstance(payload, GuessSubmission)
    assert payload.guess.confidence is None


def test_a_guess_without_any_of_its_texts_is_unusable() -> None:
    assert isinstance(payload_of("Q21GUESSSUBMISSION", match_id="0302001", confidence=1), BrokenPayload)
    assert isinstance(payload_of("Q21GUESSSUBMISSION", guess={}), BrokenPayload)


@pytest.mark.parametrize("key", ["book_hint", "book_description", "description", "general_description"])
@pytest.mark.parametrize(
    "domain", ["association_word", "associative_domain", "association_topic", "association_domain"]
)
def test_older_keys_of_the_round_start_are_read(key: str, domain: str) -> None:
    payload = payload_of("Q21ROUNDSTART", **{"book_name": "B", key: "H", domain: "D", "questions_required": "20"})
    assert isinstance(payload, RoundStart)
    assert (payload.brief.book_hint, payload.brief.association_domain) == ("H", "D")
    assert (payload.questions_required, payload.deadline) == (20, None)


@pytest.mark.parametrize("points", [4, -1, 1.5, "two", True, math.nan, 10**400, [], "1e1"])
def test_points_that_are_none_make_a_score_unusable(points: object) -> None:
    assert isinstance(payload_of("Q21SCOREFEEDBACK", league_points=points, private_score=1), BrokenPayload)
    row = {"participant_id": "falcons", "email": "f@example.com", "league_points": points, "private_score": 1}
    report = payload_of("MATCH_RESULT_REPORT", status="completed", scores=[row])
    assert isinstance(report, BrokenPayload)
    assert report.violations[0].path == "scores[0].league_points"


@pytest.mark.parametrize("score", [100.5, -0.5, math.nan, math.inf, True, "much", 10**400, {}])
def test_a_private_score_out_of_range_is_unusable(score: object) -> None:
    assert isinstance(payload_of("Q21SCOREFEEDBACK", league_points=1, private_score=score), BrokenPayload)


def test_an_empty_breakdown_and_half_a_feedback_are_accepted() -> None:
    payload = payload_of(
        "Q21SCOREFEEDBACK",
        league_points="2",
        private_score="78.5",
        breakdown={},
        feedback={"opening_sentence": "Close."},
    )
    assert isinstance(payload, ScoreFeedback)
    card = payload.scorecard
    assert (card.league_points, card.private_score, card.breakdown) == (2, 78.5, None)
    assert card.feedback == Feedback(opening_sentence="Close.", associative_word="")


def test_the_older_score_message_is_read_as_feedback() -> None:
    scores = dict.fromkeys(
        (
            "opening_sentence_score",
            "sentence_justification_score",
            "associative_word_score",
            "word_justification_score",
        ),
        50,
    )
    payload = payload_of("Q21_GUESS_RESULT", total_score=50, word_feedback="Yes.", **scores)
    assert isinstance(payload, ScoreFeedback)
    assert payload.scorecard.breakdown == Breakdown(**dict.fromkeys(scores, 50.0))
    assert payload.scorecard.private_score == 50.0


@pytest.mark.parametrize(
    ("status", "reason", "is_registered"),
    [
        ("accepted", None, True),
        ("ACCEPTED", None, True),
        ("Registered", None, True),
        ("OK", None, True),
        ("rejected", "already_registered", True),
        ("Rejected", "Already Registered", True),
        ("rejected", "deadline_passed", False),
    ],
)
def test_registration_is_understood_in_every_spelling(status: str, reason: str | None, is_registered: bool) -> None:
    payload = payload_of("SEASON_REGISTRATION_RESPONSE", status=status, reason=reason)
    assert isinstance(payload, RegistrationResponse)
    assert payload.is_registered is is_registered


@pytest.mark.parametrize("status", ["pending", "", None, 5, {}])
def test_an_unknown_registration_status_is_unusable(status: object) -> None:
    assert isinstance(payload_of("SEASON_REGISTRATION_RESPONSE", status=status), BrokenPayload)


def test_the_role_of_a_request_is_the_payloads_then_the_senders_then_the_subjects() -> None:
    def role(document: dict[str, object]) -> Role | None:
        subject = "league.v2::PLAYER::falcon.player@example.com::t::SEASON_REGISTRATION_REQUEST"
        payload = read(document, subject=subject).payload
        assert isinstance(payload, RegistrationRequest)
        return payload.participant_role

    assert role({"payload": {"player_name": "F"}}) is Role.PLAYER
    assert role({"sender": {"role": "REF"}, "payload": {}}) is Role.REFEREE
    assert role({"sender": {"role": "REF"}, "payload": {"participant_role": "PLAYER_A"}}) is Role.PLAYER


def test_one_bad_row_does_not_spoil_the_table() -> None:
    good = {"role": "PLAYER_A", "email": "a@example.com", "game_id": "0301001", "group_id": "ravens"}
    rows = [good, 5, good | {"role": "coach"}, good | {"email": "nobody"}, good | {"game_id": 301001}]
    payload = payload_of("BROADCAST_ASSIGNMENT_TABLE", assignments=rows)
    assert isinstance(payload, AssignmentTable)
    assert [row.role for row in payload.assignments] == [AssignmentRole.PLAYER1]
    assert [violation.path for violation in payload.skipped] == [f"assignments[{row}]" for row in range(1, 5)]


@pytest.mark.parametrize("rows", [None, [], {}, [5], "rows"])
def test_a_table_without_a_usable_row_is_unusable(rows: object) -> None:
    assert isinstance(payload_of("BROADCAST_ASSIGNMENT_TABLE", assignments=rows), BrokenPayload)


def test_a_table_of_a_large_league_is_read() -> None:
    rows = [{"role": "referee", "email": "a@example.com", "game_id": "0301001", "group_id": "g"}] * 6000
    payload = payload_of("BROADCAST_ASSIGNMENT_TABLE", assignments=rows)
    assert isinstance(payload, AssignmentTable)
    assert len(payload.assignments) == 6000


@pytest.mark.parametrize(
    ("payload", "table"),
    [
        ({"round_number": 2}, None),
        ({"round_number": "2", "participant_lookup_table": None}, None),
        ({"round_number": 2, "participant_lookup_table": "all"}, None),
        ({"round_number": 2, "participant_lookup_table": []}, ()),
        ({"round_starting": 2, "participant_lookup_table": ["A@example.com", 5, "x"]}, ("A@example.com",)),
    ],
)
def test_a_round_knows_its_number_and_who_is_present(payload: dict[str, object], table: tuple[str, ...] | None) -> None:
    read_payload = payload_of("BROADCAST_NEW_LEAGUE_ROUND", **payload)
    assert isinstance(read_payload, NewRound)
    assert (read_payload.round_number, read_payload.participant_lookup_table) == (2, table)


@pytest.mark.parametrize("number", [None, 0, -1, 100, True, "two", 1.5])
def test_a_round_without_a_number_is_unusable(number: object) -> None:
    assert isinstance(payload_of("BROADCAST_NEW_LEAGUE_ROUND", round_number=number), BrokenPayload)
    assert isinstance(payload_of("BROADCAST_END_LEAGUE_ROUND", round_number=number), BrokenPayload)


def test_what_the_league_manager_in_the_field_leaves_empty_is_accepted() -> None:
    payload = payload_of(
        "BROADCAST_START_SEASON", season_id="S", game_type="UNKNOWN", total_rounds=0, registration_deadline=""
    )
    assert payload == StartSeason(season_name="S", game_type="UNKNOWN", total_rounds=0, registration_deadline=None)
    older = payload_of("BROADCAST_START_SEASON_REGISTRATION", season_name="S", registration_end="2031-05-02T09:00Z")
    assert isinstance(older, StartSeason)
    assert older.registration_deadline == datetime(2031, 5, 2, 9, tzinfo=UTC)


def test_older_standings_are_read() -> None:
    payload = payload_of("BROADCAST_ROUND_RESULTS", standings=[{"player_id": "falcons", "points": 5}, {}, 5])
    assert isinstance(payload, RoundResults)
    (row,) = payload.standings
    assert (row.rank, row.participant_id, row.total_points) == (1, "falcons", 5)


@pytest.mark.parametrize(
    ("status", "read_status"),
    [
        ("completed", ReportStatus.COMPLETED),
        ("COMPLETED", ReportStatus.COMPLETED),
        ("Aborted", ReportStatus.ABORTED),
        ("completed_single_player", ReportStatus.COMPLETED_SINGLE_PLAYER),
        ("abandoned", ReportStatus.ABORTED),
        ("timeout", ReportStatus.ABORTED),
        ("exploded", ReportStatus.ABORTED),
        (None, ReportStatus.ABORTED),
    ],
)
def test_every_report_status_is_understood(status: object, read_status: ReportStatus) -> None:
    payload = payload_of("MATCH_RESULT_REPORT", status=status, scores=[])
    assert isinstance(payload, MatchReport)
    assert payload.status is read_status


def test_the_two_reports_are_told_apart_by_role_then_by_scores() -> None:
    def kind(role: str | None, **payload: object) -> type:
        return type(read({"message_type": "MATCH_RESULT_REPORT", "sender": {"role": role}, "payload": payload}).payload)

    assert kind("PLAYER", status="COMPLETED", scores=[]) is PlayerReport
    assert kind("REFEREE", status="completed", scores=[]) is MatchReport
    assert kind("REFEREE", status="completed") is BrokenPayload
    assert kind(None, status="completed", scores=[]) is MatchReport
    assert kind(None, status="TERMINATED") is PlayerReport
    assert kind(None, status="TERMINATED", reporter={"role": "PLAYER"}, scores=[]) is PlayerReport


def test_long_texts_are_cut_and_lone_surrogates_replaced() -> None:
    payload = payload_of("BROADCAST_FREE_TEXT", message_text="x" * (LONGEST_TEXT + 5))
    assert payload == FreeText(message_text="x" * LONGEST_TEXT)
    payload = payload_of("Q21WARMUPRESPONSE", answer="a\ud800b \ud83d\ude00")
    assert payload == WarmupResponse(answer="a\ufffdb \U0001f600")


def test_types_of_no_consequence_keep_their_fields_within_bounds() -> None:
    payload = payload_of("GAME_OVER", result="won", score=math.nan, text="x" * 30_000)
    assert isinstance(payload, Legacy)
    assert payload.fields["result"] == "won"
    assert payload.fields["score"] is None
    assert len(str(payload.fields["text"])) == LONGEST_TEXT
    deep: object = 1
    for _ in range(60):
        deep = [deep]
    assert isinstance(payload_of("GAME_OVER", deep=deep), BrokenPayload)
    assert isinstance(payload_of("GAME_OVER", many=[0] * 6000), BrokenPayload)


def test_error_responses_are_read_in_the_older_spelling() -> None:
    payload = payload_of("ERROR_RESPONSE", error_code="E1", error_description="No.", recoverable="true")
    assert payload == ErrorResponse(error_code="E1", error_message="No.", original_message_type="", recoverable=True)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, "nan", "inf", "1e5", True, None, "", " "])
def test_what_is_no_number_is_no_number(value: object) -> None:
    assert number_of(value) is None
