"""The shares of language models and of code in the results of games.

Rule: a figure reflects a model only as far as its work was used, so this share is shown beside every figure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from league_agents.evaluation.results import Behaviour
from league_agents.kit.model_work import ModelStep, ModelWorkUse, counted, sentence, together


class Judged(Protocol):
    """The common fields of both kinds of games."""

    @property
    def game(self) -> int: ...

    @property
    def behaviour(self) -> Mapping[str, Behaviour]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShare:
    """The share of language models in one participant's work, by game and by step."""

    games: Mapping[ModelWorkUse, int]
    """Number of games whose model work was used in all steps that wanted it, in some, in none, or not wanted."""

    steps: Mapping[tuple[str, str], tuple[ModelStep, ...]]
    """(Callback, step) -> its outcome each time."""

    @property
    def total(self) -> int:
        """The number of all games."""
        return sum(self.games.values())

    @property
    def used(self) -> int:
        """The number of games in which at least some of the models' work was used."""
        return self.games[ModelWorkUse.USED] + self.games[ModelWorkUse.PARTLY_USED]

    def share(self) -> dict[str, object]:
        """Return the summary shown beside each figure, as JSON values."""
        return {"games": self.total, **{work.value: self.games[work] for work in ModelWorkUse}}

    def to_json(self) -> dict[str, object]:
        rows = [
            {"callback": callback, "step": step, **counted(steps)} for (callback, step), steps in self.steps.items()
        ]
        return {"games": self.share(), "steps": rows}


def models_of(games: Sequence[Judged], parts: Sequence[str]) -> dict[str, ModelShare]:
    """Return the models' share for each of these participants."""
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
    """Describe the use of models' work, in sentences."""
    remarks = []
    for part, share in models.items():
        said = sentence([step for steps in share.steps.values() for step in steps])
        none = share.games[ModelWorkUse.REPLACED]
        games = f"; {none} of {share.total} games show what code does, not a model" if none else ""
        remarks.append(f"The {part}: {said}{games}.")
    return remarks
