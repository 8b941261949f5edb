"""Service broadcasts, errors and connectivity tests (protocol 4.3 and 4.6).

Rule: none of these is ever unusable. Whoever pauses the league without a reason still pauses it.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from league_agents.league.wire.declare import (
    ADDRESS,
    BROADCAST_ID,
    FLAG,
    ID,
    INSTANT,
    TEXT,
    constant,
    each,
    message,
    wire,
)
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.payload import LeagueMessage
from league_agents.league.wire.reading import id_of


@message(MessageType.BROADCAST_KEEP_ALIVE, id_word="keepalive")
class KeepAlive(LeagueMessage, frozen=True, kw_only=True):
    """Who is there?"""

    broadcast_id: ClassVar = BROADCAST_ID
    message_text: Annotated[str | None, wire(TEXT)] = None


@message(MessageType.RESPONSE_KEEP_ALIVE)
class KeepAliveReply(LeagueMessage, frozen=True, kw_only=True):
    """A participant is there."""

    broadcast_id: ClassVar = BROADCAST_ID
    status: Annotated[str, wire(ID, absent="alive")] = "alive"
    referee_id: Annotated[str | None, wire(ID)] = None
    player_email: Annotated[str | None, wire(ADDRESS)] = None
    machine_state: Annotated[str | None, wire(ID)] = None
    """The name of the league-level state (5.2)."""

    state_detail: Annotated[str | None, wire(TEXT)] = None
    message_text: Annotated[str | None, wire(TEXT)] = None
    response_timestamp: Annotated[datetime | None, wire(INSTANT)] = None


@message(MessageType.BROADCAST_CRITICAL_PAUSE, id_word="pause")
class CriticalPause(LeagueMessage, frozen=True, kw_only=True):
    """Stop all deadlines, keep game mail for later."""

    broadcast_id: ClassVar = BROADCAST_ID
    reason: Annotated[str, wire(TEXT, absent="")]
    message_text: Annotated[str | None, wire(TEXT)] = None


@message(MessageType.BROADCAST_CRITICAL_CONTINUE, id_word="continue")
class CriticalContinue(LeagueMessage, frozen=True, kw_only=True):
    """Go on where the league was paused."""

    broadcast_id: ClassVar = BROADCAST_ID
    message_text: Annotated[str | None, wire(TEXT)] = None


@message(MessageType.BROADCAST_CRITICAL_RESET, id_word="reset")
class CriticalReset(LeagueMessage, frozen=True, kw_only=True):
    """Forget the season."""

    broadcast_id: ClassVar = BROADCAST_ID
    reason: Annotated[str, wire(TEXT, absent="")]
    reset_scope: Annotated[str, wire(ID, absent="FULL")] = "FULL"
    message_text: Annotated[str | None, wire(TEXT)] = None


@message(MessageType.CRITICAL_PAUSE_RESPONSE)
class CriticalPauseReply(LeagueMessage, frozen=True, kw_only=True):
    """A participant has paused."""

    broadcast_id: ClassVar = BROADCAST_ID
    pause_status: Annotated[str, wire(ID, absent="PAUSED")] = "PAUSED"
    previous_state: Annotated[str, wire(ID, absent="")]
    current_game_state: Annotated[str, wire(ID, absent="N/A")]
    """``SAVED``, or ``N/A`` when no game is open."""

    match_id_paused: Annotated[str | None, wire(ID, none_as=None)]
    message_text: Annotated[str | None, wire(TEXT)] = None
    response_timestamp: Annotated[datetime | None, wire(INSTANT)] = None


@message(MessageType.CRITICAL_CONTINUE_RESPONSE)
class CriticalContinueReply(LeagueMessage, frozen=True, kw_only=True):
    """A participant goes on."""

    broadcast_id: ClassVar = BROADCAST_ID
    continue_status: Annotated[str, wire(ID, absent="RESUMED")] = "RESUMED"
    restored_state: Annotated[str, wire(ID, absent="")]
    restored_match_id: Annotated[str | None, wire(ID, none_as=None)]
    message_text: Annotated[str | None, wire(TEXT)] = None
    response_timestamp: Annotated[datetime | None, wire(INSTANT)] = None


@message(MessageType.CRITICAL_RESET_RESPONSE)
class CriticalResetReply(LeagueMessage, frozen=True, kw_only=True):
    """A participant has forgotten the season."""

    broadcast_id: ClassVar = BROADCAST_ID
    reset_status: Annotated[str, wire(ID, absent="COMPLETED")] = "COMPLETED"
    tables_cleared: Annotated[tuple[str, ...], wire(each(id_of), absent=())]
    state_machine_reset: Annotated[bool, wire(FLAG, absent=True)] = True
    ready_for_new_season: Annotated[bool, wire(FLAG, absent=True)] = True
    message_text: Annotated[str | None, wire(TEXT)] = None
    response_timestamp: Annotated[datetime | None, wire(INSTANT)] = None


@message(MessageType.BROADCAST_FREE_TEXT, id_word="text")
class FreeText(LeagueMessage, frozen=True, kw_only=True):
    """A word to everybody."""

    broadcast_id: ClassVar = BROADCAST_ID
    message_text: Annotated[str, wire(TEXT, "message_text", "text", "message", absent="")]


@message(MessageType.FREE_TEXT_RESPONSE)
class FreeTextReply(LeagueMessage, frozen=True, kw_only=True):
    """The answer to a word to everybody."""

    broadcast_id: ClassVar = BROADCAST_ID
    message_text: Annotated[str, wire(TEXT, absent="")]
    response_timestamp: Annotated[datetime | None, wire(INSTANT)] = None


@message(MessageType.ERROR_RESPONSE)
class ErrorResponse(LeagueMessage, frozen=True, kw_only=True):
    """Something went wrong with a message. Logged; never answered by another one."""

    error_code: Annotated[str, wire(ID, absent="INVALID_MESSAGE")]
    """``INVALID_MESSAGE``, ``UNAUTHORIZED``, ``NOT_REGISTERED``, ``DEADLINE_PASSED``, ``INVALID_STATE`` or
    ``INTERNAL_ERROR``."""

    error_message: Annotated[str, wire(TEXT, "error_message", "error_description", "message", absent="")]
    original_message_type: Annotated[str, wire(ID, absent="")]
    recoverable: Annotated[bool, wire(FLAG, absent=False)]


@message(MessageType.CONNECTIVITY_TEST_CALL)
class ConnectivityCall(LeagueMessage, frozen=True, kw_only=True):
    """A ping to one participant."""

    ping_id: Annotated[str, wire(ID, absent="")]
    sent_at: Annotated[datetime | None, wire(INSTANT, "timestamp")] = None


@message(MessageType.CONNECTIVITY_TEST_ECHO)
class ConnectivityEcho(LeagueMessage, frozen=True, kw_only=True):
    """The answer to a ping."""

    message_type: ClassVar = constant("CONNECTIVITY_TEST_RESPONSE")
    ping_id: Annotated[str, wire(ID, absent="")]
    echo_from: Annotated[str | None, wire(ID)] = None
    original_timestamp: Annotated[datetime | None, wire(INSTANT, "original_timestamp", "timestamp")] = None
