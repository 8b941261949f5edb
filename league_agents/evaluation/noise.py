"""Random errors added to answers, from a seeded draw.

Rule 1: the draws depend on the match and on the question's number alone. Both players of a match get errors at the same
numbers, and the errors at a higher rate include those at a lower one.
Rule 2: a wrong answer is that of a careless referee: of options that mean yes and no, the opposite in four of five
cases, otherwise "partially" if it is offered; of all others any other offered option. An answer "cannot tell" is never
changed, and no answer is changed to it: an omission is not an error.
"""

from __future__ import annotations

from collections.abc import Callable

from league_agents.agents.questions.answer_key import meanings
from league_agents.agents.questions.free.questions import cannot_tell
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import NO, PARTIALLY, YES
from league_agents.games.q21.model import LETTERS, Answer, AnswerBatch, Choice, Question, QuestionBatch
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.kit.draw import Draw

_OPPOSITE = 0.8
"""Share of opposites among the wrong answers to yes-or-no questions."""


def with_noise(answers: AnswerBatch, questions: QuestionBatch, rules: RuleSet, wrong: float, draw: Draw) -> AnswerBatch:
    """Return the answers, each made wrong with the probability ``wrong`` (0 to 1)."""
    asked = {question.number: question for question in questions}
    found = []
    for answer in answers:
        # A separate stream for each number: a missing answer does not shift the errors of the others.
        own = draw.fork(str(answer.number))
        errs, aside = own.chance(wrong), own.fraction()
        question = asked.get(answer.number)
        if errs and question is not None and answer.choice is not Choice.NOT_RELEVANT:
            answer = Answer(number=answer.number, choice=_another(answer.choice, question, rules, aside))
        found.append(answer)
    return tuple(found)


def noisy_channel(rules: RuleSet, wrong: float, draw: Draw) -> Callable[[AnswerBatch, QuestionBatch], AnswerBatch]:
    """Return a function that applies ``with_noise`` to the answers of one match."""
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
