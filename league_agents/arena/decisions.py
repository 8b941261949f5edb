"""The open decisions of one match: their deadlines, refusals and forfeits (arena 6).

Rule 1: every opened decision ends once: with an accepted action or with a forfeit and its cause.
Rule 2: the caller passes the time. This module neither asks agents nor waits, so sessions in one process, servers and
mail share it.
Rule 3: a refused action changes only the refusals of its decision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from msgspec import Struct

from league_agents.games.game import Action, Event, ForfeitCause, IllegalAction
from league_agents.kit.model_work import ModelStep
from league_agents.turns.match import Match

DEFAULT_TIMEOUT = timedelta(seconds=60)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockRules:
    """Limits on the time and the mistakes of decisions."""

    turn_timeout: timedelta | None = DEFAULT_TIMEOUT
    """Time from the moment the agent is asked; ``None`` for no clock."""

    time_bank: timedelta = timedelta(0)
    """Extra time for the whole match, used before a timeout."""

    max_invalid: int = 2
    """Refusals allowed in one decision; the next one forfeits it."""

    max_forfeits: int = 3
    """Consecutive forfeits after which an agent is absent."""

    disconnect_grace: timedelta = timedelta(seconds=30)
    """How long an agent may be disconnected before a decision that it owes is forfeited."""

    on_leave: Literal["continue", "abandon"] = "continue"
    """Whether a match goes on when an agent leaves it permanently."""


@dataclass(slots=True, kw_only=True)
class Decision:
    """One action that an agent owes."""

    agent_id: str
    asked_at: datetime
    deadline: datetime | None
    """The deadline, time bank included; ``None`` without a clock."""

    refusals: list[dict[str, Any]] = field(default_factory=list)
    """``{"at", "code", "message"}`` of each refused action."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledDecision:
    """A decision that has ended, or one more refusal in it."""

    decision: Decision
    at: datetime
    raw: Any = None
    """The agent's answer: its text if known, else the action's data."""

    action: Action | None = None
    """``None`` for a forfeit."""

    cause: ForfeitCause | None = None
    """``None`` for an accepted action."""

    events: tuple[Event, ...] = ()
    models: tuple[ModelStep, ...] = ()
    """The model steps of the decision, if the agent exposes them."""


class OpenDecision(Struct, frozen=True, kw_only=True):
    """An open decision as it is kept."""

    asked_at: datetime
    deadline: datetime | None
    refusals: list[dict[str, Any]]


class ClockState(Struct, frozen=True, kw_only=True):
    """What the decisions of a match hold beside the match itself: clocks, mistakes and absences."""

    open: dict[str, OpenDecision]
    bank: dict[str, timedelta]
    forfeits: dict[str, int]
    gone_since: dict[str, datetime]
    left: list[str]


class MatchWatcher(Protocol):
    """An observer of settled decisions, called in order."""

    def settled(self, settled: SettledDecision) -> None:
        """Called after a decision has ended and its events have happened."""
        ...


class Decisions:
    """The open decisions of one match."""

    def __init__(self, match: Match[Any], rules: ClockRules, watcher: MatchWatcher | None = None) -> None:
        self.match = match
        self.rules = rules
        self._watcher = watcher
        self._open: dict[str, Decision] = {}
        self._bank = dict.fromkeys(match.agent_ids, rules.time_bank)
        self._forfeits = dict.fromkeys(match.agent_ids, 0)
        self._gone_since: dict[str, datetime] = {}
        self._left: set[str] = set()
        self.is_abandoned = False
        """Whether the match was abandoned: all agents are absent, or one left and ``on_leave`` says so."""

    @property
    def open_decisions(self) -> Mapping[str, Decision]:
        """Agent -> its open decision."""
        return self._open

    @property
    def is_over(self) -> bool:
        return self.is_abandoned or not self.match.active()

    def absent(self) -> frozenset[str]:
        """Agents whose decisions are forfeited at once."""
        tired = {agent for agent, count in self._forfeits.items() if count >= self.rules.max_forfeits}
        return frozenset(tired | self._left)

    def ask(self, now: datetime) -> list[Decision]:
        """Open and return a decision for each agent that owes an action and has none."""
        if self.is_over:
            self._open.clear()
            return []
        active = self.match.active()
        for agent in [agent for agent in self._open if agent not in active]:
            del self._open[agent]
        opened = []
        for agent in active:
            if agent not in self._open:
                timeout = self.rules.turn_timeout
                deadline = None if timeout is None else now + timeout + self._bank[agent]
                self._open[agent] = decision = Decision(agent_id=agent, asked_at=now, deadline=deadline)
                opened.append(decision)
        return opened

    def act(
        self, agent: str, action: Action, now: datetime, raw: Any = None, models: tuple[ModelStep, ...] = ()
    ) -> tuple[Event, ...]:
        """Take an action for an open decision.

        Raises ``IllegalAction``, with ``attempts_left`` in its data; if no attempt is left, the decision is forfeited
        before the exception is raised. An action after the deadline is ``too_late``, and the decision is forfeited.
        """
        if self.is_abandoned:
            raise IllegalAction("match_over", "The match was given up.")
        if agent not in self._open:
            self.ask(now)  # the last action made it this agent's turn, but it has not been asked yet
        decision = self._open.get(agent)
        if decision is not None and decision.deadline is not None and now >= decision.deadline:
            self.forfeit(agent, ForfeitCause.TIMEOUT, now)
            raise IllegalAction("too_late", "The time for this action is over.")
        if decision is None:
            # Let the match raise the reason: not asked, too late, or over.
            self.match.act(agent, action)
            raise AssertionError(f"{agent} acted without being asked")
        try:
            events = self.match.act(agent, action)
        except IllegalAction as refused:
            decision.refusals.append({"at": now.isoformat(), "code": refused.code, "message": refused.message})
            left = self.rules.max_invalid - len(decision.refusals)
            data = {**refused.data, "attempts_left": max(0, left + 1)}
            if left < 0:
                self.forfeit(agent, ForfeitCause.INVALID, now, raw=action.data if raw is None else raw, models=models)
            raise IllegalAction(refused.code, refused.message, data) from None
        self._forfeits[agent] = 0
        self._charge(decision, now)
        given = action.data if raw is None else raw
        self._close(decision, now, raw=given, action=action, events=events, models=models)
        return events

    def forfeit(
        self, agent: str, cause: ForfeitCause, now: datetime, raw: Any = None, models: tuple[ModelStep, ...] = ()
    ) -> tuple[Event, ...]:
        """End an open decision without an action. No-op if none is open."""
        decision = self._open.get(agent)
        if decision is None:
            return ()
        events = self.match.forfeit(agent, cause)
        self._forfeits[agent] += 1
        self._charge(decision, now)
        self._close(decision, now, raw=raw, cause=cause, events=events, models=models)
        if len(self.absent()) == len(self.match.agent_ids) and not self.match.is_over:
            self.abandon()
        return events

    def expire(self, now: datetime) -> tuple[Event, ...]:
        """Forfeit overdue decisions: timeouts, and agents that are absent or disconnected for too long."""
        events: list[Event] = []
        absent = self.absent()
        for agent, decision in sorted(self._open.items(), key=lambda item: self.match.agent_ids.index(item[0])):
            if self.is_over:
                break
            gone = self._gone_since.get(agent)
            if agent in absent or (gone is not None and now >= gone + self.rules.disconnect_grace):
                events += self.forfeit(agent, ForfeitCause.DISCONNECTED, now)
            elif decision.deadline is not None and now >= decision.deadline:
                events += self.forfeit(agent, ForfeitCause.TIMEOUT, now)
        return tuple(events)

    def next_deadline(self) -> datetime | None:
        """When ``expire`` must be called next; ``None`` if no deadline is open."""
        absent = self.absent()
        times = []
        for agent, decision in self._open.items():
            if agent in absent:
                times.append(decision.asked_at)
            if decision.deadline is not None:
                times.append(decision.deadline)
            if agent in self._gone_since:
                times.append(self._gone_since[agent] + self.rules.disconnect_grace)
        return min(times, default=None)

    def deadline(self, agent: str) -> datetime | None:
        """The deadline of the action that the agent owes; ``None`` without a clock."""
        decision = self._open.get(agent)
        return None if decision is None else decision.deadline

    def disconnected(self, agent: str, now: datetime) -> None:
        """Note that the agent cannot be reached: it has ``disconnect_grace`` to return."""
        self._gone_since.setdefault(agent, now)

    def reconnected(self, agent: str) -> None:
        """Note that the agent is back; it is asked again if it was absent."""
        self._gone_since.pop(agent, None)
        self._forfeits[agent] = 0

    def leave(self, agent: str) -> None:
        """Remove the agent permanently: its decisions are forfeited, or the match is abandoned."""
        self._left.add(agent)
        if self.rules.on_leave == "abandon" or len(self.absent()) == len(self.match.agent_ids):
            self.abandon()

    def abandon(self) -> None:
        """Abandon the match: nobody wins."""
        self.is_abandoned = True
        self._open.clear()

    def clocks(self) -> ClockState:
        """The clocks, mistakes and absences as they are now."""
        return ClockState(
            open={
                agent: OpenDecision(asked_at=each.asked_at, deadline=each.deadline, refusals=list(each.refusals))
                for agent, each in self._open.items()
            },
            bank=dict(self._bank),
            forfeits=dict(self._forfeits),
            gone_since=dict(self._gone_since),
            left=sorted(self._left),
        )

    def carry_on(self, clocks: ClockState, stood: timedelta) -> None:
        """Go on from ``clocks`` after the clocks stood still for ``stood``, which is nobody's time."""
        self._bank |= clocks.bank
        self._forfeits |= clocks.forfeits
        self._gone_since = {agent: at + stood for agent, at in clocks.gone_since.items()}
        self._left = set(clocks.left)
        for agent, each in clocks.open.items():
            if agent in self.match.active():
                deadline = None if each.deadline is None else each.deadline + stood
                self._open[agent] = Decision(
                    agent_id=agent, asked_at=each.asked_at + stood, deadline=deadline, refusals=list(each.refusals)
                )

    def release(self) -> None:
        """Drop the watcher."""
        self._watcher = None

    def _charge(self, decision: Decision, now: datetime) -> None:
        """Deduct the time that a decision took beyond its turn from the time bank."""
        timeout = self.rules.turn_timeout
        if timeout is not None:
            over = now - decision.asked_at - timeout
            agent = decision.agent_id
            self._bank[agent] = max(timedelta(0), self._bank[agent] - max(timedelta(0), over))

    def _close(
        self,
        decision: Decision,
        now: datetime,
        *,
        events: tuple[Event, ...],
        raw: Any = None,
        action: Action | None = None,
        cause: ForfeitCause | None = None,
        models: tuple[ModelStep, ...] = (),
    ) -> None:
        self._open.pop(decision.agent_id, None)
        if self._watcher is not None:
            settled = SettledDecision(
                decision=decision, at=now, raw=raw, action=action, cause=cause, events=events, models=models
            )
            self._watcher.settled(settled)
