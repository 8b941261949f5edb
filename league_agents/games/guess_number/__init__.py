"""Guess the number: a group looks for a hidden number together (arena 2)."""

from __future__ import annotations

from typing import Final

from league_agents.games.declaration import DecidingField, GameDeclaration

GAME: Final = GameDeclaration(
    package=__name__,
    code="guess_number",
    title={"en": "Guess the number", "zh": "猜数字"},
    about={
        "en": "Find the secret number together: report, propose, guess.",
        "zh": "一起找出秘密数字：报告、建议、猜测。",
    },
    usual_seats=("agent_0", "agent_1"),
    roles=("agent",),
    rules=".game:GuessNumber",
    deciding={
        "state_report": DecidingField(path=("next_guess",), values=".config:numbers"),
        "proposal": DecidingField(path=("content", "next_guess"), values=".config:numbers"),
        "guess": DecidingField(path=("guess",), values=".config:numbers"),
    },
)
