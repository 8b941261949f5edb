"""How one task becomes one episode: the questions, the answers, the guess."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import verifiers.v1 as vf

from league_agents.app.dialogue import player_figures
from league_agents_q21.taskset import Q21Task, begun


class Q21EnvConfig(vf.EnvConfig):
    """The one seat that a model has."""

    player: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})


class Q21Env(vf.Env[Q21EnvConfig]):
    """The game is played in this process; the model answers twice and has no tools."""

    async def run(self, task: Q21Task, agents: vf.Agents) -> None:
        # Code chooses targets and questions of the other participants: seconds that must not hold other episodes.
        dialogue = await asyncio.to_thread(begun, task.data)
        try:
            async with agents.player.interaction(task) as interaction:
                segment = await interaction.turn()
                while not segment.terminated:
                    await asyncio.to_thread(dialogue.answer, segment.last_reply)
                    if dialogue.request is None:
                        break
                    segment = await interaction.turn(dialogue.request.user)
        finally:
            dialogue.close()
        if dialogue.ended is None:
            return  # the agent's run failed, and its trace says why
        figures = player_figures(dialogue.ended)
        trace = interaction.trace
        trace.record_reward("private_score", (figures.pop("private_score") or 0.0) / 100, 1.0)
        trace.record_reward("usable_replies", figures.pop("usable_replies") or 0.0, 0.1)
        for name, value in figures.items():
            if value is not None:
                trace.record_metric(name, value)


def load_environment(taskset: Mapping[str, Any] | None = None, **env: Any) -> vf.Env:
    """The environment with these keys of ``Q21Config``, and keys of ``Q21EnvConfig``, for programs.

    ``vf-eval league-agents-q21`` finds it by the package's name.
    """
    config = vf.resolve_env_config({**env, "taskset": {"id": "league-agents-q21", **(taskset or {})}})
    return vf.load_environment(config)
