"""Agents speak in turn, and everybody hears every message at once (arena 4.2)."""

from __future__ import annotations

from collections.abc import Collection

from league_agents.turns.turn_taking import TurnTaking


class BroadcastDeliberation(TurnTaking):
    """All other agents of the round hear every message."""

    type = "broadcast"
    is_for_talk = True

    def rule_text(self, lang: str = "en") -> str:
        if lang == "zh":
            return "各方轮流发言，每句话其他各方都立即听到。"
        return "Agents take turns; everybody else hears every message at once."

    def is_public(self, speaker: str) -> bool:
        return self._reaches_all(speaker)

    def _hearers(self, speaker: str) -> Collection[str]:
        return self.members()
