"""Rounds and the season's end (protocol 4.2).

Rule: a round broadcast without a round number is unusable; results and standings are news, and what cannot be read of
them is left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from msgspec import Struct

from league_agents.kit.ids import GameId
from league_agents.league.wire.address import read_address
from league_agents.league.wire.declare import (
    ADDRESS,
    BROADCAST_ID,
    FLAG,
    ID,
    INSTANT,
    LEAGUE_ID,
    POINTS,
    ROUND_ID,
    SEASON_ID,
    TEXT,
    each,
    integer,
    message,
    rows,
    why_out_of_range,
    wire,
)
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages.opening import GAME_ID, MOST_ASSIGNMENTS
from league_agents.league.wire.messages.whole import WHOLE, WholeTable
from league_agents.league.wire.payload import LeagueMessage

MOST_ROUNDS = 99
"""Two digits of a game id."""

ROUND = integer(1, MOST_ROUNDS)


@message(MessageType.BROADCAST_NEW_LEAGUE_ROUND, id_word="newround", is_core=True, names_season=True)
class NewRound(LeagueMessage, frozen=True, kw_only=True):
    """A round begins. The round id is the envelope's."""

    broadcast_id: ClassVar = BROADCAST_ID
    league_id: ClassVar = LEAGUE_ID
    season_id: ClassVar = SEASON_ID
    round_id: ClassVar = ROUND_ID
    round_number: Annotated[
        int,
        wire(
            ROUND,
            "round_number",
            "round_starting",
            written_as=("round_number", "round_starting"),
            is_required=True,
        ),
    ]
    """From 1."""

    round_ended: Annotated[int | None, wire(integer(0, MOST_ROUNDS), none_as=None)] = None
    """The round before; ``None`` for the first or when not stated."""

    total_rounds: Annotated[int | None, wire(integer(0))] = None
    is_final_round: Annotated[bool | None, wire(FLAG)] = None
    scheduled_start: Annotated[datetime | None, wire(INSTANT, none_as=None)] = None

    # A table that is no list says nothing about anybody: everybody counts as present, as without one (protocol 5.4).
    participant_lookup_table: Annotated[tuple[str, ...] | None, wire(each(read_address, most=MOST_ASSIGNMENTS))] = None
    """The addresses that are considered present. ``None``: no table, everybody is; ``()``: nobody is (5.4)."""

    message_text: Annotated[str | None, wire(TEXT)] = None

    def refusal(self) -> str | None:
        return why_out_of_range("the round", self.round_number, 1, MOST_ROUNDS)


@message(MessageType.BROADCAST_END_LEAGUE_ROUND, id_word="endround", names_season=True)
class EndRound(LeagueMessage, frozen=True, kw_only=True):
    """A round is over."""

    broadcast_id: ClassVar = BROADCAST_ID
    season_id: ClassVar = SEASON_ID
    round_number: Annotated[int, wire(ROUND, is_required=True)]
    round_id: ClassVar = ROUND_ID
    message_text: Annotated[str | None, wire(TEXT)] = None

    def refusal(self) -> str | None:
        return why_out_of_range("the round", self.round_number, 1, MOST_ROUNDS)


class MatchResultRow(Struct, frozen=True, kw_only=True):
    """One match in ``RoundResults``."""

    game_id: Annotated[
        GameId | None, wire(GAME_ID, "game_id", "match_id", written_as=("match_id", "game_id"), none_as=None)
    ]
    """``None`` when a received row names no seven-digit id."""

    status: Annotated[str | None, wire(ID)] = None
    winner_id: Annotated[str | None, wire(ID, none_as=None)]
    """``None``: a draw, or nobody won."""

    player1_score: Annotated[float | None, wire(POINTS)]
    player2_score: Annotated[float | None, wire(POINTS)]
    """League points."""


class StandingRow(Struct, frozen=True, kw_only=True):
    """One line of the standings."""

    rank: Annotated[int, wire(integer(1), absent=lambda _, position: position)]
    """A received row without one has its position."""

    participant_id: Annotated[str, wire(ID, "participant_id", "player_id", "group_id", "email", is_required=True)]
    """The player's group id (1.2)."""

    group_id: Annotated[str | None, wire(ID)] = None
    email: Annotated[str | None, wire(ADDRESS)] = None
    display_name: Annotated[str, wire(ID, absent=lambda row, _: row["participant_id"])]
    total_points: Annotated[
        float,
        wire(
            POINTS,
            "total_points",
            "points",
            "total_score",
            written_as=("total_points", "total_score"),
            absent=0.0,
        ),
    ]
    games_played: Annotated[int | None, wire(integer(0))] = None
    games_won: Annotated[int | None, wire(integer(0))] = None


_FINAL_STANDINGS = rows(StandingRow, without=("total_score",))
"""``total_score`` is what the older player client reads, and only in round results (protocol 4.2.3)."""


@message(MessageType.BROADCAST_ROUND_RESULTS, id_word="results", names_season=True)
class RoundResults(LeagueMessage, frozen=True, kw_only=True):
    """The results of a round, and the standings after it."""

    broadcast_id: ClassVar = BROADCAST_ID
    season_id: ClassVar = SEASON_ID
    round_id: ClassVar = ROUND_ID
    round_number: Annotated[int | None, wire(ROUND)]
    results: Annotated[tuple[MatchResultRow, ...], wire(rows(MatchResultRow))]
    standings: Annotated[tuple[StandingRow, ...], wire(rows(StandingRow))]
    message_text: Annotated[str | None, wire(TEXT)] = None
    whole: Annotated[WholeTable | None, wire(WHOLE)] = None
    """The standings of which these are the receiver's rows; ``None``: these are all rows and all results."""

    def refusal(self) -> str | None:
        return "a result needs its game_id" if any(row.game_id is None for row in self.results) else None


@message(MessageType.BROADCAST_END_SEASON, names_season=True)
class EndSeason(LeagueMessage, frozen=True, kw_only=True):
    """The season is over."""

    broadcast_id: ClassVar = BROADCAST_ID
    season_id: ClassVar = SEASON_ID
    season_name: Annotated[str | None, wire(TEXT)] = None
    final_standings: Annotated[tuple[StandingRow, ...], wire(_FINAL_STANDINGS)] = ()
    message_text: Annotated[str | None, wire(TEXT)] = None


@message(MessageType.LEAGUE_COMPLETED, id_word="completed", is_core=True, names_season=True)
class LeagueCompleted(LeagueMessage, frozen=True, kw_only=True):
    """The league is over."""

    broadcast_id: ClassVar = BROADCAST_ID
    season_id: ClassVar = SEASON_ID
    final_standings: Annotated[tuple[StandingRow, ...], wire(_FINAL_STANDINGS, "final_standings", "standings")]
    """Received, it may be empty."""

    message_text: Annotated[str | None, wire(TEXT)] = None

    def refusal(self) -> str | None:
        return None if self.final_standings else "it needs at least one row of final standings"
