"""The interface of an arena agent.

Rule 1: an agent gets its view and the events that it may see, nothing else. Its arguments are its own copies.
Rule 2: ``act`` is called once for each decision, and again, with the refusal in the view, if the game refused the
action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from league_agents.games.game import Action, Event, LegalAction

View = Mapping[str, Any]
"""The game's view, with keys added by the session:

=============== =====================================================================================================
``agent_id``    the agent that the view belongs to
``game``        the game's code
``rules_text``  the rules in words, in the match's language
``memory``      the agent's memory of past events, in games that keep one for their players (arena 3.4)
``refusal``     ``None``, or why the last action was refused: ``{"code", "message", "data", "attempts_left"}``
=============== =====================================================================================================
"""


class ArenaAgent(Protocol):
    """Decides for a seat. A user's class needs only ``act``, which need not be a coroutine."""

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        """Return the agent's action before ``deadline`` (``None``: there is no clock).

        May raise anything: the decision is then forfeited.
        """
        ...

    def observe(self, event: Event) -> None:
        """Take note of an event that this agent may see. Called before the next ``act``."""
        ...

    def reset(self) -> None:
        """Prepare for a new match."""
        ...
