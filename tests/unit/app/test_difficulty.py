"""A referee's difficulty is said with its name, wherever agents are named."""

from __future__ import annotations

import pytest

from league_agents.agents.difficulty import Difficulty
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.app.agents import AgentRole, choose_agent
from league_agents.games.q21.rules import PRD
from league_agents.kit.errors import ConfigError


@pytest.mark.parametrize(
    ("spec", "difficulty"),
    [("offline", Difficulty.MEDIUM), ("offline:medium", Difficulty.MEDIUM), ("offline:hard", Difficulty.HARD)],
)
def test_a_referee_is_as_hard_as_its_name_says(spec: str, difficulty: Difficulty) -> None:
    made = choose_agent(spec, "referee", rules=PRD, seed=3).factory()
    assert isinstance(made, OfflineReferee)
    expected = OfflineReferee(rules=PRD, knowledge=made._knowledge, seed=3, difficulty=difficulty)
    context = {"dynamic": {"match_id": "m"}, "service": {}}
    assert made.get_round_start_info(context) == expected.get_round_start_info(context)


@pytest.mark.parametrize(
    ("spec", "role", "said"),
    [
        ("offline:huge", "referee", "easy, medium, hard"),
        ("offline:", "referee", "easy, medium, hard"),
        ("llm:huge", "referee", "easy, medium, hard"),
        ("offline:hard", "player", "only a referee"),
    ],
)
def test_a_difficulty_that_cannot_be_is_refused(spec: str, role: AgentRole, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        choose_agent(spec, role, rules=PRD, seed=3)
