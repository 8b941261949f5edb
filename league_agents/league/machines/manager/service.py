"""Pause, continue, reset, keep-alive and free text (protocol 4.3), and members' messages that need no answer.

Rule: during a pause the season does not advance and no deadline runs; arriving mail is still processed. Afterwards each
deadline has the time left that it had before.
"""

from __future__ import annotations

from league_agents.games.q21.model import Termination
from league_agents.kit.values import evolve
from league_agents.kit.violation import shown
from league_agents.league.machines.events import Command
from league_agents.league.machines.manager.broadcasts import SeasonTurn, broadcast
from league_agents.league.machines.manager.opening import RosterLetter
from league_agents.league.machines.manager.records import record_open_games
from league_agents.league.machines.manager.round_results import record_season
from league_agents.league.machines.manager.state import ManagerState, ReplyRound, SeasonPhase, initial_state
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    CriticalContinue,
    CriticalPause,
    CriticalReset,
    ErrorResponse,
    FreeText,
    KeepAlive,
    Payload,
)


def pause(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Pause the league. During a pause, only repeat the broadcast."""
    payload = CriticalPause(reason=turn.command_text or "paused by the organiser")
    state = _ask(turn, state, MessageType.BROADCAST_CRITICAL_PAUSE, payload)
    if state.season.paused_at is not None:
        return state
    turn.stop_timers(state.season.timers)
    return evolve(state, season=evolve(state.season, paused_at=turn.now))


def go_on_after_pause(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Continue after a pause. Without a pause, only send the broadcast."""
    payload = CriticalContinue(message_text=turn.command_text or None)
    state = _ask(turn, state, MessageType.BROADCAST_CRITICAL_CONTINUE, payload)
    season = state.season
    if season.paused_at is None:
        return state
    paused_for = turn.now - season.paused_at
    deadline = season.registration_deadline
    if deadline is not None and season.phase is SeasonPhase.REGISTRATION:
        deadline += paused_for
    timers = turn.resume_timers(season.timers, paused_for)
    turn.is_paused = False
    season = evolve(season, paused_at=None, timers=timers, registration_deadline=deadline)
    return evolve(state, season=season)


def reset(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Forget the season. Open games end without a report (protocol 4.3.2). A season that has begun needs a reason."""
    if state.season.phase is not SeasonPhase.SETUP and not turn.command_text.strip():
        said = f"the season has begun ({state.season.label}), and would be dropped; it needs a reason: --why '…'"
        turn.warn("command_refused", f"{Command.RESET.word}: {said}")
        return state
    payload = CriticalReset(reason=turn.command_text or "reset by the organiser")
    _ask(turn, state, MessageType.BROADCAST_CRITICAL_RESET, payload)
    turn.clear_timers(state.season.timers)
    if state.season.phase is not SeasonPhase.SETUP:
        record_open_games(turn, state)
        record_season(turn, state, Termination.RESET)
    return initial_state(turn.config, turn.roster, state.season.resets + 1)


def keep_alive(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Broadcast a keep-alive request."""
    payload = KeepAlive(message_text=turn.command_text or None)
    return _ask(turn, state, MessageType.BROADCAST_KEEP_ALIVE, payload)


def free_text(turn: SeasonTurn, state: ManagerState) -> ManagerState:
    """Broadcast a free text."""
    if not turn.command_text:
        turn.warn("command_refused", f"{Command.FREE_TEXT.word}: there is no text")
        return state
    return _ask(turn, state, MessageType.BROADCAST_FREE_TEXT, FreeText(message_text=turn.command_text))


def _ask(turn: SeasonTurn, state: ManagerState, kind: MessageType, payload: Payload) -> ManagerState:
    """Broadcast to the whole roster, and start to collect replies."""
    nonce = turn.command.nonce if turn.command is not None else ""
    broadcast_id = broadcast(turn, state, kind, payload, turn.roster.members, about=nonce)
    is_keep_alive = kind is MessageType.BROADCAST_KEEP_ALIVE
    return evolve(state, inquiry=ReplyRound(broadcast_id=broadcast_id, asked_at=turn.now, is_keep_alive=is_keep_alive))


def replied(_turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """Record a member's reply. The deployed referee does not state which keep-alive it answers (protocol 4.3.1)."""
    inquiry, envelope, email = state.inquiry, letter.envelope, letter.member.email
    if inquiry is None or email in inquiry.replied:
        return state
    stated = {envelope.broadcast_id, envelope.correlation_id} - {None}
    is_bare = not stated and envelope.message_type is MessageType.RESPONSE_KEEP_ALIVE and inquiry.is_keep_alive
    if not is_bare and inquiry.broadcast_id not in stated:
        return state
    return evolve(state, inquiry=evolve(inquiry, replied=(*inquiry.replied, email)))


def heard(_turn: SeasonTurn, state: ManagerState, _letter: RosterLetter) -> ManagerState:
    """No-op: the message only shows that the member is present."""
    return state


def wants_to_leave(turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """Warn of a member's wish to leave, which a person must decide."""
    turn.warn("wants_to_leave", f"{letter.member.email} asks to be taken out of the league")
    return state


def peer_error(turn: SeasonTurn, state: ManagerState, letter: RosterLetter) -> ManagerState:
    """Log a member's error. Errors are never answered (protocol 4.3.4)."""
    payload = letter.envelope.payload
    text = payload.error_message if isinstance(payload, ErrorResponse) else letter.envelope.message_type.value
    turn.warn("peer_error", f"{letter.member.email}: {shown(text, 300)}")
    return state
