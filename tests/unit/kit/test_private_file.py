"""Files with targets and keys: whoever makes them makes them for their owner only."""

from __future__ import annotations

import ast
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import league_agents
from league_agents.cli.logs import DaemonLog, open_log
from league_agents.cli.record_file import write_record
from league_agents.cli.transcript_file import open_record
from league_agents.evaluation.results import PlayerGame
from league_agents.evaluation.results_file import ResultsFile
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.private_file import (
    make_private_database,
    make_private_folder,
    open_private,
    replace_private,
    tighten_folder,
)
from league_agents.knowledge.index import KnowledgeIndex
from league_agents.llm.cassette import Cassette
from league_agents.llm.ledger import connected
from league_agents.mail.oauth import save_token
from league_agents.report.secret_texts import SecretTexts
from league_agents.runner.lock import FileLock
from league_agents.sandbox.state import SqliteState

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes mean nothing there")


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    """Whatever the user's mask says."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def journal(path: Path) -> SqliteJournal:
    return SqliteJournal(path, role="referee", address="r@league.test", dump=lambda _name, _part: "")


def _journal(path: Path) -> None:
    kept = journal(path)
    kept.keep("seed", "x")
    assert {each.name for each in path.parent.iterdir()} >= {path.name, f"{path.name}-wal", f"{path.name}-shm"}
    for each in path.parent.iterdir():
        assert mode(each) == 0o600, each
    kept.close()


def _ledger(path: Path) -> None:
    with connected(path) as db:
        db.execute("BEGIN IMMEDIATE")
        for each in path.parent.iterdir():
            assert mode(each) == 0o600, each


def _log(path: Path) -> None:
    with logged(path) as log:
        log.say("player", "hello")


def logged(path: Path) -> closing[DaemonLog]:
    return closing(open_log(level="INFO", is_json=False, file=path, secrets=SecretTexts()))


MAKERS: dict[str, Callable[[Path], object]] = {
    "journal": _journal,
    "ledger": _ledger,
    "sandbox": lambda path: SqliteState(path).close(),
    "token": lambda path: save_token(path, {"token": "x"}),
    "record": lambda path: write_record(path, "{}\n"),
    "transcript": lambda path: open_record(path).close(),
    "tape": lambda path: Cassette(path).close(),
    "results": lambda path: ResultsFile(path, PlayerGame, {"games": 1}).close(),
    "log": _log,
    "lock": lambda path: FileLock(path.with_suffix("")).release(),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_every_file_with_targets_or_keys_is_for_its_owner_only(tmp_path: Path, kind: str) -> None:
    MAKERS[kind](tmp_path / "file.lock")
    made = [path for path in tmp_path.iterdir() if path.is_file()]
    assert made
    assert [mode(path) for path in made] == [0o600] * len(made)


@pytest.mark.parametrize("kind", sorted({*MAKERS} - {"token", "record"}))
def test_an_earlier_looser_file_is_tightened_with_one_line(
    tmp_path: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "file.lock"
    MAKERS[kind](path)
    path.chmod(0o644)
    MAKERS[kind](path)
    assert mode(path) == 0o600
    said = [record.getMessage() for record in caplog.records]
    assert said == [f"{path}: others could read it (mode 0644); now only you can"]
    MAKERS[kind](path)
    assert len(caplog.records) == 1, "said once"


def test_what_sqlite_keeps_beside_a_journal_is_tightened_too(tmp_path: Path) -> None:
    path = tmp_path / "referee.db"
    first = journal(path)
    first.keep("seed", "x")
    for each in tmp_path.iterdir():
        each.chmod(0o664)
    second = journal(path)
    assert {mode(each) for each in tmp_path.iterdir()} == {0o600}
    first.close()
    second.close()


def test_a_database_of_another_program_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE notes (text)")
    db.close()
    path.chmod(0o644)
    with pytest.raises(league_agents.kit.errors.JournalError):
        journal(path)
    assert mode(path) == 0o644


def test_a_file_is_private_before_its_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    path.write_text("old")
    path.chmod(0o644)
    with open_private(path, "w"):
        assert (mode(path), path.stat().st_size) == (0o600, 0)
    with open_private(tmp_path / "new", "x"):
        assert mode(tmp_path / "new") == 0o600


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    replace_private(path, "first")
    with pytest.raises(UnicodeEncodeError):
        replace_private(path, "\ud800")
    assert path.read_text() == "first"
    assert [each.name for each in tmp_path.iterdir()] == ["record.json"]


def test_a_folder_that_is_made_is_private_and_one_that_is_there_stays(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    make_private_folder(tmp_path / "data")
    assert mode(tmp_path / "data") == 0o700
    make_private_folder(tmp_path)
    assert mode(tmp_path) == 0o755
    KnowledgeIndex(tmp_path / "books" / "knowledge.db").close()
    assert mode(tmp_path / "books") == 0o700


def test_a_folder_that_holds_league_files_only_is_tightened(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tmp_path.chmod(0o755)
    for name in ("player.db", "player.db-wal", "player.db.lock", "token.json"):
        make_private_database(tmp_path / name)
    tighten_folder(tmp_path, {"player.db"})
    assert mode(tmp_path) == 0o755, "a file that is not named may be somebody's"
    tighten_folder(tmp_path, {"player.db", "token.json"})
    assert mode(tmp_path) == 0o700
    assert [record.getMessage() for record in caplog.records] == [
        f"{tmp_path}: others could read it (mode 0755); now only you can"
    ]


def test_an_empty_folder_is_nobodys(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    tighten_folder(tmp_path, {"player.db"})
    assert mode(tmp_path) == 0o755


def test_a_device_keeps_its_mode() -> None:
    before = mode(Path(os.devnull))
    open_private(Path(os.devnull), "w").close()
    assert mode(Path(os.devnull)) == before


def test_a_mode_that_cannot_be_changed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    path = tmp_path / "file"
    path.write_text("")
    path.chmod(0o664)
    monkeypatch.setattr(os, "chmod", refuse)
    open_private(path, "a").close()
    (record,) = caplog.records
    assert record.getMessage() == (
        f"{path}: others can read it (mode 0664), which cannot be changed: Operation not permitted"
    )


def test_a_daemons_log_tells_of_a_tightened_file_in_a_line_of_its_own(tmp_path: Path) -> None:
    place = tmp_path / "daemon.log"
    loose = tmp_path / "loose"
    loose.write_text("")
    loose.chmod(0o644)
    with logged(place):
        open_private(loose, "a").close()
    (line,) = place.read_text().splitlines()
    assert line[20:].split() == f"Z WARNING {loose}: others could read it (mode 0644); now only you can".split()[1:]


WRITES_ELSEWHERE = {
    "kit.private_file": "the one place",
    "app.publishing": "pages that are there to be read by everybody",
    "app.season_division": "a dot for each match that is over",
    "app.season_plan": "what a season is made of: neither targets nor keys",
    "cli": "the null device",
    "cli.screen": "the terminal",
    "knowledge.formats.child": "the null device and a pipe",
    "knowledge.index": "the user's books: neither targets nor keys",
    "local_league.league": "logs and league files of processes that know no secret, in a private folder",
    "local_league.machine_clock": "the time",
    "user_code.child": "a socket to its parent",
}
"""Modules that make files by other means -> why."""


def test_no_other_module_makes_files() -> None:
    root = Path(league_agents.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        module = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        if any(_makes_a_file(node) for node in ast.walk(ast.parse(source))):
            found.add(module)
        if "sqlite3.connect(" in source and "make_private_database(" not in source:
            found.add(module)
    assert found == set(WRITES_ELSEWHERE)


def _makes_a_file(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = ast.unparse(node.func)
    if name.rpartition(".")[2] in ("write_text", "write_bytes", "NamedTemporaryFile", "mkstemp", "touch"):
        return True
    if name == "os.open":
        return True
    given = [each for each in ast.walk(node) if isinstance(each, ast.Constant)]
    is_opened = name == "open" or name.endswith(".open")
    return is_opened and any(each.value in ("w", "a", "x", "wb", "ab", "xb", "a+") for each in given)


def test_a_rotated_log_is_private_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("league_agents.cli.logs.LARGEST_FILE", 500)
    with logged(tmp_path / "daemon.log") as log:
        for number in range(30):
            log.say("player", f"line {number}")
    made = sorted(tmp_path.iterdir())
    assert len(made) > 1
    assert {mode(path) for path in made} == {0o600}
