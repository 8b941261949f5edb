"""A class with ``generate_description`` and ``vote`` as an agent of the arena."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from league_agents.arena.agents.port import View
from league_agents.core.game import Action, Event, LegalAction
from league_agents.games.undercover.agents import DescribesAndVotes, Seated, ask


class UndercoverSeat:
    """Asks the agent's two methods and tells it of events, in its own memory too."""

    def __init__(self, agent: DescribesAndVotes) -> None:
        self._seated = Seated(agent)

    def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        """What the agent says. Raises what its methods raise."""
        agent, refusal = self._seated.agent, view.get("refusal")
        refused, refusals = getattr(agent, "refused", None), getattr(agent, "refusals", None)
        if refusal and callable(refused):
            refused(refusal["code"], refusal["message"])
        elif not refusal and isinstance(refusals, list):
            refusals.clear()  # a new question
        return ask(agent, view, legal)

    def observe(self, event: Event) -> None:
        self._seated.observe(event)

    def reset(self) -> None:
        self._seated.reset()
