"""A match by mail as a daemon: who comes first, what is lived through, how it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from league_agents.app.agent_wanted import Company
from league_agents.app.arena_mail import LiveHost, LiveSeat, host_by_mail, seat_by_mail
from league_agents.app.live import MailboxMaker, OpenMailbox, WantedMailbox
from league_agents.app.storage import STORAGE
from league_agents.arena.scenario import scenario_of
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import LeagueSettings
from league_agents.config.storage_url import JournalPlace
from league_agents.kit.clock import Clock, ManualClock, SystemClock
from league_agents.kit.errors import MailboxUnavailable
from league_agents.mail.memory import PostOffice
from league_agents.mail.port import Mail
from league_agents.mail.service_clock import ServiceClock
from league_agents.runner.live import DAEMON
from league_agents.runner.scan import scan
from league_agents.runner.wakeup import StopRequest
from league_agents.runner.watch import watch

HOST, ANN = "table@arena.test", "ann@arena.test"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SCENARIO = {
    "game": "market",
    "config": {"max_rounds": 1},
    "agents": [{"id": "s1"}, {"id": "s2", "agent": "scripted"}],
    "clock": {"turn_timeout_s": 7200},
}


def settings_in(folder: Path, address: str) -> LeagueSettings:
    name = address.partition("@")[0]
    role = {"address": address, "journal": f"{name}.db", "token": f"{name}.json", "id": name, "group_id": name}
    written = {
        "league": {"manager_email": "office@arena.test"},
        "gmail": {"sender_check": "nothing"},
        "roles": {"player": {**role, "agent": "scripted", "display_name": name}},
    }
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump(written))
    return read_league_file(path, {}, only=("player",))


@contextmanager
def hosting(
    folder: Path, clock: Clock, mailbox_of: MailboxMaker, place: JournalPlace | None = None
) -> Iterator[LiveHost]:
    settings = settings_in(folder, HOST)
    with host_by_mail(
        settings,
        settings.role("player"),
        place or folder / "match.db",
        scenario=scenario_of(SCENARIO),
        addresses={"s1": ANN},
        seed=5,
        company=Company(),
        observer=None,
        clock=ServiceClock(clock),
        mailbox_of=mailbox_of,
    ) as host:
        yield host


@contextmanager
def sitting(folder: Path, clock: Clock, mailbox_of: MailboxMaker, agent: object = None) -> Iterator[LiveSeat]:
    settings = settings_in(folder, ANN)
    with seat_by_mail(
        settings,
        settings.role("player"),
        host_address=HOST,
        make_agent=lambda: agent,
        game="market",
        match_id=None,
        agent_id=None,
        observer=None,
        clock=ServiceClock(clock),
        mailbox_of=mailbox_of,
    ) as seat:
        yield seat


class Post:
    """A post office, and who asked for a mailbox."""

    def __init__(self, clock: Clock) -> None:
        self.office = PostOffice(clock, through_mime=True)
        self.wanted: list[WantedMailbox] = []

    def __call__(self, wanted: WantedMailbox) -> OpenMailbox:
        self.wanted.append(wanted)
        return OpenMailbox(mailbox=self.office.mailbox(wanted.role.address))


def test_mail_of_those_who_play_comes_before_that_of_strangers(tmp_path: Path) -> None:
    clock = ManualClock(START)
    post = Post(clock)
    with hosting(tmp_path, clock, post), sitting(tmp_path, clock, post):
        host, seat = (wanted.peers() for wanted in post.wanted if wanted.peers is not None)
    assert (host.addresses, host.admits_others) == (frozenset({ANN}), False)
    assert host.shortest_wait == timedelta(hours=2)
    assert (seat.addresses, seat.admits_others) == (frozenset({HOST}), False)


class Unreachable:
    """A mailbox that can be read again after a few attempts."""

    def __init__(self, box: Any, failures: int) -> None:
        self._box = box
        self._failures = failures

    def __getattr__(self, name: str) -> Any:
        return getattr(self._box, name)

    def fetch(self, limit: int, known: Callable[[str], bool]) -> list[Mail]:
        if self._failures:
            self._failures -= 1
            raise MailboxUnavailable("no way through")
        found: list[Mail] = self._box.fetch(limit, known)
        return found


def test_a_host_leaves_a_failing_mailbox_alone_for_longer_each_time_and_says_how_it_is(tmp_path: Path) -> None:
    clock = ManualClock(START)
    office = PostOffice(clock)
    box = Unreachable(office.mailbox(HOST), failures=3)
    with hosting(tmp_path, clock, lambda _wanted: OpenMailbox(mailbox=box)) as host:
        rests = []
        for _ in range(3):
            rests.append(host.live.role.turn())
            clock.sleep(rests[-1])
        journal = host.live.role.wired.journal
        facts: Any = journal.kept(DAEMON)
        assert rests == [timedelta(seconds=seconds) for seconds in (1, 2, 4)]
        assert "no way through" in facts["last_error"]
        assert host.live.role.name == "arena-host", "what a log calls it"
        assert facts["polled_at"] is None
        host.live.role.turn()
        facts = journal.kept(DAEMON)
        assert facts["polled_at"] == clock.now().isoformat()
    assert [item.message_type for item in STORAGE.look_at_journal(tmp_path / "match.db").outbox()] == ["invitation"]


class Thinking:
    """An agent that answers when it is let."""

    def __init__(self) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()

    def act(self, view: object, legal: Sequence[Any], deadline: object) -> dict[str, object]:
        self.asked.set()
        self.may_answer.wait()
        return {"type": legal[0].type, "data": {"price": 20}}


def test_a_seat_stops_while_its_agent_thinks_and_asks_it_again_when_it_is_started_again(tmp_path: Path) -> None:
    clock = SystemClock()
    post = Post(clock)
    agent, stop = Thinking(), StopRequest()

    def request() -> None:
        agent.asked.wait()
        stop.request()

    post.office.mailbox(ANN)
    with hosting(tmp_path, clock, post) as host:
        scan(host.live.role, host.live.wakeup.rest)
        try:
            with sitting(tmp_path, clock, post, agent) as seat:
                threading.Thread(target=request, daemon=True).start()
                watch([(seat.live.role, seat.live.wakeup)], stop)
                assert not agent.may_answer.is_set()
        finally:
            agent.may_answer.set()
            stop.close()
        assert len(STORAGE.look_at_journal(tmp_path / "ann.arena-seat.db").pending_calls()) == 1
        with sitting(tmp_path, clock, post, agent) as seat:
            scan(seat.live.role, seat.live.wakeup.rest)
        watched = StopRequest()
        watch([(host.live.role, host.live.wakeup)], watched)
        watched.close()
        assert host.machine.table(host.state).match.outcome() is not None, (
            "the host ends with its match, and nobody has to stop it"
        )
