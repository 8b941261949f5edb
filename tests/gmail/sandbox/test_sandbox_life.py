"""Starting, stopping, keeping and the speed of a sandbox, and its command."""

from __future__ import annotations

import http.client
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from league_agents.kit.errors import ConfigError
from league_agents.local_league.patience import LIMIT_S
from league_agents.sandbox.faults import LONGEST_WAIT_S, Fault, FaultAction
from league_agents.sandbox.server import Sandbox

ALICE, BOB = "Alice@league.test", "bob@league.test"
PROFILE = "/gmail/v1/users/me/profile"


def test_one_connection_serves_many_requests(sandbox, plain) -> None:
    wire, token = plain(sandbox), sandbox.access_token(ALICE)
    wire.ask("GET", PROFILE, token=token)
    connection = wire.connection.sock
    for _ in range(30):
        assert wire.ask("GET", PROFILE, token=token).status == 200
    assert wire.connection.sock is connection


def test_many_clients_at_once_get_their_own_answers(sandbox) -> None:
    wrong: list[str] = []

    def read(address: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", sandbox.port, timeout=LIMIT_S)
        headers = {"Authorization": f"Bearer {sandbox.access_token(address)}"}
        for _ in range(40):
            connection.request("GET", PROFILE, headers=headers)
            if address.encode() not in connection.getresponse().read():
                wrong.append(address)
        connection.close()

    threads = [threading.Thread(target=read, args=(address,)) for address in (ALICE, BOB) * 4]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert sandbox.report()["accounts"][BOB]["calls"] == 160


def test_stopping_ends_open_connections_and_waits_at_once(start, plain) -> None:
    sandbox = start(faults=[Fault(method="messages.list", action=FaultAction.WAIT, seconds=LONGEST_WAIT_S)])
    idle, waiting = plain(sandbox), plain(sandbox)
    token = sandbox.access_token(ALICE)
    idle.ask("GET", PROFILE, token=token)
    waiting.connection.request("GET", "/gmail/v1/users/me/messages", headers={"Authorization": f"Bearer {token}"})
    sandbox.stop()
    sandbox.stop()
    with pytest.raises((http.client.HTTPException, OSError)):
        waiting.connection.getresponse()
    with pytest.raises((http.client.HTTPException, OSError)):
        idle.ask("GET", PROFILE, token=token)


def test_a_port_that_is_taken_is_one_clear_line(sandbox) -> None:
    with pytest.raises(ConfigError, match="cannot listen on it"):
        Sandbox([ALICE], port=sandbox.port)


@pytest.mark.parametrize("address", ["", "x", "a b@c", "a@b/c", "a/b@c", "a@b\r\n", "é@b", "@b", "a@"])
def test_what_is_no_address_is_no_account(address: str) -> None:
    with pytest.raises(ConfigError, match="no mail address"):
        Sandbox([address])


def test_everything_survives_in_its_file(start, account, tmp_path: Path) -> None:
    state = tmp_path / "state.db"
    first = start(
        state=state,
        faults=[
            Fault(method="delivery", action=FaultAction.LATE, seconds=3600, calls=(3,)),
            Fault(method="getProfile", action=FaultAction.ERROR, calls=(2,)),
        ],
    )
    alice, bob = account(first, ALICE), account(first, BOB)
    cursor = bob.cursor()
    sent = alice.post(BOB, Subject="one", X_League_Message_ID="m1")
    alice.post(BOB, Subject="two")
    alice.post(BOB, Subject="late")
    label = bob.users.labels().create(userId="me", body={"name": "done"}).execute()["id"]
    bob.users.messages().modify(userId="me", id=bob.ids()[0], body={"addLabelIds": [label]}).execute()
    first.advance(timedelta(minutes=1))
    report, history, listed = first.report(), bob.changes(cursor), bob.ids()
    first.stop()

    second = start((), state=state, faults=[])
    again = account(second, BOB)
    assert again.ids() == listed
    assert again.changes(cursor) == history
    assert again.ids(q="label:done") == listed[:1]
    for key in ("sends", "delivered", "now", "mailboxes", "on_its_way"):
        assert second.report()[key] == report[key]
    old_token = bob.credentials.token
    assert second.world.authority.find(old_token).account == BOB
    assert account(second, ALICE).raw(sent["id"]).endswith(b"hello\r\n")
    second.advance(timedelta(hours=1))
    assert len(again.ids()) == 3
    assert account(second, ALICE).post(BOB)["id"] not in {mail.mail_id for mail in second.mail(ALICE)[:-1]}


def test_a_file_that_is_no_state_is_left_alone(tmp_path: Path) -> None:
    import sqlite3

    text = tmp_path / "notes.txt"
    text.write_text("dear diary, " * 1_000)
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    for path in (text, other, tmp_path, tmp_path / "no" / "folder.db"):
        with pytest.raises(ConfigError):
            Sandbox([ALICE], state=path)
    assert text.read_text().startswith("dear diary")


def test_two_sandboxes_cannot_share_a_file(start, tmp_path: Path) -> None:
    start(state=tmp_path / "state.db")
    with pytest.raises(ConfigError, match="locked"):
        Sandbox([ALICE], state=tmp_path / "state.db")


def test_the_command_serves_until_it_is_told_to_stop(tmp_path: Path) -> None:
    faults = tmp_path / "faults.yaml"
    faults.write_text("seed: 3\nfaults:\n  - {method: getProfile, action: error, status: 500, calls: [1]}\n")
    command = [sys.executable, "-m", "league_agents", "sandbox", "--port", "0", "--accounts", "a@x.test, b@x.test"]
    options = ["--folder", str(tmp_path / "keys"), "--faults", str(faults), "--state", str(tmp_path / "s.db")]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().strip()
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=LIMIT_S)
        connection.request("GET", "/")
        assert b"a@x.test" in connection.getresponse().read()
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
        said = process.stderr.read()
    assert "stopped" in said
    assert sorted(path.name for path in (tmp_path / "keys").iterdir()) == [
        "client_secret.json",
        "token.a.at.x.test.json",
        "token.b.at.x.test.json",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("faults: [", "is not valid YAML in line 1"),
        ("[" * 5_000, "is nested too deep"),
        ("faults: 3", "faults must be a list"),
        ("- a", "a fault file is a mapping"),
        ("faults:\n - {action: explode}", "action must be one of"),
    ],
)
def test_a_wrong_fault_file_is_one_line(tmp_path: Path, text: str, complaint: str) -> None:
    from click.testing import CliRunner

    from league_agents.cli.sandbox import command

    path = tmp_path / "faults.yaml"
    path.write_text(text)
    result = CliRunner().invoke(command, ["--port", "0", "--faults", str(path)])
    assert isinstance(result.exception, ConfigError)
    assert complaint in str(result.exception)
    assert "\n" not in str(result.exception)
