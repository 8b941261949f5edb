"""Plays one match: asks all agents that owe an action at once, with time limits, and passes them the events.

Rule 1: actions count in order of arrival; sealed actions are revealed in the game's order, so outcomes do not depend on
who was first.
Rule 2: events reach an agent's memory, then the agent, before it is asked again.
Rule 3: a failure of an agent in this process costs it at most a decision, never the match.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any, Protocol

from league_agents.arena.answers import action_of, raw_of, steps_of
from league_agents.arena.decisions import ClockRules, ClockState, Decision, Decisions, SettledDecision
from league_agents.games.game import HOST, Action, Event, ForfeitCause, IllegalAction, LegalAction, is_visible
from league_agents.kit.clock import utc_now
from league_agents.kit.errors import AgentError, CallbackTimeout, LeagueError
from league_agents.kit.printable import printable
from league_agents.turns.match import Match
from league_agents.user_code.called import failed_with

LOG = logging.getLogger(__name__)


class Memory(Protocol):
    """A memory of past events that a game keeps for a player."""

    def observe(self, event: Event) -> None:
        """Take note of an event that the agent may see."""
        ...

    def as_json(self) -> dict[str, Any]:
        """The memory as JSON values."""
        ...


class Recorder(Protocol):
    """Records a match."""

    def begin(self, session: Session) -> None:
        """Called before the match starts; its first events are known."""
        ...

    def settled(self, settled: SettledDecision) -> None:
        """Called after a decision has ended."""
        ...

    def end(self, session: Session) -> None:
        """Called when the match is over or abandoned."""
        ...


class GivenUp(LeagueError):
    """Somebody without whom the match cannot go on has left."""


def wall_clock() -> datetime:
    """The current time in UTC."""
    return utc_now()


class Session:
    """Plays one match. Seats without an agent in this process act through ``submit``."""

    def __init__(
        self,
        match: Match[Any],
        agents: Mapping[str, object],
        *,
        clock_rules: ClockRules | None = None,
        now: Callable[[], datetime] = wall_clock,
        recorders: Sequence[Recorder] = (),
        memory_of: Callable[[str], Memory | None] = lambda _agent: None,
        lang: str = "en",
        on_change: Callable[[Session], None] = lambda _session: None,
    ) -> None:
        """``agents``: seat -> agent (``ArenaAgent``, or any object with ``act``). ``on_change`` is called after every
        change of the match, and when a decision is opened."""
        self.match = match
        self.agents = dict(agents)
        self.decisions = Decisions(match, clock_rules or ClockRules(), self)
        self.memories = {agent: memory for agent in match.agent_ids if (memory := memory_of(agent)) is not None}
        self.rules_text = match.game.rules_text(match.config, lang)
        self.started_at: datetime | None = None
        self.ended_at: datetime | None = None
        self._now = now
        self._recorders = tuple(recorders)
        self._on_change = on_change
        self._told = 0
        """The number of the last event passed to the memories and the agents in this process."""

        self._moved = asyncio.Event()
        self._refused: dict[str, dict[str, Any]] = {}
        self._tasks: dict[asyncio.Task[Action], Decision] = {}

    @property
    def status(self) -> str:
        """``waiting``, ``started``, ``ended`` or ``abandoned`` (arena 5.1)."""
        if self.decisions.is_abandoned:
            return "abandoned"
        if self.match.is_over:
            return "ended"
        return "waiting" if self.started_at is None else "started"

    def begin(self) -> None:
        """Start the clocks and the transcript. ``run`` calls it; call it yourself to accept actions earlier."""
        if self.started_at is None:
            self.started_at = self._now()
            self._reset()
            for recorder in self._recorders:
                recorder.begin(self)

    def carry_on(self, started_at: datetime, clocks: ClockState, stood: timedelta) -> None:
        """Go on with a match that another process began; call it in place of ``begin``.

        The match holds its former decisions. The agents in this process get all of its events before they are asked.
        ``stood``: how long the clocks stood still.
        """
        self.started_at = started_at
        self._reset()
        self.decisions.carry_on(clocks, stood)

    def _reset(self) -> None:
        for agent_id, agent in self.agents.items():
            reset = getattr(agent, "reset", None)
            if callable(reset):
                _guarded(agent_id, reset)

    def release(self) -> None:
        """Drop all participants of a match that is over and recorded, so that its memory is free at once."""
        self.agents.clear()
        self.memories.clear()
        self._recorders = ()
        self._on_change = lambda _session: None
        self.decisions.release()

    async def run(self) -> None:
        """Play until the match is over. Cancelling it leaves the match unchanged.

        Raises ``GivenUp`` if an agent in this process does, which also leaves the match unchanged.
        """
        self.begin()
        try:
            while not self.decisions.is_over:
                self._tell()
                self.decisions.ask(self._now())
                if self.decisions.expire(self._now()):
                    self._on_change(self)
                    continue  # forfeits come first, as absent agents are not asked
                # All open decisions, not only the new ones: an action from outside may have opened some.
                for decision in self.decisions.open_decisions.values():
                    if not any(asked is decision for asked in self._tasks.values()):
                        self._ask(decision)
                self._on_change(self)
                await self._wait()
        finally:
            for task in self._tasks:
                task.cancel()
        self.end()

    def submit(self, agent: str, action: Action, raw: Any = None) -> tuple[Event, ...]:
        """Take an action from outside. Raises ``IllegalAction`` as ``Decisions.act`` does."""
        try:
            return self.decisions.act(agent, action, self._now(), raw)
        finally:
            self._moved.set()

    def wake(self) -> None:
        """Wake ``run``: an agent connected, disconnected or left."""
        self._moved.set()

    def view_for(self, agent: str) -> dict[str, Any]:
        """The view that an agent gets when it is asked."""
        memory = self.memories.get(agent)
        return {
            **self.match.view(agent),
            "agent_id": agent,
            "game": self.match.game.code,
            "rules_text": self.rules_text,
            "refusal": self._refused.get(agent),
            **({} if memory is None else {"memory": memory.as_json()}),
        }

    def settled(self, settled: SettledDecision) -> None:
        """Record a decision that has ended, before any agent learns of it."""
        agent, cause = settled.decision.agent_id, settled.cause
        self._refused.pop(agent, None)
        # Decisions of an absent agent that are forfeited without asking it have the cause DISCONNECTED.
        if cause not in (None, ForfeitCause.DISCONNECTED) and agent in self.agents and agent in self.decisions.absent():
            times = self.decisions.rules.max_forfeits
            LOG.warning("%s", f"agent {agent}: failed {times} times in a row and is not asked again in this match")
        for recorder in self._recorders:
            recorder.settled(settled)

    def end(self) -> None:
        """Close the record of a match that is over. ``run`` calls it; call it yourself to read the record at once."""
        self._tell()
        if self.ended_at is None:
            self.ended_at = self._now()
            for recorder in self._recorders:
                recorder.end(self)
        self._on_change(self)

    def _tell(self) -> None:
        events = self.match.events_for(HOST, after=self._told)
        self._told += len(events)
        for event in events:
            for agent_id in self.match.agent_ids:
                if not is_visible(event, agent_id):
                    continue
                memory = self.memories.get(agent_id)
                if memory is not None:
                    memory.observe(event)
                observe = getattr(self.agents.get(agent_id), "observe", None)
                if callable(observe):
                    _guarded(agent_id, observe, copy.deepcopy(event))

    def _ask(self, decision: Decision) -> None:
        agent = self.agents.get(decision.agent_id)
        if agent is None:
            return
        # A copy: an agent in this process must not be able to change the match.
        view = copy.deepcopy(self.view_for(decision.agent_id))
        legal = copy.deepcopy(self.match.legal(decision.agent_id))
        task = asyncio.ensure_future(ask_agent(agent, view, legal, decision.deadline))
        task.add_done_callback(_looked_at)
        self._tasks[task] = decision

    async def _wait(self) -> None:
        """Wait until an agent acts, inside or outside this process, or a deadline passes."""
        deadline = self.decisions.next_deadline()
        timeout = None if deadline is None else max(0.0, (deadline - self._now()).total_seconds())
        moved = asyncio.ensure_future(self._moved.wait())
        try:
            done, _ = await asyncio.wait({moved, *self._tasks}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            moved.cancel()
        self._moved.clear()
        self.decisions.expire(self._now())
        # Several that finished together are taken in the order in which they were asked.
        for task in [task for task in self._tasks if task in done]:
            self._take(self._tasks.pop(task), task)
        for task in [task for task, decision in self._tasks.items() if not self._is_open(decision)]:
            task.cancel()
            del self._tasks[task]

    def _is_open(self, decision: Decision) -> bool:
        return self.decisions.open_decisions.get(decision.agent_id) is decision

    def _take(self, decision: Decision, task: asyncio.Task[Action]) -> None:
        if not self._is_open(decision):
            return
        agent, error = decision.agent_id, None if task.cancelled() else task.exception()
        if isinstance(error, GivenUp):
            raise error
        step = step_of(self.match.legal(agent))
        if task.cancelled() or error is not None:
            is_late = isinstance(error, CallbackTimeout)
            if not is_late:  # whoever raises that has told it
                LOG.warning("%s", failure_line(agent, step, error or AgentError("was cancelled")))
            cause = ForfeitCause.TIMEOUT if is_late else ForfeitCause.ERROR
            self.decisions.forfeit(agent, cause, self._now(), models=steps_of(self.agents[agent]))
            return
        try:
            mind = self.agents[agent]
            self.decisions.act(agent, task.result(), self._now(), raw_of(mind), steps_of(mind))
        except IllegalAction as refused:
            self._refused[agent] = {"code": refused.code, "message": refused.message, **_parts(refused)}
            if self._is_open(decision):
                self._ask(decision)
            elif decision.refusals:
                LOG.warning("%s", refused_line(decision, step))


def _looked_at(task: asyncio.Task[Action]) -> None:
    """Mark an exception raised after the end of its decision as retrieved, or asyncio would log it."""
    if not task.cancelled():
        task.exception()


def _parts(refused: IllegalAction) -> dict[str, Any]:
    data = dict(refused.data)
    return {"attempts_left": data.pop("attempts_left", 0), "data": data}


async def ask_agent(
    agent: object, view: dict[str, Any], legal: Sequence[LegalAction], deadline: datetime | None
) -> Action:
    """The action of an agent in this process. Raises what it raises, as an ``Exception``; sets no time limit."""
    act = agent.act  # type: ignore[attr-defined]  # a user's class; one without it fails here, as its own error
    try:
        if inspect.iscoroutinefunction(act):
            answer = await act(view, legal, deadline)
        else:
            answer = await on_a_thread(act, view, legal, deadline)
            if inspect.isawaitable(answer):
                answer = await answer
    except SystemExit as error:  # which would end the event loop, and with it all matches
        raise RuntimeError("act raised SystemExit") from error
    return action_of(answer)


async def on_a_thread(act: Callable[..., Any], *args: object) -> Any:
    """Call an ordinary method, which may block, on a thread; return its result.

    The thread is a daemon: if it never returns, it is abandoned at the deadline and at the end of the process.
    """
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[Any] = loop.create_future()

    def answer() -> None:
        try:
            result, error = act(*args), None
        except BaseException as raised:  # user code may raise anything
            result, error = None, raised
        with suppress(RuntimeError):  # the loop is closed: no task waits for the result
            loop.call_soon_threadsafe(settle, result, error)

    def settle(result: object, error: BaseException | None) -> None:
        if answered.cancelled():
            return
        if error is None:
            answered.set_result(result)
        elif isinstance(error, Exception) and not isinstance(error, StopIteration):
            answered.set_exception(error)
        else:
            answered.set_exception(RuntimeError(f"act raised {type(error).__name__}"))

    threading.Thread(target=answer, name="arena-agent", daemon=True).start()
    return await answered


def _guarded(agent_id: str, call: Callable[..., object], *args: object) -> None:
    try:
        call(*args)
    except Exception as error:  # an agent's own code may raise anything
        LOG.warning("%s", failure_line(agent_id, "", error, method=getattr(call, "__name__", "method")))


def refused_line(decision: Decision, step: str) -> str:
    """The message for a decision that is forfeited after refused actions."""
    times = len(decision.refusals)
    reasons = "; ".join(dict.fromkeys(each["message"] for each in decision.refusals))
    said = f"{times} refused action{'s' * (times > 1)}, so the decision is forfeited: {reasons}"
    return failure_line(decision.agent_id, step, AgentError(said))


def step_of(legal: Sequence[LegalAction]) -> str:
    """The name of the step that an agent is asked for, such as ``vote``."""
    return " or ".join(action.type for action in legal)


def failure_line(agent_id: str, step: str, error: BaseException, *, method: str = "act") -> str:
    """``agent agent_1 (vote): act raised KeyError (mine.py:11): 'x'``. ``step`` is empty where nothing is asked."""
    if isinstance(error, AgentError):  # says it all
        said = printable(str(error), _LONGEST_FAILURE)
    else:
        said = failed_with(error).in_words(method, 0)
    return f"agent {agent_id}{f' ({step})' if step else ''}: {said}"


_LONGEST_FAILURE = 600
