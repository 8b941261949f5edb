"""The mail of peers is read first, whatever else waits; that of strangers within its share and by its headers."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import pytest

from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import MailboxUnavailable
from league_agents.mail import mime
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.gmail.calls import LAST_SENDS
from league_agents.mail.gmail.inbox import FORGERIES, SAVED_UP
from league_agents.mail.gmail.missing import PAUSES_S
from league_agents.mail.gmail.queries import LONGEST_TERMS, QUERY, from_any_of
from league_agents.mail.gmail.received import read_headers, read_raw
from league_agents.mail.identity import GMAIL, JUDGED_BY, Require, judge, not_delivered_to
from league_agents.mail.port import Mail, Mailbox, Peers, Stopping
from league_agents.mail.quota import MATCH_MAILS, QuotaLedger, QuotaLimits, search_period
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.server import Sandbox
from league_agents.testing.mailbox_contract import ALICE, BOB, MailboxContract, document, letter, nothing_known

EVIL = "evil.test"
PASS = {"spf": "pass", "dkim": "pass", "dmarc": "pass"}
FAIL = {"spf": "fail", "dkim": "fail", "dmarc": "fail"}
GET = "messages.get"


def check_sender(mail: Mail) -> str | None:
    verdict = judge(mail.headers, mail.from_header, own_address=BOB, authserv_id=GMAIL, require=Require.PASS)
    return verdict.reason or None


def raw_mail(sender: str, number: int, subject: str = "") -> bytes:
    title = subject or f"league.v2::PLAYER::x::t{number}::BROADCASTFREETEXT"
    return (
        f"From: {sender}\r\nTo: {BOB}\r\nSubject: {title}\r\nContent-Type: application/json\r\n"
        f'Content-Disposition: attachment; filename="p.json"\r\n\r\n{{"message_id": "m{number}"}}'
    ).encode()


@dataclass
class Peered:
    """Bob's mailbox, whose only peer is Alice until somebody says otherwise."""

    sandbox: Sandbox
    open_mailbox: Callable[..., GmailMailbox]
    clock: ManualClock
    peers: Peers = field(default_factory=lambda: Peers(addresses=frozenset({ALICE.lower()})))
    stopping: threading.Event = field(default_factory=threading.Event)
    known: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.ledger = QuotaLedger(self.clock)
        self.box = self.open_mailbox(
            BOB,
            clock=self.clock,
            ledger=self.ledger,
            peers=lambda: self.peers,
            refuse=check_sender,
            stopping=self.stopping,
        )

    def strangers(self, mails: int, *, sender: str = f"s%d@{EVIL}", verdict: dict[str, str] | None = PASS) -> None:
        for number in range(mails):
            named = sender % number if "%" in sender else sender
            self.put(raw_mail(named, number), verdict=verdict)

    def put(self, raw: bytes, *, verdict: dict[str, str] | None = PASS, sender: str = f"x@{EVIL}") -> str:
        (mail_id,) = self.sandbox.inject(raw, to=[BOB], sender=sender, verdict=verdict)
        return mail_id

    def put_peers(self, number: int) -> str:
        return self.put(mime.build(letter(number)), sender=ALICE)

    def fetch(self) -> list[Mail]:
        """What the runner does: fetch, commit, acknowledge."""
        mails = self.box.fetch(100, self.known.__contains__)
        self.known.update(mail.mail_id for mail in mails)
        self.box.acknowledge([mail.mail_id for mail in mails])
        return mails

    def drain(self) -> list[Mail]:
        """Everything that is handed out at this moment."""
        found: list[Mail] = []
        while mails := self.fetch():
            found += mails
        return found

    def calls(self) -> Counter[str]:
        methods = self.sandbox.report()["accounts"].get(BOB, {}).get("methods", {})
        return Counter({name: tally["calls"] + tally["refused"] for name, tally in methods.items()})


@pytest.fixture
def clock() -> ManualClock:
    """The time of both sides."""
    return ManualClock(datetime.now(UTC))


@pytest.fixture
def sandbox(clock: ManualClock) -> Iterator[Sandbox]:
    with Sandbox([ALICE, BOB], seed="peers", clock=clock) as running:
        yield running
    assert running.failures == ()


@pytest.fixture
def peered(sandbox: Sandbox, open_mailbox, clock: ManualClock) -> Peered:
    return Peered(sandbox, open_mailbox, clock)


def numbers(mails: list[Mail]) -> list[str]:
    return [str(document(mail)["message_id"]) for mail in mails if mail.documents]


class TestGmailMailboxThatKnowsItsPeers(MailboxContract):
    @pytest.fixture(autouse=True)
    def _mailboxes(self, open_mailbox) -> None:
        peers = Peers(addresses=frozenset({ALICE.lower(), BOB.lower()}))
        self._pair = (open_mailbox(ALICE, peers=lambda: peers), open_mailbox(BOB, peers=lambda: peers))

    def make(self) -> tuple[Mailbox, Mailbox]:
        return self._pair


# -- who comes first ---------------------------------------------------------------------------------------------------


def test_the_mail_of_peers_is_the_first_that_is_read_among_many(peered: Peered) -> None:
    peered.strangers(300)
    peered.put_peers(1)
    peered.strangers(300)
    peered.put_peers(2)
    assert numbers(peered.fetch()) == ["m1", "m2"]
    assert peered.calls()[GET] == 2, "nothing else was read before"


def test_mail_of_peers_that_comes_while_strangers_wait_is_read_with_the_next_look(peered: Peered) -> None:
    peered.strangers(300)
    peered.drain()
    for number in range(5):
        peered.strangers(30)
        peered.put_peers(number)
        assert numbers(peered.fetch()) == [f"m{number}"]


def test_a_long_backlog_of_peers_is_in_the_order_of_its_dates_among_strangers(peered: Peered) -> None:
    start = datetime.now(UTC) - timedelta(days=3)
    world = peered.sandbox.world
    for number in reversed(range(230)):
        peered.strangers(1)
        at_ms = round((start + timedelta(minutes=number)).timestamp() * 1000)
        with world.lock:
            world.boxes[BOB].add(mime.build(letter(number)), ("INBOX", "UNREAD"), at_ms=at_ms, now_ms=at_ms)
    peered.box._inbox._refuse = lambda _mail: None  # mails that are put into a mailbox bear no verdict
    found: list[Mail] = []
    while len(found) < 230:
        found += [mail for mail in peered.fetch() if mail.is_from_peer]
        peered.clock.sleep(timedelta(seconds=20))
    assert numbers(found) == [f"m{number}" for number in range(230)]


def test_a_mail_that_a_search_does_not_find_yet_is_read_at_once_all_the_same(peered: Peered) -> None:
    peered.drain()
    peered.sandbox.add_fault(Fault(action=FaultAction.UNLISTED, method="delivery", seconds=60))
    peered.open_mailbox(ALICE).send(letter(1))
    (mail,) = peered.fetch()
    assert numbers([mail]) == ["m1"]
    assert mail.is_from_peer


def test_whoever_becomes_a_peer_is_found_among_the_strangers_that_wait(peered: Peered) -> None:
    newcomer = f"referee@{EVIL}"
    peered.put(raw_mail(newcomer, 77))
    peered.strangers(100)
    assert "m77" not in numbers(peered.fetch())
    peered.peers = Peers(addresses=peered.peers.addresses | {newcomer})
    assert numbers(peered.fetch()) == ["m77"]


# -- strangers ---------------------------------------------------------------------------------------------------------


def test_strangers_mail_is_turned_away_by_its_headers_and_never_opened(peered: Peered) -> None:
    peered.strangers(3)
    mails = peered.drain()
    assert len(mails) == 3
    assert all(mail.documents == () and "nobody of whom" in mail.refusal for mail in mails)
    assert not any(mail.is_from_peer for mail in mails)


def test_strangers_get_a_bounded_share_and_the_rest_of_the_units_is_there_for_others(peered: Peered) -> None:
    peered.strangers(300)
    limits = peered.ledger.limits
    began, minutes = peered.calls()[GET], 2
    for _ in range(minutes * 20):
        peered.drain()
        peered.clock.sleep(timedelta(seconds=3))
        others = limits.units_per_minute - limits.units_kept_for_sending - peered.ledger.units_in_last_minute()
        assert others > limits.units_per_minute / 3
    read = peered.calls()[GET] - began
    assert read <= SAVED_UP + minutes * limits.units_for_strangers / 20
    assert read >= 0.9 * minutes * limits.units_for_strangers / 20, "and they do get it"


def test_the_latest_mail_of_strangers_is_judged_before_an_old_flood(peered: Peered) -> None:
    peered.peers = Peers(addresses=peered.peers.addresses, admits_others=True)
    peered.strangers(200)
    peered.drain()
    peered.clock.sleep(timedelta(seconds=5))
    peered.put(raw_mail(f"referee@{EVIL}", 999))
    assert "m999" in numbers(peered.fetch())


def test_strangers_that_are_admitted_are_opened_within_the_share(peered: Peered) -> None:
    peered.peers = Peers(addresses=peered.peers.addresses, admits_others=True)
    peered.strangers(200)
    opened = peered.drain()
    assert opened
    assert all(mail.documents and not mail.is_from_peer for mail in opened)
    assert peered.calls()[GET] <= SAVED_UP + 1


def test_mail_that_is_no_business_of_the_league_is_neither_handed_out_nor_altered_nor_read_twice(
    peered: Peered,
) -> None:
    mail_id = peered.put(raw_mail("friend@home.test", 1, subject="Holiday pictures"))
    for _ in range(30):
        assert peered.fetch() == []
        peered.clock.sleep(timedelta(minutes=1))
    assert peered.calls()[GET] == 1
    (mail,) = [mail for mail in peered.sandbox.mail(BOB) if mail.mail_id == mail_id]
    assert mail.labels == {"INBOX", "UNREAD"}


def test_a_notice_that_a_mail_came_back_is_handed_out_by_its_headers(peered: Peered) -> None:
    peered.drain()
    notice = (
        b"From: mailer-daemon@googlemail.com\r\nTo: bob@league.test\r\nSubject: Delivery Status Notification (Failure)"
        b"\r\nX-Failed-Recipients: gone@league.test\r\nAuto-Submitted: auto-replied\r\nContent-Type: multipart/report;"
        b' boundary="b"\r\n\r\n--b\r\n\r\nnot delivered\r\n--b--\r\n'
    )
    peered.put(notice, sender="mailer-daemon@googlemail.com")
    (mail,) = peered.fetch()
    assert not_delivered_to(mail.headers, mail.from_header, mail.subject) == ("gone@league.test",)
    assert "notice of a mail server" in mail.refusal


def test_two_senders_in_the_headers_are_nobody() -> None:
    headers = [{"name": "From", "value": ALICE}, {"name": "from", "value": f"x@{EVIL}"}]
    mail = read_headers({"id": "a1", "payload": {"headers": headers}}).mail
    assert "does not name one address" in str(check_sender(mail))


@pytest.mark.parametrize("sender", [ALICE, f"Alice <{ALICE}>", f'"{ALICE}" <x@{EVIL}>', "postmaster@evil.test", "a, b"])
@pytest.mark.parametrize("header", ["", "Precedence: bulk", "Auto-Submitted: auto-replied", "X-Autoreply: yes"])
@pytest.mark.parametrize("verdict", [PASS, FAIL, None])
def test_headers_alone_are_judged_as_the_whole_mail_is(
    sandbox: Sandbox, open_mailbox, sender: str, header: str, verdict: dict[str, str] | None
) -> None:
    raw = (f"{header}\r\n" if header else "").encode() + raw_mail(sender, 1)
    (mail_id,) = sandbox.inject(raw, to=[BOB], sender=f"x@{EVIL}", verdict=verdict)
    calls = open_mailbox(BOB)._calls
    whole = read_raw(calls.message(mail_id)).mail
    headers = read_headers(calls.message(mail_id, form="metadata", headers=JUDGED_BY)).mail
    assert check_sender(headers) == check_sender(whole)


# -- forged names ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sender", "verdict"),
    [
        (ALICE, FAIL),
        (ALICE, None),  # nobody vouches for it
        (f'"{ALICE}" <x@{EVIL}>', PASS),  # a search finds the name, too
    ],
)
def test_a_flood_in_the_name_of_a_peer_holds_its_own_mail_up_for_a_few_looks(
    peered: Peered, sender: str, verdict: dict[str, str] | None
) -> None:
    peered.drain()
    peered.strangers(400, sender=sender, verdict=verdict)
    opened = [mail for mail in peered.drain() if not mail.refusal]
    assert len(opened) <= FORGERIES, "then its name counts for nothing"
    came: list[str] = []
    for number in range(5):
        peered.clock.sleep(timedelta(seconds=3))
        # One mail a second: Gmail takes no more for an account in the long run.
        peered.strangers(1, sender=sender, verdict=verdict)
        peered.put_peers(number)
        peered.strangers(1, sender=sender, verdict=verdict)
        came += numbers([mail for mail in peered.drain() if mail.is_from_peer])
        assert len(came) >= number, "the one before at the latest"
    peered.clock.sleep(timedelta(seconds=3))
    assert came + numbers(peered.drain()) == ["m0", "m1", "m2", "m3", "m4"]


def test_a_flood_in_the_name_of_one_peer_does_not_hold_up_another(peered: Peered) -> None:
    other = f"carol@{EVIL}"
    peered.peers = Peers(addresses=frozenset({ALICE.lower(), other}))
    peered.strangers(300, sender=ALICE, verdict=FAIL)
    peered.put(raw_mail(other, 5))
    peered.strangers(300, sender=ALICE, verdict=FAIL)
    first = peered.fetch() + peered.fetch()
    assert "m5" in numbers([mail for mail in first if check_sender(mail) is None])


def test_a_name_that_was_forged_counts_again_after_an_hour(peered: Peered) -> None:
    peered.drain()
    peered.strangers(FORGERIES, sender=ALICE, verdict=FAIL)
    peered.drain()
    before = peered.calls()[GET]
    peered.put_peers(1)
    assert numbers(peered.drain()) == ["m1"]
    assert peered.calls()[GET] - before == 2, "its headers, then all of it"
    peered.clock.sleep(timedelta(minutes=61))
    before = peered.calls()[GET]
    peered.put_peers(2)
    assert numbers(peered.drain()) == ["m2"]
    assert peered.calls()[GET] - before == 1


def test_one_forged_mail_costs_a_peer_nothing(peered: Peered) -> None:
    peered.drain()
    peered.strangers(1, sender=ALICE, verdict=FAIL)
    peered.drain()
    before = peered.calls()[GET]
    peered.put_peers(1)
    assert numbers(peered.drain()) == ["m1"]
    assert peered.calls()[GET] - before == 1


# -- what the history withholds ----------------------------------------------------------------------------------------


def test_a_mail_that_the_history_withholds_is_found_well_within_the_wait(peered: Peered) -> None:
    peered.peers = Peers(addresses=peered.peers.addresses, shortest_wait=timedelta(seconds=120))
    peered.strangers(50)
    peered.drain()
    peered.sandbox.add_fault(Fault(action=FaultAction.WITHHELD, method="delivery"))
    peered.open_mailbox(ALICE).send(letter(1))
    sent_at = peered.clock.now()
    while "m1" not in numbers(peered.fetch()):
        peered.clock.sleep(timedelta(seconds=1.5))
    assert peered.clock.now() - sent_at <= timedelta(seconds=120 / 4 + 1.5)


def test_without_anybody_who_waits_it_is_found_with_the_next_listing(peered: Peered) -> None:
    peered.drain()
    peered.sandbox.add_fault(Fault(action=FaultAction.WITHHELD, method="delivery"))
    peered.open_mailbox(ALICE).send(letter(1))
    peered.clock.sleep(timedelta(minutes=4))
    assert peered.fetch() == []
    peered.clock.sleep(timedelta(minutes=2))
    assert numbers(peered.fetch()) == ["m1"]


@pytest.mark.parametrize(("wait_s", "period_s"), [(None, 300), (120, 30), (20, 5), (4, 5), (7_200, 300)])
def test_the_search_comes_four_times_in_the_shortest_wait(wait_s: float | None, period_s: float) -> None:
    wait = None if wait_s is None else timedelta(seconds=wait_s)
    assert search_period(wait) == timedelta(seconds=period_s)


def test_looking_costs_what_the_forecast_says(peered: Peered) -> None:
    peered.peers = Peers(addresses=peered.peers.addresses, shortest_wait=timedelta(seconds=120))
    peered.drain()
    before, minutes = peered.ledger.units_spent, 5
    for _ in range(minutes * 40):
        peered.clock.sleep(timedelta(seconds=1.5))
        assert peered.fetch() == []
    spent = (peered.ledger.units_spent - before) / minutes
    assert spent == pytest.approx(peered.ledger.forecast(MATCH_MAILS["player"]).looking_per_minute, rel=0.05)
    assert spent <= 0.02 * peered.ledger.limits.units_per_minute


@pytest.mark.parametrize("failures", [1, 3])
def test_a_mail_that_is_not_there_at_first_is_asked_for_again_soon(
    sandbox: Sandbox, open_mailbox, clock: ManualClock, failures: int
) -> None:
    box = open_mailbox(BOB, clock=clock)
    assert box.fetch(5, nothing_known) == []
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method=GET, status=404, calls=tuple(range(1, failures + 1))))
    open_mailbox(ALICE).send(letter(1))
    arrived_at = clock.now()
    while not (mails := box.fetch(5, nothing_known)):
        clock.sleep(timedelta(seconds=1.5))
    assert numbers(mails) == ["m1"]
    assert clock.now() - arrived_at <= timedelta(seconds=2 * sum(PAUSES_S[:failures]))


def test_a_mail_that_is_not_there_holds_up_no_other(sandbox: Sandbox, open_mailbox, clock: ManualClock) -> None:
    box = open_mailbox(BOB, clock=clock)
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method=GET, status=404, calls=(1,)))
    for number in range(3):
        open_mailbox(ALICE).send(letter(number))
    assert len(box.fetch(5, nothing_known)) == 2


def test_a_mail_that_was_deleted_is_asked_for_a_bounded_number_of_times(
    sandbox: Sandbox, open_mailbox, clock: ManualClock
) -> None:
    box = open_mailbox(BOB, clock=clock, list_every=timedelta(days=1))
    assert box.fetch(5, nothing_known) == []
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method=GET, status=404))
    open_mailbox(ALICE).send(letter(1))
    for _ in range(60):
        assert box.fetch(5, nothing_known) == []
        clock.sleep(timedelta(seconds=8))
    asked = sandbox.report()["accounts"][BOB]["methods"][GET]
    assert asked["refused"] == len(PAUSES_S) + 1
    assert box.waiting_count == 0


@pytest.mark.parametrize(
    ("status", "reason", "message"),
    [
        (404, "notFound", "Requested entity was not found."),
        (400, "invalidArgument", "Invalid startHistoryId"),
        (400, "badRequest", "Invalid value at 'start_history_id' (TYPE_UINT64)"),
    ],
)
def test_a_position_that_gmail_does_not_accept_is_made_up_for_by_a_listing(
    sandbox: Sandbox, open_mailbox, status: int, reason: str, message: str
) -> None:
    box = open_mailbox(BOB)
    assert box.fetch(5, nothing_known) == []
    open_mailbox(ALICE).send(letter(1))
    fault = Fault(
        action=FaultAction.ERROR, method="history.list", status=status, reason=reason, message=message, calls=(1,)
    )
    sandbox.add_fault(fault)
    assert numbers(box.fetch(5, nothing_known)) == ["m1"]
    assert box.resyncs == 1


# -- stopping ----------------------------------------------------------------------------------------------------------


def test_nothing_is_asked_any_more_once_the_process_is_to_end(peered: Peered) -> None:
    for number in range(30):
        peered.put_peers(number)
    asked = 0

    def known(_mail_id: str) -> bool:
        nonlocal asked
        asked += 1
        if asked == 30:
            peered.stopping.set()
        return False

    with pytest.raises(Stopping):
        peered.box.fetch(100, known)
    before = peered.calls()
    assert before[GET] == 0
    for read in (lambda: peered.box.fetch(5, nothing_known), lambda: peered.box.was_sent("m1")):
        with pytest.raises(Stopping):
            read()
    assert peered.calls() == before


def test_what_is_ready_may_leave_for_a_moment_when_the_process_is_to_end(peered: Peered) -> None:
    assert peered.box.address == BOB
    peered.stopping.set()
    for number in range(3):
        peered.box.send(letter(number, sender=BOB, to=(ALICE,)))
        peered.clock.sleep(LAST_SENDS / 2 if number else timedelta(0))
    with pytest.raises(Stopping):
        peered.box.send(letter(9, sender=BOB, to=(ALICE,)))
    assert len(peered.sandbox.mail(BOB, "SENT")) == 3


def test_a_wait_before_the_next_attempt_ends_when_the_process_is_to_end(sandbox: Sandbox, open_mailbox) -> None:
    class Waiting(ManualClock):
        """Somebody asks for the end during the first wait."""

        def wait(self, event: threading.Event, duration: timedelta) -> bool:
            event.set()
            return super().wait(event, duration)

    stopping = threading.Event()
    box = open_mailbox(BOB, clock=Waiting(datetime.now(UTC)), stopping=stopping)
    sandbox.add_fault(Fault(action=FaultAction.ERROR, method="getProfile", status=503))
    with pytest.raises(Stopping):
        box.fetch(5, nothing_known)
    assert sandbox.report()["accounts"][BOB]["methods"]["getProfile"]["refused"] == 1


# -- queries -----------------------------------------------------------------------------------------------------------


def test_a_long_roster_is_searched_for_in_several_queries_of_bounded_length() -> None:
    addresses = {f"team-{number:03d}.referee@a-long-domain.example.com" for number in range(200)}
    queries = from_any_of(QUERY, addresses)
    assert 5 <= len(queries) <= 10
    assert all(len(query) <= len(QUERY) + LONGEST_TERMS + 10 for query in queries)
    assert {term for query in queries for term in query.split("{")[1].strip("}").split()} == {
        f"from:{address}" for address in addresses
    }


@pytest.mark.parametrize("address", ["x}y@league.test", "x{in:spam@league.test", "a|b@league.test", "!x@league.test"])
def test_an_address_that_means_something_in_a_query_is_not_searched_for(address: str) -> None:
    assert from_any_of(QUERY, {address}) == []


def test_a_peer_that_cannot_be_searched_for_is_heard_all_the_same(peered: Peered) -> None:
    odd = f"o'hara!@{EVIL}"
    peered.peers = Peers(addresses=frozenset({odd}))
    peered.put(raw_mail(odd, 3))
    (mail,) = peered.fetch()
    assert (numbers([mail]), mail.is_from_peer) == (["m3"], True)


def test_the_budget_for_reading_is_kept_while_strangers_wait(
    sandbox: Sandbox, open_mailbox, clock: ManualClock
) -> None:
    ledger = QuotaLedger(clock, limits=QuotaLimits(units_per_minute=300, units_kept_for_sending=150))
    peered = Peered(sandbox, open_mailbox, clock)
    box = open_mailbox(BOB, clock=clock, ledger=ledger, peers=lambda: peered.peers, refuse=check_sender)
    peered.strangers(40)
    heard = 0
    for number in range(20):
        peered.put_peers(number)
        try:
            heard += len([mail for mail in box.fetch(10, peered.known.__contains__) if mail.is_from_peer])
        except MailboxUnavailable:
            pytest.fail("peers' mail waits for units that strangers used up")
        clock.sleep(timedelta(seconds=30))
    assert heard
