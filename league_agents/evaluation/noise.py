"""Answers that are made wrong on purpose, by a seeded draw.

Rule 1: the draws depend on the match and on the number of the question alone. Both players of a match meet their errors
at the same places, and more noise keeps the errors of less.
Rule 2: a wrong answer is one that a careless referee gives: under the player's own options any of those that were
offered; under the fixed key the opposite in four cases of five, else "partially". That something cannot be told is
never made wrong, and nothing is turned into it: silence is no error.
"""

from __future__ import annotations

from collections.abc import Callable

from league_agents.agents.questions.answer_key import meanings
from league_agents.agents.questions.foreign import cannot_tell
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import NO, PARTIALLY, YES
from league_agents.games.q21.model import LETTERS, Answer, AnswerBatch, Choice, Question, QuestionBatch
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.kit.draw import Draw

_OPPOSITE = 0.8
"""Of the wrong answers to a question of yes and no."""


def with_noise(answers: AnswerBatch, questions: QuestionBatch, rules: RuleSet, wrong: float, draw: Draw) -> AnswerBatch:
    """The answers, each wrong with the probability ``wrong`` (0 to 1)."""
    asked = {question.number: question for question in questions}
    found = []
    for answer in answers:
        # A stream for each number: an answer that is left out moves no other one's errors.
        own = draw.fork(str(answer.number))
        errs, aside = own.chance(wrong), own.fraction()
        question = asked.get(answer.number)
        if errs and question is not None and answer.choice is not Choice.NOT_RELEVANT:
            answer = Answer(number=answer.number, choice=_another(answer.choice, question, rules, aside))
        found.append(answer)
    return tuple(found)


def noisy_channel(rules: RuleSet, wrong: float, draw: Draw) -> Callable[[AnswerBatch, QuestionBatch], AnswerBatch]:
    """``with_noise`` for the answers of one match."""
    return lambda answers, questions: with_noise(answers, questions, rules, wrong, draw)


def _another(choice: Choice, question: Question, rules: RuleSet, aside: float) -> Choice:
    options = rules.fixed_options if rules.answer_key is AnswerKey.FIXED else question.options
    place, silent = LETTERS.index(choice.value), cannot_tell(options)
    if place == silent:
        return choice
    ours, read = recognise(question.text, options), meanings(options)
    if read is not None and (ours is None or ours.choices < 3):
        said = read[place]
        opposite, hedged = YES if said != YES else NO, PARTIALLY if said != PARTIALLY else NO
        wanted = opposite if aside < _OPPOSITE or hedged not in read else hedged
        return Choice(LETTERS[read.index(wanted)])
    offered = ours.choices if ours is not None else len(LETTERS)
    others = [each for each in range(offered) if each not in (place, silent)]
    return Choice(LETTERS[others[int(aside * len(others))]]) if others else choice
