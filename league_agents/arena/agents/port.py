"""What an agent of the arena is.

Rule 1: an agent knows what its view tells and the events that it was shown, nothing else. What it is handed is its own
copy.
Rule 2: ``act`` is asked once for each decision, and again, with the refusal in the view, when the game did not accept
the action.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

from league_agents.games.game import Action, Event, LegalAction

View = Mapping[str, Any]
"""The game's view, and what the session adds to it:

=============== =====================================================================================================
``agent_id``    whose view it is
``game``        the game's code
``rules_text``  the rules in words, in the match's language
``memory``      what the agent was told so far, in games that keep a memory for their players (arena 3.4)
``refusal``     ``None``, or why the last action was not accepted: ``{"code", "message", "data", "attempts_left"}``
=============== =====================================================================================================
"""


class ArenaAgent(Protocol):
    """Who decides for a seat. A user's class needs ``act`` only, which may be an ordinary method too."""

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        """What the agent does before ``deadline`` (``None``: there is no clock).

        May raise anything: the decision is then forfeited.
        """
        ...

    def observe(self, event: Event) -> None:
        """Something happened that this agent may know. Called before it is asked again."""
        ...

    def reset(self) -> None:
        """A new match begins."""
        ...
