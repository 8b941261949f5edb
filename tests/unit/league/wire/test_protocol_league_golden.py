"""Every example of the protocol, in every form that is in the field (checklist 1)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from league_agents.league.wire.catalogue import CANONICAL_TYPES
from league_agents.league.wire.decode import decode
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import GAME_TYPES, MessageType
from league_agents.league.wire.messages import BrokenPayload
from league_agents.league.wire.subject import format_subject

GOLDEN = Path(__file__).resolve().parents[3] / "golden" / "league"
CANONICAL = sorted((GOLDEN / "canonical").glob("*.json"))
FIELD = sorted((GOLDEN / "field").glob("*.json"))

Document = dict[str, object]


def load(path: Path) -> dict[str, object]:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(document, dict)
    return document


def address(document: Document) -> str:
    sender = document["sender"]
    assert isinstance(sender, dict)
    return str(sender["email"])


def read(document: Document, *, subject: str = "a useless subject", sender: str | None = None) -> Envelope:
    return decode(subject=subject, from_header=sender or address(document), documents=[document], mail_id="mail-1")


def keys_in_order(value: object) -> object:
    if isinstance(value, dict):
        return [(key, keys_in_order(item)) for key, item in value.items()]
    return [keys_in_order(item) for item in value] if isinstance(value, list) else None


canonical_examples = pytest.mark.parametrize("path", CANONICAL, ids=lambda path: path.stem)


def test_there_is_an_example_of_every_type_that_is_sent() -> None:
    shown = {load(path)["message_type"] for path in CANONICAL}
    assert shown == {kind.value for kind in CANONICAL_TYPES.values()}


@canonical_examples
def test_a_canonical_example_is_written_again_as_it_was_read(path: Path) -> None:
    document = load(path)
    written = encode(read(document))
    assert written == document
    assert keys_in_order(written) == keys_in_order(document)


@canonical_examples
def test_numbers_keep_their_kind(path: Path) -> None:
    document = load(path)
    assert json.dumps(encode(read(document)), sort_keys=True) == json.dumps(document, sort_keys=True)


@canonical_examples
def test_a_bare_payload_is_understood_with_its_subject(path: Path) -> None:
    document = load(path)
    envelope = read(document)
    bare = read({"payload": document["payload"]}, subject=format_subject(envelope), sender=address(document))
    assert bare.payload == envelope.payload
    assert bare.message_type is envelope.message_type
    assert bare.sender.role is envelope.sender.role
    assert bare.message_id == envelope.message_id
    if envelope.message_type in GAME_TYPES:
        assert bare.game_id == envelope.game_id


@canonical_examples
def test_underscores_and_the_other_protocol_change_nothing(path: Path) -> None:
    document = load(path)
    kind = str(document["message_type"])
    for spelling in (kind.replace("_", ""), kind.lower(), kind.replace("Q21", "Q21_"), f" {kind} "):
        assert read(document | {"message_type": spelling, "protocol": "league.v2"}) == read(document)


@canonical_examples
def test_a_bracketed_subject_changes_nothing_when_the_document_is_complete(path: Path) -> None:
    document = load(path)
    subject = f"[Q21G][REFEREE][0302001][{document['message_type']}]"
    bracketed = read(document, subject=subject)
    envelope = read(document)
    assert bracketed.payload == envelope.payload
    assert bracketed.message_type is envelope.message_type
    assert bracketed.message_id == envelope.message_id


@canonical_examples
def test_unknown_keys_are_ignored_everywhere(path: Path) -> None:
    document = load(path)

    def with_more(value: object) -> object:
        if isinstance(value, dict):
            return {key: with_more(item) for key, item in value.items()} | {"x_future": {"deep": [1]}}
        return [with_more(item) for item in value] if isinstance(value, list) else value

    more = with_more(document)
    assert isinstance(more, dict)
    assert read(more) == read(document)


@canonical_examples
def test_nothing_is_broken_in_the_examples(path: Path) -> None:
    assert not isinstance(read(load(path)).payload, BrokenPayload)


@pytest.mark.parametrize("path", FIELD, ids=lambda path: path.stem)
def test_a_form_from_the_field_is_understood(path: Path) -> None:
    form = load(path)
    expect = form["expect"]
    document = form["document"]
    assert isinstance(expect, dict)
    assert isinstance(document, dict)
    envelope = read(document, subject=str(form["subject"]), sender=str(form["from"]))
    assert type(envelope.payload).__name__ == expect["payload"]
    assert envelope.message_type.value == expect["message_type"]
    assert envelope.sender.role is not None
    assert envelope.sender.role.value == expect["role"]
    for key in ("message_id", "game_id", "league_id", "season_id", "round_id", "broadcast_id"):
        assert getattr(envelope, key) == expect.get(key), key
    if "same_payload_as" in expect:
        canonical = load(GOLDEN / "canonical" / f"{expect['same_payload_as']}.json")
        assert envelope.payload == read(canonical).payload


def test_every_type_of_the_catalogue_is_recognised_without_underscores() -> None:
    for kind in MessageType:
        document: Document = {"message_type": kind.replace("_", "").lower(), "payload": {}}
        assert read(document, sender="league-office@example.com").message_type is kind
