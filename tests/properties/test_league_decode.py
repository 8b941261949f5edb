"""Whatever arrives, reading it gives a message or one of the two declared errors."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from league_agents.league.wire.decode import ForgedSender, NotProtocolMail, decode
from league_agents.league.wire.kinds import MessageType

FROM = "Falcon One <falcon.player@example.com>"

wild = st.text(st.characters(), max_size=20)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | wild | st.sampled_from(["A", "0302001", "\ud800"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(wild, inner, max_size=4),
    max_leaves=12,
)
KEYS = (
    "message_type", "message_id", "timestamp", "sender", "payload", "game_id", "match_id", "deadline",
    "answer", "questions", "answers", "guess", "opening_sentence", "confidence", "scores", "status",
    "league_points", "private_score", "breakdown", "feedback", "assignments", "round_number",
    "participant_lookup_table", "standings", "results", "final_standings", "player_states", "missing_player",
    "tables_cleared", "email", "role", "reporter", "options", "choices", "number", "text",
)  # fmt: skip
fields = st.dictionaries(st.sampled_from(KEYS), values, max_size=6)
objects = st.dictionaries(st.sampled_from(KEYS), values | st.lists(fields, max_size=3), max_size=8)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(MessageType), objects, fields, st.text(max_size=40))
def test_any_document_is_a_message_or_one_of_two_errors(
    kind: MessageType, payload: dict[str, object], more: dict[str, object], subject: str
) -> None:
    document = {**more, "message_type": kind.value, "payload": payload}
    try:
        envelope = decode(subject=subject, from_header=FROM, documents=[document], mail_id="m")
    except (NotProtocolMail, ForgedSender):
        return
    assert envelope.message_type is kind
    msgspec.json.encode(envelope)  # no lone surrogate got through


@given(st.lists(values, max_size=3), st.text(max_size=60), st.text(max_size=60))
def test_any_mail_is_a_message_or_one_of_two_errors(documents: list[object], subject: str, sender: str) -> None:
    try:
        decode(subject=subject, from_header=sender, documents=documents, mail_id="m")
    except (NotProtocolMail, ForgedSender):
        pass
    else:
        assert any(isinstance(document, dict) for document in documents)
