"""Collects the model steps of the decisions of a match, agent by agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from league_agents.kit.model_work import ModelStep

if TYPE_CHECKING:
    from league_agents.arena.decisions import SettledDecision
    from league_agents.arena.session import Session


class ModelTally:
    """A ``Recorder`` that keeps the model steps of all decisions."""

    def __init__(self) -> None:
        self.steps: dict[str, list[ModelStep]] = {}
        """Agent -> steps in order; agents without model steps are not in it."""

    def begin(self, session: Session) -> None:
        """No-op."""

    def settled(self, settled: SettledDecision) -> None:
        """Keep the steps of the decision."""
        if settled.models:
            self.steps.setdefault(settled.decision.agent_id, []).extend(settled.models)

    def end(self, session: Session) -> None:
        """No-op."""
