"""The state of one match: the deal, the descriptions and the votes (arena 3.2).

Rule: each fact is stored once. Derived values (a player's descriptions, the conversation, the metrics) are computed
when needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from msgspec import Struct

from league_agents.games.game import AgentId, ForfeitCause
from league_agents.games.undercover.config import Settings

PlayerId = int
"""The seat, from 1."""


class WordRole(StrEnum):
    """Which of the two words a player has."""

    CIVILIAN = "civilian"
    UNDERCOVER = "undercover"


class RoundPhase(StrEnum):
    """The phases of a round."""

    INIT = "init"
    """Nothing is dealt yet; no state of a match has this phase."""

    DESCRIPTION = "description"
    VOTING = "voting"
    CHECK = "check"
    """All votes are submitted and not yet counted. The game passes through it within one step."""

    END = "end"


class How(StrEnum):
    """The result of a counted vote."""

    PLURALITY = "plurality"
    """One player had the most votes and is out."""

    RANDOM = "random"
    """Several had the most votes; one of them was drawn and is out."""

    TIE = "tie"
    """Several had the most votes; nobody is out."""

    REVOTE = "revote"
    """Several had the most votes; there is one more vote between them."""

    NO_VOTES = "no_votes"
    """Nobody voted for anybody; nobody is out."""


class Reason(StrEnum):
    """Why a match ended."""

    ALL_UNDERCOVER_OUT = "all_undercover_out"
    PARITY = "parity"
    """The living undercover players are at least as many as the living civilians."""

    MAX_ROUNDS = "max_rounds"


class UndercoverPlayer(Struct, frozen=True, kw_only=True):
    """A player's properties that are fixed from the deal to the end."""

    player_id: PlayerId
    agent_id: AgentId
    name: str
    role: WordRole
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """The settings, seats and words fixed before the first description."""

    settings: Settings
    seed: int
    players: tuple[UndercoverPlayer, ...]
    """In seat order."""

    seats: Mapping[AgentId, PlayerId] = field(compare=False)
    words: Mapping[WordRole, str] = field(compare=False)


class Description(Struct, frozen=True, kw_only=True):
    """One description, or a forfeited one."""

    round: int
    player_id: PlayerId
    description: str
    """``""`` for a forfeited one."""

    heard_by: tuple[AgentId, ...] | None
    """Hearers besides the speaker, in seat order; ``None`` if it is public."""

    cause: ForfeitCause | None
    """Why it was forfeited; ``None`` if it was made."""

    key: str
    """Normal form of the text, for finding repeats."""


class Vote(Struct, frozen=True, kw_only=True):
    """One vote."""

    voter_id: PlayerId
    target_id: PlayerId | None
    """``None`` for an abstention."""

    reason: str
    """Visible to the voter and the host until the end."""

    cause: ForfeitCause | None
    """Why it was forfeited; ``None`` if it was cast."""


class Ballot(Struct, frozen=True, kw_only=True):
    """One counted vote of all living players."""

    round: int
    number: int
    """1, or 2 for the revote."""

    votes: tuple[Vote, ...]
    """In seat order of the voters."""

    tally: tuple[tuple[PlayerId, int], ...]
    """Votes for each player that received any, in seat order."""

    how: How
    eliminated: PlayerId | None


class GameState(Struct, frozen=True, kw_only=True):
    """The current state of a match."""

    deal: Deal
    round: int
    phase: RoundPhase
    ballot: int
    """The open or next vote of the round: 1, or 2 for the revote."""

    candidates: tuple[PlayerId, ...]
    """The players who can be voted for in the revote; empty otherwise."""

    living: tuple[PlayerId, ...]
    """In seat order."""

    order: tuple[PlayerId, ...]
    """The speakers of this round, first to last."""

    due: tuple[PlayerId, ...]
    """The players who owe a description or a vote, in order."""

    said: tuple[Description, ...]
    """All descriptions of the match in the order in which they were made."""

    current_votes: tuple[Vote, ...]
    """The open vote, in seat order of the voters."""

    ballots: tuple[Ballot, ...]
    winner: WordRole | None
    reason: Reason | None

    @property
    def eliminated(self) -> tuple[PlayerId, ...]:
        """The eliminated players, in the order of their elimination."""
        return tuple(ballot.eliminated for ballot in self.ballots if ballot.eliminated is not None)


FIRST_BALLOT: Final = 1
REVOTE_BALLOT: Final = 2
