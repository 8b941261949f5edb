"""The cost of every call, the number of calls by account and method, and sends that were repeated.

Rule 1: a call is either done or refused, never both. It is charged when it is processed: a call refused before that
is free, one that asks for a missing mail costs its usual price.
Rule 2: the price list is that of Cloud projects made since May 2026. It is a parameter, because Google changes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from league_agents.sandbox.refusal import SandboxRefusal
from league_agents.sandbox.state import SandboxState
from league_agents.sandbox.timekeeping import SandboxClock, instant

PRICES_2026: Mapping[str, int] = {
    "getProfile": 1,
    "history.list": 2,
    "labels.create": 5,
    "labels.delete": 5,
    "labels.get": 1,
    "labels.list": 1,
    "labels.patch": 5,
    "labels.update": 5,
    "messages.attachments.get": 20,
    "messages.batchDelete": 50,
    "messages.batchModify": 50,
    "messages.delete": 10,
    "messages.get": 20,
    "messages.import": 25,
    "messages.insert": 25,
    "messages.list": 5,
    "messages.modify": 5,
    "messages.send": 100,
    "messages.trash": 5,
    "messages.untrash": 5,
    "stop": 50,
    "threads.get": 40,
    "threads.list": 10,
    "threads.modify": 10,
    "threads.trash": 10,
    "threads.untrash": 10,
    "threads.delete": 20,
    "watch": 100,
}
"""Units per call."""

_MINUTE_MS = 60_000
_DAY_MS = 86_400_000
_MOST_REMEMBERED = 10_000
"""Sends of an account within a day; a higher limit counts as no limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """The quota of an account."""

    prices: Mapping[str, int] = field(default_factory=lambda: PRICES_2026)
    units_per_minute: int | None = None
    """``None`` counts without refusing. New projects have 6,000 for each user."""

    sends_per_day: int | None = 500
    """Sends of an account within 24 hours. ``None`` means no limit."""


@dataclass(slots=True)
class MethodTally:
    """The calls of one method by one account."""

    calls: int = 0
    """Calls that were done."""

    refused: int = 0
    """Calls that were answered by an error, or dropped before they were done."""

    units: int = 0


class SandboxAccounts:
    """The account book of one sandbox."""

    def __init__(self, quota: Quota, clock: SandboxClock, state: SandboxState) -> None:
        self._quota = quota
        self._clock = clock
        self._state = state
        self._tallies: dict[tuple[str, str], MethodTally] = {}
        self._recent: dict[str, deque[tuple[int, int]]] = {}
        self._recent_units: dict[str, int] = {}
        self._sends: dict[tuple[str, str], dict[str, int]] = {}
        self._sent_at: dict[str, deque[int]] = {}
        self.delivered: dict[str, int] = {}
        """Account -> mails that arrived in its mailbox."""

        self._restore()

    def _restore(self) -> None:
        for key, stored in self._state.load("tally").items():
            account, _, method = key.partition("/")
            assert isinstance(stored, list)
            self._tallies[account, method] = MethodTally(*stored)
        for key, stored in self._state.load("posted").items():
            account, _, transaction = key.partition("/")
            assert isinstance(stored, dict)
            self._sends[account, transaction] = stored
        for account, stored in self._state.load("sent-at").items():
            assert isinstance(stored, list)
            self._sent_at[account] = deque(stored, maxlen=_MOST_REMEMBERED)
        self.delivered = {account: int(str(count)) for account, count in self._state.load("delivered").items()}

    def charge(self, method: str, account: str) -> None:
        """Charge for one call. Raises ``SandboxRefusal`` when the account has used up its minute."""
        price = self._quota.prices.get(method, 0)
        now = self._clock.now_ms()
        recent = self._recent.setdefault(account, deque())
        used = self._recent_units.get(account, 0)
        while recent and recent[0][0] <= now - _MINUTE_MS:
            used -= recent.popleft()[1]
        self._recent_units[account] = used
        limit = self._quota.units_per_minute
        if limit is not None and used + price > limit:
            wait_ms = recent[0][0] + _MINUTE_MS - now if recent else _MINUTE_MS
            raise SandboxRefusal(
                403,
                "userRateLimitExceeded",
                f"Quota exceeded for quota metric 'Queries' and limit 'Queries per minute per user': {used} of {limit}"
                f" units are used and {method} costs {price}.",
                retry_after_s=max(1, -(-wait_ms // 1000)),
            )
        if price:
            recent.append((now, price))
            self._recent_units[account] = used + price
            tally = self._tallies.setdefault((account, method), MethodTally())
            tally.units += price
            self._keep(account, method, tally)

    def done(self, method: str, account: str) -> None:
        """Note a call that was done."""
        tally = self._tallies.setdefault((account, method), MethodTally())
        tally.calls += 1
        self._keep(account, method, tally)

    def refuse(self, method: str, account: str) -> None:
        """Note a call that was refused or dropped before it was done."""
        tally = self._tallies.setdefault((account, method), MethodTally())
        tally.refused += 1
        self._keep(account, method, tally)

    def posted(self, account: str, transaction: str) -> None:
        """Note that a send reached the server, whether or not it succeeds."""
        self._count_send(account, transaction, "posted")

    def check_day(self, account: str) -> None:
        """Raises ``SandboxRefusal`` when the account may send no more today."""
        limit = self._quota.sends_per_day
        if limit is None:
            return
        sent = self._sent_today(account)
        if len(sent) >= limit:
            free_at = instant(sent[len(sent) - limit]) + timedelta(days=1)
            stamp = free_at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{free_at.microsecond // 1000:03d}Z"
            wait = (free_at - self._clock.now()).total_seconds()
            raise SandboxRefusal(
                429,
                "rateLimitExceeded",
                f"User-rate limit exceeded.  Retry after {stamp} (Mail sending)",
                retry_after_s=wait,
            )

    def accepted(self, account: str, transaction: str) -> None:
        """Note that a mail was accepted for delivery."""
        self._count_send(account, transaction, "accepted")
        sent = self._sent_today(account)
        sent.append(self._clock.now_ms())
        self._state.put("sent-at", account, list(sent))

    def arrived(self, account: str) -> None:
        """Note that a mail reached a mailbox."""
        self.delivered[account] = self.delivered.get(account, 0) + 1
        self._state.put("delivered", account, self.delivered[account])

    def report(self) -> dict[str, object]:
        """The whole account book, as a JSON value."""
        accounts: dict[str, dict[str, object]] = {}
        for (account, method), tally in sorted(self._tallies.items()):
            entry = accounts.setdefault(account, {"units": 0, "calls": 0, "refused": 0, "methods": {}})
            methods = entry["methods"]
            assert isinstance(methods, dict)
            methods[method] = {"calls": tally.calls, "refused": tally.refused, "units": tally.units}
            for name, number in (("calls", tally.calls), ("refused", tally.refused), ("units", tally.units)):
                entry[name] = int(str(entry[name])) + number
        sends: dict[str, dict[str, dict[str, int]]] = {}
        for (account, transaction), counts in self._sends.items():
            sends.setdefault(account, {})[transaction] = dict(counts)
        twice = [
            {"account": account, "transaction": transaction, **counts}
            for (account, transaction), counts in self._sends.items()
            if transaction and counts["accepted"] > 1
        ]
        return {
            "accounts": accounts,
            "delivered": dict(sorted(self.delivered.items())),
            "sends": sends,
            "accepted_twice": twice,
            "units": sum(tally.units for tally in self._tallies.values()),
        }

    def _sent_today(self, account: str) -> deque[int]:
        """The instants of the account's sends within the last 24 hours."""
        sent = self._sent_at.setdefault(account, deque(maxlen=_MOST_REMEMBERED))
        while sent and sent[0] <= self._clock.now_ms() - _DAY_MS:
            sent.popleft()
        return sent

    def _count_send(self, account: str, transaction: str, what: str) -> None:
        counts = self._sends.setdefault((account, transaction), {"posted": 0, "accepted": 0})
        counts[what] += 1
        self._state.put("posted", f"{account}/{transaction}", counts)

    def _keep(self, account: str, method: str, tally: MethodTally) -> None:
        self._state.put("tally", f"{account}/{method}", [tally.calls, tally.refused, tally.units])
