"""The player's side of one game.

Rule 1: the request decides, not the phase (protocol 5.6): mail may be reordered, so every request is answered.
Rule 2: a request gets its reply even if the agent fails: the result of a failed callback is repaired or replaced.
Rule 3: a repeated request gets the stored reply again; the agent is not called twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from league_agents.games.q21.callbacks import Known, end_of_call
from league_agents.games.q21.model import NO_BRIEF, UNSCORED, Brief, Guess, QuestionBatch, Scorecard, Termination
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.tables import Rule, Transition, TransitionTable
from league_agents.kit.values import evolve
from league_agents.league.machines.effects import Call, ReleaseAgent
from league_agents.league.machines.player.contexts import player_context
from league_agents.league.machines.player.game_end import close_game
from league_agents.league.machines.player.game_messages import PlayerTurn, resend_timer, say, say_again
from league_agents.league.machines.player.game_state import OPEN_PHASES, GamePhase, LeagueGame, OpenRequest
from league_agents.league.wire.envelope import Envelope
from league_agents.league.wire.kinds import MessageType
from league_agents.league.wire.messages import (
    AnswersBatch,
    BrokenPayload,
    Hints,
    RoundStart,
    ScoreFeedback,
    WarmupCall,
)

_MOST_QUESTIONS = 50
"""If a referee asks for more questions than this, it gets the number of the rules."""


def message_arrived(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
    """Process a message of the game's referee."""
    kind = envelope.message_type
    action = REQUESTS.action(game.phase, kind)
    if action is None:
        turn.warn("closed_game", f"{kind.value} in game {game.game_id}, which is {game.phase.value}")
        return game
    payload = envelope.payload
    if isinstance(payload, BrokenPayload):
        why = str(payload.violations[0]) if payload.violations else "empty"
        turn.warn("unusable_message", f"{kind.value} in game {game.game_id}: {why}; it is obeyed all the same"[:400])
    return action(turn, game, envelope)


# Requests.


def _warmup_call(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
    payload = envelope.payload
    if isinstance(payload, WarmupCall) and _is_new(game, MessageType.Q21WARMUPRESPONSE, "get_warmup_answer"):
        game = evolve(game, warmup_question=payload.warmup_question)
    return _request(turn, game, envelope, "get_warmup_answer", MessageType.Q21WARMUPRESPONSE)


def _round_start(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
    payload = envelope.payload
    if isinstance(payload, RoundStart) and _is_new(game, MessageType.Q21QUESTIONSBATCH, "get_questions"):
        required = payload.questions_required if 1 <= payload.questions_required <= _MOST_QUESTIONS else 0
        game = evolve(game, brief=_filled(payload.brief, game.brief), questions_required=required)
    return _request(turn, game, envelope, "get_questions", MessageType.Q21QUESTIONSBATCH)


def _answers_batch(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
    payload = envelope.payload
    if isinstance(payload, AnswersBatch) and _is_new(game, MessageType.Q21GUESSSUBMISSION, "get_guess"):
        game = evolve(game, answers=payload.answers)
    return _request(turn, game, envelope, "get_guess", MessageType.Q21GUESSSUBMISSION)


def _questions_call(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
    """Treat the message as a repeat of the round start, if the book is known (protocol 4.6)."""
    if game.brief is None and game.find_said(MessageType.Q21QUESTIONSBATCH) is None:
        turn.warn("book_unknown", f"Q21_QUESTIONS_CALL in game {game.game_id}, whose book is not known yet")
        return game
    return _request(turn, game, envelope, "get_questions", MessageType.Q21QUESTIONSBATCH)


def _guess_call(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
    """Send the stored guess again, if there is one (protocol 4.6)."""
    return say_again(turn, game, MessageType.Q21GUESSSUBMISSION, envelope)


def _hints(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:  # noqa: ARG001
    """Fill in missing values of the brief (protocol 4.6)."""
    payload = envelope.payload
    if not isinstance(payload, Hints):
        return game
    told = Brief(
        book_name=payload.book_name or "",
        book_hint=payload.book_hint or "",
        association_domain=payload.association_domain or "",
    )
    return evolve(game, brief=_filled(game.brief or NO_BRIEF, told), last_received=envelope.message_type.value)


def _feedback(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
    """Close the game, and pass the score to the agent before it is released."""
    payload = envelope.payload
    card = payload.scorecard if isinstance(payload, ScoreFeedback) else None
    game = evolve(game, scorecard=card, asked=(), last_received=MessageType.Q21SCOREFEEDBACK.value)
    game = close_game(turn, game, Termination.COMPLETED)
    return _ask(turn, game, envelope, "on_score_received", None, None, card or UNSCORED)


def _repeat(reply: MessageType) -> Message:
    """The action for a request in a closed game: send the stored reply, if there is one (protocol 5.6)."""

    def again(turn: PlayerTurn, game: LeagueGame, envelope: Envelope) -> LeagueGame:
        if game.find_said(reply) is None:
            kind = envelope.message_type.value
            turn.warn("closed_game", f"{kind} in game {game.game_id}, which is {game.phase.value}")
            return game
        return say_again(turn, game, reply, envelope)

    return again


def _is_new(game: LeagueGame, reply: MessageType, callback: str) -> bool:
    """Whether the request was not answered and is not being answered. Only then are its values stored."""
    return game.find_said(reply) is None and all(asked.callback != callback for asked in game.asked)


def _filled(brief: Brief, spare: Brief | None) -> Brief:
    """``brief``, with missing values taken from ``spare``."""
    if spare is None or (brief.book_name and brief.book_hint and brief.association_domain):
        return brief
    return Brief(
        book_name=brief.book_name or spare.book_name,
        book_hint=brief.book_hint or spare.book_hint,
        association_domain=brief.association_domain or spare.association_domain,
    )


def _request(turn: PlayerTurn, game: LeagueGame, envelope: Envelope, callback: str, reply: MessageType) -> LeagueGame:
    kind = envelope.message_type
    if game.find_said(reply) is not None:
        turn.warn("duplicate_message", f"{kind.value} in game {game.game_id} was answered before")
        return say_again(turn, game, reply, envelope)
    if any(asked.callback == callback for asked in game.asked):
        turn.warn("duplicate_message", f"{kind.value} in game {game.game_id} is being answered")
        return game
    deadline = getattr(envelope.payload, "deadline", None)
    game = evolve(game, last_received=kind.value)
    return _ask(turn, game, envelope, callback, reply, deadline, None)


def _ask(
    turn: PlayerTurn,
    game: LeagueGame,
    envelope: Envelope,
    callback: str,
    reply: MessageType | None,
    deadline: datetime | None,
    scorecard: Scorecard | None,
) -> LeagueGame:
    spec = turn.specs[callback]
    token = getattr(envelope.payload, "auth_token", None)
    left = None
    if deadline is not None:
        # A request is answered even after its deadline, and at once (protocol 5.6).
        left = max(deadline - turn.now - turn.config.reply_margin, timedelta(seconds=1))
    asked = OpenRequest(
        call_id=f"{game.game_id}:{game.token}:{callback}",
        callback=callback,
        reply=reply,
        message_id=envelope.message_id,
        reply_to=envelope.sender.email,
        recipient_id=envelope.sender.logical_id or envelope.sender.email,
        auth_token=token,
        deadline=deadline,
    )
    context = player_context(
        spec,
        game,
        left=left,
        deadline=deadline,
        auth_token=token,
        required=game.questions_required or turn.config.rules.questions_required,
        scorecard=scorecard,
    )
    timeout = spec.timeout if left is None else min(spec.timeout, left)
    turn.effects.append(
        Call(call_id=asked.call_id, callback=callback, context=context, timeout=timeout, game_id=game.game_id)
    )
    return evolve(game, asked=(*game.asked, asked))


# Results of callbacks.


def call_ended(
    turn: PlayerTurn, game: LeagueGame, asked: OpenRequest, result: object, failure: str | None
) -> LeagueGame:
    """Process the end of a callback. ``failure`` is why there is no result; ``None`` if there is one."""
    game = evolve(game, asked=tuple(each for each in game.asked if each is not asked))
    known = Known(rules=_rules_of(turn, game), brief=game.brief or NO_BRIEF)
    end = end_of_call(asked.callback, result, failure, known)
    turn.tell_noted(game.game_id, end.noted)
    action = RESULTS.action(game.phase, asked.callback)
    return game if action is None else action(turn, game, asked, end.value)


def _send_warmup_answer(turn: PlayerTurn, game: LeagueGame, asked: OpenRequest, answer: str) -> LeagueGame:
    return say(turn, evolve(game, warmup_answer=answer), asked, GamePhase.WARMUP_COMPLETE)


def _send_questions(turn: PlayerTurn, game: LeagueGame, asked: OpenRequest, questions: QuestionBatch) -> LeagueGame:
    return say(turn, evolve(game, questions=questions), asked, GamePhase.QUESTIONS_SENT)


def _send_guess(turn: PlayerTurn, game: LeagueGame, asked: OpenRequest, guess: Guess) -> LeagueGame:
    game = say(turn, evolve(game, guess=guess), asked, GamePhase.GUESS_SUBMITTED)
    if turn.config.guess_resend_limit < 1:
        return game
    timers = turn.set_timer(game.timers, resend_timer(game), turn.now + turn.config.guess_resend)
    return evolve(game, timers=timers)


def _release(turn: PlayerTurn, game: LeagueGame, asked: OpenRequest, nothing: None) -> LeagueGame:  # noqa: ARG001
    turn.effects.append(ReleaseAgent(game_id=game.game_id))
    return game


def _rules_of(turn: PlayerTurn, game: LeagueGame) -> RuleSet:
    rules = turn.config.rules
    if game.questions_required in (0, rules.questions_required):
        return rules
    return evolve(rules, questions_required=game.questions_required)


# Deadlines.


def deadline_passed(turn: PlayerTurn, game: LeagueGame, name: str) -> LeagueGame:
    """Send the guess again while no score has arrived: some referees drop an early guess (protocol 4.4.6)."""
    timer = next((each for each in game.timers if each.name == name), None)
    if timer is None:
        return game
    if turn.now < timer.at:
        return evolve(game, timers=turn.set_timer(game.timers, name, timer.at))
    game = evolve(game, timers=tuple(each for each in game.timers if each is not timer))
    said = game.find_said(MessageType.Q21GUESSSUBMISSION)
    is_too_late = said is not None and said.deadline is not None and turn.now > said.deadline
    if game.phase is not GamePhase.GUESS_SUBMITTED or said is None or is_too_late:
        return game
    game = say_again(turn, game, said.kind, None)
    if game.resends >= turn.config.guess_resend_limit:
        return game
    return evolve(game, timers=turn.set_timer(game.timers, name, turn.now + turn.config.guess_resend))


Message = Callable[[PlayerTurn, LeagueGame, Envelope], LeagueGame]
Result = Callable[[PlayerTurn, LeagueGame, OpenRequest, Any], LeagueGame]

MACHINE = "player: one game"

_ASKED: Mapping[MessageType, tuple[Message, MessageType, str]] = MappingProxyType(
    {
        MessageType.Q21WARMUPCALL: (_warmup_call, MessageType.Q21WARMUPRESPONSE, "get_warmup_answer"),
        MessageType.Q21ROUNDSTART: (_round_start, MessageType.Q21QUESTIONSBATCH, "get_questions"),
        MessageType.Q21_QUESTIONS_CALL: (_questions_call, MessageType.Q21QUESTIONSBATCH, "get_questions"),
        MessageType.Q21ANSWERSBATCH: (_answers_batch, MessageType.Q21GUESSSUBMISSION, "get_guess"),
        MessageType.Q21_GUESS_CALL: (_guess_call, MessageType.Q21GUESSSUBMISSION, "nothing"),
    }
)


def _request_rules() -> list[Rule[Message]]:
    rules: list[Rule[Message]] = []
    for phase in OPEN_PHASES:
        for kind, (action, reply, callback) in _ASKED.items():
            effects = f"call {callback}; {reply.value} again from memory if it was sent before"
            rules.append(Rule(phase=phase, event=kind, action=action, next=(phase,), effects=effects))
        rules.append(
            Rule(
                phase=phase,
                event=MessageType.Q21_HINTS,
                action=_hints,
                next=(phase,),
                effects="fill in a missing hint or domain",
            )
        )
        rules.extend(
            Rule(
                phase=phase,
                event=kind,
                action=_feedback,
                next=(GamePhase.COMPLETED,),
                effects="call on_score_received; MATCH_RESULT_REPORT to the league manager",
            )
            for kind in (MessageType.Q21SCOREFEEDBACK, MessageType.Q21_GUESS_RESULT)
        )
    for phase in (GamePhase.COMPLETED, GamePhase.TERMINATED):
        for kind, (_, reply, _) in _ASKED.items():
            effects = f"{reply.value} again from memory, if it was sent before"
            rules.append(Rule(phase=phase, event=kind, action=_repeat(reply), next=(phase,), effects=effects))
    return rules


REQUESTS: TransitionTable[Message] = TransitionTable(MACHINE, tuple(_request_rules()))
"""The effect of each message of the referee. A message without a row belongs to a closed game and is ignored."""


def _result_rules() -> list[Rule[Result]]:
    rules: list[Rule[Result]] = []
    steps: tuple[tuple[str, Result, GamePhase, str], ...] = (
        ("get_warmup_answer", _send_warmup_answer, GamePhase.WARMUP_COMPLETE, "Q21WARMUPRESPONSE; failed: 0"),
        (
            "get_questions",
            _send_questions,
            GamePhase.QUESTIONS_SENT,
            "Q21QUESTIONSBATCH; failed: placeholders",
        ),
        (
            "get_guess",
            _send_guess,
            GamePhase.GUESS_SUBMITTED,
            "Q21GUESSSUBMISSION, repaired; failed: a placeholder; again every 15 s until the score comes",
        ),
    )
    for phase in OPEN_PHASES:
        for callback, action, after, effects in steps:
            # A late answer to an earlier request is sent, but the phase never goes back.
            following = max(phase, after, key=OPEN_PHASES.index)
            rules.append(Rule(phase=phase, event=callback, action=action, next=(following,), effects=effects))
    rules.append(
        Rule(
            phase=GamePhase.COMPLETED,
            event="on_score_received",
            action=_release,
            next=(GamePhase.COMPLETED,),
            effects="the agent is free; a failure is only warned of",
        )
    )
    return rules


RESULTS: TransitionTable[Result] = TransitionTable(MACHINE, tuple(_result_rules()))
"""The effect of each callback result."""

_CLOSINGS = (
    ("BROADCAST_NEW_LEAGUE_ROUND of another round", "NEW_ROUND_STARTED"),
    ("BROADCAST_END_LEAGUE_ROUND of this round", "END_ROUND_RECEIVED"),
    ("LEAGUE_COMPLETED or BROADCAST_END_SEASON", "LEAGUE_COMPLETED"),
)


def game_transitions() -> list[Transition]:
    """All rows of a game in words, including the orders of the league level."""
    closings = [
        Transition(
            machine=MACHINE,
            phase=phase,
            event=event,
            next=(GamePhase.TERMINATED,),
            effects=f"MATCH_RESULT_REPORT TERMINATED, reason {reason}",
        )
        for phase in OPEN_PHASES
        for event, reason in _CLOSINGS
    ]
    resend = Transition(
        machine=MACHINE,
        phase=GamePhase.GUESS_SUBMITTED,
        event="resend",
        next=(GamePhase.GUESS_SUBMITTED,),
        effects="the same Q21GUESSSUBMISSION, until its deadline and at most ten times",
    )
    return [*REQUESTS.transitions(), *RESULTS.transitions(), resend, *closings]
