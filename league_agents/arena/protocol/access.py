"""Access checks: which seat of which match a token opens.

Rule: a seat belongs to one match. A token for it opens no other match, not even one with a seat of the same name.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from league_agents.arena.protocol.hosting import Hosted, HostedSeat, is_spectator
from league_agents.arena.protocol.refusals import Refused
from league_agents.arena.protocol.requests import RequestHeading


class Principal(Struct, frozen=True, kw_only=True):
    """The seats and accounts that the tokens of one sender open. A sender without tokens can only watch."""

    seats: frozenset[tuple[str, str]] = frozenset()
    """``(match_id, agent_id)``: seats whose own token the sender has."""

    accounts: frozenset[str] = frozenset()
    """Agent ids that the sender may use in the lobby, and in the matches that it joined from there. They do not open a
    seat of the same name that another sender took."""

    @classmethod
    def of_seat(cls, match_id: str, agent_id: str) -> Principal:
        """The principal of a token for one seat."""
        return cls(seats=frozenset({(match_id, agent_id)}))

    def __or__(self, other: Principal) -> Principal:
        return Principal(seats=self.seats | other.seats, accounts=self.accounts | other.accounts)

    def __bool__(self) -> bool:
        return bool(self.seats or self.accounts)


NOBODY: Final = Principal()


def check_token(heading: RequestHeading, principal: Principal, *, in_lobby: bool = False) -> None:
    """Raise ``Refused`` unless the sender may use the agent id of the heading. Spectators need no token."""
    agent_id = heading.agent_id
    if is_spectator(agent_id):
        return
    if not principal:
        raise Refused("unauthorized", "no valid token came with the request; join the match to get one")
    if agent_id in principal.accounts:
        return
    if in_lobby:
        is_own = any(agent_id == own for _, own in principal.seats)
    else:
        is_own = (heading.match_id, agent_id) in principal.seats
    if not is_own:
        raise Refused("forbidden", "Unauthorized action: the token is another agent's, or another match's")


def check_membership(hosted: Hosted, heading: RequestHeading, principal: Principal, *, acts: bool) -> None:
    """Raise ``Refused`` unless the agent takes part in this match and belongs to the sender."""
    agent_id = heading.agent_id
    if is_spectator(agent_id):
        if acts:
            raise Refused("not_in_match", "spectators watch; take a seat to act")
        if not hosted.is_open:
            raise closed_to_spectators()
        return
    seat = hosted.seat_of(agent_id)
    if seat is None or not seat.is_taken:
        raise Refused("not_in_match", f"{agent_id} has no seat in this match")
    if not speaks_for(principal, hosted, seat):
        raise Refused("forbidden", "Unauthorized action: the seat is somebody else's")


def speaks_for(principal: Principal, hosted: Hosted, seat: HostedSeat) -> bool:
    """Whether the seat belongs to the sender."""
    if (hosted.match_id, seat.agent_id) in principal.seats:
        return True
    return seat.by_account and seat.agent_id in principal.accounts


def closed_to_spectators() -> Refused:
    """The refusal for a match that is closed to spectators."""
    return Refused("forbidden", "this match is not open to spectators")
