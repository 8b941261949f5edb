"""Who is the undercover, by e-mail: a host and six mailboxes, weather between them, and a host that dies.

The mail goes through MIME bytes. The host's journal is a SQLite file, and every life of the host opens it anew.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from league_agents.app.live_mailbox import SenderCheck
from league_agents.arena.agents.scripted_agent import ScriptedAgent
from league_agents.arena.by_mail.host import ROLE, HostMachine
from league_agents.arena.by_mail.letters import dump_part
from league_agents.arena.by_mail.setup import MailSetup
from league_agents.arena.scenario import match_of, scenario_of
from league_agents.arena.transcript import TranscriptWriter, read_transcript, replay
from league_agents.games.registry import game_of
from league_agents.games.undercover.memory import AgentMemory
from league_agents.journal.memory import MemoryJournal
from league_agents.journal.port import OutboxState
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import ManualClock
from league_agents.kit.draw import Draw
from league_agents.kit.errors import MailError
from league_agents.mail.gmail import GmailMailbox
from league_agents.mail.identity import Require
from league_agents.mail.memory import FINE, PostOffice, Weather
from league_agents.sandbox.server import Sandbox
from tests.support.crash import CALLS, WRITES, CountingMailbox, Killed, Mortal, Reaper
from tests.support.mail_match import RunningHost, RunningSeat

HOST = "table@arena.test"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
SEATS = {f"agent_{seat}": f"player{seat}@arena.test" for seat in range(1, 7)}
ROUGH = Weather(delay=timedelta(minutes=20), reordering=0.2, duplication=0.2, refusal=0.1, ambiguity=0.1)
WORDS = {"pair": ["w-5f1c-violin", "w-9a77-cello"]}


def setup(seed: int = 5, addresses: dict[str, str] | None = None, host: str = HOST) -> MailSetup:
    scenario = scenario_of(
        {
            "game": "undercover",
            "config": {"lang": "en", "tie": "revote", "word_pairs": [WORDS["pair"]]},
            "agents": [{"id": seat} for seat in SEATS],
            "clock": {"turn_timeout_s": 24 * 3600},
        }
    )
    return MailSetup(scenario=scenario, seed=seed, match_id="m-7f3a", host_address=host, addresses=addresses or SEATS)


class World:
    """A match by mail in one process: the host is made anew, on the same journal file, whenever it dies."""

    def __init__(
        self,
        folder: Path,
        *,
        weather: Weather = FINE,
        is_fatal: Callable[[int], bool] = lambda _point: False,
        seed: int = 5,
    ) -> None:
        self.clock = ManualClock(START)
        self.office = PostOffice(self.clock, seed=seed, weather=weather, through_mime=True)
        self.reaper = Reaper(is_fatal)
        self.left: Counter[tuple[str, str]] = Counter()
        self.path = folder / "host.db"
        self.setup = setup(seed)
        self.lives = 0
        self.host: RunningHost | None = None
        self.office.mailbox(HOST)
        self.seat_journals = {address: MemoryJournal(dump=dump_part) for address in SEATS.values()}
        self.seats = {
            seat: RunningSeat(
                ScriptedAgent("undercover", seed=seed, agent_id=seat),
                self.office.mailbox(address),
                self.seat_journals[address],
                HOST,
                clock=self.clock,
                memory=AgentMemory(),
            )
            for seat, address in SEATS.items()
        }

    def journal(self) -> SqliteJournal:
        return SqliteJournal(self.path, role=ROLE, address=HOST, dump=dump_part, synchronous="NORMAL")

    def live(self, act: Callable[[RunningHost], bool]) -> bool:
        """Let the host act; if it dies on the way, the next one is there for the next time."""
        try:
            if self.host is None:
                self.lives += 1
                mailbox: Any = Mortal(CountingMailbox(self.office.mailbox(HOST), self.left), CALLS, self.reaper)
                journal: Any = Mortal(self.journal(), WRITES, self.reaper)
                made = RunningHost(mailbox, journal, self.clock, setup=self.setup)
                made.start()
                self.host = made
            return act(self.host)
        except Killed:
            self.host = None
            return True

    def play(self) -> None:
        """Until the match is over and every letter has arrived."""
        for _ in range(20_000):
            busy = self.live(RunningHost.tick)
            for mute in SEATS.keys() - self.seats.keys():
                self.office.mailbox(SEATS[mute]).fetch(100, lambda _mail_id: False)  # reads, and never answers
            for seat in self.seats.values():
                try:
                    busy = seat.tick() or busy
                except MailError:  # the weather: the next tick tries again
                    self.clock.sleep(timedelta(seconds=30))
                    busy = True
            if busy:
                continue
            assert self.host is not None
            if self.host.is_done and all(seat.is_over for seat in self.seats.values()):
                return
            wakes = [at for at in (self.office.next_arrival(), self.host.next_wake()) if at is not None]
            self.clock.advance_to(max(min(wakes), self.clock.now() + timedelta(milliseconds=1)))
        raise AssertionError("the match by mail did not come to an end")

    def actions(self) -> list[tuple[str, str]]:
        """Every accepted action, in order: who, and what."""
        lines = self.transcript()
        return [
            (line["agent"], json.dumps(line["action"], sort_keys=True)) for line in lines if line["line"] == "decision"
        ]

    def transcript(self) -> list[dict[str, Any]]:
        file = io.StringIO()
        journal = self.journal()
        try:
            machine = HostMachine(self.setup)
            machine.write_down(machine.load(journal.load_parts()), TranscriptWriter(file))
        finally:
            journal.close()
        return read_transcript(file.getvalue().splitlines())


def played(folder: Path, **options: Any) -> World:
    folder.mkdir(exist_ok=True)
    world = World(folder, **options)
    world.play()
    return world


def expect_a_whole_match(world: World) -> None:
    assert world.host is not None
    outcome = world.host.table.match.outcome()
    assert outcome is not None
    assert outcome.winners
    for seat in world.seats.values():
        assert seat.winners == list(outcome.winners)
    lines = world.transcript()
    assert [line for line in lines if line.get("cause")] == []  # nobody was out of time
    assert replay(lines, game_of("undercover"), match_of).difference is None
    journal = world.journal()
    assert {item.state for item in journal.outbox()} == {OutboxState.SENT}
    journal.close()
    assert [mail for mail, count in world.left.items() if count > 1] == []


def test_six_mailboxes_play_a_whole_match(tmp_path: Path) -> None:
    world = played(tmp_path)
    expect_a_whole_match(world)
    assert world.lives == 1
    # Whoever owes nothing is not written to: an invitation, one letter for each decision, and the end.
    decisions = Counter(agent for agent, _ in world.actions())
    letters = Counter(item.to[0] for item in world.journal().outbox())
    for seat, address in SEATS.items():
        assert letters[address] <= decisions[seat] + 2


def test_what_was_said_reaches_the_agents_in_order_and_once(tmp_path: Path) -> None:
    world = played(tmp_path, weather=ROUGH)
    assert world.host is not None
    for seat, player in world.seats.items():
        memory = player.agents.memories[seat]
        assert isinstance(memory, AgentMemory)
        view = world.host.table.match.view(seat)
        heard = [(each["round"], each["player_id"]) for each in memory.all_descriptions]
        assert len(heard) == len(set(heard))
        if view["me"]["alive"]:
            assert len(heard) == sum(len(each["description_history"]) for each in view["players"])


def test_rough_weather_changes_nothing_but_the_time(tmp_path: Path) -> None:
    rough = played(tmp_path, weather=ROUGH)
    expect_a_whole_match(rough)
    assert rough.clock.now() - START > timedelta(hours=1)


@pytest.mark.parametrize("share", [0.03, 0.21, 0.39, 0.57, 0.75, 0.93])
def test_a_host_that_dies_at_any_moment_goes_on_from_its_journal(tmp_path: Path, share: float) -> None:
    whole = played(tmp_path / "whole")
    point = int(whole.reaper.points * share)
    world = played(tmp_path / "killed", is_fatal=lambda number: number in (point, point + 1, point + 2))
    assert world.lives > 1
    expect_a_whole_match(world)
    assert world.actions() == whole.actions()


def test_a_host_that_dies_all_the_time_in_rough_weather_still_ends_its_match(tmp_path: Path) -> None:
    # At random: at every 20th point a host could die in each life while it begins the same send.
    world = played(tmp_path, weather=ROUGH, is_fatal=lambda number: Draw(1, f"point {number}").chance(0.05))
    assert world.lives > 20
    expect_a_whole_match(world)


def test_players_that_start_anew_all_the_time_play_on(tmp_path: Path) -> None:
    world = World(tmp_path)
    for _ in range(5_000):
        busy = world.live(RunningHost.tick)
        for seat, address in SEATS.items():
            agent = ScriptedAgent("undercover", seed=5, agent_id=seat)
            world.seats[seat] = RunningSeat(
                agent, world.office.mailbox(address), world.seat_journals[address], HOST, clock=world.clock
            )
            busy = world.seats[seat].tick() or busy
        if not busy:
            break
    assert world.host is not None
    assert world.host.is_done
    assert world.host.table.match.outcome() is not None


def test_nobody_is_sent_anothers_word_or_role_or_the_seed(tmp_path: Path) -> None:
    world = played(tmp_path)
    assert world.host is not None
    match = world.host.table.match
    words = {seat: match.view(seat)["me"]["word"] for seat in SEATS}
    secrets = set(WORDS["pair"])
    letters = list(world.journal().outbox())
    for item in letters:
        seat = item.document["agent_id"]
        text = json.dumps(item.document, ensure_ascii=False)
        if item.message_type == "over":
            continue
        (other,) = secrets - {words[str(seat)]}
        assert other not in text
        assert '"role"' not in text
        assert '"seed"' not in text
    assert sum(item.message_type == "over" for item in letters) == len(SEATS)


def test_whoever_does_not_answer_abstains_when_the_time_is_over(tmp_path: Path) -> None:
    world = World(tmp_path)
    del world.seats["agent_3"]
    world.play()
    assert world.host is not None
    lines = world.transcript()
    silent = [line for line in lines if line["line"] == "decision" and line["agent"] == "agent_3"]
    assert silent
    assert {line["cause"] for line in silent} <= {"timeout", "disconnected"}
    assert world.clock.now() - START >= timedelta(hours=24)
    assert replay(lines, game_of("undercover"), match_of).difference is None


def test_a_match_over_gmail(tmp_path: Path) -> None:
    """Three mailboxes of a local Gmail and three agents of the host, with senders checked as in the league."""
    clock_addresses = {seat: SEATS[seat] for seat in ("agent_1", "agent_4", "agent_6")}
    with Sandbox([HOST, *clock_addresses.values()], seed="by mail") as gmail:
        opened = {
            address: GmailMailbox(gmail.token_file(address, tmp_path), endpoint=gmail.url, address=address)
            for address in (HOST, *clock_addresses.values())
        }
        clock = opened[HOST].clock
        journal = SqliteJournal(tmp_path / "host.db", role=ROLE, address=HOST, dump=dump_part, synchronous="NORMAL")
        host = RunningHost(
            opened[HOST],
            journal,
            clock,
            intake=SenderCheck(HOST, "mx.google.com", Require.PASS),
            setup=setup(addresses=clock_addresses),
            agent_of=lambda made, seat: ScriptedAgent("undercover", seed=made.seed, agent_id=seat),
            memory_for=lambda _game: AgentMemory(),
        )
        seats = [
            RunningSeat(
                ScriptedAgent("undercover", seed=5, agent_id=seat),
                opened[address],
                MemoryJournal(dump=dump_part),
                HOST,
                clock=opened[address].clock,
                intake=SenderCheck(address, "mx.google.com", Require.PASS),
            )
            for seat, address in clock_addresses.items()
        ]
        try:
            host.start()
            for _ in range(400):
                host.tick()
                for seat in seats:
                    seat.tick()
                if host.is_done and all(seat.is_over for seat in seats):
                    break
            outcome = host.table.match.outcome()
            assert outcome is not None
            assert [seat.winners for seat in seats] == [list(outcome.winners)] * 3
        finally:
            journal.close()
            for mailbox in opened.values():
                mailbox.close()
    assert gmail.failures == ()
