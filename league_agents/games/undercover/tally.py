"""Counting votes, and the result of a count (arena 3.2, check).

Rule: abstentions are not counted, and the order in which votes arrived has no effect.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from league_agents.games.undercover.state import FIRST_BALLOT, How, PlayerId, Reason, Vote, WordRole
from league_agents.kit.draw import Draw

Tally = tuple[tuple[PlayerId, int], ...]


def counted(votes: Iterable[Vote]) -> Tally:
    """Return the votes for each player that received any, in seat order."""
    counts: dict[PlayerId, int] = {}
    for vote in votes:
        if vote.target_id is not None:
            counts[vote.target_id] = counts.get(vote.target_id, 0) + 1
    return tuple(sorted(counts.items()))


def leaders(tally: Tally) -> tuple[PlayerId, ...]:
    """Return the players with the most votes, in seat order."""
    most = max((count for _, count in tally), default=0)
    return tuple(player_id for player_id, count in tally if count == most)


def decided(
    top: Sequence[PlayerId], *, tie: str, ballot: int, seed: int, round_num: int
) -> tuple[How, PlayerId | None]:
    """Return the result of the vote and the eliminated player, if any."""
    if not top:
        return How.NO_VOTES, None
    if len(top) == 1:
        return How.PLURALITY, top[0]
    if tie == "random":
        return How.RANDOM, Draw(seed, f"tie:{round_num}").choice(top)
    if tie == "revote" and ballot == FIRST_BALLOT:
        return How.REVOTE, None
    return How.TIE, None


def verdict(civilians: int, undercover: int, *, is_last_round: bool) -> tuple[WordRole, Reason] | None:
    """Return the winning side and the reason for these numbers of living players; ``None`` if the match goes on."""
    if undercover == 0:
        return WordRole.CIVILIAN, Reason.ALL_UNDERCOVER_OUT
    if undercover >= civilians:
        return WordRole.UNDERCOVER, Reason.PARITY
    if is_last_round:
        return WordRole.UNDERCOVER, Reason.MAX_ROUNDS
    return None
