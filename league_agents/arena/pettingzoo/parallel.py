"""One match as a parallel PettingZoo environment: in each step all agents whose turn it is act.

Rule: actions of agents that owe none are ignored. If agents speak one after the other, a step is one speaker's turn; in
a sealed phase it is the turn of all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pettingzoo import ParallelEnv

from league_agents.arena.pettingzoo.table import ArenaTable, Observation
from league_agents.turns.match import PROTOCOL_STOP

Each = dict[str, Any]


class ArenaParallelEnv(ArenaTable, ParallelEnv[str, Observation, Any]):  # type: ignore[misc]  # it tells no types
    """Any game of the arena, for agents that step together."""

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Each, Each]:
        """Start a new match with this seed; ``None`` for the next match after the last given seed.

        ``options`` is not used. Raises ``ConfigError`` for an invalid seed.
        """
        self._begin(seed)
        return self._observed(), self._told({})

    def step(self, actions: Mapping[str, Any]) -> tuple[Each, Each, Each, Each, Each]:
        """Take the action of each agent that owes one: a number, an ``Action`` or ``{"type", "data"}``.

        If the game refuses an action, its agent still owes one, and the reason is in ``infos[agent]["refusal"]``; a
        missing action is refused too. Raises ``ConfigError`` for a value of another form.
        """
        match, there = self._match, list(self.agents)
        refused: Each = {}
        for agent in match.active():
            if not match.is_over:
                refused[agent] = self._take(agent, actions.get(agent, {}))
        outcome = match.outcome()
        is_stopped = outcome is not None and outcome.reason == PROTOCOL_STOP
        scores = {} if outcome is None else outcome.scores
        if outcome is not None:
            self.agents = []
        return (
            {agent: self.observe(agent) for agent in there},
            {agent: float(scores.get(agent, 0.0)) for agent in there},
            dict.fromkeys(there, outcome is not None and not is_stopped),
            dict.fromkeys(there, is_stopped),
            self._told(refused, there),
        )

    def _observed(self) -> Each:
        return {agent: self.observe(agent) for agent in self.agents}

    def _told(self, refused: Each, there: list[str] | None = None) -> dict[str, Each]:
        outcome = self._match.outcome()
        found: dict[str, Each] = {}
        for agent in self.agents if there is None else there:
            sight = self._sight(agent)
            told: Each = {"legal": sight.legal, "view": sight.view, "refusal": refused.get(agent)}
            if outcome is not None:
                told["outcome"] = {
                    "winners": list(outcome.winners), "reason": outcome.reason, "metrics": dict(outcome.metrics)
                }  # fmt: skip
            found[agent] = told
        return found
