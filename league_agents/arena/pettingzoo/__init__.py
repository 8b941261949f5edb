"""Any game of the arena as a PettingZoo environment; needs the extra ``pettingzoo``.

::

    from league_agents.arena.pettingzoo import env

    table = env("undercover", lang="en")
    table.reset(seed=7)
    for agent in table.agent_iter():
        observation, reward, terminated, truncated, info = table.last()
        done = terminated or truncated
        table.step(None if done else table.action_space(agent).sample(observation["action_mask"]))

What an agent observes: ``observation``, its view as UTF-8 JSON in a row of bytes, filled up with zeros; and
``action_mask``. The view itself is ``info["view"]``, the legal actions with their schemas are ``info["legal"]``. In the
infos of agents that cannot step next nothing is legal.

What it may do: a number of ``action_space(agent)`` (``numbering`` says what the numbers mean), or the action itself, as
an ``Action`` or as ``{"type": …, "data": …}``. An action that the game refuses leaves the same agent selected, with the
reason in ``info["refusal"]``; after too many refusals the decision is forfeited, as in every session of the arena.

``parallel_env`` is the same match for agents that step together: each step takes an action of everybody who owes one,
which in the market is everybody. Actions of others are not looked at.

Rewards are zero until the end, when everybody's reward is its score.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from league_agents.kit.errors import ConfigError

if TYPE_CHECKING:
    from league_agents.arena.pettingzoo.environment import ArenaEnv
    from league_agents.arena.pettingzoo.parallel import ArenaParallelEnv


def raw_env(game: str, **settings: Any) -> ArenaEnv:
    """The environment without PettingZoo's wrapper. Raises ``ConfigError``.

    ``settings`` are the keys of the game's configuration, and:

    * ``agents``: their ids, or how many; the usual number if left out
    * ``interaction``: ``protocol``, ``topology`` and ``flow`` as in a scenario
    * ``render_mode``: ``ansi`` or ``human``
    * ``max_invalid``: refusals that one decision may have, 2 if left out
    * ``observation_bytes``: the length of an observation; longer views are cut there
    """
    _check_installed()
    from league_agents.arena.pettingzoo.environment import ArenaEnv

    return ArenaEnv(game, **settings)


def env(game: str, **settings: Any) -> Any:
    """The environment as PettingZoo hands its own ones out: calls in a wrong order are refused.

    ``settings``: those of ``raw_env``. Raises ``ConfigError``.
    """
    made = raw_env(game, **settings)
    from pettingzoo.utils import wrappers

    return wrappers.OrderEnforcingWrapper(made)


def parallel_env(game: str, **settings: Any) -> ArenaParallelEnv:
    """The parallel environment; ``settings`` as for ``raw_env``. Raises ``ConfigError``."""
    _check_installed()
    from league_agents.arena.pettingzoo.parallel import ArenaParallelEnv

    return ArenaParallelEnv(game, **settings)


def _check_installed() -> None:
    if find_spec("pettingzoo") is None:
        raise ConfigError("pettingzoo", "is not installed; pip install 'league-agents[pettingzoo]'")
