"""Requests that no client library sends, and mail that nobody should send."""

from __future__ import annotations

import base64
import json
import socket

import pytest

from league_agents.local_league.patience import LIMIT_S

ALICE, BOB = "Alice@league.test", "bob@league.test"
SEND = "/gmail/v1/users/me/messages/send"


def exchange(sandbox, data: bytes) -> bytes:
    """Raw bytes in, raw bytes out."""
    with socket.create_connection(("127.0.0.1", sandbox.port), timeout=LIMIT_S) as connection:
        connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        answer = b""
        while chunk := connection.recv(65_536):
            answer += chunk
        return answer


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "parseError"),
        (b"[1]", "parseError"),
        (b"\xff\xfe", "parseError"),
        (b"[" * 100_000, "parseError"),
        (b'{"raw": ' + b'{"a":' * 100_000, "parseError"),
        (b'{"raw": 5}', "invalidArgument"),
        (b'{"raw": "%%%"}', "invalidArgument"),
        (b'{"raw": "A"}', "invalidArgument"),
        (b'{"raw": ""}', "invalidArgument"),
        (b"", "invalidArgument"),
        (b'{"raw": "VG86IGJvYkBsZWFndWUudGVzdA0KDQp4", "threadId": []}', "invalidArgument"),
    ],
)
def test_a_body_that_is_no_mail_is_refused(sandbox, plain, body: bytes, reason: str) -> None:
    wire = plain(sandbox)
    token = sandbox.access_token(ALICE)
    reply = wire.ask("POST", SEND, body, token=token)
    assert (reply.status, reply.reason) == (400, reason)
    assert wire.ask("GET", "/gmail/v1/users/me/profile", token=token).status == 200


def test_base64_is_taken_in_both_alphabets_with_and_without_padding(sandbox, plain) -> None:
    raw = b"To: bob@league.test\r\nSubject: \xfb\xff\xfe?\r\n\r\n>>>???"
    token = sandbox.access_token(ALICE)
    for text in (base64.b64encode(raw), base64.urlsafe_b64encode(raw), base64.urlsafe_b64encode(raw).rstrip(b"=")):
        assert plain(sandbox).ask("POST", SEND, {"raw": text.decode()}, token=token).status == 200
    assert len(sandbox.mail(BOB)) == 3


def test_a_body_of_forty_megabytes_is_too_large(sandbox, plain) -> None:
    wire = plain(sandbox)
    reply = wire.ask("POST", SEND, b"x" * 40_000_000, token=sandbox.access_token(ALICE))
    assert (reply.status, reply.reason) == (413, "uploadTooLarge")
    assert plain(sandbox).ask("GET", "/").status == 200


def test_a_mail_of_thirty_five_megabytes_is_taken_and_read_back(sandbox, plain) -> None:
    wire = plain(sandbox)
    raw = b"To: bob@league.test\r\nSubject: large\r\n\r\n" + b"x" * 35_000_000
    path = f"/upload{SEND}?uploadType=media"
    assert wire.ask("POST", path, raw, token=sandbox.access_token(ALICE), Content_Type="message/rfc822").status == 200
    (mail,) = sandbox.mail(BOB)
    token = sandbox.access_token(BOB)
    minimal = wire.ask("GET", f"/gmail/v1/users/me/messages/{mail.mail_id}?format=minimal", token=token)
    assert minimal.json["sizeEstimate"] > 35_000_000


@pytest.mark.parametrize(
    "path",
    [
        "/gmail/v1/users/me/messages/../../../etc/passwd",
        "/gmail/v1/users/me/messages/..%2f..%2fetc%2fpasswd",
        "/gmail/v1/users/me/messages/%00",
        "/gmail/v1/users//messages",
        "/gmail/v1/users/me/messages/",
        "/gmail/v2/users/me/messages",
        "/sandbox/../sandbox/mail",
        "/static/../../etc/passwd",
        "//evil.example/gmail/v1/users/me/profile",
        "/gmail/v1/users/me/" + "a" * 5_000,
        "/sandbox/tokens",
    ],
)
def test_paths_lead_nowhere_else(sandbox, plain, path: str) -> None:
    reply = plain(sandbox).ask("GET", path, token=sandbox.access_token(ALICE))
    assert reply.status in (403, 404)
    assert "root:" not in reply.body.decode()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"421"),
        (b"GET / HTTP/1.1\r\n\r\n", b"421"),
        (b"GET / HTTP/1.1\r\nHost: HERE\r\nOrigin: http://evil.example\r\n\r\n", b"403"),
        (b"GET / HTTP/1.1\r\nHost: HERE\r\nOrigin: null\r\n\r\n", b"403"),
        (b"GET / HTTP/1.1\r\nHost: HERE\r\nOrigin: http://HERE\r\n\r\n", b"200"),
        (b"POST /token HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"411"),
        (b"POST /token HTTP/1.1\r\nHost: HERE\r\nContent-Length: -5\r\n\r\n", b"400"),
        (b"POST /token HTTP/1.1\r\nHost: HERE\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", b"400"),
        (b"POST /token HTTP/1.1\r\nHost: HERE\r\nContent-Length: 99999999999999999999\r\n\r\n", b"400"),
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\nHost: HERE\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nHost: HERE\r\n" + b"X: y\r\n" * 200 + b"\r\n", b"431"),
        (b"TRACE / HTTP/1.1\r\nHost: HERE\r\n\r\n", b"501"),
        (b"\x16\x03\x01\x02\x00\x01\x00", b"400"),
        (b"GET /?" + b"a&" * 5_000 + b" HTTP/1.1\r\nHost: HERE\r\n\r\n", b"400"),
    ],
)
def test_requests_that_are_none_are_turned_away(sandbox, plain, head: bytes, status: bytes) -> None:
    answer = exchange(sandbox, head.replace(b"HERE", f"127.0.0.1:{sandbox.port}".encode()))
    assert status in answer.split(b"\r\n", 1)[0] or b"Error code: " + status in answer
    assert plain(sandbox).ask("GET", "/").status == 200


def test_it_listens_on_this_machine_only(sandbox) -> None:
    assert sandbox.url == f"http://127.0.0.1:{sandbox.port}"
    assert sandbox._wire.socket.getsockname()[0] == "127.0.0.1"


def test_a_client_that_goes_away_in_the_middle_leaves_nothing_behind(sandbox, plain) -> None:
    token = sandbox.access_token(ALICE).encode()
    head = b"POST " + SEND.encode() + b" HTTP/1.1\r\nHost: 127.0.0.1:" + str(sandbox.port).encode()
    exchange(sandbox, head + b"\r\nAuthorization: Bearer " + token + b"\r\nContent-Length: 500\r\n\r\n{")
    assert sandbox.mail(ALICE) == []
    assert plain(sandbox).ask("GET", "/").status == 200


def test_a_header_in_a_parameter_adds_no_header(sandbox, plain) -> None:
    reply = plain(sandbox).ask(
        "GET", "/gmail/v1/users/x%0d%0aSet-Cookie:%20a=b/profile", token=sandbox.access_token(ALICE)
    )
    assert reply.status == 403
    assert "set-cookie" not in reply.headers
    fields = plain(sandbox).ask("GET", "/gmail/v1/users/me/profile?fields=%0d%0aX:y", token=sandbox.access_token(ALICE))
    assert (fields.status, fields.reason) == (400, "invalidParameter")


@pytest.mark.parametrize(
    "fields", ["(", "a(", "a)", "a,,b", "a/", "/a", "a(b", "é", "," * 500, "a(" * 50, "a/" * 50 + "a"]
)
def test_a_wrong_field_selection_is_refused(sandbox, plain, fields: str) -> None:
    from urllib.parse import quote

    reply = plain(sandbox).ask(
        "GET", f"/gmail/v1/users/me/profile?fields={quote(fields)}", token=sandbox.access_token(ALICE)
    )
    assert (reply.status, reply.reason) == (400, "invalidParameter")


@pytest.mark.parametrize(
    "query", ["maxResults=x", "maxResults=-1", "pageToken=x", "includeSpamTrash=maybe", "alt=proto"]
)
def test_a_wrong_parameter_is_refused(sandbox, plain, query: str) -> None:
    reply = plain(sandbox).ask("GET", f"/gmail/v1/users/me/messages?{query}", token=sandbox.access_token(ALICE))
    assert reply.status == 400


NESTED = b"".join(
    b'Content-Type: multipart/mixed; boundary="%d"\r\n\r\n--%d\r\n' % (level, level) for level in range(3_000)
)
PARTS = (
    b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n' + b"--b\r\nContent-Type: text/plain\r\n\r\nx\r\n" * 10_000
)

HOSTILE = {
    "nothing": b"",
    "line breaks": b"\r\n" * 1_000,
    "no header": b"\x00\x01\x02",
    "one long header": b"Subject: " + b"x" * 1_000_000,
    "many headers": b"X: y\r\n" * 20_000 + b"\r\n",
    "wrong character set": b"Content-Type: text/plain; charset=utf-99\r\n\r\n\xff",
    "slow character set": b"Content-Type: text/plain; charset=punycode\r\n\r\n" + b"a-" * 50_000,
    "wrong words": b"Subject: =?utf-8?b?!!!?= =?x?q?=FF?=\r\n\r\n",
    "folds": b"Subject: a" + b"\r\n b" * 20_000 + b"\r\n\r\n",
    "no boundary": b"Content-Type: multipart/mixed\r\n\r\nx",
    "many parts": PARTS,
    "deep parts": NESTED,
    "an attached mail": b"Content-Type: message/rfc822\r\n\r\nSubject: inner\r\n\r\nx",
    "odd file name": b"Content-Disposition: attachment; filename*=utf-8''%FF%00\r\n\r\nx",
    "many addresses": b"From: " + b"a@b.example, " * 20_000 + b"\r\n\r\n",
    "brackets": b"To: " + b"(" * 50_000 + b"\r\n\r\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_mail_is_stored_shown_and_searched(sandbox, plain, name: str) -> None:
    (mail_id,) = sandbox.inject(HOSTILE[name], to=[BOB], verdict={"dmarc": "none"})
    wire, token = plain(sandbox), sandbox.access_token(BOB)
    for form in ("raw", "full", "metadata", "minimal"):
        reply = wire.ask("GET", f"/gmail/v1/users/me/messages/{mail_id}?format={form}", token=token)
        assert reply.status == 200, reply.body[:500]
        assert reply.json["id"] == mail_id
    for query in ("subject:x", "filename:json", "from:a@b.example", "some words", "has:attachment"):
        path = f"/gmail/v1/users/me/messages?q={query.replace(' ', '%20')}"
        assert wire.ask("GET", path, token=token).status == 200
    raw = json.loads(wire.ask("GET", f"/gmail/v1/users/me/messages/{mail_id}?format=raw", token=token).body)["raw"]
    assert base64.urlsafe_b64decode(raw).rstrip().endswith(HOSTILE[name].rstrip()[-100:])
    assert wire.ask("GET", "/").status == 200


def test_a_batch_that_is_none_is_refused(sandbox, plain) -> None:
    token = sandbox.access_token(ALICE)
    for kind, body in (
        ("application/json", b"{}"),
        ("multipart/mixed", b"x"),
        ("multipart/mixed; boundary=b", b"x"),
        ("multipart/mixed; boundary=b", b"--b\r\n\r\nnonsense\r\n--b--"),
        ("multipart/mixed; boundary=b", b"--b\r\nContent-Type: application/http\r\n\r\n"),
    ):
        assert plain(sandbox).ask("POST", "/batch/gmail/v1", body, token=token, Content_Type=kind).status == 400
    nested = b"--b\r\nContent-ID: <1>\r\n\r\nPOST /batch HTTP/1.1\r\n\r\n\r\n--b--"
    answer = plain(sandbox).ask("POST", "/batch", nested, token=token, Content_Type="multipart/mixed; boundary=b")
    assert b"HTTP/1.1 404" in answer.body
    assert b"<response-1>" in answer.body


def test_tokens_are_in_no_error_and_no_page(sandbox, account, plain) -> None:
    wire = plain(sandbox)
    token = sandbox.access_token(ALICE)
    seen = b"".join(
        wire.ask(verb, path, token=token).body
        for verb, path in (
            ("GET", "/"),
            ("GET", "/sandbox/report"),
            ("GET", "/sandbox/mail"),
            ("GET", f"/nowhere?access_token={token}"),
            ("POST", f"/gmail/v1/users/{token[:20]}/stop"),
        )
    )
    assert token.encode() not in seen
