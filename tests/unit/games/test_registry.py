"""The games that there are."""

from __future__ import annotations

from typing import Any

import pytest

from league_agents.errors import ConfigError
from league_agents.games.registry import game_codes, game_of


@pytest.mark.parametrize("code", game_codes())
def test_every_game_comes_under_its_code(code: str) -> None:
    game = game_of(code)
    assert game.code == code
    assert 1 <= game.min_agents <= game.max_agents
    assert game_of(code) is game


@pytest.mark.parametrize("code", ["chess", "", "market "])
def test_an_unknown_game_is_refused_and_the_known_ones_are_named(code: str) -> None:
    with pytest.raises(ConfigError, match="guess_number, market, q21, undercover"):
        game_of(code)


@pytest.mark.parametrize("code", game_codes())
@pytest.mark.parametrize("config", [None, "", [], 1])
def test_a_configuration_that_is_no_mapping_is_named(code: str, config: Any) -> None:
    game = game_of(code)
    agents = [f"p{place}" for place in range(game.min_agents)]
    with pytest.raises(ConfigError):
        game.setup(config, agents, 1)


@pytest.mark.parametrize("code", game_codes())
@pytest.mark.parametrize("agents", [None, "abc", 3, {"a": 1}])
def test_agents_that_are_no_list_are_named(code: str, agents: Any) -> None:
    with pytest.raises(ConfigError, match="agents"):
        game_of(code).setup({}, agents, 1)
