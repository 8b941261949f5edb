"""Run an agent's callbacks: one at a time for each instance; a failure becomes a result and is never raised.

The host for agents that may not return is in ``workers``.
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
"""Makes one instance of the agent. Called again for each further concurrent game, and after a hung callback."""

Outcome = CallbackReturned | CallbackFailed


class AgentHost(Protocol):
    """Runs an agent's calls."""

    def submit(self, call: PendingCall) -> None:
        """Run this call as soon as its instance is free."""
        ...

    def collect(self) -> Sequence[Outcome]:
        """Return the outcomes since the last call of this method, in a repeatable order if the host promises one."""
        ...

    def release(self, game_id: str) -> None:
        """Free the instance of a game that is over for another game."""
        ...

    def next_wake(self) -> datetime | None:
        """The next instant at which a call ends by the clock alone; ``None`` if there is none."""
        ...

    def close(self) -> None:
        """Start no further call. Does not wait for running callbacks."""
        ...


def outcome_of(call: PendingCall, called: Called) -> Outcome:
    """Return the event that reports a call to its machine."""
    failure = _FAILURES.get(called.end)
    if failure is not None:
        detail = called.in_words(call.callback, call.timeout.total_seconds())
        return CallbackFailed(call_id=call.call_id, failure=failure, detail=detail)
    result = called.result
    if call.callback.startswith("on_"):
        result = {}  # a notification: the agent's result is ignored
    if isinstance(result, Mapping):
        return CallbackReturned(call_id=call.call_id, result=result)
    # Every other callback must return a dict (protocol 6).
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
    """Assigns agents of one kind to games.

    With ``one_game_each`` an agent serves one game until the game is released, then the next (referees); otherwise a
    single agent serves all games (players, protocol 6).
    """

    def __init__(self, make: Callable[[], T], *, one_game_each: bool) -> None:
        self._make = make
        self._one_game_each = one_game_each
        self._free: list[T] = []
        self._of_game: dict[str, T] = {}

    def of(self, game_id: str) -> T:
        """Return the agent that serves a game; make one if none is free."""
        key = game_id if self._one_game_each else ""
        if key not in self._of_game:
            self._of_game[key] = self._free.pop() if self._free else self._make()
        return self._of_game[key]

    def release(self, game_id: str) -> None:
        """Free the agent of a game that is over."""
        if self._one_game_each and (one := self._of_game.pop(game_id, None)) is not None:
            self._free.append(one)

    def forget(self, one: T) -> None:
        """Never assign this agent again."""
        self._of_game = {key: value for key, value in self._of_game.items() if value is not one}
        self._free = [value for value in self._free if value is not one]


class InlineHost:
    """Runs calls on the caller's thread, for agents of this package, which always return, on a simulated clock.

    The time that an agent's ``simulated_latency(callback) -> timedelta`` returns passes on that clock only.
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
    """Call an agent of this package, on this thread."""
    try:
        return Called(end=End.RETURNED, result=getattr(agent, call.callback)(call.context))
    except (KeyboardInterrupt, ConfigError):
        raise  # Ctrl-C, or a file that a person must repair: not a failure of the agent
    except BaseException as error:  # scripted agents raise on purpose
        return failed_with(error)
