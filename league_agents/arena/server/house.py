"""The server's own agents, who fill the seats that nobody takes.

Rule: however many of them play, people and their agents are answered in time: each takes a moment for each action, and
only a few compute at once.
"""

from __future__ import annotations

import asyncio
import inspect
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
"""The agent of a scenario's seat that somebody from outside is to take."""


class AgentMaker(Protocol):
    """Makes the agent of a house seat."""

    def __call__(self, seat: ScenarioSeat, scenario: Scenario, *, seed: int, match_id: str, is_first: bool) -> object:
        """``is_first``: whether it is the first seat of the match. Raises ``ConfigError``."""
        ...


class UsualTable(Protocol):
    """How a game is usually played."""

    def __call__(
        self,
        game: str,
        *,
        seats: int | None = None,
        config: Mapping[str, Any] | None = None,
        lang: str | None = None,
    ) -> Scenario:
        """A match with its usual seats, or that many. Raises ``ConfigError``."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Which agents a server has, and how its tables are laid."""

    agents_of: Callable[[str], tuple[str, ...]]
    """Game to the names of the agents that a stranger may put on a seat, the usual one first."""

    make_agent: AgentMaker
    usual_table: UsualTable
    person_seat: Callable[[str], int] = lambda _game: 0
    """The place of the seat that is left open where nothing else is said."""

    memory_for: Callable[[str], Memory | None] = lambda _game: None
    """What an agent of the game is helped to remember."""


class HouseAgent:
    """An agent of the server, in the time that it is given."""

    def __init__(self, agent: object, *, pause_s: float, pace: RateLimiter, thinkers: asyncio.Semaphore) -> None:
        """``pace`` is that of all agents of the house; ``thinkers``: how many may compute on threads at once."""
        self._agent = agent
        self._pause_s = pause_s
        self._pace = pace
        self._thinkers = thinkers

    @property
    def raw_answer(self) -> object:
        """What the agent wrote last, where it says so."""
        return getattr(self._agent, "raw_answer", None)

    @property
    def model_work(self) -> object:
        """What became of a model's work in its last decision, where it says so."""
        return getattr(self._agent, KEY, None)

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Any:
        """What the agent does. Raises what it raises."""
        now_s = asyncio.get_running_loop().time()
        await asyncio.sleep(max(self._pause_s, self._pace.wait_s(now_s)))
        act = self._agent.act  # type: ignore[attr-defined]  # made by the house: it has one
        if inspect.iscoroutinefunction(act):
            return await act(view, legal, deadline)
        await self._thinkers.acquire()
        thinking = asyncio.ensure_future(on_a_thread(act, view, legal, deadline))
        thinking.add_done_callback(self._thought)
        # A thread cannot be stopped: one whose time is up is not waited for, but keeps its place until it is done.
        return await asyncio.shield(thinking)

    def observe(self, event: Event) -> None:
        """Tell the agent what happened."""
        observe = getattr(self._agent, "observe", None)
        if callable(observe):
            observe(event)

    def reset(self) -> None:
        """A new match begins."""
        reset = getattr(self._agent, "reset", None)
        if callable(reset):
            reset()

    def _thought(self, thinking: asyncio.Future[Any]) -> None:
        self._thinkers.release()
        if not thinking.cancelled():
            thinking.exception()  # told to whoever still waits; nobody else is to hear of it
