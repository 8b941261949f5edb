"""The port through which a process is watched: metrics, traces, health, the service manager.

Rule 1: what watches changes nothing. Its methods are called on the roles' threads, return quickly and never raise.
Rule 2: a process that nobody watches pays one call of an empty method for each part of its work.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from league_agents.journal.port import InboxRow, Note, OutboxItem, PendingCall, StepCommit

if TYPE_CHECKING:
    from league_agents.runner.live import LiveRole

NOTHING: AbstractContextManager[object] = nullcontext()


class Probe:
    """Watches the roles of a process. This one does nothing; a subclass overrides what it needs."""

    def of_role(self, name: str) -> Probe:
        """Return the probe for the work of one role."""
        return self

    def span(self, name: str, key: str, *, began: datetime | None = None) -> AbstractContextManager[object]:
        """Enclose a part of the work that the mail, call, deadline or order with this key causes."""
        return NOTHING

    def caused(self, commit: StepCommit) -> None:
        """Called when a step was committed: its calls and mails are due to what caused the step."""

    def answered(self, call: PendingCall, failure: str) -> None:
        """Called when a callback has ended; ``failure`` is empty if it returned a value."""

    def asked_model(
        self, *, game_id: str, callback: str, model: str, outcome: str, took_s: float, cost_usd: float | None
    ) -> None:
        """Called, on any thread, when a language model was asked. ``cost_usd`` is ``None`` if it is unknown."""

    def turned(self, role: LiveRole, rest: timedelta) -> timedelta:
        """Called after each turn of a role that wants to rest so long. Return how long it may rest."""
        return rest

    def closed(self, role: LiveRole) -> None:
        """Called when a role has ended."""


NO_PROBE = Probe()


class Probes(Probe):
    """Several probes as one. The first of them that traces encloses the work."""

    def __init__(self, probes: Sequence[Probe]) -> None:
        self._probes = tuple(probes)

    def of_role(self, name: str) -> Probe:
        return Probes([each.of_role(name) for each in self._probes])

    def span(self, name: str, key: str, *, began: datetime | None = None) -> AbstractContextManager[object]:
        for each in self._probes:
            span = each.span(name, key, began=began)
            if span is not NOTHING:
                return span
        return NOTHING

    def caused(self, commit: StepCommit) -> None:
        for each in self._probes:
            each.caused(commit)

    def answered(self, call: PendingCall, failure: str) -> None:
        for each in self._probes:
            each.answered(call, failure)

    def asked_model(
        self, *, game_id: str, callback: str, model: str, outcome: str, took_s: float, cost_usd: float | None
    ) -> None:
        for each in self._probes:
            each.asked_model(
                game_id=game_id, callback=callback, model=model, outcome=outcome, took_s=took_s, cost_usd=cost_usd
            )

    def turned(self, role: LiveRole, rest: timedelta) -> timedelta:
        for each in self._probes:
            rest = each.turned(role, rest)
        return rest

    def closed(self, role: LiveRole) -> None:
        for each in self._probes:
            each.closed(role)


class Watching(Protocol):
    """``runner.role.Observer``, which this module must not import."""

    def received(self, role: str, row: InboxRow) -> None: ...

    def sent(self, role: str, item: OutboxItem) -> None: ...

    def noted(self, role: str, note: Note) -> None: ...


@dataclass(frozen=True, slots=True)
class ProbedObserver:
    """An ``Observer`` of several, with the probe of the process."""

    observers: Sequence[Watching]
    probe: Probe

    def received(self, role: str, row: InboxRow) -> None:
        for each in self.observers:
            each.received(role, row)

    def sent(self, role: str, item: OutboxItem) -> None:
        for each in self.observers:
            each.sent(role, item)

    def noted(self, role: str, note: Note) -> None:
        for each in self.observers:
            each.noted(role, note)


def probe_of(observer: object) -> Probe:
    """The probe that an observer brings; one that does nothing if it brings none."""
    return observer.probe if isinstance(observer, ProbedObserver) else NO_PROBE
