"""The games that there are."""

from __future__ import annotations

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
