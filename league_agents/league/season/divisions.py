"""Divisions of a league: promotion and relegation between two seasons, and one table over all.

Rule 1: neighbouring divisions exchange the same number of teams, so every division keeps its size and every team is in
exactly one.
Rule 2: the order of a division's table decides. Whether equal teams share a rank is the tie-breaks' business: a league
with promotion ends them by a lot.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

from league_agents.kit.errors import ConfigError
from league_agents.league.season.tie_breaks import TieBreak

T = TypeVar("T")


class Move(StrEnum):
    """Where a team plays in the next season."""

    PROMOTED = "promoted"
    STAYS = "stays"
    RELEGATED = "relegated"


class DivisionPlace(Struct, frozen=True, kw_only=True):
    """Where a division stands in its league."""

    place: int
    """From 0, the highest division."""

    divisions: int
    promoted: int


def check_promotion(sizes: Sequence[int], promoted: int) -> None:
    """Raise ``ConfigError`` unless ``promoted`` teams can be promoted from, and relegated to, each lower division."""
    if promoted and len(sizes) < 2:
        raise ConfigError("promoted", "needs two divisions or more, between which teams are exchanged")
    for place, size in enumerate(sizes):
        leaving = promoted * ((place > 0) + (place < len(sizes) - 1))
        if leaving > size:
            raise ConfigError(
                "promoted", f"is {promoted}: {leaving} teams would leave division {place + 1}, which has {size}"
            )


def moves(of: DivisionPlace, size: int) -> Iterator[Move]:
    """The moves of the teams of a division, from the first of its table to the last."""
    up = of.promoted if of.place > 0 else 0
    down = of.promoted if of.place < of.divisions - 1 else 0
    for rank in range(size):
        yield Move.PROMOTED if rank < up else Move.RELEGATED if rank >= size - down else Move.STAYS


def deciding(tie_breaks: Sequence[TieBreak], promoted: int) -> tuple[TieBreak, ...]:
    """The tie-breaks of a league, which end with a lot where teams are promoted."""
    is_open = promoted > 0 and TieBreak.LOT not in tie_breaks
    return (*tie_breaks, TieBreak.LOT) if is_open else tuple(tie_breaks)


def next_divisions(tables: Sequence[Sequence[T]], promoted: int) -> list[list[T]]:
    """The divisions of the next season, from the tables of the last one, the highest division first.

    In each the teams that were relegated into it come first, then those that stay, then those that were promoted.
    Raises ``ConfigError``.
    """
    check_promotion([len(table) for table in tables], promoted)
    found: list[list[T]] = [[] for _ in tables]
    step = {Move.PROMOTED: -1, Move.STAYS: 0, Move.RELEGATED: 1}
    # The higher division's teams first: those that are relegated from it are before the others of the lower one.
    for place, table in enumerate(tables):
        here = DivisionPlace(place=place, divisions=len(tables), promoted=promoted)
        for team, move in zip(table, moves(here, len(table)), strict=True):
            found[place + step[move]].append(team)
    return found
