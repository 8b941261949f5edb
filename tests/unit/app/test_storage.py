"""Durable things are named by a file or a URL, and opened in one place."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import league_agents
from league_agents.app.secret_files import readable_by_others, secret_texts_of
from league_agents.app.storage import STORAGE, role_journals
from league_agents.config.league_file import read_league_file
from league_agents.config.storage_url import DatabaseUrl, journal_place
from league_agents.kit.errors import ConfigError

ADAPTERS = (
    *("league_agents.journal.sqlite", "league_agents.journal.postgres"),
    *("league_agents.llm.ledger", "league_agents.llm.budget"),
)
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
    assert journal_place(written, "journal", Path("/league")) == Path(file)


@pytest.mark.parametrize(("written", "shown"), [
    ("postgresql://me:secret@host:5433/league?password=secret", "postgresql://host:5433/league"),
    ("postgres:///league?host=/run/postgresql&sslmode=disable", "postgresql:///league?host=/run/postgresql"),
])  # fmt: skip
def test_a_database_is_named_without_its_password(written: str, shown: str) -> None:
    place = journal_place(written, "journal", Path("/league"))
    assert isinstance(place, DatabaseUrl)
    assert place.url == written
    assert str(place) == shown
    assert "secret" not in repr(place)


@pytest.mark.parametrize("written", ["postgresql://", "PostgreSQL:///", "postgresql://[oops/league"])
def test_an_address_without_a_database_is_told(written: str) -> None:
    with pytest.raises(ConfigError, match=r"must be a file, .* or postgresql://USER@HOST/DATABASE; the address "):
        journal_place(written, "journal", Path())


@pytest.mark.parametrize("written", [
    "postgresql://ann:s3c/ret@127.0.0.1:1/db",
    "postgresql://ann:s3c@ret@127.0.0.1/db",
    "postgresql://ann:s3c#ret@127.0.0.1/db",
    "sqlite://ann:s3cret@127.0.0.1/db",
    "host=127.0.0.1 password=s3cret dbname=db",
    "postgresql:/ann:s3cret@127.0.0.1/db",
    "postgres:ann:s3cret@127.0.0.1/db",
    "[oops://ann:s3cret@x/db",
])  # fmt: skip
def test_no_address_with_a_password_is_quoted_or_taken_for_a_file(written: str) -> None:
    with pytest.raises(ConfigError) as wrong:
        journal_place(written, "journal", Path())
    assert "s3c" not in str(wrong.value)
    assert "ret" not in str(wrong.value)


def test_the_password_of_a_database_is_hidden_from_output(tmp_path: Path) -> None:
    path = tmp_path / "league.yaml"
    player = "{address: p@league.test, group_id: g, journal: 'postgresql://me:s3c%40ret@host/league'}"
    path.write_text(f"league: {{manager_email: office@league.test}}\nroles: {{player: {player}}}\n")
    path.chmod(0o644)
    settings = read_league_file(path, {})
    texts = secret_texts_of(settings, {})
    assert texts.hide("login as me with s3c@ret or s3c%40ret failed") == "login as me with [hidden] or [hidden] failed"
    assert any(str(path) in line for line in readable_by_others(settings))


def test_a_database_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("league_agents.app.storage.find_spec", lambda _name: None)
    with pytest.raises(ConfigError, match=r"needs psycopg, which is not installed; pip install 'league-agents\[po"):
        role_journals(DatabaseUrl("postgresql://host/league"), role="player", address="p@league.test")


def test_the_environment_names_the_place_of_journals_that_the_league_file_does_not(tmp_path: Path) -> None:
    path = tmp_path / "league.yaml"
    player = "{address: p@league.test, group_id: g, token: p.json}"
    referee = "{address: r@league.test, group_id: g, id: R1, journal: own.db}"
    roles = f"roles: {{player: {player}, referee: {referee}}}\n"
    path.write_text(f"league: {{manager_email: office@league.test}}\n{roles}")
    settings = read_league_file(path, {"LEAGUE_JOURNAL_URL": "postgresql://me:secret@host/league"})
    places = {role.role: role.journal for role in settings.roles}
    assert places["player"] == DatabaseUrl("postgresql://me:secret@host/league")
    assert places["referee"] == tmp_path.resolve() / "own.db"
    with pytest.raises(ConfigError, match="LEAGUE_JOURNAL_URL"):
        read_league_file(path, {"LEAGUE_JOURNAL_URL": "mysql://me:secret@host/league"})


@pytest.mark.parametrize("written", ["mysql://me:secret@host/league", "file:///referee.db", "sqlit:///referee.db"])
def test_an_unknown_storage_is_told_without_what_may_be_a_password(written: str, tmp_path: Path) -> None:
    path = tmp_path / "league.yaml"
    player = f"{{address: p@league.test, group_id: g, journal: '{written}'}}"
    path.write_text(f"league: {{manager_email: office@league.test}}\nroles: {{player: {player}}}\n")
    with pytest.raises(ConfigError) as wrong:
        read_league_file(path, {})
    scheme = written.partition(":")[0]
    assert wrong.value.path == f"{path}.roles.player.journal"
    assert wrong.value.message.startswith("must be a file, sqlite:///FILE or postgresql://USER@HOST/DATABASE, found ")
    assert wrong.value.message.endswith(f"'{scheme}'://…")
    assert "secret" not in str(wrong.value)


@pytest.mark.parametrize("written", ["sqlite://", "sqlite:///", "sqlite://host/referee.db"])
def test_a_url_without_a_file_is_told(written: str) -> None:
    with pytest.raises(ConfigError, match=r"must be a file, sqlite:///FILE or .*, found"):
        journal_place(written, "journal", Path())


def test_a_storage_keeps_all_kinds_of_durable_things(tmp_path: Path) -> None:
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
