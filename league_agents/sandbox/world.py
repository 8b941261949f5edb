"""The parts of one sandbox: accounts, post office, tokens, account book, faults and clock.

Rule: one lock. A call holds it from its first read to the commit of its changes, so calls are ordered and the state
file never holds a partial call.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from league_agents.kit.clock import Clock
from league_agents.kit.errors import ConfigError
from league_agents.sandbox.accounting import Quota, SandboxAccounts
from league_agents.sandbox.delivery import SandboxPostOffice
from league_agents.sandbox.faults import Fault, FaultPlan
from league_agents.sandbox.history import Numbers
from league_agents.sandbox.mailbox import SandboxMailbox
from league_agents.sandbox.oauth import ACCESS_LIFETIME_S, Authority
from league_agents.sandbox.pubsub import SandboxPubSub
from league_agents.sandbox.state import SandboxState
from league_agents.sandbox.timekeeping import SandboxClock

MOST_ACCOUNTS = 500
_ACCOUNT = re.compile(r"[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,200}[A-Za-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How strict this Gmail is."""

    quota: Quota = field(default_factory=Quota)
    access_lifetime_s: int = ACCESS_LIFETIME_S
    grant_lifetime: timedelta | None = None
    """Lifetime of a refresh token: 7 days for an application in testing. ``None`` means no limit."""

    history_lifetime: timedelta = timedelta(days=7)
    """How long Gmail keeps the history of a mailbox."""

    asks_for_account: bool = False
    """Whether the consent page asks when the request hints at no account; otherwise the first account agrees."""


class World:
    """The state of one sandbox and the parts that change it."""

    def __init__(
        self, accounts: Iterable[str], *, clock: Clock, state: SandboxState, rules: Rules, faults: Sequence[Fault],
        seed: int | str, may_kill: bool,
    ) -> None:  # fmt: skip
        """Raises ``ConfigError``."""
        self.lock = threading.RLock()
        self.rules = rules
        self.state = state
        self.clock = SandboxClock(clock, state)
        self.numbers = Numbers(state)
        self.plan = FaultPlan(faults, seed=seed, state=state, may_kill=may_kill)
        self.ledger = SandboxAccounts(rules.quota, self.clock, state)
        lifetime = rules.grant_lifetime
        self.authority = Authority(
            self.clock,
            state,
            access_lifetime_s=rules.access_lifetime_s,
            grant_lifetime_s=None if lifetime is None else int(lifetime.total_seconds()),
        )
        self.under_way: Counter[tuple[str, str]] = Counter()
        """Sends that have reached the server and are neither done nor dropped, by account and mail."""

        self.boxes: dict[str, SandboxMailbox] = {}
        """Address in lower case -> mailbox, in the order in which they were named."""

        known = {str(key): str(address) for key, address in state.load("account").items()}
        for address in (*accounts, *known.values()):
            self._open(address)
        self._restore()
        self.pubsub = SandboxPubSub(self.clock, state)
        self.news = threading.Condition(self.lock)
        """Notified after anything that may have changed a mailbox, and at the end."""

        self.is_ending = False
        self.office = SandboxPostOffice(self.boxes, self.clock, self.numbers, self.plan, self.ledger, state)
        state.commit()

    @property
    def addresses(self) -> list[str]:
        """The accounts, spelled as they were created."""
        return [box.address for box in self.boxes.values()]

    def catch_up(self) -> None:
        """Deliver all mail that is due."""
        self.office.deliver_due()
        border = self.clock.now_ms() - self.rules.history_lifetime // timedelta(milliseconds=1)
        for box in self.boxes.values():
            box.history.forget(border)
            self.pubsub.publish_changes(box.key, box.address, box.history)

    def _open(self, address: str) -> None:
        if _ACCOUNT.fullmatch(address) is None:
            raise ConfigError("accounts", f"{address[:100]!a} is no mail address that the sandbox can serve")
        key = address.lower()
        if key in self.boxes:
            return
        if len(self.boxes) >= MOST_ACCOUNTS:
            raise ConfigError("accounts", f"more than {MOST_ACCOUNTS} accounts")
        self.boxes[key] = SandboxMailbox(address, self.numbers, self.state)
        self.state.put("account", key, address)

    def _restore(self) -> None:
        raws = self.state.load("raw")
        for key, stored in self.state.load("mail").items():
            raw = raws[key]
            assert isinstance(stored, dict)
            assert isinstance(raw, bytes)
            self.boxes[stored["address"]].restore(stored, raw)
        for stored in self.state.load("history").values():
            assert isinstance(stored, dict)
            self.boxes[stored["address"]].history.restore(stored)
