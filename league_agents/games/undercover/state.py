"""The state of one match: what was dealt, what was said, how all voted (arena 3.2).

Rule: each fact stands here once. What can be counted from it (a player's descriptions, the conversation, the metrics)
is counted where it is wanted.
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
    """What a round goes through."""

    INIT = "init"
    """Nothing is dealt yet; no state of a match is in it."""

    DESCRIPTION = "description"
    VOTING = "voting"
    CHECK = "check"
    """All votes are in and not yet counted. The game passes through it within one step."""

    END = "end"


class How(StrEnum):
    """What a counted vote led to."""

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
    """What a player is from the deal to the end."""

    player_id: PlayerId
    agent_id: AgentId
    name: str
    role: WordRole
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """What is settled before anybody speaks."""

    settings: Settings
    seed: int
    players: tuple[UndercoverPlayer, ...]
    """In seat order."""

    seats: Mapping[AgentId, PlayerId] = field(compare=False)
    words: Mapping[WordRole, str] = field(compare=False)


class Description(Struct, frozen=True, kw_only=True):
    """One description, or the silence in its place."""

    round: int
    player_id: PlayerId
    description: str
    """``""`` for a forfeited one."""

    heard_by: tuple[AgentId, ...] | None
    """Who heard it besides the speaker, in seat order; ``None`` when it is public."""

    cause: ForfeitCause | None
    """Why it was forfeited; ``None`` when it was made."""

    key: str
    """What repeats are found by."""


class Vote(Struct, frozen=True, kw_only=True):
    """One vote."""

    voter_id: PlayerId
    target_id: PlayerId | None
    """``None`` for an abstention."""

    reason: str
    """For the voter and the host until the end."""

    cause: ForfeitCause | None
    """Why it was forfeited; ``None`` when it was cast."""


class Ballot(Struct, frozen=True, kw_only=True):
    """One vote of all the living, counted."""

    round: int
    number: int
    """1, or 2 for the revote."""

    votes: tuple[Vote, ...]
    """In seat order of the voters."""

    tally: tuple[tuple[PlayerId, int], ...]
    """Votes of each player that had one, in seat order."""

    how: How
    eliminated: PlayerId | None


class GameState(Struct, frozen=True, kw_only=True):
    """Where a match stands."""

    deal: Deal
    round: int
    phase: RoundPhase
    ballot: int
    """Which vote of the round is open or comes next: 1, or 2 for the revote."""

    candidates: tuple[PlayerId, ...]
    """Between whom the revote decides; empty otherwise."""

    living: tuple[PlayerId, ...]
    """In seat order."""

    order: tuple[PlayerId, ...]
    """Who speaks in this round, first to last."""

    due: tuple[PlayerId, ...]
    """Who owes a description or a vote, in order."""

    said: tuple[Description, ...]
    """All descriptions of the match as they were made."""

    current_votes: tuple[Vote, ...]
    """The open vote, in seat order of the voters."""

    ballots: tuple[Ballot, ...]
    winner: WordRole | None
    reason: Reason | None

    @property
    def eliminated(self) -> tuple[PlayerId, ...]:
        """Who is out, in the order in which they went."""
        return tuple(ballot.eliminated for ballot in self.ballots if ballot.eliminated is not None)


FIRST_BALLOT: Final = 1
REVOTE_BALLOT: Final = 2
