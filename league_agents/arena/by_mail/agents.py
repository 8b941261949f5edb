"""Adapters that let the runner call arena agents.

Rule 1: an agent gets each event once and in order, before it is asked; after a restart the new agents get all events.
Rule 2: a call ends with its decision, whatever the agent does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec.structs import replace

from league_agents.arena.answers import raw_of, steps_of
from league_agents.arena.session import Memory, ask_agent, failure_line, step_of
from league_agents.games.game import Event, LegalAction
from league_agents.journal.port import PendingCall
from league_agents.kit.errors import CallbackTimeout
from league_agents.kit.model_work import KEY
from league_agents.league.machines.effects import Call
from league_agents.runner.calls import AgentHost, Outcome
from league_agents.user_code.called import Called, End

LOG = logging.getLogger(__name__)

NO_LIMIT: Final = timedelta(days=365)
"""The time limit of a decision without a clock."""

Context = Mapping[str, Any]


def decision_call(
    call_id: str,
    *,
    game_id: str,
    match_id: str,
    agent_id: str,
    view: Mapping[str, Any],
    legal: object,
    until: datetime | None,
    now: datetime,
) -> Call:
    """A call that asks an agent for a decision; ``legal`` is from ``legal_as_json``. The result has an ``action``."""
    context = {
        "match_id": match_id,
        "agent_id": agent_id,
        "view": view,
        "legal": legal,
        "until": None if until is None else until.isoformat(),
    }
    timeout = NO_LIMIT if until is None else max(until - now, timedelta(0))
    return Call(call_id=call_id, callback="act", context=context, timeout=timeout, game_id=game_id)


class AskedAgent:
    """An ``Instance`` that passes each call to the agent it names."""

    def __init__(self, agent_of: Callable[[str], object], now: Callable[[], datetime]) -> None:
        self._agent_of = agent_of
        self._now = now
        self._is_left = False

    @property
    def keeps_time(self) -> bool:
        """Whether calls still end with their decisions, so that it is worth waiting for their end."""
        return not self._is_left

    def make(self, timeout_s: float) -> Called:
        return Called(end=End.RETURNED)

    def call(self, method: str, arguments: Sequence[object], timeout_s: float | None) -> Called:
        context: Any = arguments[0]
        agent, legal, until = self._agent_of(context["agent_id"]), legal_of(context["legal"]), context["until"]
        deadline = None if until is None else datetime.fromisoformat(until)
        # Computed now, because the call may have waited for its process to be restarted.
        left_s = None if deadline is None else (deadline - self._now()).total_seconds()
        try:
            action = asyncio.run(asyncio.wait_for(ask_agent(agent, context["view"], legal, deadline), left_s))
        except (TimeoutError, CallbackTimeout):
            return Called(end=End.TIMED_OUT)
        except Exception as error:  # an agent's own code may raise anything
            failure = failure_line(context["agent_id"], step_of(legal), error)
            LOG.warning("%s", failure)
            return Called(end=End.RAISED, detail=failure)
        result = {
            "action": {"version": action.version, "type": action.type, "data": dict(action.data)},
            "raw": raw_of(agent),
            KEY: [step.to_json() for step in steps_of(agent)],
        }
        return Called(end=End.RETURNED, result=result)

    def close(self) -> None:
        """No-op: the creator of the agents closes them."""

    def kill(self) -> None:
        self._is_left = True


class SeatedAgents:
    """The ``AgentHost`` for arena agents."""

    def __init__(
        self,
        workers: AgentHost,
        agent_of: Callable[[str], object],
        heard: Callable[[Context, int], Sequence[Event]],
        *,
        memory_of: Callable[[str], Memory | None] = lambda _agent: None,
        close_agents: Callable[[], None] = lambda: None,
    ) -> None:
        """``heard`` returns the events visible to a call's agent after a given number. ``memory_of`` is called once for
        each agent, ``close_agents`` after the last call."""
        self._workers = workers
        self._agent_of = agent_of
        self._heard = heard
        self._memory_of = memory_of
        self._close_agents = close_agents
        self.memories: dict[str, Memory | None] = {}
        self._seated: dict[str, Context] = {}
        """Agent -> context of its last question."""

        self._told: dict[str, int] = {}

    def submit(self, call: PendingCall) -> None:
        context: Context = call.context
        agent_id = context["agent_id"]
        if agent_id not in self.memories:
            self.memories[agent_id] = self._memory_of(agent_id)
        self._seated[agent_id] = context
        self._tell()
        memory = self.memories[agent_id]
        if memory is not None:
            context = {**context, "view": {**context["view"], "memory": memory.as_json()}}
        self._workers.submit(replace(call, context=context))

    def collect(self) -> Sequence[Outcome]:
        self._tell()
        return self._workers.collect()

    def release(self, game_id: str) -> None:
        self._workers.release(game_id)

    def next_wake(self) -> datetime | None:
        return self._workers.next_wake()

    def close(self) -> None:
        self._tell()
        self._workers.close()
        self._close_agents()

    def _tell(self) -> None:
        for agent_id, context in self._seated.items():
            agent, memory = self._agent_of(agent_id), self.memories[agent_id]
            for event in self._heard(context, self._told.get(agent_id, 0)):
                self._told[agent_id] = event.seq
                if memory is not None:
                    memory.observe(event)
                _observed(agent_id, agent, event)


def _observed(agent_id: str, agent: object, event: Event) -> None:
    observe = getattr(agent, "observe", None)
    if callable(observe):
        try:
            observe(event)
        except Exception as error:  # an agent's own code may raise anything
            LOG.warning("%s", failure_line(agent_id, "", error, method="observe"))


def legal_of(listed: object) -> tuple[LegalAction, ...]:
    """The legal actions that a state lists as JSON; invalid entries are left out."""
    found = []
    for each in listed if isinstance(listed, Sequence) else ():
        if isinstance(each, Mapping) and isinstance(each.get("schema"), Mapping):
            choices = each.get("choices")
            several = tuple(choices) if isinstance(choices, list | tuple) else None
            found.append(LegalAction(type=str(each.get("type")), schema=each["schema"], choices=several))
    return tuple(found)
