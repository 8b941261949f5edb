"""The referee's side of a match of Q21: turns, messages to the players, and the end of the match.

Rule 1: a transition happens because a row of the tables below says so, or it does not happen.
Rule 2: the phase belongs to a player, not to the match (protocol 5.3.1). Only the start of the round waits for both.
Rule 3: the caller decides whether a call is a direct one, a message or an action at a table, and how long it may take:
it passes in what happened and carries out the returned effects, in order.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final, TypeVar

from msgspec import Struct

from league_agents.games.q21.callbacks import Known, Noted, end_of_call
from league_agents.games.q21.model import (
    UNSCORED,
    AnswerBatch,
    Brief,
    Guess,
    Question,
    QuestionBatch,
    Scorecard,
    Target,
    Termination,
)
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.tables import Rule, TransitionTable
from league_agents.kit.values import evolve


class SeatPhase(StrEnum):
    """A player's progress, spelled as in ``player_states`` of a report (protocol 4.5.1)."""

    IDLE = "idle"
    WARMUP_SENT = "warmup_sent"
    WARMED_UP = "warmup_answered"
    STARTED = "round_started"
    QUESTIONED = "questions_submitted"
    """The questions have arrived; the answers are being worked out."""
    ANSWERED = "answers_received"
    GUESSED = "guess_submitted"
    """The guess has arrived; it is being scored."""
    SCORED = "scored"
    ABSENT = "not_initialized"
    """Not in the lookup table when the round started (protocol 5.4)."""


PLAYED: Final = tuple(phase for phase in SeatPhase if phase is not SeatPhase.ABSENT)
"""The phases of a present player, in order."""


class PlayerRun(Struct, frozen=True, kw_only=True):
    """One player's questions, answers and guess. Each part is empty until it arrives."""

    phase: SeatPhase = SeatPhase.IDLE
    warmup_answer: str = ""
    questions: QuestionBatch = ()
    answers: AnswerBatch = ()
    guess: Guess | None = None
    scorecard: Scorecard | None = None

    @property
    def is_present(self) -> bool:
        """Whether the player takes part."""
        return self.phase is not SeatPhase.ABSENT


class Stop(Struct, frozen=True, kw_only=True):
    """The match ends early; a guess may still be in scoring (protocol 5.3.5)."""

    termination: Termination


class RefereedMatch(Struct, frozen=True, kw_only=True):
    """The referee's knowledge of a match. Callers may subclass it with further fields; the flow keeps them."""

    player1: PlayerRun
    player2: PlayerRun
    warmup_question: str = ""
    brief: Brief | None = None
    target: Target | None = None
    """Secret until the score was sent. ``None`` if the referee does not disclose it."""

    abort: Stop | None = None

    @property
    def runs(self) -> tuple[PlayerRun, PlayerRun]:
        """Both players' runs, player 1 first. A ``place`` is an index into it."""
        return (self.player1, self.player2)


M = TypeVar("M", bound=RefereedMatch)


# Events.


class Opened(Struct, frozen=True, kw_only=True):
    """The match begins. Present players are idle, or warmed up if there is no warm-up."""


class Submitted(Struct, frozen=True, kw_only=True):
    """A player submitted its warm-up answer (a text), its questions or its guess."""

    place: int
    content: str | QuestionBatch | Guess


class Ask(Struct, frozen=True, kw_only=True):
    """Effect: call the referee's callback, and report the result as ``Gave`` or ``Decided``."""

    callback: str
    place: int | None = None
    """The player concerned; ``None`` for a callback of the whole match."""

    attempt: int = 1


class Gave(Struct, frozen=True, kw_only=True):
    """A callback returned a result, or failed."""

    ask: Ask
    result: object = None
    """Untrusted, not yet read."""

    failure: str | None = None
    """Why there is no result; ``None`` if there is one."""


class Decided(Struct, frozen=True, kw_only=True):
    """A valid value that was decided without calling the callback."""

    ask: Ask
    value: Any
    """A value of the type that the callback's reader returns."""


class PlayerLeft(Struct, frozen=True, kw_only=True):
    """A player is out, with zero points; the other one continues."""

    place: int


class Stopped(Struct, frozen=True, kw_only=True):
    """The match must end early. Only a guess that was submitted is still scored (protocol 5.3.5)."""

    stop: Stop


Happened = Opened | Submitted | Gave | Decided | PlayerLeft | Stopped


# Effects. ``Ask`` and ``Noted`` belong here too.


class Telling(StrEnum):
    """The kind of a message to a player. Its content is in the match."""

    WARMUP = "warm-up question"
    BRIEF = "brief"
    ANSWERS = "answers"
    SCORECARD = "scorecard"


PLAYER_CALLBACK: Final = {
    Telling.WARMUP: "get_warmup_answer",
    Telling.BRIEF: "get_questions",
    Telling.ANSWERS: "get_guess",
    Telling.SCORECARD: "on_score_received",
}
"""The callback of a player's agent that each message calls."""


class Tell(Struct, frozen=True, kw_only=True):
    """Effect: send a message to a player, who answers each kind but the scorecard by ``Submitted``."""

    place: int
    what: Telling


class Over(Struct, frozen=True, kw_only=True):
    """Effect: the match is over; nothing more is played or scored."""

    termination: Termination
    callback: str = ""
    """The callback whose failure ended the match; empty if none did."""


Wanted = Ask | Tell | Over | Noted

_PARTS: Final = {str: "warm-up", tuple: "questions", Guess: "guess"}


def refereeing(match: M, happened: Happened, rules: RuleSet) -> tuple[M, list[Wanted]]:
    """Return the match after an event, and the effects. An unexpected event changes nothing."""
    if isinstance(happened, Gave | Decided):
        return _call_ended(match, happened, rules)
    if isinstance(happened, Submitted):
        part = _PARTS[type(happened.content)]
        action = SUBMISSIONS.action(match.runs[happened.place].phase, part)
        if action is None or match.abort is not None:
            return match, []
        return action(match, happened.place, happened.content, rules)
    if isinstance(happened, PlayerLeft):
        run = match.runs[happened.place]
        if not _plays(run):
            return match, []
        return _went_on(with_run(match, happened.place, evolve(run, phase=SeatPhase.SCORED, scorecard=UNSCORED)))
    if isinstance(happened, Stopped):
        if match.abort is not None:
            return match, []
        match = evolve(match, abort=happened.stop)
        return match, _end(match)
    if any(run.phase is SeatPhase.IDLE for run in match.runs):
        return match, [Ask(callback="get_warmup_question")]
    return _went_on(match)


def with_run(match: M, place: int, run: PlayerRun) -> M:
    """Return the match with this player's run replaced."""
    return evolve(match, player1=run) if place == 0 else evolve(match, player2=run)


def questions_that_count(questions: QuestionBatch, rules: RuleSet) -> QuestionBatch:
    """Return the first question of each number, up to the rules' count, so that neither player gets more answers."""
    most = rules.questions_required
    if len({question.number for question in questions}) == len(questions) <= most:
        return questions
    first: dict[int, Question] = {}
    for question in questions:
        first.setdefault(question.number, question)
    return tuple(first.values())[:most]


def winner_of(match: RefereedMatch) -> int | None:
    """Return the place of the player with the most league points; ``None`` for a draw (protocol 7).

    A player without an opponent wins with one point or more, whatever the rules grant for an absence.
    """
    one, two = (run.scorecard.league_points if run.scorecard is not None else 0 for run in match.runs)
    if not match.player1.is_present or not match.player2.is_present:
        place = 0 if match.player1.is_present else 1
        return place if (one, two)[place] >= 1 else None
    return None if one == two else 0 if one > two else 1


def _plays(run: PlayerRun) -> bool:
    return run.phase not in (SeatPhase.ABSENT, SeatPhase.SCORED)


def _playing(match: RefereedMatch) -> list[PlayerRun]:
    return [run for run in match.runs if _plays(run)]


def _call_ended(match: M, happened: Gave | Decided, rules: RuleSet) -> tuple[M, list[Wanted]]:
    ask = happened.ask
    run = match.runs[ask.place] if ask.place is not None else next(iter(_playing(match)), None)
    action = None if run is None else CALLBACKS.action(run.phase, ask.callback)
    if action is None or run is None or (match.abort is not None and run.phase is not SeatPhase.GUESSED):
        return match, []
    place = ask.place or 0
    if isinstance(happened, Decided):
        return action(match, place, happened.value)
    known = Known(rules=rules, questions=run.questions)
    end = end_of_call(ask.callback, happened.result, happened.failure, known, attempt=ask.attempt)
    if end.is_called_again:
        return match, [end.noted, evolve(ask, attempt=ask.attempt + 1)]
    match, wanted = action(match, place, end.value)
    return match, [end.noted, *wanted]


def _tell_all(match: M, what: Telling) -> tuple[M, list[Wanted]]:
    wanted: list[Wanted] = []
    for place, run in enumerate(match.runs):
        # At a table a player may have left before the start.
        if _plays(run):
            phase = SeatPhase.WARMUP_SENT if what is Telling.WARMUP else SeatPhase.STARTED
            match = with_run(match, place, evolve(run, phase=phase))
            wanted.append(Tell(place=place, what=what))
    return match, wanted


def _went_on(match: M) -> tuple[M, list[Wanted]]:
    """Start the round once all remaining players are warmed up; end the match once all are scored."""
    playing = _playing(match)
    if match.abort is None and playing and all(run.phase is SeatPhase.WARMED_UP for run in playing):
        return match, [Ask(callback="get_round_start_info")]
    return match, _end(match)


def _end(match: RefereedMatch) -> list[Wanted]:
    if match.abort is not None:
        is_scoring = any(run.phase is SeatPhase.GUESSED for run in match.runs)
        return [] if is_scoring else [Over(termination=match.abort.termination)]
    return [] if _playing(match) else [Over(termination=Termination.COMPLETED)]


# Submissions of players.


def _warmed_up(match: M, place: int, answer: str, _rules: RuleSet) -> tuple[M, list[Wanted]]:
    run = evolve(match.runs[place], phase=SeatPhase.WARMED_UP, warmup_answer=answer)
    return _went_on(with_run(match, place, run))


def _questioned(match: M, place: int, questions: QuestionBatch, rules: RuleSet) -> tuple[M, list[Wanted]]:
    questions = questions_that_count(questions, rules)
    run = evolve(match.runs[place], phase=SeatPhase.QUESTIONED, questions=questions)
    return with_run(match, place, run), [Ask(callback="get_answers", place=place)]


def _guessed(match: M, place: int, guess: Guess, _rules: RuleSet) -> tuple[M, list[Wanted]]:
    run = evolve(match.runs[place], phase=SeatPhase.GUESSED, guess=guess)
    return with_run(match, place, run), [Ask(callback="get_score_feedback", place=place)]


# Decisions of the referee.


def _warm_up(match: M, _place: int, question: str) -> tuple[M, list[Wanted]]:
    return _tell_all(evolve(match, warmup_question=question), Telling.WARMUP)


def _start(match: M, _place: int, chosen: tuple[Brief, Target | None] | None) -> tuple[M, list[Wanted]]:
    if chosen is None:
        return match, [Over(termination=Termination.REFEREE_FAILURE, callback="get_round_start_info")]
    brief, target = chosen
    return _tell_all(evolve(match, brief=brief, target=target), Telling.BRIEF)


def _answer(match: M, place: int, answers: AnswerBatch) -> tuple[M, list[Wanted]]:
    run = evolve(match.runs[place], phase=SeatPhase.ANSWERED, answers=answers)
    return with_run(match, place, run), [Tell(place=place, what=Telling.ANSWERS)]


def _score(match: M, place: int, scorecard: Scorecard) -> tuple[M, list[Wanted]]:
    run = evolve(match.runs[place], phase=SeatPhase.SCORED, scorecard=scorecard)
    match = with_run(match, place, run)
    return match, [Tell(place=place, what=Telling.SCORECARD), *_end(match)]


MACHINE: Final = "referee: one player"
CLOSED: Final = "closed"
"""The match is over and its state is discarded."""

SUBMISSIONS: Final[TransitionTable[Callable[..., tuple[Any, list[Wanted]]]]] = TransitionTable(
    MACHINE,
    (
        Rule(
            phase=SeatPhase.WARMUP_SENT,
            event="warm-up",
            action=_warmed_up,
            next=(SeatPhase.WARMED_UP,),
            effects="call get_round_start_info once all present players are here",
        ),
        Rule(
            phase=SeatPhase.STARTED,
            event="questions",
            action=_questioned,
            next=(SeatPhase.QUESTIONED,),
            effects="call get_answers for this player",
        ),
        Rule(
            phase=SeatPhase.ANSWERED,
            event="guess",
            action=_guessed,
            next=(SeatPhase.GUESSED,),
            effects="call get_score_feedback for this player",
        ),
    ),
)
"""Effect of a player's submission."""

CALLBACKS: Final[TransitionTable[Callable[..., tuple[Any, list[Wanted]]]]] = TransitionTable(
    MACHINE,
    (
        Rule(
            phase=SeatPhase.IDLE,
            event="get_warmup_question",
            action=_warm_up,
            next=(SeatPhase.WARMUP_SENT,),
            effects="the warm-up question to every present player; a fixed one if the callback failed",
        ),
        Rule(
            phase=SeatPhase.WARMED_UP,
            event="get_round_start_info",
            action=_start,
            next=(SeatPhase.STARTED, SeatPhase.WARMED_UP, CLOSED),
            effects="the brief to every present player; failed: once more, then the match is over",
        ),
        Rule(
            phase=SeatPhase.QUESTIONED,
            event="get_answers",
            action=_answer,
            next=(SeatPhase.ANSWERED, SeatPhase.QUESTIONED),
            effects="the answers; failed: once more, then Not Relevant to every question",
        ),
        Rule(
            phase=SeatPhase.GUESSED,
            event="get_score_feedback",
            action=_score,
            next=(SeatPhase.SCORED, SeatPhase.GUESSED, CLOSED),
            effects="the scorecard; failed: once more, then zeros; over when all present players are scored",
        ),
    ),
)
"""Effect of a callback's result on the player for whom it was called, or on both."""
