"""Mail is read oldest first, once, cheaply, and nobody else's is touched."""

from __future__ import annotations

import base64
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from league_agents.kit.clock import ManualClock, SystemClock
from league_agents.kit.errors import MailboxUnavailable, MailError
from league_agents.mail import mime
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.gmail.backlog import WINDOW
from league_agents.mail.identity import not_delivered_to
from league_agents.mail.quota import QuotaLedger, QuotaLimits
from league_agents.mail.service_clock import ServiceClock
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.server import Sandbox
from league_agents.testing.mailbox_contract import ALICE, BOB, document, letter, nothing_known

NEWSLETTER = b"From: news@shop.test\r\nTo: bob@league.test\r\nSubject: Sale\r\n\r\nEverything must go\r\n"


def put(sandbox: Sandbox, number: int, at: datetime | None = None, *, to: str = BOB, labels=("INBOX", "UNREAD")) -> str:
    """A protocol mail in a mailbox, with an internal date of one's choice."""
    milliseconds = round((at or datetime.now(UTC)).timestamp() * 1000)
    with sandbox.world.lock:
        box = sandbox.world.boxes[to.lower()]
        stored = box.add(
            mime.build(letter(number)), set(labels), at_ms=milliseconds, now_ms=sandbox.world.clock.now_ms()
        )
        return stored.mail_id


def calls(sandbox: Sandbox, account: str = BOB) -> Counter[str]:
    methods = sandbox.report()["accounts"].get(account.lower(), {}).get("methods", {})
    return Counter({name: tally["calls"] + tally["refused"] for name, tally in methods.items()})


def units(sandbox: Sandbox, account: str = BOB) -> int:
    return sandbox.report()["accounts"].get(account.lower(), {}).get("units", 0)


def number_of(mail) -> int:
    return int(document(mail)["message_id"].removeprefix("m"))


def drain(mailbox: GmailMailbox, limit: int = 100) -> list[int]:
    """What a runner does: fetch, commit, acknowledge, until no more wait."""
    seen: set[str] = set()
    order = []
    while mails := mailbox.fetch(limit, seen.__contains__):
        seen.update(mail.mail_id for mail in mails)
        order += [number_of(mail) for mail in mails]
        mailbox.acknowledge([mail.mail_id for mail in mails])
        if len(mails) < limit:
            break
    return order


def generous() -> QuotaLedger:
    return QuotaLedger(ManualClock(datetime.now(UTC)), limits=QuotaLimits(units_per_minute=10**6))


def test_a_backlog_of_1200_mails_in_odd_order_is_read_oldest_first_and_each_once(
    sandbox: Sandbox, open_mailbox
) -> None:
    start = datetime.now(UTC) - timedelta(days=40)
    rng = random.Random(7)
    # Some in bursts within a second, most alone; ids in the order of arrival, which is not that of the dates.
    dates = sorted(start + timedelta(milliseconds=rng.choice((0, 3, 900, 10**5, 10**7)) * n) for n in range(1200))
    order = list(range(1200))
    rng.shuffle(order)
    for number in order:
        put(sandbox, number, dates[number] + timedelta(milliseconds=number))
    bob = open_mailbox(BOB, ledger=generous())
    got = drain(bob)
    exact = sorted(range(1200), key=lambda number: dates[number] + timedelta(milliseconds=number))
    assert got == exact
    assert calls(sandbox)["messages.get"] == 1200
    assert units(sandbox) < 1200 * 20 * 1.1
    assert sandbox.mail(BOB, "UNREAD") == []


def test_a_burst_within_one_second_is_read_in_the_order_of_its_milliseconds(sandbox: Sandbox, open_mailbox) -> None:
    second = datetime(2026, 5, 2, 12, 0, tzinfo=UTC)
    amount = WINDOW + 60
    for number in reversed(range(amount)):
        put(sandbox, number, second + timedelta(milliseconds=number))
    put(sandbox, 9_000, second + timedelta(hours=1))
    put(sandbox, 9_001, second - timedelta(hours=1))
    assert drain(open_mailbox(BOB, ledger=generous()), 50) == [9_001, *range(amount), 9_000]
    assert calls(sandbox)["messages.get"] == amount + 2


def test_mails_that_arrive_while_a_backlog_is_worked_off_come_after_it(sandbox: Sandbox, open_mailbox) -> None:
    start = datetime.now(UTC) - timedelta(hours=2)
    for number in range(WINDOW + 50):
        put(sandbox, number, start + timedelta(seconds=number))
    bob = open_mailbox(BOB, ledger=generous())
    first = bob.fetch(100, nothing_known)
    put(sandbox, 5_000)
    bob.acknowledge([mail.mail_id for mail in first])
    assert [number_of(mail) for mail in first] + drain(bob) == [*range(WINDOW + 50), 5_000]


def test_an_idle_look_costs_two_units_and_polling_every_two_seconds_one_percent(sandbox: Sandbox, open_mailbox) -> None:
    clock = ManualClock(datetime.now(UTC))
    bob = open_mailbox(BOB, clock=clock)
    bob.fetch(100, nothing_known)
    before = units(sandbox)
    looks = 0
    for _ in range(10 * 30):
        clock.sleep(timedelta(seconds=2))
        sandbox.advance(timedelta(seconds=2))
        assert bob.fetch(100, nothing_known) == []
        looks += 1
    spent = units(sandbox) - before
    assert spent / 10 <= 0.02 * 6_000
    assert spent == 2 * looks + 2 * 5 + 1 * 5  # two listings and one look into the spam folder in ten minutes
    assert bob.waiting_count == 0


def test_the_ledger_counts_what_gmail_counts(sandbox: Sandbox, open_mailbox) -> None:
    alice, bob = open_mailbox(ALICE), open_mailbox(BOB)
    for number in range(12):
        alice.send(letter(number))
    drain(bob, 5)
    assert not bob.was_sent("m3")
    assert bob.ledger.units_spent == units(sandbox, BOB)
    assert alice.ledger.units_spent == units(sandbox, ALICE)


def test_a_received_mail_costs_25_units_and_a_sent_one_100(sandbox: Sandbox, open_mailbox) -> None:
    alice, bob = open_mailbox(ALICE), open_mailbox(BOB)
    assert alice.address == ALICE
    bob.fetch(1, nothing_known)
    before = units(sandbox, ALICE), units(sandbox, BOB)
    alice.send(letter(1))
    assert drain(bob) == [1]
    assert units(sandbox, ALICE) - before[0] == 100
    assert units(sandbox, BOB) - before[1] == 20 + 5 + 2


@pytest.mark.parametrize(("amount", "cost"), [(10, {"messages.modify": 10}), (11, {"messages.batchModify": 1})])
def test_marking_as_read_is_done_the_cheaper_way(
    sandbox: Sandbox, open_mailbox, amount: int, cost: dict[str, int]
) -> None:
    bob = open_mailbox(BOB)
    bob.acknowledge([put(sandbox, number) for number in range(amount)])
    assert {name: count for name, count in calls(sandbox).items() if "odify" in name} == cost
    assert sandbox.mail(BOB, "UNREAD") == []


def test_a_mail_that_was_deleted_meanwhile_hinders_nothing(sandbox: Sandbox, open_mailbox) -> None:
    ids = [put(sandbox, number) for number in range(15)]
    bob = open_mailbox(BOB)
    assert bob.fetch(1, nothing_known)
    with sandbox.world.lock:
        box = sandbox.world.boxes[BOB]
        box.delete(box.find(ids[3]), now_ms=sandbox.world.clock.now_ms())
    bob.acknowledge(ids)
    bob.acknowledge(ids)
    assert sandbox.mail(BOB, "UNREAD") == []


def test_marking_that_failed_is_done_with_the_next_look(sandbox: Sandbox, open_mailbox) -> None:
    clock = ManualClock(datetime.now(UTC))
    bob = open_mailbox(BOB, clock=clock)
    put(sandbox, 1)
    (mail,) = bob.fetch(5, nothing_known)
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="messages.modify", status=503))
    with pytest.raises(MailboxUnavailable):
        bob.acknowledge([mail.mail_id])
    sandbox.clear_faults()
    clock.sleep(timedelta(minutes=2))
    assert bob.fetch(5, nothing_known) == []
    assert sandbox.mail(BOB, "UNREAD") == []


def test_a_history_that_gmail_has_forgotten_is_made_up_for_by_a_listing(sandbox: Sandbox, open_mailbox) -> None:
    bob = open_mailbox(BOB)
    assert bob.fetch(5, nothing_known) == []
    put(sandbox, 1)
    sandbox.add_fault(Fault(action=FaultAction.EXPIRE_HISTORY, method="history.list", times=1))
    assert [number_of(mail) for mail in bob.fetch(5, nothing_known)] == [1]
    assert bob.resyncs == 1
    put(sandbox, 2)
    assert [number_of(mail) for mail in bob.fetch(5, nothing_known)] == [1, 2]


def test_the_position_is_a_text_that_only_moves_forward(sandbox: Sandbox, open_mailbox) -> None:
    bob = open_mailbox(BOB)
    positions = []
    for number in range(4):
        put(sandbox, number)
        bob.fetch(5, nothing_known)
        positions.append(bob.cursor)
    assert all(isinstance(position, str) for position in positions)
    assert [int(position) for position in positions] == sorted({int(position) for position in positions})


def test_a_position_is_handed_out_only_when_nothing_before_it_waits(sandbox: Sandbox, open_mailbox) -> None:
    kept: list[str] = []
    bob = open_mailbox(BOB, keep_cursor=kept.append)
    put(sandbox, 1)
    (mail,) = bob.fetch(5, nothing_known)
    bob.fetch(5, nothing_known)
    assert kept == []
    bob.acknowledge([mail.mail_id])
    bob.fetch(5, nothing_known)
    assert kept == [bob.cursor]


def test_a_mail_that_a_person_has_read_is_found_all_the_same(sandbox: Sandbox, open_mailbox) -> None:
    kept: list[str] = []
    first = open_mailbox(BOB, keep_cursor=kept.append)
    first.fetch(5, nothing_known)
    put(sandbox, 1, labels=("INBOX",))
    assert [number_of(mail) for mail in first.fetch(5, nothing_known)] == [1]
    # And so it is after a restart, from the position that was kept; without one nobody can know.
    put(sandbox, 2, labels=("INBOX",))
    assert [number_of(mail) for mail in open_mailbox(BOB, cursor=kept[0]).fetch(5, nothing_known)] == [1, 2]
    assert open_mailbox(BOB).fetch(5, nothing_known) == []


def test_mail_of_others_is_neither_altered_nor_looked_at_twice(sandbox: Sandbox, open_mailbox) -> None:
    clock = ManualClock(datetime.now(UTC))
    bob = open_mailbox(BOB, clock=clock)
    bob.fetch(5, nothing_known)
    before = sandbox.inject(NEWSLETTER, to=[BOB])
    put(sandbox, 1)
    for _ in range(20):
        clock.sleep(timedelta(minutes=1))
        assert len(bob.fetch(5, nothing_known)) == 1
    (news,) = [mail for mail in sandbox.mail(BOB) if mail.mail_id in before]
    assert news.labels == {"INBOX", "UNREAD"}
    assert calls(sandbox)["messages.get"] == 2


def test_a_notice_that_a_mail_came_back_is_handed_out_with_the_address_that_failed(
    sandbox: Sandbox, open_mailbox
) -> None:
    mailbox = open_mailbox(ALICE)
    assert mailbox.fetch(10, nothing_known) == []
    mailbox.send(replace(letter(1), to=("nobody@league.test",)))
    (notice,) = mailbox.fetch(10, nothing_known)
    assert not_delivered_to(notice.headers, notice.from_header, notice.subject) == ("nobody@league.test",)


def test_what_is_known_is_never_opened(sandbox: Sandbox, open_mailbox) -> None:
    known = {put(sandbox, number) for number in range(30)}
    put(sandbox, 99)
    assert [number_of(mail) for mail in open_mailbox(BOB).fetch(100, known.__contains__)] == [99]
    assert calls(sandbox)["messages.get"] == 1


def test_own_mail_in_sent_is_no_incoming_mail(sandbox: Sandbox, open_mailbox) -> None:
    alice = open_mailbox(ALICE)
    alice.fetch(5, nothing_known)
    alice.send(letter(1))
    assert alice.fetch(5, nothing_known) == []
    assert calls(sandbox, ALICE)["messages.get"] == 0


def test_protocol_mail_in_the_spam_folder_is_found_in_time_and_trash_is_left_alone(
    sandbox: Sandbox, open_mailbox
) -> None:
    clock = ManualClock(datetime.now(UTC))
    bob = open_mailbox(BOB, clock=clock)
    bob.fetch(5, nothing_known)
    put(sandbox, 1, labels=("SPAM", "UNREAD"))
    put(sandbox, 2, labels=("TRASH", "UNREAD"))
    assert bob.fetch(5, nothing_known) == []
    clock.sleep(timedelta(minutes=11))
    (mail,) = bob.fetch(5, nothing_known)
    assert number_of(mail) == 1
    assert bob.spam_found == 1
    bob.acknowledge([mail.mail_id])
    (spam,) = sandbox.mail(BOB, "SPAM")
    assert spam.labels == {"SPAM"}  # where it lies is its owner's affair


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_failure_that_passes_is_not_noticed(sandbox: Sandbox, open_mailbox, status: int) -> None:
    clock = ManualClock(datetime.now(UTC))
    bob = open_mailbox(BOB, clock=clock)
    put(sandbox, 1)
    for method in ("getProfile", "messages.list", "messages.get", "messages.modify"):
        sandbox.add_fault(Fault(action=FaultAction.ERROR, method=method, status=status, calls=(1, 2), retry_after_s=1))
    assert drain(bob) == [1]
    assert sandbox.mail(BOB, "UNREAD") == []
    assert bob.failures_in_a_row == 0


@pytest.mark.parametrize(
    "action",
    [FaultAction.DROP_UNREAD, FaultAction.DROP_UNDONE, FaultAction.DROP_DONE, FaultAction.TRUNCATE, FaultAction.GARBLE],
)
def test_a_connection_that_breaks_while_reading_is_tried_again(
    sandbox: Sandbox, open_mailbox, action: FaultAction
) -> None:
    bob = open_mailbox(BOB, clock=ManualClock(datetime.now(UTC)))
    put(sandbox, 1)
    for method in ("messages.list", "messages.get", "messages.modify"):
        sandbox.add_fault(Fault(action=action, method=method, calls=(1,)))
    assert drain(bob) == [1]
    assert sandbox.mail(BOB, "UNREAD") == []


def test_a_long_wait_that_gmail_asks_for_is_told_and_kept(sandbox: Sandbox, open_mailbox) -> None:
    clock = ManualClock(datetime.now(UTC))
    bob = open_mailbox(BOB, clock=clock)
    bob.fetch(5, nothing_known)
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="history.list", status=429, retry_after_s=90))
    before = calls(sandbox)["history.list"]
    for _ in range(3):
        with pytest.raises(MailboxUnavailable) as caught:
            bob.fetch(5, nothing_known)
        assert caught.value.retry_after is not None
        assert timedelta(seconds=80) < caught.value.retry_after <= timedelta(seconds=90)
    assert calls(sandbox)["history.list"] == before + 1
    sandbox.clear_faults()
    clock.sleep(timedelta(seconds=91))
    assert bob.fetch(5, nothing_known) == []


def test_a_gmail_that_stays_away_is_asked_less_and_less_and_never_waited_for_long(
    sandbox: Sandbox, open_mailbox
) -> None:
    clock = ManualClock(datetime.now(UTC))
    bob = open_mailbox(BOB, clock=clock)
    bob.fetch(5, nothing_known)
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="*", status=503))
    began_at = clock.now()
    before = calls(sandbox)
    while clock.now() - began_at < timedelta(minutes=10):
        at = clock.now()
        with pytest.raises(MailboxUnavailable):
            bob.fetch(5, nothing_known)
        assert clock.now() - at <= timedelta(seconds=10)
        clock.sleep(timedelta(seconds=1))
    assert (calls(sandbox) - before).total() < 30


def test_reading_stops_at_the_budget_and_goes_on_where_it_was(sandbox: Sandbox, open_mailbox) -> None:
    clock = ManualClock(datetime.now(UTC))
    limits = QuotaLimits(units_per_minute=1_000, units_kept_for_sending=400)
    bob = open_mailbox(BOB, clock=clock, ledger=QuotaLedger(clock, limits=limits))
    for number in range(50):
        put(sandbox, number, datetime(2026, 5, 2, 12, 0, number, tzinfo=UTC))
    with pytest.raises(MailboxUnavailable) as caught:
        bob.fetch(100, nothing_known)
    assert caught.value.retry_after is not None
    assert units(sandbox) <= 600
    bob.send(letter(1, sender=BOB, to=(ALICE,)))  # units for sending are left
    while True:
        try:
            order = [number_of(mail) for mail in bob.fetch(100, nothing_known)]
            break
        except MailboxUnavailable as error:
            clock.sleep(error.retry_after or timedelta(seconds=1))
    assert order == list(range(50))
    assert calls(sandbox)["messages.get"] == 50


def test_threads_never_get_the_mail_of_others(sandbox: Sandbox, open_mailbox, tmp_path: Path) -> None:
    from league_agents.mail.gmail.transport import GmailServer, Transport
    from league_agents.mail.oauth import Authorization

    ids = [put(sandbox, number) for number in range(8)]
    server = GmailServer(sandbox.url, timedelta(seconds=30))
    transport = Transport(Authorization(sandbox.token_file(BOB, tmp_path)), server, ServiceClock(SystemClock()))
    wrong: list[str] = []
    together = threading.Barrier(8)

    def read(mail_id: str) -> None:
        together.wait()
        for _ in range(10):
            answer = transport.call(lambda users: users.messages().get(userId="me", id=mail_id, format="raw"))
            if answer["id"] != mail_id:
                wrong.append(mail_id)

    threads = [threading.Thread(target=read, args=(mail_id,)) for mail_id in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.close()
    assert wrong == []


def test_a_mail_to_oneself_proves_the_way_out_and_in(sandbox: Sandbox, open_mailbox) -> None:
    bob = open_mailbox(BOB)
    bob.fetch(5, nothing_known)
    result = bob.self_test_send("t-1")
    assert timedelta(0) < result.round_trip < timedelta(seconds=10)
    assert not result.was_spam
    assert abs(result.date_error) < timedelta(seconds=2)
    assert abs(result.machine_error) < timedelta(seconds=2)
    assert bob.fetch(5, nothing_known) == []
    (mail,) = sandbox.mail(BOB)
    assert mail.labels == {"SENT"}
    assert bob.profile().address == BOB


@pytest.mark.parametrize("is_history_known", [True, False])
def test_a_mail_to_oneself_is_also_found_in_the_spam_folder(
    sandbox: Sandbox, open_mailbox, is_history_known: bool
) -> None:
    if not is_history_known:
        sandbox.add_fault(Fault(action=FaultAction.EXPIRE_HISTORY, method="history.list", times=1))
    sandbox.add_fault(Fault(action=FaultAction.SPAM, method="delivery"))
    result = open_mailbox(BOB).self_test_send("t-1")
    assert result.was_spam
    (mail,) = sandbox.mail(BOB, "SPAM")
    assert "UNREAD" not in mail.labels


def test_a_mail_to_oneself_that_does_not_arrive_is_told_after_a_while(sandbox: Sandbox, open_mailbox) -> None:
    bob = open_mailbox(BOB, clock=ManualClock(datetime.now(UTC)))
    sandbox.add_fault(Fault(action=FaultAction.LOSE, method="delivery"))
    with pytest.raises(MailError, match="did not arrive within 5 s"):
        bob.self_test_send("t-1", patience=timedelta(seconds=5))


# -- what a server may answer ------------------------------------------------------------------------------------------


@pytest.fixture
def answering(sandbox: Sandbox, tmp_path: Path) -> Iterator[Callable[..., GmailMailbox]]:
    """A mailbox on a server that answers ``messages.get`` in its own way, and shows one waiting mail ``a1``."""
    started: list[tuple[ThreadingHTTPServer, GmailMailbox]] = []

    def make(answer: Callable[[str, str], bytes | Any]) -> GmailMailbox:
        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                tail = parts.path.rpartition("/me/")[2]
                if tail == "profile":
                    body: Any = {"emailAddress": BOB, "historyId": "1", "messagesTotal": 1}
                elif tail == "messages":
                    body = {"messages": [{"id": "a1"}]}
                elif tail == "history":
                    body = {"historyId": "1"}
                else:
                    body = answer(tail.rpartition("/")[2], parts.query)
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                try:
                    self.wfile.write(content)
                except OSError:  # the reader has seen enough
                    self.close_connection = True

            def log_message(self, *arguments: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        mailbox = GmailMailbox(
            sandbox.token_file(BOB, tmp_path),
            endpoint=f"http://127.0.0.1:{server.server_port}",
            clock=ManualClock(datetime.now(UTC)),
            spam_every=None,
        )
        started.append((server, mailbox))
        return mailbox

    yield make
    for server, mailbox in started:
        mailbox.close()
        server.shutdown()
        server.server_close()


def test_an_answer_about_another_mail_is_not_believed(answering) -> None:
    raw = base64.urlsafe_b64encode(mime.build(letter(1))).decode()
    bob = answering(lambda mail_id, query: {"id": "b2", "raw": raw, "internalDate": "1"})
    with pytest.raises(MailboxUnavailable, match="answered with another one"):
        bob.fetch(5, nothing_known)


def test_a_huge_mail_is_not_read_but_recorded(answering) -> None:
    asked: list[str] = []

    def answer(mail_id: str, query: str) -> object:
        asked.append(query)
        if "format=raw" in query:
            return b'{"id":"a1","raw":"' + b"A" * 46_000_000 + b'"}'
        headers = [{"name": "subject", "value": letter(1).subject}, {"name": "From", "value": ALICE}]
        return {"id": "a1", "internalDate": "86400000", "payload": {"headers": headers}, "labelIds": ["UNREAD"]}

    (mail,) = answering(answer).fetch(5, nothing_known)
    assert mail.documents == ()
    assert mail.subject == letter(1).subject
    assert mail.from_header == ALICE
    assert mail.arrived_at == datetime(1970, 1, 2, tzinfo=UTC)
    assert "larger than any mail of the league" in mail.problems[0]
    assert len(asked) == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"raw": "a"},
        {"raw": "!!!"},
        {"raw": 5},
        {},
        {"raw": "é"},
        {"raw": "", "internalDate": "never", "labelIds": "UNREAD", "payload": []},
        {"raw": None, "internalDate": "9" * 30},
    ],
)
def test_a_mail_that_cannot_be_decoded_is_recorded_with_its_reason(answering, fields: dict[str, object]) -> None:
    (mail,) = answering(lambda mail_id, query: {"id": "a1", **fields}).fetch(5, nothing_known)
    assert mail.documents == ()
    assert mail.problems == ("Gmail's copy of the mail cannot be decoded",)
    assert mail.arrived_at.tzinfo is not None


def test_base64_without_its_padding_is_decoded(answering) -> None:
    raw = base64.urlsafe_b64encode(mime.build(letter(1)) + b"\r\n").decode().rstrip("=")
    (mail,) = answering(lambda mail_id, query: {"id": "a1", "raw": raw, "internalDate": "1"}).fetch(5, nothing_known)
    assert document(mail) == letter(1).document


@pytest.mark.parametrize("answer", [b"[]", b"{", b"null", b"[" * 100_000, b"\xff"])
def test_an_answer_that_is_no_object_is_an_answer_of_a_broken_server(answering, answer: bytes) -> None:
    with pytest.raises(MailboxUnavailable):
        answering(lambda mail_id, query: answer).fetch(5, nothing_known)


def test_hostile_mails_are_read_at_their_price_and_the_next_one_is_fine(sandbox: Sandbox, open_mailbox) -> None:
    head = b"From: x@evil.test\r\nTo: bob@league.test\r\nSubject: league.v2::PLAYER::x::t::Q21GUESSSUBMISSION\r\n"
    nested = b"Content-Type: application/json; name=a.json\r\n\r\n" + b"[" * 100_000
    sandbox.inject(head + nested, to=[BOB])
    sandbox.inject(head + b"Content-Type: application/json\r\n\r\n" + b'"' + b"x" * 34_000_000 + b'"', to=[BOB])
    sandbox.inject(head + b"Content-Type: application/json\r\nContent-Transfer-Encoding: base64\r\n\r\n%%%", to=[BOB])
    put(sandbox, 1)
    mails = open_mailbox(BOB, spam_every=None).fetch(10, nothing_known)
    assert len(mails) == 4
    assert all(mail.problems and not mail.documents for mail in mails[:3])
    assert number_of(mails[3]) == 1
