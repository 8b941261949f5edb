"""A player's two questions to a model that plays by itself: no code chooses, infers or looks up for it.

Rule 1: the texts depend on the context and the rules alone, and hold what the league tells a player.
Rule 2: whatever comes back is read by the league's own readers, which repair or replace it as in every match.
"""

from __future__ import annotations

from league_agents.agents.base import Context
from league_agents.agents.contexts import CallContext
from league_agents.agents.prompting import render
from league_agents.games.q21.rules import AnswerKey, RuleSet, TargetKind
from league_agents.games.q21.words import limit_in_words
from league_agents.llm.port import Prompt, Purpose

STEP = "player_plain"


def plain_prompt(callback: str, ctx: Context, rules: RuleSet, *, key: str = "") -> Prompt:
    """The request for the questions (``get_questions``) or for the guess (``get_guess``)."""
    context = CallContext(ctx)
    is_of_passages = rules.target_kind is TargetKind.PASSAGE_OPENING
    return render(
        Purpose(match_id=context.match_id()[:200], callback=callback, step=STEP),
        key=key,
        target="the opening sentence of a passage of a book" if is_of_passages else "the opening sentence of a book",
        asked=rules.questions_required,
        least_characters=rules.least_question_characters,
        own=rules.answer_key is AnswerKey.OWN,
        fixed=rules.fixed_options,
        sentence_limit=limit_in_words(rules.sentence_justification),
        word_limit=limit_in_words(rules.word_justification),
        book_name=context.text("book_name"),
        book_hint=context.text("book_hint"),
        domain=context.text("association_word"),
        answers=_answered(context) if callback == "get_guess" else [],
    )


def _answered(context: CallContext) -> list[str]:
    """Each question with the option that the referee chose."""
    chosen = context.answers()
    found = []
    for question in context.questions("questions_sent"):
        letter = chosen.get(question.number)
        option = "Not Relevant" if letter is None else f"{letter}, {question.options['ABCD'.index(letter)]}"
        found.append(f"{question.number}. {question.text} – {option}")
    return found
