"""Every game is a PettingZoo environment that PettingZoo's own tests accept, and that keeps the game's secrets."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from gymnasium import spaces
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from league_agents.arena.pettingzoo import env, parallel_env, raw_env
from league_agents.arena.pettingzoo.numbering import NumberBlock, NumberSpace, legal_mask, meant
from league_agents.games.game import Action, LegalAction
from league_agents.kit.draw import Draw
from league_agents.kit.errors import ConfigError

GAMES = ("guess_number", "market", "q21", "undercover")

# What PettingZoo says about every environment whose observation has a mask, its own board games excepted by name.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Observation is not a NumPy array:UserWarning"),
    pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be:UserWarning"),
]


def viewed(observation: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(bytes(observation["observation"]).rstrip(b"\0"))
    return found


def play(table: Any, seed: int) -> tuple[list[tuple[str, int]], dict[str, float]]:
    """A match of PettingZoo's usual random policy: who drew what, and everybody's reward."""
    table.reset(seed=seed)
    drawn, rewards = [], {}
    for place, agent in enumerate(table.possible_agents):
        table.action_space(agent).seed(seed + place)
    for agent in table.agent_iter():
        observation, reward, terminated, truncated, _ = table.last()
        if terminated or truncated:
            rewards[agent] = reward
            table.step(None)
            continue
        number = int(table.action_space(agent).sample(observation["action_mask"]))
        drawn.append((agent, number))
        table.step(number)
    return drawn, rewards


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_own_tests_pass(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    api_test(env(game), num_cycles=200)
    seed_test(lambda: env(game), num_cycles=100)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("guess_number", {"agents": 3, "num_choices": 5000, "max_steps": 3}),
        ("guess_number", {"agents": ("left_1", "right_2"), "proposals": False, "reject_known_wrong": True}),
        ("market", {"price_range": [0, 100_000], "max_rounds": 3}),
        ("market", {"interaction": {"protocol": {"type": "market_turn_based", "simultaneous": False}}}),
        ("undercover", {"agents": 5, "tie": "revote", "lang": "en", "allow_abstain": False}),
        ("undercover", {"interaction": {"protocol": {"type": "sequential"}}}),
        ("q21", {"rules": "course"}),
    ],
)
def test_they_pass_with_other_configurations_too(
    game: str, settings: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    api_test(env(game, **settings), num_cycles=100)
    seed_test(lambda: env(game, **settings), num_cycles=50)
    assert "Passed API test" in capsys.readouterr().out


@pytest.mark.parametrize("game", GAMES)
def test_a_drawn_number_is_never_refused(game: str) -> None:
    table = env(game)
    for seed in range(5):
        table.reset(seed=seed)
        for agent in table.agent_iter():
            observation, _, terminated, truncated, info = table.last()
            assert not info.get("refusal")
            done = terminated or truncated
            table.step(None if done else table.action_space(agent).sample(observation["action_mask"]))


@pytest.mark.parametrize("game", GAMES)
def test_rewards_are_the_scores(game: str) -> None:
    table = raw_env(game)
    _, rewards = play(table, 11)
    outcome = table.match.outcome()
    assert outcome is not None
    assert rewards == outcome.scores


@pytest.mark.parametrize("game", GAMES)
def test_the_same_seed_is_the_same_match(game: str) -> None:
    assert play(env(game), 5) == play(env(game), 5)


def test_resetting_again_goes_on_to_another_match_of_the_same_seed() -> None:
    words = []
    for _ in range(2):
        table = raw_env("undercover")
        table.reset(seed=3)
        for _ in range(4):
            words.append(viewed(table.observe("player_0"))["me"]["word"])
            table.reset()
    assert words[:4] == words[4:]
    assert len(set(words[:4])) > 1


def test_a_seed_names_the_match_that_the_arena_plays_with_it() -> None:
    table = raw_env("undercover")
    table.reset(seed=42)
    assert table.match.seed == 42


def test_an_agent_is_told_what_is_legal_and_what_it_sees() -> None:
    table = env("undercover", lang="en")
    table.reset(seed=1)
    observation, _, _, _, info = table.last()
    assert [each.type for each in info["legal"]] == ["describe"]
    assert info["view"] == viewed(observation)
    assert info["view"]["me"]["word"]
    assert table.infos["player_1"] == {"legal": ()}  # not its turn


def test_votes_are_not_seen_before_the_last_one_is_in() -> None:
    table = raw_env("undercover", lang="en")
    table.reset(seed=1)
    for place in range(6):
        table.step(Action(type="describe", data={"description": f"thing {place}"}))
    for place in range(5):
        assert table.agent_selection == f"player_{place}"
        table.step({"type": "vote", "data": {"vote_number": 6, "reason": f"reason-{place}"}})
        seen = viewed(table.observe(table.agent_selection))
        assert seen["votes_in"] == place + 1
        assert seen["all_votes_history"] == []
        assert "reason-" not in json.dumps(seen)


def test_text_of_ones_own_counts_like_a_number() -> None:
    table = raw_env("undercover", lang="en")
    table.reset(seed=1)
    table.step({"type": "describe", "data": {"description": "a thing of beauty"}})
    assert table.agent_selection == "player_1"
    said = viewed(table.observe("player_1"))["current_descriptions"]
    assert [each["description"] for each in said] == ["a thing of beauty"]


def test_a_refusal_names_its_reason_and_the_third_one_forfeits_the_decision() -> None:
    table = raw_env("undercover", lang="en")
    table.reset(seed=1)
    word = table.infos["player_0"]["view"]["me"]["word"]
    for left in (2, 1):
        table.step(Action(type="describe", data={"description": f"it is a {word}"}))
        refusal = table.infos["player_0"]["refusal"]
        assert (table.agent_selection, refusal["code"], refusal["attempts_left"]) == (
            "player_0", "reveals_own_word", left,
        )  # fmt: skip
    table.step(Action(type="describe", data={"description": f"it is a {word}"}))
    assert table.agent_selection == "player_1"
    assert table.infos["player_1"]["refusal"] is None
    assert viewed(table.observe("player_1"))["players"][0]["description_history"] == [""]


def test_a_number_outside_the_mask_is_refused() -> None:
    table = raw_env("undercover")
    table.reset(seed=1)
    mask = table.observe("player_0")["action_mask"]
    table.step(int(np.flatnonzero(mask == 0)[0]))
    assert table.infos["player_0"]["refusal"]["code"] == "unknown_action"


def test_one_can_ask_what_a_number_would_do() -> None:
    table = raw_env("guess_number", num_choices=4)
    table.reset(seed=1)
    mask = table.observe("agent_0")["action_mask"]
    reported = [table.meaning(int(number)) for number in np.flatnonzero(mask)]
    assert [action.data["next_guess"] for action in reported if action is not None] == [0, 1, 2, 3]
    table.step(2)
    assert table.match.events[-1].data["message"]["next_guess"] == 2


def test_a_match_that_its_protocol_stops_is_truncated() -> None:
    stop = {"stop_conditions": [{"type": "max_messages", "value": 2}]}
    table = raw_env("undercover", interaction={"protocol": {"type": "broadcast"}, "flow": stop})
    table.reset(seed=1)
    table.step(Action(type="describe", data={"description": "one"}))
    assert not any(table.truncations.values())
    table.step(Action(type="describe", data={"description": "two"}))
    assert all(table.truncations.values())
    assert not any(table.terminations.values())


def test_what_a_spectator_sees_is_rendered(capsys: pytest.CaptureFixture[str]) -> None:
    table = env("undercover", lang="en", render_mode="ansi")
    table.reset(seed=1)
    table.step(Action(type="describe", data={"description": "a thing\u202e of beauty"}))
    told = table.render()
    assert "of beauty" in told
    assert "\u202e" not in told
    shown = env("undercover", lang="en", render_mode="human")
    play(shown, 1)
    assert shown.unwrapped.match.events[-1].text in capsys.readouterr().out


@pytest.mark.parametrize("game", GAMES)
def test_a_step_asks_the_game_once_for_each_thing(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    table = raw_env(game)
    rules = table.match.game
    calls = {name: Mock(wraps=getattr(rules, name)) for name in ("view", "apply")}
    for name, call in calls.items():
        monkeypatch.setattr(rules, name, call)

    def made(act: Callable[[], object]) -> dict[str, int]:
        for call in calls.values():
            call.reset_mock()
        act()
        return {name: call.call_count for name, call in calls.items()}

    def step(number: int) -> None:
        table.step(number)
        table.last()
        table.observe(table.agent_selection)

    table.reset(seed=1)
    for _ in range(4):
        number = int(np.flatnonzero(table.last()[0]["action_mask"])[0])
        tried = made(lambda number=number: table.meaning(number))
        assert made(lambda number=number: step(number)) == {"view": 1, "apply": tried["apply"]}


def test_modifying_what_was_handed_out_changes_nothing() -> None:
    table, other = raw_env("undercover", lang="en"), raw_env("undercover", lang="en")
    for each in (table, other):
        each.reset(seed=1)
    observation, _, _, _, info = table.last()
    info["view"]["me"]["word"] = "lies"
    info["legal"][0].schema["properties"].clear()
    observation["observation"][:] = 0
    observation["action_mask"][:] = 0
    for _ in range(8):
        mine, others = table.observe(table.agent_selection), other.observe(other.agent_selection)
        assert all(np.array_equal(mine[part], others[part]) for part in mine)
        number = int(np.flatnonzero(mine["action_mask"])[1])
        table.step(number)
        other.step(number)
    assert table.match.events == other.match.events


def test_an_action_space_draws_what_gymnasiums_own_draws() -> None:
    drawn = []
    for space in (NumberSpace(9), spaces.Discrete(9)):
        space.seed(4)
        masks = [np.array([1, 0, 1, 1, 0, 0, 1, 0, 1], np.int8), np.zeros(9, np.int8), np.ones(9, np.int8)]
        drawn.append([(type(each), each) for each in (space.sample(mask) for mask in masks * 20)])
        with pytest.raises(AssertionError, match="shape"):
            space.sample(np.ones(8, np.int8))
        with pytest.raises(AssertionError, match="dtype"):
            space.sample(np.ones(9, np.int64))
        assert 0 <= space.sample() < 9
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"minimum": 3, "maximum": 5}, range(2, 7)),
        ({"minimum": 2.5, "maximum": 99}, range(2, 7)),
        ({"minimum": -9, "maximum": 1}, range(2, 7)),
        ({"not": {"enum": [4, 11, "x"]}}, range(2, 7)),
        ({"minimum": 2}, range(0, 9, 3)),
        ({"enum": [None, 3]}, range(2, 7)),
        ({"enum": [None, 3], "not": {"enum": [3]}}, (None, 2, 3)),
    ],
)
def test_the_mask_is_what_the_schema_allows(schema: dict[str, Any], values: Any) -> None:
    block = NumberBlock(type="bid", start=2, length=len(values), path=("price",), values=values)
    legal = LegalAction(type="bid", schema={"properties": {"price": schema}, "required": ["price"]})
    mask = legal_mask([NumberBlock(type="pass", start=0, length=2), block], [legal])
    possible = [meant([block], number, [legal], Draw(1, "")) is not None for number in range(2, 2 + len(values))]
    assert mask.tolist() == [0, 0, *possible]


def test_a_view_that_utf8_cannot_hold_is_observed(monkeypatch: pytest.MonkeyPatch) -> None:
    table = raw_env("market")
    rows = ({"price": 1.5},)
    view = {"half": "a\ud800b", "many": 2**80, "rows": rows}
    monkeypatch.setattr(table.match.game, "view", lambda *_: view)
    table.reset(seed=1)
    assert viewed(table.last()[0]) == {**view, "rows": list(rows)}


def test_the_state_holds_what_no_agent_sees() -> None:
    table = env("guess_number")
    table.reset(seed=1)
    hidden = json.loads(bytes(table.state()).rstrip(b"\0"))
    assert "target" in hidden
    assert "target" not in table.last()[4]["view"]
    assert table.state_space.contains(table.state())


def test_a_long_view_is_cut_in_the_observation_only() -> None:
    table = raw_env("q21", observation_bytes=64)
    table.reset(seed=1)
    observation, _, _, _, info = table.last()
    assert observation["observation"].shape == (64,)
    assert len(json.dumps(info["view"])) > 64


@pytest.mark.parametrize(
    ("game", "settings", "said"),
    [
        ("chess", {}, "chess"),
        ("undercover", {"agents": 2}, "3 to 12"),
        ("undercover", {"num_undercover": 4}, "num_undercover"),
        ("undercover", {"render_mode": "rgb_array"}, "render_mode"),
        ("market", {"agents": ("market", "b", "c")}, "market"),
        ("q21", {"interaction": {"protocol": {"type": "nothing"}}}, "protocol"),
    ],
)
def test_what_cannot_be_played_is_one_line(game: str, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        env(game, **settings)
    assert "\n" not in str(caught.value)


def test_what_is_no_action_is_one_line() -> None:
    table = raw_env("market")
    table.reset(seed=1)
    with pytest.raises(ConfigError, match="must be a number"):
        table.step("cheap")
    with pytest.raises(ConfigError, match="seed"):
        table.reset(seed=-1)


def test_calls_in_a_wrong_order_are_refused() -> None:
    with pytest.raises(AttributeError, match="reset"):
        _ = env("market").agent_selection


def test_without_pettingzoo_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    with pytest.raises(ConfigError, match=r"league-agents\[pettingzoo\]"):
        env("market")


# Agents that step together


@pytest.mark.parametrize("game", GAMES)
def test_pettingzoos_own_parallel_tests_pass(game: str, capsys: pytest.CaptureFixture[str]) -> None:
    parallel_api_test(parallel_env(game), num_cycles=200)
    parallel_seed_test(lambda: parallel_env(game), num_cycles=50)
    assert "Passed Parallel API test" in capsys.readouterr().out


def test_sellers_name_their_prices_in_one_step() -> None:
    table = parallel_env("market", max_rounds=2)
    table.reset(seed=1)
    offer = {"type": "submit_price", "data": {"price": 20}}
    _, rewards, terminated, _, infos = table.step(dict.fromkeys(table.agents, offer))
    assert infos["seller_0"]["view"]["results"][0]["prices"] == dict.fromkeys(table.agents, 20)
    assert (set(rewards.values()), set(terminated.values())) == ({0.0}, {False})
    _, rewards, terminated, truncated, infos = table.step(dict.fromkeys(table.agents, offer))
    outcome = table.match.outcome()
    assert outcome is not None
    assert rewards == outcome.scores
    assert (table.agents, set(terminated.values()), set(truncated.values())) == ([], {True}, {False})
    assert infos["seller_0"]["outcome"]["reason"] == "max_rounds"


def test_a_refused_or_missing_action_is_owed_and_the_others_count() -> None:
    table = parallel_env("market", max_rounds=1)
    table.reset(seed=1)
    offers = {agent: {"type": "submit_price", "data": {"price": 20}} for agent in table.agents}
    wrong = {**offers, "seller_0": {"type": "submit_price", "data": {"price": 1}}}
    del wrong["seller_1"]
    _, _, _, _, infos = table.step(wrong)
    assert infos["seller_0"]["refusal"]["code"] == "price_out_of_range"
    assert (infos["seller_1"]["refusal"]["code"], infos["seller_2"]["refusal"]) == ("unknown_action", None)
    assert table.match.active() == ("seller_0", "seller_1")
    table.step(offers)  # of the third seller nothing is owed, and nothing is looked at
    assert table.agents == []


def test_whoever_is_not_to_speak_waits() -> None:
    table = parallel_env("undercover", lang="en")
    observations, _ = table.reset(seed=1)
    assert [agent for agent in table.agents if observations[agent]["action_mask"].any()] == ["player_0"]
    say = {agent: {"type": "describe", "data": {"description": f"words of {agent}"}} for agent in table.agents}
    observations, *_ = table.step(say)
    said = viewed(observations["player_5"])["current_descriptions"]
    assert [each["description"] for each in said] == ["words of player_0"]
    assert table.match.active() == ("player_1",)


def test_a_stopped_parallel_match_is_truncated() -> None:
    stop = {"stop_conditions": [{"type": "max_rounds", "value": 1}]}
    table = parallel_env("market", interaction={"protocol": {"type": "market_turn_based"}, "flow": stop})
    table.reset(seed=1)
    offer = {"type": "submit_price", "data": {"price": 20}}
    _, _, terminated, truncated, _ = table.step(dict.fromkeys(table.agents, offer))
    assert (set(terminated.values()), set(truncated.values())) == ({False}, {True})
