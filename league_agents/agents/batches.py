"""Conversion of chosen questions to a batch that can be sent, and of its answers to numbers.

Rule: a batch has exactly as many questions as the rules require, all different. If too few were chosen, questions that
suit any book are added.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from league_agents.agents.candidates import Candidates
from league_agents.agents.contexts import AskedQuestion
from league_agents.agents.questions.answer_key import meanings
from league_agents.agents.questions.general import general_questions, text_questions
from league_agents.agents.questions.kinds import NO, PARTIALLY, YES, Inquiry, Options, Topic
from league_agents.games.q21.as_json import question_as_json
from league_agents.games.q21.information import UNKNOWN
from league_agents.games.q21.model import LETTERS, Brief
from league_agents.games.q21.rules import AnswerKey, RuleSet
from league_agents.kit.draw import Draw

IN_ORDER = (YES, NO, PARTIALLY, UNKNOWN)
"""Meanings of A to D if the options cannot be read."""

_YES_NO: Options = ("Yes", "No", "Partially", "Unknown")


def questions_for_unlisted(candidates: Candidates, brief: Brief, rules: RuleSet) -> list[Inquiry]:
    """Return general questions about the text if the target is probably none of the candidates, else none."""
    return text_questions(rules.answer_key, brief.book_name) if candidates.is_probably_unlisted else []


def worded_batch(
    chosen: Sequence[Inquiry], rules: RuleSet, draw: Draw, candidates: Candidates
) -> tuple[AskedQuestion, ...]:
    """Return the questions as they are sent, numbered from 1. ``draw`` orders the general questions that are added."""
    batch = list(chosen)
    texts = {inquiry.text for inquiry in batch}
    spare = draw.fork("general").shuffled(general_questions(rules.answer_key))
    if candidates.is_known:
        # More questions about the word do not help, so prefer questions about the text.
        spare.sort(key=lambda inquiry: (inquiry.topic is Topic.WORD, _share_of_others(inquiry, candidates)))
    for inquiry in spare:
        # Ask a question once even if it was chosen in another form: both forms have the same text.
        if len(batch) < rules.questions_required and inquiry.text not in texts:
            batch.append(inquiry)
            texts.add(inquiry.text)
    worded = [(inquiry.text, inquiry.options or rules.fixed_options) for inquiry in batch]
    plain = rules.fixed_options if rules.answer_key is AnswerKey.FIXED else _YES_NO
    worded.extend(
        (f"Does the opening sentence have more than {place + 1} words?", plain)
        for place in range(len(worded), rules.questions_required)
    )
    return tuple(
        AskedQuestion(number=number, text=text, options=options)
        for number, (text, options) in enumerate(worded[: rules.questions_required], start=1)
    )


def _share_of_others(inquiry: Inquiry, candidates: Candidates) -> float:
    """Return the share of typical sentences that are answered like the only candidate; 0 if there are several."""
    if len(candidates.sentences) != 1 or not candidates.reference:
        return 0.0
    right = inquiry.answer(candidates.readings[0])
    if right is None:
        return 1.0
    return sum(inquiry.answer(other) == right for other in candidates.reference) / len(candidates.reference)


def batch_reply(questions: Sequence[AskedQuestion]) -> dict[str, object]:
    """Return the reply of ``get_questions``."""
    return {"questions": [question_as_json(question) for question in questions]}


def answer_codes(
    asked: Sequence[Inquiry | None], sent: Sequence[AskedQuestion], letters: Mapping[int, str]
) -> list[int]:
    """Return each answer as a number of its question; ``UNKNOWN`` for a missing or undecided answer."""
    return [
        _answer_code(inquiry, letters.get(question.number), question.options)
        for inquiry, question in zip(asked, sent, strict=True)
    ]


def _answer_code(inquiry: Inquiry | None, letter: str | None, options: Sequence[str]) -> int:
    if inquiry is None or letter is None:
        return UNKNOWN
    place = LETTERS.index(letter)
    if inquiry.options is not None:
        return place
    read = meanings(options)
    meaning = read[place] if read is not None else IN_ORDER[place]
    return UNKNOWN if meaning is None else meaning


def letter_of(inquiry: Inquiry, answer: int, options: Sequence[str]) -> str:
    """Return the letter of the option that means ``answer``."""
    if inquiry.options is not None or not any(options):
        return LETTERS[answer]
    read = meanings(options) or IN_ORDER
    return LETTERS[read.index(answer)] if answer in read else LETTERS[answer]
