"""The canonical spelling is decoded in one pass: to what the tolerant readers make of it, or not at all."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.kit.errors import RemoteProtocolError
from league_agents.league.wire.decode import decode, decode_any, decode_canonical
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.messages.batches import (
    canonical_answers,
    canonical_questions,
    read_any_answers,
    read_any_questions,
)
from league_agents.league.wire.payload import BrokenPayload
from league_agents.league.wire.subject import format_subject

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "league" / "canonical").glob("*.json"))
DOCUMENTS: tuple[dict[str, Any], ...] = tuple(json.loads(path.read_text("utf-8")) for path in GOLDEN)


def deep(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = [value]
    return value


KEYS = (
    "protocol", "message_type", "message_id", "timestamp", "sender", "email", "role", "logical_id", "recipient_id",
    "payload", "correlation_id", "broadcast_id", "league_id", "leagueid", "season_id", "round_id", "game_id",
    "match_id", "deadline", "reporter", "questions", "question_number", "question_text", "options", "A", "a",
    "answers", "answer", "number", "text", "auth_token", "assignments", "group_id", "x",
)  # fmt: skip
odd = st.sampled_from(
    (
        None, True, 0, 1, -1, 3.0, 1.5, 10**12, 10**30, float("nan"), "", " ", "\u3000", "x", " x", "x\n", "x" * 201,
        "y" * 20_001, "\ud800", "é", "\x00", "3", "0302001", "T-0302001", "player1", "Player_1", "A", "a",
        "Not Relevant", "not_relevant", "BROADCAST_KEEP_ALIVE", "q21 warmup call", "LEAGUEMANAGER", "league manager",
        "league.v2", "other@example.com", "Other@Example.com", "2031-05-02", "2031-05-02T09:05:00Z",
        "2031-05-02T09:05:00.000000+00:00", [], {}, ["A"], {"role": "PLAYER"}, deep(70), ["x"] * 1_001,
    )
)  # fmt: skip
changes = st.lists(st.tuples(st.integers(0, 1_000), st.sampled_from((*KEYS, "")), odd), max_size=3)


def holders(value: Any) -> Iterator[dict[str, Any]]:
    """The objects in a document, from the outside to the inside."""
    if isinstance(value, dict):
        yield value
        for each in list(value.values()):
            yield from holders(each)
    elif isinstance(value, list):
        for each in value:
            yield from holders(each)


def subject_of(document: dict[str, Any]) -> str:
    sender = document["sender"]
    return "::".join((document["protocol"], sender["role"], sender["email"], "tx-1", document["message_type"]))


def tolerant(fields: dict[str, Any], subject: str, sender: str) -> Envelope | str:
    try:
        return decode_any(fields, subject, sender, "m")
    except RemoteProtocolError as error:
        return str(error)


@pytest.mark.parametrize("document", DOCUMENTS, ids=[path.stem for path in GOLDEN])
def test_every_canonical_document_is_decoded_in_one_pass(document: dict[str, Any]) -> None:
    sender = document["sender"]["email"]
    envelope = decode_canonical(document, subject_of(document), sender)
    assert envelope is not None
    assert envelope == tolerant(document, subject_of(document), sender)
    assert decode(subject=subject_of(document), from_header=sender, documents=[document], mail_id="m") == envelope


@settings(max_examples=600, deadline=None)
@given(
    st.sampled_from(DOCUMENTS),
    changes,
    st.sampled_from(("", "Name <{}>", "other@example.com", "nobody")),
    st.booleans(),
)
def test_a_document_that_was_changed_is_decoded_the_same_by_both(
    document: dict[str, Any], edits: list[tuple[int, str, object]], header: str, keeps_subject: bool
) -> None:
    fields, subject = copy.deepcopy(document), subject_of(document)
    sender = header.format(document["sender"]["email"]) or document["sender"]["email"]
    for place, key, value in edits:
        objects = list(holders(fields))
        holder = objects[place % len(objects)]
        # An empty key stands for one that is there.
        name = key or (list(holder)[place % len(holder)] if holder else "x")
        if value == {}:
            holder.pop(name, None)
        else:
            holder[name] = copy.deepcopy(value)
    if not keeps_subject:
        subject = subject.replace("tx-1", "tx::1") if edits else ""
    envelope = decode_canonical(fields, subject, sender)
    assert envelope is None or repr(envelope) == repr(tolerant(fields, subject, sender))


questions = st.lists(
    st.fixed_dictionaries(
        {"question_number": st.integers(1, 30) | odd, "question_text": st.text(max_size=5) | odd},
        optional={
            "options": st.fixed_dictionaries({letter: st.text(max_size=3) | odd for letter in "ABCD"}) | odd,
            "text": odd, "number": odd, "choices": odd,
        },
    ) | odd,
    max_size=4,
)  # fmt: skip
answers = st.lists(
    st.fixed_dictionaries({"question_number": st.integers(1, 30) | odd, "answer": st.sampled_from("ABCD") | odd}) | odd,
    max_size=4,
)


@given(questions)
def test_questions_are_the_same_both_ways(items: list[object]) -> None:
    short = canonical_questions(items)
    if short is not None:
        long = read_any_questions(items, None)
        assert not isinstance(long, BrokenPayload)
        assert short == long.questions  # type: ignore[attr-defined]


@given(answers)
def test_answers_are_the_same_both_ways(items: list[object]) -> None:
    short = canonical_answers(items)
    assert short is None or short == read_any_answers(items)


def test_what_is_written_is_canonical() -> None:
    for document in DOCUMENTS:
        sender = document["sender"]["email"]
        envelope = decode_canonical(document, subject_of(document), sender)
        assert envelope is not None
        if envelope.payload.refusal() is None:
            again = encode(envelope)
            assert decode_canonical(again, format_subject(envelope), sender) == envelope


def test_a_broadcast_that_several_roles_are_given_is_read_once() -> None:
    document = next(each for each in DOCUMENTS if each["message_type"] == "BROADCAST_ASSIGNMENT_TABLE")
    subject, sender = subject_of(document), document["sender"]["email"]
    one = decode(subject=subject, from_header=sender, documents=[document], mail_id="1")
    other = decode(subject=subject, from_header=sender, documents=[document], mail_id="2")
    assert one.payload is other.payload
    shorter = copy.deepcopy(document)
    del shorter["payload"]["assignments"][3:]
    third = decode(subject=subject, from_header=sender, documents=[shorter], mail_id="3")
    assert len(third.payload.assignments) == 3  # type: ignore[attr-defined]


def test_broadcasts_that_arrive_by_turns_are_read_once_each() -> None:
    documents = [each for each in DOCUMENTS if each["message_type"].startswith("BROADCAST_")][:4]
    decoded = [
        [
            decode(subject=subject_of(each), from_header=each["sender"]["email"], documents=[each], mail_id=mail_id)
            for each in documents
        ]
        for mail_id in ("1", "2")
    ]
    assert len(documents) == 4
    assert all(one.payload is other.payload for one, other in zip(*decoded, strict=True))
