"""One match as a PettingZoo environment: agents step one at a time.

Rule: in a sealed phase the agents step in the game's order, and no view shows the earlier choices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo import AECEnv

from league_agents.arena.pettingzoo.table import ArenaTable, Observation
from league_agents.games.game import Action
from league_agents.turns.match import PROTOCOL_STOP


class ArenaEnv(ArenaTable, AECEnv[str, Observation, Any]):  # type: ignore[misc]  # PettingZoo tells no types
    """Any game of the arena. ``league_agents.arena.pettingzoo`` describes observations and actions."""

    infos: dict[str, dict[str, Any]]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new match with this seed; ``None`` for the next match after the last given seed.

        ``options`` is not used. Raises ``ConfigError`` for an invalid seed.
        """
        self._begin(seed)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._skip_agent_selection = None
        self.agent_selection = self._match.active()[0]
        self.infos = {agent: {"legal": ()} for agent in self.agents}
        self.infos[self.agent_selection] = self._told(None)

    def step(self, action: Any) -> None:
        """``action``: a number, an ``Action``, ``{"type", "data"}``, or ``None`` for an agent whose match is over.

        Raises ``ConfigError`` for anything else.
        """
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        refusal = self._take(agent, action)
        outcome = self._match.outcome()
        if outcome is None:
            self.infos[agent] = {"legal": ()}
            if refusal is None:
                self.agent_selection = self._match.active()[0]
            self.infos[self.agent_selection] = self._told(refusal)
            return
        over = self.truncations if outcome.reason == PROTOCOL_STOP else self.terminations
        for each in self.agents:
            over[each] = True
            self.rewards[each] = float(outcome.scores.get(each, 0.0))
        self._accumulate_rewards()
        told = {"winners": list(outcome.winners), "reason": outcome.reason, "metrics": dict(outcome.metrics)}
        self.infos = {each: {"legal": (), "view": self._sight(each).view, "outcome": told} for each in self.agents}
        self._deads_step_first()
        if self.render_mode == "human":
            self.render()

    def meaning(self, number: int) -> Action | None:
        """The action of a number for the agent to act; ``None`` if the number has no action now."""
        return self._meant(self.agent_selection, number)

    def _told(self, refusal: Mapping[str, Any] | None) -> dict[str, Any]:
        """The info of the selected agent. Nobody else can step, so nothing is legal for the others."""
        sight = self._sight(self.agent_selection)
        return {"legal": sight.legal, "view": sight.view, "refusal": refusal}
