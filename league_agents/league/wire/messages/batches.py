"""The batches of a game: a player's questions and the referee's answers (protocol 4.4.4 and 4.4.5).

Rule: a reader refuses only what leaves nothing to play with. Items that are spelled as this program spells them are
read in one pass, all others in any spelling that a deployed client has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from msgspec import Meta, Struct, convert

from league_agents.games.q21.model import (
    Answer,
    AnswerBatch,
    Choice,
    Question,
    QuestionBatch,
    answer_of,
)
from league_agents.kit.violation import Violation, shown
from league_agents.league.wire.declare import (
    ID,
    INSTANT,
    MATCH_ID,
    DerivedKey,
    ValueKind,
    message,
    wire,
)
from league_agents.league.wire.kinds import MessageType, Role
from league_agents.league.wire.payload import BrokenPayload, LeagueMessage, Payload
from league_agents.league.wire.reading import (
    LARGEST_NUMBER,
    LONGEST_TEXT,
    MOST_ITEMS,
    NOT_CANONICAL,
    Fields,
    broken,
    first_of,
    first_text,
    id_of,
    instant_of,
    integer_of,
    list_of,
    text_of,
)

_MOST_VIOLATIONS = 20
_DUE = wire(INSTANT, must="it needs a deadline")
_TOKEN = wire(ID)


def _read_questions_batch(fields: Fields, _: Role | None) -> Payload:
    items = list_of(fields.get("questions"))
    if items is None:
        return broken("questions", f"a list of at most {MOST_ITEMS} questions", fields.get("questions"))
    plain = canonical_questions(items)
    if plain is not None:
        return QuestionsBatch(questions=plain, auth_token=id_of(fields.get("auth_token")))
    return read_any_questions(items, id_of(fields.get("auth_token")))


_Text = Annotated[str, Meta(max_length=LONGEST_TEXT)]
_Number = Annotated[int, Meta(ge=1, le=LARGEST_NUMBER)]


class _CanonicalOptions(Struct, frozen=True, kw_only=True, gc=False):
    A: _Text
    B: _Text
    C: _Text
    D: _Text


class _CanonicalQuestion(Struct, frozen=True, kw_only=True, gc=False):
    question_number: _Number
    question_text: _Text
    options: _CanonicalOptions


def canonical_questions(items: Sequence[object]) -> QuestionBatch | None:
    """Questions that are spelled as ``QuestionsBatch`` writes them, in one pass; ``None`` for any others."""
    try:
        plain = convert(items, list[_CanonicalQuestion])
        questions = tuple(
            [
                Question(number=each.question_number, text=each.question_text, options=(of.A, of.B, of.C, of.D))
                for each in plain
                for of in (each.options,)
            ]
        )
        "".join([text for each in questions for text in (each.text, *each.options)]).encode()
    except NOT_CANONICAL:
        return None
    texts = [each.text for each in questions]
    return None if "" in texts or any(map(str.isspace, texts)) else questions


def read_any_questions(items: Sequence[object], auth_token: str | None) -> Payload:
    """Questions in any spelling."""
    questions: list[Question] = []
    violations: list[Violation] = []
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            violations.append(Violation(path=f"questions[{position}]", rule="an object", found=shown(item)))
            continue
        text = text_of(item.get("question_text"))
        if text is None or not text.strip():
            text = first_text(item, "question_text", "text", "question")
        if text is None:
            path = f"questions[{position}].question_text"
            violations.append(Violation(path=path, rule="a text", found=shown(item.get("question_text"))))
            continue
        number = integer_of(item.get("question_number"), 1)
        if number is None:
            number = integer_of(item.get("number"), 1) or integer_of(item.get("id"), 1) or position + 1
        options = item.get("options")
        if options is None:
            options = item.get("choices")
        questions.append(Question(number=number, text=text, options=_options_of(options)))
    if violations:
        return BrokenPayload(violations=tuple(violations[:_MOST_VIOLATIONS]))
    return QuestionsBatch(questions=tuple(questions), auth_token=auth_token)


def _options_of(value: object) -> tuple[str, str, str, str]:
    """The texts of A to D. A letter without a text has an empty one: with a fixed answer key nobody needs them."""
    if isinstance(value, dict):
        get = value.get
        options = (get("A"), get("B"), get("C"), get("D"))
        if None in options:
            options = (get("A", get("a")), get("B", get("b")), get("C", get("c")), get("D", get("d")))
    elif isinstance(value, list):
        options = (*value[:4], None, None, None, None)[:4]
    else:
        return ("", "", "", "")
    a, b, c, d = options
    return (text_of(a) or "", text_of(b) or "", text_of(c) or "", text_of(d) or "")


def _write_questions(questions: QuestionBatch) -> list[object]:
    return [
        {
            "question_number": question.number,
            "question_text": question.text,
            "options": {"A": a, "B": b, "C": c, "D": d},
        }
        for question in questions
        for a, b, c, d in (question.options,)
    ]


@message(MessageType.Q21QUESTIONSBATCH, read=_read_questions_batch)
class QuestionsBatch(LeagueMessage, frozen=True, kw_only=True):
    """A player's questions. How many there are, and whether the numbers are unique, is for the rules to check."""

    match_id: ClassVar = MATCH_ID
    questions: Annotated[
        QuestionBatch, wire(ValueKind(find=first_of, write=_write_questions, rule="a list of questions"))
    ]
    """Options that a received question lacks are empty texts."""

    total_questions: ClassVar = DerivedKey(of=lambda batch, _: len(batch.questions))
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        if not self.questions or len({question.number for question in self.questions}) != len(self.questions):
            return "it needs questions with numbers of their own"
        for question in self.questions:
            if question.number < 1 or not question.text.strip():
                return f"question {question.number} needs a number from 1 and a text"
        return None


_CHOICES: Mapping[str, Choice] = {choice.value: choice for choice in Choice}
_SQUEEZED_CHOICES: Mapping[str, Choice] = {choice.value.upper().replace(" ", ""): choice for choice in Choice}


def choice_of(value: object) -> Choice | None:
    """One of the five answers, in any letter case; ``NOT_RELEVANT`` too (protocol 4.4.5)."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    choice = _CHOICES.get(value)
    if choice is None:
        squeezed = value.upper().replace("_", "").replace("-", "").replace(" ", "").strip()
        choice = _SQUEEZED_CHOICES.get(squeezed)
    return choice


def _read_answers_batch(fields: Fields, _: Role | None) -> Payload:
    stated = first_of(fields, "answers", "opponent_answers")
    items = list_of(stated)
    if items is None:
        return broken("answers", f"a list of at most {MOST_ITEMS} answers", stated)
    answers = canonical_answers(items)
    return AnswersBatch(
        answers=read_any_answers(items) if answers is None else answers,
        deadline=instant_of(fields.get("deadline")),
        auth_token=id_of(fields.get("auth_token")),
    )


class _CanonicalAnswer(Struct, frozen=True, kw_only=True, gc=False):
    question_number: _Number
    answer: Choice


def canonical_answers(items: Sequence[object]) -> AnswerBatch | None:
    """Answers that are spelled as ``AnswersBatch`` writes them, in one pass; ``None`` for any others."""
    try:
        plain = convert(items, list[_CanonicalAnswer])
    except NOT_CANONICAL:
        return None
    return tuple([answer_of(each.question_number, each.answer) for each in plain])


def read_any_answers(items: Sequence[object]) -> AnswerBatch:
    """Answers in any spelling."""
    answers: list[Answer] = []
    for position, item in enumerate(items, start=1):
        if isinstance(item, dict):
            stated_number, stated_choice = item.get("question_number"), item.get("answer")
            if stated_number is None:
                stated_number = first_of(item, "question_id", "number")
            if stated_choice is None:
                stated_choice = first_of(item, "selected_option", "choice", "selected")
            number = integer_of(stated_number, 1) or position
            choice = choice_of(stated_choice)
        else:
            number, choice = position, choice_of(item)
        # An answer that cannot be read tells nothing; the guess is due all the same.
        if choice is not None:
            answers.append(answer_of(number, choice))
    return tuple(answers)


def _write_answers(answers: AnswerBatch) -> list[object]:
    return [{"question_number": answer.number, "answer": str(answer.choice)} for answer in answers]


@message(MessageType.Q21ANSWERSBATCH, read=_read_answers_batch, id_word="answers")
class AnswersBatch(LeagueMessage, frozen=True, kw_only=True):
    """A referee's answers; it also asks for the guess."""

    match_id: ClassVar = MATCH_ID
    answers: Annotated[AnswerBatch, wire(ValueKind(find=first_of, write=_write_answers, rule="a list of answers"))]
    """Received: only those that could be read; it may be empty, and the guess is due all the same."""

    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        return None if self.answers else "it needs at least one answer"
