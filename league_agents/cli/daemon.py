"""``league-agents run`` on real mail: ``--scan``, ``--watch``, ``--test-connectivity``."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from league_agents.cli.numbers import FiniteRange
from league_agents.cli.options import CONFIGS, ROLES
from league_agents.kit.errors import AuthorizationExpired, LeagueError
from league_agents.kit.values import evolve

if TYPE_CHECKING:
    from league_agents.app.agent_environment import AgentEnvironment
    from league_agents.app.live import Live
    from league_agents.app.push import PushListener
    from league_agents.cli.logs import DaemonLog
    from league_agents.config.league_settings import LeagueSettings, RoleSettings
    from league_agents.runner.scan import ScanReport
    from league_agents.runner.wakeup import StopRequest

F = TypeVar("F", bound=Callable[..., Any])

SHORTEST_POLL_S, LONGEST_POLL_S = 0.2, 86_400.0

EPILOG = """\b
On real mail (a league file says who you are: league-agents config init player):
  league-agents run --test-connectivity        does everything that is needed work?
  league-agents run --watch                    until Ctrl-C, all roles of league.yaml
  league-agents run --watch --role player --config my-league.yaml
  league-agents run --watch --config leagues/  every league file of the folder, in one process;
                                               'manage reload' or SIGHUP reads them again
  league-agents run --scan --once-quiet        one pass, for cron
"""

_OPTIONS = (
    click.option("--scan", is_flag=True, help="Real mail: deal with everything that waits, then end."),
    click.option("--watch", is_flag=True, help="Real mail: work until Ctrl-C or SIGTERM."),
    click.option("--test-connectivity", is_flag=True, help="Real mail: try everything that is needed, line by line."),
    ROLES,
    CONFIGS,
    click.option(
        "-p",
        "--poll-interval",
        type=FiniteRange(SHORTEST_POLL_S, LONGEST_POLL_S),
        metavar="S",
        help="Seconds between two looks into the mailbox.",
    ),
    click.option("--once-quiet", is_flag=True, help="With --scan: print nothing when there was nothing to do."),
    click.option("--log-json", is_flag=True, help="Log one JSON object a line."),
    click.option(
        "--log-level",
        type=click.Choice(("DEBUG", "INFO", "WARNING", "ERROR"), case_sensitive=False),
        metavar="LEVEL",
        help="DEBUG, INFO, WARNING or ERROR.  [default: as in the league file, or INFO]",
    ),
    click.option("--log-file", type=click.Path(path_type=Path), metavar="FILE", help="Log there instead of stderr."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaemonChoice:
    """What the command line says about real mail."""

    scan: bool
    watch: bool
    test_connectivity: bool
    roles: tuple[str, ...]
    config: tuple[Path, ...]
    poll_interval: float | None
    once_quiet: bool
    log_json: bool
    log_level: str | None
    log_file: Path | None

    @property
    def mode(self) -> str | None:
        """``--scan``, ``--watch``, ``--test-connectivity`` or ``None``. Raises ``UsageError`` for two of them."""
        modes = {"--scan": self.scan, "--watch": self.watch, "--test-connectivity": self.test_connectivity}
        chosen = [name for name, is_chosen in modes.items() if is_chosen]
        if len(chosen) > 1:
            raise click.UsageError(f"{' and '.join(chosen)} exclude each other; choose one")
        return chosen[0] if chosen else None

    def given(self) -> list[str]:
        """The options that only make sense on real mail and were given."""
        options = {
            "--role": self.roles,
            "--config": self.config,
            "--poll-interval": self.poll_interval,
            "--once-quiet": self.once_quiet,
            "--log-json": self.log_json,
            "--log-level": self.log_level,
            "--log-file": self.log_file,
        }
        return [name for name, value in options.items() if value]


def daemon_options(command: F) -> F:
    """Adds the options of this module to a command. Their values are those of ``DaemonChoice``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def run_on_mail(choice: DaemonChoice, *, is_demo: bool, in_process: bool) -> int:
    """Do what was chosen. The exit code."""
    from league_agents.app.agent_environment import AgentEnvironment
    from league_agents.cli.screen import own_stdout
    from league_agents.config.league_folder import are_many, league_files

    paths = league_files(choice.config)
    environment = AgentEnvironment(os.environ)
    if are_many(choice.config):
        if choice.mode != "--watch":
            raise click.UsageError(f"{choice.mode} takes one league file; name it with --config")
        return _watch_many(
            choice, lambda: league_files(choice.config), environment, is_demo=is_demo, in_process=in_process
        )
    settings = evolve(settings_of(choice, paths[0], environment, is_demo=is_demo), in_process=in_process)
    if choice.mode == "--watch" and settings.lists_several:
        return _watch_many(choice, lambda: paths, environment, is_demo=is_demo, in_process=in_process)
    with own_stdout() as stdout:
        if choice.mode == "--test-connectivity":
            from league_agents.cli.connectivity import test_connectivity

            return test_connectivity(settings, stdout)
        with log_of(settings, in_process=in_process) as log:
            return _scan(settings, log, choice) if choice.mode == "--scan" else _watch(settings, log)


def settings_of(
    choice: DaemonChoice, path: Path, environment: AgentEnvironment, *, is_demo: bool, is_one_of_many: bool = False
) -> LeagueSettings:
    """A league file with the command line laid over it. Raises ``ConfigError``."""
    from league_agents.app.finished import refuse_unfinished
    from league_agents.app.push import refuse_missing_push
    from league_agents.config.league_file import read_league_file

    variables = environment.of(path)
    settings = read_league_file(path, variables, only=choice.roles, is_demo=is_demo, is_one_of_many=is_one_of_many)
    environment.add(path, variables)
    refuse_unfinished(settings)
    if choice.watch:
        refuse_missing_push(settings)
    if choice.poll_interval is not None:
        interval = timedelta(seconds=choice.poll_interval)
        settings = evolve(settings, pace=evolve(settings.pace, active=interval, idle=interval))
    log = settings.log
    return evolve(
        settings,
        log=evolve(
            log,
            level=(choice.log_level or log.level).upper(),
            is_json=choice.log_json or log.is_json,
            file=choice.log_file or log.file,
        ),
    )


@contextlib.contextmanager
def log_of(settings: LeagueSettings, *, in_process: bool) -> Iterator[DaemonLog]:
    """The log that a league file wants. With ``in_process`` whatever is printed meanwhile is a line of it."""
    from league_agents.app.secret_files import secret_texts_of
    from league_agents.cli.logs import open_log
    from league_agents.user_code.said import prints_are_told

    chosen, secrets = settings.log, secret_texts_of(settings, os.environ)
    with (
        contextlib.closing(
            open_log(level=chosen.level, is_json=chosen.is_json, file=chosen.file, secrets=secrets)
        ) as log,
        prints_are_told() if in_process else contextlib.nullcontext(),
    ):
        yield log


def _watch(settings: LeagueSettings, log: DaemonLog) -> int:
    from league_agents.app.live import live_roles
    from league_agents.app.reload import refuse_second
    from league_agents.app.watched import watched
    from league_agents.runner.wakeup import StopRequest
    from league_agents.runner.watch import watch

    if settings.metrics is not None:
        refuse_second([settings])  # before its address of figures is found in use
    stop = StopRequest()
    try:
        with (
            ends_on_signals(stop),
            contextlib.closing(_listener(log)) as listener,
            watched(
                settings.metrics, log, os.environ, tell=lambda line: log.say("", line, event="metrics")
            ) as watching,
            live_roles(settings, observer=watching.observer) as roles,
        ):
            _hide_targets(log, roles)
            for live in roles:
                address = live.settings.address
                log.say(live.settings.role, f"watching {address} (process {os.getpid()})", event="started")
                listener.begin(settings, live.settings, live.wakeup)
            watch([(live.role, live.wakeup) for live in roles], stop, on_end=watching.ending)
            for live in roles:
                log.say(live.settings.role, "stopped", event="stopped")
    except LeagueError as error:
        if settings.log.file is not None:  # on stderr it is the last line
            log.say("", str(error), level=logging.ERROR, event="ended")
        raise
    finally:
        stop.close()
    return 0


def _watch_many(
    choice: DaemonChoice,
    paths: Callable[[], Sequence[Path]],
    environment: AgentEnvironment,
    *,
    is_demo: bool,
    in_process: bool,
) -> int:
    """Run every mailbox of the league files, and read the files again when asked to."""
    from league_agents.app.reload import refuse_second
    from league_agents.app.running_roles import RunningRoles
    from league_agents.app.secret_files import add_secrets_of
    from league_agents.app.watched import metrics_among, watched
    from league_agents.cli.screen import own_stdout
    from league_agents.config.league_folder import LeagueFiles, are_many, read_league_files
    from league_agents.report.secret_texts import secrets_of_environment
    from league_agents.runner.wakeup import StopRequest
    from league_agents.runner.watch import LONGEST_STEP

    def read(path: Path) -> LeagueSettings:
        settings = settings_of(choice, path, environment, is_demo=is_demo, is_one_of_many=are_many(choice.config))
        return evolve(settings, in_process=in_process)

    def on_start(settings: LeagueSettings, live: Live) -> None:
        add_secrets_of(settings, live.settings, log.secrets)
        log.secrets.ask(live.secret_texts, live.settings.label)
        listener.begin(settings, live.settings, live.wakeup)

    def on_end(role: RoleSettings, failure: BaseException | None) -> None:
        if failure is not None:
            said = f"ended by a bug: {type(failure).__name__}: {failure}; it begins again when the files are read again"
            log.say(role.label, said, level=logging.ERROR, event="role_failed")
        listener.end(role)
        log.secrets.forget(role.label)
        log.say(role.label, "stopped", level=logging.DEBUG, event="stopped")

    files = read_league_files(paths(), read)
    if not files.read:
        raise next(iter(files.wrong.values()))
    stop = StopRequest()
    metrics = metrics_among(files.read)
    if metrics is not None:
        refuse_second(files.read)  # before its address of figures is found in use
    with (
        own_stdout(),
        log_of(files.read[0], in_process=in_process) as log,
        contextlib.closing(_listener(log)) as listener,
        watched(metrics, log, os.environ, tell=lambda line: log.say("", line, event="metrics")) as watching,
    ):
        roles = RunningRoles(watching.observer, on_start=on_start, on_end=on_end)

        def apply(files: LeagueFiles) -> None:
            log.secrets.add(secrets_of_environment(os.environ))
            changes = roles.apply(files)
            for path, error in files.wrong.items():
                kept = "what runs from it stays as it was" if path in roles.files else "nothing of it runs"
                log.say("", f"{error}; {kept}", level=logging.ERROR, event="file_refused")
            if (warning := roles.room()) is not None:
                log.say("", warning, level=logging.WARNING, event="open_files")
            count = "1 mailbox" if len(roles) == 1 else f"{len(roles)} mailboxes"
            log.say("", f"watching {count} (process {os.getpid()}): {changes}", event="started")

        try:
            with ends_on_signals(stop):
                apply(files)
                while not stop.is_requested:
                    stop.wait()
                    if stop.is_reload_requested and not stop.is_requested:
                        stop.is_reload_requested = False
                        with watching.reloading():
                            try:
                                apply(read_league_files(paths(), read, before=roles.files))
                            except Exception as error:
                                # The edge of a reload: what cannot be read must not end the mailboxes that run.
                                kind = "" if isinstance(error, LeagueError) else f"{type(error).__name__}: "
                                said = f"{kind}{error}; everything stays as it was"
                                log.say("", said, level=logging.ERROR, event="file_refused")
        finally:
            watching.ending()
            roles.close(LONGEST_STEP)
            stop.close()
    return 0


def _listener(log: DaemonLog) -> PushListener:
    from league_agents.app.push import PushListener

    def tell(text: str, is_trouble: bool) -> None:
        event = "push_failed" if is_trouble else "push_recovered"
        log.say("", text, level=logging.WARNING if is_trouble else logging.INFO, event=event)

    return PushListener(tell)


def _scan(settings: LeagueSettings, log: DaemonLog, choice: DaemonChoice) -> int:
    from league_agents.app.live import live_roles
    from league_agents.cli import exit_code_of
    from league_agents.runner.scan import scan

    reports: dict[str, ScanReport] = {}
    failures: dict[str, Exception] = {}

    def one(live: Live) -> None:
        name = live.settings.role
        try:
            reports[name] = scan(live.role, live.wakeup.rest)
        except Exception as error:
            # The edge of a role: the others go on.
            failures[name] = error

    with live_roles(settings, observer=log) as roles:
        _hide_targets(log, roles)
        if not choice.once_quiet:
            for live in roles:
                log.say(live.settings.role, settings.gmail.awaited, event="waiting")
        # Mailboxes are independent: nobody waits for the agents of another role.
        threads = [threading.Thread(target=one, args=(live,), daemon=True, name=live.settings.role) for live in roles]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)  # not for ever at once, so that Ctrl-C is heard
    for name, report in reports.items():
        if choice.once_quiet and report.is_empty:
            continue
        waits = f", {report.waiting} could not be sent yet" if report.waiting else ""
        mails = "1 mail" if report.received == 1 else f"{report.received} mails"
        log.say(name, f"{mails} taken in, {report.sent} sent{waits}", event="scanned")
    for name, error in failures.items():
        log.say(name, str(error) or type(error).__name__, level=logging.ERROR, event="scan_failed")
    unforeseen = next((error for error in failures.values() if not isinstance(error, LeagueError)), None)
    if unforeseen is not None:
        raise unforeseen
    named = [error for error in failures.values() if isinstance(error, LeagueError)]
    # What a person has to do comes before what may pass.
    named.sort(key=lambda error: not isinstance(error, AuthorizationExpired))
    return exit_code_of(named[0]) if named else 0


def _hide_targets(log: DaemonLog, roles: Sequence[Live]) -> None:
    for live in roles:
        log.secrets.ask(live.secret_texts, live.settings.label)


@contextlib.contextmanager
def ends_on_signals(stop: StopRequest) -> Iterator[None]:
    """SIGINT and SIGTERM ask for the end; a second one does not wait for the step in hand. So does SIGHUP when the
    terminal is gone; otherwise it asks for the configuration to be read again, where the caller of ``stop`` can."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before: Mapping[int, Any] = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(_number: int, _frame: object) -> None:
        for each in before:
            signal.signal(each, signal.default_int_handler if each == signal.SIGINT else signal.SIG_DFL)
        stop.request()

    def ask_to_reload(_number: int, _frame: object) -> None:
        if had_terminal and not is_immune and not _has_terminal():  # nohup makes immune
            stop.request()
        else:
            stop.request_reload()

    for number in before:
        signal.signal(number, ask)
    if hasattr(signal, "SIGHUP"):
        is_immune = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
        had_terminal = _has_terminal()
        before = {**before, signal.SIGHUP: signal.signal(signal.SIGHUP, ask_to_reload)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _has_terminal() -> bool:
    """Whether the process has a terminal of its own that still exists."""
    try:
        Path("/dev/tty").open("rb").close()
    except OSError:
        return False
    return True
