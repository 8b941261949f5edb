"""The server's own agents ("the house"), which fill the seats that are not open.

Rule: however many of them play, people and their agents are answered in time: each pauses before each action, and only
a few compute at once.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from league_agents.arena.agents.port import View
from league_agents.arena.scenario import Scenario, ScenarioSeat
from league_agents.arena.server.limits import RateLimiter
from league_agents.arena.session import Memory, on_a_thread
from league_agents.games.game import Event, LegalAction
from league_agents.kit.model_work import KEY

OPEN = "open"
"""The agent name of a scenario's seat that is free for a client to take."""


class AgentMaker(Protocol):
    """A factory for the agents of house seats."""

    def __call__(self, seat: ScenarioSeat, scenario: Scenario, *, seed: int, match_id: str, is_first: bool) -> object:
        """``is_first``: whether it is the first seat of the match. Raises ``ConfigError``."""
        ...


class UsualTable(Protocol):
    """A factory for the default match of a game."""

    def __call__(
        self,
        game: str,
        *,
        seats: int | None = None,
        config: Mapping[str, Any] | None = None,
        lang: str | None = None,
    ) -> Scenario:
        """A match with its default seats, or the given number. Raises ``ConfigError``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """The agents of a server, and its default matches."""

    agents_of: Callable[[str], tuple[str, ...]]
    """Game -> names of the agents that a client may choose for a seat, the default first."""

    make_agent: AgentMaker
    usual_table: UsualTable
    person_seat: Callable[[str], int] = lambda _game: 0
    """Game -> index of the seat that is open by default."""

    memory_for: Callable[[str], Memory | None] = lambda _game: None
    """Game -> a new memory for one of its agents; ``None`` if the game keeps none."""

    own: frozenset[str] = frozenset()
    """The agents of ``agents_of`` that the operator has added. Each of their seats may need a process."""


class HouseAgent:
    """An agent of the server, with its pauses and its limit on computing time."""

    def __init__(self, agent: object, *, pause_s: float, pace: RateLimiter, thinkers: asyncio.Semaphore) -> None:
        """``pace`` is shared by all agents of the house; ``thinkers`` limits how many compute on threads at once."""
        self._agent = agent
        self._pause_s = pause_s
        self._pace = pace
        self._thinkers = thinkers

    @property
    def raw_answer(self) -> object:
        """The agent's last text, if it exposes one."""
        return getattr(self._agent, "raw_answer", None)

    @property
    def model_work(self) -> object:
        """The model steps of the agent's last decision, if it exposes them."""
        return getattr(self._agent, KEY, None)

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any:
        """The agent's action. Raises what the agent raises."""
        now_s = asyncio.get_running_loop().time()
        await asyncio.sleep(max(self._pause_s, self._pace.wait_s(now_s)))
        act = self._agent.act  # type: ignore[attr-defined]  # made by the house: it has one
        if inspect.iscoroutinefunction(act):
            return await act(view, legal, deadline)
        await self._thinkers.acquire()
        thinking = asyncio.ensure_future(on_a_thread(act, view, legal, deadline))
        thinking.add_done_callback(self._thought)
        # A thread cannot be stopped: after a time-out nobody waits for it, but it counts as a thinker until it ends.
        return await asyncio.shield(thinking)

    def observe(self, event: Event) -> None:
        """Pass the event to the agent."""
        observe = getattr(self._agent, "observe", None)
        if callable(observe):
            observe(event)

    def reset(self) -> None:
        """Reset the agent for a new match."""
        reset = getattr(self._agent, "reset", None)
        if callable(reset):
            reset()

    def close(self) -> None:
        """Release the agent; does not wait for it."""
        close = getattr(self._agent, "close", None)
        if callable(close):
            threading.Thread(target=close, name="closing an agent").start()

    def _thought(self, thinking: asyncio.Future[Any]) -> None:
        self._thinkers.release()
        if not thinking.cancelled():
            thinking.exception()  # mark it as retrieved: a caller that still waits gets it, and asyncio must not log it
