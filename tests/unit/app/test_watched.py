"""What a monitor, Prometheus and the service manager are told of a running process, over real sockets."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from league_agents.app.agents import choose_agent, offline_host
from league_agents.app.league_mail import LEAGUE_MAIL
from league_agents.app.live_mailbox import MAIL_FACTS
from league_agents.app.metrics import MOST_LABELS, OTHERS, READ_EVERY_S, Metrics, shown_name
from league_agents.app.notify import service_manager
from league_agents.app.vitals import STUCK_AFTER, Vitals
from league_agents.app.watch_server import MOST_CLIENTS
from league_agents.app.watched import Watched, metrics_among, watched
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings, MetricsSettings
from league_agents.games.q21.rules import PRD
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import InboxRow, Note, OutboxItem
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import AuthorizationExpired, ConfigError, MailboxUnavailable
from league_agents.league.machines.machine import Machine
from league_agents.league.wire.encode import encode
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.subject import format_subject
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.mail.memory import MemoryMailbox, PostOffice
from league_agents.mail.port import Mail, OutgoingMail
from league_agents.runner.live import LiveRole, WiredRole
from league_agents.runner.pace import Pace
from league_agents.runner.probe import NO_PROBE, ProbedObserver, probe_of
from league_agents.runner.role import Observer, RoleRunner
from tests.support import link

SECOND = timedelta(seconds=1)
PACE = Pace(active=2 * SECOND, idle=20 * SECOND, lively_for=60 * SECOND)
ANYWHERE = MetricsSettings(host="127.0.0.1", port=0)


class Silent:
    """The process's own log."""

    def received(self, role: str, row: InboxRow) -> None: ...

    def sent(self, role: str, item: OutboxItem) -> None: ...

    def noted(self, role: str, note: Note) -> None: ...


class ShakyMailbox:
    """A mailbox that fails when it is told to."""

    def __init__(self, mailbox: MemoryMailbox) -> None:
        self._mailbox = mailbox
        self.failure: Exception | None = None
        self.address = mailbox.address
        self.acknowledge = mailbox.acknowledge
        self.send = mailbox.send
        self.was_sent = mailbox.was_sent

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        if self.failure is not None:
            raise self.failure
        return self._mailbox.fetch(limit, known)


class World:
    """A player's mailbox, and somebody who writes to it."""

    def __init__(self) -> None:
        self.clock = ManualClock(link.START)
        self.office = PostOffice(self.clock)
        self.peers = {address: self.office.mailbox(address) for address in (link.MANAGER, link.REFEREE)}
        self.boxes: dict[str, ShakyMailbox] = {}

    def role(self, observer: Observer, name: str = "player") -> LiveRole:
        is_referee = name == "referee"
        machine: Machine[Any] = link.referee(PRD) if is_referee else link.player(rules=PRD)
        box = self.boxes[name] = ShakyMailbox(self.office.mailbox(link.REFEREE if is_referee else link.PLAYER1))
        agent = choose_agent("scripted", "referee" if is_referee else "player", rules=PRD, seed=0)

        def make(told: Observer) -> WiredRole:
            journal = MemoryJournal(dump=machine.dump_part)
            runner = RoleRunner(
                machine,
                box,
                journal,
                offline_host(agent, self.clock, is_referee=is_referee),
                self.clock,
                codec=LEAGUE_MAIL,
                observer=told,
                probe=probe_of(observer),
            )
            facts = {MAIL_FACTS: {"units_in_last_minute": 40, "units_per_minute": 6_000}}
            return WiredRole(
                runner=runner,
                journal=journal,
                facts=lambda: facts,
                journal_bytes=lambda: 12_345,
                sends_left=lambda: 487,
            )

        return LiveRole(
            name=name, make=make, clock=self.clock, pace=PACE, pid=1, observer=observer, authorization=lambda: 0
        )

    def tell(self, envelope: Envelope, to: str = link.PLAYER1) -> None:
        sender = envelope.sender.email
        self.peers[sender].send(
            OutgoingMail(
                sender=sender,
                to=(to,),
                subject=format_subject(envelope),
                document=encode(envelope),
                transaction_id=envelope.message_id,
                sent_at=self.clock.now(),
            )
        )

    def pass_time(self, seconds: float) -> None:
        self.clock.sleep(timedelta(seconds=seconds))

    @contextmanager
    def watched(self, environment: dict[str, str] | None = None) -> Iterator[tuple[Watched, str]]:
        told: list[str] = []
        with watched(
            ANYWHERE, Silent(), environment or {}, tell=told.append, monotonic_s=self.clock.monotonic_s
        ) as watching:
            (line,) = told
            yield watching, line.removeprefix("metrics at ").removesuffix("/metrics")


@pytest.fixture
def world() -> World:
    return World()


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def figures(url: str) -> dict[tuple[str, ...], float]:
    """Values by name and the values of their labels."""
    status, text = get(f"{url}/metrics")
    assert status == 200
    return {
        (
            sample.name.removeprefix("league_agents_"),
            *(value for _, value in sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_prometheus_reads_what_a_role_did(world: World) -> None:
    with world.watched() as (watching, url):
        role = world.role(watching.observer)
        role.turn()
        world.tell(link.start_season())
        world.pass_time(3)
        while role.turn() == timedelta(0):
            pass
        world.tell(link.table())
        world.tell(link.new_round())
        world.pass_time(10)
        while role.turn() == timedelta(0):
            pass
        found = figures(url)
        assert link.PLAYER1 not in get(f"{url}/metrics")[1]
    assert found["mails_received_total", "player", "processed"] == 3
    assert found["mails_sent_total", "player"] == 2  # a registration, and that the table has come
    assert found["reply_seconds_count", "player"] == 2
    assert found["reply_seconds_sum", "player"] == 13
    assert found["reply_seconds_bucket", "5.0", "player"] == 1
    assert found["up", "player"] == 1
    assert found["open_games", "player"] == 1
    assert found["quota_units_left", "player"] == 5_960
    assert found["sends_left", "player"] == 487
    assert found["journal_bytes", "player"] == 12_345
    assert found["last_poll_timestamp_seconds", "player"] == world.clock.now().timestamp()


def test_deadlines_count_as_at_risk_before_they_pass(world: World) -> None:
    with world.watched() as (watching, url):
        role = world.role(watching.observer, "referee")

        def work() -> float:
            while role.turn() == timedelta(0):
                pass
            world.pass_time(READ_EVERY_S)
            role.turn()
            return figures(url)["deadlines_at_risk", "referee"]

        work()
        for envelope in (link.table(), link.new_round()):
            world.tell(envelope, to=link.REFEREE)
        assert work() == 0
        assert figures(url)["open_games", "referee"] == 1
        world.pass_time(PRD.warmup_wait.total_seconds() - 60)
        assert work() == 2  # both players owe the answer to the warm-up question


def test_calls_of_models_and_their_fallbacks_are_counted() -> None:
    metrics = Metrics(lambda: 0.0)
    probe = metrics.of_role("referee")
    for outcome, cost_usd in (("answered", 0.02), ("answered", 0.03), ("unanswered", None)):
        probe.asked_model(
            game_id="0101001", callback="get_answers", model="m", outcome=outcome, took_s=1, cost_usd=cost_usd
        )
    now = link.START
    metrics.noted("referee", Note(at=now, kind="warning", key="callback_failed", facts={"text": "x"}))
    metrics.noted("referee", Note(at=now, kind="warning", key="duplicate_message", facts={"text": "x"}))
    steps = [{"step": "a", "work": "replaced", "why": "refused"}, {"step": "b", "work": "used"}]
    metrics.noted("referee", Note(at=now, kind="model_work", key="0101001", facts={"steps": steps}))
    text = metrics.exposition().decode()
    assert 'league_agents_model_cost_usd_total{mailbox="referee"} 0.05' in text
    assert 'league_agents_model_calls_total{mailbox="referee",outcome="answered"} 2.0' in text
    assert 'league_agents_fallbacks_total{mailbox="referee",of="callback"} 1.0' in text
    assert 'league_agents_fallbacks_total{mailbox="referee",of="model"} 1.0' in text


def test_the_number_of_labels_is_bounded_and_none_is_an_address() -> None:
    metrics = Metrics(lambda: 0.0)
    item = OutboxItem(
        transaction_id="t",
        message_type="X",
        to=("a@league.test",),
        subject="s",
        document={},
        created_at=link.START,
        file_name="payload.json",
        game_id=None,
    )
    for number in range(MOST_LABELS + 5):
        metrics.sent(f"player p{number}@league.test", item)
    text = metrics.exposition().decode()
    labels = {line.partition('mailbox="')[2].partition('"')[0] for line in text.splitlines() if "sent_total{" in line}
    assert len(labels) == MOST_LABELS + 1
    assert f'mails_sent_total{{mailbox="{OTHERS}"}} 5.0' in text
    assert "@" not in text
    assert shown_name("player falcons") == "player falcons"
    assert shown_name("player A@x.test") == shown_name("player a@x.test") != shown_name("player b@x.test")


def test_a_role_that_ended_has_no_figures_any_more(world: World) -> None:
    with world.watched() as (watching, url):
        role = world.role(watching.observer)
        role.turn()
        assert ("up", "player") in figures(url)
        role.close()
        assert not any("player" in key for key in figures(url))


def test_health_says_in_one_line_what_is_wrong(world: World) -> None:
    with world.watched() as (watching, url):
        health = f"{url}/healthz"
        assert get(health) == (503, "no role has begun yet\n")
        role, other = (world.role(watching.observer, name) for name in ("player", "player o@league.test"))
        world.boxes["player"].failure = MailboxUnavailable("secret words of the service")
        role.turn()
        assert get(health) == (503, "player: its mailbox does not answer\n")
        world.boxes["player"].failure = None
        world.pass_time(60)
        role.turn()
        other.turn()
        assert get(health) == (200, "ok\n")
        world.boxes["player"].failure = AuthorizationExpired("secret words of the service")
        world.pass_time(60)
        role.turn()
        assert get(health) == (503, "player: it needs an authorization\n")
        role.close()
        assert get(health) == (200, "ok\n")
        world.pass_time(STUCK_AFTER.total_seconds() + 60)  # the other one has no turn
        status, line = get(health)
        assert (status, line.count("\n")) == (503, 1)
        assert line.startswith("player ")
        assert "no progress for" in line
        assert "@" not in line
        assert get(f"{url}/secrets")[0] == 404


def test_a_role_that_hangs_in_its_first_turn_is_stuck(world: World) -> None:
    vitals = Vitals(world.clock.monotonic_s)
    vitals.of_role("player one")
    world.role(ProbedObserver([vitals], vitals), "player two").turn()
    assert vitals.stuck() == ""
    assert vitals.trouble() == "player one: its mailbox was not read yet"
    world.pass_time(STUCK_AFTER.total_seconds() + 1)
    assert vitals.stuck() == "player one: no progress for 301 s"


def test_connections_that_say_nothing_keep_neither_the_monitor_nor_the_process(world: World) -> None:
    with world.watched() as (_, url), ExitStack() as opened:
        port = int(url.rpartition(":")[2])
        silent = [
            opened.enter_context(socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S))
            for _ in range(2 * MOST_CLIENTS)
        ]
        assert get(f"{url}/healthz")[0] == 503
        assert [client.recv(1) for client in silent[:MOST_CLIENTS]] == [b""] * MOST_CLIENTS, "the oldest are ended"

        def threads() -> int:
            return sum("process_request_thread" in thread.name for thread in threading.enumerate())

        until(lambda: threads() <= MOST_CLIENTS, "their threads have ended")


def test_an_address_that_is_taken_is_a_mistake_of_the_league_file(world: World) -> None:
    with world.watched() as (_, url):
        taken = MetricsSettings(host="127.0.0.1", port=int(url.rpartition(":")[2]))
        with pytest.raises(ConfigError, match="name another port"), watched(taken, Silent(), {}):
            pass


def test_league_files_of_one_process_name_one_address_for_its_figures(tmp_path: Path) -> None:
    def file(name: str, *lines: str) -> LeagueSettings:
        path = tmp_path / name
        role = "roles: {player: {address: p@league.test, group_id: p}}"
        path.write_text("\n".join(["league: {manager_email: o@league.test}", role, *lines]), "utf-8")
        return read_league_file(path, {})

    none, one, same = (
        file("a.yaml"),
        file("b.yaml", "metrics: 127.0.0.1:9464"),
        file("c.yaml", "metrics: localhost:9464"),
    )
    assert metrics_among([none]) is None
    assert metrics_among([none, one, same]) == MetricsSettings(host="127.0.0.1", port=9464)
    with pytest.raises(ConfigError, match=r"d\.yaml\.metrics: is not that of .*b\.yaml"):
        metrics_among([one, file("d.yaml", "metrics: 127.0.0.1:9465")])


def test_a_process_that_nobody_watches_has_no_probe() -> None:
    own = Silent()
    with watched(None, own, {}) as watching:
        assert watching.observer is own
        assert probe_of(watching.observer) is NO_PROBE


# The service manager.


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest) -> Iterator[tuple[socket.socket, str]]:
    """The socket of a service manager, and what ``NOTIFY_SOCKET`` says."""
    with ExitStack() as opened:
        listening = opened.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        if request.param == "abstract":
            name = f"league-agents-test-{os.getpid()}"
            listening.bind(f"\0{name}")
            address = f"@{name}"
        else:
            folder = opened.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))
            address = str(Path(folder) / "notify")
            listening.bind(address)
        listening.setblocking(False)
        yield listening, address


def told(listening: socket.socket) -> list[str]:
    lines = []
    while True:
        try:
            lines.append(listening.recv(4096).decode())
        except BlockingIOError:
            return lines


def test_the_service_manager_is_told_how_the_process_is(world: World, manager: tuple[socket.socket, str]) -> None:
    listening, address = manager
    environment = {"NOTIFY_SOCKET": address, "OTHER": "stays"}
    with world.watched(environment) as (watching, _):
        assert environment == {"OTHER": "stays"}  # children are not this service
        assert watching.manager is not None
        assert told(listening) == []  # not before a role has had a turn
        role = world.role(watching.observer)
        role.turn()
        assert told(listening) == ["READY=1", "STATUS=1 mailbox watched"]
        role.turn()
        world.boxes["player"].failure = MailboxUnavailable("down")
        world.pass_time(60)
        role.turn()
        assert told(listening) == ["STATUS=player: its mailbox does not answer"]
        with watching.reloading():
            pass
        began = int(world.clock.monotonic_s() * 1e6)
        assert told(listening) == [f"RELOADING=1\nMONOTONIC_USEC={began}", "READY=1"]
        watching.ending()
        assert told(listening) == ["STOPPING=1\nSTATUS=ends after the current step"]


def test_the_watchdog_is_fed_by_progress_of_all_roles_and_starves_without(
    world: World, manager: tuple[socket.socket, str]
) -> None:
    listening, address = manager
    environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "20000000", "WATCHDOG_PID": str(os.getpid())}
    with world.watched(environment) as (watching, _):
        one, other = (world.role(watching.observer, name) for name in ("player one", "player two"))
        fed = 0
        for _ in range(20):
            rest = max(one.turn(), other.turn())
            assert rest <= 5 * SECOND, "a role must come back before the watchdog's period is over"
            world.clock.sleep(rest)
            fed += told(listening).count("WATCHDOG=1")
        assert fed > 5
        starved_s = world.clock.monotonic_s() + 26
        while world.clock.monotonic_s() < starved_s:  # the other one hangs in its turn
            world.clock.sleep(one.turn())
        told(listening)
        for _ in range(20):
            world.clock.sleep(one.turn())
        assert "WATCHDOG=1" not in told(listening)
        other.turn()
        assert "WATCHDOG=1" in told(listening)


@pytest.mark.parametrize(
    ("environment", "has_manager"),
    [
        ({}, False),
        ({"NOTIFY_SOCKET": "vsock:2:1234"}, False),  # of another machine: not spoken here
        ({"NOTIFY_SOCKET": "@x", "WATCHDOG_USEC": "nonsense"}, True),
        ({"NOTIFY_SOCKET": "/run/nobody/listens", "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}, True),
    ],
)
def test_other_words_of_a_service_manager_do_no_harm(environment: dict[str, str], has_manager: bool) -> None:
    found = service_manager(environment, Vitals(lambda: 0.0), lambda: 0.0)
    assert (found is not None) is has_manager
    if found is not None:
        found.stopping()  # nobody listens
        found.close()
