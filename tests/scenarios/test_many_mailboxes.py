"""One process serves many mailboxes: each one's trouble is its own, and the files may change while it runs."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from league_agents.app.running_roles import Changes, RunningRoles
from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.config.league_folder import LeagueFiles
from league_agents.local_league.league import DOMAIN, MANAGER
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.runner.lock import FileLock, is_locked
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.server import Sandbox
from tests.support.latency import VERDICT, free_text
from tests.support.mailboxes import Heard, entry, files_in, reload, role_at, running, status_of, write_file

OFFICE = MANAGER
GROUPS = ("a", "b", "c")
IN_TROUBLE = ("refused", "revoked", "flooded", "damaged", "broken")
NAMES = ("new", *IN_TROUBLE, *(f"{kind}{group}" for kind in ("p", "r") for group in GROUPS))
FLOOD = 60


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    with Sandbox([OFFICE, *(f"{name}@{DOMAIN}" for name in NAMES)]) as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path, sandbox: Sandbox) -> Path:
    """A league of three teams in one file."""
    folder = tmp_path / "leagues"
    season = {
        "id": "S",
        "teams": [{"group_id": g, "player": f"p{g}@{DOMAIN}", "referee": f"r{g}@{DOMAIN}"} for g in GROUPS],
        "schedule": "swiss",
        "rounds": 1,
    }
    roles = {
        "manager": {"address": OFFICE},
        "referee": [entry(f"r{group}") for group in GROUPS],
        "player": [entry(f"p{group}", group_id=group) for group in GROUPS],
    }
    write_file(folder / "league.yaml", sandbox, roles, season=season)
    return folder


def test_a_league_is_played_beside_mailboxes_in_every_trouble(sandbox: Sandbox, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(
        "class BrokenPlayer:\n"
        "    def get_warmup_answer(self, context): ...\n"
        "    def get_questions(self, context): ...\n"
        "    def get_guess(self, context): ...\n"
        "    def on_score_received(self, context): ...\n"
        "    def __init__(self): raise ValueError('not today')\n",
        "utf-8",
    )
    players = [
        *(entry(name) for name in IN_TROUBLE if name != "broken"),
        entry("broken", f"{tmp_path / 'agent.py'}:BrokenPlayer"),
    ]
    write_file(folder / "trouble.yaml", sandbox, {"player": players})
    (folder / "player-damaged.db").write_bytes(b"no database" * 1_000)
    sandbox.add_fault(
        Fault(action=FaultAction.ERROR, status=429, reason="rateLimitExceeded", account=f"refused@{DOMAIN}")
    )
    sandbox.withdraw(f"revoked@{DOMAIN}")
    for number in range(FLOOD):
        to = f"flooded@{DOMAIN}"
        sandbox.inject(free_text(number, to), to=[to], sender=OFFICE, verdict=VERDICT)
    heard = Heard()
    with running(folder, heard, most_threads=2) as roles:
        until(lambda: "season" in heard.kinds(f"manager {OFFICE}"), "the season is over")
        files = list(roles.files.values())
        trouble = {name: status_of(*role_at(files, name)) for name in IN_TROUBLE}
        until(lambda: "authorization_needed" in heard.codes("player revoked"), "the revoked one is named")
        until(lambda: "mailbox_unavailable" in heard.codes("player refused"), "the refused one is named")
        assert heard.codes("player damaged") == ["set_aside"]
        assert heard.codes("player broken") == ["set_aside"]
        assert trouble["damaged"].state == "its journal cannot be used"
        # The flooded one is at it, and nobody waits for it.
        until(lambda: heard.received_by["player flooded"] >= FLOOD, "the flood is taken in")
        sandbox.token_file(f"revoked@{DOMAIN}", folder).replace(role_at(files, "revoked")[1].token)
        until(lambda: "authorized" in heard.codes("player revoked"), "the new login is taken up")
        until(lambda: not status_of(*role_at(files, "revoked")).stuck, "its status says so")
    for kind in ("p", "r"):
        for group in GROUPS:
            name = f"{'player' if kind == 'p' else 'referee'} {kind}{group}"
            assert not {"set_aside", "role_failed", "mailbox_unavailable"} & set(heard.codes(name)), name


def test_roles_are_added_changed_and_removed_while_it_runs(sandbox: Sandbox, folder: Path) -> None:
    other = write_file(folder / "other.yaml", sandbox, {"player": [entry("new"), entry("flooded")]})
    heard = Heard()
    with running(folder, heard) as roles:
        files = list(roles.files.values())
        new, flooded = role_at(files, "new")[1], role_at(files, "flooded")[1]
        until(lambda: is_locked(new.token) and is_locked(flooded.token), "both run")
        write_file(folder / "other.yaml", sandbox, {"player": [entry("new"), entry("revoked")]})
        changes = reload(roles, folder)
        assert (changes.added, changes.changed, changes.removed) == (("player revoked",), (), ("player flooded",))
        until(lambda: not is_locked(flooded.token), "the removed one is closed")
        assert is_locked(new.token)

        other.write_text("roles: {player: [{adress: x@league.test}]}", "utf-8")
        files_now = files_in(folder, roles.files)
        assert "did you mean 'address'" in str(files_now.wrong[other])
        assert str(roles.apply(files_now)) == "nothing has changed"
        assert is_locked(new.token)

        write_file(other, sandbox, {"player": [entry("new", display_name="Newcomer"), entry("revoked")]})
        assert reload(roles, folder).changed == ("player new",)
        other.unlink()
        assert set(reload(roles, folder).removed) == {"player new", "player revoked"}
        until(lambda: not is_locked(new.token), "the whole file is closed")
        write_file(other, sandbox, {"player": [entry("new")]})
        assert reload(roles, folder).added == ("player new",)
        until(lambda: is_locked(new.token), "it runs again")
        assert len(roles) == 8
    assert not is_locked(new.token)
    assert not {"role_failed", "set_aside"} & {code for name in NAMES for code in heard.codes(f"player {name}")}


def test_a_mailbox_that_another_process_works_on_is_taken_over_when_that_ends(sandbox: Sandbox, folder: Path) -> None:
    write_file(folder / "other.yaml", sandbox, {"player": [entry("new")]})
    _, new = role_at(files_in(folder).read, "new")
    lock = FileLock(new.token)
    heard = Heard()
    with running(folder, heard) as roles:
        until(lambda: "role_failed" in heard.codes("player new"), "the other process is named")
        lock.release()
        until(lambda: status_of(*role_at(list(roles.files.values()), "new")).polled_at, "it polls")


def command(*words: str) -> Result:
    return CliRunner().invoke(command_line, words)


def test_a_person_looks_at_all_mailboxes_and_has_the_files_read_again(
    sandbox: Sandbox, folder: Path, tmp_path: Path
) -> None:
    where = ("--config", str(folder))
    write_file(folder / "other.yaml", sandbox, {"player": [entry("refused"), entry("damaged")]})
    (folder / "player-damaged.db").write_bytes(b"no database" * 1_000)
    sandbox.add_fault(
        Fault(action=FaultAction.ERROR, status=429, reason="rateLimitExceeded", account=f"refused@{DOMAIN}")
    )
    (folder / "wrong.yaml").write_text("roles: {plaier: {}}", "utf-8")
    none = command("manage", "reload", *where)
    assert (none.exit_code, "no process of this machine works on these mailboxes" in none.stderr) == (1, True)
    log = tmp_path / "log"
    program = [sys.executable, "-m", "league_agents.kit.lifeline", "league_agents", "run", "--watch", *where]
    with log.open("wb") as file:
        daemon = subprocess.Popen(program, stdin=subprocess.PIPE, stderr=file)

    def said(*words: str) -> bool:
        return any(all(word in line for word in words) for line in log.read_text("utf-8").splitlines())

    def hear(*words: str) -> None:
        until(lambda: said(*words) or daemon.poll() is not None, f"the log says {words}", story=log.read_text)
        assert said(*words), log.read_text()

    with daemon:
        try:
            hear("watching 9 mailboxes")
            hear("did you mean 'player'", "nothing of it runs")
            hear("player damaged ERROR", "is damaged or no journal")
            hear("player refused WARNING", "next look in")
            hear("referee ra", "received BROADCAST_ASSIGNMENT_TABLE")

            def lines() -> dict[str, Any]:
                shown = command("status", "--all", "--json", *where)
                assert shown.exit_code == 3, "a file and a journal cannot be used"
                document = json.loads(shown.stdout)
                assert [each["file"] for each in document["wrong_files"]] == [str(folder / "wrong.yaml")]
                return {line["address"].partition("@")[0]: line for line in document["mailboxes"]}

            # A process stores what it knows of a role now and then.
            until(lambda: lines()["refused"]["trouble"], "the trouble is stored")
            found = lines()
            assert len(found) == 9
            assert found["damaged"]["state"] == "its journal cannot be used"
            assert "is damaged or no journal" in found["damaged"]["trouble"]
            assert {name: found[name]["trouble"] for name in ("pa", "ra", "league-office")} == dict.fromkeys(
                ("pa", "ra", "league-office"), ""
            )
            assert found["ra"]["name"] == "ra"
            table = command("status", "--all", *where)
            assert re.search(r"player damaged +damaged@league\.test", table.stdout)
            assert re.search(r"9 mailboxes, \d running, 2 in trouble, \d+ open games", table.stdout)

            (folder / "wrong.yaml").unlink()
            write_file(folder / "other.yaml", sandbox, {"player": [entry("new"), entry("damaged")]})
            assert command("manage", "reload", *where).exit_code == 0
            hear("added player new", "removed player refused")
            (folder / "other.yaml").unlink()
            daemon.send_signal(signal.SIGHUP)
            hear("removed player damaged, player new")
            assert not said("changed"), "a folder with one file left is a folder all the same"
        finally:
            daemon.send_signal(signal.SIGTERM)
            assert daemon.wait(LIMIT_S) == 0, log.read_text()
    assert not said("Traceback")


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_second_process_is_told_of_the_first_and_not_of_its_port(
    sandbox: Sandbox, tmp_path: Path, is_listed: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        players = [entry("new"), entry("broken")] if is_listed else entry("new")
        path = write_file(tmp_path / "one" / "league.yaml", sandbox, {"player": players}, metrics=where)
        locks = [FileLock(role.token) for role in read_league_file(path, {}).roles]
        for lock in locks:
            lock.path.write_text("1\n", "ascii")
        second = command("run", "--watch", "--config", str(path))
        assert "process 1 works on these mailboxes already; stop it first" in second.stderr
        assert (second.exit_code, where in second.stderr) == (4, False)
        for lock in locks:
            lock.release()
        assert f"{where} cannot be used" in command("run", "--watch", "--config", str(path)).stderr


def test_a_reload_that_meets_a_bug_ends_no_mailbox(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = RunningRoles.apply, []

    def apply(roles: RunningRoles, files: LeagueFiles) -> Changes:
        seen.append(files)
        if len(seen) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            raise ZeroDivisionError("a bug")
        changes = real(roles, files)
        os.kill(os.getpid(), signal.SIGHUP)
        return changes

    monkeypatch.setattr(RunningRoles, "apply", apply)
    ended = command("run", "--watch", "--config", str(folder))
    assert (ended.exit_code, len(seen)) == (0, 2), ended.output
    assert "ZeroDivisionError: a bug; everything stays as it was" in ended.stderr


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("run", "--scan"), "--scan takes one league file"),
        (("run", "--test-connectivity"), "--test-connectivity takes one league file"),
        (("status", "--mailbox", "x@league.test"), "--mailbox is for one league file"),
        (("manage", "reload", "--why", "so"), "'reload' takes only --config"),
    ],
)
def test_what_does_not_go_with_a_folder_is_said(folder: Path, words: tuple[str, ...], what: str) -> None:
    shown = command(*words, "--config", str(folder))
    assert (shown.exit_code, what in shown.stderr) == (2, True), shown.output


def test_a_file_of_one_mailbox_is_not_reloaded(sandbox: Sandbox, tmp_path: Path) -> None:
    path = write_file(tmp_path / "one" / "league.yaml", sandbox, {"player": entry("new")})
    shown = command("manage", "reload", "--config", str(path))
    assert shown.exit_code == 3
    assert "is read at the start of its process only" in shown.stderr
