"""The games that there are."""

from __future__ import annotations

import re
from typing import Any

import pytest

from league_agents.arena.agents.scripted_agent import script_of
from league_agents.games.game import ForfeitCause
from league_agents.games.registry import game_codes, game_of
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError
from league_agents.turns.match import Match


@pytest.mark.parametrize("code", game_codes())
def test_every_game_comes_under_its_code(code: str) -> None:
    game = game_of(code)
    assert game.code == code
    assert 1 <= game.min_agents <= game.max_agents
    assert game_of(code) is game


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("code", game_codes())
def test_the_rules_are_a_text_in_which_everything_is_filled_in(code: str, lang: str) -> None:
    text = game_of(code).rules_text({}, lang)
    assert len(text) > 100
    assert re.search(r"None|[{}]", text) is None


@pytest.mark.parametrize("code", ["chess", "", "market "])
def test_an_unknown_game_is_refused_and_the_known_ones_are_named(code: str) -> None:
    with pytest.raises(ConfigError, match="guess_number, market, q21, undercover"):
        game_of(code)


def test_a_game_that_was_probably_meant_is_named() -> None:
    with pytest.raises(ConfigError, match="did you mean 'undercover'"):
        game_of("undrcover")


@pytest.mark.parametrize("code", game_codes())
@pytest.mark.parametrize("config", ["", [], 1])
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


@pytest.mark.parametrize("code", game_codes())
@pytest.mark.parametrize("wrong", ["a b", "host", "x" * 65])
def test_a_wrong_name_of_an_agent_is_shown_with_its_place(code: str, wrong: str) -> None:
    game = game_of(code)
    agents = [f"p{place}" for place in range(max(2, game.min_agents))]
    with pytest.raises(ConfigError, match=wrong) as refused:
        game.setup({}, [agents[0], wrong, *agents[2:]], 1)
    assert refused.value.path == "agents[1]"


NAMES = ("安娜", "本", "赛勒斯")


@pytest.mark.parametrize("code", game_codes())
@pytest.mark.parametrize("forfeits", [False, True])
def test_every_line_of_every_game_is_in_the_match_s_language_and_uses_names(code: str, forfeits: bool) -> None:
    game, ids = game_of(code), ["agent_one", "agent_two", "agent_three"]
    config = {"lang": "zh", "names": dict(zip(ids, NAMES, strict=True))}
    match = Match(game, config=config, agent_ids=ids, seed=4)
    script, draw = script_of(code), Draw(4, "play")
    while not match.is_over:
        agent = match.active()[0]
        if forfeits and agent != ids[0]:
            match.forfeit(agent, ForfeitCause.TIMEOUT)
            continue
        action = script({**match.view(agent), "agent_id": agent}, match.legal(agent), draw)
        match.act(agent, action)
    told = [event.text for event in match.events]
    assert all(any("\u4e00" <= character <= "\u9fff" for character in text) for text in told)
    assert not any(agent_id in text for text in told for agent_id in ids)
    assert any(name in text for text in told for name in NAMES)
    assert game.load(game.dump(match.state)) == match.state
