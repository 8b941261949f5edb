"""A class of the user's own at the table, in a process of its own or in this one.

Rule 1: its methods are called on threads, one at a time. A call ends with the decision that it is for: a process is
killed and started anew, an instance of this process is left behind for a new one.
Rule 2: what happened is told before the next question, in order; a new instance is told the whole match.
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
"""For each thing that an agent is told when the match is over."""

Call = Callable[..., Any]
"""Calls a method of the class with JSON values. Raises ``AgentError``."""


class Mind(Protocol):
    """Turns what a seat is asked and told into calls of the class's own methods."""

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any: ...

    def observe(self, event: Event) -> None: ...

    def reset(self) -> None: ...


class ArenaMind:
    """For classes of the arena, which are called by way of ``SeatedAgent``."""

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
    """A seat whose agent is a user's class."""

    def __init__(
        self,
        make: InstanceMaker,
        *,
        name: str,
        now: Callable[[], datetime],
        mind: Callable[[Call], Mind] = ArenaMind,
    ) -> None:
        """``name`` is what the user knows the agent by. ``now`` is the clock of the deadlines that will be given."""
        self._make = make
        self._name = name
        self._now = now
        self._mind = mind
        self._events: list[Event] = []
        self._has_begun = False
        """Whether ``reset`` was called: not every host does."""

        self._at_work = _AtWork(make(), mind)

    @property
    def raw_answer(self) -> object:
        """What the agent wrote last, where it says so."""
        return getattr(self._at_work.mind, "raw_answer", None)

    @property
    def model_work(self) -> object:
        """What became of a model's work in its last decision, where it says so."""
        return getattr(self._at_work.mind, KEY, None)

    def observe(self, event: Event) -> None:
        """Keep what happened for the next question."""
        self._events.append(event)

    def reset(self) -> None:
        """A new match begins."""
        self._events.clear()
        self._has_begun = True
        self._at_work.told = None

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any:
        """What the agent does.

        Raises ``AgentError`` that names the method and the place. A ``CallbackTimeout`` has been logged: nobody may be
        there any more to hear it.
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
        """Tell the agent what it has not heard yet, and let it go."""
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
        """Tell the agent something. What it raises costs it nothing."""
        try:
            tell(*what)
        except AgentError as error:
            if at_work.told is None:
                raise
            LOG.warning("%s", failure_line(self._name, "", error))


class _AtWork:
    """An instance of the class, called by whoever holds the lock."""

    def __init__(self, instance: Instance, mind: Callable[[Call], Mind]) -> None:
        self.instance = instance
        self.mind = mind(self._call)
        self.lock = threading.Lock()
        self.told: int | None = None
        """How many events it was told; ``None`` for an instance that was told nothing."""

        self._limit_s: float | None = None
        self._began_s = 0.0

    def limit_by(self, seconds: float | None) -> None:
        """All calls from now on end within this time; ``None``: they take as long as they take."""
        self._limit_s, self._began_s = seconds, monotonic_s()

    def make(self) -> None:
        """Have an instance. A new process may take longer to start than a decision has: it is then there for the next
        one. Raises ``AgentError``."""
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
            self.told = None  # the next call has another instance
        said = called.in_words(method, round(self._limit_s or 0, 1) or 0.1)
        raise (CallbackTimeout if called.end is End.TIMED_OUT else AgentError)(said)
