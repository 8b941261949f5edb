"""Answers in code to one question about a target: the true option, "cannot tell", or nothing.

Rule: an answer is computed or read, never guessed; a model is asked only about questions that code cannot answer.
"""

from __future__ import annotations

from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.questions.answer_key import meanings, place_of
from league_agents.agents.questions.free.questions import answer_foreign, cannot_tell
from league_agents.agents.questions.grammar import recognise
from league_agents.agents.questions.kinds import Options
from league_agents.agents.targets import Secret
from league_agents.games.q21.model import LETTERS, Choice
from league_agents.games.q21.rules import AnswerKey, RuleSet


def options_meant(asked: AskedQuestion, rules: RuleSet) -> Options:
    """Return the meanings of A to D: those of the fixed key, if any, unless the player's options clearly differ."""
    options = asked.options
    if rules.answer_key is AnswerKey.FIXED and (not any(options) or meanings(options) is not None):
        return rules.fixed_options
    return options


def told_by_code(asked: AskedQuestion, secret: Secret, rules: RuleSet) -> int | None:
    """Return the index of the true option; ``None`` if code cannot tell."""
    options = options_meant(asked, rules)
    ours = recognise(asked.text, options)
    if ours is None:
        return answer_foreign(asked.text, options, secret.reading, secret.facts)
    place = ours.answer(secret.reading)
    if place is None or ours.options is not None:
        return place
    return place_of(place, options) if meanings(options) is not None else place


def choice_at(place: int | None, options: Options) -> Choice:
    """Return the option at ``place``; for ``None`` the "cannot tell" option, or Not Relevant without one."""
    if place is None:
        place = cannot_tell(options)
    return Choice.NOT_RELEVANT if place is None else Choice(LETTERS[place])
