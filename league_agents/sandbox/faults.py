"""Injected faults and the calls that they strike.

Rule: whether a fault strikes depends only on the seed, on its place in the plan and on the number of matching calls
made for the same account. The order in which several clients call does not change any account's faults.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum

from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.sandbox.refusal import USUAL_REASONS
from league_agents.sandbox.state import NoState, SandboxState

MOST_FAULTS = 1_000
LONGEST_WAIT_S = 600.0
LONGEST_DELAY_S = 30 * 86_400.0


class FaultAction(StrEnum):
    """The effect of a fault."""

    ERROR = "error"
    """Refuse the call with ``status`` and ``reason``; nothing is done."""
    DROP_UNREAD = "drop-unread"
    """Close the connection without reading the body."""
    DROP_UNDONE = "drop-undone"
    """Close the connection after reading the call, without doing it."""
    DROP_DONE = "drop-done"
    """Do what the call asks and close the connection instead of answering: the ambiguous case."""
    WAIT = "wait"
    """Perform the call and answer ``seconds`` of real time late, or earlier when the faults are cleared; also if the
    client has disconnected meanwhile."""
    LAST = "last"
    """Take ``seconds`` by the sandbox's own clock, which is advanced by them when it is a manual one."""
    SLOW_BODY = "slow-body"
    """Send the answer bit by bit, over ``seconds`` of real time."""
    TRUNCATE = "truncate"
    """Announce the length of the whole answer, send half of it, close the connection."""
    GARBLE = "garble"
    """Answer with something that is not JSON."""
    EXPIRE_TOKEN = "expire-token"  # noqa: S105 - a word, no password
    """The access token of this call expires before it is looked at."""
    REVOKE = "revoke"
    """The account's owner withdraws the grant: access and refresh tokens are void from now on."""
    EXPIRE_HISTORY = "expire-history"
    """Drop the account's history before the call is done."""
    KILL_UNDONE = "kill-undone"
    """Kill the sandbox's process as if by SIGKILL, before it performs the call."""
    KILL_DONE = "kill-done"
    """As ``KILL_UNDONE``, after performing the call and before answering."""
    UNLISTED = "unlisted"
    """Omit the mail from listings for ``seconds``: for ``messages.send`` the mail in Sent, for ``delivery`` the one
    that arrives."""
    LATE = "late"
    """For ``delivery``: the mail arrives ``seconds`` later."""
    REORDER = "reorder"
    """For ``delivery``: the mail arrives after the next one for the same account, or ``seconds`` later."""
    DUPLICATE = "duplicate"
    """For ``delivery``: the mail arrives twice."""
    LOSE = "lose"
    """For ``delivery``: the mail never arrives."""
    SPAM = "spam"
    """For ``delivery``: the mail arrives in Spam."""
    WITHHELD = "withheld"
    """For ``delivery``: the arrival is missing from the history; listings show the mail."""
    SKEW = "skew"
    """For ``delivery``: the mail's internal date is off by ``seconds``, which may be negative."""


DELIVERY = "delivery"
"""The method name of rules that strike mail in transit; the account is then the recipient's."""

ON_DELIVERY = frozenset(
    [
        *(
            FaultAction.UNLISTED,
            FaultAction.LATE,
            FaultAction.REORDER,
            FaultAction.DUPLICATE,
            FaultAction.LOSE,
            FaultAction.SPAM,
        ),
        *(FaultAction.WITHHELD, FaultAction.SKEW),
    ]
)
DEADLY = frozenset({FaultAction.KILL_UNDONE, FaultAction.KILL_DONE})
_TIMED = frozenset(
    {
        FaultAction.WAIT,
        FaultAction.LAST,
        FaultAction.SLOW_BODY,
        FaultAction.UNLISTED,
        FaultAction.LATE,
        FaultAction.SKEW,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One rule. Without ``calls``, ``every`` and ``chance`` it strikes each time."""

    action: FaultAction
    method: str = "*"
    """``messages.send``, ``history.list``, ``token``, ``delivery`` …; a ``*`` at the end matches any rest."""

    account: str | None = None
    """``None`` means any; calls are counted for each account."""

    calls: tuple[int, ...] = ()
    """Strike these matching calls of an account, counted from 1."""

    every: int | None = None
    """Strike each n-th matching call."""

    chance: float | None = None
    """Strike with this probability, from 0 to 1."""

    times: int | None = None
    """At most this many times for an account. ``None`` means no limit."""

    status: int = 503
    reason: str | None = None
    """``None`` means the usual reason of the status."""

    message: str | None = None
    retry_after_s: float | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        """Raises ``ConfigError``."""
        problem = self._problem()
        if problem is not None:
            raise ConfigError(f"fault {self.action.value} of {self.method[:60]}", problem)

    def _problem(self) -> str | None:
        if self.chance is not None and not 0 <= self.chance <= 1:
            return f"chance must be from 0 to 1, not {self.chance}"
        if self.every is not None and self.every < 1:
            return f"every must be at least 1, not {self.every}"
        if any(call < 1 for call in self.calls):
            return "calls are counted from 1"
        if self.times is not None and self.times < 1:
            return f"times must be at least 1, not {self.times}"
        if self.action is FaultAction.ERROR and not 400 <= self.status <= 599:
            return f"status must be from 400 to 599, not {self.status}"
        if self.retry_after_s is not None and not 0 <= self.retry_after_s <= LONGEST_DELAY_S:
            return f"retry_after_s must be from 0 to {LONGEST_DELAY_S:g}"
        longest = (
            LONGEST_WAIT_S
            if self.action in (FaultAction.WAIT, FaultAction.LAST, FaultAction.SLOW_BODY)
            else LONGEST_DELAY_S
        )
        shortest = -LONGEST_DELAY_S if self.action is FaultAction.SKEW else 0
        if not shortest <= self.seconds <= longest:
            return f"seconds must be from {shortest:g} to {longest:g}, not {self.seconds}"
        if self.action in _TIMED and not self.seconds:
            return "needs seconds"
        on_delivery = self.method == DELIVERY
        if on_delivery and self.action not in ON_DELIVERY:
            return f"cannot strike mail on its way; what can: {', '.join(sorted(ON_DELIVERY))}"
        if not on_delivery and self.action in ON_DELIVERY and self.action is not FaultAction.UNLISTED:
            return f"strikes mail on its way: write method: {DELIVERY}"
        return None

    def fits(self, method: str, account: str) -> bool:
        """Whether the rule matches a call."""
        if self.account is not None and self.account.lower() != account.lower():
            return False
        if self.method.endswith("*"):
            # A rule for all calls does not apply to mail in transit.
            return method != DELIVERY and method.startswith(self.method[:-1])
        return method == self.method

    def usual_reason(self) -> str:
        """The reason in the error document."""
        return self.reason or USUAL_REASONS.get(self.status, "backendError")


class FaultPlan:
    """The rules and the number of matching calls of each."""

    def __init__(
        self,
        faults: Iterable[Fault] = (),
        *,
        seed: int | str = 0,
        state: SandboxState | None = None,
        may_kill: bool = False,
    ) -> None:
        """``may_kill`` allows the faults that end the process. Raises ``ConfigError``."""
        self._seed = seed
        self._state = state or NoState()
        self._may_kill = may_kill
        self._cleared = threading.Event()
        self._faults: list[Fault] = []
        for fault in faults:
            self.add(fault)
        self._met: dict[str, list[int]] = {}
        for key, value in self._state.load("fault").items():
            if isinstance(value, list):
                self._met[key] = [int(each) for each in value]

    def add(self, fault: Fault) -> None:
        """Add a rule. Raises ``ConfigError``."""
        if fault.action in DEADLY and not self._may_kill:
            raise ConfigError(
                f"fault {fault.action.value}", "would end more than the sandbox here; start it by its command"
            )
        if len(self._faults) >= MOST_FAULTS:
            raise ConfigError("faults", f"more than {MOST_FAULTS} rules")
        self._faults.append(fault)
        self._cleared.clear()

    def clear(self) -> None:
        """Remove all rules."""
        # A removed rule keeps its place, so that later rules do not inherit its counts.
        self._faults = [_NEVER] * len(self._faults)
        self._cleared.set()

    def hold(self, seconds: float) -> None:
        """Let real time pass, or less when the faults are cleared."""
        self._cleared.wait(seconds)

    def strikes(self, method: str, account: str) -> list[Fault]:
        """Count one call and return the faults that strike it."""
        struck = []
        for place, fault in enumerate(self._faults):
            if not fault.fits(method, account):
                continue
            key = f"{place}/{account.lower()}"
            met = self._met.setdefault(key, [0, 0])
            met[0] += 1
            if self._is_due(fault, key, met):
                met[1] += 1
                struck.append(fault)
            self._state.put("fault", key, met)
        return struck

    def _is_due(self, fault: Fault, key: str, met: list[int]) -> bool:
        call, struck = met
        if fault.times is not None and struck >= fault.times:
            return False
        ways = []
        if fault.calls:
            ways.append(call in fault.calls)
        if fault.every is not None:
            ways.append(call % fault.every == 0)
        if fault.chance is not None:
            ways.append(Draw(self._seed, f"fault/{key}/{call}").chance(fault.chance))
        return any(ways) if ways else True


_NEVER = Fault(action=FaultAction.ERROR, method="")


def read_plan(document: object, *, where: str) -> tuple[int | str, list[Fault]]:
    """Seed and rules of a fault file (``{"seed": …, "faults": [{…}, …]}``). Raises ``ConfigError``."""
    if not isinstance(document, Mapping):
        raise ConfigError(where, "a fault file is a mapping with the keys seed and faults")
    unknown = sorted(str(key)[:40] for key in set(document) - {"seed", "faults"})
    if unknown:
        raise ConfigError(where, f"unknown key {unknown[0]}; the keys are seed and faults")
    seed, rules = document.get("seed", 0), document.get("faults", [])
    if not isinstance(seed, (int, str)) or isinstance(seed, bool):
        raise ConfigError(where, "seed must be a number or a text")
    if not isinstance(rules, list) or len(rules) > MOST_FAULTS:
        raise ConfigError(where, f"faults must be a list of at most {MOST_FAULTS} rules")
    return seed, [read_fault(rule, where=f"{where}, fault {place}") for place, rule in enumerate(rules, start=1)]


def read_fault(rule: object, *, where: str) -> Fault:
    """One rule of a fault file. Raises ``ConfigError``."""
    if not isinstance(rule, Mapping):
        raise ConfigError(where, "a fault is a mapping, e.g. {method: messages.send, action: drop-done, calls: [3]}")
    known = {field.name for field in fields(Fault)}
    values: dict[str, object] = {}
    for key, value in rule.items():
        if key not in known:
            raise ConfigError(where, f"unknown key {str(key)[:40]}; the keys are {', '.join(sorted(known))}")
        if key == "calls" and isinstance(value, int):
            value = [value]
        expected, name = _TYPES[str(key)]
        if not isinstance(value, expected) or isinstance(value, bool):
            raise ConfigError(where, f"{key} must be {name}, not {str(value)[:40]!r}")
        values[str(key)] = value
    action = values.pop("action", None)
    if action not in list(FaultAction):
        raise ConfigError(where, f"action must be one of {', '.join(FaultAction)}")
    calls = values.pop("calls", [])
    assert isinstance(calls, (list, tuple))
    if not all(isinstance(call, int) and not isinstance(call, bool) for call in calls):
        raise ConfigError(where, "calls must be a list of whole numbers")
    try:
        return Fault(action=FaultAction(str(action)), calls=tuple(calls), **values)  # type: ignore[arg-type]  # checked above
    except ConfigError as error:
        raise ConfigError(where, str(error)) from error


_NUMBER: tuple[type, ...] = (int, float)
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "action": ((str,), "a text"),
    "method": ((str,), "a text"),
    "account": ((str,), "a text"),
    "calls": ((list, tuple), "a list of whole numbers"),
    "every": ((int,), "a whole number"),
    "chance": (_NUMBER, "a number"),
    "times": ((int,), "a whole number"),
    "status": ((int,), "a whole number"),
    "reason": ((str,), "a text"),
    "message": ((str,), "a text"),
    "retry_after_s": (_NUMBER, "a number"),
    "seconds": (_NUMBER, "a number"),
}
