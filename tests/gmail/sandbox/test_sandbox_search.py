"""The search language, asked over the wire."""

from __future__ import annotations

from datetime import timedelta

import pytest

ALICE, BOB, CAROL = "Alice@league.test", "bob@league.test", "carol@league.test"

CALL = "Q21G.v1::REFEREE::Alice@league.test::warm-1::Q21WARMUPCALL"
START = "league.v2::LEAGUEMANAGER::Alice@league.test::[bc-1]::BROADCAST_START_SEASON"


@pytest.fixture
def bob(sandbox, account):
    """A mailbox with five mails; each is named by its subject."""
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    attachment = (
        "To: bob@league.test\r\nSubject: attached\r\nMIME-Version: 1.0\r\nContent-Type: application/json\r\n"
        'Content-Disposition: attachment; filename="Payload.JSON"\r\n\r\n{}'
    )
    alice.post(BOB, Subject=CALL)
    sandbox.advance(timedelta(days=3))
    alice.post(BOB, Subject=START)
    alice.post_raw(attachment.encode())
    account(sandbox, CAROL).post(BOB, Subject="holiday greetings", body="see you in Rome (Italy)")
    sandbox.inject(b"From: x@spam.example\r\nSubject: win\r\n\r\nmoney", to=[BOB], labels=["SPAM"])
    bob.users.messages().modify(userId="me", id=bob.ids(q="holiday")[0], body={"removeLabelIds": ["UNREAD"]}).execute()
    return bob


NAMES = {"c": CALL, "s": START, "a": "attached", "h": "holiday greetings", "w": "win"}


QUERIES = [
    ("", "csah"),
    ("is:unread", "csa"),
    ("is:read", "h"),
    ("-is:unread", "h"),
    ("(subject:league.v2 OR subject:Q21G.v1) is:unread", "cs"),
    ("is:unread (subject:league.v2 OR subject:Q21G OR filename:json)", "csa"),
    ("is:unread {subject:league.v2 subject:Q21G}", "cs"),
    ("subject:(league.v2 START)", ""),  # an underscore joins words
    ("subject:(league.v2 BROADCAST_START_SEASON)", "s"),
    ("subject:{holiday attached}", "ah"),
    ("subject:(holiday OR attached) is:unread", "a"),
    ("subject:Q21", ""),  # whole words
    ('subject:"[bc-1]"', "s"),
    ('subject:"warm-1"', "c"),
    ("subject:HOLIDAY", "h"),
    ("from:carol@league.test", "h"),
    ("from:CAROL", "h"),
    ("from:arol@league.test", ""),
    ("-from:alice@league.test", "h"),
    ("from:(alice OR carol)", "csah"),
    ("from:alice from:carol", ""),
    ("to:bob@league.test is:read", "h"),
    ("in:inbox", "csah"),
    ("in:sent", ""),
    ("in:spam", "w"),
    ("in:anywhere", "csahw"),
    ("in:anywhere -in:inbox", "w"),
    ("label:unread label:inbox", "csa"),
    ("label:nothing", ""),
    ("has:attachment", "a"),
    ("filename:json", "a"),
    ("filename:payload.json", "a"),
    ("filename:payload", "a"),
    ("filename:xml", ""),
    ("Rome", "h"),
    ('"you in rome"', "h"),
    ('"you rome"', ""),
    ("rome italy", "h"),
    ("rome OR attached", "ah"),
    ("is:unread rome OR attached", "a"),  # OR binds tighter than standing side by side
    ("newer_than:2d", "sah"),
    ("older_than:2d", "c"),
    ("after:1935489600", "csah"),
    ("after:1935489601", "sah"),
    ("before:2031/05/03", "c"),
    ("after:2031/5/3 before:2031/5/6", "sah"),
    ("larger:1M", ""),
    ("smaller:1M", "csah"),
    ("unknown:operator", ""),
    ("))((is:unread", "csa"),
    ("OR", "csah"),
    ("-", "csah"),
]


def test_queries_find_what_they_say(bob) -> None:
    get = bob.users.messages().get
    names = {}
    for mail_id in bob.ids(q="in:anywhere"):
        headers = get(userId="me", id=mail_id, format="metadata").execute()["payload"]["headers"]
        subject = next(header["value"] for header in headers if header["name"] == "Subject")
        names[mail_id] = next(letter for letter, name in NAMES.items() if name == subject)
    found = {
        query: "".join(sorted(names[mail_id] for mail_id in bob.ids(**({"q": query} if query else {}))))
        for query, _ in QUERIES
    }
    assert found == {query: "".join(sorted(expected)) for query, expected in QUERIES}


def test_a_mail_is_found_by_its_message_id(bob) -> None:
    wanted = bob.ids(q="attached")
    (header,) = (
        bob.users.messages()
        .get(userId="me", id=wanted[0], format="metadata", metadataHeaders="Message-ID")
        .execute()["payload"]["headers"]
    )
    assert bob.ids(q=f"rfc822msgid:{header['value']}") == wanted
    assert bob.ids(q=f"rfc822msgid:{header['value'].strip('<>')}") == wanted
    assert bob.ids(q=f"rfc822msgid:{header['value'][2:]}") == []


@pytest.mark.parametrize(
    "query", ["after:soon", "newer_than:2x", "larger:big", "(" * 60 + "a", "from:" + "(" * 60, "a" * 8001]
)
def test_a_query_that_cannot_be_meant_is_refused(sandbox, plain, query: str) -> None:
    from urllib.parse import quote

    reply = plain(sandbox).ask(
        "GET", f"/gmail/v1/users/me/messages?q={quote(query)}", token=sandbox.access_token(ALICE)
    )
    assert (reply.status, reply.reason) == (400, "invalidArgument")
