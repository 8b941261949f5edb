"""How fast a game's matches go: by themselves, and as an environment of PettingZoo that an agent is trained on.

By themselves: random agents, the actor's view built for every action, no transport. As an environment: PettingZoo's own
loop, where every action is a number that the action space draws within the mask.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from benchmarks.instructions import instructions_of
from league_agents.app.arena import usual_scenario
from league_agents.arena.agents.random_agent import random_action
from league_agents.arena.pettingzoo import raw_env
from league_agents.games.game import IllegalAction
from league_agents.kit.draw import Draw

WAYS = ("engine", "pettingzoo")

_FEW, _MANY = 200, 1_000
"""Actions of the two runs whose instructions are compared."""


def actions_per_s(
    game: str, actions: int, *, way: str = "engine", clock: Callable[[], float] = time.process_time
) -> float:
    """Accepted actions per second of one core, setting up the matches included."""
    begin = clock()
    done = (play if way == "engine" else play_environment)(game, actions)
    return done / (clock() - begin)


def thousand_instructions_an_action(game: str, way: str) -> float:
    """Instructions of one action more, in thousands; the start of Python is taken off."""
    few, many = (instructions_of("benchmarks.arena_engine", way, game, str(each)) for each in (_FEW, _MANY))
    return (many - few) / (_MANY - _FEW) / 1e3


def play(game: str, actions: int) -> int:
    """Play matches by themselves until so many actions were accepted; return how many were."""
    scenario = usual_scenario(game)
    done = number = 0
    while done < actions:
        number += 1
        match = scenario.new_match(number)
        draw = Draw(number, "engine")
        while done < actions and (active := match.active()):
            agent = active[draw.below(len(active))]
            match.view(agent)
            try:
                match.act(agent, random_action(match.legal(agent), draw))
            except IllegalAction:
                continue
            done += 1
    return done


def play_environment(game: str, actions: int) -> int:
    """Play matches through PettingZoo until so many actions were accepted; return how many were."""
    table = raw_env(game)
    for agent in table.possible_agents:
        table.action_space(agent).seed(0)
    done = number = 0
    while done < actions:
        number += 1
        table.reset(seed=number)
        for agent in table.agent_iter():
            observation, _, terminated, truncated, _ = table.last()
            if terminated or truncated:
                table.step(None)
                continue
            table.step(int(table.action_space(agent).sample(observation["action_mask"])))
            done += table.infos[table.agent_selection].get("refusal") is None
            if done == actions:
                break
    return done


@click.command(hidden=True)
@click.argument("way", type=click.Choice(WAYS))
@click.argument("game")
@click.argument("actions", type=int)
def main(way: str, game: str, actions: int) -> None:
    """Play matches: what runs under valgrind."""
    (play if way == "engine" else play_environment)(game, actions)


if __name__ == "__main__":
    main()
