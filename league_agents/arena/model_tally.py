"""Whose work the decisions of a match are: what became of language models', agent by agent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from league_agents.kit.model_work import ModelStep

if TYPE_CHECKING:
    from league_agents.arena.decisions import SettledDecision
    from league_agents.arena.session import Session


class ModelTally:
    """A ``Recorder`` that keeps the steps of all decisions."""

    def __init__(self) -> None:
        self.steps: dict[str, list[ModelStep]] = {}
        """By agent, in order; agents that tell of no model are not in it."""

    def begin(self, session: Session) -> None:
        """Nothing was decided yet."""

    def settled(self, settled: SettledDecision) -> None:
        """A decision has ended."""
        if settled.models:
            self.steps.setdefault(settled.decision.agent_id, []).extend(settled.models)

    def end(self, session: Session) -> None:
        """Nothing is decided any more."""
