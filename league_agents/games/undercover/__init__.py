"""Who is the undercover: most players hold one word, a few a similar one; describe and vote (arena 3)."""

from __future__ import annotations

from typing import Final

from league_agents.games.declaration import DecidingField, GameAgents, GameDeclaration

GAME: Final = GameDeclaration(
    package=__name__,
    code="undercover",
    title={"en": "Who is the undercover", "zh": "谁是卧底"},
    about={
        "en": "Everybody has a word, one has another. Describe yours, find who differs.",
        "zh": "每人一个词，有人不同。描述自己的词，找出卧底。",
    },
    usual_seats=tuple(f"agent_{place}" for place in range(1, 7)),
    rules=".game:Undercover",
    memory=".memory:AgentMemory",
    agents=GameAgents(methods=("generate_description", "vote"), adapter=".agents:UndercoverSeat"),
    deciding={"vote": DecidingField(path=("vote_number",), values=".config:votes")},
)
