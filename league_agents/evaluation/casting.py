"""The participants of an evaluated match."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from league_agents.evaluation.checking.check import Caller
from league_agents.evaluation.conduct import EvaluatedParticipant
from league_agents.evaluation.results import Spent
from league_agents.games.q21.callbacks import CallbackSpec

Part = Literal["player", "opponent", "referee"]
"""``player`` or ``referee`` is the evaluated participant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The three participants of one match."""

    player: Caller
    opponent: Caller
    referee: Caller

    spent: Callable[[Part], Spent | None]
    """Returns the language model use of a participant in this match."""

    asking_models: frozenset[Part] = frozenset()
    """The participants that ask language models."""

    def participant(self, part: Part, specs: Mapping[str, CallbackSpec]) -> EvaluatedParticipant:
        """Return one of the three participants, ready to be called."""
        callers: Mapping[Part, Caller] = {"player": self.player, "opponent": self.opponent, "referee": self.referee}
        return EvaluatedParticipant(callers[part], specs, asks_models=part in self.asking_models)
