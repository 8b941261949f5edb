"""Reading and changing mail with the real client library."""

from __future__ import annotations

import base64
import json

import pytest

ALICE, BOB = "Alice@league.test", "bob@league.test"

MIXED = (
    b"To: bob@league.test\r\nSubject: =?utf-8?q?caf=C3=A9?=\r\nMIME-Version: 1.0\r\n"
    b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n'
    b"--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\n"
    b"Content-Transfer-Encoding: quoted-printable\r\n\r\ncaf=E9 <b>\r\n"
    b"--b\r\nContent-Type: application/json\r\nContent-Transfer-Encoding: base64\r\n"
    b'Content-Disposition: attachment; filename="payload.json"\r\n\r\neyJhIjogMX0=\r\n'
    b"--b\r\nContent-Type: application/json\r\n\r\n{}\r\n"
    b"--b--\r\n"
)


def decoded(part) -> bytes:
    return base64.urlsafe_b64decode(part["body"]["data"])


def test_the_full_format_shows_decoded_headers_parts_and_attachments_behind_ids(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post_raw(MIXED)
    messages = bob.users.messages()
    full = messages.get(userId="me", id=bob.ids()[0]).execute()
    headers = {header["name"]: header["value"] for header in full["payload"]["headers"]}
    assert headers["Subject"] == "café"
    assert full["snippet"] == "café &lt;b&gt;"
    text, attached, inline = full["payload"]["parts"]
    assert [part["partId"] for part in (text, attached, inline)] == ["0", "1", "2"]
    assert decoded(text) == "café <b>".encode()  # texts come in UTF-8
    assert attached["filename"] == "payload.json"
    assert "data" not in attached["body"]
    assert decoded(inline) == b"{}"
    fetched = (
        messages.attachments().get(userId="me", messageId=full["id"], id=attached["body"]["attachmentId"]).execute()
    )
    assert base64.urlsafe_b64decode(fetched["data"]) == b'{"a": 1}'
    assert fetched["size"] == attached["body"]["size"] == 8


def test_the_other_formats_hold_less(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post_raw(MIXED)
    get = bob.users.messages().get
    mail_id = bob.ids()[0]
    metadata = get(userId="me", id=mail_id, format="metadata", metadataHeaders=["subject", "To"]).execute()
    assert [header["name"] for header in metadata["payload"]["headers"]] == ["To", "Subject"]
    assert "parts" not in metadata["payload"]
    minimal = get(userId="me", id=mail_id, format="minimal").execute()
    assert set(minimal) == {
        "id", "threadId", "labelIds", "snippet", "historyId", "internalDate", "sizeEstimate",
    }  # fmt: skip
    assert minimal["sizeEstimate"] == len(bob.raw(mail_id))


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        ("id", {"id"}),
        ("id,labelIds", {"id", "labelIds"}),
        ("payload/headers/name", {"payload"}),
        ("payload(mimeType,parts(body/size)),snippet", {"payload", "snippet"}),
        ("nothing", set()),
    ],
)
def test_a_partial_response_holds_what_was_asked_for(sandbox, account, fields: str, shown: set[str]) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post_raw(MIXED)
    message = bob.users.messages().get(userId="me", id=bob.ids()[0], fields=fields).execute()
    assert set(message) == shown
    if fields == "payload/headers/name":
        assert all(set(header) == {"name"} for header in message["payload"]["headers"])
    if fields.startswith("payload("):
        assert set(message["payload"]) == {"mimeType", "parts"}
        assert [set(part["body"]) for part in message["payload"]["parts"]] == [{"size"}] * 3


def test_labels_are_made_changed_and_counted(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    for _ in range(3):
        alice.post(BOB)
    labels, messages = bob.users.labels(), bob.users.messages()
    made = labels.create(userId="me", body={"name": "league/processed"}).execute()
    assert made["type"] == "user"
    first, second, third = bob.ids()
    changed = messages.modify(
        userId="me", id=first, body={"addLabelIds": [made["id"]], "removeLabelIds": ["UNREAD"]}
    ).execute()
    assert changed["labelIds"] == sorted(["INBOX", made["id"]])
    messages.batchModify(
        userId="me", body={"ids": [second, third, "1000000000000000"], "addLabelIds": [made["id"]]}
    ).execute()
    counted = labels.get(userId="me", id=made["id"]).execute()
    assert (counted["messagesTotal"], counted["messagesUnread"]) == (3, 2)
    assert bob.ids(labelIds=["UNREAD", made["id"]]) == [second, third]
    named = {label["name"]: label["id"] for label in labels.list(userId="me").execute()["labels"]}
    assert named["league/processed"] == made["id"]
    assert named["INBOX"] == "INBOX"
    labels.patch(userId="me", id=made["id"], body={"name": "done"}).execute()
    assert bob.ids(q="label:done -is:unread") == [first]
    labels.delete(userId="me", id=made["id"]).execute()
    assert bob.users.messages().get(userId="me", id=first, format="minimal").execute()["labelIds"] == ["INBOX"]


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"addLabelIds": ["Label_77"]}, 400),
        ({"removeLabelIds": ["SENT"]}, 400),
        ({"addLabelIds": ["STARRED"] * 101}, 400),
        ({"addLabelIds": ["STARRED"], "removeLabelIds": ["STARRED"]}, 400),
        ({"addLabelIds": "STARRED"}, 400),
        ({}, 400),
    ],
)
def test_a_wrong_change_of_labels_is_refused(sandbox, account, plain, change, status: int) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post(BOB)
    address = f"/gmail/v1/users/me/messages/{bob.ids()[0]}/modify"
    reply = plain(sandbox).ask("POST", address, change, token=bob.credentials.token)
    assert reply.status == status
    assert sandbox.mail(BOB)[0].label_ids == ["INBOX", "UNREAD"]


def test_a_label_name_can_be_used_once(sandbox, account) -> None:
    from googleapiclient.errors import HttpError

    labels = account(sandbox, ALICE).users.labels()
    labels.create(userId="me", body={"name": "League"}).execute()
    for name, status in (("league", 409), ("inbox", 409), ("", 400), ("a\nb", 400), ("x" * 300, 400)):
        with pytest.raises(HttpError) as refusal:
            labels.create(userId="me", body={"name": name}).execute()
        assert refusal.value.status_code == status


def test_trash_hides_a_mail_and_delete_ends_it(sandbox, account) -> None:
    from googleapiclient.errors import HttpError

    alice, bob = account(sandbox, ALICE), account(sandbox, BOB, scopes=("https://mail.google.com/",))
    alice.post(BOB)
    (mail_id,) = bob.ids()
    messages = bob.users.messages()
    assert messages.trash(userId="me", id=mail_id).execute()["labelIds"] == ["TRASH", "UNREAD"]
    assert bob.ids() == []
    assert bob.ids(includeSpamTrash=True) == [mail_id]
    messages.untrash(userId="me", id=mail_id).execute()
    messages.delete(userId="me", id=mail_id).execute()
    with pytest.raises(HttpError) as refusal:
        messages.get(userId="me", id=mail_id).execute()
    assert refusal.value.status_code == 404


def test_what_is_in_another_mailbox_does_not_exist(sandbox, account, plain) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    sent = alice.post(BOB)
    wire = plain(sandbox)
    foreign = wire.ask("GET", f"/gmail/v1/users/me/messages/{sent['id']}", token=bob.credentials.token)
    assert (foreign.status, foreign.reason) == (404, "notFound")
    other = wire.ask("GET", "/gmail/v1/users/alice@league.test/profile", token=bob.credentials.token)
    assert (other.status, other.json["error"]["message"]) == (403, "Delegation denied for bob@league.test")
    own = wire.ask("GET", "/gmail/v1/users/BOB%40league.test/profile", token=bob.credentials.token)
    assert own.json["emailAddress"] == BOB


def test_pages_neither_repeat_nor_hide_what_arrives_meanwhile(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    for _ in range(7):
        alice.post(BOB)
    before = bob.ids()
    messages = bob.users.messages()
    request = messages.list(userId="me", maxResults=3)
    seen = []
    while request is not None:
        answer = request.execute()
        seen += [message["id"] for message in answer["messages"]]
        alice.post(BOB)
        request = messages.list_next(request, answer)
    assert seen == before
    assert len(bob.ids()) == 10


def test_a_batch_answers_each_call_by_its_name(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    for number in range(3):
        alice.post(BOB, Subject=f"number {number} é")
    answers: dict[str, object] = {}
    batch = bob.service.new_batch_http_request(
        callback=lambda name, answer, error: answers.update({name: (answer, error)})
    )
    expected = bob.ids()
    for mail_id in expected:
        batch.add(bob.users.messages().get(userId="me", id=mail_id, format="metadata"), request_id=mail_id)
    batch.add(bob.users.messages().get(userId="me", id="1000000000000000"), request_id="missing")
    batch.add(
        bob.users.messages().send(userId="me", body={"raw": "VG86IGFsaWNlQGxlYWd1ZS50ZXN0DQoNCng="}), request_id="s"
    )
    batch.execute()
    assert [answers[mail_id][0]["id"] for mail_id in expected] == expected
    assert answers["missing"][1].status_code == 404
    assert answers["s"][0]["labelIds"] == ["SENT"]
    methods = sandbox.report()["accounts"][BOB]["methods"]
    assert methods["messages.get"] == {"calls": 3, "refused": 1, "units": 80}


def test_a_batch_holds_at_most_a_hundred_calls(sandbox, plain) -> None:
    token = sandbox.access_token(ALICE)
    part = "--b\nContent-Type: application/http\nContent-ID: <x + {}>\n\nGET /gmail/v1/users/me/profile HTTP/1.1\n\n\n"

    def ask(count: int):
        body = "".join(part.format(number) for number in range(count)) + "--b--"
        return plain(sandbox).ask(
            "POST", "/batch/gmail/v1", body.encode(), token=token, Content_Type="multipart/mixed; boundary=b"
        )

    full = ask(100)
    assert full.status == 200
    assert full.body.count(b"Content-ID: <response-x + ") == 100
    assert full.body.count(b'"emailAddress":"Alice@league.test"') == 100
    assert ask(101).status == 400


def test_mail_is_found_by_label_only_when_the_label_exists(sandbox, plain) -> None:
    reply = plain(sandbox).ask("GET", "/gmail/v1/users/me/messages?labelIds=NO", token=sandbox.access_token(ALICE))
    assert (reply.status, reply.json["error"]["message"]) == (400, "Invalid label: NO")


def test_an_empty_mailbox_has_no_key_for_its_mails(sandbox, plain) -> None:
    reply = plain(sandbox).ask("GET", "/gmail/v1/users/me/messages", token=sandbox.access_token(ALICE))
    assert reply.json == {"resultSizeEstimate": 0}


def test_watching_answers_with_a_cursor_and_an_end(sandbox, account) -> None:
    alice = account(sandbox, ALICE)
    watched = alice.users.watch(userId="me", body={"topicName": "projects/p/topics/t"}).execute()
    assert watched == {"historyId": alice.cursor(), "expiration": str(1935489600000 + 7 * 86_400_000)}
    assert not alice.users.stop(userId="me").execute()


def test_an_inbox_is_published_until_the_watch_is_stopped(sandbox, account) -> None:
    alice, topic = account(sandbox, ALICE), "projects/p/topics/t"
    alice.users.watch(userId="me", body={"topicName": topic, "labelIds": ["INBOX"]}).execute()
    sandbox.inject(b"From: x@internet.invalid\r\n\r\nx", to=[ALICE])
    alice.cursor()
    assert sandbox.notices_waiting(topic) == 1
    alice.users.stop(userId="me").execute()
    sandbox.inject(b"From: x@internet.invalid\r\n\r\nx", to=[ALICE])
    alice.cursor()
    assert sandbox.notices_waiting(topic) == 1
    assert sandbox.watched_topic(ALICE) is None


def test_the_page_for_people_shows_mail_escaped_and_no_token(sandbox, account, plain) -> None:
    alice = account(sandbox, ALICE)
    alice.post(BOB, Subject="<script>alert(1)</script>")
    page = plain(sandbox).ask("GET", "/")
    text = page.body.decode()
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    assert alice.credentials.token not in text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_all_mail_can_be_looked_at_from_outside(sandbox, account, plain) -> None:
    account(sandbox, ALICE).post(BOB, Subject="one")
    wire = plain(sandbox)
    (only,) = wire.ask("GET", "/sandbox/mail?account=bob@league.test&raw=true").json["mail"]
    assert only["subject"] == "one"
    assert b"Subject: one" in base64.urlsafe_b64decode(only["raw"])
    assert len(wire.ask("GET", "/sandbox/mail").json["mail"]) == 2
    assert wire.ask("GET", "/sandbox/mail?account=x@y").status == 404
    assert json.loads(wire.ask("GET", "/sandbox/report").body)["mailboxes"][BOB]["unread"] == 1
