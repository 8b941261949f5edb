"""The closed vocabularies of the league protocol: protocols, roles and message types, and their tolerated spellings.

Rule: only this module recognises these words. It tolerates spellings (letter case, ``_``, ``-``, spaces, aliases);
this program always sends the canonical spelling.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

_LONGEST_WORD = 80


class Protocol(StrEnum):
    """The two protocols that share one envelope."""

    LEAGUE = "league.v2"
    """League manager and participant."""

    GAME = "Q21G.v1"
    """Referee and player."""


class Role(StrEnum):
    """Who sends a message, as it is spelled on the wire (protocol 1.1)."""

    LEAGUEMANAGER = "LEAGUEMANAGER"
    REFEREE = "REFEREE"
    PLAYER = "PLAYER"


class MessageType(StrEnum):
    """Every type of the protocol in canonical spelling (protocol 4.0 and 4.6)."""

    BROADCAST_START_SEASON = "BROADCAST_START_SEASON"
    SEASON_REGISTRATION_REQUEST = "SEASON_REGISTRATION_REQUEST"
    SEASON_REGISTRATION_RESPONSE = "SEASON_REGISTRATION_RESPONSE"
    BROADCAST_ASSIGNMENT_TABLE = "BROADCAST_ASSIGNMENT_TABLE"
    RESPONSE_GROUP_ASSIGNMENT = "RESPONSE_GROUP_ASSIGNMENT"
    BROADCAST_NEW_LEAGUE_ROUND = "BROADCAST_NEW_LEAGUE_ROUND"
    BROADCAST_END_LEAGUE_ROUND = "BROADCAST_END_LEAGUE_ROUND"
    BROADCAST_ROUND_RESULTS = "BROADCAST_ROUND_RESULTS"
    BROADCAST_END_SEASON = "BROADCAST_END_SEASON"
    LEAGUE_COMPLETED = "LEAGUE_COMPLETED"
    BROADCAST_KEEP_ALIVE = "BROADCAST_KEEP_ALIVE"
    RESPONSE_KEEP_ALIVE = "RESPONSE_KEEP_ALIVE"
    BROADCAST_CRITICAL_PAUSE = "BROADCAST_CRITICAL_PAUSE"
    BROADCAST_CRITICAL_CONTINUE = "BROADCAST_CRITICAL_CONTINUE"
    BROADCAST_CRITICAL_RESET = "BROADCAST_CRITICAL_RESET"
    CRITICAL_PAUSE_RESPONSE = "CRITICAL_PAUSE_RESPONSE"
    CRITICAL_CONTINUE_RESPONSE = "CRITICAL_CONTINUE_RESPONSE"
    CRITICAL_RESET_RESPONSE = "CRITICAL_RESET_RESPONSE"
    BROADCAST_FREE_TEXT = "BROADCAST_FREE_TEXT"
    FREE_TEXT_RESPONSE = "FREE_TEXT_RESPONSE"
    ERROR_RESPONSE = "ERROR_RESPONSE"

    Q21WARMUPCALL = "Q21WARMUPCALL"
    Q21WARMUPRESPONSE = "Q21WARMUPRESPONSE"
    Q21ROUNDSTART = "Q21ROUNDSTART"
    Q21QUESTIONSBATCH = "Q21QUESTIONSBATCH"
    Q21ANSWERSBATCH = "Q21ANSWERSBATCH"
    Q21GUESSSUBMISSION = "Q21GUESSSUBMISSION"
    Q21SCOREFEEDBACK = "Q21SCOREFEEDBACK"
    MATCH_RESULT_REPORT = "MATCH_RESULT_REPORT"

    # From here on: protocol 4.6.
    CONNECTIVITY_TEST_CALL = "CONNECTIVITY_TEST_CALL"
    CONNECTIVITY_TEST_ECHO = "CONNECTIVITY_TEST_ECHO"
    REQUEST_ASSIGNMENT_TABLE = "REQUEST_ASSIGNMENT_TABLE"
    ASSIGNMENT_TABLE_RESPONSE = "ASSIGNMENT_TABLE_RESPONSE"
    BROADCAST_START_SEASON_REGISTRATION = "BROADCAST_START_SEASON_REGISTRATION"
    BROADCAST_END_GROUP_ASSIGNMENT = "BROADCAST_END_GROUP_ASSIGNMENT"
    START_SEASON_RESPONSE = "START_SEASON_RESPONSE"
    LEAGUE_REGISTER_REQUEST = "LEAGUE_REGISTER_REQUEST"
    LEAGUE_REGISTER_RESPONSE = "LEAGUE_REGISTER_RESPONSE"
    LEAGUE_UNREGISTER_REQUEST = "LEAGUE_UNREGISTER_REQUEST"
    HEARTBEAT = "HEARTBEAT"
    GAME_INVITATION = "GAME_INVITATION"
    GAME_JOIN_ACK = "GAME_JOIN_ACK"
    GAME_OVER = "GAME_OVER"
    Q21_QUESTIONS_CALL = "Q21_QUESTIONS_CALL"
    Q21_GUESS_CALL = "Q21_GUESS_CALL"
    Q21_HINTS = "Q21_HINTS"
    Q21_GUESS_RESULT = "Q21_GUESS_RESULT"
    WARMUP_QUESTIONS = "WARMUP_QUESTIONS"
    WARMUP_ANSWERS = "WARMUP_ANSWERS"
    QUERY_STANDINGS_REQUEST = "QUERY_STANDINGS_REQUEST"
    QUERY_STANDINGS_RESPONSE = "QUERY_STANDINGS_RESPONSE"
    ROUND_ANNOUNCEMENT = "ROUND_ANNOUNCEMENT"
    ROUND_COMPLETED = "ROUND_COMPLETED"
    LEAGUE_STANDINGS_UPDATE = "LEAGUE_STANDINGS_UPDATE"
    EXTENSION_REQUEST = "EXTENSION_REQUEST"
    EXTENSION_RESPONSE = "EXTENSION_RESPONSE"
    REJECTION_NOTIFICATION = "REJECTION_NOTIFICATION"
    ERROR = "ERROR"
    PROTOCOL_ERROR = "PROTOCOL_ERROR"
    LEAGUE_ERROR = "LEAGUE_ERROR"
    GAME_ERROR = "GAME_ERROR"
    MATCH_ASSIGNMENT = "MATCH_ASSIGNMENT"
    MALFUNCTION_REPORT = "MALFUNCTION_REPORT"
    MALFUNCTION_DECISION = "MALFUNCTION_DECISION"


GAME_TYPES = frozenset(kind for kind in MessageType if kind.startswith("Q21"))
"""The types that are sent as ``Q21G.v1``."""

BROADCAST_TYPES = frozenset(
    kind for kind in MessageType if kind.startswith("BROADCAST_") or kind is MessageType.LEAGUE_COMPLETED
)
"""The broadcasts of the league manager. Only these may take their broadcast id from the subject (protocol 3.4)."""

_SQUEEZE = str.maketrans("", "", "_- \t")

_ALIASES: Mapping[str, MessageType] = {
    "GROUP_ASSIGNMENT_RESPONSE": MessageType.RESPONSE_GROUP_ASSIGNMENT,
    "KEEP_ALIVE_RESPONSE": MessageType.RESPONSE_KEEP_ALIVE,
    "RESPONSE_CRITICAL_PAUSE": MessageType.CRITICAL_PAUSE_RESPONSE,
    "RESPONSE_CRITICAL_CONTINUE": MessageType.CRITICAL_CONTINUE_RESPONSE,
    "RESPONSE_CRITICAL_RESET": MessageType.CRITICAL_RESET_RESPONSE,
    "RESPONSE_FREE_TEXT": MessageType.FREE_TEXT_RESPONSE,
    "CONNECTIVITY_TEST_RESPONSE": MessageType.CONNECTIVITY_TEST_ECHO,
    "RESPONSE_ASSIGNMENT_TABLE": MessageType.ASSIGNMENT_TABLE_RESPONSE,
    "RESPONSE_START_SEASON": MessageType.START_SEASON_RESPONSE,
    "RESPONSE_LEAGUE_REGISTER": MessageType.LEAGUE_REGISTER_RESPONSE,
}

_TYPES: Mapping[str, MessageType] = MappingProxyType(
    {kind.translate(_SQUEEZE): kind for kind in MessageType}
    | {alias.translate(_SQUEEZE): kind for alias, kind in _ALIASES.items()}
)

_EXACT_TYPES: Mapping[str, MessageType] = MappingProxyType({kind.value: kind for kind in MessageType})

_ROLES: Mapping[str, Role] = MappingProxyType(
    {
        "LEAGUEMANAGER": Role.LEAGUEMANAGER,
        "MANAGER": Role.LEAGUEMANAGER,
        "LGM": Role.LEAGUEMANAGER,
        "SERVER": Role.LEAGUEMANAGER,
        "REFEREE": Role.REFEREE,
        "REF": Role.REFEREE,
        "PLAYER": Role.PLAYER,
        "PLAYER1": Role.PLAYER,
        "PLAYER2": Role.PLAYER,
        "PLAYERA": Role.PLAYER,
        "PLAYERB": Role.PLAYER,
    }
)

_EXACT_PROTOCOLS: Mapping[str, Protocol] = MappingProxyType({protocol.value: protocol for protocol in Protocol})

_PROTOCOLS: Mapping[str, Protocol] = MappingProxyType({"league": Protocol.LEAGUE, "q21g": Protocol.GAME})


def canonical_type(text: object) -> MessageType | None:
    """The message type that ``text`` names in any tolerated spelling (protocol 3.4), or ``None``."""
    if not isinstance(text, str) or len(text) > _LONGEST_WORD:
        return None
    return _EXACT_TYPES.get(text) or _TYPES.get(text.strip().upper().translate(_SQUEEZE))


def canonical_role(text: object) -> Role | None:
    """The role that ``text`` names in any tolerated spelling (protocol 1.1), or ``None``."""
    if not isinstance(text, str) or len(text) > _LONGEST_WORD:
        return None
    return _ROLES.get(text) or _ROLES.get(text.strip().upper().translate(_SQUEEZE))


def canonical_protocol(text: object) -> Protocol | None:
    """The protocol that ``text`` names, in any letter case, or ``None``. The version may be missing (``Q21G``)."""
    if not isinstance(text, str) or len(text) > _LONGEST_WORD:
        return None
    return _EXACT_PROTOCOLS.get(text) or _PROTOCOLS.get(text.strip().lower().partition(".")[0])


def protocol_of(kind: MessageType) -> Protocol:
    """The protocol that a type belongs to. [P1.0] sends game mail as ``league.v2``; the type decides (protocol 2.2)."""
    return Protocol.GAME if kind in GAME_TYPES else Protocol.LEAGUE
