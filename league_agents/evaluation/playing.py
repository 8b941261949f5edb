"""Play one match by direct calls: the flow of every match, with its requests carried out at once.

Rule: results are not parsed, repaired or replaced here; the flow does so as in the league.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from league_agents.evaluation.contexts import MatchContexts
from league_agents.games.q21.callbacks import Known, Noted, end_of_call
from league_agents.games.q21.flow import (
    PLAYER_CALLBACK,
    Ask,
    Gave,
    Happened,
    Opened,
    Over,
    SeatPhase,
    Submitted,
    Tell,
    Telling,
    Wanted,
    refereeing,
    with_run,
)
from league_agents.games.q21.model import AnswerBatch, Brief, Guess, QuestionBatch, Scorecard, Target, Termination
from league_agents.kit.values import evolve
from league_agents.league.machines.referee.match_state import MatchPlayer, OpenMatch

T = TypeVar("T")


class Callee(Protocol):
    """One of the three participants of a match."""

    def call(self, callback: str, context: Mapping[str, object]) -> tuple[object, str | None]:
        """Return the callback's result, and the reason for a missing result; ``None`` if there is a result."""
        ...

    def note(self, noted: Noted) -> None:
        """Receive a remark on the last call, if there is one."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One player's part of a match."""

    questions: QuestionBatch
    answers: AnswerBatch
    """As received by the player."""

    given: AnswerBatch
    """As sent by the referee."""

    guess: Guess
    card: Scorecard


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """One completed match."""

    brief: Brief
    target: Target | None
    """``None`` if the referee does not disclose all of it."""

    runs: tuple[Run, Run]
    """Player 1 first."""


Channel = Callable[[AnswerBatch, QuestionBatch], AnswerBatch]
"""Changes the referee's answers on their way to the player and into the match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpcomingCall:
    """A player's callback that is called next."""

    callback: str
    context: Mapping[str, object]


class DirectMatch:
    """One match and its participants."""

    def __init__(
        self,
        contexts: MatchContexts,
        referee: Callee,
        players: tuple[Callee, Callee],
        channel: Channel = lambda answers, _questions: answers,
    ) -> None:
        self._contexts = contexts
        self._rules = contexts.rules
        self._referee = referee
        self._players = players
        self._channel = channel
        self._match = contexts.match
        self._given: list[AnswerBatch] = [(), ()]
        """The referee's answers to either player before the channel."""

    @property
    def match(self) -> OpenMatch:
        """The match in its current state."""
        return self._match

    def play(self) -> Played | None:
        """Play the match to its end; ``None`` if the referee could not start it."""
        return end_of(self.turns(None))

    def turns(self, place: int | None) -> Generator[UpcomingCall, None, Played | None]:
        """Play the match and yield before each call of the player at that place: its reply may be prepared meanwhile.

        Returns what ``play`` does.
        """
        wanted = deque(self._step(Opened()))
        while wanted:
            each = wanted.popleft()
            if isinstance(each, Tell):
                callback, context = self._told(each)
                if each.place == place:
                    yield UpcomingCall(callback=callback, context=context)
                wanted.extend(self._tell(each, callback, context))
            elif isinstance(each, Ask):
                more = self._ask(each)
                # A second attempt precedes everything else.
                if any(isinstance(one, Ask) for one in more):
                    wanted.extendleft(more)
                else:
                    wanted.extend(more)
            elif isinstance(each, Over) and each.termination is not Termination.COMPLETED:
                return None
        match = self._match
        assert match.brief is not None, "the round started"
        target = match.target
        is_whole = target is not None and target.opening_sentence and target.associative_word
        one, two = (_run_of(seat, given) for seat, given in zip(match.seats, self._given, strict=True))
        return Played(brief=match.brief, target=target if is_whole else None, runs=(one, two))

    def answered(self, place: int, questions: QuestionBatch) -> AnswerBatch:
        """Return the referee's answers to other questions of a player. The match is not changed."""
        return self._tried(place, questions, phase=SeatPhase.STARTED).answers

    def scored(self, place: int, *, of: int | None = None, guess: Guess | None = None) -> Scorecard | None:
        """Return the referee's score for a repeated guess; ``None`` if its result is unusable.

        ``of`` uses the questions, answers and guess of the player at that place; ``guess`` replaces the guess. The
        match is not changed.
        """
        other = self._match.seats[place if of is None else of]
        submitted = guess or other.guess
        assert submitted is not None, "both players guessed"
        run = self._tried(place, submitted, phase=SeatPhase.ANSWERED, questions=other.questions, answers=other.answers)
        card = run.scorecard
        return card if card is not None and card.is_judged else None

    def _tried(self, place: int, content: QuestionBatch | Guess, **changes: Any) -> MatchPlayer:
        """Return the seat after the player submits ``content``, in a copy of the match that is discarded."""
        kept = self._match
        self._set(place, **changes)
        wanted = self._step(Submitted(place=place, content=content))
        while isinstance(wanted[0], Ask):
            wanted = self._ask(wanted[0])
        tried, self._match = self._match, kept
        return tried.seats[place]

    def _step(self, happened: Happened) -> list[Wanted]:
        self._match, wanted = refereeing(self._match, happened, self._rules)
        for each in wanted:
            if isinstance(each, Noted):
                self._referee.note(each)
        return [each for each in wanted if not isinstance(each, Noted)]

    def _ask(self, ask: Ask) -> list[Wanted]:
        result, failure = self._referee.call(ask.callback, self._contexts.of_referee(self._match, ask))
        return self._gave(ask, result, failure)

    def _gave(self, ask: Ask, result: object, failure: str | None) -> list[Wanted]:
        return self._step(Gave(ask=ask, result=result, failure=failure))

    def _set(self, place: int, **changes: Any) -> None:
        """Change a player's state directly, bypassing the flow."""
        self._match = with_run(self._match, place, evolve(self._match.seats[place], **changes))

    def _told(self, tell: Tell) -> tuple[str, Mapping[str, object]]:
        """Return the callback by which a player is told, and its context."""
        place = tell.place
        if tell.what is Telling.ANSWERS:
            seat = self._match.seats[place]
            self._given[place] = seat.answers
            self._set(place, answers=self._channel(seat.answers, seat.questions))
        callback = PLAYER_CALLBACK[tell.what]
        return callback, self._contexts.of_player(self._match, callback, place)

    def _tell(self, tell: Tell, callback: str, context: Mapping[str, object]) -> list[Wanted]:
        player = self._players[tell.place]
        result, failure = player.call(callback, context)
        end = end_of_call(callback, result, failure, Known(rules=self._rules, brief=self._match.brief))
        player.note(end.noted)
        return [] if tell.what is Telling.SCORECARD else self._step(Submitted(place=tell.place, content=end.value))


def end_of(turns: Generator[UpcomingCall, None, T]) -> T:
    """Play on without a pause; return what the generator returns."""
    while True:
        try:
            next(turns)
        except StopIteration as ended:
            return cast("T", ended.value)


def _run_of(seat: MatchPlayer, given: AnswerBatch) -> Run:
    assert seat.guess is not None, "the match is over"
    assert seat.scorecard is not None, "the match is over"
    return Run(questions=seat.questions, answers=seat.answers, given=given, guess=seat.guess, card=seat.scorecard)
