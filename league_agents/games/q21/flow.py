"""One match of Q21 as its referee leads it: whose turn it is, what everybody is told, and when it is over.

Rule 1: a transition happens because a row of the tables below says so, or it does not happen.
Rule 2: the phase belongs to a player, not to the match (protocol 5.3.1). Only the start of the round waits for both.
Rule 3: whether a call is a direct one, a message or an action at a table, and how long it may take, is the caller's
business: it sends what happened and carries out what is wanted, in order.
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
    """How far one player has come, spelled as in ``player_states`` of a report (protocol 4.5.1)."""

    IDLE = "idle"
    WARMUP_SENT = "warmup_sent"
    WARMED_UP = "warmup_answered"
    STARTED = "round_started"
    QUESTIONED = "questions_submitted"
    """The questions are here; the answers are being worked out."""
    ANSWERED = "answers_received"
    GUESSED = "guess_submitted"
    """The guess is here; it is being scored."""
    SCORED = "scored"
    ABSENT = "not_initialized"
    """Not in the lookup table when the round started (protocol 5.4)."""


PLAYED: Final = tuple(phase for phase in SeatPhase if phase is not SeatPhase.ABSENT)
"""The phases in the order in which a present player goes through them."""


class PlayerRun(Struct, frozen=True, kw_only=True):
    """What one player asked, was answered and guessed. Each part is empty until it is there."""

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
    """The match is over before its end, and perhaps a guess is still being scored (protocol 5.3.5)."""

    termination: Termination


class RefereedMatch(Struct, frozen=True, kw_only=True):
    """What the referee of a match knows. Users extend it by what they need; the flow keeps their fields."""

    player1: PlayerRun
    player2: PlayerRun
    warmup_question: str = ""
    brief: Brief | None = None
    target: Target | None = None
    """Secret until the score was sent. ``None`` when the referee keeps it to itself."""

    abort: Stop | None = None

    @property
    def runs(self) -> tuple[PlayerRun, PlayerRun]:
        """Both players', player 1 first. A ``place`` is an index of it."""
        return (self.player1, self.player2)


M = TypeVar("M", bound=RefereedMatch)


# What can happen.


class Opened(Struct, frozen=True, kw_only=True):
    """The match begins. Present players are idle, or warmed up where there is no warm-up."""


class Submitted(Struct, frozen=True, kw_only=True):
    """A player handed in its warm-up answer (a text), its questions or its guess."""

    place: int
    content: str | QuestionBatch | Guess


class Ask(Struct, frozen=True, kw_only=True):
    """Wanted: call the referee's callback, and come back with ``Gave`` or ``Decided``."""

    callback: str
    place: int | None = None
    """For which player; ``None`` for a callback of the whole match."""

    attempt: int = 1


class Gave(Struct, frozen=True, kw_only=True):
    """A callback returned something, or failed."""

    ask: Ask
    result: object = None
    """Untrusted and unread."""

    failure: str | None = None
    """Why nothing was returned; ``None`` when ``result`` was."""


class Decided(Struct, frozen=True, kw_only=True):
    """What a callback would have been asked for was decided without one, and is valid."""

    ask: Ask
    value: Any
    """The value that the callback's reader gives."""


class PlayerLeft(Struct, frozen=True, kw_only=True):
    """A player is out, with zero points; the other one plays on."""

    place: int


class Stopped(Struct, frozen=True, kw_only=True):
    """The match is to end before its end. Only a guess that was made is still scored (protocol 5.3.5)."""

    stop: Stop


Happened = Opened | Submitted | Gave | Decided | PlayerLeft | Stopped


# What is wanted. ``Ask`` and ``Noted`` belong here too.


class Telling(StrEnum):
    """What a player is told. Its content stands in the match."""

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
"""What a player's agent is asked when it was told this."""


class Tell(Struct, frozen=True, kw_only=True):
    """Tell a player, who answers all but the scorecard by ``Submitted``."""

    place: int
    what: Telling


class Over(Struct, frozen=True, kw_only=True):
    """Nothing more is played or scored."""

    termination: Termination
    callback: str = ""
    """The callback without which the match could not go on."""


Wanted = Ask | Tell | Over | Noted

_PARTS: Final = {str: "warm-up", tuple: "questions", Guess: "guess"}


def refereeing(match: M, happened: Happened, rules: RuleSet) -> tuple[M, list[Wanted]]:
    """The match afterwards, and what is to be done. What nobody waits for changes nothing."""
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
    """The match with this player's run in its place."""
    return evolve(match, player1=run) if place == 0 else evolve(match, player2=run)


def questions_that_count(questions: QuestionBatch, rules: RuleSet) -> QuestionBatch:
    """The first of each number, and no more than the rules allow: nobody may have more answers than the other."""
    most = rules.questions_required
    if len({question.number for question in questions}) == len(questions) <= most:
        return questions
    first: dict[int, Question] = {}
    for question in questions:
        first.setdefault(question.number, question)
    return tuple(first.values())[:most]


def winner_of(match: RefereedMatch) -> int | None:
    """The place of the player with the most league points; ``None`` for a draw (protocol 7).

    A player who is alone wins with one point or more, whatever an absence is worth.
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
    """Start the round once everybody who is left is warmed up; end the match once everybody is scored."""
    playing = _playing(match)
    if match.abort is None and playing and all(run.phase is SeatPhase.WARMED_UP for run in playing):
        return match, [Ask(callback="get_round_start_info")]
    return match, _end(match)


def _end(match: RefereedMatch) -> list[Wanted]:
    if match.abort is not None:
        is_scoring = any(run.phase is SeatPhase.GUESSED for run in match.runs)
        return [] if is_scoring else [Over(termination=match.abort.termination)]
    return [] if _playing(match) else [Over(termination=Termination.COMPLETED)]


# What players hand in.


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


# What the referee decides.


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
"""The match is over and nothing of it is kept."""

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
"""What a player's part does."""

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
"""What the result of a callback does to the player for whom it was called, or to both."""
