"""The state of the league as a participant stores it.

Rule: the data decide, never the state's name (protocol 5.2 and 5.5). The name is derived from the data for display.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import ClassVar

from msgspec import Struct

from league_agents.kit.ids import GameId
from league_agents.league.machines.stored import load, rejoined
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import Role
from league_agents.league.wire.messages import (
    AssignmentRole,
)


class RegistrationOutcome(StrEnum):
    """The outcome of the request to take part."""

    NONE = "none"
    REQUESTED = "requested"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class LeagueState(StrEnum):
    """The names of the states, as keep-alive replies show them (protocol 5.2 and 5.5)."""

    INIT_START_STATE = "INIT_START_STATE"
    WAITING_FOR_CONFIRMATION = "WAITING_FOR_CONFIRMATION"
    WAITING_FOR_ASSIGNMENT = "WAITING_FOR_ASSIGNMENT"
    """A referee that is registered."""
    REGISTERED = "REGISTERED"
    """A player that is registered."""
    SEASON_REJECTED = "SEASON_REJECTED"
    """A player that was rejected; a rejected referee is in the initial state."""
    RUNNING = "RUNNING"
    """A referee that has games to judge."""
    ASSIGNED = "ASSIGNED"
    """A player that has the assignment table."""
    IN_GAME = "IN_GAME"
    COMPLETED = "COMPLETED"
    PAUSED = "PAUSED"


class Fixture(Struct, frozen=True, kw_only=True):
    """One game of the assignment table in which this participant has a role."""

    game_id: GameId
    own_role: AssignmentRole
    referee_email: str
    player1_email: str
    player1_group: str
    player2_email: str
    player2_group: str
    """Group ids and addresses are empty texts if the table lacks a row or a group."""


_game_id_of = attrgetter("game_id")


class StoredReply(Struct, frozen=True, kw_only=True):
    """A reply to the league manager that can be sent again."""

    key: str
    """The key of the message that it answered."""

    envelope: Envelope
    repeats: int = 0


class League(Struct, frozen=True, kw_only=True):
    """A participant's data on its league."""

    APART: ClassVar[tuple[str, ...]] = ("fixtures", "obeyed", "heard", "replies")

    season_id: str = ""
    league_id: str = ""
    registration: RegistrationOutcome = RegistrationOutcome.NONE
    registration_reason: str = ""
    has_table: bool = False
    fixtures: tuple[Fixture, ...] = ()
    """This participant's games, in the order of their ids."""

    rounds: tuple[int, ...] = ()
    """The rounds of this season that were started, in order of their start; the last one is the current round."""

    round_id: str | None = None
    round_told_at: datetime | None = None
    """The timestamp of the current round's broadcast; ``None`` if it states none."""

    round_lookup: tuple[str, ...] | None = None
    """The addresses that the current round's broadcast lists as present; ``None`` if all are."""

    is_completed: bool = False
    paused_at: datetime | None = None
    """The start of the pause; ``None`` if the league is not paused."""

    obeyed: tuple[str, ...] = ()
    """The orders of the league manager that were obeyed last. Orders open and close rounds, pause and reset."""

    heard: tuple[str, ...] = ()
    """The other messages of the league manager that were handled last."""

    replies: tuple[StoredReply, ...] = ()

    @property
    def current_round(self) -> int | None:
        """The number of the current round; ``None`` before the first round."""
        return self.rounds[-1] if self.rounds else None

    def fixture(self, game_id: str) -> Fixture | None:
        """The fixture of a game; ``None`` if this participant has no role in it."""
        place = bisect_left(self.fixtures, game_id, key=_game_id_of)
        found = self.fixtures[place] if place < len(self.fixtures) else None
        return found if found is not None and found.game_id == game_id else None

    def fixtures_of_round(self, round_number: int) -> tuple[Fixture, ...]:
        """This participant's games of a round."""
        fixtures, digits = self.fixtures, f"{round_number:02d}"
        if not fixtures or fixtures[0].game_id[:2] != fixtures[-1].game_id[:2]:
            return tuple([fixture for fixture in fixtures if fixture.game_id[2:4] == digits])
        # Bisect, because a season may have many fixtures and every round asks for its own. They are sorted by id.
        start = fixtures[0].game_id[:2] + digits
        first, end = (bisect_left(fixtures, text, key=_game_id_of) for text in (start, f"{start}:"))  # ":" follows "9"
        return fixtures[first:end]


def load_league(parts: Mapping[str, str]) -> League:
    """The league from the part ``league`` and its separate parts. Raises ``JournalError`` when one cannot be read."""
    league: League = load(League, parts["league"], "league") if "league" in parts else League()
    return rejoined(league, parts, "league")


def state_name(league: League, role: Role, *, is_in_game: bool) -> LeagueState:
    """The name of the state, derived from the data."""
    is_referee = role is Role.REFEREE
    if league.paused_at is not None:
        return LeagueState.PAUSED
    if league.is_completed:
        return LeagueState.COMPLETED
    if is_in_game:
        return LeagueState.IN_GAME
    if is_referee and league.fixtures:
        return LeagueState.RUNNING
    if not is_referee and league.has_table:
        return LeagueState.ASSIGNED
    if league.registration is RegistrationOutcome.ACCEPTED:
        return LeagueState.WAITING_FOR_ASSIGNMENT if is_referee else LeagueState.REGISTERED
    if league.registration is RegistrationOutcome.REQUESTED:
        return LeagueState.WAITING_FOR_CONFIRMATION
    if league.registration is RegistrationOutcome.REJECTED and not is_referee:
        return LeagueState.SEASON_REJECTED
    return LeagueState.INIT_START_STATE
