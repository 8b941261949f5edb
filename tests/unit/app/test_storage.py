"""Durable things are named by a file or a URL, and opened in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import league_agents
from league_agents.app.storage import STORAGE, STORAGES
from league_agents.config.league_file import read_league_file
from league_agents.config.storage_url import file_of
from league_agents.kit.errors import ConfigError

ADAPTERS = ("league_agents.journal.sqlite", "league_agents.llm.ledger", "league_agents.llm.budget")
ADAPTERS_OF_MAIL = ("league_agents.mail.send_book",)
INSIDE = {"app/storage.py": "opens them", "llm/budget.py": "lies in the ledger's file"}


@pytest.mark.parametrize(("written", "file"), [
    ("referee.db", "/league/referee.db"),
    ("/data/referee.db", "/data/referee.db"),
    ("sqlite:///referee.db", "/league/referee.db"),
    ("sqlite:///data/referee.db", "/league/data/referee.db"),
    ("sqlite:////data/referee.db", "/data/referee.db"),
])  # fmt: skip
def test_a_journal_is_a_file_or_a_url(written: str, file: str) -> None:
    assert Path("/league") / file_of(written, "journal") == Path(file)


@pytest.mark.parametrize("written", ["postgresql://me:secret@host/league", "file:///referee.db", "sqlit:///referee.db"])
def test_an_unknown_storage_is_told_without_what_may_be_a_password(written: str, tmp_path: Path) -> None:
    path = tmp_path / "league.yaml"
    player = f"{{address: p@league.test, group_id: g, journal: '{written}'}}"
    path.write_text(f"league: {{manager_email: office@league.test}}\nroles: {{player: {player}}}\n")
    with pytest.raises(ConfigError) as wrong:
        read_league_file(path, {})
    scheme = written.partition(":")[0]
    assert wrong.value.path == f"{path}.roles.player.journal"
    assert wrong.value.message == f"must be a file or sqlite:///FILE, found '{scheme}'://…"
    assert "secret" not in str(wrong.value)


@pytest.mark.parametrize("written", ["sqlite://", "sqlite:///", "sqlite://host/referee.db"])
def test_a_url_without_a_file_is_told(written: str) -> None:
    with pytest.raises(ConfigError, match="must be a file or sqlite:///FILE, found"):
        file_of(written, "journal")


@pytest.mark.parametrize("storage", STORAGES.values(), ids=list(STORAGES))
def test_a_storage_keeps_all_kinds_of_durable_things(storage: object, tmp_path: Path) -> None:
    assert storage is STORAGE
    journal = STORAGE.journal(tmp_path / "player.db", role="player", address="p@league.test", dump=lambda _, __: "{}")
    journal.keep("seed", "s")
    journal.close()
    found = STORAGE.look_at_journal(tmp_path / "player.db")
    assert found.kept("seed") == "s"
    found.check_content()
    found.check_owner("player", "p@league.test")
    found.close()
    assert list(STORAGE.calls(tmp_path / "player.db", in_journal=True).calls()) == []
    counts = STORAGE.sends(tmp_path / "sends.db", endpoint="https://mail.test", address="p@league.test")
    counts.add(100, 2)
    counts.close()
    seen = STORAGE.look_at_sends(tmp_path / "sends.db", endpoint="https://mail.test", address="p@league.test")
    assert seen is not None
    assert list(seen.minutes(0)) == [(100, 2)]
    seen.close()


def test_nobody_else_opens_one() -> None:
    root = Path(league_agents.__file__).parent
    found = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if (source := path.read_text("utf-8")) and any(each in source for each in (*ADAPTERS, *ADAPTERS_OF_MAIL))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module in (*ADAPTERS, *ADAPTERS_OF_MAIL)
    }
    assert found == set(INSIDE)
