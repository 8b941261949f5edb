"""From an envelope to the canonical JSON document (protocol 3.1 and section 4).

Rule: one spelling, and only what the protocol allows. A message of our own that breaks it raises ``LocalProtocolError``
and is not sent. Texts that agents wrote are never the reason: lone surrogates in them are replaced.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from league_agents.ids import is_game_id
from league_agents.protocol.league import codec_game, codec_opening, codec_report, codec_rounds, codec_service
from league_agents.protocol.league.address import read_address
from league_agents.protocol.league.envelope import Envelope
from league_agents.protocol.league.kinds import BROADCAST_TYPES, GAME_TYPES, MessageType, protocol_of
from league_agents.protocol.league.messages import (
    AnswersBatch,
    AssignmentAck,
    AssignmentTable,
    BrokenPayload,
    ConnectivityCall,
    ConnectivityEcho,
    CriticalContinue,
    CriticalContinueReply,
    CriticalPause,
    CriticalPauseReply,
    CriticalReset,
    CriticalResetReply,
    EndRound,
    EndSeason,
    ErrorResponse,
    FreeText,
    FreeTextReply,
    GuessCall,
    GuessSubmission,
    Hints,
    KeepAlive,
    KeepAliveReply,
    LeagueCompleted,
    Legacy,
    MatchReport,
    NewRound,
    PlayerReport,
    QuestionsBatch,
    QuestionsCall,
    RegistrationRequest,
    RegistrationResponse,
    RequestAssignmentTable,
    RoundResults,
    RoundStart,
    ScoreFeedback,
    StartSeason,
    WarmupCall,
    WarmupResponse,
)
from league_agents.protocol.league.reading import clean, id_of
from league_agents.protocol.league.writing import Document, refuse, stamp

CANONICAL_TYPES: Mapping[type, MessageType] = MappingProxyType(
    {
        StartSeason: MessageType.BROADCAST_START_SEASON,
        RegistrationRequest: MessageType.SEASON_REGISTRATION_REQUEST,
        RegistrationResponse: MessageType.SEASON_REGISTRATION_RESPONSE,
        AssignmentTable: MessageType.BROADCAST_ASSIGNMENT_TABLE,
        AssignmentAck: MessageType.RESPONSE_GROUP_ASSIGNMENT,
        RequestAssignmentTable: MessageType.REQUEST_ASSIGNMENT_TABLE,
        NewRound: MessageType.BROADCAST_NEW_LEAGUE_ROUND,
        EndRound: MessageType.BROADCAST_END_LEAGUE_ROUND,
        RoundResults: MessageType.BROADCAST_ROUND_RESULTS,
        EndSeason: MessageType.BROADCAST_END_SEASON,
        LeagueCompleted: MessageType.LEAGUE_COMPLETED,
        KeepAlive: MessageType.BROADCAST_KEEP_ALIVE,
        KeepAliveReply: MessageType.RESPONSE_KEEP_ALIVE,
        CriticalPause: MessageType.BROADCAST_CRITICAL_PAUSE,
        CriticalContinue: MessageType.BROADCAST_CRITICAL_CONTINUE,
        CriticalReset: MessageType.BROADCAST_CRITICAL_RESET,
        CriticalPauseReply: MessageType.CRITICAL_PAUSE_RESPONSE,
        CriticalContinueReply: MessageType.CRITICAL_CONTINUE_RESPONSE,
        CriticalResetReply: MessageType.CRITICAL_RESET_RESPONSE,
        FreeText: MessageType.BROADCAST_FREE_TEXT,
        FreeTextReply: MessageType.FREE_TEXT_RESPONSE,
        ErrorResponse: MessageType.ERROR_RESPONSE,
        ConnectivityCall: MessageType.CONNECTIVITY_TEST_CALL,
        ConnectivityEcho: MessageType.CONNECTIVITY_TEST_ECHO,
        WarmupCall: MessageType.Q21WARMUPCALL,
        WarmupResponse: MessageType.Q21WARMUPRESPONSE,
        RoundStart: MessageType.Q21ROUNDSTART,
        QuestionsBatch: MessageType.Q21QUESTIONSBATCH,
        AnswersBatch: MessageType.Q21ANSWERSBATCH,
        GuessSubmission: MessageType.Q21GUESSSUBMISSION,
        ScoreFeedback: MessageType.Q21SCOREFEEDBACK,
        MatchReport: MessageType.MATCH_RESULT_REPORT,
        PlayerReport: MessageType.MATCH_RESULT_REPORT,
    }
)
"""The type as which each payload is sent. The others are only received."""

_OF_A_SEASON = frozenset(
    {
        MessageType.BROADCAST_START_SEASON,
        MessageType.SEASON_REGISTRATION_RESPONSE,
        MessageType.BROADCAST_ASSIGNMENT_TABLE,
        MessageType.BROADCAST_NEW_LEAGUE_ROUND,
        MessageType.BROADCAST_END_LEAGUE_ROUND,
        MessageType.BROADCAST_ROUND_RESULTS,
        MessageType.BROADCAST_END_SEASON,
        MessageType.LEAGUE_COMPLETED,
    }
)
"""What the league manager cannot say without naming its league and the season (protocol 3.1)."""

_TYPED = frozenset(CANONICAL_TYPES.values())


def encode(envelope: Envelope) -> Document:
    """The canonical document of a message of our own: JSON values only, keys in the order of protocol 3.1.

    Raises ``LocalProtocolError`` when the message would break the protocol.
    """
    _check(envelope)
    sender = envelope.sender
    assert sender.role is not None
    assert envelope.timestamp is not None
    document: Document = {
        "protocol": envelope.protocol.value,
        "message_type": envelope.message_type.value,
        "message_id": envelope.message_id,
        "timestamp": stamp(envelope.timestamp),
        "sender": {"email": sender.email, "role": sender.role.value, "logical_id": sender.logical_id},
        "recipient_id": envelope.recipient_id,
    }
    for key, value in _context(envelope):
        if value is not None:
            document[key] = value
    document["payload"] = _sendable(_write_payload(envelope), envelope, "payload")
    return document


def _check(envelope: Envelope) -> None:
    sender = envelope.sender
    if sender.role is None:
        raise refuse(envelope, "the sender has no role")
    if read_address(sender.email) != sender.email:
        raise refuse(envelope, f"{sender.email[:60]!a} is no address")
    if envelope.timestamp is None:
        raise refuse(envelope, "it needs a timestamp")
    if envelope.protocol is not protocol_of(envelope.message_type):
        raise refuse(envelope, f"its protocol is {protocol_of(envelope.message_type)}, not {envelope.protocol}")
    kind = CANONICAL_TYPES.get(type(envelope.payload))
    is_legacy = isinstance(envelope.payload, Legacy) and envelope.message_type not in _TYPED
    if kind is not envelope.message_type and not is_legacy:
        raise refuse(envelope, f"a {type(envelope.payload).__name__} is no payload of it")
    if envelope.message_type in BROADCAST_TYPES and envelope.broadcast_id is None:
        raise refuse(envelope, "a broadcast needs a broadcast_id")
    if envelope.message_type in GAME_TYPES and envelope.game_id is None:
        raise refuse(envelope, "it needs a game_id")
    if envelope.game_id is not None and not is_game_id(envelope.game_id):
        raise refuse(envelope, f"its game_id must be seven digits, not {envelope.game_id[:20]!a}")
    if not envelope.message_id or not envelope.recipient_id:
        raise refuse(envelope, "it needs a message_id and a recipient_id")
    if envelope.message_type in _OF_A_SEASON and not (envelope.league_id and envelope.season_id):
        raise refuse(envelope, "it needs a league_id and a season_id")
    ids = (envelope.message_id, envelope.recipient_id, *(value for _, value in _context(envelope)), sender.logical_id)
    for value in ids:
        if value and id_of(value) != value:
            raise refuse(envelope, f"{value[:60]!a} is no id: it must be one line of 1 to 200 visible characters")


def _context(envelope: Envelope) -> tuple[tuple[str, str | None], ...]:
    """The optional keys of the envelope that this type carries at the top, in order. ``None``: the key is left out."""
    kind = envelope.message_type
    # A league manager that never names its league is no reason to keep a result from it: the report's keys are then
    # there and empty, as the deployed referee writes them (protocol 3.2).
    unknown = "" if isinstance(envelope.payload, MatchReport) else None
    return (
        ("correlation_id", envelope.correlation_id),
        # A reply names its broadcast in the payload and as correlation_id; only broadcasts have it here (protocol 3.1).
        ("broadcast_id", envelope.broadcast_id if kind in BROADCAST_TYPES else None),
        ("league_id", envelope.league_id or unknown),
        # The season is what is asked for: it stands in the payload only (protocol 4.1.2).
        ("season_id", None if kind is MessageType.SEASON_REGISTRATION_REQUEST else envelope.season_id or unknown),
        ("round_id", envelope.round_id or unknown if kind is MessageType.MATCH_RESULT_REPORT else None),
        ("game_id", envelope.game_id),
    )


def _write_payload(envelope: Envelope) -> Document:
    match envelope.payload:
        case StartSeason() as payload:
            return codec_opening.write_start_season(payload, envelope)
        case RegistrationRequest() as payload:
            return codec_opening.write_registration_request(payload, envelope)
        case RegistrationResponse() as payload:
            return codec_opening.write_registration_response(payload, envelope)
        case AssignmentTable() as payload:
            return codec_opening.write_assignment_table(payload, envelope)
        case AssignmentAck() as payload:
            return codec_opening.write_assignment_ack(payload, envelope)
        case RequestAssignmentTable() as payload:
            return codec_opening.write_request_assignment_table(payload, envelope)
        case NewRound() as payload:
            return codec_rounds.write_new_round(payload, envelope)
        case EndRound() as payload:
            return codec_rounds.write_end_round(payload, envelope)
        case RoundResults() as payload:
            return codec_rounds.write_round_results(payload, envelope)
        case EndSeason() as payload:
            return codec_rounds.write_end_season(payload, envelope)
        case LeagueCompleted() as payload:
            return codec_rounds.write_league_completed(payload, envelope)
        case KeepAlive() as payload:
            return codec_service.write_keep_alive(payload, envelope)
        case KeepAliveReply() as payload:
            return codec_service.write_keep_alive_reply(payload, envelope)
        case CriticalPause() as payload:
            return codec_service.write_pause(payload, envelope)
        case CriticalContinue() as payload:
            return codec_service.write_continue(payload, envelope)
        case CriticalReset() as payload:
            return codec_service.write_reset(payload, envelope)
        case CriticalPauseReply() as payload:
            return codec_service.write_pause_reply(payload, envelope)
        case CriticalContinueReply() as payload:
            return codec_service.write_continue_reply(payload, envelope)
        case CriticalResetReply() as payload:
            return codec_service.write_reset_reply(payload, envelope)
        case FreeText() as payload:
            return codec_service.write_free_text(payload, envelope)
        case FreeTextReply() as payload:
            return codec_service.write_free_text_reply(payload, envelope)
        case ErrorResponse() as payload:
            return codec_service.write_error_response(payload, envelope)
        case ConnectivityCall() as payload:
            return codec_service.write_connectivity_call(payload, envelope)
        case ConnectivityEcho() as payload:
            return codec_service.write_connectivity_echo(payload, envelope)
        case WarmupCall() as payload:
            return codec_game.write_warmup_call(payload, envelope)
        case WarmupResponse() as payload:
            return codec_game.write_warmup_response(payload, envelope)
        case RoundStart() as payload:
            return codec_game.write_round_start(payload, envelope)
        case QuestionsBatch() as payload:
            return codec_game.write_questions_batch(payload, envelope)
        case AnswersBatch() as payload:
            return codec_game.write_answers_batch(payload, envelope)
        case GuessSubmission() as payload:
            return codec_game.write_guess_submission(payload, envelope)
        case ScoreFeedback() as payload:
            return codec_game.write_score_feedback(payload, envelope)
        case MatchReport() as payload:
            return codec_report.write_match_report(payload, envelope)
        case PlayerReport() as payload:
            return codec_report.write_player_report(payload, envelope)
        case Legacy(fields=fields):
            return dict(fields)
        case QuestionsCall() | GuessCall() | Hints() | BrokenPayload() as payload:
            raise refuse(envelope, f"a {type(payload).__name__} is only ever received")


def _sendable(value: object, envelope: Envelope, path: str) -> object:
    """``value`` as JSON values that any reader can take."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise refuse(envelope, f"{path} is {value}")
        return value
    if isinstance(value, dict):
        return {key: _sendable(item, envelope, key) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_sendable(item, envelope, path) for item in value]
    raise refuse(envelope, f"{path} is a {type(value).__name__}")
