"""Everything that can go wrong, and what the real client library makes of it."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
import time
from datetime import timedelta

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.sandbox.faults import LONGEST_WAIT_S, Fault, FaultAction, FaultPlan, read_plan

ALICE, BOB, CAROL = "Alice@league.test", "bob@league.test", "carol@league.test"
SEND = "messages.send"


def sends(sandbox) -> dict[str, dict[str, int]]:
    return sandbox.report()["sends"].get(ALICE.lower(), {})


def test_a_connection_that_drops_makes_the_client_library_post_a_send_twice(start, account) -> None:
    """Fact 1 of the Gmail notes: num_retries is 0 and the caller sees one success."""
    sandbox = start(faults=[Fault(method=SEND, action=FaultAction.DROP_DONE, calls=(1,))])
    alice = account(sandbox)
    assert alice.post(BOB, X_League_Message_ID="m1")["labelIds"] == ["SENT"]
    assert sends(sandbox) == {"m1": {"posted": 2, "accepted": 2}}
    assert sandbox.report()["accepted_twice"] == [
        {"account": "alice@league.test", "transaction": "m1", "posted": 2, "accepted": 2}
    ]
    assert len(sandbox.mail(BOB)) == 2


def test_a_session_of_requests_posts_once_and_cannot_know(start, account) -> None:
    import requests
    from google.auth.transport.requests import AuthorizedSession

    sandbox = start(faults=[Fault(method=SEND, action=FaultAction.DROP_DONE)])
    alice = account(sandbox)
    with AuthorizedSession(alice.credentials) as session, pytest.raises(requests.ConnectionError):
        session.post(
            f"{sandbox.url}/gmail/v1/users/me/messages/send",
            json={"raw": "VG86IGJvYkBsZWFndWUudGVzdA0KDQp4"},
        )
    assert sends(sandbox) == {"": {"posted": 1, "accepted": 1}}


def test_every_post_of_a_send_is_counted_by_its_transaction_whatever_becomes_of_it(start, plain) -> None:
    import base64

    sandbox = start(
        faults=[
            Fault(method=SEND, action=FaultAction.ERROR, status=503, calls=(1,)),
            Fault(method=SEND, action=FaultAction.DROP_UNDONE, calls=(2,)),
        ]
    )
    token = sandbox.access_token(ALICE)
    raw = base64.b64encode(b"To: bob@league.test\r\nX-League-Message-ID: m1\r\n\r\nx").decode()
    address = "/gmail/v1/users/me/messages/send"
    assert plain(sandbox).ask("POST", address, {"raw": raw}, token=token).status == 503
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        plain(sandbox).ask("POST", address, {"raw": raw}, token=token)
    assert plain(sandbox).ask("POST", address, {"raw": raw}, token=token).status == 200
    assert sends(sandbox) == {"m1": {"posted": 3, "accepted": 1}}
    assert sandbox.report()["accounts"]["alice@league.test"]["methods"][SEND] == {
        "calls": 1,
        "refused": 2,
        "units": 100,
    }


@pytest.mark.parametrize("action", [FaultAction.DROP_UNREAD, FaultAction.DROP_UNDONE])
def test_a_connection_that_drops_before_the_call_is_done_changes_nothing(start, plain, action: FaultAction) -> None:
    sandbox = start(faults=[Fault(method=SEND, action=action, calls=(1,))])
    token = sandbox.access_token(ALICE)
    body = {"raw": "VG86IGJvYkBsZWFndWUudGVzdA0KDQp4"}
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        plain(sandbox).ask("POST", "/gmail/v1/users/me/messages/send", body, token=token)
    assert sandbox.mail(BOB) == []
    assert sandbox.report()["accounts"]["alice@league.test"]["methods"][SEND] == {"calls": 0, "refused": 1, "units": 0}
    assert plain(sandbox).ask("POST", "/gmail/v1/users/me/messages/send", body, token=token).status == 200


@pytest.mark.parametrize(
    ("fault", "status", "reason", "retry_after"),
    [
        ({"status": 429, "retry_after_s": 7}, 429, "rateLimitExceeded", "7"),
        ({"status": 403}, 403, "userRateLimitExceeded", None),
        ({"status": 403, "reason": "dailyLimitExceeded"}, 403, "dailyLimitExceeded", None),
        ({"status": 500}, 500, "backendError", None),
        ({"status": 503, "retry_after_s": 0}, 503, "backendError", "0"),
        ({"status": 400, "reason": "failedPrecondition", "message": "Mail service not enabled"}, 400,
         "failedPrecondition", None),
    ],
)  # fmt: skip
def test_an_error_has_googles_shape(start, account, fault, status: int, reason: str, retry_after: str | None) -> None:
    from googleapiclient.errors import HttpError

    sandbox = start(faults=[Fault(action=FaultAction.ERROR, method="getProfile", **fault)])
    with pytest.raises(HttpError) as refusal:
        account(sandbox).cursor()
    assert refusal.value.status_code == status
    assert refusal.value.error_details[0]["reason"] == reason
    assert refusal.value.resp.get("retry-after") == retry_after
    assert sandbox.report()["units"] == 0


def test_the_client_library_tries_again_what_says_so(start, account) -> None:
    sandbox = start(faults=[Fault(action=FaultAction.ERROR, method="getProfile", status=503, calls=(1, 2))])
    request = account(sandbox).users.getProfile(userId="me")
    request._sleep = lambda _seconds: None
    assert request.execute(num_retries=2)["emailAddress"] == ALICE


def test_an_answer_that_is_late_runs_into_the_clients_patience(start, account) -> None:
    sandbox = start(faults=[Fault(method=SEND, action=FaultAction.WAIT, seconds=LONGEST_WAIT_S)])
    for timeout_s in (0.05, 1, 10, 100):  # on a slow machine the first may end before anything was posted
        with pytest.raises(TimeoutError):
            account(sandbox, timeout=timeout_s).post(BOB, X_League_Message_ID="m1")
        if sends(sandbox):
            break
    sandbox.clear_faults()
    account(sandbox).post(BOB)
    until(lambda: len(sandbox.mail(BOB)) == sends(sandbox)["m1"]["posted"] + 1, "the late one arrives too")


def test_a_slow_body_arrives_whole(start, account) -> None:
    sandbox = start(faults=[Fault(method="getProfile", action=FaultAction.SLOW_BODY, seconds=0.05)])
    begun = time.monotonic()
    account(sandbox).cursor()
    assert time.monotonic() - begun >= 0.04


def test_a_truncated_body_is_noticed(start, account) -> None:
    sandbox = start(faults=[Fault(method="getProfile", action=FaultAction.TRUNCATE, calls=(1,))])
    alice = account(sandbox)
    with pytest.raises(http.client.IncompleteRead):
        alice.cursor()
    alice.cursor()


def test_an_answer_may_be_no_json(start, account) -> None:
    sandbox = start(faults=[Fault(method="getProfile", action=FaultAction.GARBLE, times=1)])
    alice = account(sandbox)
    profile = alice.users.getProfile(userId="me")
    # The client library hands such an answer out as it is and reports nothing.
    assert profile.execute() == '{"messages": [{"id": "18f'
    assert profile.execute()["emailAddress"] == ALICE


def test_an_access_token_that_ends_early_is_refreshed_on_the_way(start, account) -> None:
    sandbox = start(faults=[Fault(method=SEND, action=FaultAction.EXPIRE_TOKEN, calls=(1,))])
    alice = account(sandbox)
    first = alice.credentials.token
    alice.post(BOB)
    assert alice.credentials.token != first
    assert len(sandbox.mail(BOB)) == 1


def test_a_grant_that_is_withdrawn_in_the_middle_is_an_invalid_grant(start, account) -> None:
    from google.auth.exceptions import RefreshError

    sandbox = start(faults=[Fault(method=SEND, action=FaultAction.REVOKE, calls=(2,))])
    alice = account(sandbox)
    alice.post(BOB)
    with pytest.raises(RefreshError):
        alice.post(BOB)
    assert len(sandbox.mail(BOB)) == 1


def test_the_token_endpoint_can_fail_too(start, account) -> None:
    from google.auth.exceptions import RefreshError

    sandbox = start(faults=[Fault(method="token", account=ALICE, action=FaultAction.ERROR, status=400)])
    alice = account(sandbox)
    sandbox.advance(timedelta(hours=2))
    with pytest.raises(RefreshError):
        alice.cursor()


def test_history_can_be_forgotten_before_a_call(start, account) -> None:
    from googleapiclient.errors import HttpError

    sandbox = start(faults=[Fault(method="history.list", action=FaultAction.EXPIRE_HISTORY, calls=(2,))])
    alice = account(sandbox)
    cursor = alice.cursor()
    alice.changes(cursor)
    with pytest.raises(HttpError) as forgotten:
        alice.changes(cursor)
    assert forgotten.value.status_code == 404


def test_a_mail_that_is_lost_is_only_in_sent(start, account) -> None:
    sandbox = start(faults=[Fault(method="delivery", account=BOB, action=FaultAction.LOSE)])
    account(sandbox).post(f"{BOB}, {CAROL}")
    assert [len(sandbox.mail(address)) for address in (ALICE, BOB, CAROL)] == [1, 0, 1]


def test_a_mail_that_is_duplicated_has_two_ids(start, account) -> None:
    sandbox = start(faults=[Fault(method="delivery", action=FaultAction.DUPLICATE, calls=(1,))])
    account(sandbox).post(BOB)
    first, second = sandbox.mail(BOB)
    assert first.mail_id != second.mail_id
    assert first.raw == second.raw


def test_a_mail_that_is_late_arrives_when_its_time_has_come(start, account) -> None:
    sandbox = start(faults=[Fault(method="delivery", action=FaultAction.LATE, seconds=60, calls=(1,))])
    account(sandbox).post(BOB)
    bob = account(sandbox, BOB)
    cursor = bob.cursor()
    sandbox.advance(timedelta(seconds=59))
    assert bob.ids() == []
    assert sandbox.report()["on_its_way"] == 1
    sandbox.advance(timedelta(seconds=10))
    (mail_id,) = bob.ids()
    message = bob.users.messages().get(userId="me", id=mail_id).execute()
    assert message["internalDate"] == "1935489660000"
    assert len(bob.changes(cursor)["history"]) == 1


def test_a_mail_to_oneself_that_is_late_gets_its_inbox_labels_later(start, account) -> None:
    sandbox = start(faults=[Fault(method="delivery", action=FaultAction.LATE, seconds=60)])
    alice = account(sandbox)
    sent = alice.post(ALICE)
    cursor = alice.cursor()
    assert sent["labelIds"] == ["SENT"]
    sandbox.advance(timedelta(seconds=60))
    assert alice.ids(labelIds=["INBOX", "SENT"]) == [sent["id"]]
    (change,) = alice.changes(cursor)["history"]
    assert change["labelsAdded"][0]["labelIds"] == ["INBOX", "UNREAD"]


def test_a_mail_can_be_overtaken_by_the_next_one(start, account) -> None:
    sandbox = start(faults=[Fault(method="delivery", action=FaultAction.REORDER, calls=(1, 4))])
    alice = account(sandbox)
    for name in "abcd":
        alice.post(BOB, Subject=name)
    assert [mail.view.header("subject") for mail in sandbox.mail(BOB)] == ["b", "a", "c"]
    sandbox.advance(timedelta(seconds=30))  # nobody comes after the last one
    assert [mail.view.header("subject") for mail in sandbox.mail(BOB)] == ["b", "a", "c", "d"]


def test_mail_can_be_taken_for_spam_and_dated_wrongly(start, account) -> None:
    sandbox = start(
        faults=[
            Fault(method="delivery", action=FaultAction.SPAM, calls=(1,)),
            Fault(method="delivery", action=FaultAction.SKEW, seconds=-90, calls=(2,)),
        ]
    )
    alice, bob = account(sandbox), account(sandbox, BOB)
    alice.post(BOB)
    alice.post(BOB)
    assert [mail.label_ids for mail in sandbox.mail(BOB)] == [["INBOX", "UNREAD"], ["SPAM", "UNREAD"]]
    (inbox,) = bob.ids()
    assert bob.users.messages().get(userId="me", id=inbox).execute()["internalDate"] == "1935489510000"
    assert len(bob.ids(includeSpamTrash=True)) == 2


def test_a_sent_mail_may_not_be_listed_for_a_while(start, account) -> None:
    sandbox = start(faults=[Fault(method=SEND, action=FaultAction.UNLISTED, seconds=10)])
    alice = account(sandbox)
    sent = alice.post(BOB)
    assert alice.ids(labelIds=["SENT"]) == alice.ids(q="in:sent") == []
    assert alice.users.messages().get(userId="me", id=sent["id"], format="minimal").execute()["id"] == sent["id"]
    sandbox.advance(timedelta(seconds=10))
    assert alice.ids(q="in:sent") == [sent["id"]]


def test_faults_strike_the_calls_of_a_batch_one_by_one(start, account) -> None:
    sandbox = start(
        faults=[
            Fault(method="getProfile", action=FaultAction.ERROR, status=429, calls=(2,)),
            Fault(method="getProfile", action=FaultAction.DROP_UNDONE, calls=(3,)),
        ]
    )
    alice = account(sandbox)
    codes = []
    batch = alice.service.new_batch_http_request(
        callback=lambda _name, _answer, error: codes.append(None if error is None else error.status_code)
    )
    for _ in range(4):
        batch.add(alice.users.getProfile(userId="me"))
    batch.execute()
    assert codes == [None, 429, 503, None]


def test_the_same_seed_has_the_same_accidents_whoever_comes_first() -> None:
    def luck(turns: str, seed: int) -> dict[str, list[bool]]:
        plan = FaultPlan([Fault(action=FaultAction.ERROR, chance=0.3)], seed=seed)
        struck: dict[str, list[bool]] = {"a": [], "b": []}
        for who in turns:
            struck[who].append(bool(plan.strikes("messages.get", who)))
        return struck

    assert luck("ab" * 50, seed=1) == luck("a" * 50 + "b" * 50, seed=1)
    assert luck("ab" * 50, seed=1) != luck("ab" * 50, seed=2)
    assert 5 < sum(luck("a" * 50, seed=1)["a"]) < 25


def test_every_and_times_and_prefixes_choose_the_calls() -> None:
    plan = FaultPlan([Fault(action=FaultAction.ERROR, method="messages.*", every=3, times=2)])
    struck = [bool(plan.strikes(method, "a")) for method in ["messages.get", "history.list", "messages.list"] * 6]
    assert [place for place, is_struck in enumerate(struck) if is_struck] == [3, 8]
    assert not plan.strikes("delivery", "a")


def test_faults_can_be_added_and_cleared_while_it_runs(sandbox, plain) -> None:
    wire = plain(sandbox)
    token = sandbox.access_token(ALICE)
    added = {"faults": [{"method": "getProfile", "action": "error", "status": 500}]}
    assert wire.ask("POST", "/sandbox/faults", added).json == {"added": 1}
    assert wire.ask("GET", "/gmail/v1/users/me/profile", token=token).status == 500
    assert wire.ask("DELETE", "/sandbox/faults").status == 200
    assert wire.ask("GET", "/gmail/v1/users/me/profile", token=token).status == 200
    assert wire.ask("POST", "/sandbox/faults", {"action": "explode"}).status == 400
    assert wire.ask("POST", "/sandbox/faults", {"action": "kill-undone"}).status == 400


@pytest.mark.parametrize(
    ("document", "complaint"),
    [
        ([], "a fault file is a mapping"),
        ({"rules": []}, "unknown key rules"),
        ({"faults": {}}, "must be a list"),
        ({"faults": ["x"]}, "a fault is a mapping"),
        ({"faults": [{"action": "explode"}]}, "action must be one of"),
        ({"faults": [{"action": "error", "staus": 1}]}, "unknown key staus"),
        ({"faults": [{"action": "error", "status": "500"}]}, "status must be a whole number"),
        ({"faults": [{"action": "error", "status": 200}]}, "status must be from 400"),
        ({"faults": [{"action": "error", "chance": 2}]}, "chance must be from 0 to 1"),
        ({"faults": [{"action": "error", "chance": True}]}, "chance must be a number"),
        ({"faults": [{"action": "error", "calls": [0]}]}, "counted from 1"),
        ({"faults": [{"action": "error", "calls": ["1"]}]}, "whole numbers"),
        ({"faults": [{"action": "error", "every": 0}]}, "every must be at least 1"),
        ({"faults": [{"action": "wait"}]}, "needs seconds"),
        ({"faults": [{"action": "wait", "seconds": 1e9}]}, "seconds must be from 0"),
        ({"faults": [{"action": "lose", "method": "messages.send"}]}, "write method: delivery"),
        ({"faults": [{"action": "error", "method": "delivery"}]}, "cannot strike mail on its way"),
        ({"seed": 1.5}, "seed must be"),
    ],
)
def test_a_wrong_fault_file_is_explained(document: object, complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint) as error:
        read_plan(document, where="faults.yaml")
    assert str(error.value).startswith("faults.yaml")


def test_a_right_fault_file_is_read() -> None:
    seed, (fault,) = read_plan(
        {"seed": "s", "faults": [{"action": "drop-done", "method": SEND, "calls": 3, "account": BOB}]}, where="f"
    )
    assert (seed, fault) == ("s", Fault(action=FaultAction.DROP_DONE, method=SEND, calls=(3,), account=BOB))


def test_nothing_kills_a_process_that_it_shares(start) -> None:
    with pytest.raises(ConfigError, match="start it by its command"):
        start(faults=[Fault(action=FaultAction.KILL_DONE)])


def test_a_sandbox_that_is_killed_comes_back_with_everything_it_accepted(tmp_path, plain, start) -> None:
    state = tmp_path / "sandbox.db"
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from league_agents.sandbox.faults import LONGEST_WAIT_S, FaultAction, Fault\n"
        "from league_agents.sandbox.server import Sandbox\n"
        "faults = [Fault(method='messages.send', action=FaultAction.KILL_UNDONE, calls=(3,)),\n"
        "          Fault(method='messages.send', action=FaultAction.KILL_DONE, calls=(4,))]\n"
        "with Sandbox(['a@x.test', 'b@x.test'], faults=faults, state=Path(sys.argv[1]), may_kill=True) as sandbox:\n"
        "    print(sandbox.port, sandbox.access_token('a@x.test'), flush=True)\n"
        "    sys.stdin.read()\n"
    )
    body = b'{"raw": "VG86IGJAeC50ZXN0DQpYLUxlYWd1ZS1NZXNzYWdlLUlEOiBtMQ0KDQp4"}'

    def life() -> tuple[int, int]:
        """How many sends were answered, and how it ended."""
        with subprocess.Popen(
            [sys.executable, "-c", program, str(state)], stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True
        ) as child:
            assert child.stdout is not None
            port, token = child.stdout.readline().split()
            answered = 0
            for _ in range(5):
                connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=LIMIT_S)
                try:
                    connection.request(
                        "POST", "/gmail/v1/users/me/messages/send", body, {"Authorization": f"Bearer {token}"}
                    )
                    answered += connection.getresponse().status == 200
                except (http.client.HTTPException, OSError):
                    break
                finally:
                    connection.close()
            child.kill()
            return answered, child.wait()

    assert life() == (2, -signal.SIGKILL)
    assert life() == (0, -signal.SIGKILL)  # the fourth one, done but not answered
    sandbox = start((), state=state)
    assert sandbox.accounts == ["a@x.test", "b@x.test"]
    assert len(sandbox.mail("b@x.test")) == len(sandbox.mail("a@x.test", "SENT")) == 3
    assert sandbox.report()["sends"] == {"a@x.test": {"m1": {"posted": 4, "accepted": 3}}}
    assert state.stat().st_mode & 0o777 == 0o600
