"""The referee's side of one match: the effects of messages and deadlines.

Rule 1: every transition is a row of the tables below.
Rule 2: this module uses no clock, mail or model. Its actions leave as effects.
Rule 3: each player proceeds independently; only the start of the round waits for both (protocol 5.3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from league_agents.games.q21.flow import (
    CALLBACKS,
    CLOSED,
    MACHINE,
    PLAYED,
    SUBMISSIONS,
    SeatPhase,
    Submitted,
    questions_that_count,
)
from league_agents.games.q21.model import Guess, QuestionBatch, Termination
from league_agents.kit.tables import Rule, Transition, TransitionTable
from league_agents.kit.values import evolve
from league_agents.league.machines.events import MessageArrived, SentLate
from league_agents.league.machines.referee.match_flow import Next, abort_match, go_on, stop_scoring
from league_agents.league.machines.referee.match_state import (
    AWAITED,
    MatchPlayer,
    OpenMatch,
    Unusable,
    place_of,
    with_seat,
)
from league_agents.league.machines.referee.messages import RefereeTurn, message_id, repeat_timer, tell_again, wait_timer
from league_agents.league.wire.catalogue import DECLARATIONS
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    BrokenPayload,
    GuessSubmission,
    QuestionsBatch,
    WarmupResponse,
)


def message_arrived(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, event: MessageArrived) -> Next:
    """Process a message of a player of this match."""
    envelope = event.envelope
    kind = envelope.message_type
    if match.abort is not None:
        turn.warn("closed_game", f"{kind.value} of {seat.email}: game {match.game_id} is being closed")
        return match
    event_name: str = kind
    if AWAITED.get(seat.phase) is kind:
        if not _is_in_time(turn, match, seat, event):
            return match
        if not _is_usable(envelope):
            event_name = unusable(kind)
    action = MESSAGES.action(seat.phase, event_name)
    if action is None:
        code = "early_message" if seat.is_present else "absent_player"
        turn.warn(code, f"{kind.value} of {seat.email} in game {match.game_id}: the player is at {seat.phase.value}")
        return match
    return action(turn, match, seat, envelope)


def unusable(kind: MessageType) -> str:
    """The event name of an awaited message whose structure cannot be used."""
    return f"{kind.value}, unusable"


def _is_usable(envelope: Envelope) -> bool:
    payload = envelope.payload
    if not isinstance(payload, DECLARATIONS[envelope.message_type].kind):
        return False
    return not isinstance(payload, QuestionsBatch) or bool(payload.questions)


def _accept(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, envelope: Envelope) -> Next:
    payload = envelope.payload
    assert isinstance(payload, WarmupResponse | QuestionsBatch | GuessSubmission)
    # The mailbox has authenticated the sender, so a wrong token only causes a warning (protocol 5.3.2).
    if payload.auth_token is not None and payload.auth_token != match.auth_token:
        turn.warn("wrong_token", f"{seat.email} echoed another auth_token in game {match.game_id}")
    content = _content(turn, match, seat, payload)
    seat = evolve(seat, answered_id=envelope.message_id, last_actor=seat.participant_id or seat.email)
    names = (wait_timer(match, seat), repeat_timer(match, seat))
    match = evolve(with_seat(match, seat), timers=turn.clear_timers(match.timers, names))
    return go_on(turn, match, Submitted(place=place_of(seat.role), content=content))


def _content(
    turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, payload: WarmupResponse | QuestionsBatch | GuessSubmission
) -> str | QuestionBatch | Guess:
    if isinstance(payload, WarmupResponse):
        return payload.answer[:1000]
    if isinstance(payload, GuessSubmission):
        return payload.guess
    asked, counted = payload.questions, questions_that_count(payload.questions, turn.config.rules)
    if len(counted) < len(asked):
        text = f"{seat.email} asked {len(asked)} questions in game {match.game_id}, {len(counted)} count"
        turn.warn("surplus_questions", text)
    return asked


def _repeat(answer: MessageType) -> Message:
    """The action for a player's repeated message: send the stored answer again, if there is one."""

    def again(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, envelope: Envelope) -> Next:
        kind = envelope.message_type
        turn.warn("duplicate_message", f"{kind.value} of {seat.email} in game {match.game_id} came before")
        return tell_again(turn, match, seat, answer, envelope.message_id)

    return again


def _count_unusable(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, envelope: Envelope) -> Next:
    """Do not answer, and let the deadline run; the third unusable message ends the match (protocol 5.3.2)."""
    entry = Unusable(kind=envelope.message_type, message_id=envelope.message_id[:200])
    if entry in seat.unusable:
        return match
    payload = envelope.payload
    why = str(payload.violations[0]) if isinstance(payload, BrokenPayload) and payload.violations else "nothing in it"
    turn.warn("unusable_message", f"{entry.kind.value} of {seat.email} in game {match.game_id}: {why}"[:400])
    seat = evolve(seat, unusable=(*seat.unusable, entry))
    match = with_seat(match, seat)
    if sum(each.kind is entry.kind for each in seat.unusable) < turn.config.rules.unusable_limit:
        return match
    return abort_match(turn, match, Termination.FORMAT_VIOLATION, culprits=(seat,))


def _is_in_time(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer, event: MessageArrived) -> bool:
    """Whether the mail reached the server before the player's time was up, whenever it is read (protocol 5.3.4)."""
    name = wait_timer(match, seat)
    if any(timer.name == name and event.arrived_at > timer.at for timer in match.timers):
        turn.warn(
            "late_message", f"{event.envelope.message_type.value} of {seat.email} in game {match.game_id} is late"
        )
        return False
    return True


# Deadlines.


def deadline_passed(turn: RefereeTurn, match: OpenMatch, name: str) -> Next:
    """Process a deadline of this match that has passed."""
    timer = next((each for each in match.timers if each.name == name), None)
    if timer is None:
        return match
    if turn.now < timer.at:
        # The deadline was moved after this event had been sent.
        return evolve(match, timers=turn.set_timer(match.timers, name, timer.at))
    match = evolve(match, timers=tuple(each for each in match.timers if each is not timer))
    what, _, rest = name.partition(":")
    role = rest.rpartition(":")[2]
    seat = match.player2 if role == match.player2.role else match.player1
    if what == "closing":
        seat = next((each for each in match.seats if each.phase is SeatPhase.GUESSED), seat)
    action = TIMERS.action(seat.phase, what)
    return match if action is None else action(turn, match, seat)


def asked_late(turn: RefereeTurn, match: OpenMatch, event: SentLate) -> OpenMatch:
    """Move a player's deadlines by the delay of the message, so that it has the full time of the rules. A repeat of the
    message states the new deadline."""
    for seat in match.seats:
        if seat.sent and event.message_id == message_id(turn, match, seat, seat.sent[-1].kind):
            names = (wait_timer(match, seat), repeat_timer(match, seat))
            timers = match.timers
            for timer in match.timers:
                if timer.name in names:
                    timers = turn.set_timer(timers, timer.name, timer.at + event.by)
            *earlier, last = seat.sent
            if timers is not match.timers and last.deadline is not None:
                seat = evolve(seat, sent=(*earlier, evolve(last, deadline=last.deadline + event.by)))
                match = evolve(with_seat(match, seat), timers=timers)
            return match
    return match


def _repeat_warmup_call(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer) -> Next:
    return tell_again(turn, match, seat, MessageType.Q21WARMUPCALL, None)


def _stop_scoring(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer) -> Next:  # noqa: ARG001
    return stop_scoring(turn, match)


def _time_out(turn: RefereeTurn, match: OpenMatch, seat: MatchPlayer) -> Next:
    """Abort the match because a player missed its deadline. If both did, the report names player 1 (protocol 5.3.4)."""
    others = {timer.name for timer in match.timers if timer.at <= turn.now}
    late = [each for each in match.seats if each.role is seat.role or wait_timer(match, each) in others]
    awaited = AWAITED.get(late[0].phase)
    was_unusable = any(each.kind is awaited for each in late[0].unusable)
    termination = Termination.FORMAT_VIOLATION if was_unusable else Termination.PLAYER_TIMEOUT
    return abort_match(turn, match, termination, culprits=late)


Message = Callable[[RefereeTurn, OpenMatch, MatchPlayer, Envelope], Next]
Timeout = Callable[[RefereeTurn, OpenMatch, MatchPlayer], Next]


def _step_rules(step: Rule[Any], answer: MessageType) -> Iterator[Rule[Message]]:
    """The rules of one awaited message: accepted in its phase, counted if unusable, a repeat in every later phase."""
    phase, (after,) = SeatPhase(step.phase), step.next
    kind = AWAITED[phase]
    yield Rule(phase=phase, event=kind, action=_accept, next=step.next, effects=f"stop waiting; {step.effects}")
    yield Rule(
        phase=phase,
        event=unusable(kind),
        action=_count_unusable,
        next=(phase, CLOSED),
        effects="answer nothing, let the deadline run; after the third one abort format_violation",
    )
    effects = f"send the stored {answer.value} again, if there is one"
    for later in PLAYED[PLAYED.index(SeatPhase(after)) :]:
        yield Rule(phase=later, event=kind, action=_repeat(answer), next=(later,), effects=effects)


_ANSWERS = (MessageType.Q21ROUNDSTART, MessageType.Q21ANSWERSBATCH, MessageType.Q21SCOREFEEDBACK)
"""The referee's answers to the player's messages, in the order of the match."""

MESSAGES: TransitionTable[Message] = TransitionTable(
    MACHINE,
    tuple(rule for step, answer in zip(SUBMISSIONS.rules, _ANSWERS, strict=True) for rule in _step_rules(step, answer)),
)
"""The effect of a player's message in an open match. A message without a row is early, or of an absent player: it is
dropped with a warning. A late message is dropped before the table is used, because its deadline has its own effect."""


def _wait_rule(phase: SeatPhase) -> Rule[Timeout]:
    effects = "abort player_timeout, or format_violation when an unusable message had come"
    return Rule(phase=phase, event="wait", action=_time_out, next=(CLOSED,), effects=effects)


TIMERS: TransitionTable[Timeout] = TransitionTable(
    MACHINE,
    (
        Rule(
            phase=SeatPhase.WARMUP_SENT,
            event="repeat",
            action=_repeat_warmup_call,
            next=(SeatPhase.WARMUP_SENT,),
            effects="half of the wait is over: the same Q21WARMUPCALL once more",
        ),
        *map(_wait_rule, AWAITED),
        Rule(
            phase=SeatPhase.GUESSED,
            event="closing",
            action=_stop_scoring,
            next=(CLOSED,),
            effects="an aborted match no longer waits for a score: zeros, Q21SCOREFEEDBACK, the report",
        ),
    ),
)
"""The effect of each deadline."""


def match_transitions() -> list[Transition]:
    """All rows of a match in words."""
    return [*CALLBACKS.transitions(), *MESSAGES.transitions(), *TIMERS.transitions()]
