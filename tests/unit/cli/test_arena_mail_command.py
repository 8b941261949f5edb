"""``league-agents arena mail-host`` and ``mail-seat`` on a local Gmail."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from league_agents.arena.transcript import read_transcript
from league_agents.cli import command_line
from league_agents.runner.lock import FileLock
from league_agents.sandbox.server import Sandbox

HOST, ANN, BEN = "table@arena.test", "ann@arena.test", "ben@arena.test"
SCENARIO = {
    "game": "market",
    "config": {"max_rounds": 2},
    "agents": [{"id": "s1"}, {"id": "s2"}, {"id": "s3", "agent": "random"}],
    "clock": {"turn_timeout_s": 7200},
}


@pytest.fixture
def gmail(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """Three accounts, a league file for each, and a scenario."""
    monkeypatch.setenv("LEAGUE_AGENTS_DATA", str(tmp_path / "data"))
    for name in ("LEAGUE_GMAIL_ENDPOINT", "LEAGUE_MANAGER_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    with Sandbox([HOST, ANN, BEN], seed="mail host") as running:
        running.client_secret_file(tmp_path)
        for name, address in (("host", HOST), ("ann", ANN), ("ben", BEN)):
            token = running.token_file(address, tmp_path)
            token.replace(tmp_path / f"token_{name}.json")
            role = {"address": address, "journal": f"{name}.db", "token": f"token_{name}.json", "id": name}
            settings = {
                "league": {"manager_email": "office@arena.test"},
                "gmail": {"endpoint": running.url},
                "roles": {"player": {**role, "group_id": name, "agent": "scripted", "display_name": name}},
            }
            (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(settings))
        (tmp_path / "market.yaml").write_text(yaml.safe_dump(SCENARIO))
        yield running
    assert running.failures == ()


def arena(*arguments: str) -> Result:
    return CliRunner().invoke(command_line, ["arena", *arguments])


def host(*more: str, seats: str = f"s1={ANN},s2={BEN}") -> Result:
    new = ["--scenario", "market.yaml", "--seats", seats, "--seed", "5"]
    return arena(
        "mail-host", *new, "--journal", "match.db", "--config", "host.yaml", "--account", "player", "--once", *more
    )


def seat(name: str, *more: str) -> Result:
    return arena(
        "mail-seat", "--host", HOST, "--game", "market", "--config", f"{name}.yaml", "--account", "player", "--once",
        *more,
    )  # fmt: skip


def one_line(shown: Result) -> str:
    assert shown.stdout == ""
    assert shown.stderr.startswith("league-agents: ")
    assert shown.stderr.count("\n") == 1
    return shown.stderr


@pytest.mark.usefixtures("gmail")
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE parts SET value = '[]' WHERE name = 'setup'", "match.db: the journal holds no match by mail"),
        ("UPDATE outbox SET state = 'quewed'", "match.db: is damaged (outbox, seq 1: state: one of queued"),
    ],
)
def test_a_damaged_row_of_a_match_is_one_line(tmp_path: Path, damage: str, said: str) -> None:
    assert host().exit_code == 0
    with closing(sqlite3.connect(tmp_path / "match.db")) as db, db:
        assert db.execute(damage).rowcount
    shown = host()
    assert shown.exit_code == 3
    assert said in one_line(shown)
    assert "put a copy in its place, or name another file" in shown.stderr


@pytest.mark.usefixtures("gmail")
def test_a_match_is_played_by_commands_that_are_started_again_each_time(tmp_path: Path) -> None:
    for _ in range(6):
        shown = host("--record", str(tmp_path / "game.jsonl"))
        assert shown.exit_code == 0, shown.stderr
        if "won by" in shown.stdout:
            break
        assert "waiting for s1, s2" in shown.stdout
        for name in ("ann", "ben"):
            answered = seat(name)
            assert answered.exit_code == 0, answered.stderr
    assert "sent over to" in shown.stderr
    for name in ("ann", "ben"):
        assert "won by" in seat(name).stdout
    lines = read_transcript((tmp_path / "game.jsonl").read_text().splitlines())
    assert [each["plays"] for each in lines[0]["agents"]] == ["mail", "mail", "random"]
    assert arena("replay", "game.jsonl").exit_code == 0
    again = arena("mail-host", "--journal", "match.db", "--config", "host.yaml", "--account", "player")
    assert "won by" in again.stdout, "a host whose match is over ends by itself"


@pytest.mark.usefixtures("gmail")
@pytest.mark.parametrize("more", [(), ("--in-process",)])
def test_classes_of_ones_own_sit_on_either_side(tmp_path: Path, more: tuple[str, ...]) -> None:
    (tmp_path / "mine.py").write_text(
        "class Mine:\n    def __init__(self):\n        self.heard = 0\n"
        "    def observe(self, event):\n        self.heard += 1\n"
        "    def act(self, view, legal, deadline):\n"
        "        price = 33 if self.heard else 44\n"
        "        if view['agent_id'] == 's2' and view['refusal'] is None:\n            price = -1\n"
        "        return {'type': legal[0].type, 'data': {'price': price}}\n"
    )
    settled = {**SCENARIO, "config": {"max_rounds": 1}}
    settled["agents"] = [{"id": "s1"}, {"id": "s2", "agent": "mine.py:Mine"}, {"id": "s3", "agent": "mine.py:Mine"}]
    (tmp_path / "market.yaml").write_text(yaml.safe_dump(settled))
    assert "waiting for s1" in host(*more, seats=f"s1={ANN}").stdout
    answered = seat("ann", "--agent", "mine.py:Mine", *more)
    assert (answered.exit_code, answered.stdout) == (0, ""), answered.stderr
    shown = host(*more, "--record", "game.jsonl", seats=f"s1={ANN}")
    assert "won by" in shown.stdout, shown.stderr
    last = read_transcript((tmp_path / "game.jsonl").read_text().splitlines())
    prices = [line["action"]["data"]["price"] for line in last if line.get("action")]
    assert prices == [33, 33, 33]


@pytest.mark.usefixtures("gmail")
def test_a_host_logs_as_its_league_file_says(tmp_path: Path) -> None:
    written = yaml.safe_load((tmp_path / "host.yaml").read_text())
    (tmp_path / "host.yaml").write_text(yaml.safe_dump({**written, "log": {"file": "host.log", "json": True}}))
    assert host().stderr == ""
    sent = [line for each in (tmp_path / "host.log").read_text().splitlines() if (line := json.loads(each)).get("to")]
    assert [(line["event"], line["message_type"]) for line in sent] == [("sent", "invitation")] * 2


@pytest.mark.usefixtures("gmail")
def test_a_journal_keeps_to_its_match() -> None:
    assert host().exit_code == 0
    other = host(seats=f"s1={ANN}")
    assert other.exit_code == 3
    assert "another match" in one_line(other)


@pytest.mark.usefixtures("gmail")
def test_one_process_works_on_a_mailbox(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "token_host.json")
    try:
        shown = host()
        assert shown.exit_code == 4
        assert "works on this mailbox already" in one_line(shown)
    finally:
        lock.release()


def test_a_mailbox_that_is_gone_ends_the_command_with_once(gmail: Sandbox) -> None:
    gmail.stop()
    shown = host()
    assert shown.exit_code == 4
    one_line(shown)


@pytest.mark.usefixtures("gmail")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["mail-host", "--journal", "x.db", "--account", "player", "--config", "host.yaml"], 3, "which match"),
        (["mail-host", "--account", "player"], 2, "--journal"),
        (["mail-host", "--journal", "x.db"], 2, "--account"),
        (["mail-host", "--journal", "x.db", "--account", "player", "--seats", "a=b"], 2, "--scenario"),
        (["mail-host", "--journal", "x.db", "--account", "referee", "--config", "host.yaml"], 3, "referee"),
        (["mail-host", "--journal", "no/x.db", "--account", "player", "--config", "host.yaml"], 3, "no folder"),
        (["mail-host", "--journal", "host.yaml", "--account", "player", "--config", "host.yaml"], 3, "host.yaml"),
        (["mail-seat", "--host", "nobody", "--game", "market", "--account", "player"], 3, "no mail address"),
        (["mail-seat", "--host", HOST, "--game", "chess", "--account", "player", "--config", "ann.yaml"], 3, "chess"),
        (["mail-seat", "--host", HOST, "--game", "market", "--agent", "human", "--account", "player"], 3, "web page"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else None,
)
def test_what_is_wrong_is_one_line(arguments: list[str], code: int, said: str) -> None:
    shown = arena(*arguments)
    assert shown.exit_code == code, shown.stderr
    assert said in one_line(shown)


@pytest.mark.usefixtures("gmail")
@pytest.mark.parametrize(
    ("seats", "said"),
    [("s1", "SEAT=ADDRESS"), ("s9=a@b.test", "no seat"), (f"s1={HOST}", "host itself"), ("s1=x,s1=y", "twice")],
)
def test_seats_that_cannot_be_are_one_line(seats: str, said: str) -> None:
    shown = host(seats=seats)
    assert shown.exit_code == 3
    assert said in one_line(shown)
