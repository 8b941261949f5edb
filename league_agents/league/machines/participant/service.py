"""The league manager's service messages: keep-alive, pause, continue, reset, free text, errors, pings."""

from __future__ import annotations

from datetime import timedelta

from league_agents.kit.values import evolve
from league_agents.league.machines.participant.desk import Desk, GameOrder, Ordered, reply_id, send_reply
from league_agents.league.machines.participant.league_state import League, state_name
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.messages import (
    ConnectivityCall,
    ConnectivityEcho,
    CriticalContinueReply,
    CriticalPauseReply,
    CriticalResetReply,
    ErrorResponse,
    FreeText,
    FreeTextReply,
    KeepAliveReply,
)


def keep_alive(desk: Desk, league: League) -> League:
    """Reply with this participant's state (protocol 4.3.1)."""
    turn = desk.turn
    is_referee = turn.role is Role.REFEREE
    games = ", ".join(desk.open_games[:5])
    reply = KeepAliveReply(
        referee_id=turn.identity.participant_id if is_referee else None,
        player_email=None if is_referee else turn.identity.email,
        machine_state=state_name(league, turn.role, is_in_game=bool(desk.open_games)).value,
        state_detail=f"open: {games}" if games else "no open game",
        message_text="",
        response_timestamp=turn.now,
    )
    return send_reply(
        desk,
        league,
        MessageType.RESPONSE_KEEP_ALIVE,
        reply,
        reply_id(desk, "ka", 6),
        season_id=league.season_id or None,
    )


def pause(desk: Desk, league: League) -> League:
    """Stop everything except league mail (protocol 4.3.2)."""
    turn = desk.turn
    before = state_name(league, turn.role, is_in_game=bool(desk.open_games))
    if league.paused_at is None:
        league = evolve(league, paused_at=turn.now)
        desk.order = Ordered(order=GameOrder.PAUSE)
    reply = CriticalPauseReply(
        previous_state=before.value,
        current_game_state="SAVED" if desk.open_games else "N/A",
        match_id_paused=desk.open_games[0] if desk.open_games else None,
        message_text="",
        response_timestamp=turn.now,
    )
    return send_reply(desk, league, MessageType.CRITICAL_PAUSE_RESPONSE, reply, reply_id(desk, "resp", 8))


def resume(desk: Desk, league: League) -> League:
    """Go on with the remaining times (protocol 4.3.2)."""
    turn = desk.turn
    if league.paused_at is not None:
        paused_for = max(turn.now - league.paused_at, timedelta(0))
        league = evolve(league, paused_at=None)
        desk.order = Ordered(order=GameOrder.CONTINUE, paused_for=paused_for)
    reply = CriticalContinueReply(
        restored_state=state_name(league, turn.role, is_in_game=bool(desk.open_games)).value,
        restored_match_id=desk.open_games[0] if desk.open_games else None,
        message_text="",
        response_timestamp=turn.now,
    )
    return send_reply(desk, league, MessageType.CRITICAL_CONTINUE_RESPONSE, reply, reply_id(desk, "resp", 8))


def reset(desk: Desk, league: League) -> League:
    """Forget the season (protocol 4.3.2)."""
    desk.order = Ordered(order=GameOrder.RESET)
    reply = CriticalResetReply(
        tables_cleared=("games", "assignments"), message_text="", response_timestamp=desk.turn.now
    )
    league = send_reply(desk, league, MessageType.CRITICAL_RESET_RESPONSE, reply, reply_id(desk, "resp", 8))
    # Keep the list of seen messages: an old broadcast that is delivered again must not reopen the season.
    return League(league_id=league.league_id, obeyed=league.obeyed, heard=league.heard, replies=league.replies)


def free_text(desk: Desk, league: League) -> League:
    """Show the text of a free-text broadcast (protocol 4.3.3)."""
    payload = desk.envelope.payload
    assert isinstance(payload, FreeText)
    desk.turn.warn("free_text", f"the league manager says: {payload.message_text}"[:2000])
    if not desk.config.answers_free_text:
        return league
    reply = FreeTextReply(message_text="noted", response_timestamp=desk.turn.now)
    return send_reply(desk, league, MessageType.FREE_TEXT_RESPONSE, reply, reply_id(desk, "resp", 8))


def error_response(desk: Desk, league: League) -> League:
    """Show an error of the league manager. Errors are never answered (protocol 4.3.4)."""
    payload = desk.envelope.payload
    assert isinstance(payload, ErrorResponse)
    text = f"{payload.error_code} about {payload.original_message_type}: {payload.error_message}"
    desk.turn.warn("error_response", f"the league manager answered {text}"[:500])
    return league


def echo(desk: Desk, league: League) -> League:
    """Answer a ping (protocol 4.6)."""
    payload = desk.envelope.payload
    assert isinstance(payload, ConnectivityCall)
    reply = ConnectivityEcho(
        ping_id=payload.ping_id,
        echo_from=desk.turn.identity.email,
        original_timestamp=payload.sent_at,
    )
    return send_reply(desk, league, MessageType.CONNECTIVITY_TEST_ECHO, reply, reply_id(desk, "echo", 8))
