"""One role on real mail: its runner, kept going whatever happens around it.

Rule 1: no failure that may pass ends a role. A mailbox that cannot be reached is left alone for a while; a journal that
fails, or a bug, makes the role start anew from what is committed; a lost authorization rests it until a person has
logged in. What no start can mend, a wrong configuration or a journal that is damaged or gone, is raised.
Rule 2: nothing here decides about the game, and nothing here sleeps: a turn says how long to rest after it.
Rule 3: nothing is begun before the mailbox was asked once, which tells whose it is and what time it is there.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from league_agents.journal.port import InboxRow, Journal, Note, OutboxItem
from league_agents.kit.clock import Clock
from league_agents.kit.errors import AuthorizationExpired, ConfigError, JournalError, JournalUnusable, MailError
from league_agents.mail.port import Stopping
from league_agents.runner.pace import Backoff, Pace
from league_agents.runner.role import Observer, RoleRunner

DAEMON = "daemon"
"""The kind of a note about the process itself, and the name under which its facts are kept in the journal."""

SHORTEST_REST = timedelta(milliseconds=100)
"""Between two turns that had nothing to do: something that is due and cannot be done must not become a hot loop."""

CLOCK_TOLD_EVERY_S = 3_600.0
"""How often a person is told that this machine's clock is wrong."""

FACTS_EVERY = timedelta(seconds=10)
"""How often the facts about an idle role are written down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WiredRole:
    """A role that is put together and not yet started."""

    runner: RoleRunner[Any]
    journal: Journal
    facts: Callable[[], Mapping[str, object]] = dict
    """JSON values by name that are worth keeping across a restart, such as what was spent of a quota."""

    close: Callable[[], None] = lambda: None
    """Releases what the runner was handed in and does not close itself, such as connections."""


@dataclass(slots=True, kw_only=True)
class _Facts:
    """What people ask a running role for."""

    started_at: datetime
    polled_at: datetime | None = None
    received_at: datetime | None = None
    sent_at: datetime | None = None
    errors: int = 0
    last_error: str = ""
    last_error_at: datetime | None = None
    stuck: str = ""

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
        }

    def recall(self, kept: object) -> None:
        """Take over the instants that an earlier process wrote down, as far as this one has none of its own."""
        if not isinstance(kept, Mapping):
            return
        for name in ("polled_at", "received_at", "sent_at"):
            text = kept.get(name)
            if getattr(self, name) is None and isinstance(text, str):
                with contextlib.suppress(ValueError):
                    setattr(self, name, datetime.fromisoformat(text))


MakeRole = Callable[[Observer], WiredRole]
"""Puts a role together, telling this observer. Called again when the role has to start anew."""


@dataclass(slots=True, kw_only=True)
class LiveRole:
    """One role, turn by turn. One thread calls ``turn`` and ``close``."""

    name: str
    """The role: ``referee``, ``player`` or ``manager``."""

    make: MakeRole = field(repr=False)
    clock: Clock
    pace: Pace
    pid: int
    observer: Observer | None = None
    """Who is told what happens; another one may be put here at any time."""

    is_game_open: Callable[[object], bool] = lambda _state: False
    """Whether, in this state of the machine, somebody may be waiting for this role right now."""

    authorization: Callable[[], object] = lambda: None
    """Something that changes when a person has logged in again."""

    check: Callable[[], None] = lambda: None
    """What is asked before every start; it raises when the role cannot be started."""

    has_ended: Callable[[RoleRunner[Any]], bool] = lambda _runner: False
    """Whether there will never be anything to do again."""

    on_start: Callable[[RoleRunner[Any]], None] = lambda _runner: None
    """What is done once after every start, such as a standing command; its failure is the turn's."""

    clock_trouble: Callable[[], str | None] = lambda: None
    """What a person should know about this machine's wall clock, in one line."""

    _wired: WiredRole | None = None
    _last_state: object = None
    _is_started: bool = False
    _next_poll_s: float | None = None
    _active_s: float = field(init=False)
    _kept_s: float | None = None
    _told_clock_s: float | None = None
    """Of the monotonic clock, as all that is only waited for."""

    _turned_at: datetime | None = None
    _facts: _Facts = field(init=False)
    _mailbox: Backoff = field(init=False)
    _restarts: Backoff = field(init=False)
    _login: object = None
    _retry_s: float | None = None

    def __post_init__(self) -> None:
        self._facts = _Facts(started_at=self.clock.now())
        self._active_s = self.clock.monotonic_s()
        self._mailbox = Backoff()
        self._restarts = Backoff()

    @property
    def needs_authorization(self) -> str:
        """Why nothing can be done until a person logs in; empty when that is not so."""
        return self._facts.stuck

    @property
    def wired(self) -> WiredRole:
        """The role's parts. Made when they are asked for; raises what making them does."""
        if self._wired is None:
            self._wired = self.make(_Watched(role=self, facts=self._facts))
            self._facts.recall(self._wired.journal.kept(DAEMON))
            self._is_started = False
        return self._wired

    @property
    def is_started(self) -> bool:
        """Whether the work has been taken up where the journal says it stands."""
        return self._wired is not None and self._is_started

    @property
    def state(self) -> object:
        """The machine's state as it was last committed; ``None`` before the role was put together."""
        return self._last_state if self._wired is None else self._wired.runner.state

    @property
    def is_done(self) -> bool:
        """Whether the role has begun and will never have anything to do again."""
        return self._wired is not None and self._is_started and self.has_ended(self._wired.runner)

    def start(self, runner: RoleRunner[Any]) -> None:
        """Begin the work. Raises what the mailbox and the journal raise."""
        self.check()
        self._facts.started_at = self.clock.now()
        runner.start()
        self._is_started = True
        self.on_start(runner)

    def turn(self) -> timedelta:
        """Do what can be done now. How long to rest then, if nobody wakes this role.

        Raises ``ConfigError`` and ``JournalUnusable``.
        """
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
            self._restarts.succeeded()
            self._retry_s = None
        except AuthorizationExpired as error:
            self._stop_for_authorization(str(error))
            return self.pace.idle
        except (ConfigError, JournalUnusable) as error:
            self._remember_failure(str(error))
            raise
        except Exception as error:
            # The edge: whatever this was, the journal holds the last good state.
            return self._start_anew(error)
        return rest

    def _notice_clock(self, now: datetime, now_s: float) -> None:
        if self._turned_at is not None and now < self._turned_at:
            back = (self._turned_at - now).total_seconds()
            self._tell("clock_set_back", f"the mail service's clock went back by {back:.0f} s; deadlines come later")
        # Before the mailbox was asked, this machine's clock was shown: it may have been far ahead of the service's.
        self._turned_at = now if self.is_started else None
        trouble = self.clock_trouble()
        if trouble is None and self._told_clock_s is not None:
            self._told_clock_s = None
            self._tell("clock_right", "this machine's clock is right again")
        elif trouble is not None and (self._told_clock_s is None or now_s - self._told_clock_s >= CLOCK_TOLD_EVERY_S):
            self._told_clock_s = now_s
            self._tell("clock_off", trouble)

    def polled(self, at: datetime) -> None:
        """The mailbox was looked into, and everything that waited was taken in."""
        self._facts.polled_at = at

    def close(self) -> None:
        """Let go of everything. The journal stands where the last step left it."""
        wired, self._wired = self._wired, None
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
        fetches = (
            self._next_poll_s is None
            or self.clock.monotonic_s() >= self._next_poll_s
            # A deadline is over only when the mailbox was heard after it; a mailbox that fails is not asked sooner.
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
        if busy or self._kept_s is None or after_s - self._kept_s >= FACTS_EVERY.total_seconds():
            self._keep_facts(wired)
        return self._rest(runner, busy=busy)

    def _with_mailbox(self, runner: RoleRunner[Any], now: datetime) -> bool:
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
            pause = self.pace.pause(is_game_open=self.is_game_open(runner.state), quiet_for=quiet_for)
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

    def _start_anew(self, error: Exception) -> timedelta:
        pause = self._restarts.failed(MailError(), self.clock.now())
        self._retry_s = self.clock.monotonic_s() + pause.total_seconds()
        named = str(error) if isinstance(error, JournalError | MailError) else f"{type(error).__name__}: {error}"
        self._fail("role_failed", f"{named}; the role starts anew in {pause.total_seconds():.0f} s")
        wired, self._wired = self._wired, None
        if wired is not None:
            try:
                _release(wired)
            except Exception as second:
                self._fail("role_failed", f"while closing: {type(second).__name__}: {second}")
        return pause

    # -- what is told and kept --------------------------------------------------------------------------------------

    def _fail(self, code: str, text: str) -> None:
        self._remember_failure(text)
        self._tell(code, text)

    def _remember_failure(self, text: str) -> None:
        self._facts.errors += 1
        self._facts.last_error, self._facts.last_error_at = text[:300], self.clock.now()

    def _tell(self, code: str, text: str) -> None:
        if self.observer is not None:
            note = Note(at=self.clock.now(), kind=DAEMON, key=code, facts={"text": text})
            self.observer.noted(self.name, note)

    def _keep_facts(self, wired: WiredRole) -> None:
        self._kept_s = self.clock.monotonic_s()
        try:
            wired.journal.keep(DAEMON, self._facts.to_json(self.pid))
            for name, value in wired.facts().items():
                wired.journal.keep(name, value)
        except JournalError:
            if self._is_started:
                raise


@dataclass(frozen=True, slots=True, kw_only=True)
class _Watched:
    """The runner's observer: notes when mail came and went, and passes everything on to the role's present observer."""

    role: LiveRole
    facts: _Facts

    def received(self, role: str, row: InboxRow) -> None:
        self.facts.received_at = self.role.clock.now()
        if self.role.observer is not None:
            self.role.observer.received(role, row)

    def sent(self, role: str, item: OutboxItem) -> None:
        self.facts.sent_at = self.role.clock.now()
        if self.role.observer is not None:
            self.role.observer.sent(role, item)

    def noted(self, role: str, note: Note) -> None:
        if self.role.observer is not None:
            self.role.observer.noted(role, note)


def _release(wired: WiredRole) -> None:
    try:
        wired.close()
    finally:
        wired.runner.close()
