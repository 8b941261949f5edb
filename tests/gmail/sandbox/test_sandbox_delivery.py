"""Mail between the accounts of a sandbox, as the real client library sends and reads it."""

from __future__ import annotations

import base64
import email
import email.policy

import pytest

ALICE, BOB, CAROL = "Alice@league.test", "bob@league.test", "carol@league.test"


def test_a_mail_arrives_unread_in_the_inbox_and_stands_in_sent(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    sent = alice.post(BOB)
    assert sent["labelIds"] == ["SENT"]
    (arrived,) = bob.ids()
    message = bob.users.messages().get(userId="me", id=arrived, format="minimal").execute()
    assert message["labelIds"] == ["INBOX", "UNREAD"]
    assert message["internalDate"] == "1935489600000"
    assert alice.ids(labelIds=["SENT"]) == [sent["id"]]
    assert alice.ids(labelIds=["INBOX"]) == []


def test_to_cc_and_bcc_are_served_and_nobody_sees_the_bcc(sandbox, account) -> None:
    alice, bob, carol = (account(sandbox, address) for address in (ALICE, BOB, CAROL))
    alice.post("Bob <BOB@league.test>", Cc='"A, B" <alice@league.test>', Bcc=CAROL)
    for reader in (bob, carol):
        assert b"carol" not in reader.raw(reader.ids()[0]).partition(b"\r\nTo:")[2].lower()
    (own,) = alice.ids()
    assert b"Bcc: carol@league.test" in alice.raw(own)


def test_a_mail_to_oneself_is_one_mail_that_no_server_has_judged(sandbox, account) -> None:
    alice = account(sandbox, ALICE)
    sent = alice.post(ALICE)
    assert sent["labelIds"] == ["INBOX", "SENT", "UNREAD"]
    assert alice.ids() == [sent["id"]]
    assert b"Authentication-Results" not in alice.raw(sent["id"])


def test_whoever_does_not_exist_is_answered_by_mailer_daemon(sandbox, account) -> None:
    alice = account(sandbox, ALICE)
    alice.post("nobody@league.test, bob@league.test")
    (bounce,) = alice.ids(q="in:inbox from:mailer-daemon")
    notice = email.message_from_bytes(alice.raw(bounce), policy=email.policy.default)
    assert notice["X-Failed-Recipients"] == "nobody@league.test"
    assert notice["Auto-Submitted"] == "auto-replied"
    assert notice.get_content_type() == "multipart/report"
    assert notice["In-Reply-To"] in alice.raw(alice.ids(q="in:sent")[0]).decode()


@pytest.mark.parametrize(
    ("claimed", "shown"),
    [
        ("mallory@evil.example", ALICE),
        ('"The Manager" <manager@league.test>', f'"The Manager" <{ALICE}>'),
        ("alice@LEAGUE.test", "alice@LEAGUE.test"),  # her own address stays as she wrote it
        ("a@league.test, alice@league.test", ALICE),
    ],
)
def test_the_sender_is_who_is_signed_in(sandbox, account, claimed: str, shown: str) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post(BOB, From=claimed)
    mail = email.message_from_bytes(bob.raw(bob.ids()[0]))
    assert mail.get_all("From") == [shown]


def test_two_from_headers_become_one(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post_raw(b"From: alice@league.test\r\nFROM: boss@evil.example\r\nTo: bob@league.test\r\n\r\nx")
    assert email.message_from_bytes(bob.raw(bob.ids()[0])).get_all("from") == [ALICE]


def test_the_message_id_is_the_servers_own_and_the_same_for_all(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    sent = alice.post(BOB, Message_ID="<mine@league.test>")
    ids = {
        email.message_from_bytes(reader.raw(mail_id))["Message-ID"]
        for reader, mail_id in ((alice, sent["id"]), (bob, bob.ids()[0]))
    }
    assert len(ids) == 1
    assert ids != {"<mine@league.test>"}


def test_what_the_servers_do_not_change_keeps_its_bytes(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    raw = b"subject: =?utf-8?b?16nXnNeV150=?=\r\nto: bob@league.test\r\nX-Folded: a\r\n\tb\r\n\r\n\xe9\xff.\r\n.\r\nend"
    alice.post_raw(raw)
    arrived = bob.raw(bob.ids()[0])
    assert arrived.endswith(b"\r\n\r\n\xe9\xff.\r\n.\r\nend")
    assert b"\r\nsubject: =?utf-8?b?16nXnNeV150=?=\r\nto: bob@league.test\r\nX-Folded: a\r\n\tb\r\n" in arrived


def test_the_receiving_server_writes_its_verdict_above_what_the_sender_claims(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post(BOB, Authentication_Results="mx.google.com; dmarc=fail header.from=evil.example")
    verdicts = email.message_from_bytes(bob.raw(bob.ids()[0])).get_all("Authentication-Results")
    assert len(verdicts) == 2
    assert "dmarc=pass" in verdicts[0]
    assert "spf=pass" in verdicts[0]
    assert "header.from=league.test" in verdicts[0]
    assert "dmarc=fail" in verdicts[1]


def test_mail_from_the_internet_has_any_sender_and_any_verdict(sandbox, account) -> None:
    bob = account(sandbox, BOB)
    raw = (
        b"From: alice@league.test\r\nTo: bob@league.test\r\nAuthentication-Results: mx.google.com; dmarc=pass\r\n\r\nx"
    )
    (mail_id,) = sandbox.inject(raw, to=[BOB], sender="x@evil.example", verdict={"spf": "fail", "dmarc": "fail"})
    mail = email.message_from_bytes(bob.raw(mail_id))
    verdicts = mail.get_all("Authentication-Results")
    assert mail["From"] == "alice@league.test"
    assert verdicts[0].startswith("mx.google.com;")
    assert "spf=fail smtp.mailfrom=x@evil.example" in verdicts[0]
    assert "dmarc=fail (p=NONE sp=NONE dis=NONE) header.from=league.test" in verdicts[0]
    assert verdicts[1] == "mx.google.com; dmarc=pass"


def test_the_switch_for_mail_from_the_internet_takes_a_document_or_the_mail_itself(sandbox, account, plain) -> None:
    bob, wire = account(sandbox, BOB), plain(sandbox)
    written = {"to": BOB, "from": "a@b.example", "subject": "שלום", "text": "hi", "verdict": {"dkim": "none"}}
    assert wire.ask("POST", "/sandbox/inject", written).status == 200
    whole = wire.ask(
        "POST", "/sandbox/inject?to=bob@league.test&labels=SPAM", b"Subject: s\n\nx", Content_Type="message/rfc822"
    )
    assert whole.status == 200
    assert bob.ids(labelIds=["SPAM"]) == whole.json["ids"]
    assert len(bob.ids(q="from:a@b.example subject:שלום")) == 1
    for wrong in (
        {"to": "nobody@league.test", "from": "a@b.example"},
        {"to": BOB, "from": "a@b.example", "subject": "x\r\nBcc: alice@league.test"},
        {"to": BOB, "raw": "!!!"},
        {"to": BOB, "raw": "eA==", "verdict": {"spf": "pass; dmarc=pass"}},
        {"to": BOB, "raw": "eA==", "verdict": {"spf": "pass\r\nX: y"}},
        {"to": BOB, "raw": "eA==", "sender": "x\r\n@y"},
        {"to": BOB, "raw": "eA==", "labels": ["Label_9"]},
        {"to": []},
    ):
        assert wire.ask("POST", "/sandbox/inject", wrong).status == 400
    assert len(bob.ids(includeSpamTrash=True)) == 2


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"", "RFC822 payload"),
        (b"Subject: x\r\n\r\nno recipient", "Recipient address required"),
        (b"To: not an address\r\n\r\nx", "Invalid To header"),
        (b"To: " + b", ".join(b"p%d@x.test" % n for n in range(501)) + b"\r\n\r\nx", "Too many recipients"),
    ],
)
def test_a_mail_that_cannot_be_sent_is_refused_and_nothing_is_kept(sandbox, account, raw: bytes, why: str) -> None:
    from googleapiclient.errors import HttpError

    alice = account(sandbox, ALICE)
    with pytest.raises(HttpError, match=why) as refusal:
        alice.post_raw(raw)
    assert refusal.value.status_code == 400
    assert sandbox.mail(ALICE) == []


def test_replies_join_the_thread_that_they_refer_to(sandbox, account) -> None:
    from googleapiclient.errors import HttpError

    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    first = alice.post(BOB, Subject="Hello")
    message_id = email.message_from_bytes(alice.raw(first["id"]))["Message-ID"]
    bob.post(ALICE, Subject="Re: Hello", In_Reply_To=message_id)
    bob.post(ALICE, Subject="Re: Something else", In_Reply_To=message_id)
    alice.post(BOB, thread=first["threadId"])
    thread = alice.users.threads().get(userId="me", id=first["threadId"], format="minimal").execute()
    assert len(thread["messages"]) == 3
    assert len(alice.users.threads().list(userId="me").execute()["threads"]) == 2
    with pytest.raises(HttpError) as refusal:  # a thread id of one mailbox means nothing in another
        bob.post(ALICE, thread=first["threadId"])
    assert refusal.value.status_code == 404


def test_uploads_of_media_and_multipart_are_taken(sandbox, account) -> None:
    from googleapiclient.http import MediaInMemoryUpload

    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    mail = MediaInMemoryUpload(b"To: bob@league.test\r\nSubject: up\r\n\r\nbody", mimetype="message/rfc822")
    alice.users.messages().send(userId="me", media_body=mail).execute()
    alice.users.messages().send(userId="me", body={}, media_body=mail).execute()
    label = alice.users.labels().create(userId="me", body={"name": "league/done"}).execute()
    kept = alice.users.messages().insert(userId="me", body={"labelIds": [label["id"]]}, media_body=mail).execute()
    assert kept["labelIds"] == [label["id"]]
    assert len(bob.ids(q="subject:up")) == 2
    assert alice.ids(q="label:league-done") == [kept["id"]]


def test_insert_and_import_put_a_mail_where_they_are_told(sandbox, account) -> None:
    alice = account(sandbox, ALICE)
    body = {"raw": base64.urlsafe_b64encode(b"Date: Fri, 02 May 2025 10:00:00 +0000\r\nSubject: s\r\n\r\nx").decode()}
    imported = alice.users.messages().import_(userId="me", body=body).execute()
    inserted = alice.users.messages().insert(userId="me", body={**body, "labelIds": ["SENT"]}).execute()
    get = alice.users.messages().get
    assert imported["labelIds"] == ["INBOX", "UNREAD"]
    assert inserted["labelIds"] == ["SENT"]
    assert get(userId="me", id=imported["id"]).execute()["internalDate"] == "1746180000000"
    assert get(userId="me", id=inserted["id"]).execute()["internalDate"] == "1935489600000"
    assert alice.raw(inserted["id"]) == base64.urlsafe_b64decode(body["raw"])
