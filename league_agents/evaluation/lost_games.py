"""The games that the evaluated player lost: its answers against the truth, and the course of the true opening.

Rule 1: the truth of an answer is what code reads in the passage, as the offline referee does. Where code cannot decide,
no answer is called wrong.
Rule 2: places are those in the evaluation's own pool of candidates (``bits``), the same for every player; they do not
show what the player believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import pairwise

from msgspec import Struct

from league_agents.agents.answering import options_meant, told_by_code
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.questions.free.questions import cannot_tell
from league_agents.agents.targets import Secret
from league_agents.evaluation.bits import TargetStanding
from league_agents.evaluation.playing import Run
from league_agents.games.q21.model import LETTERS, Answer, Choice, QuestionBatch
from league_agents.games.q21.rules import RuleSet


class AnswerMark(StrEnum):
    """How an answer compares with the truth."""

    RIGHT = "right"
    WRONG = "wrong"
    """The referee's own error."""

    NOISE = "noise"
    """Changed on its way by ``--noise``."""

    DECLINED = "declined"
    UNCHECKED = "unchecked"
    """Code cannot decide the question."""

    MISSING = "missing"


class CheckedAnswer(Struct, frozen=True, kw_only=True):
    """One question of a lost game."""

    number: int
    answer: str | None
    """The letter as received by the player."""

    given: str | None
    """The letter as sent by the referee."""

    truth: str | None
    """The letter of the true option; ``None`` if code cannot decide."""

    mark: AnswerMark


class Course(Struct, frozen=True, kw_only=True):
    """Where the true opening, or the true word, stood among the candidates."""

    candidates: int
    """Number of different ones."""

    first: int
    """Place before the first answer, 1 for the likeliest."""

    places: tuple[int, ...]
    """Place after each answer, in the order of the questions."""

    lost_at: int | None
    """The question whose answer took the first place for good, or, if it never was first, lowered it most; ``None`` if
    it is first at the end, or no answer lowered it."""

    @property
    def last(self) -> int:
        """Place after all answers."""
        return self.places[-1] if self.places else self.first


class LostGame(Struct, frozen=True, kw_only=True):
    """One lost game. It contains the target."""

    game: int
    seat: int
    seed: int
    record: Mapping[str, object]
    """The match as in the file of ``run --single-game --record``. The players' ids are ``player`` and ``opponent``."""

    answers: tuple[CheckedAnswer, ...]
    """The evaluated player's."""

    opening: Course | None
    """``None`` if the target is not one of the candidates; the same applies to ``word``."""

    word: Course | None


def checked_answers(run: Run, secret: Secret | None, rules: RuleSet) -> tuple[CheckedAnswer, ...]:
    """Compare a player's answers with the truth, which is not known without ``secret``."""
    received = {each.number: each for each in run.answers}
    given = {each.number: each for each in run.given}
    found = []
    for question in run.questions:
        asked = AskedQuestion(number=question.number, text=question.text, options=question.options)
        place = None if secret is None else told_by_code(asked, secret, rules)
        one, two = received.get(question.number), given.get(question.number)
        found.append(
            CheckedAnswer(
                number=question.number,
                answer=None if one is None else one.choice.value,
                given=None if two is None else two.choice.value,
                truth=None if place is None else LETTERS[place],
                mark=_mark(asked, one, two, place, rules),
            )
        )
    return tuple(found)


def course_of(run: Run, standings: Sequence[TargetStanding], candidates: int) -> Course:
    """``standings``: before the first answer and after each."""
    places = tuple(each.place for each in standings)
    return Course(candidates=candidates, first=places[0], places=places[1:], lost_at=_lost_at(run.questions, standings))


def _lost_at(questions: QuestionBatch, standings: Sequence[TargetStanding]) -> int | None:
    steps = list(zip(questions, pairwise(standings), strict=True))
    if standings[-1].place == 1:
        return None
    for question, (before, _) in reversed(steps):
        if before.place == 1:
            return question.number
    falls = [(after.bits - before.bits, -question.number) for question, (before, after) in steps]
    fall, number = max(falls, default=(0.0, 0))
    return -number if fall > 0 else None


def _mark(
    asked: AskedQuestion, received: Answer | None, given: Answer | None, truth: int | None, rules: RuleSet
) -> AnswerMark:
    if received is None:
        return AnswerMark.MISSING
    if given is not None and given.choice is not received.choice:
        return AnswerMark.NOISE
    if truth is not None and received.choice.value == LETTERS[truth]:
        return AnswerMark.RIGHT
    silent = cannot_tell(options_meant(asked, rules))
    if received.choice is Choice.NOT_RELEVANT or (silent is not None and received.choice.value == LETTERS[silent]):
        return AnswerMark.DECLINED
    return AnswerMark.UNCHECKED if truth is None else AnswerMark.WRONG
