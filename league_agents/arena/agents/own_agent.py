"""An agent class of the user, in its own process or in this one.

Rule 1: its methods are called on threads, one at a time. A call ends with its decision: then a process is killed and
restarted, and an instance in this process is replaced by a new one.
Rule 2: events are passed to the agent before the next question, in order; a new instance gets those of the whole match.
"""

from __future__ import annotations

import logging
import threading
from asyncio import CancelledError
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol

from league_agents.arena.agents.port import View
from league_agents.arena.agents.seated import event_as_json, legal_as_json
from league_agents.arena.session import failure_line, on_a_thread, step_of
from league_agents.games.game import Event, LegalAction
from league_agents.kit.clock import monotonic_s
from league_agents.kit.errors import AgentError, CallbackTimeout
from league_agents.kit.model_work import KEY
from league_agents.user_code.called import End
from league_agents.user_code.instances import Instance, InstanceMaker
from league_agents.user_code.process import LOAD_LIMIT_S, PATIENCE_S

LOG = logging.getLogger(__name__)

LAST_LIMIT_S = 10.0
"""Time limit of each call after the end of the match."""

Call = Callable[..., Any]
"""Calls a method of the class with JSON values. Raises ``AgentError``."""


class Mind(Protocol):
    """Translates questions and events of a seat into calls of the class's methods."""

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any: ...

    def observe(self, event: Event) -> None: ...

    def reset(self) -> None: ...


class ArenaMind:
    """The mind for arena classes, which are called through ``SeatedAgent``."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self.raw_answer: object = None
        self.model_work: object = None

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any:
        until = None if deadline is None else deadline.isoformat()
        answer = self._call("act", view, legal_as_json(legal), until)
        self.raw_answer, self.model_work = answer["raw"], answer["models"]
        return answer

    def observe(self, event: Event) -> None:
        self._call("observe", event_as_json(event))

    def reset(self) -> None:
        self._call("reset")


class OwnAgent:
    """The agent of a seat that a user's class plays."""

    def __init__(
        self,
        make: InstanceMaker,
        *,
        name: str,
        now: Callable[[], datetime],
        mind: Callable[[Call], Mind] = ArenaMind,
    ) -> None:
        """``name`` identifies the agent in messages. ``now`` is the clock that deadlines refer to."""
        self._make = make
        self._name = name
        self._now = now
        self._mind = mind
        self._events: list[Event] = []
        self._has_begun = False
        """Whether ``reset`` was called; not every host calls it."""

        self._at_work = _AtWork(make(), mind)

    @property
    def raw_answer(self) -> object:
        """The agent's last text, if it exposes one."""
        return getattr(self._at_work.mind, "raw_answer", None)

    @property
    def model_work(self) -> object:
        """The model steps of the agent's last decision, if it exposes them."""
        return getattr(self._at_work.mind, KEY, None)

    def observe(self, event: Event) -> None:
        """Queue the event until the next question."""
        self._events.append(event)

    def reset(self) -> None:
        """Prepare for a new match."""
        self._events.clear()
        self._has_begun = True
        self._at_work.told = None

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any:
        """The agent's action.

        Raises ``AgentError`` that names the method and the place. A ``CallbackTimeout`` is also logged, because the
        caller may no longer be waiting.
        """
        at_work = self._at_work
        try:
            return await on_a_thread(self._acted, at_work, view, legal, deadline)
        except CancelledError:
            if not at_work.instance.keeps_time and self._at_work is at_work:
                self._at_work = _AtWork(self._make(), self._mind)
                if deadline is not None and self._now() >= deadline:
                    LOG.warning("%s", failure_line(self._name, step_of(legal), AgentError("did not answer in time")))
            raise

    def close(self) -> None:
        """Pass the agent its remaining events, and release it."""
        at_work = self._at_work
        if not at_work.lock.acquire(timeout=PATIENCE_S):
            at_work.instance.kill()
            if not at_work.lock.acquire(timeout=PATIENCE_S):
                return
        try:
            if at_work.told is not None:
                at_work.limit_by(LAST_LIMIT_S)
                self._tell(at_work)
        except AgentError as error:
            LOG.warning("%s", failure_line(self._name, "", error))
        finally:
            at_work.instance.close()
            at_work.lock.release()

    def _acted(self, at_work: _AtWork, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any:
        with at_work.lock:
            at_work.limit_by(None if deadline is None else (deadline - self._now()).total_seconds())
            try:
                at_work.make()
                self._tell(at_work)
                return at_work.mind.act(view, legal, deadline)
            except CallbackTimeout as error:
                LOG.warning("%s", failure_line(self._name, step_of(legal), error))
                raise

    def _tell(self, at_work: _AtWork) -> None:
        if at_work.told is None:
            at_work.told = 0
            if self._has_begun:
                self._heard(at_work, at_work.mind.reset)
        events = self._events
        while at_work.told is not None and at_work.told < len(events):
            at_work.told += 1
            self._heard(at_work, at_work.mind.observe, events[at_work.told - 1])

    def _heard(self, at_work: _AtWork, tell: Callable[..., None], *what: Event) -> None:
        """Pass events to the agent. Its exceptions have no effect on the match."""
        try:
            tell(*what)
        except AgentError as error:
            if at_work.told is None:
                raise
            LOG.warning("%s", failure_line(self._name, "", error))


class _AtWork:
    """An instance of the class. Only the holder of the lock calls it."""

    def __init__(self, instance: Instance, mind: Callable[[Call], Mind]) -> None:
        self.instance = instance
        self.mind = mind(self._call)
        self.lock = threading.Lock()
        self.told: int | None = None
        """How many events were passed to the instance; ``None`` for a new instance."""

        self._limit_s: float | None = None
        self._began_s = 0.0

    def limit_by(self, seconds: float | None) -> None:
        """Limit the total time of all later calls; ``None`` removes the limit."""
        self._limit_s, self._began_s = seconds, monotonic_s()

    def make(self) -> None:
        """Make an instance if there is none. Raises ``AgentError``.

        A new process that starts too slowly for this decision serves the next one.
        """
        if self.told is not None:
            return
        made = self.instance.make(LOAD_LIMIT_S)
        if made.end is not End.RETURNED:
            what = made.error if made.end is End.NOT_MADE else made.in_words("its constructor", LOAD_LIMIT_S)
            raise AgentError(f"cannot be made: {what}")

    def _call(self, method: str, *arguments: object) -> Any:
        left_s = None if self._limit_s is None else self._limit_s + self._began_s - monotonic_s()
        called = self.instance.call(method, arguments, None if left_s is None else max(0.0, left_s))
        if called.end is End.RETURNED:
            return called.result
        if called.end not in (End.RAISED, End.UNUSABLE):
            self.told = None  # the next call makes another instance
        said = called.in_words(method, round(self._limit_s or 0, 1) or 0.1)
        raise (CallbackTimeout if called.end is End.TIMED_OUT else AgentError)(said)
