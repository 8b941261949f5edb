"""The port to all sources of a season: journals, a season's folder, a recorded match, an export.

Rule: a source is read only, may be read while another process writes to it, and holds one match in memory at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Protocol

from league_agents.report.records import DisputeRecord, MatchRecord, SeasonRecord, Viewer


def division_meant(written: str, divisions: Iterable[str]) -> str:
    """The division that a person wrote, perhaps without the zeros of its number (``division-2``: ``division-0002``)."""
    known = list(divisions)
    alike = [each for each in known if _without_zeros(each) == _without_zeros(written)]
    return alike[0] if written not in known and len(alike) == 1 else written


def _without_zeros(name: str) -> str:
    return re.sub(r"(?<!\d)0+(?=\d)", "", name)


class SeasonSource(Protocol):
    """A source of a season. ``app.records.open_season`` opens one."""

    @property
    def viewer(self) -> Viewer:
        """The widest viewer of the source, which the reader may narrow. A league manager's is ``referee``."""
        ...

    @property
    def team(self) -> str:
        """The group of a team's own journal; empty for any other source."""
        ...

    def season(self) -> SeasonRecord:
        """The season without its matches. Raises ``LeagueError`` for a source that cannot be read."""
        ...

    def matches(self, *, round_number: int | None = None, team: str | None = None) -> Iterator[MatchRecord]:
        """The matches in the order of the schedule, narrowed to ``viewer``.

        ``team`` is a group id: the matches that it plays or judges.
        """
        ...

    def match(self, game_id: str) -> MatchRecord:
        """One match. Raises ``ConfigError`` for an unknown id."""
        ...

    @property
    def has_reports(self) -> bool:
        """Whether the league manager's journal is in the source: only that has the reports that ``disputes`` reads."""
        ...

    def disputes(self, *, with_mails: bool = True) -> Iterator[DisputeRecord]:
        """Reports that contradict, are late, are missing or are not the referee's; none without the league manager's
        journal. ``with_mails``: read the other participants' journals for evidence."""
        ...

    def close(self) -> None:
        """Close the files. A closed source is not used again."""
        ...
