"""The messages that a referee sends in a match, built from stored values only, so that they can be built again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import MappingProxyType

from league_agents.games.q21.callbacks import CallbackSpec
from league_agents.games.q21.flow import Telling
from league_agents.games.q21.model import NO_BRIEF, UNSCORED
from league_agents.kit.values import evolve
from league_agents.league.machines.config import RefereeConfig
from league_agents.league.machines.referee.match_state import REFEREE, MatchPlayer, OpenMatch, Sent, with_seat
from league_agents.league.machines.turn import MANAGER_ID, StepContext, for_an_id
from league_agents.league.wire.catalogue import DECLARATIONS
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    AnswersBatch,
    MatchReport,
    Payload,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
)
from league_agents.league.wire.reading import is_id


@dataclass(slots=True)
class RefereeTurn(StepContext):
    """The context of one step of a referee."""

    config: RefereeConfig = field(kw_only=True)
    specs: Mapping[str, CallbackSpec] = field(kw_only=True)


_KINDS: Mapping[Telling, MessageType] = MappingProxyType(
    {
        Telling.WARMUP: MessageType.Q21WARMUPCALL,
        Telling.BRIEF: MessageType.Q21ROUNDSTART,
        Telling.ANSWERS: MessageType.Q21ANSWERSBATCH,
        Telling.SCORECARD: MessageType.Q21SCOREFEEDBACK,
    }
)


def wait_for(turn: RefereeTurn, kind: MessageType) -> timedelta | None:
    """The time that a player has to answer a message of this type; ``None`` if it needs no answer."""
    rules = turn.config.rules
    if kind is MessageType.Q21WARMUPCALL:
        return rules.warmup_wait
    if kind is MessageType.Q21ROUNDSTART:
        return rules.questions_wait
    if kind is MessageType.Q21ANSWERSBATCH:
        return rules.guess_wait
    return None


def wait_timer(match: OpenMatch, seat: MatchPlayer) -> str:
    """The name of the deadline of the player's current step."""
    return f"wait:{match.game_id}:{seat.role.value}"


def repeat_timer(match: OpenMatch, seat: MatchPlayer) -> str:
    """The name of the deadline at which the warm-up call is sent again."""
    return f"repeat:{match.game_id}:{seat.role.value}"


def closing_timer(match: OpenMatch) -> str:
    """The name of the deadline after which an aborted match no longer waits for the score of a pending guess."""
    return f"closing:{match.game_id}"


def tell(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, what: Telling) -> OpenMatch:
    """Send the player its next message, and start the deadline for the answer."""
    kind = _KINDS[what]
    wait = wait_for(turn, kind)
    deadline = None if wait is None else turn.now + wait
    sent = Sent(kind=kind, at=turn.now, deadline=deadline)
    seat = evolve(seat, last_actor=REFEREE, sent=(*seat.sent, sent))
    timers = match.timers
    if deadline is not None:
        timers = turn.set_timer(timers, wait_timer(match, seat), deadline + turn.config.rules.grace)
        if kind is MessageType.Q21WARMUPCALL and turn.config.rules.repeats_warmup:
            timers = turn.set_timer(timers, repeat_timer(match, seat), turn.now + (deadline - turn.now) / 2)
    match = with_seat(match, seat) if timers is match.timers else evolve(with_seat(match, seat), timers=timers)
    # During an abort the feedback names no message (protocol 5.3.5).
    is_reply = kind in _REPLIES and match.abort is None
    turn.send(game_message(turn, match, seat, sent, seat.answered_id if is_reply else None), seat.email)
    return match


_REPLIES = frozenset({MessageType.Q21ANSWERSBATCH, MessageType.Q21SCOREFEEDBACK})
"""The messages that name the player's message that they answer (protocol 3.2)."""


def tell_again(
    turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, kind: MessageType, correlation_id: str | None
) -> OpenMatch:
    """Send a stored message again, unless its limit of repeats is reached."""
    sent = seat.find_sent(kind)
    if sent is None:
        return match
    if sent.repeats >= turn.config.repeat_limit:
        turn.warn("repeat_limit", f"{kind.value} of game {match.game_id} was repeated {sent.repeats} times already")
        return match
    again = evolve(sent, repeats=sent.repeats + 1)
    seat = evolve(seat, sent=tuple(again if each is sent else each for each in seat.sent))
    match = with_seat(match, seat)
    correlation_id = correlation_id if kind in _REPLIES else None
    turn.send(game_message(turn, match, seat, again, correlation_id), seat.email, is_repeat=True)
    return match


def game_message(
    turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, sent: Sent, correlation_id: str | None
) -> Envelope:
    """Build the message that ``sent`` describes."""
    return turn.envelope(
        sent.kind,
        _payload(match, seat, sent.kind, sent.deadline, turn.config.rules.questions_required),
        message_id=message_id(turn, match, seat, sent.kind),
        recipient_id=seat.participant_id or seat.email,
        at=sent.at,
        logical_id=turn.identity.participant_id,
        correlation_id=correlation_id or None,
        game_id=match.game_id,
    )


def message_id(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, kind: MessageType) -> str:
    """The id of a message of this type to the player."""
    prefix = DECLARATIONS[kind].id_word
    tail = turn.hex(prefix, match.game_id, match.token, seat.role)
    return f"{prefix}-{match.game_id}-{for_an_id(seat.participant_id)}-{tail}"


def _payload(
    match: OpenMatch, seat: MatchPlayer, kind: MessageType, deadline: datetime | None, required: int
) -> Payload:
    token = match.auth_token
    if kind is MessageType.Q21WARMUPCALL:
        return WarmupCall(warmup_question=match.warmup_question, deadline=deadline, auth_token=token)
    if kind is MessageType.Q21ROUNDSTART:
        brief = match.brief or NO_BRIEF
        return RoundStart(brief=brief, deadline=deadline, questions_required=required, auth_token=token)
    if kind is MessageType.Q21ANSWERSBATCH:
        return AnswersBatch(answers=seat.answers, deadline=deadline, auth_token=token)
    return ScoreFeedback(scorecard=seat.scorecard or UNSCORED)


def send_report(
    turn: RefereeTurn,
    report: MatchReport,
    *,
    match: OpenMatch,
) -> None:
    """Send the report of the match to the league manager."""
    turn.tell_manager(
        turn.envelope(
            MessageType.MATCH_RESULT_REPORT,
            report,
            message_id=f"result-{match.game_id}-{turn.hex('result', match.game_id, match.token)}",
            recipient_id=MANAGER_ID,
            logical_id=turn.identity.participant_id,
            # The report states all three ids, even if the league manager omitted some (protocol 4.5.1).
            league_id=match.league_id,
            season_id=match.season_id,
            round_id=match.round_id or _usual_round_id(match),
            game_id=match.game_id,
        ),
        game_id=match.game_id,
    )


def _usual_round_id(match: OpenMatch) -> str | None:
    """The usual round id (protocol 1.2), for a league manager that states none; ``None`` if it is too long."""
    usual = f"{match.season_id}_R{match.round_number}"
    return usual if is_id(usual) else None
