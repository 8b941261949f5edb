"""What an agent of the arena is.

Rule 1: an agent knows what its view tells and the events that it was shown, nothing else. What it is handed is its own
copy.
Rule 2: ``act`` is asked once for each decision, and again with the refusal when the game did not accept the action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from league_agents.core.game import Action, Event, LegalAction


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why the last action was not accepted."""

    code: str
    message: str
    attempts_left: int
    """How many more refusals this decision may have before it is forfeited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One request for an action."""

    agent_id: str
    game: str
    view: Mapping[str, Any]
    """The view of the game, with ``memory`` for games that keep one."""

    legal: Sequence[LegalAction]
    deadline: datetime | None
    """When the decision is forfeited; ``None`` without a clock."""

    rules: str
    """The rules in words, in the match's language."""

    refusal: Refusal | None = None
    """``None`` when this decision is asked for the first time."""


class ArenaAgent(Protocol):
    """Who decides for a seat."""

    async def act(self, turn: Turn) -> Action:
        """What the agent does. May raise anything: the decision is then forfeited."""
        ...

    def observe(self, event: Event) -> None:
        """Something happened that this agent may know. Called before it is asked again."""
        ...

    def reset(self) -> None:
        """A new match begins."""
        ...
