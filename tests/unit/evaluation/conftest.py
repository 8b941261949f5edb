"""Agents of this package as an evaluation calls them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from league_agents.agents.library import Knowledge
from league_agents.agents.offline_player import OfflinePlayer
from league_agents.agents.offline_referee import OfflineReferee
from league_agents.evaluation.casting import Cast
from league_agents.evaluation.conduct import InlineCaller
from league_agents.evaluation.results import Spent
from league_agents.games.q21.rules import RuleSet


@pytest.fixture(scope="session")
def knowledge() -> Knowledge:
    """The bundled lectures and catalogue."""
    return Knowledge()


@pytest.fixture
def cast_of(knowledge: Knowledge) -> Callable[..., Cast]:
    """Offline agents, each of which may be replaced."""

    def make(rules: RuleSet, game: int = 1, **others: object) -> Cast:
        agents = {
            "player": OfflinePlayer(rules=rules, knowledge=knowledge, seed=f"player {game}"),
            "opponent": OfflinePlayer(rules=rules, knowledge=knowledge, seed=f"opponent {game}"),
            "referee": OfflineReferee(rules=rules, knowledge=knowledge, seed=f"referee {game}"),
            **others,
        }
        callers = {part: InlineCaller(agent) for part, agent in agents.items()}
        return Cast(**callers, spent=lambda part: Spent(calls=1, nano_usd=5) if part == "player" else Spent())

    return make
