"""The model's memory of openings, asked at the guess if the answers fit no known sentence.

Rule 1: the model sees the answers about content only (people, places, times, denials, speech). Code weighs what it
remembers by the answers that it did not see, so a sentence invented to fit what was shown gains nothing.
Rule 2: a remembered sentence is marked as such and is never taken for a known text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from league_agents.agents.asking import CallbackRun
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.fence import whole_words
from league_agents.agents.player_chain.writing import LONGEST_LINE, TARGETS, remembered_sentences
from league_agents.agents.questions.four_options import TwoThings, WhichComesFirst
from league_agents.agents.questions.kinds import Inquiry, Thing
from league_agents.agents.questions.reading import fold
from league_agents.agents.questions.yes_no import Contains, ContainsBoth
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import LETTERS, Brief
from league_agents.games.q21.rules import RuleSet
from league_agents.kit.model_work import ModelWorkUse, Why
from league_agents.knowledge.words import STOP_WORDS

STEP = "player_memory"
MOST_OUTPUT_TOKENS = 300
"""The tokens of the wording, in whose place the model is asked."""

_MOST_WORKS = 3
_MOST_SHOWN = 6


class RememberedWorks(BaseModel):
    """What the model writes."""

    model_config = ConfigDict(extra="ignore")

    works: list[Annotated[str, Field(max_length=LONGEST_LINE)]] = Field(default_factory=list, max_length=12)


def shown_answers(asked: Sequence[Inquiry | None], answers: Sequence[int]) -> list[int]:
    """Return the indices of the answers that the model may see: at most ``_MOST_SHOWN``, about content."""
    heard = zip(asked, answers, strict=True)
    told = [i for i, (inquiry, answer) in enumerate(heard) if inquiry is not None and answer != UNKNOWN]
    return [i for i in told if _is_of_content(asked[i])][:_MOST_SHOWN]


def ask_for_memory(
    turn: CallbackRun,
    brief: Brief,
    sent: Sequence[AskedQuestion],
    letters: Mapping[int, str],
    shown: Sequence[int],
    rules: RuleSet,
) -> tuple[str, ...]:
    """Return the sentences that the model remembers, likeliest first; none if there is no usable reply."""
    reply = turn.ask(
        STEP,
        RememberedWorks,
        max_output_tokens=MOST_OUTPUT_TOKENS,
        target=TARGETS[rules.target_kind],
        most=_MOST_WORKS,
        book_name=brief.book_name,
        book_hint=brief.book_hint,
        rows=[_row(sent[i], letters) for i in shown],
    )
    if reply is None:
        return ()
    return remembered_sentences(reply.works[:_MOST_WORKS], brief, rules)


def settle_memory(turn: CallbackRun, remembered: Sequence[str], guess: str) -> None:
    """Record whether the guess is one of the remembered sentences."""
    if guess in remembered:
        turn.settle(STEP, ModelWorkUse.USED, used=1, of=len(remembered))
    else:
        turn.settle(STEP, ModelWorkUse.REPLACED, Why.CONTRADICTED if remembered else Why.UNUSED)


def _row(question: AskedQuestion, letters: Mapping[int, str]) -> str:
    letter = letters.get(question.number, "")
    option = question.options[LETTERS.index(letter)] if letter in LETTERS else ""
    return f"{whole_words(question.text, 200)} Answered: {whole_words(option, 60)}"


def _is_of_content(inquiry: Inquiry | None) -> bool:
    if isinstance(inquiry, WhichComesFirst):
        return True
    if isinstance(inquiry, TwoThings | ContainsBoth):
        return _is_telling(inquiry.first) or _is_telling(inquiry.second)
    return inquiry is not None and (
        inquiry.is_written or (isinstance(inquiry, Contains) and _is_telling(inquiry.thing))
    )


def _is_telling(thing: Thing) -> bool:
    return bool(thing.mark) or any(fold(word) not in STOP_WORDS for word in thing.words)
