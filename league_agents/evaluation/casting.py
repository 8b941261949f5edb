"""Who takes part in a match, as an evaluation needs to know it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from league_agents.agents.checking.check import Caller
from league_agents.evaluation.results import Spent

Part = Literal["player", "opponent", "referee"]
"""``player`` or ``referee`` is who is evaluated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast:
    """The three of one match."""

    player: Caller
    opponent: Caller
    referee: Caller

    spent: Callable[[Part], Spent | None]
    """What their language models used in this match."""
