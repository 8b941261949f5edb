"""Cloud Pub/Sub as far as Gmail's notifications need it: ``users.watch`` publishes, ``pull`` and ``acknowledge`` read.

Rule 1: each topic has one subscription, of the same last name. It need not be created.
Rule 2: a message that was pulled and not acknowledged is handed out again after ``ACK_DEADLINE_S``. Watches survive in
the state file; messages do not.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from league_agents.sandbox.history import History
from league_agents.sandbox.refusal import invalid
from league_agents.sandbox.state import SandboxState
from league_agents.sandbox.timekeeping import SandboxClock

ACK_DEADLINE_S = 10
MOST_MESSAGES = 1_000
_SUBSCRIPTION = re.compile(r"/v1/projects/([^/:]{1,200})/subscriptions/([^/:]{1,255}):(pull|acknowledge)")
_TOPIC = re.compile(r"projects/[^/:]{1,200}/topics/[^/:]{1,255}")


@dataclass(slots=True)
class _Notice:
    """One message of a topic."""

    number: int
    topic: str
    data: bytes
    free_from_ms: int = 0
    """When it may be handed out, again if it was not acknowledged."""


@dataclass(frozen=True, slots=True)
class _Watch:
    """What an account has asked for."""

    topic: str
    ends_ms: int


class SandboxPubSub:
    """The topics of one sandbox. The caller holds the world's lock."""

    def __init__(self, clock: SandboxClock, state: SandboxState) -> None:
        self._clock = clock
        self._state = state
        self._number = 0
        self._notices: dict[int, _Notice] = {}
        self._watches: dict[str, _Watch] = {}
        self._told: dict[str, int] = {}
        """Account -> the newest change of its history that was published."""

        for account, stored in state.load("watch").items():
            assert isinstance(stored, list)
            self._watches[account] = _Watch(str(stored[0]), int(stored[1]))

    def watch(self, account: str, topic: str, ends_ms: int, history: History) -> None:
        """Publish the account's changes from now on. Raises ``SandboxRefusal``."""
        if _TOPIC.fullmatch(topic) is None:
            raise invalid("Invalid topicName does not match projects/*/topics/*")
        self._watches[account] = _Watch(topic, ends_ms)
        self._state.put("watch", account, [topic, ends_ms])
        self._told[account] = history.last_id

    def stop(self, account: str) -> None:
        """Publish nothing more of an account."""
        if self._watches.pop(account, None) is not None:
            self._state.drop("watch", account)

    def watched_topic(self, account: str) -> str | None:
        """The topic that an account's changes are published to; ``None`` if they are not, or no longer."""
        found = self._watches.get(account)
        return None if found is None or found.ends_ms <= self._clock.now_ms() else found.topic

    def publish(self, topic: str, data: bytes) -> None:
        """Publish any bytes."""
        self._number += 1
        self._notices[self._number] = _Notice(self._number, topic, data)

    def publish_changes(self, account: str, address: str, history: History) -> None:
        """Publish that the inbox of a watched account has changed, if it has."""
        topic = self.watched_topic(account)
        told = self._told.setdefault(account, history.last_id)
        if topic is None or history.last_id <= told:
            return
        self._told[account] = history.last_id
        changes = history.recent(told)
        if any("INBOX" in change.labels or "INBOX" in change.removed for change in changes):
            data = {"emailAddress": address, "historyId": history.last_id}
            self.publish(topic, json.dumps(data).encode())

    def pull(self, topic: str, document: Mapping[str, object]) -> list[dict[str, Any]]:
        """Hand out messages. Raises ``SandboxRefusal``."""
        most = document.get("maxMessages")
        if not isinstance(most, int) or most < 1:
            raise invalid("maxMessages must be positive")
        now_ms = self._clock.now_ms()
        free = [each for each in self._notices.values() if each.topic == topic and each.free_from_ms <= now_ms]
        for each in free[: min(most, MOST_MESSAGES)]:
            each.free_from_ms = now_ms + 1000 * ACK_DEADLINE_S
        stamp = self._clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        return [
            {
                "ackId": str(each.number),
                "message": {
                    "data": base64.b64encode(each.data).decode("ascii"),
                    "messageId": str(each.number),
                    "publishTime": stamp,
                },
            }
            for each in free[: min(most, MOST_MESSAGES)]
        ]

    def acknowledge(self, topic: str, document: Mapping[str, object]) -> None:
        """Forget messages. Raises ``SandboxRefusal``."""
        ids = document.get("ackIds")
        if not isinstance(ids, list) or not ids:
            raise invalid("You must specify ack_ids in the request")
        for each in ids:
            number = int(each) if isinstance(each, str) and each.isascii() and each.isdigit() else 0
            if number in self._notices and self._notices[number].topic == topic:
                del self._notices[number]

    def waiting(self, topic: str) -> int:
        """How many messages of a topic were not acknowledged."""
        return sum(each.topic == topic for each in self._notices.values())


def subscription_call(path: str) -> tuple[str, str] | None:
    """The topic and the method that an address names; ``None`` for another address."""
    found = _SUBSCRIPTION.fullmatch(path)
    return None if found is None else (f"projects/{found[1]}/topics/{found[2]}", found[3])
