"""A dump that was changed by hand is refused under the name of what is wrong in it."""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from league_agents.arena.agents.scripted_agent import script_of
from league_agents.games.registry import game_codes, game_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError

WRONG = (None, 7.5, "no such word", [7.5], {"no such key": 7.5})


def halfway(code: str) -> dict[str, Any]:
    """The dump of a scripted match that has gone on for a while."""
    game = game_of(code)
    state = game.setup({}, [f"a{n}" for n in range(max(3, game.min_agents))], 1)
    best = game.dump(state)
    while pending := game.pending(state):
        action = script_of(code)(game.view(state, pending[0]), game.legal(state, pending[0]), Draw(1, pending[0]))
        state = game.apply(state, pending[0], action).state
        if game.pending(state):
            best = game.dump(state)
    return json.loads(json.dumps(best))


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*path, key))
    elif isinstance(value, list) and value:
        yield from paths(value[0], (*path, 0))


@pytest.mark.parametrize("code", game_codes())
def test_a_wrong_value_in_a_dump_is_refused_by_its_name_or_kept(code: str) -> None:
    game, whole = game_of(code), halfway(code)
    places = [path for path in paths(whole) if len(path) <= 3 and path[0] not in ("config", "rules")]
    refusals, nameless = 0, []
    for path, wrong in itertools.product(places, WRONG):
        changed = copy.deepcopy(whole)
        holder = changed
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = wrong
        names = [key for key in path if isinstance(key, str)]
        try:
            kept = game.dump(game.load(changed))
        except ConfigError as refused:
            refusals += 1
            # The ids of agents are checked as those of a new match are.
            if not re.search(rf"\b({'|'.join(names)})\b", str(refused)) and not refused.path.startswith("agents"):
                nameless.append((path, wrong, str(refused)))
        else:
            assert json.loads(json.dumps(kept)) == changed, (path, wrong)
    assert nameless == []
    assert refusals > 3 * len(places)
