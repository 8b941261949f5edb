"""What the referee's agent is asked in a match, and what its answers do (protocol 6.1).

Rule 1: a callback that fails is asked once more where the protocol says so, then replaced: the match goes on, or it is
aborted with a reason that names the callback.
Rule 2: a result that nobody awaits does not get here.
"""

from __future__ import annotations

from collections.abc import Callable

from league_agents.core.tables import Rule, Table
from league_agents.games.q21.flow import Ask, SeatPhase
from league_agents.games.q21.model import UNSCORED, Answer, Choice, Termination
from league_agents.games.q21.reading_referee import (
    answers_for,
    read_answers,
    read_round_start_info,
    read_scorecard,
    read_warmup_question,
)
from league_agents.league.effects import Call
from league_agents.league.match_end import Next, abort_match, close_match, is_over
from league_agents.league.match_state import Match, PendingCall, Seat
from league_agents.league.referee_contexts import referee_context
from league_agents.league.referee_messages import RefereeTurn, tell, with_seat
from league_agents.protocol.league.kinds import MessageType
from league_agents.protocol.league.messages import AssignmentRole
from league_agents.values import evolve


def ask_for_warmup_question(turn: RefereeTurn, match: Match) -> Match:
    """The first thing that happens in a match; everything else follows from the answer."""
    return _call(turn, match, "get_warmup_question", None)


def ask_for_round_start(turn: RefereeTurn, match: Match, attempt: int = 1) -> Match:
    """All present players are warmed up: which book is it?"""
    return _call(turn, match, "get_round_start_info", None, attempt)


def _call(turn: RefereeTurn, match: Match, callback: str, role: AssignmentRole | None, attempt: int = 1) -> Match:
    call_id = f"{match.game_id}:{match.token}:{callback}:{role.value if role else 'both'}:{attempt}"
    call = PendingCall(call_id=call_id, callback=callback, role=role, attempt=attempt)
    place = None if role is None else 0 if role is match.player1.role else 1
    ask = Ask(callback=callback, place=place, attempt=attempt)
    turn.effects.append(
        Call(
            call_id=call_id,
            callback=callback,
            context=referee_context(turn.config, turn.specs[callback], match, ask),
            timeout=turn.specs[callback].timeout,
            game_id=match.game_id,
        )
    )
    return evolve(match, calls=(*match.calls, call))


def ask_for_answers(turn: RefereeTurn, match: Match, seat: Seat, attempt: int = 1) -> Match:
    """One player's questions are in; the other player is not waited for."""
    return _call(turn, match, "get_answers", seat.role, attempt)


def ask_for_score(turn: RefereeTurn, match: Match, seat: Seat, attempt: int = 1) -> Match:
    """One player's guess is in."""
    return _call(turn, match, "get_score_feedback", seat.role, attempt)


def call_ended(turn: RefereeTurn, match: Match, call: PendingCall, result: object | None, why: str) -> Next:
    """A callback gave ``result``, or nothing: then ``why`` says how it failed."""
    match = evolve(match, calls=tuple(each for each in match.calls if each is not call))
    phase = match.seat(call.role).phase if call.role else next(match.present()).phase
    action = CALLBACKS.action(phase, call.callback)
    return match if action is None else action(turn, match, call, result, why)


def _send_warmup_calls(turn: RefereeTurn, match: Match, call: PendingCall, result: object | None, why: str) -> Next:
    read = read_warmup_question(result, turn.config.rules)
    if read.is_broken:
        why = (why if result is None else read.refusal)[:400]
        turn.warn("callback_failed", f"{call.callback} in game {match.game_id}: {why}; a fixed question is asked")
    return _tell_present(turn, evolve(match, warmup_question=read.value), MessageType.Q21WARMUPCALL)


def _start_round(turn: RefereeTurn, match: Match, call: PendingCall, result: object | None, why: str) -> Next:
    if result is not None:
        read = read_round_start_info(result, turn.config.rules)
        turn.tell_repairs(call.callback, match.game_id, read)
        if read.value is not None:
            brief, target = read.value
            return _tell_present(turn, evolve(match, brief=brief, target=target), MessageType.Q21ROUNDSTART)
        why = read.refusal
    _warn_of_failure(turn, match, call, why, "the match is aborted")
    if call.attempt == 1:
        return ask_for_round_start(turn, match, attempt=2)
    callback = turn.specs[call.callback].service_name
    return abort_match(turn, match, Termination.REFEREE_FAILURE, callback=callback)


def _send_answers(turn: RefereeTurn, match: Match, call: PendingCall, result: object | None, why: str) -> Next:
    seat = match.seat(call.role or AssignmentRole.PLAYER1)
    answers = None
    if result is not None:
        read = read_answers(result, seat.questions, turn.config.rules)
        turn.tell_repairs(call.callback, match.game_id, read)
        answers, why = read.value, read.refusal
    if answers is None:
        _warn_of_failure(turn, match, call, why, "every answer is Not Relevant")
        if call.attempt == 1:
            return ask_for_answers(turn, match, seat, attempt=2)
        answers = answers_for(seat.questions)
    if turn.config.avoid_not_relevant:
        answers = tuple(_without_not_relevant(answer) for answer in answers)
    seat = evolve(seat, answers=answers)
    return tell(turn, with_seat(match, seat), seat, MessageType.Q21ANSWERSBATCH)


def _without_not_relevant(answer: Answer) -> Answer:
    return evolve(answer, choice=Choice.D) if answer.choice is Choice.NOT_RELEVANT else answer


def _send_feedback(turn: RefereeTurn, match: Match, call: PendingCall, result: object | None, why: str) -> Next:
    seat = match.seat(call.role or AssignmentRole.PLAYER1)
    card = None
    if result is not None:
        read = read_scorecard(result, turn.config.rules)
        turn.tell_repairs(call.callback, match.game_id, read)
        card, why = read.value, read.refusal
    if card is None:
        _warn_of_failure(turn, match, call, why, "the guess counts zero points")
        if call.attempt == 1:
            return ask_for_score(turn, match, seat, attempt=2)
        card = UNSCORED
    seat = evolve(seat, scorecard=card)
    match = tell(turn, with_seat(match, seat), seat, MessageType.Q21SCOREFEEDBACK)
    if not is_over(match):
        return match
    close_match(turn, match)
    return None


def _warn_of_failure(turn: RefereeTurn, match: Match, call: PendingCall, why: str, otherwise: str) -> None:
    what = "it is called once more" if call.attempt == 1 else otherwise
    turn.warn("callback_failed", f"{call.callback} in game {match.game_id}: {why[:400]}; {what}")


def _tell_present(turn: RefereeTurn, match: Match, kind: MessageType) -> Match:
    for seat in tuple(match.present()):
        match = tell(turn, match, seat, kind)
    return match


Result = Callable[[RefereeTurn, Match, PendingCall, object | None, str], Next]

MACHINE = "referee: one player"
CLOSED = "closed"
"""The match is reported and forgotten."""

CALLBACKS: Table[Result] = Table(
    MACHINE,
    (
        Rule(
            phase=SeatPhase.IDLE,
            event="get_warmup_question",
            action=_send_warmup_calls,
            next=(SeatPhase.WARMUP_SENT,),
            effects="Q21WARMUPCALL to every present player, a deadline each; a fixed question if the callback failed",
        ),
        Rule(
            phase=SeatPhase.WARMED_UP,
            event="get_round_start_info",
            action=_start_round,
            next=(SeatPhase.STARTED, SeatPhase.WARMED_UP, CLOSED),
            effects="Q21ROUNDSTART to every present player, a deadline each; failed: once more, then abort",
        ),
        Rule(
            phase=SeatPhase.QUESTIONED,
            event="get_answers",
            action=_send_answers,
            next=(SeatPhase.ANSWERED, SeatPhase.QUESTIONED),
            effects="Q21ANSWERSBATCH, a deadline for the guess; failed: once more, then Not Relevant to every question",
        ),
        Rule(
            phase=SeatPhase.GUESSED,
            event="get_score_feedback",
            action=_send_feedback,
            next=(SeatPhase.SCORED, SeatPhase.GUESSED, CLOSED),
            effects="Q21SCOREFEEDBACK; failed: once more, then zeros; the report when all present players are scored",
        ),
    ),
)
"""What the result of a callback does to the player for whom it ran, or to both."""
