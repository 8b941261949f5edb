"""Calling an agent that is being checked: on a thread with a time limit, and remembering where it failed.

Rule: the agent is called as in a match, by ``ThreadHost``; this only listens in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta

from league_agents.agents.checking.check import Called, End
from league_agents.clock import monotonic_s
from league_agents.core.printable import line_of
from league_agents.journal.port import PendingCall
from league_agents.league.events import CallbackFailed, CallbackReturned, Failure
from league_agents.runner.calls import AgentFactory, ThreadHost
from league_agents.user_code.place import place_of


@dataclass(slots=True)
class _Heard:
    """What was heard of one call."""

    started_s: float = 0.0
    seconds: float = 0.0
    has_returned: bool = False
    result: object = None
    detail: str = ""
    where: str | None = None
    was_made: bool = True


class TrialRun:
    """A ``Caller``: always the same instance, a new one only after a call that hung."""

    def __init__(self, factory: AgentFactory) -> None:
        self._heard = _Heard()
        self._calls = 0

        def make() -> object:
            heard = self._heard
            try:
                agent = factory()
            except BaseException as error:  # the constructor is user code
                heard.was_made = False
                heard.detail, heard.where = line_of(error), place_of(error)
                raise RuntimeError(heard.detail) from None
            # A constructor's own time is not the callback's.
            heard.started_s = monotonic_s()
            return _Listening(agent, lambda: self._heard)

        self._host = ThreadHost(make, one_game_each=False, waits=True)

    def __call__(self, callback: str, context: Mapping[str, object], timeout: timedelta) -> Called:
        heard = self._heard = _Heard(started_s=monotonic_s())
        self._calls += 1
        call_id = f"check-{self._calls}"
        self._host.submit(
            PendingCall(call_id=call_id, callback=callback, context=context, timeout=timeout, game_id="check")
        )
        (outcome,) = self._host.collect()
        if isinstance(outcome, CallbackFailed) and outcome.failure is Failure.TIMED_OUT:
            return Called(end=End.TIMED_OUT, seconds=timeout.total_seconds())
        if not heard.was_made:
            return Called(end=End.NOT_MADE, detail=heard.detail, where=heard.where)
        if isinstance(outcome, CallbackReturned):
            # As a machine gets it: the host copied it on the agent's thread, so that judging it runs no user code.
            result = None if heard.result is None else outcome.result
            return Called(end=End.RETURNED, result=result, seconds=heard.seconds)
        if heard.has_returned and outcome.failure is Failure.NOT_A_DICT:
            return Called(end=End.RETURNED, result=heard.result, seconds=heard.seconds)
        return Called(end=End.RAISED, detail=heard.detail or outcome.detail, where=heard.where, seconds=heard.seconds)

    def close(self) -> None:
        """Stop the threads that are idle; a hung one ends with the process."""
        self._host.close()


class _Listening:
    """Stands for the agent and passes every callback on to it."""

    def __init__(self, agent: object, current: Callable[[], _Heard]) -> None:
        self._agent = agent
        self._current = current

    def __getattr__(self, callback: str) -> Callable[[Mapping[str, object]], object]:
        def call(context: Mapping[str, object]) -> object:
            # Taken at the start: when this call hangs and ends later, another one is being listened to.
            heard = self._current()
            try:
                heard.result = getattr(self._agent, callback)(context)
                heard.has_returned = True
            except BaseException as error:  # user code may raise anything, SystemExit included
                heard.detail, heard.where = line_of(error), place_of(error)
                # KeyboardInterrupt on a worker's thread did not come from the keyboard.
                raise RuntimeError(heard.detail) from None
            finally:
                heard.seconds = monotonic_s() - heard.started_s
            return heard.result

        return call
