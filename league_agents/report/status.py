"""The status of a role, as values and as a few lines.

Rule: everything here is read from the journal and the token file, so it is the same whether the daemon runs or not;
an unknown value is reported as unknown, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from league_agents.kit.printable import printable
from league_agents.report.results import NO_RESULTS, JournalResults, match_words, standings_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """The next step that a participant owes."""

    who: str
    what: str
    due_at: datetime | None
    """``None`` when there is no deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenGame:
    """An open game."""

    game_id: str
    phase: str
    owed: tuple[Owed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationProgress:
    """The progress of a season's open registration."""

    expected: int
    missing: tuple[str, ...]
    """The addresses that have not registered, team by team."""

    closes_at: datetime | None
    """``None`` when it has no deadline, or the season is paused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The event that a league waits for before its season continues."""

    what: str
    command: str
    """The command that continues without waiting, as typed after the program's name; empty if there is none."""

    also: str = ""
    """Another remedy."""

    due_at: datetime | None = None
    """When the season continues by itself; ``None`` when it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtfulSend:
    """A message that may have been sent; the sent mails are searched for it before it is sent again."""

    message_type: str
    to: tuple[str, ...]
    game_id: str | None
    tried_at: datetime | None
    """When its latest attempt began; ``None`` in journals from before this was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenState:
    """How long the authorization of a mailbox remains valid."""

    age: timedelta | None = None
    """``None`` when the time of the login is unknown."""

    ends_at: datetime | None = None
    may_end_at: datetime | None = None
    """When it expires if the Google Cloud app is in status "Testing"."""

    trouble: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleStatus:
    """The status of one role."""

    role: str
    name: str = ""
    """What distinguishes it from others of its kind; empty where there is one."""

    address: str
    state: str
    """The name of the machine's state."""

    is_running: bool
    pid: int | None = None
    started_at: datetime | None = None
    polled_at: datetime | None = None
    received_at: datetime | None = None
    sent_at: datetime | None = None
    stuck: str = ""
    """Why the role waits for a person; empty when it does not."""

    trouble: str = ""
    """Why the process could not do the role's work when it last tried; empty if it could."""

    games: tuple[OpenGame, ...] = ()
    registration: RegistrationProgress | None = None
    """``None`` for all but a league manager whose registration is open."""

    awaited: Awaited | None = None
    """``None`` for all but a league manager."""

    orders: tuple[str, ...] = ()
    """Orders of a person that wait, in words, oldest first."""

    outbox: Mapping[str, int]
    """State of a message -> number of messages."""

    oldest_waiting: datetime | None = None
    """When the oldest unsent message was written."""

    in_doubt: tuple[DoubtfulSend, ...] = ()
    """Messages that may have been sent, except for one that a running process is sending right now."""

    thinking: int = 0
    """Number of agent callbacks without a result."""

    sends_left: int | None = None
    sends_per_day: int | None = None
    token: TokenState
    errors: int = 0
    last_error: str = ""
    last_error_at: datetime | None = None
    warnings: int = 0
    """Number of warnings since the start."""

    last_warning: str = ""
    clock_error: timedelta = timedelta(0)
    """How far this machine's clock is ahead of the mail service's, which all instants here follow."""

    clock_trouble: str = ""
    """The remedy for the clock error; empty when it is small."""

    results: JournalResults = NO_RESULTS
    moves: str = ""
    """Who is promoted and relegated by the latest table, in words; empty for all but the manager of a division."""

    @property
    def label(self) -> str:
        """The role and its name."""
        return f"{self.role} {self.name}" if self.name else self.role

    def to_json(self, now: datetime) -> dict[str, object]:
        """JSON values. Instants are ISO 8601, durations seconds. ``now`` is this machine's."""
        now -= self.clock_error
        return {
            "role": self.role,
            "name": self.name or None,
            "address": self.address,
            "state": self.state,
            "is_running": self.is_running,
            "pid": self.pid,
            "started_at": _text(self.started_at),
            "last_poll_at": _text(self.polled_at),
            "last_poll_s_ago": _seconds(self.polled_at, now),
            "last_received_at": _text(self.received_at),
            "last_sent_at": _text(self.sent_at),
            "needs": self.stuck,
            "trouble": self.trouble,
            "registration": None if self.registration is None else _registration_to_json(self.registration),
            "waits_for": None if self.awaited is None else _awaited_to_json(self.awaited),
            "orders_waiting": list(self.orders),
            "open_games": [
                {
                    "game_id": game.game_id,
                    "phase": game.phase,
                    "owed": [
                        {
                            "who": owed.who,
                            "what": owed.what,
                            "due_at": _text(owed.due_at),
                            "seconds_left": None if owed.due_at is None else (owed.due_at - now).total_seconds(),
                        }
                        for owed in game.owed
                    ],
                }
                for game in self.games
            ],
            "outbox": dict(self.outbox),
            "oldest_waiting_at": _text(self.oldest_waiting),
            "in_doubt": [
                {
                    "message_type": each.message_type,
                    "to": list(each.to),
                    "game_id": each.game_id,
                    "tried_at": _text(each.tried_at),
                    "tried_s_ago": _seconds(each.tried_at, now),
                }
                for each in self.in_doubt
            ],
            "callbacks_running": self.thinking,
            "sends_left": self.sends_left,
            "sends_per_day": self.sends_per_day,
            "token_age_s": None if self.token.age is None else self.token.age.total_seconds(),
            "token_ends_at": _text(self.token.ends_at),
            "token_may_end_at": _text(self.token.may_end_at),
            "token_warnings": list(self.token.trouble),
            "errors_since_start": self.errors,
            "last_error": self.last_error,
            "last_error_at": _text(self.last_error_at),
            "warnings_since_start": self.warnings,
            "last_warning": self.last_warning,
            "clock_error_s": self.clock_error.total_seconds(),
            "clock_trouble": self.clock_trouble,
            "last_match": None if self.results.last_match is None else self.results.last_match.to_json(),
            "standings": [row.to_json() for row in self.results.standings],
            "standings_after": self.results.standings_after or None,
            "moves": self.moves or None,
        }


def status_lines(statuses: Sequence[RoleStatus], machine_now: datetime) -> Iterator[str]:
    """A few lines for each role."""
    for status in statuses:
        now = machine_now - status.clock_error
        running = f"running (process {status.pid})" if status.is_running else "not running"
        yield f"{status.role} {printable(status.address, 80)}: {running}, {status.state}"
        if status.stuck:
            yield f"  NEEDS YOU    {printable(status.stuck, 1000)}"
        if status.clock_trouble:
            yield f"  CLOCK        {status.clock_trouble}"
        polled, received, sent = (ago(at, now) for at in (status.polled_at, status.received_at, status.sent_at))
        yield f"  mail         last poll {polled}, last mail {received}, last send {sent}"
        if status.registration is not None:
            yield f"  registration {_registration(status.registration, now)}"
        if status.awaited is not None:
            yield f"  waits for    {_awaited(status.awaited, now)}"
        for text in status.orders:
            when = "is carried out with the next look" if status.is_running else "waits until the role is started"
            yield f"  order        {printable(text, 200)} ({when})"
        for game in status.games:
            owed = "; ".join(_owed(each, now) for each in game.owed) or "nobody owes anything"
            yield f"  game {game.game_id} {game.phase}: {owed}"
        if not status.games:
            yield "  games        none open"
        if status.results.last_match is not None:
            ended = status.results.last_match
            yield f"  last match   {match_words(ended)} ({ago(ended.at, now)})"
        if status.results.standings:
            after, rows = status.results.standings_after, status.results.standings
            yield f"  standings    after {after}: {standings_words(rows)}"
        if status.moves:
            yield f"  next season  as the table stands, {printable(status.moves, 400)}"
        waiting = {name: count for name, count in status.outbox.items() if name != "sent" and count}
        said = ", ".join(f"{count} {name}" for name, count in waiting.items()) or "nothing waits"
        oldest = f", the oldest since {ago(status.oldest_waiting, now)}" if status.oldest_waiting is not None else ""
        yield f"  outbox       {said}{oldest} ({status.outbox.get('sent', 0)} sent)"
        for each in status.in_doubt:
            to = printable(", ".join(each.to), 80)
            tried = "" if each.tried_at is None else f" {ago(each.tried_at, now)}"
            yield f"  in doubt     {each.message_type} to {to} may have been sent{tried}; it is looked for in Sent"
        if status.thinking:
            yield f"  agent        {status.thinking} callbacks without a result"
        left = "unknown" if status.sends_left is None else f"{status.sends_left} of {status.sends_per_day}"
        yield f"  account      sends left today: {left}; token {token_words(status.token)}"
        for line in status.token.trouble:
            yield f"  token        {printable(line, 1000)}"
        last = ""
        if status.last_error:
            last = f"; last: {printable(status.last_error, 200)} ({ago(status.last_error_at, now)})"
        warned = f", {status.warnings} warnings" if status.warnings else ""
        yield f"  errors       {status.errors} since start{warned}{last}"
        if status.last_warning:
            yield f"  last warning {printable(status.last_warning, 200)}"


def token_words(token: TokenState) -> str:
    """The age of an authorization and its expiry, in words."""
    age = "of unknown age" if token.age is None else f"{span(token.age)} old"
    if token.ends_at is not None:
        return f"{age}, ends {token.ends_at:%Y-%m-%d %H:%M} UTC"
    if token.may_end_at is not None:
        return f"{age}, ends {token.may_end_at:%Y-%m-%d %H:%M} UTC if the Google Cloud app is in status Testing"
    return age


def ago(at: datetime | None, now: datetime) -> str:
    """The time since an instant, in words."""
    return "never" if at is None else f"{span(now - at)} ago"


def span(duration: timedelta) -> str:
    """A duration in its largest sensible unit."""
    seconds = max(0, int(duration.total_seconds()))
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h" if seconds < 172_800 else f"{seconds // 86_400} days"


def _owed(owed: Owed, now: datetime) -> str:
    line = f"{printable(owed.who, 80)} owes {owed.what}"
    if owed.due_at is None:
        return line
    left = owed.due_at - now
    return f"{line}, {span(left)} left" if left > timedelta(0) else f"{line}, overdue for {span(-left)}"


def _registration(found: RegistrationProgress, now: datetime) -> str:
    said = f"{found.expected - len(found.missing)} of {found.expected} are registered"
    if found.missing:
        said += f"; missing: {', '.join(printable(address, 80) for address in found.missing)}"
    if found.closes_at is None:
        return said
    left = found.closes_at - now
    return f"{said}; {span(left)} left" if left > timedelta(0) else f"{said}; its time is over"


def _awaited(found: Awaited, now: datetime) -> str:
    said = printable(found.what, 200)
    if found.due_at is not None:
        left = found.due_at - now
        said += f", {span(left)} left" if left > timedelta(0) else ", its time is over"
    if found.command:
        said += f"; to go on now: league-agents {found.command}"
    return f"{said}; {found.also}" if found.also else said


def _awaited_to_json(found: Awaited) -> dict[str, object]:
    return {
        "what": found.what,
        "command": f"league-agents {found.command}" if found.command else None,
        "due_at": _text(found.due_at),
    }


def _registration_to_json(found: RegistrationProgress) -> dict[str, object]:
    return {"expected": found.expected, "missing": list(found.missing), "closes_at": _text(found.closes_at)}


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _seconds(at: datetime | None, now: datetime) -> float | None:
    return None if at is None else (now - at).total_seconds()
