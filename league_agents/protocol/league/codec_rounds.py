"""Rounds and the season's end: how their payloads are read and written (protocol 4.2).

Rule: a round broadcast without a round number is unusable; results and standings are news, and what cannot be read of
them is left out.
"""

from __future__ import annotations

from league_agents.ids import read_game_id
from league_agents.protocol.league.address import read_address
from league_agents.protocol.league.codec_opening import MOST_ASSIGNMENTS
from league_agents.protocol.league.envelope import Envelope
from league_agents.protocol.league.messages import (
    BrokenPayload,
    EndRound,
    EndSeason,
    LeagueCompleted,
    MatchResultRow,
    NewRound,
    RoundResults,
    StandingRow,
)
from league_agents.protocol.league.reading import (
    Fields,
    broken,
    first_id,
    first_of,
    flag_of,
    id_of,
    instant_of,
    integer_of,
    list_of,
    number_of,
    object_of,
    text_of,
)
from league_agents.protocol.league.writing import Document, present, refuse, stamp_or_none, whole
from league_agents.values import maker

_new_standing_row = maker(StandingRow)

MOST_ROUNDS = 99
"""Two digits of a game id."""


def read_new_round(fields: Fields) -> NewRound | BrokenPayload:
    stated = first_of(fields, "round_number", "round_starting")
    number = integer_of(stated, 1, MOST_ROUNDS)
    if number is None:
        return broken("round_number", f"a number from 1 to {MOST_ROUNDS}", stated)
    # A table that is no list says nothing about anybody: everybody counts as present, as without one (protocol 5.4).
    table = list_of(fields.get("participant_lookup_table"), MOST_ASSIGNMENTS)
    return NewRound(
        round_number=number,
        round_ended=integer_of(fields.get("round_ended"), 0, MOST_ROUNDS),
        total_rounds=integer_of(fields.get("total_rounds"), 0),
        is_final_round=flag_of(fields.get("is_final_round")),
        scheduled_start=instant_of(fields.get("scheduled_start")),
        participant_lookup_table=None
        if table is None
        else tuple(address for item in table if (address := read_address(item)) is not None),
        message_text=text_of(fields.get("message_text")),
    )


def write_new_round(payload: NewRound, envelope: Envelope) -> Document:
    _check_round(payload.round_number, envelope)
    document = present(
        broadcast_id=envelope.broadcast_id,
        league_id=envelope.league_id,
        season_id=envelope.season_id,
        round_id=envelope.round_id,
        round_number=payload.round_number,
        round_starting=payload.round_number,
    )
    document["round_ended"] = payload.round_ended
    document |= present(total_rounds=payload.total_rounds, is_final_round=payload.is_final_round)
    document["scheduled_start"] = stamp_or_none(payload.scheduled_start)
    if payload.participant_lookup_table is not None:
        document["participant_lookup_table"] = list(payload.participant_lookup_table)
    return document | present(message_text=payload.message_text)


def read_end_round(fields: Fields) -> EndRound | BrokenPayload:
    number = integer_of(fields.get("round_number"), 1, MOST_ROUNDS)
    if number is None:
        return broken("round_number", f"a number from 1 to {MOST_ROUNDS}", fields.get("round_number"))
    return EndRound(round_number=number, message_text=text_of(fields.get("message_text")))


def write_end_round(payload: EndRound, envelope: Envelope) -> Document:
    _check_round(payload.round_number, envelope)
    return present(
        broadcast_id=envelope.broadcast_id,
        season_id=envelope.season_id,
        round_number=payload.round_number,
        round_id=envelope.round_id,
        message_text=payload.message_text,
    )


def _check_round(number: int, envelope: Envelope) -> None:
    if envelope.round_id is None:
        raise refuse(envelope, "it needs a round_id")
    if not 1 <= number <= MOST_ROUNDS:
        raise refuse(envelope, f"the round must be from 1 to {MOST_ROUNDS}, not {number}")


def read_round_results(fields: Fields) -> RoundResults:
    return RoundResults(
        round_number=integer_of(fields.get("round_number"), 1, MOST_ROUNDS),
        results=tuple(
            MatchResultRow(
                game_id=read_game_id(first_of(row, "game_id", "match_id")),
                winner_id=id_of(row.get("winner_id")),
                player1_score=number_of(row.get("player1_score")),
                player2_score=number_of(row.get("player2_score")),
                status=id_of(row.get("status")),
            )
            for item in list_of(fields.get("results")) or ()
            if (row := object_of(item)) is not None
        ),
        standings=read_standings(fields.get("standings")),
        message_text=text_of(fields.get("message_text")),
    )


def write_round_results(payload: RoundResults, envelope: Envelope) -> Document:
    results: list[Document] = []
    for row in payload.results:
        if row.game_id is None:
            raise refuse(envelope, "a result needs its game_id")
        written: Document = {"match_id": row.game_id, "game_id": row.game_id}
        written |= present(status=row.status)
        written["winner_id"] = row.winner_id
        written |= present(player1_score=whole(row.player1_score), player2_score=whole(row.player2_score))
        results.append(written)
    return present(
        broadcast_id=envelope.broadcast_id,
        season_id=envelope.season_id,
        round_id=envelope.round_id,
        round_number=payload.round_number,
        results=results,
        standings=[write_standing(row, with_total_score=True) for row in payload.standings],
        message_text=payload.message_text,
    )


def read_standings(value: object) -> tuple[StandingRow, ...]:
    """The rows that name a participant; a missing rank is the position."""
    rows: list[StandingRow] = []
    for position, item in enumerate(list_of(value) or (), start=1):
        row = object_of(item)
        participant = first_id(row, "participant_id", "player_id", "group_id", "email") if row is not None else None
        if row is None or participant is None:
            continue
        points = number_of(first_of(row, "total_points", "points", "total_score"))
        rows.append(
            _new_standing_row(
                rank=integer_of(row.get("rank"), 1) or position,
                participant_id=participant,
                display_name=first_id(row, "display_name") or participant,
                total_points=0.0 if points is None else points,
                group_id=id_of(row.get("group_id")),
                email=read_address(row.get("email")),
                games_played=integer_of(row.get("games_played"), 0),
                games_won=integer_of(row.get("games_won"), 0),
            )
        )
    return tuple(rows)


def write_standing(row: StandingRow, *, with_total_score: bool) -> Document:
    """One row; ``total_score`` is what the older player client reads in round results (protocol 4.2.3)."""
    return present(
        rank=row.rank,
        participant_id=row.participant_id,
        group_id=row.group_id,
        email=row.email,
        display_name=row.display_name,
        total_points=whole(row.total_points),
        total_score=whole(row.total_points) if with_total_score else None,
        games_played=row.games_played,
        games_won=row.games_won,
    )


def read_end_season(fields: Fields) -> EndSeason:
    return EndSeason(
        season_name=text_of(fields.get("season_name")),
        final_standings=read_standings(fields.get("final_standings")),
        message_text=text_of(fields.get("message_text")),
    )


def write_end_season(payload: EndSeason, envelope: Envelope) -> Document:
    return present(
        broadcast_id=envelope.broadcast_id,
        season_id=envelope.season_id,
        season_name=payload.season_name,
        final_standings=[write_standing(row, with_total_score=False) for row in payload.final_standings],
        message_text=payload.message_text,
    )


def read_league_completed(fields: Fields) -> LeagueCompleted:
    return LeagueCompleted(
        final_standings=read_standings(first_of(fields, "final_standings", "standings")),
        message_text=text_of(fields.get("message_text")),
    )


def write_league_completed(payload: LeagueCompleted, envelope: Envelope) -> Document:
    if not payload.final_standings:
        raise refuse(envelope, "it needs at least one row of final standings")
    return present(
        broadcast_id=envelope.broadcast_id,
        season_id=envelope.season_id,
        final_standings=[write_standing(row, with_total_score=False) for row in payload.final_standings],
        message_text=payload.message_text,
    )
