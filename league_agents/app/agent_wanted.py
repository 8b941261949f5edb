"""What a seat of a match asks for: the agent that it names, and what that agent may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from league_agents.agents.asking import Models
from league_agents.app.agents import ChosenAgent, IndexPlace, tried_class
from league_agents.arena.scenario import Scenario, ScenarioSeat
from league_agents.arena.session import wall_clock
from league_agents.config.model_settings import none_configured

if TYPE_CHECKING:
    from league_agents.arena.agents.human_agent import Terminal


@dataclass(frozen=True, slots=True, kw_only=True)
class Company:
    """The dependencies of agents besides their names."""

    models: Callable[[], Models] | None = None
    """Creates the access to language models on first use; ``None`` if there are none."""

    index_path: IndexPlace | None = None
    terminal: Terminal | None = None
    now: Callable[[], datetime] = wall_clock
    own_class: Callable[..., tuple[ChosenAgent, str]] = tried_class
    """Loads a user's class, as ``tried_class``. A server keeps what was loaded."""

    in_process: bool = False
    """Whether users' own classes run in this process instead of separate ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWanted:
    """The agent that a seat names, and its dependencies."""

    spec: str
    seat: ScenarioSeat
    scenario: Scenario
    company: Company
    seed: int
    match_id: str
    is_first: bool
    """Whether the seat is the first one of the match."""

    def models(self) -> Models:
        """The access to language models. Raises ``ConfigError`` if there is none."""
        if self.company.models is None:
            raise none_configured(f"agent {self.seat.id}")
        return self.company.models()
