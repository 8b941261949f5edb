"""The subject line in every form, and the words in it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from league_agents.kit.errors import LocalProtocolError
from league_agents.kit.ids import GameId
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role, canonical_role, canonical_type
from league_agents.league.wire.messages import WarmupResponse
from league_agents.league.wire.subject import Subject, format_subject, parse_subject

OURS = Envelope(
    protocol=Protocol.GAME,
    message_type=MessageType.Q21WARMUPRESPONSE,
    message_id="7c7f7c5e-5d0e",
    timestamp=datetime(2031, 5, 2, tzinfo=UTC),
    sender=Sender(email="falcon.player@example.com", role=Role.PLAYER),
    recipient_id="REF-RAVENS",
    payload=WarmupResponse(answer="42"),
    game_id=GameId("0302001"),
)

WARMUP_CALL = Subject(
    protocol=Protocol.GAME,
    role=Role.REFEREE,
    email="whistle@example.com",
    transaction_id="warmup-1",
    message_type=MessageType.Q21WARMUPCALL,
)


@pytest.mark.parametrize(
    "text",
    [
        "Q21G.v1::REFEREE::whistle@example.com::warmup-1::Q21WARMUPCALL",
        "  Q21G.v1 :: REFEREE :: whistle@example.com :: warmup-1 :: Q21_WARMUP_CALL  ",
        "q21g.v1::referee::whistle@example.com::warmup-1::q21warmupcall",
        "Re: Fwd: Q21G.v1::REF::whistle@example.com::[warmup-1]::Q21WARMUPCALL",
        "RE[2]: Q21G.v1::REFEREE::whistle@example.com::warmup-1::Q21-WARMUP-CALL",
        "Q21G.v1::REFEREE::whistle@example.com::warmup-1::Q21WARMUPCALL::LG-ALPHA::R2",
    ],
)
def test_tolerated_spellings_mean_the_same(text: str) -> None:
    assert parse_subject(text) == WARMUP_CALL


def test_the_type_is_the_fifth_part_of_eight_and_the_game_the_eighth() -> None:
    read = parse_subject("league.v2::REFEREE::a@b.c::t::Q21WARMUPCALL::LG::ROUND_2::TRAIN_2031-05-02_0302001")
    assert read is not None
    assert read.message_type is MessageType.Q21WARMUPCALL
    assert read.game_id == "0302001"


def test_a_bracketed_subject_names_no_sender() -> None:
    read = parse_subject("[Q21G][REFEREE][0302001][Q21SCOREFEEDBACK]")
    assert read == Subject(
        protocol=Protocol.GAME,
        role=Role.REFEREE,
        email=None,
        transaction_id=None,
        message_type=MessageType.Q21SCOREFEEDBACK,
        game_id=GameId("0302001"),
    )


@pytest.mark.parametrize(
    "text",
    ["", "Your invoice", "league.v2::PLAYER::a@b.c::t", "a::b::c::d::e", "[Q21G][PLAYER]", "[JIRA][x][y][z]",
     "league.v2::" * 400, "Re:" * 500, "::::::::"],
)  # fmt: skip
def test_other_subjects_say_nothing(text: str) -> None:
    assert parse_subject(text) is None


def test_an_unknown_type_or_role_leaves_the_rest_readable() -> None:
    read = parse_subject("league.v2::WIZARD::a@b.c::t::BROADCAST_PARTY")
    assert read is not None
    assert (read.role, read.message_type, read.transaction_id) == (None, None, "t")


def test_what_is_written_is_read_again() -> None:
    text = format_subject(OURS)
    assert text == "Q21G.v1::PLAYER::falcon.player@example.com::7c7f7c5e-5d0e::Q21WARMUPRESPONSE"
    read = parse_subject(text)
    assert read is not None
    assert (read.protocol, read.role, read.email) == (OURS.protocol, OURS.sender.role, OURS.sender.email)
    assert (read.transaction_id, read.message_type) == (OURS.message_id, OURS.message_type)


@pytest.mark.parametrize(
    "message_id",
    ["a::b", "a\r\nBcc: x@y.z", "a b", "שלום", "", "x" * 201, ":a", "a:", "[a]", "a\x00b"],
)
def test_an_id_that_could_add_a_part_or_a_line_is_not_written(message_id: str) -> None:
    with pytest.raises(LocalProtocolError):
        format_subject(replace(OURS, message_id=message_id))


@pytest.mark.parametrize("address", ["", "a@b::c@d", "a@b\r\nTo: c@d", "Ann <a@b.c>", "ä@b.c"])
def test_an_address_that_is_none_is_not_written(address: str) -> None:
    with pytest.raises(LocalProtocolError):
        format_subject(replace(OURS, sender=Sender(email=address, role=Role.PLAYER)))


def test_a_sender_without_a_role_writes_no_subject() -> None:
    with pytest.raises(LocalProtocolError):
        format_subject(replace(OURS, sender=Sender(email="a@b.c", role=None)))


@given(st.text())
def test_any_text_is_a_subject_or_none(text: str) -> None:
    assert parse_subject(text) is None or "::" in text or "[" in text


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("GROUP_ASSIGNMENT_RESPONSE", MessageType.RESPONSE_GROUP_ASSIGNMENT),
        ("keepaliveresponse", MessageType.RESPONSE_KEEP_ALIVE),
        ("RESPONSE_CRITICAL_PAUSE", MessageType.CRITICAL_PAUSE_RESPONSE),
        ("response critical continue", MessageType.CRITICAL_CONTINUE_RESPONSE),
        ("RESPONSE-CRITICAL-RESET", MessageType.CRITICAL_RESET_RESPONSE),
        ("RESPONSE_FREE_TEXT", MessageType.FREE_TEXT_RESPONSE),
        ("CONNECTIVITY_TEST_RESPONSE", MessageType.CONNECTIVITY_TEST_ECHO),
        ("RESPONSE_ASSIGNMENT_TABLE", MessageType.ASSIGNMENT_TABLE_RESPONSE),
        ("RESPONSE_START_SEASON", MessageType.START_SEASON_RESPONSE),
        ("RESPONSE_LEAGUE_REGISTER", MessageType.LEAGUE_REGISTER_RESPONSE),
        ("Q21_WARMUP_CALL", MessageType.Q21WARMUPCALL),
        ("BROADCAST_PARTY", None),
        ("", None),
        (5, None),
        ("_" * 5000, None),
    ],
)
def test_types_are_recognised_in_every_spelling_or_not_at_all(text: object, kind: MessageType | None) -> None:
    assert canonical_type(text) is kind


@pytest.mark.parametrize(
    ("text", "role"),
    [
        ("LEAGUE_MANAGER", Role.LEAGUEMANAGER),
        ("lgm", Role.LEAGUEMANAGER),
        ("Server", Role.LEAGUEMANAGER),
        ("manager", Role.LEAGUEMANAGER),
        ("ref", Role.REFEREE),
        ("PLAYER_A", Role.PLAYER),
        ("player2", Role.PLAYER),
        ("coach", None),
        (None, None),
    ],
)
def test_roles_are_recognised_in_every_spelling_or_not_at_all(text: object, role: Role | None) -> None:
    assert canonical_role(text) is role
