"""What happened since a cursor, and when Gmail has forgotten it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league_agents.sandbox.faults import Fault, FaultAction

ALICE, BOB = "Alice@league.test", "bob@league.test"


def test_ids_do_not_fit_a_signed_integer(sandbox, account) -> None:
    assert 2**63 < int(account(sandbox, ALICE).cursor()) < 2**64


def test_nothing_new_has_no_history_key(sandbox, account) -> None:
    alice = account(sandbox, ALICE)
    cursor = alice.cursor()
    assert alice.changes(cursor) == {"historyId": cursor}


def test_everything_that_happens_is_told_in_order(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB, scopes=("https://mail.google.com/",))
    cursor = bob.cursor()
    alice.post(BOB)
    (mail_id,) = bob.ids()
    change = {"addLabelIds": ["STARRED"], "removeLabelIds": ["UNREAD"]}
    bob.users.messages().modify(userId="me", id=mail_id, body=change).execute()
    bob.users.messages().modify(userId="me", id=mail_id, body=change).execute()  # changes nothing, so tells nothing
    bob.users.messages().delete(userId="me", id=mail_id).execute()
    told = bob.changes(cursor)
    added, relabelled, deleted = told["history"]
    assert added["messagesAdded"][0]["message"]["labelIds"] == ["INBOX", "UNREAD"]
    assert relabelled["labelsAdded"][0]["labelIds"] == ["STARRED"]
    assert relabelled["labelsRemoved"][0]["labelIds"] == ["UNREAD"]
    assert deleted["messagesDeleted"][0]["message"]["id"] == mail_id
    order = [int(record["id"]) for record in told["history"]]
    assert order == sorted(order)
    assert told["historyId"] == str(order[-1]) == bob.cursor()
    assert bob.changes(str(order[0]))["history"] == told["history"][1:]


def test_types_and_a_label_choose_what_is_told(sandbox, account) -> None:
    alice = account(sandbox, ALICE)
    cursor = alice.cursor()
    alice.post(BOB)
    alice.post(ALICE)
    assert len(alice.changes(cursor, historyTypes=["messageAdded"])["history"]) == 2
    assert len(alice.changes(cursor, historyTypes=["messageAdded"], labelId="INBOX")["history"]) == 1
    assert "history" not in alice.changes(cursor, historyTypes=["labelAdded", "messageDeleted"])


def test_pages_follow_each_other_and_may_be_empty(sandbox, account) -> None:
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    cursor = bob.cursor()
    for _ in range(3):
        alice.post(BOB)
    for mail_id in bob.ids()[:2]:
        bob.users.messages().modify(userId="me", id=mail_id, body={"addLabelIds": ["STARRED"]}).execute()
    history = bob.users.history()
    request = history.list(userId="me", startHistoryId=cursor, historyTypes=["labelAdded"], maxResults=2)
    sizes = []
    while request is not None:
        answer = request.execute()
        sizes.append(len(answer.get("history", [])))
        request = history.list_next(request, answer)
    assert sizes == [0, 1, 1]


@pytest.mark.parametrize("cursor", ["1", "0", str(2**64 - 1)])
def test_a_cursor_that_is_no_longer_or_not_yet_valid_is_not_found(sandbox, plain, cursor: str) -> None:
    reply = plain(sandbox).ask(
        "GET", f"/gmail/v1/users/me/history?startHistoryId={cursor}", token=sandbox.access_token(ALICE)
    )
    assert (reply.status, reply.reason) == (404, "notFound")


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.5", str(2**64), "٣"])
def test_what_is_no_cursor_is_refused(sandbox, plain, cursor: str) -> None:
    from urllib.parse import quote

    reply = plain(sandbox).ask(
        "GET", f"/gmail/v1/users/me/history?startHistoryId={quote(cursor)}", token=sandbox.access_token(ALICE)
    )
    assert reply.status == 400


def test_history_is_forgotten_after_a_week(sandbox, account) -> None:
    from googleapiclient.errors import HttpError

    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    first = bob.cursor()
    alice.post(BOB)
    second = bob.cursor()
    sandbox.advance(timedelta(days=6))
    assert len(bob.changes(first)["history"]) == 1
    alice.post(BOB)
    sandbox.advance(timedelta(days=2))
    with pytest.raises(HttpError) as forgotten:
        bob.changes(first)
    assert forgotten.value.status_code == 404
    assert len(bob.changes(second)["history"]) == 1
    assert len(bob.ids()) == 2


def test_history_can_be_expired_at_once(sandbox, account, plain) -> None:
    from googleapiclient.errors import HttpError

    bob = account(sandbox, BOB)
    cursor = bob.cursor()
    assert plain(sandbox).ask("POST", "/sandbox/expire", {"account": BOB, "what": "history"}).status == 200
    with pytest.raises(HttpError) as forgotten:
        bob.changes(cursor)
    assert forgotten.value.status_code == 404
    assert bob.changes(bob.cursor()) == {"historyId": bob.cursor()}


def test_a_mail_whose_arrival_is_withheld_is_listed_and_not_in_the_history(start, account) -> None:
    sandbox = start(faults=[Fault(action=FaultAction.WITHHELD, method="delivery", calls=(1,))])
    alice, bob = account(sandbox, ALICE), account(sandbox, BOB)
    cursor = bob.cursor()
    alice.post(BOB)
    assert "history" not in bob.changes(cursor)
    assert len(bob.ids()) == 1
    alice.post(BOB)
    assert len(bob.changes(cursor)["history"]) == 1
    assert len(bob.ids()) == 2


def test_a_call_that_lasts_moves_the_sandboxs_own_clock(start, account) -> None:
    sandbox = start(faults=[Fault(action=FaultAction.LAST, method="getProfile", seconds=40)])
    before = sandbox.world.clock.now()
    account(sandbox, ALICE).cursor()
    assert sandbox.world.clock.now() - before == timedelta(seconds=40)
