"""How fast a game's matches go by themselves: random agents, the actor's view built for every action, no transport."""

from __future__ import annotations

import time
from collections.abc import Callable

from league_agents.app.arena import usual_scenario
from league_agents.arena.agents.random_agent import random_action
from league_agents.games.game import IllegalAction
from league_agents.kit.draw import Draw


def actions_per_s(game: str, actions: int, *, clock: Callable[[], float] = time.process_time) -> float:
    """Accepted actions per second of one core, setting up the matches included."""
    scenario = usual_scenario(game)
    done = number = 0
    begin = clock()
    while done < actions:
        number += 1
        match = scenario.new_match(number)
        draw = Draw(number, "engine")
        while active := match.active():
            agent = active[draw.below(len(active))]
            match.view(agent)
            try:
                match.act(agent, random_action(match.legal(agent), draw))
            except IllegalAction:
                continue
            done += 1
    return done / (clock() - begin)
