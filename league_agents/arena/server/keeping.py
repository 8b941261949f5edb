"""Writes what happens in the matches of a hall into its keep.

Rule: ``save`` comes before anybody is told of what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from league_agents.arena.server.gallery import finished_told
from league_agents.arena.server.keep import MatchKeep
from league_agents.arena.server.kept import MatchInPlay
from league_agents.arena.server.tables import Tables
from league_agents.arena.transcript import read_transcript


class HallKeeping:
    """What is kept of the matches of one hall."""

    def __init__(self, keep: MatchKeep, tables: Tables, now: Callable[[], datetime]) -> None:
        self.keep = keep
        self.tables = tables
        self.store = tables.store
        self.now = now

    def finish(self, match_id: str) -> dict[str, Any] | None:
        """Keep a match that is over for the gallery, and return what it says; ``None`` if it is not over, or was never
        played."""
        hosted, table = self.store.get(match_id), self.tables.get(match_id)
        if hosted is None or table is None or hosted.ended_at is None:
            return None
        lines = table.transcript_lines()
        if not lines:
            return None
        told, results = finished_told(hosted, table.scenario, read_transcript(lines))
        self.save(match_id)
        self.keep.finish(
            match_id,
            game=table.scenario.game,
            ended_at=hosted.ended_at,
            told=told,
            results=results,
            packed=table.packed,
        )
        self.keep.commit(self.now())
        return told

    def save(self, match_id: str) -> None:
        """Make what happened in a match lasting, before anybody is told of it."""
        hosted, table = self.store.get(match_id), self.tables.get(match_id)
        if self.keep.is_lasting and hosted is not None and table is not None:
            play = MatchInPlay.of(hosted)
            if table.kept_play is None:
                self.keep.open(match_id, table.opened(hosted), play)
            elif play != table.kept_play:
                self.keep.play(match_id, play)
            table.kept_play = play
            if table.decisions is not None and table.transcript is not None:
                clocks = table.decisions.clocks()
                if clocks != table.kept_clocks:
                    self.keep.clocks(match_id, clocks)
                    table.kept_clocks = clocks
        self.keep.commit(self.now())
