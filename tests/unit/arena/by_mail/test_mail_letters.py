"""Subjects and letters of the arena are told from all other mail, and what comes in is bounded."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from league_agents.arena.by_mail.letters import (
    MOST_MESSAGES,
    LetterHeading,
    NoMessages,
    copy_id,
    format_subject,
    messages_in,
    read_subject,
)
from league_agents.league.wire.subject import parse_subject
from league_agents.mail.port import Mail

HEADING = LetterHeading(game="undercover", match_id="m-7f3a", agent_id="agent_2")


def mail(*documents: Any, **others: Any) -> Mail:
    return Mail(
        mail_id="mail-1",
        arrived_at=datetime(2026, 3, 2, tzinfo=UTC),
        from_header="a@arena.test",
        subject="",
        documents=documents,
        **others,
    )


def test_a_subject_is_read_as_it_was_written() -> None:
    assert read_subject(format_subject(HEADING, "t-1")) == HEADING


@pytest.mark.parametrize("prefix", ["Re: ", "RE: Fwd: ", "AW:", "  "])
def test_replies_of_mail_programs_are_letters_too(prefix: str) -> None:
    assert read_subject(prefix + format_subject(HEADING, "t-1")) == HEADING


@pytest.mark.parametrize(
    "heading",
    [HEADING, LetterHeading(game="q21", match_id="a::b::c::d", agent_id="league.v2::referee::x::y::Q21WARMUPCALL")],
)
def test_no_subject_of_the_arena_is_one_of_the_league(heading: LetterHeading) -> None:
    assert parse_subject(format_subject(heading, "league.v2::a::b::c::d")) is None


@pytest.mark.parametrize(
    "subject",
    [
        "league.v2::referee::ref@example.com::msg-1::Q21WARMUPCALL",
        "[league.v2][referee][0101001][Q21WARMUPCALL]",
        "Boardgame/1.0.0",
        "Boardgame/1.0.0 undercover m-1",
        "Boardgame/1.0.0  undercover m-1 agent_1 t-1",
        "Boardgame/1.0.0 undercover m-1 agent\n1 t-1",
        "Boardgame/1.0.0 undercover m-1 agent_1 t-1 and more",
        "Hello, do you play Boardgame/1.0.0 undercover m-1 agent_1 t-1",
        "Re:" * 500 + "Boardgame/1.0.0 undercover m-1 agent_1 t-1",
        "",
    ],
)
def test_other_mail_is_no_letter(subject: str) -> None:
    assert read_subject(subject) is None


def test_a_letter_is_one_envelope_or_several() -> None:
    assert messages_in(mail({"type": "get_state"})) == [{"type": "get_state"}]
    assert messages_in(mail({"messages": [{"type": "a"}, {"type": "b"}]}, {"type": "c"})) == [
        {"type": "a"}, {"type": "b"}, {"type": "c"},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("documents", "code"),
    [
        ((), "malformed_json"),
        (({"messages": []},), "malformed_json"),
        (("a text",), "not_an_object"),
        (({"messages": [1]},), "not_an_object"),
        (({"messages": [{}] * (MOST_MESSAGES + 1)},), "too_large"),
        (({"type": "x" * 70_000},), "too_large"),
        (({"type": object()},), "malformed_json"),
    ],
)
def test_what_holds_no_message_is_named(documents: tuple[Any, ...], code: str) -> None:
    with pytest.raises(NoMessages) as caught:
        messages_in(mail(*documents))
    assert caught.value.code == code


def test_a_part_that_could_not_be_read_is_the_reason() -> None:
    with pytest.raises(NoMessages, match="is no JSON"):
        messages_in(mail(problems=("'a.json' is no JSON: line 1",)))


def test_copies_of_a_mail_are_known_by_what_the_sender_wrote_into_it() -> None:
    assert copy_id(mail(headers={"x-league-message-id": "a-1", "message-id": "<1@gmail>"})) == "a-1"
    assert copy_id(mail(headers={"message-id": "<1@gmail>"})) == "<1@gmail>"
    assert copy_id(mail()) == "mail-1"
