"""Q21: twenty questions about a book's opening sentence and a word, by the league's rules and scoring."""

from __future__ import annotations

from typing import Final

from league_agents.games.declaration import GameAgents, GameDeclaration

GAME: Final = GameDeclaration(
    package=__name__,
    code="q21",
    title={"en": "Q21", "zh": "Q21"},
    about={
        "en": "Twenty questions to find a book's opening sentence and a word.",
        "zh": "用二十个问题猜出一本书的开头句和一个词。",
    },
    usual_seats=("referee", "player_a", "player_b"),
    roles=("referee", "player"),
    rules=".game:Q21",
    agents=GameAgents(names=("offline",), make="league_agents.app.league_seat:league_agent"),
    person_seat=1,  # the first seat is the referee's; people come to play
    turn_timeout_s=900,
    most_output_tokens=6000,  # a batch of twenty questions is long
    observation_bytes=65_536,
)
