"""A league manager, a referee and two players, each a process of its own, over Gmail's API on this machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from league_agents.cli import command_line
from league_agents.games.q21.rules import PRD
from league_agents.kit.clock import TEST_CLOCK_VARIABLE, follow
from league_agents.kit.errors import LeagueError
from league_agents.local_league.league import LeagueProcess, LocalLeague, four_seats, unhurried
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.report.match import match_document


def the_match(league: LocalLeague) -> dict[str, Any]:
    participants = league.participants()
    try:
        manager, referee, *players = participants
        return match_document("0101001", seed=0, rules=PRD.name, manager=manager, referee=referee, players=players)
    finally:
        for participant in participants:
            participant.journal.close()


def expect_nothing_was_sent_twice(league: LocalLeague) -> None:
    report: dict[str, Any] = league.sandbox.report()
    assert report["accepted_twice"] == []
    participants = league.participants()
    states = {item.state.value for participant in participants for item in participant.journal.outbox()}
    for participant in participants:
        participant.journal.close()
    assert states == {"sent"}


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii")
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_season_is_played_by_four_processes_that_end_when_they_are_asked(tmp_path: Path) -> None:
    with unhurried(tmp_path / "league", four_seats()) as league:
        league.start_all()
        league.wait_for_season()
        codes = league.stop()
        expect_nothing_was_sent_twice(league)
    assert codes == {"manager": 0, "referee-house": 0, "player-falcons": 0, "player-otters": 0}
    document = the_match(league)
    assert document["match"]["status"] == "completed"
    assert [row["participant_id"] for row in document["standings"]] == ["falcons", "otters"]
    for seat in league.seats:
        log = league.log_of(seat).read_text("utf-8")
        assert "stopped" in log
        assert "Traceback" not in log


def test_a_process_that_cannot_start_says_why_through_the_league(tmp_path: Path) -> None:
    seat = LeagueProcess(role="player", group="falcons", agent="nobody")
    with unhurried(tmp_path / "league", [seat]) as league:
        league.start(seat)
        with pytest.raises(LeagueError, match=r"ended with code 3 before .*: nobody: is no agent; write"):
            league.wait_for_log(seat, "watching")


def test_the_script_shows_the_standings_and_leaves_nothing_running(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "league_agents.cli.show_league", "--folder", str(tmp_path / "league")]
    agents = ["--referee", "scripted", "--player-a", "scripted", "--player-b", "scripted"]
    done = subprocess.run([*command, *agents], cwd=tmp_path, capture_output=True, timeout=LIMIT_S, check=False)
    assert done.returncode == 0, done.stderr
    shown = done.stdout.decode()
    assert "Falcons" in shown
    assert "Otters" in shown
    record = json.loads((tmp_path / "league" / "match.json").read_text("utf-8"))
    assert record["match"]["status"] == "completed"
    pids = [int(pid) for pid in re.findall(r"\(process (\d+)\)", done.stderr.decode())]
    assert len(pids) == 4
    assert not any(is_alive(pid) for pid in pids)


def test_the_processes_of_a_killed_league_end_and_those_that_a_person_started_go_on(tmp_path: Path) -> None:
    program = """\
import os, signal, subprocess, sys, threading
from pathlib import Path
from league_agents.local_league.league import LeagueProcess, unhurried

player, other = (LeagueProcess(role="player", group=group) for group in ("falcons", "otters"))
with unhurried(Path(sys.argv[1]), [player, other]) as league:
    starter = threading.Thread(target=league.start, args=(player,))
    starter.start()
    starter.join()  # and a process does not end with the thread that started it
    league.wait_for_log(player, "watching")
    with league.log_of(other).open("ab") as log:
        by_hand = subprocess.Popen(league.command(other, "run", "--watch"), cwd=league.folder, stdin=subprocess.DEVNULL,
                                   env=league.environment_of(other), stdout=log, stderr=log)
    league.wait_for_log(other, "watching")
    print(league.processes[player.name].pid, by_hand.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "league")]
    killed = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=False)
    assert killed.returncode == -signal.SIGKILL
    daemon, by_hand = map(int, killed.stdout.split())
    try:
        until(lambda: not is_alive(daemon), "the process of the league is gone")
        assert is_alive(by_hand)
    finally:
        os.kill(by_hand, signal.SIGKILL)


def test_a_second_process_on_the_same_mailbox_or_journal_is_refused(tmp_path: Path) -> None:
    seats = [LeagueProcess(role="manager", group=""), LeagueProcess(role="player", group="falcons")]
    with unhurried(tmp_path / "league", seats) as league:
        player = seats[1]
        league.start(player)
        league.wait_for_log(player, "watching")
        copy = league.config_of(player).with_name("copy.yaml")
        copy.write_text(league.config_of(player).read_text("utf-8").replace("player-falcons.db", "other.db"), "utf-8")
        for config, word in ((league.config_of(player), "works on this journal"), (copy, "works on this mailbox")):
            second = league.run(player, "run", "--scan", config=config)
            assert second.returncode == 4
            (line,) = second.stderr.decode().splitlines()
            assert word in line
        # A killed process leaves no lock behind.
        league.kill(player)
        again = league.run(player, "run", "--scan", "--once-quiet")
        assert (again.returncode, again.stdout) == (0, b""), again.stderr


def test_one_process_may_run_two_roles_and_a_player_may_play_by_scans_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seats = four_seats()
    with unhurried(tmp_path / "league", seats) as league:
        manager, referee, falcons, otters = seats
        # The otters' player shares a process with the house's referee; the falcons' one is started when it has mail.
        team = yaml.safe_load(league.config_of(referee).read_text("utf-8"))
        team["roles"] |= yaml.safe_load(league.config_of(otters).read_text("utf-8"))["roles"]
        league.config_of(referee).write_text(yaml.safe_dump(team), "utf-8")
        league.start(referee)
        league.start(manager)

        def has_mail() -> bool:
            return bool(league.sandbox.mail(falcons.address, "UNREAD"))

        scan = ["run", "--scan", "--once-quiet", "--log-level", "WARNING"]
        scanned = league.run(falcons, *scan)
        assert (scanned.returncode, scanned.stdout) == (0, b""), scanned.stderr
        environment = league.environment_of(falcons)
        monkeypatch.setenv("LEAGUE_AGENTS_DATA", environment["LEAGUE_AGENTS_DATA"])
        while league.season() is None or has_mail():
            # Another scan knows nothing but the journal, so it may as well begin in this process.
            with follow(Path(environment[TEST_CLOCK_VARIABLE])):
                again = CliRunner().invoke(command_line, [*scan, "--config", str(league.config_of(falcons))])
            assert (again.exit_code, again.stdout) == (0, ""), again.stderr
            league.until(lambda: has_mail() or league.season() is not None, "the falcons are written to")
        league.wait_for_season()
        assert set(league.stop().values()) == {0}
        expect_nothing_was_sent_twice(league)
    document = the_match(league)
    assert document["match"]["status"] == "completed"
    assert len(document["standings"]) == 2
