"""What calls cost, and what happens to those who make too many."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league_agents.sandbox.accounting import Quota
from league_agents.sandbox.world import Rules

ALICE, BOB = "Alice@league.test", "bob@league.test"


def test_every_call_is_counted_at_the_prices_of_2026(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post(BOB)
    (mail_id,) = bob.ids()
    bob.raw(mail_id)
    bob.users.messages().modify(userId="me", id=mail_id, body={"removeLabelIds": ["UNREAD"]}).execute()
    bob.users.messages().batchModify(userId="me", body={"ids": [mail_id], "addLabelIds": ["STARRED"]}).execute()
    bob.changes(bob.cursor())
    bob.users.labels().list(userId="me").execute()
    report = sandbox.report()
    methods = report["accounts"][BOB]["methods"]
    assert {name: tally["units"] for name, tally in methods.items()} == {
        "messages.list": 5,
        "messages.get": 20,
        "messages.modify": 5,
        "messages.batchModify": 50,
        "getProfile": 1,
        "history.list": 2,
        "labels.list": 1,
    }
    assert report["accounts"]["alice@league.test"]["units"] == 100
    assert report["units"] == 184
    assert report["delivered"] == {BOB: 1}


def test_whoever_has_used_up_the_minute_is_refused_until_it_has_passed(start, account) -> None:
    from googleapiclient.errors import HttpError

    sandbox = start(rules=Rules(quota=Quota(units_per_minute=250)))
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    alice.post(BOB)
    sandbox.advance(timedelta(seconds=20))
    alice.post(BOB)
    with pytest.raises(HttpError) as refusal:
        alice.post(BOB)
    assert refusal.value.status_code == 403
    assert refusal.value.error_details[0]["reason"] == "userRateLimitExceeded"
    assert refusal.value.resp["retry-after"] == "40"
    bob.cursor()  # others have a minute of their own
    alice.cursor()  # and what is cheap enough still fits
    sandbox.advance(timedelta(seconds=40))
    alice.post(BOB)
    assert sandbox.report()["accounts"]["alice@league.test"]["methods"]["messages.send"] == {
        "calls": 3,
        "refused": 1,
        "units": 300,
    }


def test_prices_are_handed_in(start, account) -> None:
    sandbox = start(rules=Rules(quota=Quota(prices={"getProfile": 7})))
    account(sandbox).cursor()
    assert sandbox.report()["units"] == 7


def test_five_hundred_mails_a_day_are_enough(start, account) -> None:
    from googleapiclient.errors import HttpError

    sandbox = start(rules=Rules(quota=Quota(sends_per_day=2)))
    alice = account(sandbox)
    alice.post(BOB)
    sandbox.advance(timedelta(hours=1))
    alice.post(BOB)
    with pytest.raises(HttpError, match=r"Retry after 2031-05-03T12:00:00\.000Z \(Mail sending\)") as refusal:
        alice.post(BOB, X_League_Message_ID="third")
    assert refusal.value.status_code == 429
    assert refusal.value.resp["retry-after"] == str(23 * 3600)
    sandbox.advance(timedelta(hours=23))
    alice.post(BOB, X_League_Message_ID="third")
    # Three posts: refused by the limit, refused with a token that had ended meanwhile, accepted with a new one.
    assert sandbox.report()["sends"]["alice@league.test"]["third"] == {"posted": 3, "accepted": 1}
    assert sandbox.report()["accepted_twice"] == []


def test_time_passes_when_it_is_told_to(sandbox, plain) -> None:
    wire = plain(sandbox)
    assert wire.ask("GET", "/sandbox/clock").json == {"now": "2031-05-02T12:00:00+00:00", "now_ms": 1935489600000}
    assert wire.ask("POST", "/sandbox/clock", {"advance_s": 90.5}).json["now_ms"] == 1935489690500
    for wrong in ({"advance_s": -1}, {"advance_s": 1e12}, {"advance_s": "1"}, {"advance_s": True}, {}):
        assert wire.ask("POST", "/sandbox/clock", wrong).status == 400
    nan = wire.ask("POST", "/sandbox/clock", b'{"advance_s": NaN}')
    assert nan.status == 400
