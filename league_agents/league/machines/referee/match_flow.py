"""Carry out the requests of a match's flow in the league: calls with a deadline, messages, the report.

Rule 1: the flow decides the order of steps in a match (``games.q21.flow``); a result that is not awaited does not
reach it.
Rule 2: a match that was started ends in exactly one report, unless the league is reset (protocol 5.3.5).
"""

from __future__ import annotations

from collections.abc import Sequence

from league_agents.games.q21.callbacks import Noted
from league_agents.games.q21.flow import (
    Ask,
    Gave,
    Happened,
    Over,
    SeatPhase,
    Stopped,
    Tell,
    Telling,
    refereeing,
)
from league_agents.games.q21.model import Answer, Choice, Termination
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Call, Record, ReleaseAgent
from league_agents.league.machines.referee.contexts import referee_context
from league_agents.league.machines.referee.match_state import AwaitedCall, MatchPlayer, OpenMatch, place_of, with_seat
from league_agents.league.machines.referee.messages import RefereeTurn, closing_timer, send_report, tell
from league_agents.league.machines.reports import abort_of, match_facts, match_report

Next = OpenMatch | None
"""The match after a step; ``None`` if it is closed, its report is sent, and its state is dropped."""


def go_on(turn: RefereeTurn, match: OpenMatch, happened: Happened) -> Next:
    """Pass an event to the flow of the match, and carry out its requests."""
    match, wanted = refereeing(match, happened, turn.config.rules)
    for each in wanted:
        if isinstance(each, Noted):
            turn.tell_noted(match.game_id, each)
        elif isinstance(each, Ask):
            match = _call(turn, match, each)
        elif isinstance(each, Tell):
            if each.what is Telling.ANSWERS and turn.config.avoid_not_relevant:
                seat = match.seats[each.place]
                answers = tuple(_without_not_relevant(answer) for answer in seat.answers)
                match = with_seat(match, evolve(seat, answers=answers))
            match = tell(turn, match, match.seats[each.place], each.what)
        else:
            _close_match(turn, match, each)
            return None
    return match


def _call(turn: RefereeTurn, match: OpenMatch, ask: Ask) -> OpenMatch:
    role = None if ask.place is None else match.seats[ask.place].role
    call_id = f"{match.game_id}:{match.token}:{ask.callback}:{role.value if role else 'both'}:{ask.attempt}"
    spec = turn.specs[ask.callback]
    turn.effects.append(
        Call(
            call_id=call_id,
            callback=ask.callback,
            context=referee_context(turn.config, spec, match, ask),
            timeout=spec.timeout,
            game_id=match.game_id,
        )
    )
    call = AwaitedCall(call_id=call_id, callback=ask.callback, role=role, attempt=ask.attempt)
    return evolve(match, calls=(*match.calls, call))


def call_ended(turn: RefereeTurn, match: OpenMatch, call: AwaitedCall, result: object, failure: str | None) -> Next:
    """Process the end of a callback. ``failure`` is why there is no result; ``None`` if there is one."""
    match = evolve(match, calls=tuple(each for each in match.calls if each is not call))
    place = None if call.role is None else place_of(call.role)
    ask = Ask(callback=call.callback, place=place, attempt=call.attempt)
    return go_on(turn, match, Gave(ask=ask, result=result, failure=failure))


def _without_not_relevant(answer: Answer) -> Answer:
    return evolve(answer, choice=Choice.D) if answer.choice is Choice.NOT_RELEVANT else answer


def abort_match(
    turn: RefereeTurn, match: OpenMatch, termination: Termination, *, culprits: Sequence[MatchPlayer] = ()
) -> Next:
    """Freeze the match, score pending guesses, report (protocol 5.3.5). No-op if an abort is under way."""
    if match.abort is not None:
        return match
    stop = abort_of(match, termination, culprits=culprits)
    calls = tuple(call for call in match.calls if call.callback == "get_score_feedback")
    match = evolve(match, calls=calls, timers=turn.clear_timers(match.timers))
    after = go_on(turn, match, Stopped(stop=stop))
    if after is None:
        return None
    patience = 3 * turn.specs["get_score_feedback"].timeout
    return evolve(after, timers=turn.set_timer(after.timers, closing_timer(after), turn.now + patience))


def stop_scoring(turn: RefereeTurn, match: OpenMatch) -> Next:
    """Score pending guesses as zero because their scoring did not end in time, so that the league gets its report."""
    after: Next = evolve(match, calls=())
    for place, seat in enumerate(match.seats):
        if seat.phase is SeatPhase.GUESSED and after is not None:
            last = Ask(callback="get_score_feedback", place=place, attempt=2)
            after = go_on(turn, after, Gave(ask=last, failure="it never ended"))
    return after


def _close_match(turn: RefereeTurn, match: OpenMatch, over: Over) -> None:
    """Report the match, record it, and release the agent."""
    turn.clear_timers(match.timers)
    if over.callback:
        name = turn.specs[over.callback].service_name
        match = evolve(match, abort=abort_of(match, over.termination, callback=name))
    report = match_report(match, turn.config.rules)
    send_report(turn, report, match=match)
    facts = match_facts(match, report, turn.identity.participant_id)
    turn.effects.append(Record(kind="match", key=match.game_id, termination=over.termination, facts=facts))
    turn.effects.append(ReleaseAgent(game_id=match.game_id))


def drop_match(turn: RefereeTurn, match: OpenMatch) -> None:
    """End the match without a report, because the league was reset (protocol 4.3.2)."""
    turn.clear_timers(match.timers)
    facts = {"game_id": match.game_id, "season_id": match.season_id, "round_number": match.round_number}
    turn.effects.append(Record(kind="match", key=match.game_id, termination=Termination.RESET, facts=facts))
    turn.effects.append(ReleaseAgent(game_id=match.game_id))
