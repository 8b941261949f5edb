"""How much of what games show is a language model's work, and how much code's in its place.

Rule: a figure is a model's only as far as the model's work was used, so this stands beside every figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from league_agents.evaluation.results import Behaviour
from league_agents.kit.model_work import ModelStep, ModelWorkUse, counted, sentence, together


class Judged(Protocol):
    """What the games of both kinds have."""

    @property
    def game(self) -> int: ...

    @property
    def behaviour(self) -> Mapping[str, Behaviour]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShare:
    """How much of one participant's work was its language models', game by game and step by step."""

    games: Mapping[ModelWorkUse, int]
    """In how many games their work was used in all steps in which it was wanted, in some, in none, or not wanted."""

    steps: Mapping[tuple[str, str], tuple[ModelStep, ...]]
    """Callback and step to what became of it each time."""

    @property
    def total(self) -> int:
        """All games."""
        return sum(self.games.values())

    @property
    def used(self) -> int:
        """Games in which at least some of their work was used."""
        return self.games[ModelWorkUse.USED] + self.games[ModelWorkUse.PARTLY_USED]

    def share(self) -> dict[str, object]:
        """What stands beside each figure, as JSON values."""
        return {"games": self.total, **{work.value: self.games[work] for work in ModelWorkUse}}

    def to_json(self) -> dict[str, object]:
        rows = [
            {"callback": callback, "step": step, **counted(steps)} for (callback, step), steps in self.steps.items()
        ]
        return {"games": self.share(), "steps": rows}


def models_of(games: Sequence[Judged], parts: Sequence[str]) -> dict[str, ModelShare]:
    """How much of the work of each of these participants was their models'."""
    found: dict[str, ModelShare] = {}
    for part in parts:
        told = [game.behaviour[part].models for game in games]
        works = Counter(together(steps) or ModelWorkUse.NOT_ASKED for steps in told)
        by_step: dict[tuple[str, str], list[ModelStep]] = {}
        for step in (step for steps in told for step in steps):
            by_step.setdefault((step.callback, step.step), []).append(step)
        if by_step:
            steps = {key: tuple(each) for key, each in by_step.items()}
            found[part] = ModelShare(games={work: works[work] for work in ModelWorkUse}, steps=steps)
    return found


def on_models(models: Mapping[str, ModelShare]) -> list[str]:
    """What became of models' work, in sentences."""
    remarks = []
    for part, share in models.items():
        said = sentence([step for steps in share.steps.values() for step in steps])
        none = share.games[ModelWorkUse.REPLACED]
        games = f"; {none} of {share.total} games show what code does, not a model" if none else ""
        remarks.append(f"The {part}: {said}{games}.")
    return remarks
