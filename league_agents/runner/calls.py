"""Running an agent's callbacks: one at a time for each instance, and never letting a failure out.

``workers`` has the hosts for agents that may not return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Generic, Protocol, TypeVar

from league_agents.journal.port import PendingCall
from league_agents.kit.clock import Clock
from league_agents.kit.errors import ConfigError
from league_agents.kit.violation import shown
from league_agents.league.machines.events import CallbackFailed, CallbackReturned, Failure
from league_agents.user_code.called import Called, End, failed_with

T = TypeVar("T")

AgentFactory = Callable[[], object]
"""Makes one instance of the agent. Called again for every further game at the same time, and after a hung callback."""

Outcome = CallbackReturned | CallbackFailed


class AgentHost(Protocol):
    """Where calls are run."""

    def submit(self, call: PendingCall) -> None:
        """Run this call as soon as its instance is free."""
        ...

    def collect(self) -> Sequence[Outcome]:
        """What ended since the last time, in a repeatable order where the host promises one."""
        ...

    def release(self, game_id: str) -> None:
        """The game is over: its instance may serve another one."""
        ...

    def next_wake(self) -> datetime | None:
        """When an outcome is to be expected that time alone brings; ``None`` when none is."""
        ...

    def close(self) -> None:
        """Start nothing new. Running callbacks are not waited for."""
        ...


def outcome_of(call: PendingCall, called: Called) -> Outcome:
    """What a machine is told of a call."""
    failure = _FAILURES.get(called.end)
    if failure is not None:
        detail = called.in_words(call.callback, call.timeout.total_seconds())
        return CallbackFailed(call_id=call.call_id, failure=failure, detail=detail)
    result = called.result
    if call.callback.startswith("on_"):
        result = {}  # the agent is told something: whatever it returns is thrown away
    if isinstance(result, Mapping):
        return CallbackReturned(call_id=call.call_id, result=result)
    # Every other one must return a dict (protocol 6).
    detail = f"{call.callback} returned {shown(result)}, not a dict"
    return CallbackFailed(call_id=call.call_id, failure=Failure.NOT_A_DICT, detail=detail)


_FAILURES = {
    End.RAISED: Failure.RAISED,
    End.UNUSABLE: Failure.UNUSABLE,
    End.NOT_MADE: Failure.RAISED,
    End.TIMED_OUT: Failure.TIMED_OUT,
    End.DIED: Failure.DIED,
}


class AgentPool(Generic[T]):
    """Which of several alike serves which game.

    With ``one_game_each`` one of them serves one game until that is released, then the next (referees); otherwise a
    single one serves all games (players, protocol 6).
    """

    def __init__(self, make: Callable[[], T], *, one_game_each: bool) -> None:
        self._make = make
        self._one_game_each = one_game_each
        self._free: list[T] = []
        self._of_game: dict[str, T] = {}

    def of(self, game_id: str) -> T:
        """The one that serves a game."""
        key = game_id if self._one_game_each else ""
        if key not in self._of_game:
            self._of_game[key] = self._free.pop() if self._free else self._make()
        return self._of_game[key]

    def release(self, game_id: str) -> None:
        """The game is over."""
        if self._one_game_each and (one := self._of_game.pop(game_id, None)) is not None:
            self._free.append(one)

    def forget(self, one: T) -> None:
        """Never hand this one out again."""
        self._of_game = {key: value for key, value in self._of_game.items() if value is not one}
        self._free = [value for value in self._free if value is not one]


class InlineHost:
    """Runs calls on the caller's thread: for agents of this package, which always return, on a clock that is set by
    hand.

    An agent that has ``simulated_latency(callback) -> timedelta`` is taken to need that long, without anybody waiting.
    """

    def __init__(self, factory: AgentFactory, clock: Clock, *, one_game_each: bool) -> None:
        self._pool = AgentPool(factory, one_game_each=one_game_each)
        self._clock = clock
        self._submitted: list[PendingCall] = []
        self._later: list[tuple[datetime, Outcome]] = []

    def submit(self, call: PendingCall) -> None:
        self._submitted.append(call)

    def collect(self) -> Sequence[Outcome]:
        if not self._submitted and not self._later:
            return ()
        now = self._clock.now()
        calls, self._submitted = self._submitted, []
        outcomes: list[Outcome] = []
        for call in calls:
            agent = self._pool.of(call.game_id)
            outcome = outcome_of(call, _called(agent, call))
            latency_of = getattr(agent, "simulated_latency", None)
            if latency_of is None:
                outcomes.append(outcome)
                continue
            latency = latency_of(call.callback)
            if latency > call.timeout:
                latency = call.timeout
                outcome = outcome_of(call, Called(end=End.TIMED_OUT))
            self._later.append((now + latency, outcome))
        outcomes += [outcome for at, outcome in self._later if at <= now]
        self._later = [(at, outcome) for at, outcome in self._later if at > now]
        return outcomes

    def release(self, game_id: str) -> None:
        self._pool.release(game_id)

    def next_wake(self) -> datetime | None:
        return min((at for at, _ in self._later), default=None)

    def close(self) -> None:
        self._submitted.clear()
        self._later.clear()


def _called(agent: object, call: PendingCall) -> Called:
    """Call an agent of ours, on this thread."""
    try:
        return Called(end=End.RETURNED, result=getattr(agent, call.callback)(call.context))
    except (KeyboardInterrupt, ConfigError):
        raise  # a person pressed the key, or must see to a file: neither is the agent's doing
    except BaseException as error:  # scripted agents raise on purpose
        return failed_with(error)
