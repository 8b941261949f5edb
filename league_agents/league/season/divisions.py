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

from league_agents.kit.errors import ConfigError

T = TypeVar("T")


class Move(StrEnum):
    """Where a team plays in the next season."""

    PROMOTED = "promoted"
    STAYS = "stays"
    RELEGATED = "relegated"


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


def moves(place: int, divisions: int, size: int, promoted: int) -> Iterator[Move]:
    """The moves of the teams of a division, from the first of its table to the last. ``place`` counts from 0."""
    up = promoted if place > 0 else 0
    down = promoted if place < divisions - 1 else 0
    for rank in range(size):
        yield Move.PROMOTED if rank < up else Move.RELEGATED if rank >= size - down else Move.STAYS


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
        for team, move in zip(table, moves(place, len(tables), len(table), promoted), strict=True):
            found[place + step[move]].append(team)
    return found
