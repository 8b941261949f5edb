"""The daemon's commands against Gmail's API on this machine: connectivity, authorization, status, scan."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from league_agents.app.connectivity import check_everything
from league_agents.app.metrics import shown_name
from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.kit.clock import SystemClock
from league_agents.local_league.league import MANAGER
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.sandbox.faults import Fault, FaultAction
from league_agents.sandbox.server import Sandbox
from tests.support.authorizing import redirect_of
from tests.support.latency import VERDICT, free_text
from tests.support.mailboxes import write_file

PLAYER = "falcons@league.test"
OTHER = "owls@league.test"
OFFICE = MANAGER


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox([PLAYER, OFFICE]) as made:
        yield made


@pytest.fixture
def player(sandbox: Sandbox, tmp_path: Path) -> Path:
    """The league file of a player with everything that it needs."""
    sandbox.client_secret_file(tmp_path)
    sandbox.token_file(PLAYER, tmp_path).replace(tmp_path / "token_player.json")
    return write(tmp_path, sandbox)


def write(folder: Path, sandbox: Sandbox, **changes: Any) -> Path:
    settings: dict[str, Any] = {
        "league": {"manager_email": OFFICE},
        "gmail": {"endpoint": sandbox.url, "timeout_seconds": 5},
        "roles": {"player": {"address": PLAYER, "group_id": "falcons", "agent": "scripted"}},
    }
    path = folder / "league.yaml"
    path.write_text(yaml.safe_dump({**settings, **changes}), "utf-8")
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, arguments)


def connectivity() -> tuple[int, dict[str, tuple[str, str]]]:
    """The exit code, and by name of the check whether it holds and what was said."""
    shown = run("run", "--test-connectivity")
    lines = [re.fullmatch(r"(ok|WRONG|warning) +(?:(?:player) +)?(\S+(?: \S+)?) {2,}(.*)", line) for line in
             shown.stdout.splitlines()]  # fmt: skip
    assert all(lines), shown.output
    return shown.exit_code, {line[2]: (line[1], line[3]) for line in lines if line}


def test_everything_holds_and_is_measured(player: Path) -> None:
    code, found = connectivity()
    assert code == 0
    assert {mark for mark, _ in found.values()} == {"ok"}
    files = ["configuration", "credentials", "agent", "model", "disk", "journal", "token file", "token age", "scopes"]
    assert list(found) == [*files, "profile", "round trip", "clock", "quota"]
    assert re.search(r"came back in \d+\.\d s", found["round trip"][1])
    assert "499 sends left today, enough for about 124 matches of a player" in found["quota"][1]


def test_without_a_token_the_command_is_named_and_the_code_says_so(player: Path, tmp_path: Path) -> None:
    (tmp_path / "token_player.json").unlink()
    code, found = connectivity()
    assert code == 5
    assert "league-agents auth login --role player" in found["token"][1]
    assert found["mailbox"][0] == "WRONG"


def test_a_withdrawn_authorization_is_told_from_a_broken_connection(player: Path, sandbox: Sandbox) -> None:
    sandbox.withdraw(PLAYER)
    code, found = connectivity()
    assert (code, found["mailbox"][0]) == (5, "WRONG")
    assert "auth login" in found["mailbox"][1]


ADVICE = "check the connection"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault(action=FaultAction.ERROR, status=403, reason="domainPolicy", method="getProfile"), "administrator"),
        (
            Fault(action=FaultAction.ERROR, status=403, reason="forbidden", method="getProfile"),
            "refuses the request (403",
        ),
        (Fault(action=FaultAction.ERROR, status=429, method="messages.send"), "429"),
        (Fault(action=FaultAction.ERROR, status=503, method="messages.get", retry_after_s=60), "has a failure (503"),
    ],
)
def test_a_service_that_answers_blames_no_connection(player: Path, sandbox: Sandbox, fault: Fault, said: str) -> None:
    sandbox.add_fault(fault)
    _, found = connectivity()
    mark, words = found["mailbox"]
    assert (mark, said in words, ADVICE in words) == ("WRONG", True, False), words


def test_an_answer_that_is_nonsense_sends_a_person_to_the_connection(player: Path, sandbox: Sandbox) -> None:
    sandbox.add_fault(Fault(action=FaultAction.GARBLE, method="messages.send"))
    assert "may have been sent" in connectivity()[1]["mailbox"][1]
    sandbox.clear_faults()
    sandbox.add_fault(Fault(action=FaultAction.TRUNCATE, method="messages.get"))
    assert ADVICE in connectivity()[1]["mailbox"][1]


def test_a_server_that_is_no_gmail_is_named(player: Path, sandbox: Sandbox) -> None:
    sandbox.add_fault(Fault(action=FaultAction.ERROR, status=404, method="getProfile"))
    code, found = connectivity()
    said = f"{sandbox.url} does not know Gmail's methods"
    assert (code, said in found["mailbox"][1], "gmail.endpoint" in found["mailbox"][1]) == (4, True, True)
    assert said in run("run", "--scan").stderr


def test_a_name_that_cannot_be_resolved_is_told_as_such(
    player: Path, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve = socket.getaddrinfo

    def unresolved(host: str, *arguments: Any, **options: Any) -> Any:
        if host == "gmail.league.test":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return resolve(host, *arguments, **options)

    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    write(tmp_path, sandbox, gmail={"endpoint": "https://gmail.league.test"})
    said = connectivity()[1]["mailbox"][1]
    assert said.endswith("the name gmail.league.test cannot be resolved; check the network and its DNS")


def test_a_mail_that_went_to_spam_is_a_warning(player: Path, sandbox: Sandbox) -> None:
    sandbox.add_fault(Fault(action=FaultAction.SPAM, method="delivery"))
    code, found = connectivity()
    mark, said = found["round trip"]
    assert (code, mark, "in the spam folder" in said) == (0, "warning", True)


def test_whoever_is_waited_for_is_named_before_the_wait(player: Path, sandbox: Sandbox) -> None:
    address = sandbox.url.removeprefix("http://")
    told: list[str] = []

    def awaiting(role: str, who: str) -> None:
        told.append(f"{role} {who}")

    for check in check_everything(read_league_file(player, {}), SystemClock(), awaiting=awaiting):
        told += [check.name]
    waits = {told[at + 1]: who for at, who in enumerate(told) if "waiting" in who}
    assert waits == {
        "profile": f"player waiting for {address}, at most 5 s for each answer",
        "round trip": "player waiting for a mail to itself, at most 30 s after it was sent",
    }
    line = f"waiting for {address}, at most 5 s for each answer"
    for command in ("run --test-connectivity", "run --scan", "auth login"):
        assert line in run(*command.split()).stderr
    assert run("run", "--scan", "--once-quiet").stderr == ""


@pytest.mark.parametrize("command", ["run --scan", "run --test-connectivity", "auth status", "status", "config check"])
def test_a_command_that_is_named_reads_the_same_league_file(player: Path, tmp_path: Path, command: str) -> None:
    player.rename(tmp_path / "my league.yaml")
    (tmp_path / "token_player.json").unlink()
    shown = run(*command.split(), "--config", "my league.yaml")
    named = re.findall(r"auth login [^;]*", " ".join(shown.output.split()))
    assert named
    assert all(each.startswith("auth login --role player --config 'my league.yaml'") for each in named), named


def test_a_service_that_fails_is_no_matter_of_authorization(player: Path, sandbox: Sandbox) -> None:
    sandbox.add_fault(Fault(action=FaultAction.ERROR, status=400, method="getProfile"))
    code, found = connectivity()
    assert (code, found["mailbox"][0]) == (4, "WRONG")


@pytest.mark.parametrize(
    ("changes", "check", "said"),
    [
        ({"address": "Falcons@league.test"}, "profile", "spell it as Gmail does"),
        ({"address": OFFICE}, "profile", "the token belongs to"),
        ({"address": PLAYER, "agent": "nowhere:Bot"}, "agent", "nowhere"),
    ],
)
def test_a_wrong_setting_is_named(
    player: Path, sandbox: Sandbox, tmp_path: Path, changes: dict[str, Any], check: str, said: str
) -> None:
    write(tmp_path, sandbox, roles={"player": {"group_id": "falcons", **changes}})
    code, found = connectivity()
    assert code == 3
    assert found[check][0] == "WRONG"
    assert said in found[check][1]


def test_files_that_others_can_read_are_named_with_the_command_that_helps(player: Path, tmp_path: Path) -> None:
    (tmp_path / "token_player.json").chmod(0o644)
    code, found = connectivity()
    assert code == 3
    assert "chmod 600" in found["token file"][1]


def test_a_server_without_a_browser_is_authorized_by_pasting(player: Path, sandbox: Sandbox, tmp_path: Path) -> None:
    token = tmp_path / "token_player.json"
    token.unlink()
    assert run("auth", "status").exit_code == 5
    command = [sys.executable, "-m", "league_agents", "auth", "login", "--no-browser"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    assert address.startswith(f"{sandbox.url}/auth?")
    _, errors = process.communicate(f"{redirect_of(address)}\n", timeout=LIMIT_S)
    assert process.returncode == 0, errors
    assert f"{PLAYER} is authorized" in errors
    assert token.stat().st_mode & 0o777 == 0o600
    shown = run("auth", "status")
    assert shown.exit_code == 0
    assert re.search(r"\d+ s old, ends \d{4}-\d\d-\d\d ", shown.stdout)
    assert "every mailbox is authorized" in run("auth", "login").stderr
    assert run("auth", "logout").exit_code == 2
    assert "given back" in run("auth", "logout", "--role", "player").stderr
    assert not token.exists()


def test_a_login_that_nobody_answers_says_so(player: Path, tmp_path: Path) -> None:
    (tmp_path / "token_player.json").unlink()
    shown = run("auth", "login", "--no-browser")
    assert shown.exit_code == 5
    assert shown.stderr.count("address: ") == 1
    assert "no address was pasted" in shown.stderr


@pytest.mark.parametrize(
    ("command", "code"),
    [("auth status", 5), ("run --scan", 3), ("run --watch", 3), ("config check", 3), ("status", 0)],
)
def test_a_missing_client_file_is_named_before_the_login(player: Path, tmp_path: Path, command: str, code: int) -> None:
    (tmp_path / "token_player.json").unlink()
    (tmp_path / "client_secret.json").unlink()
    shown = run(*command.split())
    assert shown.exit_code == code
    assert re.search(r"client_secret\.json: there is no such file.*steps 1-3.*auth login", shown.output)


@pytest.mark.parametrize("command", [("config", "check"), ("run", "--scan"), ("run", "--test-connectivity")])
def test_a_file_that_says_the_examples_address_starts_nothing(
    player: Path, sandbox: Sandbox, tmp_path: Path, command: tuple[str, ...]
) -> None:
    write(tmp_path, sandbox, roles={"player": {"address": "falcons.player@gmail.com", "group_id": "falcons"}})
    shown = run(*command)
    assert shown.exit_code == 3
    assert "roles.player.address: still says the example's address" in shown.stderr
    assert not (tmp_path / "player.db").exists()


def test_an_endpoint_that_is_down_is_named(player: Path, sandbox: Sandbox) -> None:
    address = sandbox.url.removeprefix("http://")
    sandbox.stop()
    shown = run("run", "--scan")
    assert shown.exit_code == 4
    assert f"the connection to {address} broke" in shown.stderr


def test_a_check_looks_at_whose_journal_it_is(player: Path, sandbox: Sandbox, tmp_path: Path) -> None:
    assert "player.db (not made yet)" in run("config", "check").stdout
    assert run("run", "--scan").exit_code == 0
    assert "player.db (its own)" in run("config", "check").stdout
    write(tmp_path, sandbox, roles={"player": {"address": OFFICE, "group_id": "falcons", "agent": "scripted"}})
    shown = run("config", "check")
    assert shown.exit_code == 3
    assert f"is the journal of player {PLAYER}" in shown.stderr
    looked_at = run("status")
    assert (looked_at.exit_code, f"is the journal of player {PLAYER}" in looked_at.stdout) == (3, True)


def test_a_scan_of_an_empty_mailbox_may_be_silent(player: Path) -> None:
    quiet = run("run", "--scan", "--once-quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")
    told = run("run", "--scan")
    assert told.exit_code == 0
    assert "0 mails taken in, 0 sent" in told.stderr
    status = json.loads(run("status", "--json").stdout)
    (role,) = status["roles"]
    assert (role["state"], role["is_running"], role["open_games"]) == ("INIT_START_STATE", False, [])
    assert role["last_poll_s_ago"] < 60
    assert role["sends_left"] == 500


def test_a_scan_counts_what_it_did_and_status_keeps_when_that_was(player: Path, sandbox: Sandbox) -> None:
    sandbox.inject(free_text(1, PLAYER), to=[PLAYER], sender=OFFICE, verdict=VERDICT)
    assert "1 mail taken in, 1 sent" in run("run", "--scan").stderr
    first = json.loads(run("status", "--json").stdout)["roles"][0]
    assert first["last_received_at"] is not None
    assert first["last_sent_at"] is not None
    # Another process that finds nothing to do knows no less.
    assert "0 mails taken in, 0 sent" in run("run", "--scan").stderr
    second = json.loads(run("status", "--json").stdout)["roles"][0]
    assert (second["last_received_at"], second["last_sent_at"]) == (first["last_received_at"], first["last_sent_at"])
    assert second["last_poll_at"] > first["last_poll_at"]
    assert "never" not in next(line for line in run("status").stdout.splitlines() if "last mail" in line)


def test_status_before_the_first_start_says_so(player: Path) -> None:
    shown = run("status")
    assert shown.exit_code == 0
    assert "never started" in shown.stdout


def test_a_scan_without_authorization_says_what_to_do(player: Path, sandbox: Sandbox) -> None:
    sandbox.withdraw(PLAYER)
    shown = run("run", "--scan")
    assert shown.exit_code == 5
    assert "auth login" in shown.stderr


def test_a_watch_whose_only_role_needs_a_person_ends_with_the_code_for_that(player: Path, sandbox: Sandbox) -> None:
    sandbox.withdraw(PLAYER)
    shown = run("run", "--watch")
    assert shown.exit_code == 5
    assert shown.stderr.count("auth login") >= 1


def test_a_token_of_another_account_is_refused_before_anything_is_sent(
    player: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    sandbox.token_file(OFFICE, tmp_path).replace(tmp_path / "token_player.json")
    shown = run("run", "--scan")
    assert shown.exit_code == 5
    assert f"belongs to {OFFICE}" in shown.stderr
    report: dict[str, Any] = sandbox.report()
    assert report["sends"] == {}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--scan", "--watch"], "exclude each other"),
        (["--watch", "--seed", "3"], "--seed"),
        (["--watch", "--single-game"], "--single-game"),
        (["--single-game", "--config", "x.yaml"], "--config"),
        (["--watch", "--poll-interval", "0"], "poll-interval"),
        (["--watch", "--role", "umpire"], "umpire"),
    ],
)
def test_options_that_do_not_fit_are_named(arguments: list[str], said: str) -> None:
    shown = run("run", *arguments)
    assert shown.exit_code == 2
    assert said in shown.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_what_a_daemon_keeps_is_for_its_owner_only(player: Path, sandbox: Sandbox, tmp_path: Path) -> None:
    """A folder of earlier versions, which made files for everybody; the league file's own folder is the user's."""
    state, user = tmp_path / "state", tmp_path.stat().st_mode & 0o777
    state.mkdir(0o755)
    (tmp_path / "token_player.json").chmod(0o644)
    roles = {"player": {"address": PLAYER, "group_id": "falcons", "agent": "scripted", "journal": "state/player.db"}}
    write(tmp_path, sandbox, roles=roles)
    shown = run("run", "--scan", "--log-file", "daemon.log")
    assert shown.exit_code == 0, shown.output
    kept = [*state.iterdir(), tmp_path / "token_player.json", tmp_path / "daemon.log"]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}
    assert (state.stat().st_mode & 0o777, tmp_path.stat().st_mode & 0o777) == (0o700, user)
    said = (tmp_path / "daemon.log").read_text()
    assert said.count("now only you can") == 2
    assert "token_player.json: others could read it (mode 0644)" in said
    assert f"{state}: others could read it (mode 0755)" in said
    run("run", "--scan", "--log-file", "daemon.log")
    assert (tmp_path / "daemon.log").read_text().count("now only you can") == 2


def test_a_folder_that_is_not_there_is_made_by_a_person(player: Path, sandbox: Sandbox, tmp_path: Path) -> None:
    roles = {"player": {"address": PLAYER, "group_id": "falcons", "agent": "scripted", "journal": "state/player.db"}}
    write(tmp_path, sandbox, roles=roles)
    for command in ("config check", "run --scan"):
        shown = run(*command.split())
        assert (shown.exit_code, "mkdir -m 700" in shown.stderr) == (3, True)


def lost(folder: Path) -> None:
    (folder / "player.db").unlink()


def emptied(folder: Path) -> None:
    (folder / "player.db").write_bytes(b"")


def scribbled_over(folder: Path) -> None:
    path = folder / "player.db"
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[:4096] + b"\x5a" * (size - 4096))


def one_row_changed(folder: Path) -> None:
    with contextlib.closing(sqlite3.connect(folder / "player.db")) as db, db:
        db.execute("UPDATE kept SET value = '{' || value WHERE name = 'daemon'")


@pytest.mark.parametrize(
    ("befall", "said"),
    [
        (one_row_changed, r"player\.db: is damaged \(kept, name 'daemon': value: .*\); put a copy in its place"),
        (lost, r"player\.db: is gone, and falcons@league\.test has been played from it since .* to begin anew"),
        (emptied, r"player\.db: is empty, and falcons@league\.test has been played from it since"),
        (scribbled_over, r"player\.db: is damaged \(.*\); put a copy in its place, or name another file to begin anew"),
    ],
)
def test_a_journal_that_met_with_something_is_one_line_whoever_needs_it(
    player: Path, tmp_path: Path, befall: Callable[[Path], None], said: str
) -> None:
    assert run("run", "--scan").exit_code == 0
    assert "(its own)" in run("config", "check").stdout
    befall(tmp_path)
    content = (tmp_path / "player.db").read_bytes() if (tmp_path / "player.db").exists() else None
    for command in ("config check", "run --scan", "run --watch"):
        shown = run(*command.split())
        assert shown.exit_code == 3, shown.output
        (line,) = shown.stderr.splitlines()
        assert re.search(r"league\.yaml\.roles\.player\.journal: .*" + said, line)
    shown = run("status")
    assert shown.exit_code == 3
    assert re.search(r"NEEDS YOU +.*" + said, shown.stdout)
    assert "its journal cannot be used" in shown.stdout
    code, found = connectivity()
    assert code == 3
    assert re.search(said, found["journal"][1])
    now = (tmp_path / "player.db").read_bytes() if (tmp_path / "player.db").exists() else None
    assert now == content, "nothing was begun anew"


def one_page_lost(folder: Path) -> None:
    """A page of a table that nobody asks for the costs of models."""
    path = folder / "player.db"
    with contextlib.closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'notes'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\x5a" * size
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("befall", "said"),
    [(scribbled_over, "is damaged"), (one_page_lost, "is damaged"), (lost, "is gone"), (emptied, "is empty")],
)
def test_costs_of_a_damaged_journal_are_one_line(
    player: Path, tmp_path: Path, befall: Callable[[Path], None], said: str
) -> None:
    assert run("run", "--scan").exit_code == 0
    assert run("costs").exit_code == 0
    befall(tmp_path)
    shown = run("costs")
    assert shown.exit_code == 3
    assert re.search(rf"^league-agents: .*player\.db: {said}", shown.stderr)
    assert shown.stderr.count("\n") == 1


def test_costs_of_another_programs_database_are_refused(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "photos.db")) as db, db:
        db.execute("CREATE TABLE photos (name)")
    shown = run("costs", "--file", "photos.db")
    assert (shown.exit_code, "photos.db: is neither a journal nor a ledger" in shown.stderr) == (3, True)


def test_the_check_of_a_league_file_names_the_next_command(player: Path, tmp_path: Path) -> None:
    assert run("config", "check").stdout.endswith("league.yaml is right; next: league-agents run --test-connectivity\n")
    player.rename(tmp_path / "mine.yaml")
    (tmp_path / "token_player.json").unlink()
    shown = run("config", "check", "--config", "mine.yaml")
    assert shown.exit_code == 0
    assert shown.stdout.endswith("is right; next: league-agents auth login --role player --config mine.yaml\n")
    assert "token_player.json: there is no authorization yet" in shown.stdout
    both = yaml.safe_load((tmp_path / "mine.yaml").read_text("utf-8"))
    target = {"opening_sentence": "Call me Ishmael.", "associative_word": "whale"}
    both["roles"]["referee"] = {"address": "r@league.test", "id": "R", "agent": "scripted", "target": target}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(both), "utf-8")
    shown = run("config", "check", "--config", "mine.yaml")
    assert shown.stdout.endswith("is right; next: league-agents auth login --config mine.yaml\n"), shown.output


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean nothing there")
def test_the_check_of_a_league_file_warns_of_files_that_others_can_read(
    player: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=0123456789\n")
    (tmp_path / ".env").chmod(0o644)
    player.chmod(0o644)
    shown = run("config", "check")
    assert shown.exit_code == 0
    assert [line.partition(":")[0] for line in shown.stderr.splitlines()] == [str(Path(".env"))]
    assert "run 'chmod 600 .env'" in shown.stderr
    target = {"opening_sentence": "Call me Ishmael.", "associative_word": "whale"}
    referee = {"address": PLAYER, "id": "R", "agent": "scripted", "target": target, "token": "token_player.json"}
    write(tmp_path, sandbox, roles={"referee": referee})
    (tmp_path / "league.yaml").chmod(0o644)
    assert "run 'chmod 600 league.yaml'" in run("config", "check").stderr


def test_a_manager_of_another_season_names_the_key(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.client_secret_file(tmp_path)
    sandbox.token_file(OFFICE, tmp_path).replace(tmp_path / "token_manager.json")
    groups = ("falcons", "otters", "herons")
    season: dict[str, Any] = {
        "id": "SPRING",
        "opens_by_itself": False,
        "teams": [
            {"group_id": name, "player": f"{name}@league.test", "referee": f"r.{name}@league.test"} for name in groups
        ],
    }
    league: dict[str, Any] = {"roles": {"manager": {"address": OFFICE}}, "league": {}}
    write(tmp_path, sandbox, **league, season=season)
    assert run("run", "--scan").exit_code == 0
    write(tmp_path, sandbox, **league, season={**season, "id": "AUTUMN"})
    for command in ("config check", "run --scan", "run --watch"):
        shown = run(*command.split())
        assert shown.exit_code == 3, shown.output
        (line,) = shown.stderr.splitlines()
        assert "league.yaml.roles.manager.journal: " in line
        assert "is of season 'SPRING', which is not over, and season.id is 'AUTUMN'; name another journal" in line
    again = {"manager": {"address": OFFICE, "journal": "autumn.db"}}
    write(tmp_path, sandbox, league={}, roles=again, season={**season, "id": "AUTUMN"})
    shown = run("run", "--scan")
    assert shown.exit_code == 0
    assert "is played from" in shown.stderr
    assert "until now it was manager.db" in shown.stderr


def test_a_log_in_a_folder_that_is_not_there_is_found_by_the_check(
    player: Path, sandbox: Sandbox, tmp_path: Path
) -> None:
    write(tmp_path, sandbox, log={"file": "logs/daemon.log"})
    for command in ("config check", "run --scan"):
        shown = run(*command.split())
        assert shown.exit_code == 3, shown.output
        assert "logs" in shown.stderr


@pytest.mark.parametrize("is_one_of_several", [False, True])
def test_a_daemon_serves_its_figures_and_tells_the_service_manager(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_one_of_several: bool
) -> None:
    own = {"address": PLAYER, "group_id": "falcons", "agent": "scripted"}
    other = {"address": OTHER, "name": "other", "group_id": "owls", "agent": "scripted"}
    names = [shown_name(f"player {PLAYER}"), "player other"] if is_one_of_several else ["player"]
    up = [f'league_agents_up{{mailbox="{each}"}} 1.0' for each in names]
    log = tmp_path / "daemon.log"
    pages: list[tuple[int, str]] = []
    told: list[str] = []
    name = f"league-agents-daemon-{os.getpid()}"
    monkeypatch.setenv("NOTIFY_SOCKET", f"@{name}")

    def look() -> None:
        try:
            found = until(lambda: re.search(r"metrics at (http://\S+)/metrics", said()), "the figures' address")
            assert found is not None
            url = found[1]
            until(lambda: all(each in page(f"{url}/metrics")[1] for each in up), "all roles work")
            until(lambda: page(f"{url}/healthz")[0] == 200, "good health")
            pages.extend(page(f"{url}/{each}") for each in ("healthz", "metrics"))
            if is_one_of_several:
                os.kill(os.getpid(), signal.SIGHUP)
                until(lambda: drained().count("READY=1") == 2, "that the file was read again is told")
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    def said() -> str:
        return log.read_text("utf-8") if log.exists() else ""

    def drained() -> list[str]:
        with contextlib.suppress(BlockingIOError):
            while True:
                told.append(manager.recv(4096).decode())
        return told

    def page(url: str) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(url, timeout=LIMIT_S) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, ""

    with Sandbox([PLAYER, OTHER]) as sandbox, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        path = write_file(
            tmp_path / "league.yaml",
            sandbox,
            {"player": [own, other] if is_one_of_several else own},
            metrics="127.0.0.1:0",
        )
        manager.bind(f"\0{name}")
        manager.setblocking(False)
        watcher = threading.Thread(target=look, daemon=True)
        before = {each: signal.signal(each, signal.SIG_IGN) for each in (signal.SIGTERM, signal.SIGHUP)}
        try:
            watcher.start()
            ended = run("run", "--watch", "--config", str(path), "--log-file", str(log))
            watcher.join()
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)
        drained()
    assert ended.exit_code == 0, ended.output
    assert pages[0] == (200, "ok\n")
    assert "@" not in pages[1][1]
    assert pages[1][1].count("league_agents_sends_left{") == len(names)
    assert pages[1][1].count("league_agents_journal_bytes{") == len(names)
    assert told[0] == "READY=1"
    assert any(each.startswith("RELOADING=1\nMONOTONIC_USEC=") for each in told) is is_one_of_several
    assert any(each.startswith("STOPPING=1") for each in told)
