"""One role on real mail: a runner that recovers from temporary failures.

Rule 1: no temporary failure ends a role. An unreachable mailbox is tried again after a pause; a failing journal or a
bug makes the role restart from the last commit; a lost authorization suspends it until a person has logged in. Errors
that a restart cannot repair (a wrong configuration, a damaged or missing journal) are raised.
Rule 2: this module makes no decision about the game and never sleeps: a turn returns how long to rest after it.
Rule 3: before any work starts, the mailbox is called once, which gives its address and the service's time.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from league_agents.journal.port import InboxRow, Journal, Note, OutboxItem
from league_agents.kit.clock import Clock
from league_agents.kit.errors import (
    AuthorizationExpired,
    ConfigError,
    JournalError,
    JournalHeld,
    JournalUnusable,
    MailError,
)
from league_agents.mail.port import Stopping
from league_agents.runner.pace import Backoff, Pace
from league_agents.runner.probe import probe_of
from league_agents.runner.role import Observer, RoleRunner

DAEMON = "daemon"
"""The kind of a note about the process itself, and the name of its facts in the journal."""

SHORTEST_REST = timedelta(milliseconds=100)
"""Shortest rest after an idle turn: prevents a busy loop when something is due that cannot be done."""

CLOCK_TOLD_EVERY_S = 3_600.0
"""Seconds between two warnings that this machine's clock is wrong."""

FACTS_EVERY = timedelta(seconds=10)
"""Interval at which the facts about an idle role are stored."""

FACTS_OF_MANY_EVERY = timedelta(minutes=1)
"""The same in a process of many roles, each of which waits for the disk."""

LONGEST_FACT = 300
"""Characters of an error's text that are stored."""

SET_ASIDE_FOR = timedelta(minutes=1)
"""How often a role that was set aside looks whether its files have been repaired."""

HELD_JOURNAL_EVERY = timedelta(seconds=3)
"""How often a role looks whether the process that works on its journal has ended."""

RUNG_EVERY_S = 1.0
"""Shortest time between two looks into a mailbox because mail was announced. Gmail announces as often at most; whoever
else may publish to the topic could spend the mailbox's quota."""

TIDY_EVERY = timedelta(hours=1)
"""Interval at which an idle role does what is not urgent."""

LONGEST_JOURNAL_PAUSE = timedelta(seconds=8)
"""Longest pause until a journal that cannot be used is tried again. A database is not spared by waiting longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredRole:
    """The parts of a role that is not started yet."""

    runner: RoleRunner[Any]
    journal: Journal
    facts: Callable[[], Mapping[str, object]] = dict
    """Returns JSON values by name to keep across a restart, such as the quota spent."""

    tidy: Callable[[], bool] = lambda: False
    """Does a little work that is not urgent, such as archiving. Returns whether there is more."""

    close: Callable[[], None] = lambda: None
    """Releases resources that the runner does not close itself, such as connections."""

    journal_bytes: Callable[[], int | None] = lambda: None
    """Returns the size of the journal; ``None`` if it is not known."""

    sends_left: Callable[[], int | None] = lambda: None
    """Returns how many mails may still be sent today; ``None`` if it is not known."""


@dataclass(slots=True, kw_only=True)
class _Facts:
    """The facts that a status command shows about a running role."""

    started_at: datetime
    polled_at: datetime | None = None
    received_at: datetime | None = None
    sent_at: datetime | None = None
    errors: int = 0
    last_error: str = ""
    last_error_at: datetime | None = None
    stuck: str = ""
    trouble: str = ""

    def to_json(self, pid: int) -> dict[str, object]:
        def text(at: datetime | None) -> str | None:
            return None if at is None else at.isoformat()

        return {
            "pid": pid,
            "started_at": text(self.started_at),
            "polled_at": text(self.polled_at),
            "received_at": text(self.received_at),
            "sent_at": text(self.sent_at),
            "errors": self.errors,
            "last_error": self.last_error,
            "last_error_at": text(self.last_error_at),
            "stuck": self.stuck,
            "trouble": self.trouble,
        }

    def recall(self, kept: object) -> None:
        """Take over the instants that an earlier process stored, except where this one has its own."""
        if not isinstance(kept, Mapping):
            return
        for name in ("polled_at", "received_at", "sent_at"):
            text = kept.get(name)
            if getattr(self, name) is None and isinstance(text, str):
                with contextlib.suppress(ValueError):
                    setattr(self, name, datetime.fromisoformat(text))


MakeRole = Callable[[Observer], WiredRole]
"""Builds a role that reports to this observer. Called again for each restart of the role."""


@dataclass(slots=True, kw_only=True)
class LiveRole:
    """One role, run in turns. Used by one thread at a time."""

    name: str
    """The role's name in the log: ``referee``, or ``referee NAME`` where several run together."""

    make: MakeRole = field(repr=False)
    clock: Clock
    pace: Pace
    pid: int
    observer: Observer | None = None
    """Receives the role's events; may be replaced at any time. ``None``: nobody does."""

    is_game_open: Callable[[object], bool] = lambda _state: False
    """Whether a peer may be waiting for this role in the given state of the machine."""

    authorization: Callable[[], object] = lambda: None
    """Returns a value that changes when a person has logged in again."""

    check: Callable[[], None] = lambda: None
    """Called before every start; raises if the role cannot be started."""

    has_ended: Callable[[RoleRunner[Any]], bool] = lambda _runner: False
    """Whether the role will never have anything to do again."""

    on_start: Callable[[RoleRunner[Any]], None] = lambda _runner: None
    """Called once after every start, for example for a standing command; an error counts as an error of the turn."""

    is_one_of_many: bool = False
    """Whether it shares its process with many others. Then no error ends it: after one that a person must repair it
    looks again now and then."""

    clock_trouble: Callable[[], str | None] = lambda: None
    """Returns a one-line warning about this machine's wall clock; ``None`` if it is right."""

    hears_of_mail: Callable[[], bool] = lambda: False
    """Whether ``was_rung`` says at the moment when mail has arrived."""

    was_rung: Callable[[], bool] = lambda: False
    """Whether mail has arrived since the last call."""

    _wired: WiredRole | None = None
    _last_state: object = None
    _is_started: bool = False
    _next_poll_s: float | None = None
    _looked_s: float = -math.inf
    """When the mailbox was last looked into, in seconds of the monotonic clock."""

    _active_s: float = field(init=False)
    _kept_s: float | None = None
    _kept_trouble: str = ""
    _tidy_s: float | None = None
    """When to do next what is not urgent; ``None`` for when nothing else is to be done."""

    _told_clock_s: float | None = None
    """When the clock warning was last given, in seconds of the monotonic clock; ``None`` if never."""

    _turned_at: datetime | None = None
    _facts: _Facts = field(init=False)
    _mailbox: Backoff = field(init=False)
    _restarts: Backoff = field(init=False)
    _login: object = None
    _retry_s: float | None = None
    _is_waiting: bool = False
    """Whether another process works on the journal."""

    def __post_init__(self) -> None:
        self._facts = _Facts(started_at=self.clock.now())
        self._active_s = self.clock.monotonic_s()
        self._mailbox = Backoff()
        self._restarts = Backoff()

    @property
    def needs_authorization(self) -> str:
        """Why a person must log in before the role can go on; empty if no login is needed."""
        return self._facts.stuck

    @property
    def hindrance(self) -> str:
        """Why the role cannot do its work at the moment, in fixed words; empty if it can."""
        if self._facts.stuck:
            return "it needs an authorization"
        if self._is_waiting:
            return ""  # another process does the work
        if self._mailbox.is_failing:
            return "its mailbox does not answer"
        return "it starts anew after an error" if self._retry_s is not None else ""

    @property
    def is_standing_by(self) -> bool:
        """Whether another process works on the journal, and this one waits for its end."""
        return self._is_waiting

    @property
    def polled_at(self) -> datetime | None:
        """When the mailbox was last read to its end; ``None`` if never."""
        return self._facts.polled_at

    @property
    def trouble(self) -> str:
        """Why the role cannot do its work at the moment; empty if it can."""
        return self._facts.stuck or self._facts.trouble

    @property
    def wired(self) -> WiredRole:
        """The role's parts, made at the first access. Raises the errors of ``make``."""
        if self._wired is None:
            self._wired = self.make(_Watched(role=self, facts=self._facts))
            self._facts.recall(self._wired.journal.kept(DAEMON))
            self._is_started = False
            if self._is_waiting:
                self._is_waiting = False
                self._tell("journal_taken", "nobody works on the journal any more; going on")
        return self._wired

    @property
    def is_started(self) -> bool:
        """Whether the work has been resumed from the journal."""
        return self._wired is not None and self._is_started

    @property
    def state(self) -> object:
        """The machine's state as last committed; ``None`` before the role was built."""
        return self._last_state if self._wired is None else self._wired.runner.state

    @property
    def is_done(self) -> bool:
        """Whether the role has started and will never have anything to do again."""
        return self._wired is not None and self._is_started and self.has_ended(self._wired.runner)

    def start(self, runner: RoleRunner[Any]) -> None:
        """Begin the work. Raises the errors of the mailbox and the journal."""
        self.check()
        self._facts.started_at = self.clock.now()
        runner.start()
        self._is_started = True
        self.on_start(runner)

    def turn(self) -> timedelta:
        """Do all work that is due. Return how long to rest afterwards unless woken.

        Raises ``ConfigError`` and ``JournalUnusable``.
        """
        return probe_of(self.observer).turned(self, self._turn())

    def _turn(self) -> timedelta:
        now, now_s = self.clock.now(), self.clock.monotonic_s()
        self._notice_clock(now, now_s)
        if self._facts.stuck:
            if self.authorization() == self._login:
                return self.pace.idle
            self._facts.stuck = ""
            self._tell("authorized", "there is a new authorization; going on")
        if self._retry_s is not None and now_s < self._retry_s:
            return timedelta(seconds=self._retry_s - now_s)
        try:
            rest = self._work(now)
            if self._restarts.is_failing:
                self._restarts.succeeded()
                self._tell("role_recovered", "the role works again")
            self._retry_s = None
            if not self._mailbox.is_failing:
                self._facts.trouble = ""
        except AuthorizationExpired as error:
            self._stop_for_authorization(str(error))
            return self.pace.idle
        except (ConfigError, JournalUnusable) as error:
            if self.is_one_of_many:
                return self._set_aside(error)
            self._remember_failure(str(error))
            raise
        except JournalHeld as error:
            return self._wait_for_the_journal(error)
        except Exception as error:
            # The outermost handler: after any error the journal still holds the last good state.
            return self._start_anew(error)
        return rest

    def _notice_clock(self, now: datetime, now_s: float) -> None:
        if self._turned_at is not None and now < self._turned_at:
            back = (self._turned_at - now).total_seconds()
            self._tell("clock_set_back", f"the mail service's clock went back by {back:.0f} s; deadlines come later")
        # Until the mailbox has answered, the time is that of this machine's clock, possibly far ahead of the service's.
        self._turned_at = now if self.is_started else None
        trouble = self.clock_trouble()
        if trouble is None and self._told_clock_s is not None:
            self._told_clock_s = None
            self._tell("clock_right", "this machine's clock is right again")
        elif trouble is not None and (self._told_clock_s is None or now_s - self._told_clock_s >= CLOCK_TOLD_EVERY_S):
            self._told_clock_s = now_s
            self._tell("clock_off", trouble)

    def polled(self, at: datetime) -> None:
        """Record that the mailbox was read to its end."""
        self._facts.polled_at = at

    def close(self) -> None:
        """Release all resources. The journal keeps the state of the last step."""
        wired, self._wired = self._wired, None
        probe_of(self.observer).closed(self)
        if wired is not None:
            self._last_state = wired.runner.state
            try:
                self._keep_facts(wired)
            finally:
                _release(wired)

    # -- one turn ---------------------------------------------------------------------------------------------------

    def _work(self, now: datetime) -> timedelta:
        wired = self.wired
        runner = wired.runner
        wake = runner.next_wake()
        was_rung = self.was_rung()  # before the fetch: mail that arrives during it rings again
        if was_rung and not self._mailbox.is_failing and self._next_poll_s is not None:
            self._next_poll_s = min(self._next_poll_s, self._looked_s + RUNG_EVERY_S)
        fetches = (
            self._next_poll_s is None
            or self.clock.monotonic_s() >= self._next_poll_s
            # A deadline needs a later read of the mailbox; a failing mailbox is not read sooner for it.
            or (not self._mailbox.is_failing and wake is not None and wake <= now)
        )
        if fetches or not self._is_started:
            busy = self._with_mailbox(runner, now)
        else:
            busy = runner.obey()
            busy = runner.tick(fetches=False) or busy
        after_s = self.clock.monotonic_s()
        if busy:
            self._active_s = after_s
        every = FACTS_OF_MANY_EVERY if self.is_one_of_many else FACTS_EVERY
        is_changed = busy or self._facts.trouble != self._kept_trouble
        if is_changed or self._kept_s is None or after_s - self._kept_s >= every.total_seconds():
            self._keep_facts(wired)
        if not busy and (self._tidy_s is None or after_s >= self._tidy_s):
            self._tidy_s = None if wired.tidy() else after_s + TIDY_EVERY.total_seconds()
        return self._rest(runner, busy=busy)

    def _with_mailbox(self, runner: RoleRunner[Any], now: datetime) -> bool:
        self._looked_s = self.clock.monotonic_s()
        try:
            if not self._is_started:
                self.start(runner)
            obeyed = runner.obey()
            busy = runner.tick() or obeyed
        except AuthorizationExpired:
            raise
        except Stopping:
            return False
        except MailError as error:
            pause = self._mailbox.failed(error, now)
            self._next_poll_s = self.clock.monotonic_s() + pause.total_seconds()
            self._fail("mailbox_unavailable", f"{error}; next look in {pause.total_seconds():.0f} s")
            return False
        if self._mailbox.is_failing:
            self._mailbox.succeeded()
            self._tell("mailbox_available", "the mailbox answers again")
        self.polled(now)
        self._next_poll_s = None
        return busy

    def _rest(self, runner: RoleRunner[Any], *, busy: bool) -> timedelta:
        now, now_s = self.clock.now(), self.clock.monotonic_s()
        if self._next_poll_s is None:
            quiet_for = timedelta(seconds=now_s - self._active_s)
            pause = self.pace.pause(
                is_game_open=self.is_game_open(runner.state),
                quiet_for=quiet_for,
                hears_of_mail=self.hears_of_mail(),
            )
            self._next_poll_s = now_s + pause.total_seconds()
        wake = runner.next_wake()
        rest = timedelta(seconds=self._next_poll_s - now_s)
        if wake is not None and (wake > now or not self._mailbox.is_failing):
            rest = min(rest, wake - now)
        return timedelta(0) if busy else max(rest, SHORTEST_REST)

    def _stop_for_authorization(self, why: str) -> None:
        self._login = self.authorization()
        self._facts.stuck = why
        self._next_poll_s = None
        self._fail("authorization_needed", why)
        if self._wired is not None:
            self._keep_facts(self._wired)

    def _wait_for_the_journal(self, error: JournalHeld) -> timedelta:
        if not self._is_waiting:
            self._is_waiting = True
            self._tell("journal_held", f"{error}; this process takes over when that one ends")
        self._retry_s = self.clock.monotonic_s() + HELD_JOURNAL_EVERY.total_seconds()
        return HELD_JOURNAL_EVERY

    def _start_anew(self, error: Exception) -> timedelta:
        pause = self._restarts.failed(MailError(), self.clock.now())
        self._is_waiting = False  # whoever works on the journal cannot be seen now
        if isinstance(error, JournalError):
            pause = min(pause, LONGEST_JOURNAL_PAUSE)
            self._fail_once("role_failed", f"{error}; it is tried again until it works")
        else:
            named = str(error) if isinstance(error, MailError) else f"{type(error).__name__}: {error}"
            self._fail("role_failed", f"{named}; the role starts anew in {pause.total_seconds():.0f} s")
        self._retry_s = self.clock.monotonic_s() + pause.total_seconds()
        self._let_go()
        return pause

    def _set_aside(self, error: ConfigError | JournalUnusable) -> timedelta:
        """Leave the role alone until a person has repaired what is wrong."""
        self._fail_once("set_aside", str(error))
        self._let_go()
        self._retry_s = self.clock.monotonic_s() + SET_ASIDE_FOR.total_seconds()
        return SET_ASIDE_FOR

    def _let_go(self) -> None:
        wired, self._wired = self._wired, None
        if wired is not None:
            try:
                _release(wired)
            except Exception as second:
                self._fail("role_failed", f"while closing: {type(second).__name__}: {second}")

    # -- notes and stored facts -------------------------------------------------------------------------------------

    def _fail(self, code: str, text: str) -> None:
        self._remember_failure(text)
        self._facts.trouble = text[:LONGEST_FACT]
        self._tell(code, text)

    def _fail_once(self, code: str, text: str) -> None:
        """``_fail``, told only if the trouble is a new one."""
        if self._facts.trouble == text[:LONGEST_FACT]:
            self._remember_failure(text)
        else:
            self._fail(code, text)

    def _remember_failure(self, text: str) -> None:
        self._facts.errors += 1
        self._facts.last_error, self._facts.last_error_at = text[:LONGEST_FACT], self.clock.now()

    def _tell(self, code: str, text: str) -> None:
        if self.observer is not None:
            note = Note(at=self.clock.now(), kind=DAEMON, key=code, facts={"text": text})
            self.observer.noted(self.name, note)

    def _keep_facts(self, wired: WiredRole) -> None:
        self._kept_s, self._kept_trouble = self.clock.monotonic_s(), self._facts.trouble
        try:
            with wired.journal.together():
                wired.journal.keep(DAEMON, self._facts.to_json(self.pid))
                for name, value in wired.facts().items():
                    wired.journal.keep(name, value)
        except JournalError:
            if self._is_started:
                raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """The runner's observer: records when mail came and went, and forwards all events under the role's name."""

    role: LiveRole
    facts: _Facts

    def received(self, role: str, row: InboxRow) -> None:
        self.facts.received_at = self.role.clock.now()
        if self.role.observer is not None:
            self.role.observer.received(self.role.name, row)

    def sent(self, role: str, item: OutboxItem) -> None:
        self.facts.sent_at = self.role.clock.now()
        if self.role.observer is not None:
            self.role.observer.sent(self.role.name, item)

    def noted(self, role: str, note: Note) -> None:
        if self.role.observer is not None:
            self.role.observer.noted(self.role.name, note)


def _release(wired: WiredRole) -> None:
    try:
        wired.close()
    finally:
        wired.runner.close()
