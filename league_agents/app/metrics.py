"""Figures of a running process for Prometheus.

Rule 1: the label of a figure is the mailbox, by its role and name. No address, no game, no text of a mail is in it.
Rule 2: what lies in a journal is read on the thread of its role, now and then; a request reads no journal.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from league_agents.app.live_mailbox import MAIL_FACTS
from league_agents.app.looking import open_games
from league_agents.journal.port import MODEL_WORK, WARNING, InboxRow, InboxVerdict, Note, OutboxItem
from league_agents.kit.clock import Clock, SystemClock
from league_agents.kit.errors import ConfigError
from league_agents.kit.ids import derive_hex
from league_agents.kit.json_values import mapping
from league_agents.kit.model_work import ModelWorkUse
from league_agents.report.models import steps_of
from league_agents.runner.live import LiveRole
from league_agents.runner.probe import Probe

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

READ_EVERY_S = 10.0
AT_RISK_WITHIN = timedelta(seconds=60)
"""How long before it passes the deadline of an open game counts as at risk; it does so afterwards, too."""

MOST_LABELS = 1_000
OTHERS = "others"
"""The label of all mailboxes beyond ``MOST_LABELS``."""

MOST_AWAITED = 10_000
"""Mails whose answers are awaited."""

_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)


def shown_name(name: str) -> str:
    """The name of a role without a mail address: one that is named after its address gets a number made from it."""
    kind, _, own = name.partition(" ")
    return f"{kind} {derive_hex(own.lower(), digits=8)}" if "@" in own else name


class Metrics(Probe):
    """``Observer`` and ``Probe`` that count. Thread-safe."""

    def __init__(self, monotonic_s: Callable[[], float]) -> None:
        """Raises ``ConfigError`` without the extra ``metrics``."""
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
        except ImportError:
            raise ConfigError("metrics", "needs prometheus-client: pip install 'league-agents[metrics]'") from None
        self.registry: CollectorRegistry = CollectorRegistry()
        self._monotonic_s = monotonic_s
        self._lock = threading.Lock()
        self._labels: dict[str, str] = {}
        self._clocks: dict[str, Clock] = {}
        self._read_s: dict[str, float] = {}
        self._awaited: OrderedDict[tuple[str, str], datetime] = OrderedDict()
        """(role, message id or game id) -> the arrival of a mail that may still be answered."""

        def made(kind: Any, name: str, words: str, *labels: str, **others: Any) -> Any:
            return kind(f"league_agents_{name}", words, ("mailbox", *labels), registry=self.registry, **others)

        self._received = made(Counter, "mails_received", "Mails taken in, by what became of them.", "verdict")
        self._sent = made(Counter, "mails_sent", "Mails that the service accepted.")
        self._latency = made(
            Histogram, "reply_seconds", "Time from the arrival of a mail to its answer.", buckets=_BUCKETS
        )
        self._fallbacks = made(Counter, "fallbacks", "Results of callbacks and of models that code replaced.", "of")
        self._model_calls = made(Counter, "model_calls", "Calls of language models.", "outcome")
        self._cost = made(Counter, "model_cost_usd", "What calls of language models cost, as far as it is known.")
        self._gauges = {
            name: made(Gauge, name, words)
            for name, words in (
                ("up", "1 if the role does its work, 0 if something hinders it."),
                ("last_poll_timestamp_seconds", "When the mailbox was last read to its end."),
                ("open_games", "Games that go on."),
                ("deadlines_at_risk", "Steps of open games whose deadline is at most a minute away, or over."),
                ("quota_units_left", "Units that the mail service still grants in this minute."),
                ("sends_left", "Mails that may still be sent today."),
                ("journal_bytes", "Size of the journal."),
            )
        }

    def exposition(self) -> bytes:
        """All figures in Prometheus's text format."""
        from prometheus_client import generate_latest

        return generate_latest(self.registry)

    # -- counting ---------------------------------------------------------------------------------------------------

    def received(self, role: str, row: InboxRow) -> None:
        self._received.labels(self._label(role), row.verdict.value).inc()
        if row.verdict is not InboxVerdict.PROCESSED:
            return
        # The answer to a broadcast names the broadcast.
        broadcast_id = (row.document or {}).get("broadcast_id")
        with self._lock:
            for key in (row.message_id, broadcast_id, row.game_id):
                if isinstance(key, str) and key:
                    self._awaited[role, key] = row.arrived_at
                    self._awaited.move_to_end((role, key))
            while len(self._awaited) > MOST_AWAITED:
                self._awaited.popitem(last=False)

    def sent(self, role: str, item: OutboxItem) -> None:
        self._sent.labels(self._label(role)).inc()
        # A message that names none which it answers is due to the latest mail of its game.
        keys = [(role, key) for key in (item.document.get("correlation_id"), item.game_id) if isinstance(key, str)]
        with self._lock:
            arrivals = [at for key in keys if (at := self._awaited.pop(key, None)) is not None]
            clock = self._clocks.get(role) or SystemClock()
        if arrivals:
            waited_s = (clock.now() - arrivals[0]).total_seconds()
            self._latency.labels(self._label(role)).observe(max(0.0, waited_s))

    def noted(self, role: str, note: Note) -> None:
        if note.kind == WARNING and note.key == "callback_failed":
            self._fallbacks.labels(self._label(role), "callback").inc()
        elif note.kind == MODEL_WORK:
            replaced = sum(step.work is ModelWorkUse.REPLACED for step in steps_of(note))
            if replaced:
                self._fallbacks.labels(self._label(role), "model").inc(replaced)

    def of_role(self, name: str) -> Probe:
        return _ModelsOfRole(self, name)

    def model_called(self, role: str, outcome: str, cost_usd: float | None) -> None:
        """Count a call of a language model."""
        label = self._label(role)
        self._model_calls.labels(label, outcome).inc()
        self._cost.labels(label).inc(max(0.0, cost_usd or 0.0))

    # -- reading ----------------------------------------------------------------------------------------------------

    def turned(self, role: LiveRole, rest: timedelta) -> timedelta:
        now_s = self._monotonic_s()
        with self._lock:
            self._clocks[role.name] = role.clock
            is_due = role.is_started and now_s - self._read_s.get(role.name, now_s - READ_EVERY_S) >= READ_EVERY_S
            if is_due:
                self._read_s[role.name] = now_s
        self._set(role.name, "up", 0 if role.hindrance else 1)
        if is_due:
            # A figure that cannot be read must not stop a role; the role's own work reports the error.
            with suppress(Exception):
                self._read(role)
        return rest

    def closed(self, role: LiveRole) -> None:
        with self._lock:
            label = self._labels.pop(role.name, OTHERS)
            self._clocks.pop(role.name, None)
            self._read_s.pop(role.name, None)
        if label != OTHERS:
            counted = (self._received, self._sent, self._latency, self._fallbacks, self._model_calls, self._cost)
            for metric in (*counted, *self._gauges.values()):
                metric.remove_by_labels({"mailbox": label})

    def _read(self, role: LiveRole) -> None:
        games = open_games(role.state)
        soon = role.clock.now() + AT_RISK_WITHIN
        facts = mapping(role.wired.facts().get(MAIL_FACTS))
        spent, allowed, polled_at = facts.get("units_in_last_minute"), facts.get("units_per_minute"), role.polled_at
        figures: dict[str, object] = {
            "open_games": len(games),
            "deadlines_at_risk": sum(
                owed.due_at is not None and owed.due_at <= soon for game in games for owed in game.owed
            ),
            "quota_units_left": max(0, allowed - spent)
            if isinstance(spent, int) and isinstance(allowed, int)
            else None,
            "sends_left": role.wired.sends_left(),
            "journal_bytes": role.wired.journal_bytes(),
            "last_poll_timestamp_seconds": None if polled_at is None else polled_at.timestamp(),
        }
        for name, value in figures.items():
            if isinstance(value, int | float):
                self._set(role.name, name, value)

    def _set(self, role: str, name: str, value: float) -> None:
        self._gauges[name].labels(self._label(role)).set(value)

    def _label(self, role: str) -> str:
        with self._lock:
            known = self._labels.get(role)
            if known is None:
                known = shown_name(role) if len(self._labels) < MOST_LABELS else OTHERS
                self._labels[role] = known
            return known


class _ModelsOfRole(Probe):
    """Counts the calls of one role's models."""

    def __init__(self, metrics: Metrics, name: str) -> None:
        self._metrics = metrics
        self._name = name

    def asked_model(
        self, *, game_id: str, callback: str, model: str, outcome: str, took_s: float, cost_usd: float | None
    ) -> None:
        self._metrics.model_called(self._name, outcome, cost_usd)
