"""A mail of the usual form is read by a short way: it must find what the reader of any mail finds."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import example, given, settings
from hypothesis import strategies as st

from league_agents.mail.mime import build, read, read_any, read_plain
from league_agents.mail.port import OutgoingMail

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=6)


def mail_of(document: dict[str, object], recipients: int = 1) -> bytes:
    return build(
        OutgoingMail(
            sender="owl@example.com",
            to=tuple(f"fox{number}@example.com" for number in range(recipients)),
            subject="PLAYER::owl@example.com::Q21WARMUPRESPONSE::tx-1",
            document=document,
            transaction_id="tx-1",
            sent_at=datetime(2031, 5, 2, tzinfo=UTC),
        )
    )


PLAIN = mail_of({"message_type": "Q21WARMUPRESPONSE", "payload": {"answer": "42"}}, 2)
PIECES = (
    "\r\n", "\n", "\r", "\r\n\r\n", " ", "\t", "--", "--=_", ":", "; ", '"', "=?utf-8?b?YQ==?=", "\x00", "\x7f", "é",
    "From: fox@example.com\r\n", "Subject: two\r\n", "X-Long: " + "x" * 5_000 + "\r\n",
    "Received: by b;\r\n\tlater\r\n",
    "Content-Type: text/html\r\n", "Content-Transfer-Encoding: base64\r\n", "Content-Transfer-Encoding: 7bit\r\n",
    "Content-Disposition: inline; filename=a.json\r\n", "message/rfc822", "multipart/mixed", "{}", '{"a": NaN}',
    "base64",
    "text/plain", "application/json", "boundary=", "=", "A", "From someone\r\n",
)  # fmt: skip


def same(raw: bytes) -> bool:
    """Whether the short way read the mail; what it finds must then be what the long way finds."""
    short = read_plain(raw)
    if short is None:
        return False
    long = read_any(raw)
    assert short == long
    assert list(short.headers) == list(long.headers)
    return True


@given(documents, st.integers(1, 40))
def test_every_mail_of_our_own_goes_the_short_way_and_keeps_its_document(
    document: dict[str, object], recipients: int
) -> None:
    raw = mail_of(document, recipients)
    assert same(raw)
    assert read(raw).documents == (document,)


@settings(max_examples=400)
@given(
    st.lists(
        st.tuples(st.integers(0, len(PLAIN)), st.integers(0, 60), st.sampled_from(PIECES) | st.just("")), max_size=3
    )
)
@example([(0, 0, "Received: by b;\r\n\tlater\r\n")])
@example([(0, 0, "Subject: two\r\n")])
def test_a_mail_that_was_changed_on_its_way_is_read_the_same_by_both(changes: list[tuple[int, int, str]]) -> None:
    raw = PLAIN
    for place, length, piece in changes:
        raw = raw[:place] + piece.encode() + raw[place + length :]
    same(raw)
    read(raw)


def test_headers_that_mail_servers_add_do_not_lengthen_the_way() -> None:
    assert same(b"Received: by mx.example.com;\r\n\tFri, 2 May 2031\r\nReturn-Path: <owl@example.com>\r\n" + PLAIN)


def test_a_part_of_another_kind_takes_the_long_way() -> None:
    assert not same(PLAIN.replace(b"text/plain", b"text/html"))
    assert not same(PLAIN.replace(b"base64", b"quoted-printable"))
    assert not same(PLAIN.replace(b"multipart/mixed", b"multipart/alternative"))
