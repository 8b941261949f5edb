"""The seven game messages and their older relatives (protocol 4.4 and 4.6).

Rule: a reader refuses only what leaves nothing to play with. The forms of all deployed players become the same values,
so no machine ever sees which client is on the other side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from msgspec import Meta, Struct, convert

from league_agents.games.q21.model import (
    Answer,
    AnswerBatch,
    Breakdown,
    Brief,
    Choice,
    Feedback,
    Guess,
    Question,
    QuestionBatch,
    Scorecard,
    answer_of,
)
from league_agents.kit.violation import Violation, shown
from league_agents.league.wire.declare import (
    ID,
    INSTANT,
    MATCH_ID,
    TEXT,
    DerivedKey,
    ValueKind,
    integer,
    message,
    why_out_of_range,
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
    number_of,
    object_of,
    text_of,
)

LONGEST_BOOK_NAME = 255
LONGEST_DOMAIN = 50
"""The columns of [P1.0], which fails for good on longer values (protocol 4.4.3)."""

MOST_POINTS = 3
BEST_SCORE = 100.0

_MOST_VIOLATIONS = 20
_HINT_KEYS = ("book_hint", "book_description", "description", "general_description")
_DOMAIN_KEYS = ("association_word", "associative_domain", "association_topic", "association_domain")
_DUE = wire(INSTANT, must="it needs a deadline")
_TOKEN = wire(ID)


@message(MessageType.Q21WARMUPCALL, id_word="warmup")
class WarmupCall(LeagueMessage, frozen=True, kw_only=True):
    """Are you there?"""

    match_id: ClassVar = MATCH_ID
    warmup_question: Annotated[str, wire(TEXT, "warmup_question", "question", absent="")]
    """``""`` when a received call asks nothing: it is a connectivity check, any answer will do."""

    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        return None if self.warmup_question.strip() else "it needs a question"


def _read_warmup_response(fields: Fields, _: Role | None) -> Payload:
    if "answer" not in fields:
        return broken("answer", "present", None)
    value = fields["answer"]
    # Any value will do; it is not scored (protocol 4.4.2). A float that is no text is NaN or infinite: no value at all.
    answer = text_of(value)
    if answer is None:
        answer = "" if value is None or isinstance(value, float) else shown(value)
    return WarmupResponse(answer=answer, auth_token=id_of(fields.get("auth_token")))


@message(MessageType.Q21WARMUPRESPONSE, read=_read_warmup_response)
class WarmupResponse(LeagueMessage, frozen=True, kw_only=True):
    """A player is there."""

    match_id: ClassVar = MATCH_ID
    answer: Annotated[str, wire(TEXT)]
    """May be empty when received."""

    auth_token: Annotated[str | None, _TOKEN] = None


def _read_round_start(fields: Fields, _: Role | None) -> Payload:
    brief = Brief(
        book_name=first_text(fields, "book_name") or "",
        book_hint=first_text(fields, *_HINT_KEYS) or "",
        association_domain=first_text(fields, *_DOMAIN_KEYS) or "",
    )
    if not (brief.book_name or brief.book_hint or brief.association_domain):
        return broken("book_name", "present", fields.get("book_name"))
    return RoundStart(
        brief=brief,
        deadline=instant_of(fields.get("deadline")),
        questions_required=integer_of(fields.get("questions_required"), 1, 100) or 20,
        auth_token=id_of(fields.get("auth_token")),
    )


@message(MessageType.Q21ROUNDSTART, read=_read_round_start, id_word="round-start")
class RoundStart(LeagueMessage, frozen=True, kw_only=True):
    """What the players are told; it also asks for the questions."""

    brief: Brief
    match_id: ClassVar = MATCH_ID
    book_name: ClassVar = DerivedKey(of=lambda start, _: start.brief.book_name[:LONGEST_BOOK_NAME])
    book_hint: ClassVar = DerivedKey(of=lambda start, _: start.brief.book_hint)
    book_description: ClassVar = DerivedKey(of=lambda start, _: start.brief.book_hint)
    association_word: ClassVar = DerivedKey(of=lambda start, _: start.brief.association_domain)
    associative_domain: ClassVar = DerivedKey(of=lambda start, _: start.brief.association_domain[:LONGEST_DOMAIN])
    questions_required: Annotated[int, wire(integer(1, 100))] = 20
    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        brief = self.brief
        if not (brief.book_name.strip() and brief.book_hint.strip() and brief.association_domain.strip()):
            return "it needs a book name, a hint and a domain"
        return None


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


def _read_guess_submission(fields: Fields, _: Role | None) -> Payload:
    given = object_of(fields.get("guess")) or fields
    sentence = first_text(given, "opening_sentence", "opening_sentence_guess")
    word = first_text(given, "associative_word", "associative_word_guess", "association_word")
    sentence_justification = first_text(given, "sentence_justification")
    word_justification = first_text(given, "word_justification")
    if sentence is None and word is None and sentence_justification is None and word_justification is None:
        return broken("opening_sentence", "present", None)
    return GuessSubmission(
        guess=Guess(
            opening_sentence=sentence or "",
            sentence_justification=sentence_justification or "",
            associative_word=word or "",
            word_justification=word_justification or "",
            confidence=number_of(given.get("confidence"), 0.0, 1.0),
        ),
        auth_token=id_of(fields.get("auth_token")),
    )


@message(MessageType.Q21GUESSSUBMISSION, read=_read_guess_submission)
class GuessSubmission(LeagueMessage, frozen=True, kw_only=True):
    """A player's guess."""

    guess: Guess
    match_id: ClassVar = MATCH_ID
    opening_sentence: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.opening_sentence)
    sentence_justification: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.sentence_justification)
    associative_word: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.associative_word)
    word_justification: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.word_justification)
    confidence: ClassVar = DerivedKey(of=lambda submission, _: submission.guess.confidence)
    auth_token: Annotated[str | None, _TOKEN] = None

    def refusal(self) -> str | None:
        guess = self.guess
        if not (guess.opening_sentence.strip() and guess.associative_word.strip()):
            return "it needs an opening sentence and a word"
        if guess.confidence is not None:
            return why_out_of_range("confidence", guess.confidence, 0.0, 1.0)
        return None


_BREAKDOWN_KEYS = (
    "opening_sentence_score",
    "sentence_justification_score",
    "associative_word_score",
    "word_justification_score",
)


def read_breakdown(value: object) -> Breakdown | None:
    """The four component scores, or ``None`` unless all are there."""
    fields = object_of(value)
    if not fields:
        return None
    scores = {key: number_of(fields.get(key), 0.0, BEST_SCORE) for key in _BREAKDOWN_KEYS}
    found = {key: score for key, score in scores.items() if score is not None}
    return Breakdown(**found) if len(found) == len(scores) else None


def write_breakdown(breakdown: Breakdown) -> dict[str, object]:
    """The four component scores."""
    return {key: getattr(breakdown, key) for key in _BREAKDOWN_KEYS}


def breakdown_refusal(breakdown: Breakdown | None) -> str | None:
    """Why these component scores must not be sent; ``None`` if they may be."""
    if breakdown is None:
        return None
    whys = (why_out_of_range(key, getattr(breakdown, key), 0.0, BEST_SCORE) for key in _BREAKDOWN_KEYS)
    return next((why for why in whys if why is not None), None)


def read_feedback(value: object) -> Feedback | None:
    """Both texts; ``None`` when neither is there."""
    fields = object_of(value)
    if fields is None:
        return None
    sentence, word = text_of(fields.get("opening_sentence")), text_of(fields.get("associative_word"))
    if sentence is None and word is None:
        return None
    return Feedback(opening_sentence=sentence or "", associative_word=word or "")


def write_feedback(feedback: Feedback | None) -> dict[str, object] | None:
    """Both texts, or ``None``."""
    if feedback is None:
        return None
    return {"opening_sentence": feedback.opening_sentence, "associative_word": feedback.associative_word}


def points_refusal(league_points: int, private_score: float) -> str | None:
    """Why a score must not be sent (protocol 4.4.7); ``None`` if it may be."""
    return why_out_of_range("league_points", league_points, 0, MOST_POINTS) or why_out_of_range(
        "private_score", private_score, 0.0, BEST_SCORE
    )


def _read_score_feedback(fields: Fields, _: Role | None) -> Payload:
    stated_points = fields.get("league_points")
    points = 0 if stated_points is None else integer_of(stated_points, 0, MOST_POINTS)
    if points is None:
        return broken("league_points", f"a whole number from 0 to {MOST_POINTS}", stated_points)
    stated_score = first_of(fields, "private_score", "total_score")
    score = 0.0 if stated_score is None else number_of(stated_score, 0.0, BEST_SCORE)
    if score is None:
        return broken("private_score", f"a number from 0 to {BEST_SCORE:g}", stated_score)
    feedback = read_feedback(fields.get("feedback")) or read_feedback(
        {
            "opening_sentence": fields.get("opening_sentence_feedback"),
            "associative_word": fields.get("word_feedback"),
        }
    )
    return ScoreFeedback(
        scorecard=Scorecard(
            league_points=points,
            private_score=score,
            # The older Q21_GUESS_RESULT has the four scores flat (protocol 4.6).
            breakdown=read_breakdown(fields.get("breakdown")) or read_breakdown(fields),
            feedback=feedback,
        )
    )


@message(MessageType.Q21SCOREFEEDBACK, MessageType.Q21_GUESS_RESULT, read=_read_score_feedback, id_word="score")
class ScoreFeedback(LeagueMessage, frozen=True, kw_only=True):
    """What a player's guess was worth: terminal, even when it arrives as ``BrokenPayload``."""

    scorecard: Scorecard
    """``league_points`` is 0 when a received message does not state them."""

    match_id: ClassVar = MATCH_ID
    league_points: ClassVar = DerivedKey(of=lambda told, _: told.scorecard.league_points)
    private_score: ClassVar = DerivedKey(of=lambda told, _: told.scorecard.private_score)
    breakdown: ClassVar = DerivedKey(
        of=lambda told, _: {} if told.scorecard.breakdown is None else write_breakdown(told.scorecard.breakdown)
    )
    feedback: ClassVar = DerivedKey(of=lambda told, _: write_feedback(told.scorecard.feedback))

    def refusal(self) -> str | None:
        card = self.scorecard
        return points_refusal(card.league_points, card.private_score) or breakdown_refusal(card.breakdown)


@message(MessageType.Q21_QUESTIONS_CALL, is_sent=False)
class QuestionsCall(LeagueMessage, frozen=True, kw_only=True):
    """A repeat of ``RoundStart`` without its content (4.6)."""

    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None


@message(MessageType.Q21_GUESS_CALL, is_sent=False)
class GuessCall(LeagueMessage, frozen=True, kw_only=True):
    """The stored guess is wanted once more (4.6)."""

    deadline: Annotated[datetime | None, _DUE]
    auth_token: Annotated[str | None, _TOKEN] = None


@message(MessageType.Q21_HINTS, is_sent=False)
class Hints(LeagueMessage, frozen=True, kw_only=True):
    """Fills in what ``RoundStart`` left out (4.6)."""

    book_hint: Annotated[str | None, wire(TEXT, *_HINT_KEYS)]
    association_domain: Annotated[str | None, wire(TEXT, *_DOMAIN_KEYS)]
    book_name: Annotated[str | None, wire(TEXT)] = None
