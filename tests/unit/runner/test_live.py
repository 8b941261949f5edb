"""A role on real mail is kept going whatever happens around it; every turn says how long to rest."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.peers import is_game_open
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import InboxRow, Note, Order, OutboxItem, PendingCall, StepCommit
from league_agents.kit.clock import ManualClock, SystemClock
from league_agents.kit.errors import (
    AuthorizationExpired,
    ConfigError,
    JournalError,
    JournalHeld,
    JournalUnusable,
    LeagueError,
    MailboxUnavailable,
    MailError,
    QuotaExhausted,
)
from league_agents.league.machines.effects import Call, Effect, Send, SetDeadline, Warn
from league_agents.league.machines.events import CallbackReturned, DeadlinePassed, Event, OperatorCommand, Started
from league_agents.league.machines.player.player import PlayerState
from league_agents.league.wire.envelope import Envelope, Sender
from league_agents.league.wire.kinds import MessageType, Protocol, Role
from league_agents.league.wire.messages import FreeTextReply
from league_agents.local_league.patience import LIMIT_S
from league_agents.mail.port import AmbiguousSend, Mail, OutgoingMail, Stopping
from league_agents.runner.live import DAEMON, HELD_JOURNAL_EVERY, SHORTEST_REST, LiveRole, WiredRole
from league_agents.runner.lock import FileLock, Locked, is_locked
from league_agents.runner.outbox import LATENESS
from league_agents.runner.pace import Backoff, Pace
from league_agents.runner.role import Observer, RoleRunner
from league_agents.runner.scan import SEND_PATIENCE, scan
from league_agents.runner.wakeup import StopRequest, Wakeup
from league_agents.runner.watch import watch
from league_agents.runner.workers import Workers
from league_agents.user_code.instances import here

NOON = datetime(2031, 5, 2, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
REPLY = Envelope(
    protocol=Protocol.LEAGUE,
    message_type=MessageType.FREE_TEXT_RESPONSE,
    message_id="reply-1",
    timestamp=NOON,
    sender=Sender(email="p@league.test", role=Role.PLAYER),
    recipient_id="LEAGUEMANAGER",
    payload=FreeTextReply(message_text="Yes.", response_timestamp=NOON),
    league_id="L",
    broadcast_id="b-1",
)
PACE = Pace(active=2 * SECOND, idle=20 * SECOND, lively_for=60 * SECOND)


class Idle:
    """A machine that may want something at its start, and remembers its deadlines in warnings."""

    role = "player"

    def __init__(self, *at_start: Effect) -> None:
        self._at_start = at_start

    def initial(self) -> int:
        return 0

    def step(self, state: int, event: Event, now: datetime) -> tuple[int, Sequence[Effect]]:
        match event:
            case Started():
                return state + 1, self._at_start
            case DeadlinePassed(name=name):
                return state, [Warn(code="woken", text=name)]
            case CallbackReturned():
                return state, [Warn(code="answered", text="")]
            case OperatorCommand(text=text):
                return state, [Warn(code="ordered", text=text)]
        return state, []

    def parts(self, state: int, since: int | None = None) -> Mapping[str, object]:
        return {"n": state}

    def dump_part(self, name: str, part: object) -> str:
        return str(part)

    def load(self, parts: Mapping[str, str]) -> int:
        return int(parts["n"])


class Box:
    """A mailbox that fails in the ways that are asked for."""

    address = "p@league.test"

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.looks: list[datetime] = []
        self.now: Callable[[], datetime] = lambda: NOON

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        self.looks.append(self.now())
        if self.failures:
            raise self.failures.pop(0)
        return []

    def acknowledge(self, mail_ids: Sequence[str]) -> None: ...

    def send(self, mail: OutgoingMail) -> None: ...

    def was_sent(self, transaction_id: str) -> bool:
        return False


class Heard:
    """An observer that remembers what the daemon said."""

    def __init__(self) -> None:
        self.notes: list[Note] = []
        self.mail: list[tuple[str, object]] = []

    def received(self, role: str, row: InboxRow) -> None:
        self.mail.append((role, row))

    def sent(self, role: str, item: OutboxItem) -> None:
        self.mail.append((role, item))

    def noted(self, role: str, note: Note) -> None:
        self.notes.append(note)

    @property
    def codes(self) -> list[str]:
        return [note.key for note in self.notes]


class SettableClock(ManualClock):
    """A clock whose time of day can be set, while its monotonic one goes on."""

    _off = timedelta(0)

    def now(self) -> datetime:
        return super().now() + self._off

    def set_back(self, by: timedelta) -> None:
        self._off -= by


class World:
    def __init__(self, *at_start: Effect) -> None:
        self.clock = SettableClock(NOON)
        self.journal = MemoryJournal(dump=lambda _name, part: str(part))
        self.box = Box()
        self.box.now = self.clock.now
        self.heard = Heard()
        self.machine = Idle(*at_start)
        self.login: object = "first"
        self.made = 0
        self.tidied: list[datetime] = []
        self.role = LiveRole(
            name="player",
            make=self.make,
            clock=self.clock,
            pace=PACE,
            pid=7,
            observer=self.heard,
            authorization=lambda: self.login,
        )

    def make(self, observer: Observer) -> WiredRole:
        self.made += 1
        self.watched = observer
        runner = RoleRunner(
            self.machine, self.box, self.journal, None, self.clock, codec=LEAGUE_MAIL, observer=observer
        )
        return WiredRole(runner=runner, journal=self.journal, facts=lambda: {"quota": {"n": self.made}}, tidy=self.tidy)

    def tidy(self) -> bool:
        self.tidied.append(self.clock.now())
        return len(self.tidied) < 3

    def pass_time(self, duration: timedelta) -> None:
        """Turns and rests until so much time has passed."""
        ends_at_s = self.clock.monotonic_s() + duration.total_seconds()
        while self.clock.monotonic_s() < ends_at_s:
            self.clock.sleep(self.role.turn())

    def pauses(self) -> list[float]:
        looks = self.box.looks
        return [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(looks)]


def test_a_mailbox_is_looked_into_often_at_first_and_seldom_when_nothing_happens() -> None:
    world = World()
    world.pass_time(200 * SECOND)
    assert world.pauses()[:5] == [2.0] * 5
    assert world.pauses()[-1] == 20.0
    assert len(world.box.looks) < 45


def test_a_deadline_is_met_in_the_middle_of_a_long_pause() -> None:
    world = World(SetDeadline(name="soon", at=NOON + 111 * SECOND))
    world.pass_time(200 * SECOND)
    (woken,) = [note for note in world.heard.notes if note.key == "woken"]
    assert woken.at == NOON + 111 * SECOND


def test_deadlines_that_passed_while_the_process_was_down_are_declared_over_at_the_start() -> None:
    world = World(SetDeadline(name="soon", at=NOON + 5 * SECOND))
    world.role.turn()
    world.role.close()
    world.machine = Idle()
    world.clock.advance_to(NOON + timedelta(days=2))
    world.role.turn()
    assert world.heard.codes == ["woken"]


def test_an_unreachable_mailbox_is_left_alone_for_longer_each_time_and_no_deadline_is_declared_over() -> None:
    world = World(SetDeadline(name="soon", at=NOON + 10 * SECOND))
    world.role.turn()
    world.box.failures = [MailboxUnavailable("down")] * 5
    world.pass_time(29 * SECOND)
    assert world.pauses()[:5] == [2.0, 1.0, 2.0, 4.0, 8.0]
    assert "woken" not in world.heard.codes, "what arrived before the deadline has perhaps not been heard"
    world.pass_time(10 * SECOND)
    assert world.heard.codes[-2:] == ["woken", "mailbox_available"]
    assert world.heard.codes.count("mailbox_unavailable") == 5
    assert world.made == 1


def test_the_waiting_time_that_a_service_asks_for_is_kept() -> None:
    world = World()
    world.role.turn()
    world.box.failures = [MailboxUnavailable("slow down", retry_after=45 * SECOND)]
    world.pass_time(60 * SECOND)
    assert 45.0 in world.pauses()
    world.box.failures = [QuotaExhausted("spent", resets_at=world.clock.now() + timedelta(minutes=20))]
    world.pass_time(timedelta(minutes=30))
    assert max(world.pauses()) >= 1190


def test_a_clock_that_was_set_back_does_not_stop_the_looks() -> None:
    world = World()
    world.pass_time(100 * SECOND)
    looks = len(world.box.looks)
    world.clock.set_back(timedelta(hours=3))
    world.pass_time(60 * SECOND)
    assert world.heard.codes == ["clock_set_back"]
    assert len(world.box.looks) - looks >= 3


def test_a_machine_that_was_ahead_before_the_mailbox_was_asked_is_no_clock_that_went_back() -> None:
    world = World()
    is_first = True

    def check() -> None:
        nonlocal is_first
        if is_first:
            is_first = False
            world.clock.set_back(timedelta(seconds=400))  # what the service's replies say is shown from now on

    world.role.check = check
    world.pass_time(60 * SECOND)
    assert world.heard.codes == []


def test_a_person_hears_once_and_then_each_hour_that_the_machines_clock_is_wrong() -> None:
    world = World()
    world.pass_time(60 * SECOND)
    assert world.heard.codes == []
    world.role.clock_trouble = lambda: "61 s behind"
    world.pass_time(timedelta(minutes=59))
    assert world.heard.codes == ["clock_off"]
    world.pass_time(timedelta(minutes=3))
    assert world.heard.codes == ["clock_off", "clock_off"]
    world.role.clock_trouble = lambda: None
    world.pass_time(timedelta(minutes=2))
    assert world.heard.codes == ["clock_off", "clock_off", "clock_right"]


def test_nothing_is_begun_before_the_mailbox_was_asked_what_time_it_is() -> None:
    world = World()
    failures = [MailboxUnavailable("no network"), MailboxUnavailable("no network")]

    def check() -> None:
        if failures:
            raise failures.pop()
        world.clock.advance_to(NOON + timedelta(hours=1))

    world.role.check = check
    world.pass_time(2 * SECOND)
    assert world.journal.load_parts() == {}
    waiting: Any = world.journal.kept(DAEMON)
    assert waiting["started_at"] == NOON.isoformat()
    world.pass_time(60 * SECOND)
    assert [note.at for note in world.journal.notes()] == []
    assert world.journal.load_parts() != {}
    facts = world.journal.kept(DAEMON)
    assert isinstance(facts, dict)
    assert facts["started_at"] >= (NOON + timedelta(hours=1)).isoformat()


def test_a_lost_authorization_rests_the_role_until_a_person_has_logged_in() -> None:
    world = World()
    world.role.turn()
    world.box.failures = [AuthorizationExpired("run 'league-agents auth login'")]
    world.pass_time(300 * SECOND)
    looks = len(world.box.looks)
    assert world.role.needs_authorization == "run 'league-agents auth login'"
    assert world.heard.codes.count("authorization_needed") == 1
    facts: Any = world.journal.kept(DAEMON)
    assert "auth login" in facts["stuck"]
    world.pass_time(300 * SECOND)
    assert len(world.box.looks) == looks, "Google is not asked again before something has changed"
    world.login = "second"
    world.pass_time(5 * SECOND)
    assert world.role.needs_authorization == ""
    assert len(world.box.looks) > looks
    assert "authorized" in world.heard.codes


@pytest.mark.parametrize("error", [JournalError("disk is full"), ZeroDivisionError("a bug")])
def test_a_role_that_fails_starts_anew_from_its_journal_and_goes_on(error: Exception) -> None:
    world = World()
    world.role.turn()
    world.box.failures = [error, error]
    world.pass_time(100 * SECOND)
    assert world.made == 3
    told = 1 if isinstance(error, JournalError) else 2  # a database may be away for hours
    assert world.heard.codes.count("role_failed") == told
    assert str(error) in str(world.heard.notes[0].facts["text"])
    assert int(world.journal.load_parts()["n"]) == 3, "each start is a step on the same state"
    assert world.pauses()[-1] <= 20


@pytest.mark.parametrize("error", [ConfigError("league.yaml.roles", "is wrong"), JournalUnusable("p.db: is gone")])
def test_what_no_start_can_mend_is_raised_and_not_tried_again(error: LeagueError) -> None:
    world = World()
    world.role.turn()
    world.box.failures = [error]
    with pytest.raises(type(error)):
        world.pass_time(100 * SECOND)
    assert world.made == 1
    assert "role_failed" not in world.heard.codes
    world.role.close()
    facts: Any = world.journal.kept(DAEMON)
    assert facts["last_error"] == str(error)
    assert facts["started_at"] == NOON.isoformat()


def test_an_order_is_carried_out_in_the_next_turn_whether_it_looks_for_mail_or_not() -> None:
    world = World()
    for number, looks in ((1, 1), (2, 1), (3, 2)):
        world.journal.order(Order(nonce=f"n{number}", command="free_text", text=f"order {number}", at=NOON))
        if number == 3:
            world.clock.advance_to(NOON + timedelta(hours=1))
        world.role.turn()
        assert world.heard.codes.count("ordered") == number
        assert len(world.box.looks) == looks


def test_mail_is_passed_on_to_the_observer_and_its_time_kept() -> None:
    world = World()
    world.role.turn()
    row: Any = "a row of the inbox"
    item: Any = "an item of the outbox"
    world.watched.received("player", row)
    world.pass_time(SECOND)
    world.watched.sent("player", item)
    assert world.heard.mail == [("player", row), ("player", item)]
    world.role.close()
    facts: Any = world.journal.kept(DAEMON)
    assert NOON.isoformat() == facts["received_at"] < facts["sent_at"]


def test_what_people_ask_for_is_in_the_journal() -> None:
    world = World()
    world.role.turn()
    world.box.failures = [MailError("odd")]
    world.pass_time(30 * SECOND)
    facts: Any = world.journal.kept(DAEMON)
    assert (facts["pid"], facts["errors"]) == (7, 1)
    assert facts["started_at"] == NOON.isoformat()
    assert datetime.fromisoformat(facts["polled_at"]) > NOON + 15 * SECOND
    assert "odd" in facts["last_error"]
    assert world.journal.kept("quota") == {"n": 1}


def test_the_end_of_the_process_in_the_middle_of_a_drain_is_no_failure() -> None:
    world = World()
    world.role.turn()
    world.box.failures = [Stopping()]
    world.pass_time(5 * SECOND)
    world.role.close()
    assert world.heard.codes == []
    facts: Any = world.journal.kept(DAEMON)
    assert facts["errors"] == 0


def test_what_is_not_urgent_is_done_when_idle_and_then_every_hour() -> None:
    world = World()
    world.pass_time(timedelta(hours=2, minutes=30))
    first, _, third, *later = world.tidied
    assert third - first <= timedelta(minutes=1), "there was more to do"
    assert len(later) == 2
    assert all(
        timedelta(hours=1) <= at - before < timedelta(minutes=61)
        for before, at in zip([third, *later], later, strict=False)
    )


def test_nothing_becomes_a_hot_loop() -> None:
    world = World(SetDeadline(name="past", at=NOON - SECOND))
    world.box.failures = [MailboxUnavailable("down")] * 3
    rests = [world.role.turn() for _ in range(50)]
    assert all(rest >= SHORTEST_REST for rest in rests[:1])
    assert sum(rest > timedelta(0) for rest in rests) > 40


class Thinks:
    """An agent that answers when it is told to."""

    def __init__(self) -> None:
        self.may_answer = threading.Event()

    def get_warmup_answer(self, ctx: Mapping[str, Any]) -> Mapping[str, object]:
        assert self.may_answer.wait(LIMIT_S)
        return {"answer": "done"}


def test_an_agents_result_wakes_the_role_at_once() -> None:
    agent, wakeup, clock = Thinks(), Wakeup(), SystemClock()
    minute = timedelta(minutes=60)
    call = Call(call_id="c", callback="get_warmup_answer", context={}, timeout=minute, game_id="0101001")
    journal = MemoryJournal(dump=lambda _name, part: str(part))
    heard = Heard()

    def make(observer: Observer) -> WiredRole:
        host = Workers(here(lambda: agent), one_game_each=False, clock=clock, notify=wakeup.wake)
        runner = RoleRunner(Idle(call), Box(), journal, host, clock, codec=LEAGUE_MAIL, observer=observer)
        return WiredRole(runner=runner, journal=journal)

    role = LiveRole(name="player", make=make, clock=clock, pace=PACE, pid=7, observer=heard)
    while role.turn() <= timedelta(0):
        pass
    agent.may_answer.set()
    wakeup.rest(timedelta(seconds=2 * LIMIT_S))  # ended by the agent, or by the time limit of the test
    role.turn()
    assert "answered" in heard.codes
    role.close()


def test_a_hung_callback_is_given_up_in_time_between_two_looks() -> None:
    clock = SystemClock()
    host = Workers(here(Thinks), one_game_each=False, clock=clock)
    assert host.next_wake() is None
    host.submit(
        PendingCall(
            call_id="c", callback="get_warmup_answer", context={}, timeout=timedelta(seconds=30), game_id="0101001"
        )
    )
    while (wake := host.next_wake()) is None:
        pass
    assert timedelta(seconds=29) < wake - clock.now() <= timedelta(seconds=30)
    host.close()


def live(box: Box, login: Callable[[], object] = lambda: "same") -> tuple[LiveRole, Wakeup]:
    """A role on the real clock."""
    clock = SystemClock()
    journal = MemoryJournal(dump=lambda _name, part: str(part))

    def make(observer: Observer) -> WiredRole:
        return WiredRole(
            runner=RoleRunner(Idle(), box, journal, None, clock, codec=LEAGUE_MAIL, observer=observer), journal=journal
        )

    role = LiveRole(name="player", make=make, clock=clock, pace=PACE, pid=7, authorization=login)
    return role, Wakeup()


def test_a_watch_ends_when_it_is_asked_and_not_when_one_of_two_roles_is_stuck() -> None:
    stuck, well = Box(), Box()
    stuck.failures = [AuthorizationExpired("log in")]
    stop = StopRequest()
    looked = threading.Event()
    well.now = lambda: (looked.set(), NOON)[1]
    ending = threading.Thread(target=lambda: (looked.wait(LIMIT_S), stop.request()))
    ending.start()
    watch([live(stuck), live(well)], stop)
    ending.join()
    stop.close()
    assert well.looks


def test_a_watch_whose_roles_are_all_stuck_says_what_to_do() -> None:
    one, two = Box(), Box()
    one.failures = [AuthorizationExpired("log in as one")]
    two.failures = [AuthorizationExpired("log in as two")]
    stop = StopRequest()
    with pytest.raises(AuthorizationExpired, match="log in as one"):
        watch([live(one), live(two)], stop)
    stop.close()


def test_a_journal_serves_one_process_and_a_killed_one_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "player.db"
    assert not is_locked(path)
    lock = FileLock(path)
    assert is_locked(path)
    with pytest.raises(Locked, match=r"process \d+"):
        FileLock(path)
    lock.release()
    assert not is_locked(path)
    lock.path.write_text("99999999\n", "ascii")  # of a process that is gone
    FileLock(path).release()


def test_pauses_of_a_failing_mailbox_grow_to_a_limit_and_begin_anew() -> None:
    backoff = Backoff()
    pauses = [backoff.failed(MailError(), NOON).total_seconds() for _ in range(9)]
    assert pauses == [1, 2, 4, 8, 16, 32, 64, 64, 64]
    backoff.succeeded()
    assert backoff.failed(MailError(), NOON) == SECOND


def test_what_is_no_state_of_ours_has_no_open_game() -> None:
    assert not is_game_open(object())
    assert not is_game_open(PlayerState(league=None, games={}))  # type: ignore[arg-type]


class FullDisk(MemoryJournal):
    def commit(self, step: StepCommit) -> bool:
        raise JournalError("the disk is full")


def test_a_role_that_cannot_even_start_tries_again_and_says_why() -> None:
    world = World()
    world.journal = FullDisk(dump=lambda _name, part: str(part))
    world.pass_time(20 * SECOND)
    assert world.made >= 4
    assert set(world.heard.codes) == {"role_failed"}
    assert "the disk is full" in str(world.heard.notes[-1].facts["text"])


def test_one_that_waits_for_a_journal_is_hindered_when_the_database_goes_away() -> None:
    world = World()
    errors: list[JournalError] = [JournalHeld("process 3 works on this journal"), JournalError("db: is away")]
    make = world.role.make

    def failing(observer: Observer) -> WiredRole:
        if errors:
            raise errors.pop(0)
        return make(observer)

    world.role.make = failing
    world.role.turn()
    assert (world.role.is_standing_by, world.role.hindrance) == (True, "")
    world.clock.sleep(HELD_JOURNAL_EVERY)
    world.role.turn()
    assert not world.role.is_standing_by, "nobody knows whether another process works on it"
    assert world.role.hindrance != ""


def test_announcements_without_end_spend_no_quota_and_each_is_heeded() -> None:
    world = World()
    world.role.hears_of_mail = lambda: True
    world.pass_time(100 * SECOND)
    world.box.looks.clear()
    world.role.was_rung = lambda: True
    for _ in range(100):
        world.role.turn()
        world.clock.sleep(SECOND / 10)
    assert 10 <= len(world.box.looks) <= 11
    world.role.was_rung = lambda: False
    looks = len(world.box.looks)
    world.pass_time(SECOND)
    assert len(world.box.looks) == looks + 1, "the last one came right after a look"


def test_a_scan_waits_for_the_agents_and_looks_into_the_mailbox_once() -> None:
    agent, wakeup, clock, box = Thinks(), Wakeup(), SystemClock(), Box()
    minute = timedelta(minutes=60)
    call = Call(call_id="c", callback="get_warmup_answer", context={}, timeout=minute, game_id="0101001")
    journal = MemoryJournal(dump=lambda _name, part: str(part))
    heard = Heard()

    def make(observer: Observer) -> WiredRole:
        host = Workers(here(lambda: agent), one_game_each=False, clock=clock, notify=wakeup.wake)
        return WiredRole(
            runner=RoleRunner(Idle(call), box, journal, host, clock, codec=LEAGUE_MAIL, observer=observer),
            journal=journal,
        )

    role = LiveRole(name="player", make=make, clock=clock, pace=PACE, pid=7, observer=heard)

    def rest(duration: timedelta) -> None:
        agent.may_answer.set()
        wakeup.rest(duration)

    report = scan(role, rest)
    role.close()
    assert heard.codes == ["answered"]
    assert len(box.looks) == 1
    assert report.is_empty, "an agent's silent answer is neither mail nor message"
    facts: Any = journal.kept(DAEMON)
    assert facts["polled_at"] is not None


class LosingBox(Box):
    """A mailbox whose first send breaks off; the mail shows up among the sent ones after ``shows_up_after``."""

    def __init__(self, clock: ManualClock, shows_up_after: timedelta | None) -> None:
        super().__init__()
        self._clock = clock
        self._shows_up_after = shows_up_after
        self._shows_up_at: datetime | None = None
        self.sends: list[datetime] = []

    def send(self, mail: OutgoingMail) -> None:
        self.sends.append(self._clock.now())
        if len(self.sends) == 1:
            if self._shows_up_after is not None:
                self._shows_up_at = self._clock.now() + self._shows_up_after
            raise AmbiguousSend

    def was_sent(self, transaction_id: str) -> bool:
        return self._shows_up_at is not None and self._shows_up_at <= self._clock.now()


@pytest.mark.parametrize(("shows_up_after", "sends"), [(3 * SECOND, 1), (74 * SECOND, 1), (None, 2)])
def test_a_scan_waits_for_a_message_in_doubt_until_it_is_found_or_was_sent_again(
    shows_up_after: timedelta | None, sends: int
) -> None:
    world = World(Send(envelope=REPLY, to=("office@league.test",)))
    box = LosingBox(world.clock, shows_up_after)
    world.box = box
    report = scan(world.role, world.clock.sleep)
    assert len(box.sends) == sends
    assert (report.sent, report.waiting) == (1, 0)
    assert world.clock.now() - NOON <= SEND_PATIENCE


def test_what_a_scan_leaves_in_doubt_the_next_one_looks_for_without_waiting_anew() -> None:
    world = World(Send(envelope=REPLY, to=("office@league.test",)))
    box = LosingBox(world.clock, None)
    box.failures = []
    world.box = box
    world.journal.keep(LATENESS, {"at": NOON.isoformat(), "seconds": 70.0})
    first = scan(world.role, world.clock.sleep)
    assert (first.sent, first.waiting, len(box.sends)) == (0, 1, 1)
    world.role.close()
    world.clock.sleep(120 * SECOND)
    began_at = world.clock.now()
    second = scan(world.role, world.clock.sleep)
    assert (second.sent, second.waiting, len(box.sends)) == (1, 0, 2)
    assert world.clock.now() == began_at
