"""A participant's part in a season: registration, assignments, rounds, the end.

Rule: every message is acted on when it arrives, in any state, because mail may be reordered (protocol 5.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from league_agents.games.q21.model import Termination
from league_agents.kit.ids import GameId
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Record
from league_agents.league.machines.participant.desk import Desk, GameOrder, Ordered, reply_id, send_reply
from league_agents.league.machines.participant.league_state import Fixture, League, RegistrationOutcome
from league_agents.league.machines.turn import StepContext
from league_agents.league.wire.address import address_key
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import (
    OWN_ROWS,
    Assignment,
    AssignmentAck,
    AssignmentRole,
    AssignmentTable,
    EndRound,
    EndSeason,
    LeagueCompleted,
    NewRound,
    RegistrationRequest,
    RegistrationResponse,
    RoundResults,
    StandingRow,
)


def start_season(desk: Desk, league: League) -> League:
    """Ask to take part (protocol 4.1.1)."""
    asked, identity = desk.envelope, desk.turn.identity
    season_id = asked.season_id or ""
    if (season_id and season_id != league.season_id) or league.is_completed:
        # Drop the data of another season; a game that is being played goes on.
        league = League(
            league_id=league.league_id,
            obeyed=league.obeyed,
            heard=league.heard,
            replies=league.replies,
            paused_at=league.paused_at,
        )
    league = evolve(
        league,
        season_id=season_id or league.season_id,
        league_id=asked.league_id or league.league_id,
        registration=RegistrationOutcome.REQUESTED,
        registration_reason="",
    )
    is_player = desk.turn.role is Role.PLAYER
    request = RegistrationRequest(
        display_name=identity.display_name or identity.participant_id or identity.email,
        participant_role=desk.turn.role,
        user_id=identity.participant_id if is_player else identity.group_id or identity.participant_id,
        participant_id=identity.participant_id or None,
        group_id=identity.group_id or None,
        understands=(OWN_ROWS,),
    )
    return send_reply(
        desk,
        league,
        MessageType.SEASON_REGISTRATION_REQUEST,
        request,
        reply_id(desk, "sreg", 6),
        season_id=league.season_id or None,
        names_broadcast=False,
    )


def registration_response(desk: Desk, league: League) -> League:
    """Store whether the registration was accepted (protocol 4.1.3)."""
    payload = desk.envelope.payload
    assert isinstance(payload, RegistrationResponse)
    # Match by season, not by correlation id: the deployed league manager sends foreign ids there (protocol 4.1.3).
    if _is_of_another_season(desk, league):
        return league
    league = evolve(
        league,
        season_id=league.season_id or desk.envelope.season_id or "",
        league_id=league.league_id or desk.envelope.league_id or "",
    )
    if payload.is_registered:
        return evolve(league, registration=RegistrationOutcome.ACCEPTED, registration_reason="")
    reason = (payload.reason or payload.message or "no reason given")[:300]
    desk.turn.warn("registration_rejected", f"the league manager rejected the registration: {reason}")
    return evolve(league, registration=RegistrationOutcome.REJECTED, registration_reason=reason)


def _is_of_another_season(desk: Desk, league: League) -> bool:
    season_id = desk.envelope.season_id
    if not season_id or not league.season_id or season_id == league.season_id:
        return False
    kind = desk.envelope.message_type
    desk.turn.warn("other_season", f"{kind.value} is about {season_id[:100]}, this season is {league.season_id[:100]}")
    return True


def assignment_table(desk: Desk, league: League) -> League:
    """Store this participant's games of the season, and acknowledge (protocol 4.1.4)."""
    asked, turn = desk.envelope, desk.turn
    payload = asked.payload
    assert isinstance(payload, AssignmentTable)
    fixtures, own_rows = _own_fixtures(payload.assignments, turn)
    for violation in payload.skipped[:5]:
        turn.warn("unreadable_row", f"assignment table: {violation}"[:300])
    if asked.season_id and league.season_id and asked.season_id != league.season_id:
        league = evolve(league, rounds=(), round_id=None, round_told_at=None, round_lookup=None)
    current = league.current_round
    is_late = current is not None and not league.fixtures_of_round(current)
    league = evolve(
        league,
        season_id=asked.season_id or league.season_id,
        league_id=asked.league_id or league.league_id,
        has_table=True,
        fixtures=fixtures,
        is_completed=False,
    )
    if is_late and current is not None and league.fixtures_of_round(current):
        # The mails were reordered: the round came before the table that names our games in it (protocol 5.2).
        desk.order = Ordered(order=GameOrder.START_ROUND, round_number=current, lookup=league.round_lookup)
    if turn.role is Role.REFEREE:
        ack = AssignmentAck(
            assignments_received=len(fixtures),
            referee_id=turn.identity.participant_id,
            group_id=turn.identity.group_id,
        )
    else:
        ack = AssignmentAck(assignments_received=own_rows, player_email=turn.identity.email)
    return send_reply(
        desk,
        league,
        MessageType.RESPONSE_GROUP_ASSIGNMENT,
        ack,
        reply_id(desk, "assign-ack", 6),
        season_id=league.season_id or None,
        names_broadcast=False,
    )


def _own_fixtures(rows: Sequence[Assignment], turn: StepContext) -> tuple[tuple[Fixture, ...], int]:
    """The games in which this participant has its role, and the number of its rows in the table."""
    own = address_key(turn.identity.email)
    roles = {AssignmentRole.REFEREE} if turn.role is Role.REFEREE else {AssignmentRole.PLAYER1, AssignmentRole.PLAYER2}
    mine: dict[GameId, AssignmentRole] = {}
    for row in rows:
        if row.role in roles and address_key(row.email) == own:
            mine.setdefault(row.game_id, row.role)
    found: dict[GameId, dict[AssignmentRole, Assignment]] = {game_id: {} for game_id in mine}
    for row in rows:
        if row.game_id in found:
            found[row.game_id].setdefault(row.role, row)
    fixtures = []
    for game_id, own_role in mine.items():
        game = found[game_id]
        one, two = game.get(AssignmentRole.PLAYER1), game.get(AssignmentRole.PLAYER2)
        referee = game.get(AssignmentRole.REFEREE)
        if one is None or two is None or referee is None:
            turn.warn("incomplete_game", f"the assignment table has not all three rows of game {game_id}")
            if turn.role is Role.REFEREE:
                continue
        fixtures.append(
            Fixture(
                game_id=game_id,
                own_role=own_role,
                referee_email=referee.email if referee else "",
                player1_email=one.email if one else "",
                player1_group=one.group_id if one else "",
                player2_email=two.email if two else "",
                player2_group=two.group_id if two else "",
            )
        )
    return tuple(sorted(fixtures, key=lambda fixture: fixture.game_id)), len(mine)


def new_round(desk: Desk, league: League) -> League:
    """Start a round, unless it was started before (protocol 4.2.1)."""
    asked = desk.envelope
    payload = asked.payload
    assert isinstance(payload, NewRound)
    number = payload.round_number
    if number in league.rounds:
        desk.turn.warn("round_known", f"round {number} was started before; nothing is started again")
        return league
    current = league.current_round
    if current is not None and number < current and _is_older(asked.timestamp, league.round_told_at):
        desk.turn.warn("past_round", f"round {number} was announced before round {current}, and came after it")
        return evolve(league, rounds=(*league.rounds[:-1], number, current))
    if not league.fixtures_of_round(number):
        if league.fixtures:
            desk.turn.notice("bye", f"round {number} is a bye: it has no game for this participant")
        else:
            desk.turn.warn("no_own_game", f"round {number} starts, and no assignment table named a game of ours yet")
    desk.order = Ordered(order=GameOrder.START_ROUND, round_number=number, lookup=payload.participant_lookup_table)
    return evolve(
        league,
        season_id=league.season_id or asked.season_id or "",
        league_id=league.league_id or asked.league_id or "",
        rounds=(*league.rounds, number),
        round_id=asked.round_id,
        round_told_at=asked.timestamp,
        round_lookup=payload.participant_lookup_table,
        is_completed=league.is_completed and not league.fixtures_of_round(number),
    )


def _is_older(one: datetime | None, other: datetime | None) -> bool:
    return one is not None and other is not None and one <= other


def end_round(desk: Desk, league: League) -> League:
    """End a round (protocol 4.2.2)."""
    payload = desk.envelope.payload
    assert isinstance(payload, EndRound)
    desk.order = Ordered(order=GameOrder.END_ROUND, round_number=payload.round_number)
    return league


def end_season(desk: Desk, league: League) -> League:
    """End the season (protocol 4.2.4, 4.2.5)."""
    if _is_of_another_season(desk, league):
        return league
    payload = desk.envelope.payload
    rows = payload.final_standings if isinstance(payload, LeagueCompleted | EndSeason) else ()
    if not league.is_completed:
        season_id = desk.envelope.season_id or league.season_id
        facts = {"season_id": season_id, "final_standings": [_standing(row) for row in rows]}
        _record(desk.turn, "season", season_id, facts)
    desk.order = Ordered(order=GameOrder.END_SEASON)
    return evolve(league, is_completed=True)


def round_results(desk: Desk, league: League) -> League:
    """Record results and standings (protocol 4.2.3)."""
    payload = desk.envelope.payload
    assert isinstance(payload, RoundResults)
    facts: dict[str, object] = {
        "season_id": desk.envelope.season_id or league.season_id,
        "round_number": payload.round_number,
        "results": [
            {
                "game_id": row.game_id,
                "winner_id": row.winner_id,
                "player1_score": row.player1_score,
                "player2_score": row.player2_score,
                "status": row.status,
            }
            for row in payload.results
        ],
        "standings": [_standing(row) for row in payload.standings],
    }
    if payload.whole is not None:
        facts["whole"] = {"rows": payload.whole.rows, "digest": payload.whole.digest}
    _record(desk.turn, "round", "" if payload.round_number is None else str(payload.round_number), facts)
    return league


def _standing(row: StandingRow) -> dict[str, object]:
    return {
        "rank": row.rank,
        "participant_id": row.participant_id,
        "display_name": row.display_name,
        "total_points": row.total_points,
        "games_played": row.games_played,
        "games_won": row.games_won,
    }


def _record(turn: StepContext, kind: str, key: str, facts: Mapping[str, object]) -> None:
    turn.effects.append(Record(kind=kind, key=key, termination=Termination.COMPLETED, facts=facts))
