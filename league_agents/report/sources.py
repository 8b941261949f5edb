"""The port to whatever a season can be read from: journals, a season's folder, a recorded match, an export.

Rule: a source is read only, may be read while somebody writes to it, and holds one match in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from league_agents.report.records import MatchRecord, SeasonRecord, Viewer


class SeasonSource(Protocol):
    """Where a season is read from. ``app.records.open_season`` opens one."""

    @property
    def viewer(self) -> Viewer:
        """Who wrote it: as whom it is read unless the reader narrows it. A league manager's is ``referee``."""
        ...

    @property
    def team(self) -> str:
        """The group whose own journal it is; empty for everybody else's."""
        ...

    def season(self) -> SeasonRecord:
        """The season without its matches. Raises ``LeagueError`` for a source that cannot be read."""
        ...

    def matches(self, *, round_number: int | None = None, team: str | None = None) -> Iterator[MatchRecord]:
        """The matches in the order of the schedule, narrowed to what ``viewer`` may see.

        ``team`` is a group id: the matches that it plays or judges.
        """
        ...

    def match(self, game_id: str) -> MatchRecord:
        """One match. Raises ``ConfigError`` when the source has none of this id."""
        ...

    def close(self) -> None:
        """Release the files. A closed source is not used again."""
        ...
