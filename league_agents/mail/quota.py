"""Gmail's quota: prices, the remaining budget, and the priority of sends when little is left.

Rule 1: units are counted at the time of the call, by the given clock; the ledger never waits.
Rule 2: the sends of a day belong to the mailbox and are stored by ``SendCounts``; the rest of the ledger's state is a
small value (``dump``) that its owner stores. A ledger without a state assumes that nothing was spent, so a lost state
costs a refusal by Gmail, never a mail.
Rule 3: the last sends of a day are reserved for the games that have begun.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType

from league_agents.kit.clock import Clock
from league_agents.kit.errors import ConfigError
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.subject import parse_subject
from league_agents.mail.send_counts import MINUTES_OF_A_DAY, CountsInMemory, SendCounts

MINUTE = timedelta(minutes=1)
DAY = timedelta(hours=24)

LIST_EVERY = timedelta(minutes=5)
"""Interval between two listings of all unread mail."""

SEARCHES_IN_A_WAIT = 4
"""Number of searches for mail missing from the history within the shortest time limit of a waiting peer."""

SHORTEST_SEARCH_PERIOD = timedelta(seconds=5)

_COMMON = {
    "getProfile": 1,
    "labels.list": 1,
    "history.list": 2,
    "messages.list": 5,
    "messages.modify": 5,
    "messages.batchModify": 50,
    "messages.send": 100,
}

PRICES_2026: Mapping[str, int] = MappingProxyType({**_COMMON, "messages.get": 20, "messages.attachments.get": 20})
"""Units per call for Cloud projects that were created on 2026-05-01 or later."""

PRICES_BEFORE_2026: Mapping[str, int] = MappingProxyType({**_COMMON, "messages.get": 5, "messages.attachments.get": 5})
"""Units per call for older projects, which keep 15,000 units a minute (protocol 2.8)."""

DEAREST = 100
"""Price of a method that is in no table: the highest, to be safe."""


class SendKind(StrEnum):
    """The purpose of a mail, the most urgent first."""

    RUNNING_GAME = "running_game"
    """A game that has begun, or its result."""

    SERVICE = "service"
    """Registration, acknowledgements, broadcasts."""

    NEW_GAME = "new_game"
    """The call that opens a game, which causes all other mails of that game."""


def kind_of(subject: str) -> SendKind:
    """Return the purpose of a protocol mail, by its subject."""
    parsed = parse_subject(subject)
    if parsed is None or parsed.message_type is None:
        return SendKind.SERVICE
    if parsed.message_type is MessageType.Q21WARMUPCALL:
        return SendKind.NEW_GAME
    if parsed.message_type is MessageType.MATCH_RESULT_REPORT or parsed.message_type.startswith("Q21"):
        return SendKind.RUNNING_GAME
    return SendKind.SERVICE


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaLimits:
    """The limits of one account. The defaults are those of a consumer account in a project of 2026."""

    units_per_minute: int = 6_000
    sends_per_day: int = 500
    """Sends in any 24 hours, shared with all other programs that send from the account."""

    units_kept_for_sending: int = 1_000
    """Units of each minute that reading mail must leave for sending."""

    sends_kept_for_running_games: int = 50
    sends_kept_from_new_games: int = 100
    """A game is not begun if fewer sends than this would be left."""

    def __post_init__(self) -> None:
        for name in ("units_per_minute", "sends_per_day"):
            if getattr(self, name) < 1:
                raise ConfigError(f"gmail.quota.{name}", f"must be at least 1, not {getattr(self, name)}")
        for name in ("units_kept_for_sending", "sends_kept_for_running_games", "sends_kept_from_new_games"):
            if getattr(self, name) < 0:
                raise ConfigError(f"gmail.quota.{name}", f"must not be negative, it is {getattr(self, name)}")
        if self.units_kept_for_sending >= self.units_per_minute:
            raise ConfigError("gmail.quota.units_kept_for_sending", "must be less than units_per_minute")

    @property
    def units_for_strangers(self) -> int:
        """Units of each minute that reading strangers' mail may take."""
        return (self.units_per_minute - self.units_kept_for_sending) // 3

    def kept_from(self, kind: SendKind) -> int:
        """Return how many of the day's sends a mail of this kind must leave."""
        if kind is SendKind.RUNNING_GAME:
            return 0
        if kind is SendKind.SERVICE:
            return self.sends_kept_for_running_games
        return max(self.sends_kept_from_new_games, self.sends_kept_for_running_games)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchMails:
    """The number of mails of one match, for one participant."""

    sent: int
    received: int


MATCH_MAILS: Mapping[str, MatchMails] = MappingProxyType(
    {
        # A call, a start, answers and feedback to each of two players and one report; three replies from each player.
        "referee": MatchMails(sent=9, received=6),
        # Three replies and one report; a call, a start, answers and feedback.
        "player": MatchMails(sent=4, received=4),
    }
)
"""By role. A league manager's mail is counted by round and not by match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The cost of one match for one participant, and the rates that the quota allows."""

    units: int
    """Units of one match, without looking for mail."""

    sends: int
    looking_per_minute: int
    """Units a minute for looking for mail while a game is open, even if none arrives."""

    matches_per_minute: float
    """Limited by units alone, including looking for mail."""

    matches_per_day: int
    """Limited by sends alone, which is the tighter limit for most accounts."""


def search_period(shortest_wait: timedelta | None, longest: timedelta = LIST_EVERY) -> timedelta:
    """Return the interval of searches for the peers' mail: ``SEARCHES_IN_A_WAIT`` within the shortest time limit of a
    waiting peer."""
    if shortest_wait is None:
        return longest
    return max(SHORTEST_SEARCH_PERIOD, min(longest, shortest_wait / SEARCHES_IN_A_WAIT))


class QuotaLedger:
    """One account's use of Gmail. Used by one thread at a time."""

    def __init__(
        self,
        clock: Clock,
        *,
        limits: QuotaLimits | None = None,
        prices: Mapping[str, int] = PRICES_2026,
        sends: SendCounts | None = None,
        state: Mapping[str, object] | None = None,
    ) -> None:
        """``prices`` has Gmail's names of methods, without ``users.``. ``sends`` counts the mailbox's sends; without it
        only those of this ledger count. ``state`` is a result of ``dump``."""
        self._clock = clock
        self.limits = limits or QuotaLimits()
        self._prices = dict(prices)
        self._seconds: deque[tuple[int, int]] = deque()
        """(second, units) of the last minute."""

        self._sends: SendCounts = CountsInMemory() if sends is None else sends
        self._counted_in = 0
        """The minute of the latest send."""

        self._calls: Counter[str] = Counter()
        self._refusals: Counter[str] = Counter()
        self._units = 0
        if state is not None:
            self._load(state)

    # -- spending ---------------------------------------------------------------------------------------------------

    def price(self, method: str) -> int:
        """Return the units of one call."""
        return self._prices.get(method, DEAREST)

    def spend(self, method: str) -> None:
        """Count a call that is about to be made, or was made. Sends are counted for the day as well."""
        now = self._clock.now()
        units = self.price(method)
        self._calls[method] += 1
        self._units += units
        _add(self._seconds, int(now.timestamp()), units)
        if method == "messages.send":
            self._counted_in = _minute(now)
            self._sends.add(self._counted_in, 1)

    def wait_for(self, units: int, *, is_send: bool = False) -> timedelta:
        """Return how long to wait until ``units`` may be spent; zero if they may be spent now. More units than a minute
        has count as all of a minute's."""
        now = self._clock.now()
        self._forget_old(now)
        may_use = self.limits.units_per_minute - (0 if is_send else self.limits.units_kept_for_sending)
        over = sum(spent for _, spent in self._seconds) + min(units, may_use) - may_use
        if over <= 0:
            return timedelta(0)
        for second, spent in self._seconds:
            over -= spent
            if over <= 0:
                return max(datetime.fromtimestamp(second + 61, UTC) - now, timedelta(0))
        return MINUTE

    def sends_left(self) -> int:
        """How many mails the day's budget still allows; zero while Gmail refuses to send."""
        now = self._clock.now()
        if self._refused_until(now) is not None:
            return 0
        return max(0, self.limits.sends_per_day - sum(sends for _, sends in self._minutes(now)))

    def resets_at(self, kind: SendKind) -> datetime | None:
        """When a mail of this kind may be sent again; ``None`` if it may be sent now."""
        now = self._clock.now()
        refused = self._refused_until(now)
        minutes = self._minutes(now)
        over = sum(sends for _, sends in minutes) + 1 - self.limits.sends_per_day
        over += min(self.limits.kept_from(kind), self.limits.sends_per_day - 1)
        if over <= 0:
            return refused
        at = now + DAY
        for minute, sends in minutes:
            over -= sends
            if over <= 0:
                at = datetime.fromtimestamp((minute + 1) * 60, UTC) + DAY
                break
        return max(at, refused) if refused else at

    def _minutes(self, now: datetime) -> list[tuple[int, int]]:
        """(minute, sends) of the last day. Sends dated in the future, by a clock that was ahead, count as sent now."""
        latest = _minute(now)
        found = self._sends.minutes(latest - MINUTES_OF_A_DAY)
        return [(min(minute, latest), sends) for minute, sends in found if minute <= latest + MINUTES_OF_A_DAY]

    def _refused_until(self, now: datetime) -> datetime | None:
        until = self._sends.refused_until()
        return until if until is not None and now < until <= now + DAY else None

    # -- refusals and totals ----------------------------------------------------------------------------------------

    def refused(self, method: str, *, no_sends_before: datetime | None = None) -> None:
        """Record that Gmail refused a call for its quota. ``no_sends_before``: the end of a refusal to send."""
        self._refusals[method] += 1
        if method == "messages.send":
            # The send was counted at the attempt but did not take place.
            self._sends.add(self._counted_in, -1)
        if no_sends_before is not None:
            self._sends.refuse(max(no_sends_before, self._refused_until(self._clock.now()) or no_sends_before))

    @property
    def units_spent(self) -> int:
        """Units spent since this ledger was made."""
        return self._units

    @property
    def calls(self) -> Mapping[str, int]:
        """Calls per method since this ledger was made."""
        return dict(self._calls)

    @property
    def refusals(self) -> Mapping[str, int]:
        """Calls per method that Gmail refused since this ledger was made."""
        return dict(self._refusals)

    def units_in_last_minute(self) -> int:
        """Units that count against the minute's budget now."""
        self._forget_old(self._clock.now())
        return sum(spent for _, spent in self._seconds)

    def forecast(
        self,
        mails: MatchMails,
        *,
        look_every: timedelta = timedelta(seconds=1.5),
        shortest_wait: timedelta = timedelta(minutes=2),
    ) -> Forecast:
        """Return the forecast for a participant with these numbers of mails, this interval between looks into the
        history, and this shortest time limit of a waiting peer."""
        sends, received = mails.sent, mails.received
        search = self.price("messages.list")
        per_mail = self.price("messages.get") + self.price("messages.modify")
        units = sends * self.price("messages.send") + received * per_mail
        looking = self.price("history.list") * (MINUTE / look_every)
        looking += search * (MINUTE / search_period(shortest_wait) + MINUTE / LIST_EVERY)
        return Forecast(
            units=units,
            sends=sends,
            looking_per_minute=math.ceil(looking),
            # Each arrival also causes a search, to find out whether it is from a peer.
            matches_per_minute=max(0.0, self.limits.units_per_minute - looking) / (units + received * search),
            matches_per_day=self.limits.sends_per_day // max(1, sends),
        )

    # -- kept by the owner ------------------------------------------------------------------------------------------

    def dump(self) -> dict[str, object]:
        """The state, as JSON values. The day's sends are not in it."""
        self._forget_old(self._clock.now())
        return {"seconds": [list(cell) for cell in self._seconds]}

    def _load(self, state: Mapping[str, object]) -> None:
        """Take over the valid parts: a damaged state must not stop a league."""
        now = self._clock.now()
        # Entries may be in the future: they are dated by the mail service's clock, and ours may be behind it.
        latest = now + DAY
        self._seconds = deque(_cells(state.get("seconds"), latest=int(latest.timestamp())))
        if not self._sends.minutes(_minute(now) - MINUTES_OF_A_DAY):
            # Older versions stored the day's sends in this state.
            for minute, sends in _cells(state.get("minutes"), latest=_minute(latest)):
                self._sends.add(minute, sends)

    def _forget_old(self, now: datetime) -> None:
        second = int(now.timestamp())
        _bring_forward(self._seconds, second)
        while self._seconds and self._seconds[0][0] < second - 60:
            self._seconds.popleft()


def _minute(at: datetime) -> int:
    return int(at.timestamp()) // 60


def _add(cells: deque[tuple[int, int]], at: int, amount: int) -> None:
    if cells and cells[-1][0] >= at:  # a clock that was set back must not disorder the cells
        cells[-1] = (cells[-1][0], cells[-1][1] + amount)
    else:
        cells.append((at, amount))


def _bring_forward(cells: deque[tuple[int, int]], latest: int) -> None:
    """Move entries dated in the future, by a clock that was ahead, to ``latest``."""
    amount = 0
    while cells and cells[-1][0] > latest:
        amount += cells.pop()[1]
    if amount:
        _add(cells, latest, amount)


def _cells(value: object, *, latest: int) -> list[tuple[int, int]]:
    if not isinstance(value, list):
        return []
    found = []
    for cell in value[-2_000:]:
        if isinstance(cell, list) and len(cell) == 2 and all(type(number) is int for number in cell):
            at, amount = cell
            if at <= latest and 0 < amount < 1_000_000:
                found.append((at, amount))
    return sorted(found)
