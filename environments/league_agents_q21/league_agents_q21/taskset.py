"""One task for each game: its number and settings, and what the model is asked first.

Rule: a task holds what a player may know. The target is not in it: the game is begun anew from its number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import verifiers.v1 as vf
from pydantic import Field

from league_agents.app.dialogue import PlayerDialogue, packaged_books, settings_of


class Q21Config(vf.TasksetConfig):
    """What the games have in common."""

    rules: Literal["prd", "course"] = "prd"
    books: str | None = None
    """Which packaged books the targets come from: a part of a split such as ``1/2``, or a part of a title."""

    games: int = Field(1000, ge=1)
    seed: int = 1
    noise: float = Field(0.0, ge=0, le=1)
    """Share of the referee's answers that are falsified."""

    opponent: str = "offline"
    referee: str = "offline"


class Q21Data(vf.TaskData):
    """One game."""

    game: int
    """From 1."""

    rules: str
    books: str | None
    seed: int
    noise: float
    opponent: str
    referee: str


class Q21Task(vf.Task[Q21Data, vf.State, vf.TaskConfig]):
    """One game; the environment plays and scores it."""


class Q21Taskset(vf.Taskset[Q21Task, Q21Config]):
    """The games with the numbers 1 to ``games``."""

    def load(self) -> Iterator[Q21Task]:
        config = self.config
        for game in range(1, config.games + 1):
            data = Q21Data(
                name=f"q21#{game}",
                game=game,
                rules=config.rules,
                books=config.books,
                seed=config.seed,
                noise=config.noise,
                opponent=config.opponent,
                referee=config.referee,
            )
            dialogue = begun(data)
            assert dialogue.request is not None, "a player is asked for questions"
            told = {"prompt": dialogue.request.user, "system_prompt": dialogue.request.system}
            dialogue.close()
            yield Q21Task(data.model_copy(update=told), config.task)


def begun(data: Q21Data) -> PlayerDialogue:
    """The game of a task, at the player's first turn. Raises ``ConfigError``."""
    specs = {"player": "scripted", "opponent": data.opponent, "referee": data.referee}
    settings = settings_of("player", specs, rules=data.rules, books=data.books, seed=data.seed, noise=data.noise)
    return PlayerDialogue(settings, packaged_books(), data.game)
