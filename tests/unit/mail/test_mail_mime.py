"""A mail as bytes: the one form that is written, all the forms that are read, and what hostile ones may cost."""

from __future__ import annotations

import base64
import email
import email.policy
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from league_agents.kit.errors import LocalProtocolError
from league_agents.league.wire.decode import NotProtocolMail, decode
from league_agents.mail.mime import (
    MOST_BYTES,
    MOST_CONTAINERS,
    MOST_DOCUMENT_BYTES,
    MOST_DOCUMENT_LEVELS,
    MOST_LINES,
    MOST_PARTS,
    ParsedMail,
    build,
    read,
)
from league_agents.mail.port import OutgoingMail

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "league" / "canonical"
DOCUMENT = {"message_type": "Q21WARMUPRESPONSE", "payload": {"answer": "ארבעים ושתיים"}}
TEXT = json.dumps(DOCUMENT)
MAIL = OutgoingMail(
    sender="falcon.player@example.com",
    to=("whistle@example.com",),
    subject="Q21G.v1::PLAYER::falcon.player@example.com::m-1::Q21WARMUPRESPONSE",
    document=DOCUMENT,
    transaction_id="m-1",
    sent_at=datetime(2031, 5, 2, 10, 0, 12, tzinfo=UTC),
)


def mail(body: str | bytes, *headers: str) -> bytes:
    head = "\r\n".join(["From: a@example.com", *headers, "", ""]).encode("utf-8", "surrogateescape")
    return head + (body if isinstance(body, bytes) else body.encode())


def parts(*leaves: str, kind: str = "mixed", boundary: str = "frontier") -> str:
    """The header and the body of a container."""
    inner = "".join(f"--{boundary}\r\n{leaf}\r\n" for leaf in leaves)
    return f'Content-Type: multipart/{kind}; boundary="{boundary}"\r\n\r\n{inner}--{boundary}--\r\n'


def leaf(content: str, *headers: str) -> str:
    return "\r\n".join([*headers, "", content])


def raw(text: str) -> bytes:
    return b"From: a@example.com\r\n" + text.encode()


# What is written.


def test_a_mail_has_a_text_and_one_attachment_side_by_side() -> None:
    message = email.message_from_bytes(build(MAIL), policy=email.policy.default)
    assert message.get_content_type() == "multipart/mixed"
    body, attachment = message.iter_parts()
    assert body.get_content_type() == "text/plain"
    assert body.get_content_charset() == "utf-8"
    assert attachment.get_content_type() == "application/json"
    assert attachment["Content-Transfer-Encoding"] == "base64"
    assert attachment["Content-Disposition"] == 'attachment; filename="payload.json"'
    assert json.loads(attachment.get_content()) == DOCUMENT
    assert not message.defects


def test_the_body_is_no_document() -> None:
    message = email.message_from_bytes(build(MAIL), policy=email.policy.default)
    text = next(iter(message.iter_parts())).get_content()
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(text)


def test_the_headers_are_spelled_as_deployed_clients_look_them_up() -> None:
    lines = build(MAIL).split(b"\r\n\r\n")[0].split(b"\r\n")
    names = [line.split(b":")[0].decode() for line in lines]
    assert names == [
        "From",
        "To",
        "Subject",
        "Date",
        "Message-ID",
        "Auto-Submitted",
        "X-League-Message-ID",
        "MIME-Version",
        "Content-Type",
    ]
    assert b"Auto-Submitted: auto-generated" in lines
    assert b"Subject: " + MAIL.subject.encode() in lines
    assert b"Date: Fri, 02 May 2031 10:00:12 +0000" in lines


def test_the_same_mail_gives_the_same_bytes_and_another_one_another_id() -> None:
    assert build(MAIL) == build(replace(MAIL))
    other = build(replace(MAIL, transaction_id="m-2"))
    assert read(other).headers["message-id"] != read(build(MAIL)).headers["message-id"]


def test_a_broadcast_is_one_mail_whose_lines_are_short() -> None:
    recipients = tuple(f"participant-{number:03}@example.com" for number in range(200))
    written = build(replace(MAIL, to=recipients, file_name="BROADCAST_START_SEASON.json"))
    assert max(len(line) for line in written.split(b"\r\n")) < 200
    assert read(written).headers["to"].startswith("participant-000@example.com, participant-001@example.com,")
    assert b'filename="BROADCAST_START_SEASON.json"' in written


@pytest.mark.parametrize(
    "change",
    [
        {"subject": "a\r\nBcc: evil@example.org"},
        {"subject": "a\nb"},
        {"subject": "שלום"},
        {"subject": ""},
        {"subject": "x" * 1000},
        {"transaction_id": "a\r\nX: y"},
        {"sender": "a@example.com\r\nBcc: evil@example.org"},
        {"sender": "A <a@example.com>"},
        {"sender": "a@example.com, b@example.com"},
        {"to": ()},
        {"to": ("a@example.com", "b@example.com\nX: y")},
        {"file_name": "payload.JSON"},
        {"file_name": 'x".json'},
        {"file_name": "a\r\nb.json"},
        {"file_name": "../x.json"},
        {"document": {"x": float("nan")}},
        {"document": {"x": {1, 2}}},
        {"document": {"x": "\ud800"}},
    ],
)
def test_what_could_break_out_of_its_place_is_not_written(change: Mapping[str, object]) -> None:
    with pytest.raises(LocalProtocolError):
        build(replace(MAIL, **change))  # type: ignore[arg-type]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), inner, max_size=4),
    max_leaves=10,
)  # fmt: skip


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), json_values, max_size=4))
@example({"boundary": "--=_", "crlf": "\r\n.\r\nFrom: x"})
def test_what_is_written_is_read_again(document: dict[str, object]) -> None:
    parsed = read(build(replace(MAIL, document=document)))
    assert parsed.documents == (document,)
    assert (parsed.subject, parsed.from_header, parsed.problems) == (MAIL.subject, MAIL.sender, ())


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_every_example_survives_the_mail(path: Path) -> None:
    document = json.loads(path.read_text(encoding="utf-8"))
    assert read(build(replace(MAIL, document=document))).documents == (document,)


# What is read.

ATTACHED = ("Content-Type: application/octet-stream", 'Content-Disposition: attachment; filename="payload.JSON"')

FORMS = {
    "in the body": mail(TEXT, "Content-Type: text/plain; charset=utf-8"),
    "in a body without any type": mail(f"\r\n  {TEXT}\r\n"),
    "in the body in base64": mail(
        base64.encodebytes(DOCUMENT_BYTES := json.dumps(DOCUMENT, ensure_ascii=False).encode()),
        "Content-Transfer-Encoding: base64",
    ),
    "in the body in 8 bits": mail(DOCUMENT_BYTES, "Content-Transfer-Encoding: 8bit"),
    "as the whole mail": mail(TEXT, "content-type: APPLICATION/JSON"),
    "upper-case file name": raw(parts(leaf("hello"), leaf(TEXT, *ATTACHED))),
    "inline without a name": raw(parts(leaf("hello"), leaf(TEXT, "Content-Type: application/json"))),
    "nested three deep": raw(
        parts(
            leaf("hello"),
            parts(parts(leaf(TEXT, *ATTACHED), kind="related", boundary="b"), kind="alternative", boundary="a"),
        )
    ),
    "a name in pieces": raw(
        parts(leaf(TEXT, "Content-Type: x/y", "Content-Disposition: attachment; filename*0=pay; filename*1=load.json"))
    ),
    "a name with percent signs": raw(
        parts(leaf(TEXT, "Content-Type: x/y", "Content-Disposition: attachment; filename*=utf-8''%D7%90.json"))
    ),
    "a name in an encoded word": raw(parts(leaf(TEXT, 'Content-Type: x/y; name="=?utf-8?b?15AuanNvbg==?="'))),
    "quoted-printable": raw(
        parts(
            leaf(
                TEXT.replace("=", "=3D").replace(",", "=2C=\r\n"),
                "Content-Type: application/json",
                "Content-Transfer-Encoding: quoted-printable",
            )
        )
    ),
    "with a byte order mark": mail(b"\xef\xbb\xbf" + DOCUMENT_BYTES, "Content-Type: application/json"),
    "in a body with a byte order mark": mail(b"\xef\xbb\xbf" + DOCUMENT_BYTES, "Content-Transfer-Encoding: 8bit"),
    "in UTF-16": mail(
        base64.encodebytes(TEXT.encode("utf-16")), "Content-Type: application/json", "Content-Transfer-Encoding: base64"
    ),
    "in an old Hebrew character set": mail(
        json.dumps(DOCUMENT, ensure_ascii=False).encode("iso-8859-8"),
        "Content-Type: application/json; charset=iso-8859-8",
        "Content-Transfer-Encoding: 8bit",
    ),
    "forwarded": raw(parts(leaf(f"From: b@example.com\r\nContent-Type: application/json\r\n\r\n{TEXT}",
                                "Content-Type: message/rfc822"))),
    "with line feeds only": mail(TEXT).replace(b"\r\n", b"\n"),
    "pretty-printed": mail(json.dumps(DOCUMENT, indent=4)),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_the_document_is_found(form: str) -> None:
    parsed = read(FORMS[form])
    assert parsed.documents == (DOCUMENT,)
    assert parsed.problems == ()


def test_attached_documents_come_before_the_body() -> None:
    parsed = read(raw(parts(leaf('{"in": "body"}'), leaf("[1]", *ATTACHED), leaf(TEXT, *ATTACHED))))
    assert parsed.documents == ([1], DOCUMENT, {"in": "body"})


def test_header_names_have_no_case_and_folded_values_no_fold() -> None:
    parsed = read(b"from: Falcon\r\n <a@example.com>\r\nSUBJECT: Q21G.v1::PLAYER::\r\n a@example.com::t::X\r\n\r\n")
    assert parsed.from_header == "Falcon <a@example.com>"
    assert parsed.subject == "Q21G.v1::PLAYER:: a@example.com::t::X"
    assert set(parsed.headers) == {"from", "subject"}


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("=?utf-8?b?UTIxRy52MTo6UExBWUVS?=", "Q21G.v1::PLAYER"),
        ("=?utf-8?q?=D7=A9?= =?utf-8?q?=D7=9C?=", "של"),
        ("=?nonsense?q?a?=", "a"),
        ("=?punycode?q?aaaa?=", "aaaa"),
        ("=?utf-8?b?x?=", "=?utf-8?b?x?="),
        ("=?utf-8?q?=FF?=", "\ufffd"),
    ],
)
def test_encoded_subjects_are_decoded_where_they_can_be(subject: str, text: str) -> None:
    assert read(mail("", f"Subject: {subject}")).subject == text


def test_raw_bytes_in_headers_are_text() -> None:
    assert read("From: a@example.com\r\nSubject: שלום\r\n\r\n".encode()).subject == "שלום"
    assert read(b"From: a@example.com\r\nSubject: \xff\xfe\r\n\r\n").subject == "\ufffd\ufffd"


def test_a_mail_with_two_senders_is_from_no_single_one() -> None:
    parsed = read(b"From: lm@example.com\r\nFrom: evil@example.org\r\n\r\n")
    assert parsed.from_header == "lm@example.com, evil@example.org"


# What is ignored (checklist 2).

NOTHING = {
    "empty": b"",
    "newsletter": raw(parts(leaf("Buy now!"), leaf("<p>Buy now!</p>", "Content-Type: text/html"), kind="alternative")),
    "a number": mail("5"),
    "a list": mail("[1]"),
    "a word": mail('"hi"'),
    "a template": mail("{{first_name}}, hello"),
    "undecodable text": mail(b"{\xff\xfe\xfa}", "Content-Type: text/plain; charset=utf-8"),
    "undecodable attachment": mail(b"\x89PNG\r\n", "Content-Type: application/json"),
    "a .json that is no object": raw(parts(leaf("[1, 2]", *ATTACHED))),
    "a .json that is no JSON": raw(parts(leaf("{'a': 1}", *ATTACHED))),
    "html that looks like a document": mail(TEXT, "Content-Type: text/html"),
    "a container without a boundary": mail(TEXT, "Content-Type: multipart/mixed"),
}


@pytest.mark.parametrize("name", NOTHING)
def test_other_mail_is_no_message(name: str) -> None:
    parsed = read(NOTHING[name])
    with pytest.raises(NotProtocolMail):
        decode(subject=parsed.subject, from_header=parsed.from_header, documents=parsed.documents, mail_id="m")


def test_why_a_document_could_not_be_read_is_recorded() -> None:
    assert "no JSON" in read(NOTHING["a .json that is no JSON"]).problems[0]
    assert "character set" in read(NOTHING["undecodable attachment"]).problems[0]


# What it may cost.

AS_JSON = "Content-Type: application/json"


@pytest.mark.parametrize(
    ("hostile", "reason"),
    [
        (b"x" * (MOST_BYTES + 1), "bytes"),
        (b"\n" * (MOST_LINES + 1), "lines"),
        (b"Content-Type: multipart/mixed; boundary=a\n" * (MOST_CONTAINERS + 1), "containers"),
        (raw(parts(*["\r\nx"] * (MOST_PARTS + 1))), "parts"),
        (mail('{"a": "' + "x" * MOST_DOCUMENT_BYTES + '"}', AS_JSON), "bytes"),
        (mail("[" * 100_000, AS_JSON), "levels"),
        (mail("[" * 500 + "]" * 500, AS_JSON), "levels"),
        (mail("[" * (MOST_DOCUMENT_LEVELS + 1) + "]" * (MOST_DOCUMENT_LEVELS + 1), AS_JSON), "levels"),
        (mail('{"a":' * 70 + "1" + "}" * 70), "levels"),
        (mail("[" + "[]," * 300_000 + "[]]", AS_JSON), "values"),
        (mail("[" + "9" * 5000 + "]", AS_JSON), "no JSON"),
        (mail(TEXT, AS_JSON + "; x=" + "y" * 5000), "headers"),
    ],
)
def test_a_mail_that_costs_too_much_is_refused_with_its_reason(hostile: bytes, reason: str) -> None:
    parsed = read(hostile)
    assert parsed.documents == ()
    assert len(parsed.problems) == 1
    assert reason in parsed.problems[0]


def test_the_deepest_document_that_is_allowed_is_read() -> None:
    nested = "[" * MOST_DOCUMENT_LEVELS + "]" * MOST_DOCUMENT_LEVELS
    assert len(read(mail(nested, AS_JSON)).documents) == 1


def test_headers_without_end_are_cut() -> None:
    parsed = read(b"".join(b"X-%d: y\r\n" % number for number in range(1000)) + b"Subject: late\r\n\r\n")
    assert len(parsed.headers) == 200
    assert len(read(mail("", "Subject: " + "x" * 100_000)).subject) == 4000


def test_problems_without_end_are_cut() -> None:
    assert len(read(raw(parts(*[leaf("{", *ATTACHED)] * 100))).problems) == 20


pieces = st.sampled_from(
    [
        b"Content-Type: ", b"Content-Disposition: attachment; ", b"Content-Transfer-Encoding: ",
        b"multipart/mixed; ", b"message/rfc822", b"application/json", b"text/plain", b"boundary=a",
        b'boundary="', b"--a\r\n", b"--a--\r\n", b"\r\n", b"\r\n\r\n", b"base64", b"quoted-printable",
        b"x-uuencode", b"begin 666 x\r\n", b"filename=", b"filename*0*=utf-8''", b"filename*1=", b"name=",
        b".json", b"charset=", b"utf-7", b"utf-16", b"=?utf-8?b?", b"?=", b"{", b"}", b'"a":', b"NaN", b"1e999",
        b"Subject: ", b"From: ", b"\x00", b"\xff", b";", b"=", b"\xef\xbb\xbf", b"%ZZ", b"*",
    ]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@example(b"Content-Type: application/json; name*=idna''%80.json\r\n\r\n{}")
@example(b"Content-Type: application/json; name*0*=hex''%80; name*99999999999*=x\r\n\r\n{}")
@example(b"Content-Type: application/json; charset*=zip''%FF\r\n\r\n{}")
@example(b"Content-Type: text/plain; charset=idna\r\nContent-Transfer-Encoding: base64\r\n\r\n====")
@given(st.lists(pieces | st.binary(max_size=6), max_size=40).map(b"".join) | st.binary(max_size=200))
def test_any_bytes_can_be_read(hostile: bytes) -> None:
    parsed = read(hostile)
    assert isinstance(parsed, ParsedMail)
    for text in (parsed.subject, parsed.from_header, *parsed.headers, *parsed.headers.values(), *parsed.problems):
        text.encode()


def test_a_large_document_is_parsed_once_however_many_mailboxes_get_it() -> None:
    rows = [{"email": f"player-{number}@example.com"} for number in range(300)]
    mails = [replace(MAIL, document={"payload": {"rows": [*rows, last]}}) for last in (1, 2)]
    one, other, another = (read(build(each)).documents[0] for each in (mails[0], mails[1], mails[0]))
    assert one is another
    assert one != other
    small = [read(build(MAIL)).documents[0] for _ in range(2)]
    assert small[0] is not small[1]  # its digest costs as much as its reading


def test_what_is_kept_of_documents_is_bounded() -> None:
    text = "x" * 1_000_000
    mails = [replace(MAIL, document={"payload": {"text": text, "number": number}}) for number in range(9)]
    first = read(build(mails[0])).documents[0]
    for each in mails[1:]:
        read(build(each))
    again = read(build(mails[0])).documents[0]
    assert again == first
    assert again is not first
