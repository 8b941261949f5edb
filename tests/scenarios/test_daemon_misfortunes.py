"""An unlucky operator: authorizations that end, full disks, clocks that jump, services that go away, haste."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from google.auth import _exponential_backoff

from league_agents.games.q21.model import Termination
from league_agents.journal.port import InboxVerdict, Journal, Note, OutboxState
from league_agents.league.machines.manager.state import SeasonPhase
from league_agents.local_league.league import MANAGER, LeagueProcess, LocalLeague, four_seats, unhurried
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.mail import mime
from league_agents.runner.outbox import LONGEST_PAUSE, SHOWS_UP, UNDER_WAY
from league_agents.sandbox.faults import LONGEST_WAIT_S, Fault, FaultAction
from tests.support.latency import VERDICT, free_text
from tests.support.turns import Turns, in_turns, turns


@pytest.fixture
def league(tmp_path: Path) -> Iterator[LocalLeague]:
    with in_turns(tmp_path / "league", four_seats()) as made:
        yield made


@pytest.fixture
def daemons(tmp_path: Path) -> Iterator[LocalLeague]:
    with unhurried(tmp_path / "league", four_seats(), keeps_mail=True) as made:
        yield made


def journal_of(everybody: Turns, role: str) -> Journal:
    return next(live.role.wired.journal for live in everybody.lives if live.settings.role == role)


def has_sent(league: LocalLeague, seat: LeagueProcess, kind: str) -> bool:
    return any(kind in mail.view.header("subject") for mail in league.sandbox.mail(seat.address, "SENT"))


def the_match(everybody: Turns) -> Note:
    return next(note for note in journal_of(everybody, "manager").notes() if note.kind == "match")


def expect_nothing_lost_or_doubled(league: LocalLeague, everybody: Turns) -> None:
    report: dict[str, Any] = league.sandbox.report()
    assert report["accepted_twice"] == []
    for live in everybody.lives:
        states = {item.state for item in live.role.wired.journal.outbox()}
        assert states == {OutboxState.SENT}, live.settings.address
        assert league.sandbox.mail(live.settings.address, "UNREAD") == []


def is_sending(league: LocalLeague, seat: LeagueProcess) -> bool:
    """Whether a process of this seat waits for Gmail's reply to a message of its own."""
    journal = league.look_at_journal(seat)
    if journal is None:
        return False
    try:
        return any(item.state is OutboxState.SENDING for item in journal.outbox())
    finally:
        journal.close()


def is_all_sent(everybody: Turns) -> bool:
    items = [item for live in everybody.lives for item in live.role.wired.journal.outbox()]
    return all(item.state is OutboxState.SENT for item in items)


def finish(everybody: Turns) -> None:
    everybody.until(lambda: everybody.is_in(SeasonPhase.FINISHED))
    everybody.until_quiet()
    everybody.until(lambda: is_all_sent(everybody))
    everybody.until_quiet()


def test_an_authorization_that_ends_in_a_match_costs_nothing_once_there_is_a_new_one(league: LocalLeague) -> None:
    _, referee, *_ = league.seats
    with turns(league) as everybody:
        everybody.until(lambda: has_sent(league, referee, "Q21ROUNDSTART"))
        league.sandbox.withdraw(referee.address)
        stuck = next(live.role for live in everybody.lives if live.settings.role == "referee")
        everybody.until(lambda: bool(stuck.needs_authorization))
        assert "auth login --role referee" in stuck.needs_authorization
        league.sandbox.token_file(referee.address, league.folder).replace(league.folder / f"token_{referee.name}.json")
        finish(everybody)
        assert the_match(everybody).facts["termination"] == Termination.COMPLETED
        expect_nothing_lost_or_doubled(league, everybody)


def test_a_gmail_that_fails_in_many_calls_only_costs_time(league: LocalLeague, monkeypatch: pytest.MonkeyPatch) -> None:
    # Google's library sleeps between two requests for a token, on a clock that is not ours.
    monkeypatch.setattr(_exponential_backoff, "time", SimpleNamespace(sleep=lambda _seconds: None))
    for status in (429, 503):
        league.sandbox.add_fault(Fault(action=FaultAction.ERROR, status=status, every=7, retry_after_s=0.05))
    league.sandbox.add_fault(Fault(action=FaultAction.DROP_DONE, method="messages.send", calls=(4,)))
    league.sandbox.add_fault(Fault(action=FaultAction.EXPIRE_TOKEN, every=11))
    with turns(league) as everybody:
        everybody.until(lambda: has_sent(league, league.seats[1], "Q21ANSWERSBATCH"))
        league.sandbox.clear_faults()
        finish(everybody)
        assert the_match(everybody).facts["termination"] == Termination.COMPLETED
        expect_nothing_lost_or_doubled(league, everybody)


def test_a_full_disk_stops_a_role_and_room_lets_it_go_on_where_it_was(league: LocalLeague) -> None:
    with turns(league) as everybody:
        everybody.until(lambda: has_sent(league, league.seats[1], "Q21ROUNDSTART"))
        lives = {live.settings.role: live.role for live in everybody.lives}
        for role in ("referee", "manager"):
            full: Any = lives[role].wired.journal
            (pages,) = full._db.connection.execute("PRAGMA page_count").fetchone()
            full._db.connection.execute(f"PRAGMA max_page_count = {pages}")
        # The connection that is made after the failure has room again.
        finish(everybody)
        assert the_match(everybody).facts["termination"] == Termination.COMPLETED
        expect_nothing_lost_or_doubled(league, everybody)


class Recorded:
    """An observer that keeps the daemon's own notes."""

    def __init__(self) -> None:
        self.codes: Counter[str] = Counter()

    def received(self, role: str, row: object) -> None: ...

    def sent(self, role: str, item: object) -> None: ...

    def noted(self, role: str, note: Note) -> None:
        self.codes[note.key] += 1


@pytest.mark.parametrize("jump", [timedelta(hours=-1), timedelta(hours=1)], ids=str)
@pytest.mark.parametrize("who", range(4), ids=["manager", "referee", "player a", "player b"])
def test_a_machine_whose_clock_is_set_in_a_match_plays_on_as_before(
    league: LocalLeague, jump: timedelta, who: int
) -> None:
    assert league.clock is not None
    told = Recorded()
    with turns(league, observer=told) as everybody:
        everybody.until(lambda: has_sent(league, league.seats[1], "Q21ROUNDSTART"))
        league.clock.set_wall(jump, league.seats[who].name)
        finish(everybody)
        assert the_match(everybody).facts["termination"] == Termination.COMPLETED
        expect_nothing_lost_or_doubled(league, everybody)
    assert "role_failed" not in told.codes
    assert told.codes["clock_off"] == 1


def test_three_mails_with_one_message_id_get_one_and_the_same_answer(league: LocalLeague) -> None:
    player = league.seats[2]
    for _ in range(3):
        league.sandbox.inject(free_text(1, player.address), to=[player.address], sender=MANAGER, verdict=VERDICT)
    with turns(league, [player]) as one:
        one.until_quiet()
        rows = list(one.lives[0].role.wired.journal.inbox())
        answers = [item.document["message_id"] for item in one.lives[0].role.wired.journal.outbox()]
    assert [row.verdict for row in rows] == [InboxVerdict.PROCESSED] * 3
    assert len(set(answers)) == 1
    documents = [mime.read(mail.raw).documents for mail in league.sandbox.mail(player.address, "SENT")]
    assert documents
    assert all(document == documents[0] for document in documents)


def test_a_message_in_the_spam_folder_is_answered_too(league: LocalLeague) -> None:
    player = league.seats[2]
    league.sandbox.inject(
        free_text(1, player.address), to=[player.address], sender=MANAGER, verdict=VERDICT, labels=("SPAM", "UNREAD")
    )
    with turns(league, [player]) as one:
        one.until_quiet()
    assert len(league.sandbox.mail(player.address, "SENT")) == 1


def test_a_process_that_is_told_to_end_in_the_middle_of_a_send_finishes_it(daemons: LocalLeague) -> None:
    league, player = daemons, daemons.seats[2]
    league.sandbox.add_fault(Fault(action=FaultAction.WAIT, method="messages.send", seconds=1.5))
    league.sandbox.inject(free_text(1, player.address), to=[player.address], sender=MANAGER, verdict=VERDICT)
    league.start(player)
    league.until(lambda: is_sending(league, player), "the send is under way")
    league.processes[player.name].send_signal(signal.SIGTERM)
    assert league.processes[player.name].wait(LIMIT_S) == 0
    report: dict[str, Any] = league.sandbox.report()
    assert [keys["accepted"] for keys in report["sends"][player.address].values()] == [1]
    journal = league.look_at_journal(player)
    assert journal is not None
    assert {item.state for item in journal.outbox()} == {OutboxState.SENT}
    journal.close()


def test_of_two_scans_at_once_one_is_refused_and_the_mail_is_answered_once(daemons: LocalLeague) -> None:
    league, player = daemons, daemons.seats[2]
    league.sandbox.add_fault(Fault(action=FaultAction.WAIT, method="messages.send", seconds=LONGEST_WAIT_S))
    league.sandbox.inject(free_text(1, player.address), to=[player.address], sender=MANAGER, verdict=VERDICT)
    command, environment = league.command(player, "run", "--scan"), league.environment_of(player)
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as first:
        until(lambda: is_sending(league, player), "the first scan sends")
        second = league.run(player, "run", "--scan")
        assert first.poll() is None
        league.sandbox.clear_faults()
        first.communicate()
    assert (first.returncode, second.returncode) == (0, 4)
    (refused,) = second.stderr.decode().splitlines()
    assert "works on this" in refused
    assert len(league.sandbox.mail(player.address, "SENT")) == 1


def test_without_a_network_a_scan_says_so_and_a_watch_waits(daemons: LocalLeague) -> None:
    league, player = daemons, daemons.seats[2]
    assert league.clock is not None
    league.clock.set_rate(20)  # nothing is judged by time here, and there is much to be waited for
    settings = yaml.safe_load(league.config_of(player).read_text("utf-8"))
    settings["gmail"]["endpoint"] = "http://127.0.0.1:9"
    league.config_of(player).write_text(yaml.safe_dump(settings), "utf-8")
    done = league.run(player, "run", "--scan")
    assert done.returncode == 4
    line = done.stderr.decode().splitlines()[-1]  # before it, that something is waited for
    assert "127.0.0.1" in line or "Gmail" in line
    league.start(player)
    league.wait_for_log(player, "next look in")
    assert league.stop() == {player.name: 0}
    assert "Traceback" not in league.log_of(player).read_text("utf-8")


def test_a_mail_service_that_is_started_again_in_a_match_loses_nothing(daemons: LocalLeague) -> None:
    daemons.start_all()
    referee = daemons.seats[1]
    daemons.until(lambda: has_sent(daemons, referee, "Q21ROUNDSTART"), "the round starts")
    daemons.restart_sandbox(referee)
    assert daemons.clock is not None
    daemons.clock.advance(UNDER_WAY + SHOWS_UP + LONGEST_PAUSE)  # whatever is waited for is over
    season = daemons.wait_for_season()
    report: dict[str, Any] = daemons.sandbox.report()
    assert set(daemons.stop().values()) == {0}
    assert season.facts["termination"] == Termination.COMPLETED
    assert report["accepted_twice"] == []


@pytest.mark.parametrize("fate", ["gone", "replaced", "emptied"])
def test_a_daemon_whose_journal_goes_away_ends_and_says_so(tmp_path: Path, fate: str) -> None:
    seat = LeagueProcess(role="player", group="falcons")
    with LocalLeague(folder=tmp_path / "league", seats=[seat]) as league:
        league.start(seat)
        process, journal = league.processes[seat.name], league.journal_of(seat)
        league.until((league.folder / f"token_{seat.name}.json.journal").exists, "the journal is in use")
        if fate == "gone":
            journal.unlink()
        elif fate == "replaced":
            copy = journal.with_name("copy.db")
            copy.write_bytes(journal.read_bytes())
            copy.replace(journal)
        else:
            os.truncate(journal, 0)
        league.sandbox.inject(free_text(1, seat.address), to=[seat.address], sender=MANAGER, verdict=VERDICT)
        assert process.wait(LIMIT_S) == 3
        last = league.log_of(seat).read_text("utf-8").splitlines()[-1]
        said = {"gone": "is gone", "replaced": "was replaced", "emptied": "was emptied|is damaged"}[fate]
        assert re.search(rf"^league-agents: {re.escape(str(journal))}: ({said}) ", last)
