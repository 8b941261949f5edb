"""A send leaves once, and its outcome is told as it is: sent, not sent, or nobody knows."""

from __future__ import annotations

import errno
import json
import os
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import AuthorizationExpired, MailboxUnavailable, MailError, QuotaExhausted
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.mail.gmail import GmailMailbox, transport
from league_agents.mail.oauth import Authorization
from league_agents.mail.port import AmbiguousSend
from league_agents.mail.quota import QuotaLedger, QuotaLimits
from league_agents.sandbox.faults import LONGEST_WAIT_S, Fault, FaultAction
from league_agents.sandbox.server import Sandbox
from league_agents.testing.mailbox_contract import ALICE, BOB, letter, nothing_known

SHORT = timedelta(seconds=1)


def posts(sandbox: Sandbox, account: str = ALICE) -> int:
    """How often ``messages.send`` reached the server, whatever became of it."""
    methods = sandbox.report()["accounts"].get(account.lower(), {}).get("methods", {})
    counts = methods.get("messages.send", {"calls": 0, "refused": 0})
    return counts["calls"] + counts["refused"]


def sent(sandbox: Sandbox, account: str = ALICE) -> int:
    return len(sandbox.mail(account, "SENT"))


@pytest.mark.parametrize(
    ("fault", "is_sent"),
    [
        (Fault(action=FaultAction.DROP_DONE, method="messages.send"), True),
        (Fault(action=FaultAction.DROP_UNDONE, method="messages.send"), False),
        (Fault(action=FaultAction.DROP_UNREAD, method="messages.send"), False),
        (Fault(action=FaultAction.TRUNCATE, method="messages.send"), True),
        (Fault(action=FaultAction.GARBLE, method="messages.send"), True),
        (Fault(action=FaultAction.WAIT, method="messages.send", seconds=LONGEST_WAIT_S), True),
        (Fault(action=FaultAction.ERROR, method="messages.send", status=500), False),
        (Fault(action=FaultAction.ERROR, method="messages.send", status=503), False),
    ],
    ids=lambda value: value.action if isinstance(value, Fault) else str(value),
)
def test_a_send_without_a_clear_answer_leaves_once_and_is_looked_for(
    sandbox: Sandbox, open_mailbox, fault: Fault, is_sent: bool
) -> None:
    timeout = SHORT if fault.action is FaultAction.WAIT else timedelta(seconds=LIMIT_S)
    alice = open_mailbox(ALICE, timeout=timeout)
    assert alice.address == ALICE  # a connection is open when the send begins
    sandbox.add_fault(fault)
    with pytest.raises(AmbiguousSend):
        alice.send(letter(1))
    sandbox.clear_faults()
    until(lambda: posts(sandbox) == 1, "a server that takes its time does it")
    assert sent(sandbox) == is_sent
    assert alice.was_sent("m1") is is_sent
    restarted = open_mailbox(ALICE)
    assert restarted.was_sent("m1") is is_sent


@pytest.mark.parametrize("action", [FaultAction.WAIT, FaultAction.SLOW_BODY])
def test_a_send_is_left_after_a_time_whatever_other_calls_may_take(
    sandbox: Sandbox, open_mailbox, monkeypatch: pytest.MonkeyPatch, action: FaultAction
) -> None:
    monkeypatch.setattr(transport, "LONGEST_SEND", timedelta(seconds=0.4))
    alice = open_mailbox(ALICE)
    # Each piece of a slow reply comes soon after the one before.
    sandbox.add_fault(Fault(action=action, method="messages.send", seconds=4))
    with pytest.raises(AmbiguousSend) as caught:
        alice.send(letter(1))
    assert not caught.value.was_answered
    sandbox.clear_faults()
    sandbox.add_fault(Fault(action=FaultAction.SLOW_BODY, method="getProfile", seconds=0.6))
    assert alice.profile().address == ALICE


@pytest.mark.parametrize(("status", "is_over"), [(500, True), (503, True), (502, False), (504, False), (408, False)])
def test_a_send_is_over_when_the_service_and_not_a_gateway_says_that_it_failed(
    sandbox: Sandbox, open_mailbox, status: int, is_over: bool
) -> None:
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="messages.send", status=status))
    with pytest.raises(AmbiguousSend) as caught:
        open_mailbox(ALICE).send(letter(1))
    assert caught.value.was_answered is is_over


def test_a_sent_mail_that_no_listing_shows_yet_is_found_in_the_history(sandbox: Sandbox, open_mailbox) -> None:
    alice = open_mailbox(ALICE)
    alice.fetch(1, nothing_known)
    sandbox.add_fault(Fault(action=FaultAction.UNLISTED, method="messages.send", seconds=3600))
    sandbox.add_fault(Fault(action=FaultAction.DROP_DONE, method="messages.send"))
    with pytest.raises(AmbiguousSend):
        alice.send(letter(1))
    sandbox.clear_faults()
    assert alice.was_sent("m1")


def test_only_a_mail_with_exactly_this_id_counts_as_sent(sandbox: Sandbox, open_mailbox) -> None:
    alice = open_mailbox(ALICE)
    for number in (11, 12, 101):
        alice.send(letter(number))
    later = open_mailbox(ALICE)
    assert [later.was_sent(transaction) for transaction in ("m1", "m10", "m11", "11", "M11", 'm"11', "")] == [
        False, False, True, False, False, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "reason", "wait"),
    [(429, "rateLimitExceeded", None), (403, "userRateLimitExceeded", 7), (403, "rateLimitExceeded", 2)],
)
def test_a_send_that_is_refused_for_its_pace_was_not_sent(
    sandbox: Sandbox, open_mailbox, status: int, reason: str, wait: float | None
) -> None:
    alice = open_mailbox(ALICE)
    sandbox.add_fault(
        Fault(action=FaultAction.ERROR, method="messages.send", status=status, reason=reason, retry_after_s=wait)
    )
    with pytest.raises(MailboxUnavailable) as caught:
        alice.send(letter(1))
    assert caught.value.retry_after == (timedelta(seconds=wait) if wait else None)
    assert posts(sandbox) == 1
    assert sent(sandbox) == 0
    assert alice.ledger.sends_left() == 500


def test_when_gmail_takes_no_more_mail_nothing_is_asked_before_it_said_so(sandbox: Sandbox, open_mailbox) -> None:
    clock = ManualClock(datetime.now(UTC))
    alice = open_mailbox(ALICE, clock=clock)
    resumes_at = clock.now() + timedelta(minutes=15)
    stamp = resumes_at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    message = f"User-rate limit exceeded.  Retry after {stamp} (Mail sending)"
    sandbox.add_fault(
        Fault(action=FaultAction.ERROR, method="messages.send", status=429, reason="rateLimitExceeded", message=message)
    )
    for _ in range(3):
        with pytest.raises(QuotaExhausted) as caught:
            alice.send(letter(1))
        assert caught.value.resets_at is not None
        assert abs(caught.value.resets_at - resumes_at) < timedelta(seconds=2)
    assert posts(sandbox) == 1
    assert alice.fetch(1, nothing_known) == []  # reading goes on
    sandbox.clear_faults()
    clock.advance_to(resumes_at + timedelta(seconds=1))
    alice.send(letter(1))
    assert sent(sandbox) == 1


def test_the_daily_limit_of_gmail_itself_is_told_with_its_end(sandbox: Sandbox, open_mailbox) -> None:
    alice = open_mailbox(ALICE)
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="messages.send", status=403, reason="dailyLimitExceeded"))
    with pytest.raises(QuotaExhausted) as caught:
        alice.send(letter(1))
    assert caught.value.resets_at is not None
    assert caught.value.resets_at > datetime.now(UTC)


@pytest.mark.parametrize(("status", "reason"), [(400, "invalidArgument"), (403, "domainPolicy"), (413, "tooLarge")])
def test_a_mail_that_is_refused_for_good_is_not_tried_again(
    sandbox: Sandbox, open_mailbox, status: int, reason: str
) -> None:
    alice = open_mailbox(ALICE)
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="messages.send", status=status, reason=reason))
    with pytest.raises(MailError) as caught:
        alice.send(letter(1))
    assert type(caught.value) is MailError
    assert posts(sandbox) == 1


def test_a_server_that_is_not_there_got_nothing(tmp_path: Path) -> None:
    with Sandbox([ALICE, BOB]) as gone:
        alice = GmailMailbox(gone.token_file(ALICE, tmp_path), endpoint=gone.url, address=ALICE)
    with pytest.raises(MailboxUnavailable, match="nothing was sent"):
        alice.send(letter(1))
    assert alice.ledger.units_spent == 0
    alice.close()


def test_an_access_token_that_expired_is_renewed_and_the_mail_sent_once(
    sandbox: Sandbox, open_mailbox, tmp_path: Path
) -> None:
    alice = open_mailbox(ALICE)
    (token_file,) = tmp_path.glob("token*alice*")
    before = json.loads(token_file.read_text())
    sandbox.add_fault(Fault(action=FaultAction.EXPIRE_TOKEN, method="messages.send", calls=(1,)))
    alice.send(letter(1))
    assert sent(sandbox) == 1
    after = json.loads(token_file.read_text())
    assert after["token"] != before["token"]
    assert {**before, "token": 0, "expiry": 0} == {**after, "token": 0, "expiry": 0}
    assert token_file.stat().st_mode & 0o777 == 0o600


def test_a_token_that_cannot_be_written_down_does_not_make_a_mail_unsent(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_file: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    authorization = Authorization(sandbox.token_file(ALICE, tmp_path))
    alice = GmailMailbox(authorization, endpoint=sandbox.url)
    monkeypatch.setattr(os, "fsync", full)
    sandbox.add_fault(Fault(action=FaultAction.EXPIRE_TOKEN, method="messages.send", calls=(1,)))
    alice.send(letter(1))
    alice.send(letter(2))
    assert sent(sandbox) == 2
    assert authorization.trouble is not None
    assert "cannot be written" in authorization.trouble
    alice.close()


def test_an_authorization_that_was_taken_back_names_the_command_and_no_secret(
    sandbox: Sandbox, open_mailbox, tmp_path: Path
) -> None:
    alice = open_mailbox(ALICE)
    sandbox.withdraw(ALICE)
    with pytest.raises(AuthorizationExpired, match="run 'league-agents auth login'") as caught:
        alice.send(letter(1))
    (token_file,) = tmp_path.glob("token*alice*")
    secrets = json.loads(token_file.read_text())
    for name in ("token", "refresh_token", "client_secret"):
        assert secrets[name] not in str(caught.value)
    assert sent(sandbox) == 0
    # A new login replaces the file; the mailbox takes it up by itself.
    sandbox.token_file(ALICE, tmp_path)
    alice.send(letter(1))
    assert sent(sandbox) == 1


def test_a_token_server_that_fails_is_waited_for_and_nothing_was_sent(
    sandbox: Sandbox, open_mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The library's own pauses between its attempts at the token server.
    monkeypatch.setattr("google.auth._exponential_backoff.time.sleep", lambda seconds: None)
    alice = open_mailbox(ALICE)
    assert alice.address == ALICE
    sandbox.add_fault(Fault(action=FaultAction.EXPIRE_TOKEN, method="messages.send", calls=(1,)))
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="token", status=503))
    with pytest.raises(MailboxUnavailable):
        alice.send(letter(1))
    assert sent(sandbox) == 0


def test_nobody_can_send_in_the_name_of_another(sandbox: Sandbox, open_mailbox) -> None:
    with pytest.raises(MailError, match="cannot send in the name of"):
        open_mailbox(ALICE).send(letter(1, sender=BOB))
    assert posts(sandbox) == 0


def test_a_mail_that_cannot_be_written_is_refused_as_mail(sandbox: Sandbox, open_mailbox) -> None:
    with pytest.raises(MailError, match="cannot be written"):
        open_mailbox(ALICE).send(letter(1, to=("no address",)))
    assert posts(sandbox) == 0


def test_the_last_sends_of_a_day_go_to_running_games_without_asking_gmail(sandbox: Sandbox, open_mailbox) -> None:
    clock = ManualClock(datetime.now(UTC))
    limits = QuotaLimits(sends_per_day=3, sends_kept_for_running_games=2, sends_kept_from_new_games=2)
    alice = open_mailbox(ALICE, clock=clock, ledger=QuotaLedger(clock, limits=limits))
    alice.send(letter(1))
    with pytest.raises(QuotaExhausted) as caught:
        alice.send(letter(2))
    assert caught.value.resets_at is not None
    assert timedelta(hours=23) < caught.value.resets_at - clock.now() <= timedelta(hours=24, minutes=1)
    assert posts(sandbox) == 1


def test_a_sent_mail_gets_no_label_but_that_it_was_sent(sandbox: Sandbox, open_mailbox) -> None:
    alice = open_mailbox(ALICE)
    alice.send(letter(1))
    (mail,) = sandbox.mail(ALICE, "SENT")
    assert mail.labels == {"SENT"}


class _Counting:
    """A server that answers the first request on each connection and hangs up without a word at the next."""

    def __init__(self) -> None:
        self.requests: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer_once, args=(connection,), daemon=True).start()

    def _answer_once(self, connection: socket.socket) -> None:
        with connection:
            for answers in (True, False):
                head = self._head(connection)
                if head is None:
                    return
                self.requests.append(head)
                if answers:
                    body = json.dumps({"id": "x1", "emailAddress": ALICE, "historyId": "5"}).encode()
                    connection.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                        b"Content-Length: %d\r\n\r\n%s" % (len(body), body)
                    )

    def _head(self, connection: socket.socket) -> str | None:
        """The first line of the next request, which is read to its end."""
        with connection.makefile("rb") as stream:
            head = stream.readline().decode()
            length = 0
            while (line := stream.readline().strip().lower()) != b"":
                if line.startswith(b"content-length:"):
                    length = int(line.partition(b":")[2])
            stream.read(length)
        return head or None

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture
def counting() -> Iterator[_Counting]:
    server = _Counting()
    yield server
    server.close()


def test_a_connection_that_the_server_has_closed_puts_no_send_in_doubt(
    sandbox: Sandbox, counting: _Counting, tmp_path: Path
) -> None:
    alice = GmailMailbox(sandbox.token_file(ALICE, tmp_path), endpoint=counting.url, timeout=timedelta(seconds=LIMIT_S))
    assert alice.address == ALICE
    alice.send(letter(1))  # on a connection of its own
    alice.profile()  # the kept connection is dead: asked again on a new one, which harms nobody
    assert [request.split()[0] for request in counting.requests] == ["GET", "POST", "GET", "GET"]
    alice.close()
