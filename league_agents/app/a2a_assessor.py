"""The referee of this program as an assessing agent, which AgentBeats calls a green agent."""

from __future__ import annotations

from collections.abc import Mapping

from league_agents.app.a2a_player import in_a_thread
from league_agents.app.a2a_server import Answered, Skill, Told, example
from league_agents.app.assessment import (
    AssessedGame,
    line_of_game,
    play_game,
    read_assessment,
    result_of,
    summary,
)
from league_agents.kit.errors import AgentError

MOST_AT_ONCE = 2
"""Assessments at the same time; more are refused."""


class ServedReferee:
    """Plays assessments."""

    skill = Skill(
        name="assess",
        title="Referee of 21 questions",
        description="Assesses one or two agents: they play matches of 21 questions about books. A request names their "
        "A2A endpoints by role, and settings: games, rules, seed, referee, opponent. Each game is reported as an "
        "update, the result is an artifact.",
        example=example(
            {
                "participants": {"player_a": "http://127.0.0.1:9019", "player_b": "http://127.0.0.1:9029"},
                "config": {"games": 2, "rules": "prd", "seed": 7},
            }
        ),
    )

    def __init__(self) -> None:
        self._running = 0
        self._is_closed = False

    async def answer(self, request: Mapping[str, object], told: Told) -> Answered:
        assessment = read_assessment(request)
        if self._running >= MOST_AT_ONCE:
            raise AgentError("this referee is busy; ask again later")
        self._running += 1
        games: list[AssessedGame] = []
        try:
            for number in range(1, assessment.config.games + 1):
                if self._is_closed:
                    raise AgentError("this referee stops")
                played = await in_a_thread(lambda game=number: play_game(assessment, game))  # type: ignore[misc]
                games.append(played)
                await told(line_of_game(assessment, played))
        finally:
            self._running -= 1
        result = result_of(assessment, games)
        return Answered(summary(result), result)

    def close(self) -> None:
        self._is_closed = True
