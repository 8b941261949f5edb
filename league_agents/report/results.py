"""Results of matches, rounds and seasons from the notes of a journal: points and ranks.

Rule: only the fields named here are read from a record. A match's record holds its target, and no summary may.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from league_agents.journal.port import Note
from league_agents.kit.json_values import mappings, number
from league_agents.kit.printable import of
from league_agents.kit.values import evolve

US = "us"
"""The name in a player's own record, which names nobody."""

MOST_ROWS = 10
_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """The points of one player, in a match or in all."""

    who: str
    points: float

    def to_json(self) -> dict[str, object]:
        """JSON values."""
        return {"who": self.who, "points": self.points}


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedMatch:
    """A match that is over."""

    game_id: str
    ended: str
    """Its status, or the reason for its end when the record has none."""

    points: tuple[Points, ...] = ()
    winner: str = ""
    """Empty when nobody won or the winner is not recorded."""

    is_draw: bool = False
    at: datetime

    def to_json(self) -> dict[str, object]:
        """JSON values."""
        return {
            "game_id": self.game_id,
            "ended": self.ended,
            "points": [each.to_json() for each in self.points],
            "winner": self.winner or None,
            "is_draw": self.is_draw,
            "at": self.at.isoformat(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """One row of the table."""

    rank: int
    name: str
    points: float

    def to_json(self) -> dict[str, object]:
        """JSON values."""
        return {"rank": self.rank, "name": self.name, "points": self.points}


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalResults:
    """The results in a journal."""

    last_match: EndedMatch | None = None
    standings: tuple[Standing, ...] = ()
    """The latest table, at most ten rows of it."""

    standings_after: str = ""
    """``round 3`` or ``season SPRING``."""

    order: tuple[str, ...] = ()
    """The names of all teams of that table, the first one first."""


NO_RESULTS = JournalResults()


def results_of(notes: Iterable[Note]) -> JournalResults:
    """The last match and the latest table in the notes."""
    last: Note | None = None
    winners: dict[str, str] = {}
    found = JournalResults()
    for note in notes:
        if note.kind in ("match", "game"):
            last = note
            winners.pop(note.key, None)
        elif note.kind in ("round", "season"):
            winners.update(_winners(note.facts))
            rows = standings(note.facts)
            if rows:
                found = evolve(
                    found,
                    standings=rows[:MOST_ROWS],
                    standings_after=of(f"{note.kind} {note.key}", 100),
                    order=tuple(row.name for row in rows),
                )
    if last is None:
        return found
    match = ended_match(last)
    # A player's own record does not name the winner; the league manager's results do, later.
    return evolve(found, last_match=evolve(match, winner=match.winner or winners.get(last.key, "")))


def ended_match(note: Note) -> EndedMatch:
    """The match in a note of kind ``match`` or ``game``, without its moves."""
    facts = note.facts
    return EndedMatch(
        game_id=of(note.key, _LONGEST),
        ended=of(facts.get("status"), _LONGEST) or of(facts.get("termination"), _LONGEST) or "unknown",
        points=points(facts),
        winner=of(facts.get("winner_id"), _LONGEST),
        is_draw=facts.get("is_draw") is True,
        at=note.at,
    )


def points(facts: Mapping[str, object]) -> tuple[Points, ...]:
    """League points in a match's record; the counting ones if the league manager states them."""
    card = facts.get("scorecard")
    if isinstance(card, Mapping):
        own = number(card.get("league_points"))
        return () if own is None else (Points(who=US, points=own),)
    found = []
    for row in mappings(facts.get("players"))[:MOST_ROWS]:
        got = number(row.get("counted_points", row.get("league_points")))
        if got is not None:
            found.append(Points(who=of(row.get("id"), _LONGEST) or of(row.get("email"), _LONGEST) or "?", points=got))
    return tuple(found)


def standings(facts: Mapping[str, object]) -> tuple[Standing, ...]:
    """The table in a round's or a season's record."""
    found = []
    for row in mappings(facts.get("standings") or facts.get("final_standings")):
        rank, total = number(row.get("rank")), number(row.get("total_points"))
        name = of(row.get("display_name"), _LONGEST) or of(row.get("participant_id"), _LONGEST)
        if rank is not None and total is not None:
            found.append(Standing(rank=int(rank), name=name or "?", points=total))
    return tuple(sorted(found, key=lambda row: row.rank))


def points_words(found: Iterable[Points]) -> str:
    """``falcons 3, owls 0``."""
    return ", ".join(f"{each.who} {each.points:g}" for each in found)


def standings_words(rows: Iterable[Standing]) -> str:
    """``1. Falcons 3, 2. Owls 0``."""
    return ", ".join(f"{row.rank}. {row.name} {row.points:g}" for row in rows)


def match_words(match: EndedMatch) -> str:
    """``0101001 completed, points falcons 3, owls 0; winner falcons``."""
    said = f"{match.game_id} {match.ended}"
    if match.points:
        said += f", points {points_words(match.points)}"
    if match.winner:
        return f"{said}; winner {match.winner}"
    return f"{said}; a draw" if match.is_draw else said


def _winners(facts: Mapping[str, object]) -> dict[str, str]:
    return {
        of(row.get("game_id"), _LONGEST): of(row.get("winner_id"), _LONGEST) for row in mappings(facts.get("results"))
    }
