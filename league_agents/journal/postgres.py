"""Journals in a PostgreSQL database, many in one: every table has a column ``journal``.

Rule 1: all journals of this program in a database lie in the schema ``league_agents``, which the first one creates.
Rule 2: a process keeps a few connections for each address and lends one to a journal for a transaction or a query.
Rule 3: an error names the address without its password and quotes no row.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import lru_cache, partial
from typing import Any, Final

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import PoolClosed, PoolTimeout

from league_agents.journal.database import ID, KEY, MINE
from league_agents.journal.port import Dump
from league_agents.journal.postgres_connection import BoundedConnection, ServerPatience, patience_of
from league_agents.journal.postgres_lease import Leases, is_held
from league_agents.journal.postgres_pool import AWAY, BoundedPool, connect
from league_agents.journal.postgres_schema import SCHEMA, bring_up_to_date, check_version, is_there
from league_agents.journal.sql import SqlJournal
from league_agents.kit.errors import JournalError, JournalUnusable

_Connection = psycopg.Connection[tuple[Any, ...]]

MOST_CONNECTIONS: Final = 8
"""Connections of one process to one database."""

_SETTINGS: Final = f"""
    SET search_path = {SCHEMA};
    SET lock_timeout = '{{0.lock_ms}}ms';
    SET idle_in_transaction_session_timeout = '{{0.idle_ms}}ms';
    """

_SPENDING_LOCK: Final = 0x4C414A32
_ROWS_AT_A_TIME: Final = 200
_FOR_A_PERSON = (
    errors.InvalidAuthorizationSpecification,
    errors.InvalidPassword,
    errors.InvalidCatalogName,
    errors.InsufficientPrivilege,
    errors.UndefinedTable,
    errors.UndefinedColumn,
    errors.ReadOnlySqlTransaction,
)
"""Faults that waiting does not mend."""

_REFUSED: Final = re.compile(
    r"password authentication failed|no password supplied|pg_hba\.conf|(role|database) \".*\" does not exist"
)
"""The same, where a connection is refused: libpq gives no code of such an error, only its text."""


@lru_cache(maxsize=200)
def _in_postgres(statement: str) -> tuple[str, tuple[int, ...]]:
    """Return the statement, and the places among its values at which it takes the journal's number."""
    for mark, text in ((MINE, "journal = \0 AND "), (KEY, "journal, "), (ID, "\0, ")):
        statement = statement.replace(mark, text)
    marks = [mark for mark in statement if mark in "?\0"]
    places = tuple(place for place, mark in enumerate(marks) if mark == "\0")
    return statement.replace("?", "%s").replace("\0", "%s"), places


def _storable(value: object) -> object:
    """A value without what PostgreSQL has no text for: a NUL character, a subclass of ``str``."""
    return str(value).replace("\0", "\N{REPLACEMENT CHARACTER}") if isinstance(value, str) else value


class PostgresDatabase:
    """``Database`` of one journal in a PostgreSQL database."""

    failures: tuple[type[Exception], ...] = (psycopg.Error, PoolClosed)

    def __init__(
        self, url: str, shared: _Shared, journal: int, *, holder: str | None = None, is_read_only: bool = False
    ) -> None:
        """``journal`` is the number of the journal, ``holder`` of its lease, if this process has it."""
        self.name = shown_url(url)
        self.journal = journal
        self._url = url
        self._pool = shared.pool
        self._leases = shared.leases
        self._holder = holder
        self._is_read_only = is_read_only
        self._is_closed = False
        self._open: _Connection | None = None
        """The connection of the open transaction."""

    def run(self, statement: str, values: Sequence[object] = ()) -> psycopg.Cursor[tuple[Any, ...]]:
        text, given = self._prepared(statement, values)
        if self._open is not None:
            return self._open.execute(text, given)
        with self._pool.connection() as connection:
            return connection.execute(text, given)

    def run_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        assert self._open is not None, "within a transaction"
        text, _ = _in_postgres(statement)
        with self._open.cursor() as cursor:
            cursor.executemany(text, (self._prepared(statement, row)[1] for row in rows))

    def stream(self, statement: str, values: Sequence[object] = ()) -> Iterator[Sequence[object]]:
        text, given = self._prepared(statement, values)
        if self._open is not None:
            yield from self._open.execute(text, given)
            return
        with self._pool.connection() as connection, connection.cursor() as cursor:
            yield from cursor.stream(text, given, size=_ROWS_AT_A_TIME)

    def write(self, statement: str, values: Sequence[object] = ()) -> int:
        if self._is_read_only:
            with self.transaction():
                return self.run(statement, values).rowcount
        # A statement outside of a transaction is one.
        try:
            return self.run(statement, values).rowcount
        except self.failures as error:
            raise self.fault(error) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        try:
            if self._open is not None:
                with self._open.transaction():
                    yield
                return
            with self._pool.connection() as connection, connection.transaction():
                self._open = connection
                try:
                    if self._is_read_only:
                        connection.execute("SET TRANSACTION READ ONLY")
                    yield
                finally:
                    self._open = None
        except self.failures as error:
            raise self.fault(error) from error

    def fault(self, error: Exception, *, place: str = "") -> JournalError:
        return _fault(self.name, error, place=place)

    def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        if self._holder is not None:
            self._leases.give_back(self._holder)
        _give_back(self._url)

    def _prepared(self, statement: str, values: Sequence[object]) -> tuple[str, Sequence[object]]:
        text, places = _in_postgres(statement)
        given = [_storable(value) for value in values]
        for place in places:
            given.insert(place, self.journal)
        return text, given


class PostgresJournal(SqlJournal):
    """``StoredJournal`` in a PostgreSQL database, found by its role and address."""

    _db: PostgresDatabase

    def __init__(self, url: str, *, role: str, address: str, dump: Dump, is_to_work: bool = False) -> None:
        """Open or create the journal. A process that works on it (``is_to_work``) holds its lease until ``close``.

        Raises ``JournalHeld`` if another process does, and ``JournalError`` if the database cannot be used.
        """
        name = shown_url(url)
        with _borrowed(url, name) as shared:
            with shared.pool.connection() as connection:
                bring_up_to_date(connection, name)
                journal = _number(connection, role, address) or _new_number(connection, role, address)
            lease = shared.leases.take(journal, f"{name} ({role} {address})") if is_to_work else None
            holder = None if lease is None else lease.holder
            try:
                super().__init__(PostgresDatabase(url, shared, journal, holder=holder), dump=dump)
                if lease is not None:
                    self._steps = lease.steps  # a process that was stopped since then must not use a later holder's
            except BaseException:
                if holder is not None:
                    shared.leases.give_back(holder)
                raise

    @classmethod
    def to_look_at(cls, url: str, *, role: str, address: str) -> PostgresJournal:
        """Open a journal to read it, even while its role is running. Raises ``JournalError`` if it is not there."""
        name = shown_url(url)
        journal = cls.__new__(cls)
        with _borrowed(url, name) as shared:
            with shared.pool.connection() as connection:
                check_version(connection, name)
                number = _number(connection, role, address)
            if number is None:
                raise JournalUnusable(f"{name}: has no journal of {role} {address}; start the role once")
            SqlJournal.__init__(
                journal, PostgresDatabase(url, shared, number, is_read_only=True), dump=lambda _name, _part: ""
            )
        return journal


class PostgresCalls:
    """The model calls of a journal, and what all of a database have spent. Any thread may use it."""

    def __init__(self, url: str, *, role: str, address: str) -> None:
        self._url = url
        self._role = role
        self._address = address

    def is_there(self) -> bool:
        """Always: the journal was opened before."""
        return True

    @contextmanager
    def opened(self, *, alone: bool = False) -> Iterator[PostgresDatabase]:
        """Open it for one transaction, ``alone`` for one that no other such transaction can interleave with. Raises
        ``JournalError``."""
        name = shown_url(self._url)
        with _borrowed(self._url, name) as shared:
            with shared.pool.connection() as connection:
                check_version(connection, name)
                number = _number(connection, self._role, self._address)
            if number is None:
                raise JournalUnusable(f"{name}: has no journal of {self._role} {self._address}; start the role once")
            db = PostgresDatabase(self._url, shared, number)
        with closing(db), db.transaction():
            if alone:
                db.run(f"SELECT pg_advisory_xact_lock({_SPENDING_LOCK})")
            yield db


def is_begun(url: str, *, role: str, address: str) -> bool:
    """Whether the journal exists. Raises ``JournalError`` if the database cannot be asked."""
    return _ask(url, role, address, lambda _connection, _number: True)


def owners(url: str) -> list[tuple[str, str]]:
    """The role and the address of each journal in a database. Raises ``JournalError`` if it cannot be asked."""
    name = shown_url(url)
    with _borrowed(url, name) as shared, shared.pool.connection() as connection:
        check_version(connection, name)
        rows = connection.execute("SELECT role, address FROM owner ORDER BY role, address").fetchall()
    _give_back(url)
    return [(str(role), str(address)) for role, address in rows]


def is_worked_on(url: str, *, role: str, address: str) -> bool:
    """Whether a living process works on the journal. Raises ``JournalError`` if the database cannot be asked."""
    return _ask(url, role, address, is_held)


def _ask(url: str, role: str, address: str, question: Callable[[_Connection, int], bool]) -> bool:
    """The answer about a journal; ``False`` if there is none."""
    try:
        server, patience = patience_of(url)
        with AWAY.waiting(server), connect(server, patience) as connection:
            _configure(connection, server, patience)
            if not is_there(connection):
                return False
            number = _number(connection, role, address)
            return number is not None and question(connection, number)
    except PostgresDatabase.failures as error:
        raise _fault(shown_url(url), error) from error


def shown_url(url: str) -> str:
    """The address of a database without its password. Raises ``JournalUnusable`` if it is none."""
    try:
        parts = conninfo_to_dict(patience_of(url)[0])
    except psycopg.Error:
        # The error quotes the text, which may hold a password.
        raise JournalUnusable(
            "the journal's address is no PostgreSQL address; write postgresql://USER@HOST/DATABASE"
        ) from None
    if any("@" in str(parts.get(name) or "") for name in ("host", "port", "dbname")):
        # The end of a password that was not percent-encoded.
        raise JournalUnusable("the journal's address has @, / or # in a user or password; write %40, %2F and %23")
    user = f"{parts['user']}@" if parts.get("user") else ""
    port = f":{parts['port']}" if parts.get("port") else ""
    host, database = str(parts.get("host") or ""), parts.get("dbname") or ""
    if host.startswith("/"):
        return f"postgresql://{user}/{database}?host={host}"
    return f"postgresql://{user}{host}{port}/{database}"


def _number(connection: _Connection, role: str, address: str) -> int | None:
    query = "SELECT journal FROM owner WHERE role = %s AND address = %s"
    row = connection.execute(query, (role, address.lower())).fetchone()
    return None if row is None else int(row[0])


def _new_number(connection: _Connection, role: str, address: str) -> int:
    """Create the journal, unless somebody else does at this moment. Return its number."""
    with connection.transaction():
        owner = (role, address.lower())
        connection.execute("INSERT INTO owner (role, address) VALUES (%s, %s) ON CONFLICT DO NOTHING", owner)
        number = _number(connection, role, address)
        assert number is not None, "has just been written"
        connection.execute("INSERT INTO version (journal, steps) VALUES (%s, 0) ON CONFLICT DO NOTHING", (number,))
    return number


def _fault(name: str, error: Exception, *, place: str = "") -> JournalError:
    if not isinstance(error, PostgresDatabase.failures):
        why = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
        why = f"{place}: {why}" if place else why
        return JournalUnusable(f"{name}: is damaged ({why[:300]}); restore it from a copy")
    if isinstance(error, PoolTimeout | errors.ConnectionTimeout):
        return JournalError(f"{name}: the server has not answered in time")
    why = (error.diag.message_primary if isinstance(error, psycopg.Error) else "") or str(error) or type(error).__name__
    why = " ".join(why.split())[:300]
    if isinstance(error, _FOR_A_PERSON) or (isinstance(error, psycopg.OperationalError) and _REFUSED.search(why)):
        return JournalUnusable(f"{name}: {why}; give the database's user what it needs, or name another database")
    return JournalError(f"{name}: {why}")


def _configure(connection: BoundedConnection, server: str, patience: ServerPatience) -> None:
    connection.silence_s = patience.silence_s
    connection.on_silence = partial(AWAY.found, server)
    connection.execute(_SETTINGS.format(patience))


class _Shared:
    """What all journals of this process in one database share."""

    def __init__(self, url: str) -> None:
        # What it warns about reaches people as the error of a journal, without foreign words.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        self.users = 0
        """Number of open journals."""

        server, patience = patience_of(url)
        self.pool = BoundedPool(
            server,
            connection_class=BoundedConnection,
            kwargs=patience.network,
            configure=lambda connection: _configure(connection, server, patience),
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=patience.connect_s,
            reconnect_timeout=patience.connect_s,
            num_workers=1,
            open=False,
        )
        self.pool.server, self.pool.patience = server, patience
        self.pool.open()
        self.leases = Leases(self.pool, patience)
        self._farewell_s = patience.farewell_s

    def close(self) -> None:
        self.leases.close()
        self.pool.close(timeout=self._farewell_s)


_SHARED: dict[str, _Shared] = {}
_SHARED_LOCK = threading.Lock()


def _take(url: str) -> _Shared:
    with _SHARED_LOCK:
        shared = _SHARED.get(url) or _SHARED.setdefault(url, _Shared(url))
        shared.users += 1
        return shared


def _give_back(url: str) -> None:
    with _SHARED_LOCK:
        shared = _SHARED[url]
        shared.users -= 1
        if shared.users:
            return
        del _SHARED[url]
    shared.close()


@contextmanager
def _borrowed(url: str, name: str) -> Iterator[_Shared]:
    """What this process shares at an address, given back if the block fails. Raises ``JournalError``."""
    shared = _take(url)
    try:
        yield shared
    except PostgresDatabase.failures as error:
        _give_back(url)
        raise _fault(name, error) from error
    except BaseException:
        _give_back(url)
        raise
