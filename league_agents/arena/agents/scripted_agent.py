"""The scripted baseline of a game as an agent of the arena.

Rule: an action depends only on the view, the legal actions and a seeded draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, cast

from league_agents.arena.agents.port import View
from league_agents.games.game import Action, Event, LegalAction
from league_agents.games.registry import declared, part_of
from league_agents.kit.draw import Draw

Script = Callable[[Mapping[str, Any], Sequence[LegalAction], Draw], Action]


def script_of(game: str) -> Script:
    """The scripted baseline of a game, by its code. Raises ``ConfigError``."""
    declaration = declared(game)
    return cast("Script", part_of(declaration, declaration.scripted))


class ScriptedAgent:
    """Plays one game sensibly, without a model."""

    def __init__(self, game: str, *, seed: int | str, agent_id: str = "") -> None:
        self._script = script_of(game)
        self._draw = Draw(seed, f"scripted/{agent_id}")

    async def act(self, view: View, legal: Sequence[LegalAction], deadline: datetime | None) -> Action:
        return self._script(view, legal, self._draw)

    def observe(self, event: Event) -> None:
        """No-op: the agent keeps no memory."""

    def reset(self) -> None:
        """No-op: the agent keeps no memory."""
