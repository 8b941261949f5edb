"""Service broadcasts, errors and connectivity tests: how their payloads are read and written (protocol 4.3 and 4.6).

Rule: none of these is ever unusable. Whoever pauses the league without a reason still pauses it.
"""

from __future__ import annotations

from league_agents.protocol.league.address import read_address
from league_agents.protocol.league.envelope import Envelope
from league_agents.protocol.league.messages import (
    ConnectivityCall,
    ConnectivityEcho,
    CriticalContinue,
    CriticalContinueReply,
    CriticalPause,
    CriticalPauseReply,
    CriticalReset,
    CriticalResetReply,
    ErrorResponse,
    FreeText,
    FreeTextReply,
    KeepAlive,
    KeepAliveReply,
)
from league_agents.protocol.league.reading import (
    Fields,
    first_id,
    first_of,
    first_text,
    flag_of,
    id_of,
    instant_of,
    list_of,
    text_of,
)
from league_agents.protocol.league.writing import Document, present, stamp_or_none


def read_keep_alive(fields: Fields) -> KeepAlive:
    return KeepAlive(message_text=text_of(fields.get("message_text")))


def write_keep_alive(payload: KeepAlive, envelope: Envelope) -> Document:
    return present(broadcast_id=envelope.broadcast_id, message_text=payload.message_text)


def read_keep_alive_reply(fields: Fields) -> KeepAliveReply:
    return KeepAliveReply(
        status=first_id(fields, "status") or "alive",
        referee_id=id_of(fields.get("referee_id")),
        player_email=read_address(fields.get("player_email")),
        machine_state=id_of(fields.get("machine_state")),
        state_detail=text_of(fields.get("state_detail")),
        message_text=text_of(fields.get("message_text")),
        response_timestamp=instant_of(fields.get("response_timestamp")),
    )


def write_keep_alive_reply(payload: KeepAliveReply, envelope: Envelope) -> Document:
    return present(
        broadcast_id=envelope.broadcast_id,
        status=payload.status,
        referee_id=payload.referee_id,
        player_email=payload.player_email,
        machine_state=payload.machine_state,
        state_detail=payload.state_detail,
        message_text=payload.message_text,
        response_timestamp=stamp_or_none(payload.response_timestamp),
    )


def read_pause(fields: Fields) -> CriticalPause:
    return CriticalPause(reason=text_of(fields.get("reason")) or "", message_text=text_of(fields.get("message_text")))


def write_pause(payload: CriticalPause, envelope: Envelope) -> Document:
    return present(broadcast_id=envelope.broadcast_id, reason=payload.reason, message_text=payload.message_text)


def read_continue(fields: Fields) -> CriticalContinue:
    return CriticalContinue(message_text=text_of(fields.get("message_text")))


def write_continue(payload: CriticalContinue, envelope: Envelope) -> Document:
    return present(broadcast_id=envelope.broadcast_id, message_text=payload.message_text)


def read_reset(fields: Fields) -> CriticalReset:
    return CriticalReset(
        reason=text_of(fields.get("reason")) or "",
        reset_scope=id_of(fields.get("reset_scope")) or "FULL",
        message_text=text_of(fields.get("message_text")),
    )


def write_reset(payload: CriticalReset, envelope: Envelope) -> Document:
    return present(
        broadcast_id=envelope.broadcast_id,
        reason=payload.reason,
        reset_scope=payload.reset_scope,
        message_text=payload.message_text,
    )


def read_pause_reply(fields: Fields) -> CriticalPauseReply:
    return CriticalPauseReply(
        previous_state=id_of(fields.get("previous_state")) or "",
        current_game_state=id_of(fields.get("current_game_state")) or "N/A",
        match_id_paused=id_of(fields.get("match_id_paused")),
        pause_status=id_of(fields.get("pause_status")) or "PAUSED",
        message_text=text_of(fields.get("message_text")),
        response_timestamp=instant_of(fields.get("response_timestamp")),
    )


def write_pause_reply(payload: CriticalPauseReply, envelope: Envelope) -> Document:
    document = present(
        broadcast_id=envelope.broadcast_id,
        pause_status=payload.pause_status,
        previous_state=payload.previous_state,
        current_game_state=payload.current_game_state,
    )
    document["match_id_paused"] = payload.match_id_paused
    return document | _tail(payload)


def read_continue_reply(fields: Fields) -> CriticalContinueReply:
    return CriticalContinueReply(
        restored_state=id_of(fields.get("restored_state")) or "",
        restored_match_id=id_of(fields.get("restored_match_id")),
        continue_status=id_of(fields.get("continue_status")) or "RESUMED",
        message_text=text_of(fields.get("message_text")),
        response_timestamp=instant_of(fields.get("response_timestamp")),
    )


def write_continue_reply(payload: CriticalContinueReply, envelope: Envelope) -> Document:
    document = present(
        broadcast_id=envelope.broadcast_id,
        continue_status=payload.continue_status,
        restored_state=payload.restored_state,
    )
    document["restored_match_id"] = payload.restored_match_id
    return document | _tail(payload)


def read_reset_reply(fields: Fields) -> CriticalResetReply:
    return CriticalResetReply(
        tables_cleared=tuple(
            name for item in list_of(fields.get("tables_cleared")) or () if (name := id_of(item)) is not None
        ),
        state_machine_reset=flag_of(fields.get("state_machine_reset")) is not False,
        ready_for_new_season=flag_of(fields.get("ready_for_new_season")) is not False,
        reset_status=id_of(fields.get("reset_status")) or "COMPLETED",
        message_text=text_of(fields.get("message_text")),
        response_timestamp=instant_of(fields.get("response_timestamp")),
    )


def write_reset_reply(payload: CriticalResetReply, envelope: Envelope) -> Document:
    return present(
        broadcast_id=envelope.broadcast_id,
        reset_status=payload.reset_status,
        tables_cleared=list(payload.tables_cleared),
        state_machine_reset=payload.state_machine_reset,
        ready_for_new_season=payload.ready_for_new_season,
    ) | _tail(payload)


def _tail(payload: CriticalPauseReply | CriticalContinueReply | CriticalResetReply) -> Document:
    return present(message_text=payload.message_text, response_timestamp=stamp_or_none(payload.response_timestamp))


def read_free_text(fields: Fields) -> FreeText:
    return FreeText(message_text=first_text(fields, "message_text", "text", "message") or "")


def write_free_text(payload: FreeText, envelope: Envelope) -> Document:
    return present(broadcast_id=envelope.broadcast_id, message_text=payload.message_text)


def read_free_text_reply(fields: Fields) -> FreeTextReply:
    return FreeTextReply(
        message_text=text_of(fields.get("message_text")) or "",
        response_timestamp=instant_of(fields.get("response_timestamp")),
    )


def write_free_text_reply(payload: FreeTextReply, envelope: Envelope) -> Document:
    return present(
        broadcast_id=envelope.broadcast_id,
        message_text=payload.message_text,
        response_timestamp=stamp_or_none(payload.response_timestamp),
    )


def read_error_response(fields: Fields) -> ErrorResponse:
    return ErrorResponse(
        error_code=first_id(fields, "error_code") or "INVALID_MESSAGE",
        error_message=first_text(fields, "error_message", "error_description", "message") or "",
        original_message_type=first_id(fields, "original_message_type") or "",
        recoverable=flag_of(fields.get("recoverable")) or False,
    )


def write_error_response(payload: ErrorResponse, _: Envelope) -> Document:
    return present(
        error_code=payload.error_code,
        error_message=payload.error_message,
        original_message_type=payload.original_message_type,
        recoverable=payload.recoverable,
    )


def read_connectivity_call(fields: Fields) -> ConnectivityCall:
    return ConnectivityCall(ping_id=id_of(fields.get("ping_id")) or "", sent_at=instant_of(fields.get("timestamp")))


def write_connectivity_call(payload: ConnectivityCall, _: Envelope) -> Document:
    return present(ping_id=payload.ping_id, timestamp=stamp_or_none(payload.sent_at))


def read_connectivity_echo(fields: Fields) -> ConnectivityEcho:
    return ConnectivityEcho(
        ping_id=id_of(fields.get("ping_id")) or "",
        echo_from=id_of(fields.get("echo_from")),
        original_timestamp=instant_of(first_of(fields, "original_timestamp", "timestamp")),
    )


def write_connectivity_echo(payload: ConnectivityEcho, _: Envelope) -> Document:
    return present(
        message_type="CONNECTIVITY_TEST_RESPONSE",
        ping_id=payload.ping_id,
        echo_from=payload.echo_from,
        original_timestamp=stamp_or_none(payload.original_timestamp),
    )
