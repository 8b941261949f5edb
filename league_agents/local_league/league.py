"""A league of real processes on this machine: each role is a ``league-agents run --watch`` of its own, and the mail
goes through the sandbox.

Rule: every process started here is stopped here, however the league ends, and every wait is bounded in time. If this
process is killed, the kernel ends the others.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from league_agents.app.storage import RoleJournals, role_journals
from league_agents.config.storage_url import DatabaseUrl
from league_agents.journal.port import Note, StoredJournal
from league_agents.kit.errors import LeagueError
from league_agents.kit.private_file import make_private_folder
from league_agents.local_league.machine_clock import MachineClock
from league_agents.local_league.patience import LIMIT_S, until
from league_agents.report.traffic import Participant
from league_agents.sandbox.server import Sandbox

DOMAIN = "league.test"
MANAGER = f"league-office@{DOMAIN}"
RESPONSE = "REGISTRATIONRESPONSE"
POLLS = ("history.list", "messages.list")
UNHURRIED = 0.25
"""Clock rate for tests that must not depend on the machine's speed: the shortest wait of the protocol then lasts as
long as the limit of ``patience``."""


DOUBT = timedelta(seconds=3)
"""Clock step while a process searches for a mail that may have been sent; the search takes more than a minute."""

NOTICED = timedelta(seconds=30)
"""Largest clock advance until a process notices that the mail service is down; far below the protocol's shortest
wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeagueProcess:
    """One process: a role of a group."""

    role: str
    group: str
    agent: str = "scripted"

    @property
    def address(self) -> str:
        """Address of the seat's mailbox."""
        if self.role == "manager":
            return MANAGER
        return f"referee.{self.group}@{DOMAIN}" if self.role == "referee" else f"{self.group}@{DOMAIN}"

    @property
    def name(self) -> str:
        """Base name of the seat's files."""
        return "manager" if self.role == "manager" else f"{self.role}-{self.group}"

    @property
    def participant_id(self) -> str:
        """Identifier of the participant in reports."""
        return {"manager": "LM001", "referee": f"REF-{self.group.upper()}"}.get(self.role, self.group)


def four_seats(
    *, referee: str = "scripted", player_a: str = "scripted", player_b: str = "scripted"
) -> list[LeagueProcess]:
    """The smallest league: a manager, a referee and two players of three groups."""
    return [
        LeagueProcess(role="manager", group=""),
        LeagueProcess(role="referee", group="house", agent=referee),
        LeagueProcess(role="player", group="falcons", agent=player_a),
        LeagueProcess(role="player", group="otters", agent=player_b),
    ]


def unhurried(folder: Path, seats: Sequence[LeagueProcess], **options: Any) -> LocalLeague:
    """Return a league with its own clock, in which no wait of the protocol expires because the machine is busy."""
    chosen = {"registration": timedelta(hours=1), **options}
    return LocalLeague(folder=folder, seats=seats, clock=MachineClock(folder, rate=UNHURRIED), **chosen)


@dataclass(slots=True, kw_only=True)
class LocalLeague:
    """Processes, their files in ``folder``, and the sandbox between them. Use it in a ``with`` statement."""

    folder: Path
    seats: Sequence[LeagueProcess]
    rules: str = "prd"
    registration: timedelta = timedelta(seconds=10)
    poll: timedelta = timedelta(seconds=0.3)
    environment: Mapping[str, str] = field(default_factory=dict)
    database: str | None = None
    """The address of a PostgreSQL database for the journals; ``None`` means a file for each."""

    keeps_mail: bool = False
    """Whether the sandbox keeps its mail in a file, so that it can be started again."""

    clock: MachineClock | None = None
    """Clock of the sandbox and of all processes; each process has the wall clock of its own name. ``None`` means the
    machine's clock."""

    _hosts: dict[str, str] = field(default_factory=dict)
    """The process of each seat that has none of its own, by name."""

    _is_registration_over: bool = False
    _polls: dict[str, int] = field(default_factory=dict)
    """Number of polls of each address when the clock last advanced."""

    sandbox: Sandbox = field(init=False)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __enter__(self) -> LocalLeague:
        make_private_folder(self.folder)
        self.sandbox = self._sandbox(0)
        self.sandbox.start()
        self.sandbox.client_secret_file(self.folder)
        for seat in self.seats:
            token = self.sandbox.token_file(seat.address, self.folder)
            token.replace(self.folder / f"token_{seat.name}.json")
            self.config_of(seat).write_text(yaml.safe_dump(self._settings(seat), sort_keys=False), "utf-8")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            self.stop()
        finally:
            self.sandbox.stop()

    def restart_sandbox(self, witness: LeagueProcess) -> None:
        """Stop the mail service and start it again once ``witness`` has noticed. Requires ``keeps_mail``."""
        port = self.sandbox.port
        self.sandbox.stop()
        log = self.log_of(witness)
        steps = iter(range(NOTICED // self.poll))

        def is_noticed() -> bool:
            if self.clock is not None and next(steps, None) is not None:
                self.clock.advance(self.poll)  # the pauses between its attempts
            return "next look in" in log.read_text("utf-8")

        until(is_noticed, f"{witness.name} misses the mail service")
        self.sandbox = self._sandbox(port)
        self.sandbox.start()

    def _sandbox(self, port: int) -> Sandbox:
        addresses = [MANAGER, *(f"{prefix}{group}@{DOMAIN}" for group in self.groups for prefix in ("", "referee."))]
        state = self.folder / "sandbox.db" if self.keeps_mail else None
        return Sandbox(addresses, port=port, clock=self.clock, state=state)

    @property
    def groups(self) -> list[str]:
        """The groups of the league, in order."""
        return list(dict.fromkeys(seat.group for seat in self.seats if seat.group))

    def config_of(self, seat: LeagueProcess) -> Path:
        """The league file of a process."""
        return self.folder / f"{seat.name}.yaml"

    def log_of(self, seat: LeagueProcess) -> Path:
        """File with the stderr output of a process."""
        return self.folder / f"{seat.name}.log"

    def journal_of(self, seat: LeagueProcess) -> Path:
        """The journal of a process, where it is a file."""
        return self.folder / f"{seat.name}.db"

    def journals_of(self, seat: LeagueProcess) -> RoleJournals:
        """Where the journal of a process is kept."""
        place = self.journal_of(seat) if self.database is None else DatabaseUrl(self.database)
        return role_journals(place, role=seat.role, address=seat.address)

    def start(self, seat: LeagueProcess, *program: str, guests: Sequence[LeagueProcess] = ()) -> None:
        """Start a process, or start it again once it has ended.

        ``program``: another module, and its arguments. ``guests``: the other seats that it runs.
        """
        self._hosts |= {guest.name: seat.name for guest in guests}
        if seat.name in self.processes:
            self.kill(seat)
        python, option, *words = self.command(seat, "run", "--watch")
        words = list(program) or words
        with self.log_of(seat).open("ab") as log:
            self.processes[seat.name] = subprocess.Popen(  # noqa: S603 - our own command
                [python, option, "league_agents.kit.lifeline", *words],
                cwd=self.folder, env=self.environment_of(seat),
                stdin=subprocess.PIPE, stdout=log, stderr=log, process_group=0,
            )  # fmt: skip

    def command(self, seat: LeagueProcess, *words: str, config: Path | None = None) -> list[str]:
        """Command line of ``league-agents`` with these arguments; ``config`` replaces the seat's league file."""
        return [sys.executable, "-m", "league_agents", *words, "--config", str(config or self.config_of(seat))]

    def environment_of(self, seat: LeagueProcess) -> dict[str, str]:
        """Environment variables for every process of a seat."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("GMAIL_", "LEAGUE_"))}
        timed = {} if self.clock is None else self.clock.environment(seat.name)
        return {**kept, "LEAGUE_AGENTS_DATA": str(self.folder / "data"), **self.environment, **timed}

    def run(self, seat: LeagueProcess, *words: str, config: Path | None = None) -> subprocess.CompletedProcess[bytes]:
        """Run a command for a seat and wait for its end."""
        return subprocess.run(  # noqa: S603 - our own command
            self.command(seat, *words, config=config), cwd=self.folder, env=self.environment_of(seat),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip

    def start_all(self) -> None:
        """Start every process, the league manager last, so that the others receive its first message."""
        for seat in sorted(self.seats, key=lambda seat: seat.role == "manager"):
            self.start(seat)

    def kill(self, seat: LeagueProcess) -> None:
        """End a process as a power cut would."""
        with self.processes.pop(seat.name) as process:
            process.kill()
            process.wait(LIMIT_S)

    def stop(self) -> dict[str, int]:
        """Ask every process to end and wait until it has. Return exit codes by seat name."""
        codes: dict[str, int] = {}
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for name, process in self.processes.items():
            with process:
                try:
                    codes[name] = process.wait(LIMIT_S)
                except subprocess.TimeoutExpired:
                    process.kill()
                    codes[name] = process.wait()
        self.processes.clear()
        return codes

    def season(self) -> Note | None:
        """The record of the season; ``None`` until it is over."""
        journal = self.look_at_journal(next(seat for seat in self.seats if seat.role == "manager"))
        if journal is None:
            return None
        try:
            return next((note for note in journal.notes() if note.kind == "season"), None)
        finally:
            journal.close()

    def wait_for_season(self, limit_s: float = LIMIT_S) -> Note:
        """Wait until the season is over and every participant was told. Raises as ``until`` does."""
        self.until(lambda: self.season() is not None and self._is_quiet(), "the season is over", limit_s)
        season = self.season()
        assert season is not None
        return season

    def wait_for_log(self, seat: LeagueProcess, words: str, times: int = 1) -> None:
        """Wait until a process has logged these words ``times`` times, restarts included. Raises as ``until`` does."""
        log = self.log_of(seat)
        self.until(lambda: log.read_text("utf-8").count(words) >= times, f"{seat.name} logs {words!r}")

    def until(self, condition: Callable[[], bool], event: str, limit_s: float = LIMIT_S) -> None:
        """Wait for an event of the league. With a ``clock``, time advances as the processes poll.

        Raises ``LeagueError`` if a process ends before the event, ``LimitExceeded`` if the event does not happen.
        """

        def look() -> bool:
            if condition():
                return True
            self.end_registration()
            self._pass_poll()
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise LeagueError(
                        f"{name} ended with code {process.returncode} before {event}: {self._last_line(name)}"
                    )
            return False

        until(look, event, story=self._logs, limit_s=limit_s)

    def _last_line(self, name: str) -> str:
        """Last line of a process's log, which says why it ended."""
        lines = (self.folder / f"{name}.log").read_text("utf-8", "replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "it said nothing")

    def end_registration(self) -> None:
        """Advance the clock past the registration period once every seat was sent the answer to its registration."""
        if self.clock is None or self._is_registration_over:
            return
        answered = {
            mail.view.header("to")
            for mail in self.sandbox.mail(MANAGER, "SENT")
            if RESPONSE in mail.view.header("subject").replace("_", "")
        }
        if answered >= {seat.address for seat in self.seats if seat.role != "manager"}:
            self._is_registration_over = True
            self.clock.advance(self.registration)

    def _pass_poll(self) -> None:
        """Advance the clock by one poll interval if every process has polled since the last time and no call runs."""
        if self.clock is None:
            return
        accounts: Any = self.sandbox.report()["accounts"]
        running = self._running()
        polls = {
            seat.address: sum(
                accounts.get(seat.address, {}).get("methods", {}).get(name, {}).get("calls", 0) for name in POLLS
            )
            for seat in running
        }
        if not running or any(count <= self._polls.get(address, 0) for address, count in polls.items()):
            return
        journals = [journal for seat in running if (journal := self.look_at_journal(seat)) is not None]
        try:
            if not any(journal.pending_calls() for journal in journals):
                self._polls |= polls
                is_in_doubt = any(journal.sends_in_doubt() for journal in journals)
                self.clock.advance(max(self.poll, DOUBT) if is_in_doubt else self.poll)
        finally:
            for journal in journals:
                journal.close()

    def look_at_journal(self, seat: LeagueProcess) -> StoredJournal | None:
        """Open the journal of a seat for reading; the caller closes it. ``None`` until the journal exists."""
        try:
            journals = self.journals_of(seat)
            return journals.look() if journals.is_begun() else None
        except LeagueError:
            return None  # the process is creating it

    def _logs(self) -> str:
        logs = [self.log_of(seat) for seat in self.seats]
        return "\n".join(f"{log.name}:\n{log.read_text('utf-8')[-2_000:]}" for log in logs if log.exists())

    def _running(self) -> list[LeagueProcess]:
        return [seat for seat in self.seats if self._hosts.get(seat.name, seat.name) in self.processes]

    def _is_quiet(self) -> bool:
        """Whether no running process has mail to read or to send."""
        running = self._running()
        return not any(self.sandbox.mail(seat.address, "UNREAD") or self._has_unsent(seat) for seat in running)

    def _has_unsent(self, seat: LeagueProcess) -> bool:
        journal = self.look_at_journal(seat)
        if journal is None:
            return False
        try:
            return any(item.is_waiting for item in journal.outbox(is_recent=True))
        finally:
            journal.close()

    def participants(self) -> list[Participant]:
        """Every participant with its journal opened for reading; the caller closes the journals."""
        return [
            Participant(
                participant_id=seat.participant_id,
                address=seat.address,
                journal=self.journals_of(seat).look(),
            )
            for seat in self.seats
        ]

    def _settings(self, seat: LeagueProcess) -> dict[str, object]:
        role: dict[str, object] = {
            "address": seat.address,
            "journal": self.journal_of(seat).name if self.database is None else self.database,
            "token": f"token_{seat.name}.json",
        }
        if seat.role != "manager":
            role |= {"id": seat.participant_id, "group_id": seat.group, "agent": seat.agent}
            role |= {"display_name": seat.group.title()}
        settings: dict[str, object] = {
            "league": {"manager_email": MANAGER, "league_id": "LOCAL"},
            "rules": self.rules,
            "poll": {
                "active_seconds": self.poll.total_seconds(),
                "idle_seconds": 2 * self.poll.total_seconds(),
            },
            "gmail": {"endpoint": self.sandbox.url, **({"timeout_seconds": LIMIT_S} if self.clock else {})},
            "roles": {seat.role: role},
        }
        if seat.role == "manager":
            settings["season"] = {
                "id": "LOCAL-1",
                "name": "A league on this machine",
                "number": 1,
                "registration_seconds": self.registration.total_seconds(),
                "teams": [
                    {
                        "group_id": group,
                        "player": f"{group}@{DOMAIN}",
                        "referee": f"referee.{group}@{DOMAIN}",
                        "name": group.title(),
                    }
                    for group in self.groups
                ],
            }
        return settings
